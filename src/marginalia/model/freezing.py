"""Trained weights as the arrays of a model file (docs/model-file.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from marginalia import _core
from marginalia.model.provenance import Arrays


def frozen_arrays(rows: _core.SparseRows, index: _core.FeatureIndex, labels: int, **more: Any) -> Arrays:
    """The arrays of finished weights; `more` is what else the core is to freeze with them."""
    arrays: dict[str, Any] = rows.freeze(index, labels, **more)
    outputs = arrays.pop("outputs")
    narrow = not outputs.size or int(outputs.max()) < 1 << 16
    arrays["narrow" if narrow else "wide"] = outputs.astype(np.uint16 if narrow else np.uint32)
    at, constants = rows.cells(0)
    arrays["constant_at"], arrays["constants"] = at[constants != 0], constants[constants != 0]
    if "names" in arrays:
        arrays["names"] = np.frombuffer(arrays["names"], np.uint8)
    return arrays
