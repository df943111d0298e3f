"""Files of phrases with labels: phrase, tab, label a line; or JSON objects, if the name ends in `.jsonl`.

Lines that begin with `#` are comments; `\\#` at the beginning stands for that sign, `\\\\` for a backslash.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..errors import DataError
from .json_text import parse_json
from .streams import read_lines, replacing

Phrase = str | tuple[str, ...]
PathName = str | os.PathLike[str]


class Place(NamedTuple):
    """Where something stands in a file."""

    file: str | None = None
    line: int | None = None
    column: int | None = None

    def error(self, message: str, column: int | None = None) -> DataError:
        """What is wrong there."""
        return DataError(message, file=self.file, line=self.line, column=column or self.column)


def read_entries(path: PathName) -> Iterator[tuple[Phrase, str, tuple[str, int, int | None]]]:
    """Phrases and labels of a file, with the places of the labels: file, line, column."""
    name = os.fspath(path)
    parse = _json_entries if _is_jsonl(name) else _text_entries
    for number, line in read_lines(path):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip() and not text.startswith("#"):
            phrase, labels, column = parse(text.rstrip("\r\n"), Place(name, number))
            for label in labels:
                yield phrase, label, (name, number, column)


def write_entries(path: PathName, entries: Iterable[tuple[Phrase, str]]) -> None:
    """The file of these phrases and labels; one of that name survives any failure."""
    name = os.fspath(path)
    line_of = _json_line if _is_jsonl(name) else _text_line
    text = "".join([line_of(phrase, label) for phrase, label in entries])
    with replacing(name) as stream:
        stream.write(text.encode())


def _text_entries(line: str, place: Place) -> tuple[Phrase, list[str], int | None]:
    """Phrase, tab, label; a backslash before a sign at the line's beginning stands for that sign."""
    text, tab, label = line.partition("\t")
    column = len(text) + 1 + len(tab)
    if "\t" in label:
        raise place.error("found a second tab, expected phrase, tab, label", column + label.index("\t"))
    words = (text[1:] if text.startswith(("\\#", "\\\\")) else text).split()
    if not words:
        raise place.error("found no phrase, expected phrase, tab, label", 1)
    if tab and not label.strip():
        raise place.error("found no label behind the tab, expected phrase, tab, label", column)
    return " ".join(words), [label.strip()], column


def _json_entries(line: str, place: Place) -> tuple[Phrase, list[str], int | None]:
    try:
        found = parse_json(line)
    except ValueError as error:
        raise place.error(f"this is not JSON: {error}") from None
    if not isinstance(found, dict) or "phrase" not in found:
        raise place.error('expected an object such as {"phrase": "New York", "label": "LOC"}')
    if unknown := sorted(found.keys() - {"phrase", "label"}):
        raise place.error(f"found the key '{unknown[0]}', expected phrase and label only")
    try:
        return checked_phrase(found["phrase"]), checked_labels(found.get("label", "")), None
    except DataError as error:
        raise place.error(error.message) from None


def _is_jsonl(name: str) -> bool:
    return name.removesuffix(".gz").endswith(".jsonl")


def _text_line(phrase: Phrase, label: str) -> str:
    text = phrase if isinstance(phrase, str) else " ".join(phrase)
    if not isinstance(phrase, str) and tuple(text.split()) != phrase:
        raise DataError(f"{phrase}: a token has a blank, which needs a file whose name ends in .jsonl")
    escaped = "\\" + text if text.startswith(("#", "\\")) else text
    return f"{escaped}\t{label}\n" if label else f"{escaped}\n"


def _json_line(phrase: Phrase, label: str) -> str:
    entry = {"phrase": phrase} | ({"label": label} if label else {})
    return json.dumps(entry, ensure_ascii=False) + "\n"


def checked_phrase(phrase: object) -> Phrase:
    """A text with single blanks, or tokens; an error if it is neither."""
    if isinstance(phrase, str):
        checked: Phrase = " ".join(phrase.split())
    elif isinstance(phrase, Sequence) and all(isinstance(token, str) and token for token in phrase):
        checked = tuple(phrase)
    else:
        raise DataError(f"found {phrase!r}, expected a phrase: a text, or a sequence of tokens")
    if not checked or not _is_utf8(checked if isinstance(checked, str) else "".join(checked)):
        raise DataError(f"found {phrase!r}, expected a phrase of at least one token, in UTF-8")
    return checked


def checked_labels(labels: object) -> list[str]:
    """The labels of a phrase, of which there may be one or several; an error if there is none."""
    listed = list(labels) if isinstance(labels, (list, tuple, set, frozenset)) else [labels]
    good = [label for label in listed if isinstance(label, str) and _is_label(label)]
    if not listed or len(good) < len(listed):
        raise DataError(f"found {labels!r}, expected a label, or several: texts without blanks around them")
    return good


def _is_label(text: str) -> bool:
    return text == text.strip() and not set(text) & set("\t\r\n") and _is_utf8(text)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
