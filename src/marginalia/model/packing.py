"""Shrunk weights and texts as few bytes of a file, made arrays and lines again when it is loaded.

The core has the coder of rows (core/weights/packing.cpp); here is what surrounds it. Whatever does not fit
is a ValueError, which loading makes a ModelError.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.model.provenance import Arrays
from marginalia.model.saved import LEVELS, SavedModel
from marginalia.model.short_rows import ARRAYS, ShortRows

PACKED, SHAPE = "packed", "packed_shape"
_MOST_RATIO, _FREE = (
    2000,
    1 << 16,
)  # so many times as many cells, or bytes of text, as packed bytes may be told of
_MOST_SHARED = 0xD7FF - 32  # characters that a line says it shares: no more fit in one


def packed_arrays(saved: SavedModel) -> Arrays:
    """The arrays of a model for its file: of a shrunk one with its rows packed."""
    if not saved.is_shrunk:
        return saved.arrays
    rows = ShortRows.of(saved)
    values, levels = _values_of(rows.codes)
    packed = _core.pack_rows(
        np.ascontiguousarray(rows.keys),
        rows.sizes.astype(np.uint32),
        rows.edge.astype(np.uint8),
        np.ascontiguousarray(rows.outputs),
        values,
        saved.width,
        levels,
        rows.codes.itemsize * 8,
        bool(rows.edge.any()),
    )
    others = {name: array for name, array in saved.arrays.items() if name not in ARRAYS}
    shape = [rows.keys.size, rows.codes.size, levels, rows.codes.itemsize, int(rows.edge.any())]
    return others | {PACKED: packed, SHAPE: np.array(shape, np.uint32)}


def unpacked_arrays(arrays: Arrays, width: int) -> Arrays:
    """The inverse of `packed_arrays`, for a model with rows of so many outputs."""
    if PACKED not in arrays:
        return arrays
    packed, shape = arrays[PACKED], arrays[SHAPE]
    if packed.dtype != np.uint8 or shape.dtype != np.uint32 or shape.shape != (5,) or packed.ndim != 1:
        raise ValueError("packed weights are of a wrong kind")
    features, cells, levels, size, edges = shape.tolist()
    if size not in (1, 2, 4) or levels > LEVELS * (size == 1):
        raise ValueError("packed weights have a wrong size")
    keys, sizes, edge, outputs, values = _core.unpack_rows(
        packed, features, cells, width, levels, size * 8, edges != 0
    )
    codes = _codes_of(values, levels, size)
    rows = ShortRows(keys, sizes.astype(np.int64), edge != 0, outputs, codes)
    others = {name: array for name, array in arrays.items() if name not in (PACKED, SHAPE, *ARRAYS)}
    made = rows.arrays()
    for array in made.values():
        array.flags.writeable = False  # as those of files that are mapped
    return others | made


def _values_of(codes: npt.NDArray[Any]) -> tuple[npt.NDArray[np.uint32], int]:
    """Codes as values for the core, and how many levels above zero they have; 0 if they are other numbers."""
    if codes.dtype != np.uint8:
        return codes.view({2: np.uint16, 4: np.uint32}[codes.itemsize]).astype(np.uint32), 0
    if int(codes.max(initial=0)) > 2 * LEVELS:
        return codes.astype(np.uint32), 0
    negative = codes > np.uint8(LEVELS)
    steps = codes.astype(np.uint32) - LEVELS * negative.astype(np.uint32)
    levels = int(steps.max(initial=1))
    return steps + np.uint32(levels) * negative, levels


def _codes_of(values: npt.NDArray[np.uint32], levels: int, size: int) -> npt.NDArray[Any]:
    if size == 4:
        return values.view(np.float32)
    if size == 2:
        return values.astype(np.uint16).view(np.int16)
    if levels:
        values = values + np.uint32(LEVELS - levels) * (values > levels)
    return values.astype(np.uint8)


def packed_text(text: str) -> npt.NDArray[np.uint8]:
    """A text as few bytes."""
    return np.frombuffer(zlib.compress(text.encode("utf-8", "surrogatepass"), 9), np.uint8)


def unpacked_text(packed: npt.NDArray[np.uint8]) -> str:
    """The inverse of `packed_text`."""
    if packed.dtype != np.uint8:
        raise ValueError("a packed text is of a wrong kind")
    inflater = zlib.decompressobj()
    try:
        text = inflater.decompress(packed.tobytes(), _FREE + _MOST_RATIO * packed.size)
    except zlib.error as error:
        raise ValueError(f"a packed text is damaged: {error}") from None
    if not inflater.eof or inflater.unused_data:
        raise ValueError("a packed text is damaged: it has no end")
    return text.decode("utf-8", "surrogatepass")


def packed_lines(lines: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Lines as few bytes: each is how many characters it shares with the one before, as a character, and the
    rest."""
    return packed_text("\n".join(_shortened(lines)))


def unpacked_lines(packed: npt.NDArray[np.uint8]) -> tuple[str, ...]:
    """The inverse of `packed_lines`."""
    text, found, before = unpacked_text(packed), [], ""
    for line in text.split("\n") if text else ():
        if not line:
            raise ValueError("a packed line is damaged")
        before = before[: ord(line[0]) - 32] + line[1:]
        found.append(before)
    return tuple(found)


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    before = ""
    for line in lines:
        shared, most = 0, min(len(line), len(before), _MOST_SHARED)
        while shared < most and line[shared] == before[shared]:
            shared += 1
        yield chr(32 + shared) + line[shared:]
        before = line
