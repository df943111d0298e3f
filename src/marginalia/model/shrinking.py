"""A smaller model of the same kind: fewer weights, of fewer bits, under shorter keys.

Features whose greatest weight is small go first. Names, votes, provenance, learning state and the record of
the training go always. Features are kept under the upper 32 bits of their keys; if two share those, the one
with the greater weights stays.
Weights of 16 bits are steps of one size, those of 8 bits are places in a table of 255 numbers, whose steps
are a share of the number (docs/shrink.md has the formulas).
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
from marginalia.model.saved import BLOCK, SavedModel
from marginalia.model.word_tables import tables_in

BITS = (32, 16, 8)
_SLACK = 64  # bytes that the header may grow by, with the digits in it
_PER_FEATURE = 6.2 * 8 / 7  # bytes: a key, the end of its cells, a bit and a few, and room for looking up
_SPREAD = 4096.0  # 8 bits tell weights apart that are so many times smaller than the greatest
_LEVELS = 127

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
        # Features go whole: learners move the weights of a feature against each other, and a part of them
        # alone would say something else.
        strength = np.zeros(ends.size, np.float32)
        np.maximum.at(strength, self._rows, np.abs(self._weights))
        self._strength = strength[self._rows]
        self._order = np.lexsort((-np.abs(self._weights), self._rows, -self._strength))
        self._edge = saved.edges()

    @property
    def weights(self) -> int:
        """How many weights there are that are not zero, without the constants."""
        return self._order.size

    def smaller(self, bits: int, keep: int) -> SavedModel:
        """The model with `keep` weights, those of its strongest features, in so many bits."""
        cells = np.sort(self._order[:keep])
        codes, extra = _encoded(self._weights[cells], bits)
        nonzero = codes != 0
        rows, outputs, codes = self._rows[cells][nonzero], self._outputs[cells][nonzero], codes[nonzero]
        highest = int(outputs.max(initial=0))
        filled = _filled(rows, outputs, codes, 1 if highest < 1 << 16 else 3)
        if filled is None:
            wide = highest >= 1 << 16
            listed = {"wide": outputs.astype(np.uint32)} if wide else {"narrow": outputs.astype(np.uint16)}
        else:
            rows, gaps, codes = filled
            listed = {"gaps": gaps}
        kept = np.abs(self._saved.arrays["constants"]) >= self._threshold(keep)
        constants = {name: self._saved.arrays[name][kept] for name in ("constant_at", "constants")}
        lists = tables_in(self._saved.arrays) | _global_arrays(self._saved)
        lists |= first_arrays(self._saved.arrays)
        arrays = self._table(rows) | extra | {"weights": codes} | listed | constants | lists
        program = replace(self._saved.program, left_out=())
        none: dict[str, Any] = {"history": [], "diagnostics": {}, "files": [], "corrections": []}
        return replace(self._saved, arrays=arrays, program=program, **none)

    def fitting(self, bits: int, size: int) -> int | None:
        """How many weights may stay if the file is to have so many bytes; None if it cannot."""
        empty = self.smaller(bits, 0)
        new_row = np.zeros(self.weights, np.int64)
        new_row[np.unique(self._rows[self._order], return_index=True)[1]] = 1
        cells = np.arange(1, self.weights + 1) * (bits // 8 + 1)
        sizes = len(to_bytes(empty)) + _SLACK + cells + np.cumsum(new_row) * _PER_FEATURE
        keep = int(np.searchsorted(sizes, size, "right"))
        while keep and len(to_bytes(self.smaller(bits, keep))) > size:  # constants, and outputs far apart
            keep = int(keep * 0.995)
        return keep if keep or len(to_bytes(empty)) <= size else None

    def _threshold(self, keep: int) -> float:
        if keep >= self.weights:
            return 0.0
        return float(self._strength[self._order[keep - 1]]) if keep else np.inf

    def _table(self, cell_rows: Numbers) -> Arrays:
        """The features of some cells as a table of slots; see `FrozenArrays` in core/weights/frozen.hpp."""
        rows, sizes = np.unique(cell_rows, return_counts=True)
        keys = self._keys[rows]  # they rise with the rows, as the whole keys do
        homes = keys.size * 8 // 7 + 1
        places = np.arange(keys.size)
        wanted = (keys.astype(np.uint64) * np.uint64(homes) >> np.uint64(32)).astype(np.int64)
        slots = places + np.maximum.accumulate(wanted - places)
        count = max(homes, int(slots[-1]) + 1 if slots.size else 0) + 1
        table, counts, edge = np.zeros(count, np.uint32), np.zeros(count, np.int64), np.zeros(count, bool)
        table[slots], counts[slots], edge[slots] = keys, sizes, self._edge[rows]
        found: Arrays = {"homes": np.array([homes], np.uint64), "keys": table}
        if edge.any():
            found["edge"] = np.packbits(edge, bitorder="little")
        return found | _ends(np.cumsum(counts))


def compacted(saved: SavedModel, bits: int, most: int) -> SavedModel:
    """The model with at most so many weights (0: all of them) in so many bits, and what is known of its
    training."""
    if bits == 32 and most == 0:
        return saved
    shrinker = Shrinker(saved)
    smaller = shrinker.smaller(bits, min(most, shrinker.weights) if most else shrinker.weights)
    return replace(smaller, history=saved.history, diagnostics=saved.diagnostics)


def _ends(ends: Numbers) -> Arrays:
    """Where rows end, counted from the base of each block if 16 bits are enough for that."""
    bases = np.append(0, ends)[:-1:BLOCK]
    short = ends - np.repeat(bases, BLOCK)[: ends.size]
    if short.max(initial=0) >= 1 << 16:
        return {"row_end": ends.astype(np.uint32)}
    return {"row_end": short.astype(np.uint16), "row_base": bases.astype(np.uint32)}


def _filled(
    rows: Numbers, outputs: npt.NDArray[np.uint32], codes: npt.NDArray[Any], saving: int
) -> tuple[Numbers, npt.NDArray[np.uint8], npt.NDArray[Any]] | None:
    """The cells with the gaps between their outputs, and cells without weight where a gap is too wide for 8
    bits; None if those cost more than gaps save, which is so many bytes for each cell."""
    first = np.append(True, rows[1:] != rows[:-1])[: rows.size]
    gaps = outputs.astype(np.int64) - np.where(first, -1, np.roll(outputs, 1).astype(np.int64)) - 1
    fillers = gaps // 256  # each takes one output and leaves out 255 before it
    if fillers.sum() * (1 + codes.itemsize) > rows.size * saving:
        return None
    own = np.cumsum(fillers + 1) - 1
    size = int(own[-1]) + 1 if own.size else 0
    all_gaps, all_codes = np.full(size, 255, np.uint8), np.zeros(size, codes.dtype)
    all_gaps[own], all_codes[own] = gaps % 256, codes
    return np.repeat(rows, fillers + 1), all_gaps, all_codes


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
    least = max(np.abs(weights).min(initial=greatest), greatest / _SPREAD) or 1.0
    levels = np.geomspace(least, max(greatest, least), _LEVELS).astype(np.float32)
    codebook = np.zeros(256, np.float32)
    codebook[1 : _LEVELS + 1], codebook[_LEVELS + 1 : -1] = levels, -levels
    between = np.concatenate([levels[:1] / 2, (levels[1:] + levels[:-1]) / 2])
    places = np.searchsorted(between, np.abs(weights), "right")
    codes = np.where((weights < 0) & (places > 0), places + _LEVELS, places).astype(np.uint8)
    return codes, {"codebook": codebook}


def _global_arrays(saved: SavedModel) -> Arrays:
    """Those of global features, which stay as they are, but for their names."""
    whole = {name: array for name, array in saved.arrays.items() if name.startswith(PREFIX)}
    return {name: array for name, array in whole.items() if not name.startswith(f"{PREFIX}name")}
