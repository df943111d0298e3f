"""Trained weights as the arrays of a model file (docs/model-file.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.model.provenance import Arrays


def frozen_arrays(rows: _core.SparseRows, index: _core.FeatureIndex, width: int, **more: Any) -> Arrays:
    """The arrays of finished weights, with rows of `width` outputs; `more` is what else is to be frozen."""
    arrays: dict[str, Any] = rows.freeze(index, width, **more)
    outputs = arrays.pop("outputs")
    narrow = not outputs.size or int(outputs.max()) < 1 << 16
    arrays["narrow" if narrow else "wide"] = outputs.astype(np.uint16 if narrow else np.uint32)
    at, constants = rows.cells(0)
    arrays["constant_at"], arrays["constants"] = at[constants != 0], constants[constants != 0]
    if "names" in arrays:
        arrays["names"] = np.frombuffer(arrays["names"], np.uint8)
    return arrays


class Features(NamedTuple):
    """Features one after another: their keys, whether they are of label pairs, and their names (None: not
    kept) in UTF-8."""

    keys: npt.NDArray[np.uint64]
    edges: npt.NDArray[np.uint8]
    names: Sequence[bytes] | None


class Cells(NamedTuple):
    """Weights and where they stand: the row of feature i is i + 1, row 0 is that of the constants."""

    rows: npt.NDArray[Any]
    outputs: npt.NDArray[Any]
    weights: npt.NDArray[Any]


def built_arrays(features: Features, cells: Cells, width: int, constants: int, known: int = 0) -> Arrays:
    """The arrays of given weights, as training would make them; a ValueError if they do not fit.

    A structure has at most so many `constants`; there is room for those that are given, which may be none.
    The first `known` rows stay even if all their weights are zero.
    """
    index = _core.FeatureIndex(features.names is not None)
    names = features.names or [b""] * len(features.keys)
    ends = np.cumsum([len(name) for name in names], dtype=np.uint32)
    index.seed(features.keys, features.edges, b"".join(names), ends)
    own = cells.outputs[cells.rows == 0]
    if own.size and int(own.max()) >= constants:
        raise ValueError("weights: a place is out of range")
    table = _core.WeightTable(len(features.keys) + 1, int(own.max()) + 1 if own.size else 0)
    none = np.zeros(0)
    places = cells.rows.astype(np.uint32), cells.outputs.astype(np.uint32)
    weights = cells.weights.astype(np.float32)
    table.restore(index, width, *places, weights, none, none, none.astype(np.float32), 0.0)
    return frozen_arrays(table.current, index, width, known=known)
