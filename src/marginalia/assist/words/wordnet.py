"""WordNet as it ships: senses of English lemmas, and how they are related.

The list (`tools/make_wordnet.py`) has a line for each synset: part of speech (n v a r), its lemmas, each with
the rank and the count of that sense of it, then numbers of hypernyms, similar and opposite synsets relative
to its own number, frames of a verb, and a gloss; lines of lemmas with others of the same root follow. Lines
are read when they are first asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...errors import DataError
from .packed import SHIPPED, read_packed

PARTS_OF_SPEECH = {
    "NOUN": "n",
    "VERB": "v",
    "ADJ": "a",
    "ADV": "r",
}  # of Universal Dependencies, where WordNet has them


@dataclass(frozen=True)
class Synset:
    """Lemmas with one meaning in common."""

    number: int
    pos: str  # n, v, a or r
    lemmas: tuple[str, ...]  # with blanks in phrases
    ranks: tuple[int, ...]  # of this sense among those of each lemma; 0 is the most frequent
    counts: tuple[int, ...]  # of this sense of each lemma in tagged text
    hypernyms: tuple[int, ...]
    similar: tuple[int, ...]
    opposite: tuple[int, ...]
    frames: tuple[tuple[int, str | None], ...]  # of a verb: number and the lemma it holds for (None: all)
    gloss: str


@dataclass(frozen=True)
class Sense:
    """One sense of a lemma."""

    synset: Synset
    rank: int
    count: int


class WordNet:
    """Senses by lemma and part of speech, synsets by number."""

    def __init__(self, path: str) -> None:
        lines = read_packed(path, "wordnet")
        try:
            size = int(lines[0])
            self._lines = lines[1 : size + 1]
            self._numbers = _index(self._lines)
            self._derived = {tuple(line.split("\t")[:2]): line for line in lines[size + 1 :]}
        except (ValueError, IndexError):
            raise DataError("the list of synsets is not laid out as WordNet's", file=path) from None
        self._synsets: dict[int, Synset] = {}
        self._senses: dict[tuple[str, str], tuple[Sense, ...]] = {}
        self._narrower: dict[int, list[int]] | None = None

    def __len__(self) -> int:
        return len(self._lines)

    def synset(self, number: int) -> Synset:
        """The synset of this number."""
        if number not in self._synsets:
            self._synsets[number] = _synset(number, self._lines[number])
        return self._synsets[number]

    def senses(self, lemma: str, pos: str) -> tuple[Sense, ...]:
        """Senses of a lemma, most frequent first; none if it is not in the list."""
        key = (lemma.replace(" ", "_"), pos)
        if key not in self._senses:
            self._senses[key] = self._found(*key)
        return self._senses[key]

    def _found(self, lemma: str, pos: str) -> tuple[Sense, ...]:
        senses = []
        for number in self._numbers.get(pos + lemma, ()):
            synset = self.synset(number)
            at = synset.lemmas.index(lemma.replace("_", " "))
            senses.append(Sense(synset, synset.ranks[at], synset.counts[at]))
        return tuple(sorted(senses, key=lambda sense: (sense.rank, sense.synset.number)))

    def narrower(self, number: int) -> tuple[int, ...]:
        """Synsets of which this one is a hypernym: of `dog` also `poodle`."""
        if self._narrower is None:
            self._narrower = _reversed_hypernyms(self._lines)
        return tuple(self._narrower.get(number, ()))

    def below(self, number: int) -> int:
        """How many synsets are below this one, at any depth: how general it is."""
        found, waiting = {number}, [number]
        while waiting:
            fresh = set(self.narrower(waiting.pop())) - found
            found |= fresh
            waiting.extend(fresh)
        return len(found) - 1

    def derived(self, lemma: str, pos: str) -> tuple[tuple[str, str], ...]:
        """Lemmas of the same root, with their parts of speech: of `decide` also the noun `decision`."""
        line = self._derived.get((lemma.replace(" ", "_"), pos))
        pairs = line.split("\t")[2].split(" ") if line else []
        return tuple((pair[2:].replace("_", " "), pair[0]) for pair in pairs)

    def frames(self, lemma: str) -> frozenset[int]:
        """Numbers of the sentence frames of all senses of a verb."""
        return frozenset(
            frame
            for sense in self.senses(lemma, "v")
            for frame, only in sense.synset.frames
            if only is None or only == lemma
        )


def _index(lines: list[str]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        pos, lemmas, _ = line.split("\t", 2)
        for entry in lemmas.split(" "):
            numbers.setdefault(pos + entry.partition(":")[0], []).append(number)
    return numbers


def _reversed_hypernyms(lines: list[str]) -> dict[int, list[int]]:
    narrower: dict[int, list[int]] = {}
    for number, line in enumerate(lines):
        steps = line.split("\t", 3)[2]
        for step in steps.split(",") if steps else ():
            narrower.setdefault(number + int(step), []).append(number)
    return narrower


def _synset(number: int, line: str) -> Synset:
    pos, entries, *related, frames, gloss = line.split("\t")
    parts = [entry.split(":") for entry in entries.split(" ")]
    lemmas = tuple(part[0].replace("_", " ") for part in parts)
    hypernyms, similar, opposite = (
        tuple(number + int(step) for step in field.split(",")) if field else () for field in related
    )
    read = [frame.partition("@") for frame in frames.split(",")] if frames else []
    return Synset(
        number,
        pos,
        lemmas,
        tuple(int(part[1]) if len(part) > 1 else 0 for part in parts),
        tuple(int(part[2]) if len(part) > 2 else 0 for part in parts),
        hypernyms,
        similar,
        opposite,
        tuple((int(frame), lemmas[int(at)] if at else None) for frame, _, at in read),
        gloss,
    )


@cache
def wordnet() -> WordNet:
    """The built-in WordNet, read when first asked for."""
    return WordNet(str(SHIPPED / "en" / "wordnet.words"))
