"""Column files as blocks of sentences in native tables: the fast way in and out, of any file size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .._core import TokenTable, from_columns, parse_columns
from ..errors import DataError
from .records import Sentence
from .streams import Source, is_piped, name_of, open_source

ATTRIBUTES = "attributes"
"""What the column is called that holds attributes of tokens instead of texts."""
OUTPUT = "output"
"""The column of what candidates, whose features are attributes, stand for."""

_READABLE = 40  # characters of a token's attributes
_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")


@dataclass(frozen=True, slots=True)
class Block:
    """Some sentences of a file: a native table, the names of its columns, and where it was read."""

    table: TokenTable
    columns: tuple[str, ...]
    file: str | None = None
    line: int = 1
    sentence_lines: tuple[int, ...] | None = field(default=None, repr=False)

    def index(self, name: str) -> int:
        """Position of the column called `name`."""
        if name not in self.columns:
            raise DataError(
                f"found no column {name!r}, expected one of {', '.join(self.columns)}", file=self.file
            )
        return self.columns.index(name)

    def column(self, name: str) -> list[str]:
        """All values of a column."""
        return self.table.column(self.index(name))

    def render(
        self,
        labels: Sequence[str],
        ids: npt.NDArray[np.int32],
        separator: str | None = None,
        *,
        numbers: npt.NDArray[np.float64] | None = None,
        before: npt.NDArray[np.int32] | None = None,
    ) -> bytes:
        """The text as it was read, with `labels[ids[token]]` as a last field (separator: the file's own).

        Before it go the `numbers` [tokens, k] (`_` for NaN) and `labels[before[token]]`.
        """
        return self.table.render(list(labels), ids, separator, numbers, before)

    def readable(self, name: str) -> list[str]:
        """The tokens as people may read them: a column, the outputs of candidates, or the names of explicit
        attributes, cut short."""
        table = self.table
        if not table.has_attributes:
            return table.column(self.index(name))
        if OUTPUT in self.columns:
            return table.column(self.index(OUTPUT))
        names = map(" ".join, table.attributes(0, table.tokens))
        return [text if len(text) <= _READABLE else text[: _READABLE - 1] + "…" for text in names]

    def by_document(self) -> Block:
        """The block with the sentences of each document joined into one; the tokens stay the same."""
        table, lines = self.table.concatenate_documents(), self.sentence_lines
        if lines is not None:
            firsts = np.searchsorted(self.table.sentence_starts, table.sentence_starts[:-1], "right") - 1
            lines = tuple(lines[s] for s in firsts.tolist())
        return replace(self, table=table, sentence_lines=lines)

    def error(self, message: str, token: int, name: str) -> DataError:
        """A `DataError` that points at one field."""
        if self.sentence_lines is None:
            line, column = self.table.place(token, self.index(name))
            return DataError(message, file=self.file, line=line, column=column)
        sentence = int(np.searchsorted(self.table.sentence_starts, token, "right")) - 1
        place = token - int(self.table.sentence_starts[sentence]) + 1
        return DataError(
            f"{message} (token {place})", file=self.file, line=self.sentence_lines[sentence] or None
        )

    def sentences(self) -> Iterator[Sentence]:
        """The sentences as records."""
        table, comments = self.table, self._comments()
        starts, lines, documents = table.sentence_starts.tolist(), table.lines, table.documents.tolist()
        for s, document in enumerate(documents):
            first, last = starts[s], starts[s + 1]
            columns: dict[str, list[Any]] = {
                name: table.column_slice(c, first, last) for c, name in enumerate(self.columns)
            }
            if table.has_attributes and ATTRIBUTES in columns:
                columns[ATTRIBUTES] = table.attributes(first, last)
            line = int(lines[first]) if first < last else self.line
            if self.sentence_lines is not None:
                line = self.sentence_lines[s]
            yield Sentence(columns, comments=comments.get(s, []), document=document, line=line)

    def _comments(self) -> dict[int, list[str]]:
        grouped: dict[int, list[str]] = {}
        for sentence, text in self.table.comments:
            grouped.setdefault(sentence, []).append(text)
        return grouped

    def line_of(self, sentence: int) -> int | None:
        """Where a sentence begins in the file; None if it is of no file."""
        if self.sentence_lines is not None:
            return self.sentence_lines[sentence] or None
        first = int(self.table.sentence_starts[sentence])
        return int(self.table.lines[first]) if first < self.table.tokens else None

    @contextmanager
    def naming_errors(self, sentence: int | None = None) -> Iterator[None]:
        """Errors of the data that do not say where they are get the name of this file, and the line of a
        sentence; those of items in memory have a number."""
        try:
            yield
        except DataError as error:
            line = error.line if sentence is None or error.line is not None else self.line_of(sentence)
            file = error.file or self.file
            if file is None and line is not None:
                raise DataError(f"item {line}: {error.message}") from None
            if (file, line) == (error.file, error.line):
                raise
            raise DataError(error.message, file=file, line=line, column=error.column) from None


def pack(
    sentences: Iterable[Sentence], columns: str | Sequence[str] | None = None, file: str | None = None
) -> Block:
    """A block of given sentences; `columns` chooses and orders (default: as in the first sentence)."""
    listed = list(sentences)
    names = column_names(columns) or (tuple(listed[0].columns) if listed else ())
    flat: list[list[Any]] = [[] for _ in names]
    for sentence in listed:
        for values, name in zip(flat, names, strict=True):
            if (size := len(sentence.columns.get(name, ()))) != len(sentence):
                message = f"found no complete column {name!r}: {size} values for {len(sentence)} tokens"
                raise DataError(message, file=file, line=sentence.line or None)
            values.extend(sentence.columns[name])
    try:
        lengths = [len(sentence) for sentence in listed]
        items = _take_attributes(flat, names)
        table = from_columns(flat, lengths, [sentence.document for sentence in listed], items)
    except TypeError:
        raise DataError("found a token or label that is not a string", file=file) from None
    except ValueError as error:
        raise DataError(str(error), file=file) from error
    return Block(table, names, file, sentence_lines=tuple(sentence.line for sentence in listed))


def _take_attributes(flat: list[list[Any]], names: Sequence[str]) -> list[Any] | None:
    """The column whose values are attributes of tokens, which leaves a column of empty texts behind."""
    found = [c for c, values in enumerate(flat) if is_attributes(values)]
    if len(found) > 1:
        raise ValueError(
            f"found attributes in {names[found[0]]!r} and {names[found[1]]!r}, expected one column"
        )
    if not found:
        return None
    items, flat[found[0]] = flat[found[0]], [""] * len(flat[found[0]])
    return items


def is_attributes(values: Sequence[Any]) -> bool:
    """Whether the values of a column are attributes of tokens and not texts."""
    return len(values) > 0 and isinstance(values[0], (list, tuple, dict, set, frozenset))


def column_names(columns: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names from a sequence or a blank-separated string; every name once."""
    names = tuple(columns.split() if isinstance(columns, str) else columns or ())
    if len(set(names)) < len(names):
        raise DataError(f"found a column name twice in {' '.join(names)!r}, expected distinct names")
    return names


def guess_names(count: int) -> tuple[str, ...]:
    """`word`, then `c1`, `c2`…, and `label` for the last one."""
    return ("word", *(f"c{i}" for i in range(1, count - 1)), "label")[:count]


def read_blocks(
    source: Source,
    columns: str | Sequence[str] | None = None,
    *,
    separator: str | None = None,
    comments: str | None = "auto",
    block_bytes: int | None = 1 << 20,
    whole_documents: bool = False,
) -> Iterator[Block]:
    r"""Read a column file in blocks of whole sentences; memory stays flat however long the file is.

    `block_bytes` is their usual size; None makes one block of the whole file. With `whole_documents` they
    end where documents end.
    Fields are separated by blanks or tabs, or by single tabs only with `separator="\t"`; without
    `columns` the names are guessed from their number. Blank lines end sentences; a line whose first
    field is `-DOCSTART-` begins a document. `comments`: with "auto", a line that starts with `#` is a
    comment if it stands before a sentence and has not the file's number of columns; any other string
    makes every line that starts with it a comment; None allows no comments.
    """
    names, file = column_names(columns), name_of(source)
    options: dict[str, Any] = {"tabs_only": separator == "\t", "first_line": 1, "first_document": 0}
    options |= (
        {"comment": "#"} if comments == "auto" else {"comment": comments or "", "comment_anywhere": True}
    )
    with open_source(source) as stream:
        undecided = b""
        for chunk, is_last in sentence_chunks(stream, block_bytes, whole_documents):
            text = undecided + chunk
            if not text and block_bytes is not None:
                break
            table = parsed(parse_columns, text, file, columns=len(names), **options)
            if table.columns == 0 and not is_last:
                undecided = text  # comments or tokens? the first line that is neither will tell
                continue
            names = names or guess_names(table.columns)
            yield Block(table, names, file, options["first_line"])
            options["first_line"] += table.line_breaks
            options["first_document"] += table.marks
            undecided = b""


def parsed(parse: Callable[..., TokenTable], text: bytes, file: str, **options: Any) -> TokenTable:
    """What a parser of the core makes of a chunk of a file; its errors get the name of the file."""
    try:
        return parse(text, **options)
    except ValueError as error:
        message, line, column = (*error.args, None, None)[:3]
        raise DataError(message, file=file, line=line, column=column) from None


def _sentence_cut(buffer: bytearray, start: int) -> int:
    """The end of a blank line after `start`, the last one if it is of the usual kind; 0 if there is none."""
    for blank in (b"\n\n", b"\n\r\n"):
        if (at := buffer.rfind(blank, start)) >= 0:
            return at + len(blank)
    match = _BLANK_LINE.search(buffer, start)
    return match.end() if match else 0


def _document_cut(buffer: bytearray, start: int) -> int:
    """Where the last document after `start` begins; 0 if none does."""
    mark, end = b"\n-DOCSTART-", len(buffer)
    while (at := buffer.rfind(mark, start, end)) >= 0:
        if bytes(buffer[at + len(mark) : at + len(mark) + 1]) in (b"\n", b"\r", b" ", b"\t"):
            return at + 1
        end = at + len(mark) - 1  # a word that begins like a mark, or a line that may still grow
    return 0


def _line_cut(buffer: bytearray, start: int) -> int:
    """The end of the last line after `start`; 0 if none ends."""
    return buffer.rfind(b"\n", start) + 1


def sentence_chunks(
    stream: BinaryIO, size: int | None, whole_documents: bool
) -> Iterator[tuple[bytes, bool]]:
    """Chunks that end with a blank line, and whether it is the last one, which may end otherwise."""
    return _chunks(stream, size, _document_cut if whole_documents else _sentence_cut)


def line_chunks(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Chunks of whole lines."""
    return (chunk for chunk, _ in _chunks(stream, size, _line_cut) if chunk)


def _chunks(
    stream: BinaryIO, size: int | None, find_cut: Callable[[bytearray, int], int]
) -> Iterator[tuple[bytes, bool]]:
    buffer, last_line = bytearray(stream.read() if size is None else b""), 0
    # What a pipe has is enough: the rest may be long in coming.
    read = getattr(stream, "read1", stream.read) if is_piped(stream) else stream.read
    while size is not None and (chunk := read(max(size, 1))):
        buffer += chunk
        if b"\n" not in chunk:
            continue  # the last line still grows
        # Nothing before the line that was the last one needs a second look.
        if cut := find_cut(buffer, last_line):
            yield bytes(buffer[:cut]), False
            del buffer[:cut]
        last_line = max(buffer.rfind(b"\n"), 0)
    yield bytes(buffer), True
