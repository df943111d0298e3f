"""Word clusters in the core against a plain look-up in dictionaries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia import _core

PATHS = st.text("01", min_size=1, max_size=12)
WORDS = st.text("abAB-éÉßİ中", max_size=4)
ENTRIES = st.dictionaries(WORDS.filter(bool), st.tuples(PATHS, st.integers(0, 3)), max_size=25)
Entries = dict[str, tuple[str, int]]


def table_of(entries: Entries, any_case: bool) -> _core.WordTable:
    counts = np.array([count for _, count in entries.values()], np.uint64)
    return _core.WordTable([path for path, _ in entries.values()], list(entries), counts, any_case)


def lowered(text: str) -> str:
    found = _core.evaluate_attribute("lower", "", text)
    assert found is not None
    return found


def naive_path(entries: Entries, any_case: bool, word: str) -> str | None:
    if word in entries:
        return entries[word][0]
    same = [entry for text, entry in entries.items() if any_case and lowered(text) == lowered(word)]
    return max(same, key=lambda entry: entry[1])[0] if same else None


@given(ENTRIES, st.lists(WORDS), st.booleans())
def test_paths_are_those_of_a_plain_look_up(entries: Entries, words: list[str], any_case: bool) -> None:
    made = table_of(entries, any_case)
    for table in (made, _core.WordTable.from_entries(made.entries, made.texts, any_case)):
        for word in [*entries, *map(str.upper, entries), *words]:
            assert table.text(word) == naive_path(entries, any_case, word)


@given(ENTRIES, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter_unless_spellings_are_as_frequent(
    entries: Entries, any_case: bool, random: object
) -> None:
    """Then the first one counts."""
    frequent = {word: (path, at) for at, (word, (path, _)) in enumerate(entries.items())}
    items = list(frequent.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    for word in [*entries, *map(str.swapcase, entries)]:
        assert table_of(dict(items), any_case).text(word) == table_of(frequent, any_case).text(word)


def test_many_words() -> None:
    """More than a bucket holds, and every word is found; others are not."""
    entries = {f"w{i}": (f"{i % 997:b}", 1) for i in range(20_000)}
    table = table_of(entries, any_case=False)
    assert all(table.text(word) == path for word, (path, _) in entries.items())
    assert [table.text(f"W{i}") for i in range(2000)] == [None] * 2000
    assert len(table.texts) == 997
    assert table.entries.size == 20_000


@pytest.mark.parametrize("path", ["", "012", "1 ", "1" * 256])
def test_a_path_is_bits(path: str) -> None:
    """Of a table that templates look at as clusters."""
    table = table_of({"a": (path, 0)}, any_case=False)
    template = [(False, [("", 0, 0, False, ["_"], ["_"])])]
    with pytest.raises(ValueError, match="is not 1 to 255 bits 0 and 1"):
        _core.FeatureExtractor([("cluster", "4", 0, 0)], template, [], 1, [table])


def test_too_many_paths() -> None:
    entries = {f"w{i}": (f"{i:b}", 0) for i in range(1 << 16)}
    assert len(table_of(entries, any_case=False).texts) == 1 << 16
    with pytest.raises(ValueError, match="more than 65536 different ones"):
        table_of(entries | {"one more": (f"{1 << 16:b}", 0)}, any_case=False)


def test_entries_that_do_not_fit() -> None:
    table = table_of({"a": ("0", 0), "b": ("10", 0), "c": ("11", 0)}, any_case=False)
    with pytest.raises(ValueError, match="a text that is not there"):
        _core.WordTable.from_entries(table.entries, table.texts[:2], False)
    with pytest.raises(ValueError, match="not in order"):
        _core.WordTable.from_entries(table.entries[::-1].copy(), table.texts, False)
    with pytest.raises(TypeError):
        _core.WordTable.from_entries(table.entries.astype(np.uint32), table.texts, False)
    with pytest.raises(ValueError, match="disagree in number"):
        _core.WordTable(["1"], ["a", "b"], np.zeros(1, np.uint64), False)


@pytest.mark.parametrize("bits", ["1", "255", "all"])
def test_numbers_of_bits(bits: str) -> None:
    _core.check_path_bits(bits)


@pytest.mark.parametrize("bits", ["0", "256", "-1", "", "4x", "ALL"])
def test_what_is_no_number_of_bits(bits: str) -> None:
    with pytest.raises(ValueError, match="neither all nor a number of bits from 1 to 255"):
        _core.check_path_bits(bits)
    with pytest.raises(ValueError, match=r"neither all nor|no table"):
        _core.check_attribute("cluster", bits)


def test_the_function_needs_a_table() -> None:
    with pytest.raises(ValueError, match="there is no table of words"):
        _core.check_attribute("cluster", "4")
