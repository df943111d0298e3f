"""Matching by trying everything: what a dictionary finds in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from naive_attributes import lowered

Found = list[tuple[int, int, tuple[str, ...]]]


def longest_phrases(
    tokens: Sequence[str], phrases: Mapping[tuple[str, ...], Sequence[str]], ignore_case: bool
) -> Found:
    """First token, end and labels of the phrases that stand in a sentence: the longest first, then the
    leftmost, as long as they do not overlap with what was taken before."""
    fold = lowered if ignore_case else str
    labels: dict[tuple[str, ...], set[str]] = {}
    for phrase, some in phrases.items():
        labels.setdefault(tuple(map(fold, phrase)), set()).update(some)
    folded = [fold(token) for token in tokens]
    places = [(b, e) for b in range(len(tokens)) for e in range(b + 1, len(tokens) + 1)]
    found: Found = []
    for begin, end in sorted(places, key=lambda place: (place[0] - place[1], place[0])):
        some = labels.get(tuple(folded[begin:end]))
        if some and all(end <= b or e <= begin for b, e, _ in found):
            found.append((begin, end, tuple(sorted(some))))
    return sorted(found)
