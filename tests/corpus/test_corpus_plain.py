"""Plain text, and the table of formats."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from marginalia.corpus import (
    FORMATS,
    Sentence,
    format_of,
    read_plain,
    write_plain,
)
from marginalia.errors import DataError, SettingsError


def test_plain_lines_keep_their_text_and_offsets() -> None:
    first, second = read_plain(io.BytesIO("\ufeffHe  ran.\r\n\n 日本\n".encode()))
    assert (first.tokens, first.offsets, first.text) == (["He", "ran."], [(0, 2), (4, 8)], "He  ran.")
    assert (second.tokens, second.line) == (["日本"], 3)
    (characters,) = read_plain(io.StringIO("日 本"), "characters")
    assert characters.tokens == ["日", "本"]


def test_plain_writing() -> None:
    target = io.StringIO()
    write_plain([Sentence({"word": ["a", "b"]}), Sentence({"word": ["a"]}, text=" a ")], target)
    assert target.getvalue() == "a b\n a \n"


def test_bytes_that_are_not_utf8_are_located() -> None:
    with pytest.raises(DataError, match=r"^<stream>:2:2: found byte 0xE9, expected UTF-8 text$"):
        list(read_plain(io.BytesIO(b"ok\nx\xe9\n")))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a.conllu", "conllu"),
        ("a.JSONL.gz", "jsonl"),
        ("a.txt", "conll"),
        ("eng.train", "conll"),
        ("-", "conll"),
    ],
)
def test_formats_are_guessed_by_suffix(path: str, name: str) -> None:
    assert format_of(path).name == format_of(Path(path)).name == name


def test_formats_by_name(tmp_path: Path) -> None:
    assert format_of("a.txt", "plain") is FORMATS["plain"]
    with pytest.raises(SettingsError, match="found format 'xml', expected one of conll, conllu"):
        format_of("a.xml", "xml")
    with pytest.raises(SettingsError, match=r"'plain', which has no labels; expected one of conll"):
        format_of("a.txt", "plain", labelled=True)
    words, items = {"word": ["a", "b"]}, {"attributes": [["a"], ["b"]]}
    for name, format_ in FORMATS.items():
        path = tmp_path / f"{name}.gz"
        columns: dict[str, list[Any]] = {**(items if name == "crfsuite" else words), "label": ["S", "S"]}
        format_.write([Sentence(columns)], path)
        (again,) = format_.read(path)
        assert "".join("".join(token) for token in again.tokens) == "ab"


def test_unwritable_targets_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot read or write: ") as caught:
        write_plain([], tmp_path)
    assert caught.value.file == str(tmp_path)
