"""The lines of CoNLL-U by sentences, with ids and columns checked: what its readers share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NoReturn

from ..errors import DataError
from .streams import Source, name_of, read_lines

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_BLANK = " \t\r\n"
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY = re.compile(r"([0-9]+)\.([1-9][0-9]*)")


class SentenceLines:
    """One sentence as it stands in a file.

    `lines` have their line breaks, `comments` do not; `rows` are the fields of words, `places` their lines;
    `others` are the fields of multiword tokens and empty nodes, with their lines. `canonical` says that each
    line ends in a line feed and one empty line follows, so that nothing but the fields needs to be kept.
    """

    __slots__ = (
        "canonical",
        "comments",
        "document",
        "file",
        "first_line",
        "lines",
        "others",
        "places",
        "rows",
    )

    def __init__(self, file: str, document: int) -> None:
        self.file, self.document = file, document
        self.lines: list[str] = []
        self.comments: list[str] = []
        self.rows: list[list[str]] = []
        self.places: list[int] = []
        self.others: list[tuple[int, list[str]]] = []
        self.first_line = 0
        self.canonical = True

    def fail(self, message: str, place: int, field: int = 0) -> NoReturn:
        """A `DataError` about a field of the line `place`."""
        fields = self.lines[place].removeprefix("\ufeff").split("\t")
        raise DataError(
            message, file=self.file, line=self.first_line + place, column=column_of(fields, field)
        )


def column_of(fields: Sequence[str], field: int) -> int:
    """Where in a line a field begins, counted from 1."""
    return sum(len(value) + 1 for value in fields[:field]) + 1


def read_sentence_lines(source: Source) -> Iterator[SentenceLines]:
    """The sentences of a file; what is no CoNLL-U is a `DataError` with its place."""
    reader = _Reader(name_of(source))
    for number, line in read_lines(source):
        if reader.ended and line.strip(_BLANK):
            yield reader.sentence()
        reader.add(number, line)
    if reader.found.rows:
        yield reader.sentence()
    elif reader.found.comments:
        reader.fail("found comments without a sentence, expected words after them")
    elif reader.found.others:
        reader.fail("found the file's end, expected a word")


class _Reader:
    """Collects the lines of one sentence after the other and checks them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.document = self.number = 0
        self._clear()

    def _clear(self) -> None:
        self.found = SentenceLines(self.file, self.document)
        self.range_end = self.empty_nodes = 0
        self.ended = False

    def fail(self, message: str, column: int = 1) -> NoReturn:
        raise DataError(message, file=self.file, line=self.number, column=column)

    def add(self, number: int, line: str) -> None:
        """Take in the next line."""
        self.number = number
        found = self.found
        content = line.rstrip("\r\n")
        if not found.lines:
            found.first_line = number
        if len(line) - len(content) != 1:
            found.canonical = False
        if number == 1 and content.startswith("\ufeff"):
            content, found.canonical = content[1:], False
        if not content.strip(_BLANK):
            found.canonical &= not content and bool(found.rows) and not self.ended
            self._end()
        elif content.startswith("#"):
            self._comment(content)
        else:
            self._row(content.split("\t"))
        found.lines.append(line)

    def _end(self) -> None:
        words = len(self.found.rows)
        if self.found.comments and not words:
            self.fail("found a blank line, expected words after the comments")
        if self.found.others and not words:
            self.fail("found a blank line, expected a word")
        if self.range_end > words:
            self.fail(f"found the sentence's end, expected word {words + 1} of a multiword token")
        self.ended = bool(words)

    def _comment(self, content: str) -> None:
        if self.found.rows or self.found.others:
            self.fail("found a comment inside a sentence, expected it before the first word")
        self.found.comments.append(content)
        if re.match(r"#\s*newdoc\b", content):
            self.document += 1
            self.found.document = self.document

    def _row(self, fields: list[str]) -> None:
        if len(fields) != len(FIELDS):
            # The first field too many, or the end of the line.
            many = len(fields) > len(FIELDS)
            column = column_of(fields, len(FIELDS)) - (not many)
            self.fail(f"found {len(fields)} columns, expected {len(FIELDS)}", column)
        if "" in fields:
            empty = fields.index("")
            self.fail(
                f"found an empty {FIELDS[empty]} field, expected _ or a value", column_of(fields, empty)
            )
        found = self.found
        if self._is_word(fields[0]):
            found.places.append(len(found.lines))
            found.rows.append(fields)
            self.empty_nodes = 0
        else:
            found.others.append((len(found.lines), fields))

    def _is_word(self, id_: str) -> bool:
        """Checks an id against those before it; multiword tokens and empty nodes are no words."""
        last = len(self.found.rows)
        if id_ == str(last + 1):
            return True
        if (match := _RANGE.fullmatch(id_)) and match[1] == str(last + 1) and self.range_end <= last:
            # Comparing lengths first keeps absurdly long numbers from being converted.
            if len(match[2]) < 10 and int(match[2]) > last:
                self.range_end = int(match[2])
                return False
        elif (match := _EMPTY.fullmatch(id_)) and match.groups() == (str(last), str(self.empty_nodes + 1)):
            self.empty_nodes += 1
            return False
        self.fail(f"found id {id_!r}, expected {last + 1}, {last + 1}-N or {last}.{self.empty_nodes + 1}")

    def sentence(self) -> SentenceLines:
        """The sentence collected so far; starts a new one."""
        if self.range_end > len(self.found.rows):
            self._end()
        found = self.found
        found.canonical &= self.ended
        self._clear()
        return found
