"""Partly segmented text as KyTea writes it."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import read_kytea, write_kytea
from marginalia.errors import DataError


def test_marks_become_labels_that_leave_something_open() -> None:
    (sentence,) = read_kytea(io.StringIO("北-京|大 学-生|/-x a b\n\n"))
    assert "".join(sentence.tokens) == sentence.text == "北京大学生/xab"
    assert sentence.columns["label"] == ["B", "E", "S|B", "B|M", "E", "B", "M|E", "_", "S|E"]


def test_tags_stand_behind_words() -> None:
    (sentence,) = read_kytea(io.StringIO("北-京/n-s|大 学-生/n|の"), "/")
    assert sentence.columns["label"] == ["B-n-s", "E-n-s", "S-*|B-*", "B-n|M-n", "E-n", "S-*"]


CHARACTER = st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t \ufeff")
LINE = st.lists(st.tuples(CHARACTER, st.sampled_from("|- ")), min_size=1, max_size=8)


@given(st.lists(LINE, max_size=4))
def test_lines_come_back(lines: list[list[tuple[str, str]]]) -> None:
    text = "".join("".join(a + b for a, b in line)[:-1] + "\n" for line in lines)
    target = io.BytesIO()
    write_kytea(read_kytea(io.BytesIO(text.encode())), target)
    assert target.getvalue().decode() == text


TAG = st.from_regex(r"[a-z]{1,2}(-[a-z])?", fullmatch=True)
WORD = st.tuples(st.lists(CHARACTER, min_size=1, max_size=3), st.sampled_from("- "), st.none() | TAG)


@given(st.lists(st.lists(WORD, min_size=1, max_size=4), max_size=4))
def test_tagged_lines_come_back(lines: list[list[tuple[list[str], str, str | None]]]) -> None:
    def written(word: tuple[list[str], str, str | None]) -> str:
        characters, mark, tag = word
        return mark.join(characters) + (f"/{tag}" if tag else "")

    text = "".join("|".join(map(written, line)) + "\n" for line in lines)
    target = io.BytesIO()
    write_kytea(read_kytea(io.BytesIO(text.encode()), "/"), target, tag_separator="/")
    assert target.getvalue().decode() == text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("北京", "2: found '京', expected '|' (a boundary), '-' (none) or a blank (not known)"),
        ("北-", "3: found the end of the line, expected a character behind '-'"),
        ("北| -京", "3: found ' ', expected a character"),
        ("北-京/|大", "5: found no tag, expected one behind '/'"),
        (" ", "1: found ' ', expected a character"),
    ],
)
def test_what_does_not_fit_is_located(line: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_kytea(io.StringIO(f"あ\n{line}\n"), "/"))
    assert str(caught.value) == f"<stream>:2:{message}"
