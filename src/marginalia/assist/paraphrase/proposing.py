"""A rule proposed from one example: both sides are parsed, and what differs between them is generalised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from marginalia.assist.paraphrase.alignment import Alignment
from marginalia.assist.paraphrase.patterns import quoted
from marginalia.assist.paraphrase.simplified import relation_of
from marginalia.assist.paraphrase.targets import FORMS
from marginalia.assist.trees import Node, Tree
from marginalia.errors import DataError

_LETTERS = {
    name: letter
    for letter, names in (
        ("N", "NOUN PROPN PRON"), ("V", "VERB"), ("A", "ADJ"), ("B", "AUX"), ("P", "ADP"),
        ("M", "SCONJ PART"), ("D", "DET"), ("Q", "NUM"), ("R", "ADV"),
    )
    for name in names.split()
}  # fmt: skip
_NOMINAL = ("NOUN", "PROPN", "PRON")
_VERBAL = ("VERB", "AUX")
_CONTENT = ("ADJ", "ADV", "NUM", "INTJ", "SYM", "X")
_LIGHT = ("be", "have", "do", "get", "make", "take", "give")
_OF_VERBS = ("VerbForm", "Tense", "Mood")


@dataclass
class _Proposal:
    """One example on its way to a rule: names of the words of the left side, in surface order."""

    alignment: Alignment
    names: dict[int, str] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)

    def name(self, node: Node) -> str:
        """The variable of a word before."""
        if id(node) not in self.names:
            letter = _LETTERS.get(node.upos, "X")
            number = sum(name[0] == letter for name in self.names.values())
            self.names[id(node)] = letter + (str(number + 1) if number else "")
        return self.names[id(node)]


def propose(before: Tree, after: Sequence[Tree]) -> str:
    """The two sides of a rule as trees, with its conditions in `where` lines."""
    alignment = Alignment(before, after)
    tops = [tree.root for tree in after]
    if len(after) == 1:
        top, tops[0] = _deepest(alignment, before.root, tops[0])
    else:
        top = before.root
    if alignment.is_phrase(top) and len(after) == 1:
        raise DataError("found no difference between the sentences, expected two that are not the same")
    work = _Proposal(alignment)
    conditions: list[str] = []
    left = _left(work, top, conditions)
    right = " || ".join(_right(work, one, None) for one in tops)
    where = "".join(f"\nwhere {' and '.join(conditions)}" if conditions else "")
    return f"{left}\n  -> {right}{where}"


def _deepest(alignment: Alignment, top: Node, twin: Node) -> tuple[Node, Node]:
    """The lowest words below which all that differs stands."""
    while alignment.before_of(twin) is top and top.form.lower() == twin.form.lower():
        if len(top.children) != len(twin.children):
            break
        pairs = list(zip(top.children, twin.children, strict=True))
        if any(alignment.after_of(a) is not b or a.relation != b.relation for a, b in pairs):
            break
        changed = [(a, b) for a, b in pairs if not alignment.is_phrase(a)]
        if len(changed) != 1:
            break
        top, twin = changed[0]
    return top, twin


def _stays(alignment: Alignment, node: Node) -> bool:
    """Whether a rule need not speak of a daughter: it is what it was, and where."""
    twin, head = alignment.after_of(node), node.head
    if head is None or twin is None or twin.head is None or not alignment.is_phrase(node):
        return False
    same = alignment.before_of(twin.head) is head and relation_of(twin) == relation_of(node)
    return same and (node.index < head.index) == (twin.index < twin.head.index)


def _left(work: _Proposal, node: Node, conditions: list[str]) -> str:
    """The pattern of a word before, with all daughters that are dropped, moved or changed."""
    alignment = work.alignment
    name = work.name(node)
    text = f"{name}{_asked(work, node)}"
    if alignment.is_phrase(node):
        return text
    speaks = [d for d in node.children if d.relation != "punct" and not _stays(alignment, d)]
    arcs = [f"{relation_of(one)} {_left(work, one, conditions)}" for one in speaks]
    line = [work.name(one) for one in sorted([*speaks, node], key=lambda each: each.index)]
    conditions += [f"{a} before {b}" for a, b in pairwise(line)]
    return f"{text}({', '.join(arcs)})" if arcs else text


def _asked(work: _Proposal, node: Node) -> str:
    """What is asked of a word: its lemma if it goes or becomes another word, else its class."""
    twin, lemma = work.alignment.after_of(node), node.lemma.lower()
    if twin is None or _is_another(node, twin) or (node.upos in _VERBAL and lemma in _LIGHT):
        return f"/{quoted(lemma)}"
    if node.upos in _NOMINAL:
        return ":nominal"
    if node.upos != "VERB":
        general = node.upos in _CONTENT or work.alignment.is_phrase(node)
        return f":{node.upos}" + ("" if general else f"/{quoted(lemma)}")
    past = node.feats.get("VerbForm") == "Part" and node.feats.get("Tense") == "Past"
    return ":verb:part" if past and _shape(node) != _shape(twin) else ":verb"


def _is_another(node: Node, twin: Node) -> bool:
    return node.lemma.lower() != twin.lemma.lower() and node.form.lower() != twin.form.lower()


def _right(work: _Proposal, node: Node, head: Node | None) -> str:
    """A word after it, with all daughters that the left side names or does not have."""
    source = work.alignment.before_of(node) or _copied(work, node)
    forms = list(_forms(work, node, source))
    if source is None:
        text = f":{node.upos}/{quoted(node.lemma.lower())}"
    else:
        text = work.name(source)
        again = id(source) in work.used
        work.used.add(id(source))
        if again and len(source.subtree()) > len(node.subtree()):
            forms.append("short")
        if again or work.alignment.is_phrase(source):
            return text + (f"[{', '.join(forms)}]" if forms else "")
    text += f"[{', '.join(forms)}]" if forms else ""
    speaks = [d for d in node.children if d.relation != "punct" and _is_spoken_of(work, d)]
    if not speaks:
        return text
    arcs = [
        "_" if one is node else f"{relation_of(one)} {_right(work, one, node)}"
        for one in sorted([*speaks, node], key=lambda each: each.index)
    ]
    return f"{text}({', '.join(arcs)})"


def _is_spoken_of(work: _Proposal, node: Node) -> bool:
    source = work.alignment.before_of(node)
    return source is None or id(source) in work.names


def _copied(work: _Proposal, node: Node) -> Node | None:
    """The word of the left side that a word says a second time."""
    if node.upos not in _NOMINAL:
        return None
    twins = (n for n in work.alignment.before if id(n) in work.names and n.upos == node.upos)
    return next((n for n in twins if n.lemma.lower() == node.lemma.lower()), None)


def _forms(work: _Proposal, node: Node, source: Node | None) -> Iterator[str]:
    """How a word changes: its lemma, its tense (that of another word, if one has it), agreement."""
    if source is not None and _is_another(source, node):
        yield f"lemma={quoted(node.lemma.lower())}"
    verbal = node.upos in _VERBAL
    if verbal and (source is None or _shape(source) != _shape(node)):
        model = next((n for n in work.alignment.before if _is_model(work, n, node)), None)
        if model is not None:
            yield f"tense of {work.names[id(model)]}"
        else:
            yield from (name for name, feats in FORMS.items() if _has(node, feats))
    elif source is None and node.form.lower() != node.lemma.lower():
        yield f"form={quoted(node.form)}"
    if verbal and node.feats.get("VerbForm") == "Fin":
        clause = node if node.relation not in ("aux", "aux:pass", "cop") or node.head is None else node.head
        subject = next((work.alignment.before_of(d) for d in clause.daughters("subject")), None)
        known = subject is not None and id(subject) in work.names
        if known and subject is not None and (source is None or not _is_subject_of(subject, source)):
            yield f"agree {work.names[id(subject)]}"


def _shape(node: Node) -> tuple[str, ...]:
    return tuple(node.feats.get(key, "") for key in _OF_VERBS)


def _is_model(work: _Proposal, node: Node, wanted: Node) -> bool:
    """Whether a word of the left side that goes, or changes, has the tense that is wanted."""
    return id(node) in work.names and node.upos in _VERBAL and _shape(node) == _shape(wanted)


def _has(node: Node, feats: dict[str, str]) -> bool:
    return "VerbForm" in feats and "Tense" in feats and all(
        node.feats.get(key, "") == value for key, value in feats.items() if key in _OF_VERBS
    )  # fmt: skip


def _is_subject_of(subject: Node, verb: Node) -> bool:
    return subject.is_a("subject") and subject.head in (verb, verb.head)
