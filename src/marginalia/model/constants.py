"""Weights of labels alone, by their numbers in row 0: the layout of core/search/chain/lattice.hpp."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.config import Settings, setting

MOST_LABELS = 4096
"""Of a chain of order 1."""
KINDS = {"start": 1, "end": 1, "transition": 2, "trigram": 3}
"""What there is, with the number of labels that each is of."""


@dataclass(frozen=True, kw_only=True)
class ChainSettings(Settings):
    """Settings of chains; models of other structures have constants as chains of order 1 do."""

    order: int = setting(1, "Labels an output feature looks back: 1 for label bigrams, 2 for trigrams.", 1, 2)
    legal: bool = setting(
        True, "Forbid label transitions that the scheme does not allow, in training and tagging."
    )


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


def _moved_constants(places: npt.NDArray[np.int64], old: int, new: int) -> npt.NDArray[np.int64]:
    """Where constants over `old` labels are among those over `new` ones, of which the first are the same."""
    pair, kept = places - 2 * old, min(old, new)
    older, rest = np.divmod(pair - old * old, old * old)  # of trigrams; the last is what is before a sentence
    is_pair, is_trigram = pair >= 0, pair >= old * old
    last, label = np.divmod(np.where(is_trigram, rest, pair), old)
    lost = np.where(is_pair, (last >= kept) | (label >= kept), places % old >= kept)
    if (lost | (is_trigram & (older != old) & (older >= kept))).any():
        raise ValueError("constants: a label is not there any more")
    older = np.where(older == old, new, older)
    pairs = 2 * new + last * new + label + np.where(is_trigram, new * new * (older + 1), 0)
    return np.where(is_pair, pairs, np.where(places < old, places, places - old + new))


def _moved_pairs(outputs: npt.NDArray[np.int64], old: int, new: int) -> npt.NDArray[np.int64]:
    """Outputs of features of two labels, renumbered for another number of labels."""
    last, label = np.divmod(outputs, old)
    if new < old and ((last >= new) | (label >= new)).any():
        raise ValueError("weights: a label is not there any more")
    return last * new + label


def moved_outputs(
    outputs: npt.NDArray[Any],
    constant: npt.NDArray[np.bool_],
    edge: npt.NDArray[np.bool_],
    old: int,
    new: int,
) -> npt.NDArray[np.int64]:
    """The outputs of weights whose rows have `new` outputs instead of `old`."""
    moved = outputs.astype(np.int64)
    if old == new:
        return moved
    moved[constant] = _moved_constants(moved[constant], old, new)
    moved[edge] = _moved_pairs(moved[edge], old, new)
    if (moved[~constant & ~edge] >= new).any():
        raise ValueError("weights: a label is not there any more")
    return moved
