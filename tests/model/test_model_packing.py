"""Packed models and texts: what goes in comes out, and what is damaged is a ValueError."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.model.packing import (
    packed_arrays,
    packed_lines,
    packed_text,
    unpacked_arrays,
    unpacked_lines,
    unpacked_text,
)

lines = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=8)


@pytest.mark.parametrize("tagger", ["16 bits", "8 bits", "5 bits"], indirect=True)
def test_arrays_come_back_as_they_were(tagger: mg.Tagger) -> None:
    packed = packed_arrays(tagger.saved)
    found = unpacked_arrays(packed, tagger.saved.width)
    assert found.keys() == tagger.saved.arrays.keys()
    for name, array in tagger.saved.arrays.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)
    assert packed["packed"].size < sum(found[name].nbytes for name in ("keys", "row_end", "weights"))


@pytest.mark.parametrize("tagger", ["plain", "full"], indirect=True)
def test_other_models_are_not_packed(tagger: mg.Tagger) -> None:
    assert packed_arrays(tagger.saved) is tagger.saved.arrays


@given(lines)
def test_lines_come_back(given_lines: list[str]) -> None:
    assert unpacked_lines(packed_lines(given_lines)) == tuple(given_lines)
    assert unpacked_lines(packed_lines(sorted(given_lines))) == tuple(sorted(given_lines))


def test_lines_that_share_much_are_few_bytes() -> None:
    many = [f"a long beginning of all lines, then {number:05}" for number in range(5000)]
    assert packed_lines(many).size < packed_text("\n".join(many)).size


@given(st.binary(max_size=40), st.integers(0, 100))
def test_damaged_texts_are_refused(data: bytes, cut: int) -> None:
    whole = packed_text("a text that is long enough to be cut somewhere")
    for damaged in (
        np.frombuffer(data, np.uint8),
        whole[: min(cut, whole.size - 1)],
        np.append(whole, whole),
    ):
        with pytest.raises(ValueError):
            unpacked_text(damaged)


def test_long_texts_come_back_and_other_arrays_are_refused() -> None:
    assert len(unpacked_text(packed_text(" " * 10**7))) == 10**7
    with pytest.raises(ValueError, match="wrong kind"):
        unpacked_text(np.zeros(4, np.uint16))
