"""Weights under short keys: rows of cells, and the arrays that the core looks them up in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.model.provenance import Arrays
from marginalia.model.saved import BLOCK, SavedModel

Numbers = npt.NDArray[np.int64]
ARRAYS = ("homes", "keys", "row_end", "row_base", "edge", "gaps", "narrow", "wide", "weights")
"""The arrays that rows are kept in."""


class ShortRows(NamedTuple):
    """Features by rising key, each with its cells by rising output: `codes` are weights of so many bits."""

    keys: npt.NDArray[np.uint32]
    sizes: Numbers
    edge: npt.NDArray[np.bool_]
    outputs: npt.NDArray[np.uint32]
    codes: npt.NDArray[Any]

    @classmethod
    def of(cls, saved: SavedModel) -> ShortRows:
        """Those of a shrunk model; cells without weight only fill gaps."""
        keys, sizes = saved.arrays["keys"], np.diff(saved.row_ends(), prepend=0)
        used = saved.weights() != 0
        rows = np.repeat(np.arange(keys.size), sizes)[used]
        sizes = np.bincount(rows, minlength=keys.size)
        there = sizes > 0
        outputs, codes = saved.outputs()[used], saved.arrays["weights"][used]
        return cls(keys[there], sizes[there], saved.edges()[there], outputs, codes)

    def arrays(self) -> Arrays:
        """The rows as a table of slots; see `FrozenArrays` in core/weights/frozen.hpp."""
        sizes, listed = self._cells()
        homes = self.keys.size * 8 // 7 + 1
        places = np.arange(self.keys.size)
        wanted = (self.keys.astype(np.uint64) * np.uint64(homes) >> np.uint64(32)).astype(np.int64)
        slots = places + np.maximum.accumulate(wanted - places)
        count = max(homes, int(slots[-1]) + 1 if slots.size else 0) + 1
        table, counts, edge = np.zeros(count, np.uint32), np.zeros(count, np.int64), np.zeros(count, bool)
        table[slots], counts[slots], edge[slots] = self.keys, sizes, self.edge
        found: Arrays = {"homes": np.array([homes], np.uint64), "keys": table}
        if edge.any():
            found["edge"] = np.packbits(edge, bitorder="little")
        return found | _ends(np.cumsum(counts)) | listed

    def _cells(self) -> tuple[Numbers, Arrays]:
        """How many cells each row gets, and the cells: with gaps between their outputs, or with the outputs
        if too many gaps are too wide."""
        highest = int(self.outputs.max(initial=0))
        filled = self._filled(1 if highest < 1 << 16 else 3)
        if filled is not None:
            sizes, gaps, codes = filled
            return sizes, {"gaps": gaps, "weights": codes}
        name, kind = ("narrow", np.uint16) if highest < 1 << 16 else ("wide", np.uint32)
        return self.sizes, {name: self.outputs.astype(kind), "weights": self.codes}

    def _filled(self, saving: int) -> tuple[Numbers, npt.NDArray[np.uint8], npt.NDArray[Any]] | None:
        """The cells with the gaps between their outputs, and cells without weight where a gap is too wide for
        8 bits; None if those cost more than gaps save, which is so many bytes for each cell."""
        ends = np.cumsum(self.sizes)
        before = np.roll(self.outputs, 1).astype(np.int64)
        before[(ends - self.sizes)[self.sizes > 0]] = -1
        gaps = self.outputs.astype(np.int64) - before - 1
        fillers = gaps // 256  # each takes one output and leaves out 255 before it
        if fillers.sum() * (1 + self.codes.itemsize) > self.codes.size * saving:
            return None
        own = np.cumsum(fillers + 1) - 1
        size = int(own[-1]) + 1 if own.size else 0
        all_gaps, all_codes = np.full(size, 255, np.uint8), np.zeros(size, self.codes.dtype)
        all_gaps[own], all_codes[own] = gaps % 256, self.codes
        sizes = self.sizes + np.diff(np.append(0, np.cumsum(fillers))[ends], prepend=0)
        return sizes, all_gaps, all_codes


def _ends(ends: Numbers) -> Arrays:
    """Where rows end, counted from the base of each block if 16 bits are enough for that."""
    bases = np.append(0, ends)[:-1:BLOCK]
    short = ends - np.repeat(bases, BLOCK)[: ends.size]
    if short.max(initial=0) >= 1 << 16:
        return {"row_end": ends.astype(np.uint32)}
    return {"row_end": short.astype(np.uint16), "row_base": bases.astype(np.uint32)}
