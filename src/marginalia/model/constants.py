"""Weights of labels alone, by their numbers in row 0: the layout of core/search/lattice.hpp."""

from __future__ import annotations

from collections.abc import Sequence

KINDS = {"start": 1, "end": 1, "transition": 2, "trigram": 3}
"""What there is, with the number of labels that each is of."""


def constant_at(place: int, size: int) -> tuple[str, tuple[int, ...]]:
    """Kind and labels of a constant over so many labels; that number stands for what is before a sentence."""
    if place < 2 * size:
        return ("start" if place < size else "end"), (place % size,)
    place -= 2 * size
    if place < size * size:
        return "transition", divmod(place, size)
    older, pair = divmod(place - size * size, size * size)
    return "trigram", (older, *divmod(pair, size))


def constant_place(kind: str, ids: Sequence[int], size: int) -> int:
    """The inverse."""
    first = {"start": 0, "end": size, "transition": 2 * size, "trigram": 2 * size + size * size}[kind]
    output = 0
    for label in ids:
        output = output * size + int(label)
    return first + output


def constant_count(size: int, order: int) -> int:
    """How many there are."""
    trigrams = (size + 1) * size * size if order == 2 else 0
    return 2 * size + size * size + trigrams
