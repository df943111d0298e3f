"""Raw text by paragraphs: where they are in a text, and a stream of it in parts that end where they end."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..errors import DataError
from .streams import Source, is_piped, name_of, open_source

PART = 1 << 15  # characters that are read at once
_LONGEST = 1 << 18  # characters of a paragraph: a longer one is cut, at white space if there is any
_WHITE = re.compile(r"\s{2,}")
_TEXT = re.compile(r"\S")


def paragraph_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each paragraph, without white space around it. Empty lines are between them."""
    breaks = [(m.start(), m.end()) for m in _WHITE.finditer(text) if m[0].count("\n") > 1]
    edges = [(0, 0), *breaks, (len(text), len(text))]
    found = []
    for (_, first), (last, _) in pairwise(edges):
        part = text[first:last]
        if body := part.strip():
            start = first + len(part) - len(part.lstrip())
            found.append((start, start + len(body)))
    return found


def read_text(source: Source, part: int = PART) -> Iterator[str]:
    """A text in parts of about this many characters or more, each of whole paragraphs with the white space
    behind them; all parts together are the text, without a byte order mark."""
    return cut_text(_decoded(source, part), part)


def read_paragraphs(source: Source) -> Iterator[str]:
    """The same from a pipe: what is there, up to the last empty line."""
    pending = ""
    for block in _decoded(source, PART):
        pending += block
        if (cut := _last_break(pending, len(pending))) or len(pending) > _LONGEST:
            cut = cut or _cut(pending)
            yield pending[:cut]
            pending = pending[cut:]
    if pending:
        yield pending


def cut_text(blocks: Iterable[str], part: int = PART) -> Iterator[str]:
    """The same of a text in memory, in blocks."""
    pending = ""
    for block in _sliced(blocks, part):
        pending += block
        if len(pending) < part:
            continue
        cut = _last_break(pending, len(pending) - 1) or (_cut(pending) if len(pending) > _LONGEST else 0)
        if cut:
            yield pending[:cut]
            pending = pending[cut:]
    if pending:
        yield pending


def _sliced(blocks: Iterable[str], size: int) -> Iterator[str]:
    return (block[at : at + size] for block in blocks for at in range(0, len(block), size))


def check_text(text: str, file: str | None = None) -> None:
    """An error if a text has what no text file can have."""
    if (at := text.find("\0")) >= 0:
        raise DataError("found a NUL character, expected text", file=file, **_place(text, at))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"found half of a surrogate pair ({text[error.start]!a}), expected text",
            file=file,
            **_place(text, error.start),
        ) from None


def _place(text: str, at: int) -> dict[str, int]:
    return {"line": text.count("\n", 0, at) + 1, "column": at - text.rfind("\n", 0, at)}


def _last_break(text: str, end: int) -> int:
    """Behind the last empty line that ends there or before, and has text before it; 0 if there is none."""
    ends = [m.end() for m in _WHITE.finditer(text) if m[0].count("\n") > 1 and m.end() <= end]
    return ends[-1] if ends and _TEXT.search(text, 0, ends[-1]) else 0


def _cut(text: str) -> int:
    """Where to cut a paragraph that is too long: behind its last line or blank."""
    end = max(text.rfind("\n"), 0) or max(text.rfind(" "), 0)
    return end + 1 if 2 * end > len(text) else len(text)


def _decoded(source: Source, size: int) -> Iterator[str]:
    decoder, file = codecs.getincrementaldecoder("utf-8")(), name_of(source)
    line, first = 1, True
    with open_source(source, lines=False) as stream:
        read = getattr(stream, "read1", stream.read) if is_piped(stream) else stream.read
        while True:
            raw = read(size)
            try:
                text = decoder.decode(raw, not raw)
            except UnicodeDecodeError as error:
                at = line + error.object[: error.start].count(b"\n")
                what = f"byte 0x{error.object[error.start]:02X}"
                raise DataError(f"found {what}, expected UTF-8 text", file=file, line=at) from None
            if "\0" in text:
                at = line + text.count("\n", 0, text.index("\0"))
                raise DataError("found a NUL byte, expected UTF-8 text", file=file, line=at)
            line += text.count("\n")
            yield text.removeprefix("\ufeff") if first else text
            first = first and not text
            if not raw:
                return
