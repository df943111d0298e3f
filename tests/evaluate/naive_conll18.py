"""The table of CoNLL 2018 in the plainest way: words as objects, spans as sets of characters, recursion."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from marginalia.corpus import ParsedSentence, Word
from marginalia.evaluate.conll18 import CONTENT, FUNCTIONAL, UNIVERSAL_FEATURES

Place = tuple[int, int]  # sentence, word
Placed = dict[Place, tuple[frozenset[int], bool, Word]]


def placed(sentences: Sequence[ParsedSentence]) -> Placed:
    """Each word with its characters, and whether it is of a multiword token."""
    found: Placed = {}
    at = 0
    for number, sentence in enumerate(sentences):
        for token in sentence.tokens:
            size = len("".join(token.form.split()))
            characters = frozenset(range(at, at + size))
            for word in [token] if isinstance(token, Word) else token.words:
                found[number, word.id] = characters, not isinstance(token, Word), word
            at += size
    return found


def regions(*sides: Placed) -> list[set[int]]:
    """The characters of multiword tokens of both sides; those that overlap are one."""
    merged: list[set[int]] = []
    for characters in {part for side in sides for part, multiword, _ in side.values() if multiword}:
        touching = [one for one in merged if one & characters]
        merged = [one for one in merged if not one & characters] + [characters.union(*touching)]
    return merged


def is_clean(gold: Placed, predicted: Placed) -> bool:
    """Whether no word sticks out of the multiword tokens of the other side.

    Such a word takes part in the alignment or not by which side it is on, in the official script as in ours.
    """
    every = regions(gold, predicted)
    parts = [part for side in (gold, predicted) for part, _, _ in side.values()]
    return not any(part & region and not part <= region for part in parts for region in every)


def longest(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """The length of the longest common subsequence."""

    @cache
    def of(i: int, k: int) -> int:
        if i == len(ours) or k == len(theirs):
            return 0
        both = 1 + of(i + 1, k + 1) if ours[i] == theirs[k] else 0
        return max(both, of(i + 1, k), of(i, k + 1))

    return of(0, 0)


def aligned_count(gold: Placed, predicted: Placed) -> int:
    """How many words can be aligned."""
    every = regions(gold, predicted)
    count = 0
    for region in every:
        sides = [
            [word.form.lower() for part, _, word in side.values() if part <= region]
            for side in (gold, predicted)
        ]
        count += longest(*sides)
    inside = set().union(*every)
    free = [[part for part, _, _ in side.values() if not part & inside] for side in (gold, predicted)]
    return count + len(set(free[0]) & set(free[1]))


def label(word: Word) -> str:
    return word.deprel.split(":")[0]


def features(word: Word) -> set[tuple[str, str]]:
    return {pair for pair in word.features.items() if pair[0] in UNIVERSAL_FEATURES}


def counts(
    gold: Sequence[ParsedSentence], predicted: Sequence[ParsedSentence], pairs: list[tuple[Place, Place]]
) -> dict[str, tuple[int, int, int]]:
    """Gold, predicted and right words for each metric, by given pairs of aligned words."""
    to_gold = {theirs: ours for ours, theirs in pairs}
    sides = [{(i, word.id): word for i, s in enumerate(side) for word in s} for side in (gold, predicted)]

    def head(side: int, place: Place) -> Any:
        number = sides[side][place].head
        if not number:
            return "root"
        return (place[0], number) if side == 0 else to_gold.get((place[0], number), "nothing")

    def functions(side: int, place: Place) -> list[Any]:
        mine = [p for p, w in sides[side].items() if (p[0], w.head) == place and label(w) in FUNCTIONAL]
        called: Callable[[Place], Any] = to_gold.get if side else lambda p: p
        return [
            (called(p), label(sides[side][p]), sides[side][p].upos, features(sides[side][p])) for p in mine
        ]

    result = {}
    for name in ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS", "MLAS", "BLEX"):
        chosen = [
            {p for p, w in side.items() if name not in ("CLAS", "MLAS", "BLEX") or label(w) in CONTENT}
            for side in sides
        ]
        right = 0
        for g, p in pairs:
            a, b = sides[0][g], sides[1][p]
            lemma = a.lemma in ("_", b.lemma)
            attached = head(0, g) == head(1, p)
            labelled = attached and label(a) == label(b)
            tags = a.upos == b.upos and features(a) == features(b)
            right += (
                g in chosen[0]
                and {
                    "UPOS": a.upos == b.upos,
                    "XPOS": a.xpos == b.xpos,
                    "UFeats": features(a) == features(b),
                    "AllTags": tags and a.xpos == b.xpos,
                    "Lemmas": lemma,
                    "UAS": attached,
                    "LAS": labelled,
                    "CLAS": labelled,
                    "MLAS": labelled and tags and functions(0, g) == functions(1, p),
                    "BLEX": labelled and lemma,
                }[name]
            )
        result[name] = len(chosen[0]), len(chosen[1]), right
    return result
