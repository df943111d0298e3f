"""Attributes from Python, by python-crfsuite's rules, and CRFsuite's item files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus import Sentence, pack, read_crfsuite, write_crfsuite

TEXT = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=4)
VALUE = st.one_of(
    TEXT, st.booleans(), st.integers(-1000, 1000), st.floats(-1e6, 1e6, width=32), st.lists(TEXT, max_size=2)
)
ITEM = st.one_of(
    st.lists(TEXT, max_size=3, unique=True),
    st.dictionaries(TEXT, st.one_of(VALUE, st.dictionaries(TEXT, VALUE, max_size=2)), max_size=3),
)


def flattened(items: list[Any]) -> list[dict[str, float]]:
    block = pack([Sentence({"attributes": items})])
    return next(block.sentences()).columns["attributes"] if items else []


def summed(item: dict[str, float]) -> dict[str, float]:
    return {name: value for name, value in item.items() if value}


@given(st.lists(ITEM, min_size=1, max_size=3))
def test_attributes_are_those_of_python_crfsuite(items: list[Any]) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    ours, theirs = flattened(items), pycrfsuite.ItemSequence(items).items()
    for one, other, item in zip(ours, theirs, items, strict=True):
        names = _names(item)
        if len(set(names)) == len(names):  # theirs shows the last of several values of a name, ours their sum
            assert one == pytest.approx(summed(other), rel=1e-6)


def _names(item: Any, prefix: str = "") -> list[str]:
    if isinstance(item, list):
        return [prefix + name for name in item]
    names = []
    for key, value in item.items():
        if isinstance(value, (list, dict)):
            names += _names(value, f"{prefix}{key}:")
        else:
            names.append(f"{prefix}{key}:{value}" if isinstance(value, str) else prefix + key)
    return names


def test_what_python_users_write() -> None:
    item = {
        "word": "dog",
        "title": True,
        "digit": False,
        "length": 3,
        "score": np.float32(0.5),
        "flag": np.True_,
        "near": {"-1": "the", "far": ["a", "b"]},
        "kinds": {"z", "y"},
        b"bytes": b"too",
    }
    assert flattened([item]) == [
        {
            "word:dog": 1.0,
            "title": 1.0,
            "length": 3.0,
            "score": 0.5,
            "flag": 1.0,
            "near:-1:the": 1.0,
            "near:far:a": 1.0,
            "near:far:b": 1.0,
            "kinds:y": 1.0,
            "kinds:z": 1.0,
            "bytes:too": 1.0,
        }
    ]
    assert flattened([["a", "b", "a"], ("c",), {"d"}]) == [{"a": 2.0, "b": 1.0}, {"c": 1.0}, {"d": 1.0}]


def endless() -> dict[str, Any]:
    item: dict[str, Any] = {}
    item["again"] = item
    return item


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"a": None}, "found NoneType as the value of 'a'"),
        ({1: 2}, "found int as a key, expected a string"),
        ([1], "found int as an attribute, expected a string"),
        (["a", ["b"]], "found list as an attribute"),
        ("abc", "found str as the attributes of a token"),
        (3, "found int as the attributes of a token"),
        ({"a": float("nan")}, "found nan, expected a number of at most"),
        ({"a": 1e300}, "found 1e+300, expected a number of at most 3.4e+38 in size"),
        ({"a": 10**400}, "found int as the value of 'a'"),
        ({"a": object()}, "found object as the value"),
        (endless(), "nested more than 50 deep"),
        ({"\ud800": 1}, "surrogates not allowed"),
    ],
)
def test_errors_tell_the_token(item: Any, message: str) -> None:
    with pytest.raises(mg.DataError) as caught:
        pack([Sentence({"attributes": [["fine"]]}), Sentence({"attributes": [["fine"], item]})])
    assert message in str(caught.value)
    assert "surrogates" in message or "(token 2 of sequence 2)" in str(caught.value)


def test_two_columns_of_attributes_are_refused() -> None:
    with pytest.raises(mg.DataError, match="expected one column"):
        pack([Sentence({"attributes": [["a"]], "more": [["b"]]})])


# ---- item files


def items(text: str) -> list[tuple[list[str], list[dict[str, float]]]]:
    return [(s.columns["label"], s.columns["attributes"]) for s in read_crfsuite(io.StringIO(text))]


def test_an_item_file() -> None:
    text = (
        "\ufeffB-NP\tw=a\tcapital:0.5\\t\n".replace("\\t", "")
        + "I-NP\n\n\n  \t\nO\ta\\:b\\\\:2\tx:\t\tlast\r\n"
    )
    assert items(text) == [
        (["B-NP", "I-NP"], [{"w=a": 1.0, "capital": 0.5}, {}]),
        (["O"], [{"a:b\\": 2.0, "x": 1.0, "last": 1.0}]),
    ]


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("O\ta\n\nO\té:x\n", 3, 5, "found 'x' behind a colon, expected a number"),
        ("O\ta:1:2\n", 1, 5, "a colon in a name is written"),
        ("O\ta\\\n", 1, 4, "backslash at the end"),
        ("O\ta:nan\n", 1, 5, "found nan, expected a number"),
        ("O\ta:1e99\n", 1, 5, "found 1e+99, expected a number of at most 3.4e+38 in size"),
        ("O\ta: 1\n", 1, 5, "expected a number"),
        ("@weight:2\n", 1, 1, "found @weight"),
        ("O\ta\nO\tb\0\n", 2, 4, "NUL byte"),
        ("O\ta\rb\n", 1, 4, "carriage return inside a line"),
    ],
)
def test_errors_of_item_files_tell_the_place(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(mg.DataError) as caught:
        items(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert message in caught.value.message


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(mg.DataError, match="2:3: found byte 0xFF"):
        list(read_crfsuite(io.BytesIO(b"O\ta\nO\t\xff\n")))


NAME = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0\t\r\n"), max_size=4)
LABEL = NAME.filter(lambda text: text.strip(" ") and not text.startswith(("@weight", "\ufeff")))
NUMBER = st.floats(-1e6, 1e6, width=32).filter(bool)
TOKEN = st.tuples(LABEL, st.dictionaries(NAME, NUMBER, max_size=3))


@given(st.lists(st.lists(TOKEN, min_size=1, max_size=3), max_size=4))
def test_item_files_come_back_as_they_were(data: list[list[tuple[str, dict[str, float]]]]) -> None:
    sentences = [Sentence({"attributes": [i for _, i in s], "label": [y for y, _ in s]}) for s in data]
    target = io.StringIO()
    write_crfsuite(sentences, target)
    found = items(target.getvalue())
    assert found == [([y for y, _ in s], [i for _, i in s]) for s in data]


def test_what_cannot_be_written_is_refused() -> None:
    for sentence in (
        Sentence({"attributes": [["a\tb"]], "label": ["O"]}),
        Sentence({"attributes": [["a"]], "label": ["O\n"]}),
        Sentence({"attributes": [[3]], "label": ["O"]}),
        Sentence({"word": ["a"], "label": ["O"]}),
    ):
        with pytest.raises(mg.DataError):
            write_crfsuite([sentence], io.StringIO())


@pytest.mark.parametrize("block_bytes", [1, 7, 64, 1 << 20])
def test_blocks_of_any_size_give_the_same(tmp_path: Path, block_bytes: int) -> None:
    from marginalia.corpus.crfsuite import read_item_blocks

    path = tmp_path / "items.txt"
    path.write_text("".join(f"L{i % 3}\tw={i}\tv:{i / 4}\n" + "\n" * (i % 4 == 0) for i in range(1, 40)))
    whole = [s.columns for s in read_crfsuite(path)]
    blocks = list(read_item_blocks(path, block_bytes=block_bytes))
    assert [s.columns for block in blocks for s in block.sentences()] == whole
    assert [int(n) for block in blocks for n in block.table.lines][-1] == len(path.read_text().splitlines())


PIECES = st.sampled_from(
    ["a", "é", ":", "\\", "\t", "\n", "\r", "1", ".5", "-", "e", " ", "@weight", "\ufeff"]
)


@given(
    st.one_of(
        st.binary(max_size=30), st.lists(PIECES, max_size=20).map(lambda parts: "".join(parts).encode())
    )
)
def test_any_bytes_are_read_or_refused(text: bytes) -> None:
    """What is read can be written, and reads the same again; what is not is an error with its place."""
    refused, sentences = None, []
    try:
        sentences = list(read_crfsuite(io.BytesIO(text)))
    except mg.DataError as error:
        refused = error
    if refused is not None:
        assert refused.line is not None
        assert refused.line <= text.count(b"\n") + 1
    elif all(y.strip(" ") and y[0] != "\ufeff" for s in sentences for y in s.columns["label"]):
        target = io.StringIO()
        write_crfsuite(sentences, target)
        assert items(target.getvalue()) == [(s.columns["label"], s.columns["attributes"]) for s in sentences]
