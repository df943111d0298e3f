"""What English verbs stand with: complements by kind, and nouns as objects and subjects, counted in trees.

Kinds of complements are those of the active voice: the subject of a passive is an object. A line of the list
(`tools/make_valency.py`) is a verb, how often it was seen, its kinds of complements with counts, its objects
and its subjects with counts. Where too little was seen, the sentence frames of WordNet answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache

from ...errors import DataError
from ..trees import Node, Tree
from .packed import SHIPPED, read_packed, write_packed
from .wordnet import wordnet

KIND = "valency"
NONE, OBJECT, SECOND_OBJECT, CLAUSE, TO, ING, OPEN = "none", "obj", "iobj", "ccomp", "to", "ing", "xcomp"
_FRAMES = {
    NONE: frozenset({1, 2, 3, 4, 12, 13, 22, 23, 27}),
    OBJECT: frozenset({8, 9, 10, 11, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 30, 31}),
    SECOND_OBJECT: frozenset({14, 15}),
    CLAUSE: frozenset({26, 29, 34}),
    TO: frozenset({24, 28, 29}),
    ING: frozenset({33}),
    OPEN: frozenset({5, 6, 7, 25, 32, 35}),
}
"""WordNet's numbers of sentence frames that have a kind of complement."""


@dataclass
class Valency:
    """Counts by verb: of all its uses, kinds of complements, objects and subjects."""

    uses: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, Counter[str]] = field(default_factory=dict)
    objects: dict[str, Counter[str]] = field(default_factory=dict)
    subjects: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, tree: Tree) -> None:
        """Count the verbs of a tree."""
        for verb in tree.nodes:
            if verb.upos == "VERB":
                lemma = verb.lemma.lower()
                self.uses[lemma] += 1
                self.kinds.setdefault(lemma, Counter()).update(set(complements(verb)))
                for table, noun in ((self.objects, object_of(verb)), (self.subjects, subject_of(verb))):
                    if noun is not None and noun.upos == "NOUN":
                        table.setdefault(lemma, Counter())[noun.lemma.lower()] += 1

    def update(self, other: Valency) -> None:
        """Add the counts of others."""
        self.uses.update(other.uses)
        for own, more in (
            (self.kinds, other.kinds),
            (self.objects, other.objects),
            (self.subjects, other.subjects),
        ):
            for verb, counts in more.items():
                own.setdefault(verb, Counter()).update(counts)

    def allows(self, verb: str, kind: str) -> bool | None:
        """Whether a verb stands with a kind of complement; None if nothing is known of it."""
        seen, uses, frames = self.kinds.get(verb, Counter())[kind], self.uses[verb], wordnet().frames(verb)
        if seen and seen >= LEAST_SHARE * uses:
            return True
        if frames and kind in _FRAMES:
            return bool(frames & _FRAMES[kind])
        return False if uses >= ENOUGH else None

    def lines(self, least: int = 1) -> Iterator[str]:
        """The lines of the list: verbs that were seen so often, in alphabetical order."""
        for verb in sorted(self.uses):
            if self.uses[verb] >= least:
                tables = (self.kinds, self.objects, self.subjects)
                fields = (_written(table.get(verb, Counter()), least) for table in tables)
                yield "\t".join([verb, str(self.uses[verb]), *fields])

    def write(self, path: str, least: int = 1) -> None:
        """Write the list; counts that are smaller than `least` are left out."""
        write_packed(path, KIND, self.lines(least))


LEAST_SHARE = 0.1  # of uses of a verb that must have a complement; fewer may be errors of the parser
ENOUGH = 20  # uses after which a complement that was not seen is one that there is not


def _written(counts: Counter[str], least: int) -> str:
    return " ".join(f"{name}:{count}" for name, count in sorted(counts.items()) if count >= least)


def read_valency(path: str) -> Valency:
    """The counts of a list."""
    found = Valency()
    for number, line in enumerate(read_packed(path, KIND), 1):
        fields = line.split("\t")
        if len(fields) != 5:
            raise DataError(f"found {len(fields)} fields, expected 5", file=path, line=number)
        verb = fields[0]
        try:
            found.uses[verb] = int(fields[1])
            tables = (found.kinds, found.objects, found.subjects)
            for table, text in zip(tables, fields[2:], strict=True):
                table[verb] = _read(text)
        except ValueError:
            raise DataError("found no count behind a name, expected one", file=path, line=number) from None
    return found


def _read(text: str) -> Counter[str]:
    pairs = (entry.rpartition(":") for entry in text.split(" ")) if text else ()
    return Counter({name: int(count) for name, _, count in pairs})


@cache
def valency() -> Valency:
    """The built-in counts."""
    return read_valency(str(SHIPPED / "en" / "valency.words"))


def is_passive(verb: Node) -> bool:
    """Whether a verb is in the passive voice; a participle behind a noun is, too."""
    if any(child.relation in ("aux:pass", "nsubj:pass", "csubj:pass") for child in verb.children):
        return True
    return verb.relation == "acl" and verb.xpos == "VBN"


def is_whole(verb: Node) -> bool:
    """Whether all that a verb stands with is in its clause: not so in relative clauses and questions, of
    infinitives and participles, and where verbs share complements."""
    if verb.relation not in ("root", "ccomp", "parataxis", "advcl") or verb.xpos in ("VBG", "VBN"):
        return is_passive(verb)
    return not any(child.relation == "conj" or child.xpos[:1] == "W" for child in verb.children)


def complements(verb: Node) -> Iterator[str]:
    """Kinds of complements of a verb in the active voice; prepositions (on+), particles (up!) are kinds."""
    found = list(_complements(verb))
    core = {OBJECT, SECOND_OBJECT, CLAUSE, TO, ING, OPEN}
    yield from found
    if core.isdisjoint(found) and is_whole(verb):
        yield NONE


def _complements(verb: Node) -> Iterator[str]:
    if is_passive(verb):
        yield OBJECT
    for child in verb.children:
        if child.relation in (OBJECT, SECOND_OBJECT):
            yield child.relation
        elif child.relation == "ccomp":
            yield CLAUSE
        elif child.relation == "xcomp":
            yield _open_kind(child)
        elif child.relation == "obl" and child.index > verb.index:
            yield from (f"{case.lemma.lower()}+" for case in child.daughters("case")[:1])
        elif child.relation == "compound:prt":
            yield f"{child.lemma.lower()}!"


def _open_kind(child: Node) -> str:
    if any(mark.lemma == "to" for mark in child.children if mark.is_a("mark")):
        return TO
    return ING if child.xpos == "VBG" else OPEN


def object_of(verb: Node) -> Node | None:
    """Its object; the subject of a passive."""
    wanted = ("nsubj:pass",) if is_passive(verb) else (OBJECT,)
    return next((child for child in verb.children if child.relation in wanted), None)


def subject_of(verb: Node) -> Node | None:
    """Its subject in the active voice; of a passive the agent."""
    wanted = ("obl:agent",) if is_passive(verb) else ("nsubj",)
    return next((child for child in verb.children if child.relation in wanted), None)


def counted(trees: Iterable[Tree]) -> Valency:
    """The counts of trees."""
    found = Valency()
    for tree in trees:
        found.add(tree)
    return found
