"""A smaller model of the same kind: fewer weights, of fewer bits, under shorter keys.

Small weights go first, and those of features that have no great one. Names, votes, provenance, learning
state and the record of the training go always. Features are kept under the upper 32 bits of their keys; if
two share those, the one with the greater weights stays.
Weights of 16 bits are steps of one size; those of fewer bits are places in a table of numbers, as many as the
bits tell apart (docs/shrink.md has the formulas).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.model.file import to_bytes
from marginalia.model.first_part import first_arrays
from marginalia.model.global_part import PREFIX
from marginalia.model.provenance import Arrays
from marginalia.model.saved import LEVELS, SavedModel
from marginalia.model.short_rows import ShortRows
from marginalia.model.word_tables import tables_in

BITS = (32, 16, 8, 6, 5)
_SPREAD = 4096.0  # 8 bits tell weights apart that are so many times smaller than the greatest
# A weight counts as the greatest of its feature does, but as no more than so many times itself: learners move
# the weights of a feature against each other, and a part of them alone says something else.
_COMPANY = 3.0
_EXACT = 200  # sizes are met up to such a part of the weights

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]


class Shrinker:
    """A model whose weights are ranked, to be made smaller in several ways."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved = saved
        ends = saved.row_ends()
        rows = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))
        weights, self._keys = saved.weights(), _short(saved.arrays["keys"])
        used = (weights != 0) & _winners(self._keys, rows, weights)[rows]
        self._rows, self._weights, self._outputs = rows[used], weights[used], saved.outputs()[used]
        size = np.abs(self._weights)
        greatest = np.zeros(ends.size, np.float32)
        np.maximum.at(greatest, self._rows, size)
        self._strength = np.minimum(greatest[self._rows], size * np.float32(_COMPANY))
        self._order = np.lexsort((self._outputs, self._rows, -self._strength))
        self._edge = saved.edges()

    @property
    def weights(self) -> int:
        """How many weights there are that are not zero, without the constants."""
        return self._order.size

    def smaller(self, bits: int, keep: int) -> SavedModel:
        """The model with `keep` weights, the strongest, in so many bits."""
        cells = np.sort(self._order[:keep])
        codes, extra = _encoded(self._weights[cells], bits)
        nonzero = codes != 0
        rows, sizes = np.unique(self._rows[cells][nonzero], return_counts=True)
        # Keys rise with the rows, as the whole keys do.
        short = ShortRows(
            self._keys[rows], sizes, self._edge[rows], self._outputs[cells][nonzero], codes[nonzero]
        )
        kept = np.abs(self._saved.arrays["constants"]) >= self._threshold(keep)
        constants = {name: self._saved.arrays[name][kept] for name in ("constant_at", "constants")}
        lists = tables_in(self._saved.arrays) | _global_arrays(self._saved)
        lists |= first_arrays(self._saved.arrays)
        arrays = short.arrays() | extra | constants | lists
        program = replace(self._saved.program, left_out=())
        none: dict[str, Any] = {"history": [], "diagnostics": {}, "files": [], "corrections": []}
        return replace(self._saved, arrays=arrays, program=program, **none)

    def fitting(self, bits: int, size: int) -> int | None:
        """How many weights may stay if the file is to have so many bytes; None if it cannot."""
        if self._size(bits, self.weights) <= size:
            return self.weights
        if self._size(bits, 0) > size:
            return None
        low, high = 0, self.weights
        while high - low > 1 + low // _EXACT:
            middle = (low + high) // 2
            low, high = (middle, high) if self._size(bits, middle) <= size else (low, middle)
        return low

    def _size(self, bits: int, keep: int) -> int:
        return len(to_bytes(self.smaller(bits, keep)))

    def _threshold(self, keep: int) -> float:
        if keep >= self.weights:
            return 0.0
        return float(self._strength[self._order[keep - 1]]) if keep else np.inf


def compacted(saved: SavedModel, bits: int, most: int) -> SavedModel:
    """The model with at most so many weights (0: all of them) in so many bits, and what is known of its
    training."""
    if bits == 32 and most == 0:
        return saved
    shrinker = Shrinker(saved)
    smaller = shrinker.smaller(bits, min(most, shrinker.weights) if most else shrinker.weights)
    return replace(smaller, history=saved.history, diagnostics=saved.diagnostics)


def _short(keys: npt.NDArray[np.uint64] | npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The upper halves of keys, as `short_key` in core/weights/frozen.hpp; empty slots stay 0."""
    if keys.dtype == np.uint32:
        return keys.astype(np.uint32)
    return np.where(keys == 0, 0, np.maximum(keys >> np.uint64(32), 1)).astype(np.uint32)


def _winners(keys: npt.NDArray[np.uint32], rows: Numbers, weights: Floats) -> npt.NDArray[np.bool_]:
    """By row: whether it stays. Of rows with the same short key the one with the greatest weights does."""
    strength = np.bincount(rows, np.abs(weights), minlength=keys.size)
    order = np.lexsort((-strength, keys))
    wins = np.ones(keys.size, bool)
    wins[order[1:]] = keys[order[1:]] != keys[order[:-1]]
    return wins


def _encoded(weights: Floats, bits: int) -> tuple[npt.NDArray[Any], Arrays]:
    """Weights in so many bits, and what makes numbers of them again."""
    if bits == 32:
        return weights, {}
    greatest = np.abs(weights).max(initial=0)
    if bits == 16:
        scale = np.float32(greatest / 32767) or np.float32(1)
        codes = np.clip(np.rint(weights / scale), -32767, 32767).astype(np.int16)
        return codes, {"scale": np.array([scale], np.float32)}
    levels = _levels(np.abs(weights), bits)
    codebook = np.zeros(256, np.float32)
    codebook[1 : levels.size + 1], codebook[LEVELS + 1 : LEVELS + 1 + levels.size] = levels, -levels
    between = np.concatenate([levels[:1] / 2, (levels[1:] + levels[:-1]) / 2])
    places = np.searchsorted(between, np.abs(weights), "right")
    codes = np.where((weights < 0) & (places > 0), places + LEVELS, places).astype(np.uint8)
    return codes, {"codebook": codebook}


def _levels(sizes: Floats, bits: int) -> Floats:
    """The numbers above zero that so many bits stand for: from the least to the greatest, 127 of them in
    equal ratios, or fewer whose square roots are equally far apart."""
    greatest = sizes.max(initial=0)
    count, least = (1 << bits - 1) - 1, sizes.min(initial=greatest)
    if bits == 8:
        least = max(least, greatest / _SPREAD) or 1.0
        return np.geomspace(least, max(greatest, least), count).astype(np.float32)
    return (np.linspace(np.sqrt(least), np.sqrt(greatest or 1.0), count) ** 2).astype(np.float32)


def _global_arrays(saved: SavedModel) -> Arrays:
    """Those of global features, which stay as they are, but for their names."""
    whole = {name: array for name, array in saved.arrays.items() if name.startswith(PREFIX)}
    return {name: array for name, array in whole.items() if not name.startswith(f"{PREFIX}name")}
