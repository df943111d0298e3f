"""Verb groups in trees: the chain of auxiliaries around a predicate, read and written anew."""

from __future__ import annotations

from dataclasses import replace

from ..trees import Node, Tree
from .agreement import Agreement, agreement_of, subject_of
from .verbs import VerbGroup, Word, build, read

_NOT = ("not", "n't", "n’t")


def chain_of(predicate: Node) -> list[Node]:
    """The words of a predicate's verb group in surface order: auxiliaries, copula or verb, and not."""
    parts = [child for child in predicate.children if _is_part(child, predicate)]
    copula = any(child.relation == "cop" for child in parts)
    words = parts if copula else [*parts, predicate]
    return sorted(words, key=lambda node: node.index)


def _is_part(child: Node, predicate: Node) -> bool:
    if child.relation.startswith(("aux", "cop")):
        return True
    return child.form.lower() in _NOT and child.relation == "advmod" and _negates(child, predicate)


def _negates(negation: Node, predicate: Node) -> bool:
    """Not stands behind an auxiliary, or before the verb itself; `not only he came` is another one."""
    before = [child for child in predicate.children if child.relation.startswith(("aux", "cop"))]
    return any(one.index < negation.index for one in before) or (
        predicate.upos in ("VERB", "AUX") and negation.index == predicate.index - 1
    )


def group_of(predicate: Node) -> VerbGroup:
    """What the verb group of a predicate says."""
    return read([_word(node) for node in chain_of(predicate)])


def _word(node: Node) -> Word:
    upos = "PART" if node.form.lower() in _NOT else node.upos if node.upos == "VERB" else "AUX"
    return Word(node.form, node.lemma, node.xpos, upos, tuple(sorted(node.feats.items())))


def finite_subject(predicate: Node) -> Agreement:
    """Person and number that a predicate's finite verb takes; third person singular without a subject."""
    subject = subject_of(predicate)
    return Agreement() if subject is None else agreement_of(subject)


def mend_features(verb: Node) -> None:
    """Make a verb finite that the parser took for a participle though it has a subject and no auxiliary."""
    participle = verb.upos == "VERB" and verb.feats.get("VerbForm") == "Part" and "Tense" in verb.feats
    if not participle or verb.feats["Tense"] != "Past" or verb.relation in ("conj", "acl", "xcomp", "advcl"):
        return
    alone = not any(child.relation.startswith(("aux", "cop", "mark")) for child in verb.children)
    if alone and any(child.relation.startswith("nsubj") for child in verb.children):
        verb.feats.update({"VerbForm": "Fin", "Mood": "Ind"})
        verb.feats.pop("Voice", None)


def write_group(tree: Tree, predicate: Node, group: VerbGroup, agreement: Agreement | None = None) -> None:
    """Put a verb group in the place of a predicate's own, before and at its verb or copula.

    A copula is part of the group, its predicate is not; adverbs stay where they are.
    """
    person, plural = agreement or finite_subject(predicate)
    words = build(group, person=person, plural=plural)
    verb = _verb_of(predicate)
    for node in chain_of(predicate):
        if node is not verb:
            tree.delete(node)
    last = max(place for place, word in enumerate(words) if word.upos != "PART")
    _become(verb, words[last])
    auxiliaries = [word for word in words[:last] if word.upos != "PART"]
    for place, word in enumerate(words):
        if place != last:
            passive = group.passive and bool(auxiliaries) and word is auxiliaries[-1]
            relation = "advmod" if word.upos == "PART" else "aux:pass" if passive else "aux"
            _insert(tree, predicate, verb, word, relation, place > last)
    if group.passive:
        verb.feats["Voice"] = "Pass"


def _verb_of(predicate: Node) -> Node:
    return next((child for child in predicate.children if child.relation == "cop"), predicate)


def _insert(tree: Tree, predicate: Node, verb: Node, word: Word, relation: str, behind: bool) -> None:
    node = Node(word.form, word.lemma, word.upos, word.xpos, dict(word.feats), relation)
    place = {"after": verb} if behind else {"before": verb}
    tree.insert(node, predicate, relation, **place)
    if word.form in ("n't", "n’t") and node.index:
        tree.nodes[node.index - 1].space_after = ""


def _become(node: Node, word: Word) -> None:
    if (node.xpos, node.lemma.lower()) == (word.xpos, word.lemma) and word.lemma != "be":
        return  # the form of the text: gotten, travelled
    capital = node.form[:1].isupper() and node.index == 0
    node.form = word.form.capitalize() if capital else word.form
    node.lemma, node.xpos = word.lemma, word.xpos
    keep = {name: value for name, value in node.feats.items() if name in ("ExtPos", "Abbr")}
    node.feats.clear()
    node.feats.update({**dict(word.feats), **keep})


def active(group: VerbGroup) -> VerbGroup:
    """The same in the active voice."""
    return replace(group, passive="")


def passive(group: VerbGroup) -> VerbGroup:
    """The same in the passive voice, with be."""
    return replace(group, passive="be", emphatic=False)
