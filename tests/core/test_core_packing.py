"""Packed weights: every list of rows comes back as it was, in few bytes, and no bytes make the core crash."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia import _core

Rows = tuple[Any, Any, Any, Any, Any]


@st.composite
def packings(draw: st.DrawFn) -> tuple[Rows, dict[str, Any]]:
    """Rows, and what has to be known beforehand."""
    width = draw(st.sampled_from([1, 2, 3, 7, 40, 300, 5000]))
    levels = draw(st.sampled_from([0, 1, 2, 15, 127]))
    bits = 8 if levels else draw(st.sampled_from([8, 16, 32]))
    pairs = width <= 300 and draw(st.booleans())
    keys = sorted(draw(st.sets(st.integers(1, 2**32 - 1), max_size=12)))
    edge = [pairs and draw(st.booleans()) for _ in keys]
    outputs = [
        sorted(
            draw(st.sets(st.integers(0, width**2 - 1 if of_pairs else width - 1), min_size=1, max_size=20))
        )
        for of_pairs in edge
    ]
    cells = sum(map(len, outputs))
    value = st.integers(1, 2 * levels) if levels else st.integers(0, 2**bits - 1)
    values = draw(st.lists(value, min_size=cells, max_size=cells))
    rows = (
        np.array(keys, np.uint32),
        np.array([len(row) for row in outputs], np.uint32),
        np.array(edge, np.uint8),
        np.array([output for row in outputs for output in row], np.uint32),
        np.array(values, np.uint32),
    )
    return rows, {"width": width, "levels": levels, "bits": bits, "has_edges": any(edge)}


def unpacked(packed: Any, rows: Rows, shape: dict[str, Any]) -> Rows:
    found: Rows = _core.unpack_rows(packed, len(rows[0]), len(rows[3]), **shape)
    return found


@settings(max_examples=200, deadline=None)
@given(packings())
def test_rows_come_back(packing: tuple[Rows, dict[str, Any]]) -> None:
    rows, shape = packing
    packed = _core.pack_rows(*rows, **shape)
    assert [one.tolist() for one in unpacked(packed, rows, shape)] == [one.tolist() for one in rows]
    assert packed.tobytes() == _core.pack_rows(*rows, **shape).tobytes()


@settings(max_examples=300, deadline=None)
@given(packings(), st.integers(0, 2**32 - 1), st.sampled_from(["flip", "cut", "more", "other"]))
def test_damage_is_refused_or_gives_rows(packing: tuple[Rows, dict[str, Any]], seed: int, how: str) -> None:
    """Without a checksum the core may read other rows, but only ones that could have been written."""
    rows, shape = packing
    rng = np.random.default_rng(seed)
    packed = _core.pack_rows(*rows, **shape).copy()
    features, cells = len(rows[0]), len(rows[3])
    if how == "flip":
        packed[rng.integers(packed.size)] ^= np.uint8(1 << rng.integers(8))
    elif how == "cut":
        packed = packed[: rng.integers(packed.size)].copy()
    elif how == "more":
        features, cells = features + int(rng.integers(1, 2**31)), cells + int(rng.integers(1, 2**31))
    else:
        packed = rng.integers(0, 256, 40).astype(np.uint8)
    with suppress(ValueError):
        keys, sizes, edge, outputs, values = _core.unpack_rows(packed, features, cells, **shape)
        assert (keys.size, outputs.size, values.size) == (features, cells, cells)
        assert (np.diff(keys.astype(np.int64)) > 0).all()
        assert sizes.sum() == cells
        width = shape["width"]
        assert (outputs < np.repeat(np.where(edge, width**2, width), sizes)).all()
        if shape["levels"]:
            assert ((values > 0) & (values <= 2 * shape["levels"])).all()


def test_what_cannot_be_packed_is_refused() -> None:
    shape = {"width": 4, "levels": 3, "bits": 8, "has_edges": False}
    one, none = np.ones(1, np.uint32), np.zeros(1, np.uint8)
    keys, two = np.array([5, 5], np.uint32), np.ones(2, np.uint32)
    with pytest.raises(ValueError, match="an output is out of range"):
        _core.pack_rows(one, one, none, one * 4, one, **shape)
    with pytest.raises(ValueError, match="a weight is out of range"):
        _core.pack_rows(one, one, none, one, one * 7, **shape)
    with pytest.raises(ValueError, match="rows and cells disagree"):
        _core.pack_rows(one, one * 2, none, one, one, **shape)
    with pytest.raises(ValueError, match="a key is out of range"):
        _core.pack_rows(keys, two, np.zeros(2, np.uint8), two, two, **shape)


def test_packed_rows_take_what_they_tell() -> None:
    """Four equally probable outputs and fourteen values of one weight a row: hardly more bits than that."""
    rng = np.random.default_rng(1)
    count = 20_000
    keys = np.sort(rng.choice(2**32 - 1, count, replace=False).astype(np.uint32)) + np.uint32(1)
    outputs, values = (
        rng.integers(0, 4, count).astype(np.uint32),
        rng.integers(1, 15, count).astype(np.uint32),
    )
    packed = _core.pack_rows(
        keys, np.ones(count, np.uint32), np.zeros(count, np.uint8), outputs, values, 4, 7, 8, False
    )
    told = np.log2(2**32 / count) + np.log2(np.e) + 2 + np.log2(14)  # bits of a row
    assert packed.size * 8 / count < told * 1.03
