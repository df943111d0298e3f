"""Texts as users have them, in blocks: plain text, pages of HTML, documents of word processors, folders.

A source knows where in its file each piece of text stands, so that edited text comes back in the same format,
with all that is not text as it was.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from marginalia.corpus.guarded import read_at_most
from marginalia.corpus.raw_text import paragraph_spans
from marginalia.corpus.streams import name_of, open_source
from marginalia.errors import DataError

STDIN = "-"
_LARGEST = 1 << 26  # bytes of a file
SUFFIXES = (".txt", ".html", ".htm", ".docx")


@dataclass(frozen=True)
class Block:
    """A paragraph, a heading (`h1` to `h6`), an item of a list (`li`) or a cell (`td`): text to be parsed."""

    kind: str
    text: str


@dataclass(frozen=True)
class Edit:
    """Characters `start` to `end` of a block (at least one) become `text`."""

    start: int
    end: int
    text: str


Edits = Mapping[int, Sequence[Edit]]  # by the number of the block


class SourceText(Protocol):
    """A text in blocks that can be written again with edits."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def blocks(self) -> Sequence[Block]:
        """Its text."""

    def edited(self, edits: Edits) -> bytes:
        """The file with edits in its text, and nothing else changed."""


class PlainText:
    """Paragraphs with empty lines between them."""

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.name, self.text = name, text
        self.spans = paragraph_spans(text)
        self.blocks = [Block("p", text[start:end]) for start, end in self.spans]

    def edited(self, edits: Edits) -> bytes:
        """The text with edits, as UTF-8."""
        placed = [
            (self.spans[block][0] + edit.start, self.spans[block][0] + edit.end, edit.text)
            for block, own in edits.items()
            for edit in own
        ]
        return replaced(self.text, placed).encode("utf-8", "surrogatepass")


def replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """A text with other text in places that do not overlap."""
    parts, done = [], 0
    for start, end, new in sorted(changes):
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def read_sources(paths: Sequence[str]) -> Iterator[SourceText]:
    """The texts of files, of all files in folders, and of standard input (`-`)."""
    for path in paths:
        for file in _files(path) if path != STDIN and os.path.isdir(path) else [path]:
            yield read_source(file)


def read_source(path: str) -> SourceText:
    """The text of one file; a DataError says what is wrong with it."""
    source = _read(path)
    if not any(any(map(str.isalnum, block.text)) for block in source.blocks):
        raise DataError("found no words, expected a text", file=name_of(path))
    return source


def _read(path: str) -> SourceText:
    suffix = os.path.splitext(path)[1].lower()
    with open_source(path) as stream:
        data = read_at_most(stream, _LARGEST, name_of(path))
    if suffix == ".docx":
        from marginalia.assist.docx_source import DocxText

        return DocxText(data, path)
    if suffix in (".html", ".htm"):
        from marginalia.assist.html_source import HtmlText

        return HtmlText(data, path)
    return PlainText(_decoded(data, name_of(path)), name_of(path))


def _decoded(data: bytes, name: str) -> str:
    at = data.find(b"\0")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start if at < 0 else min(at, error.start)
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise DataError(f"found byte 0x{data[at]:02X}, expected UTF-8 text", file=name, line=line)
    return text


def _files(folder: str) -> list[str]:
    """The texts in a folder and those below it, by name."""
    found = [
        os.path.join(place, name)
        for place, below, names in os.walk(folder)
        for name in names
        if name.lower().endswith(SUFFIXES) and not name.startswith((".", "~$"))
    ]
    if not found:
        raise DataError(f"found no file that ends in {', '.join(SUFFIXES)}", file=folder)
    return sorted(found)
