"""CoNLL-U treebanks, written back byte for byte even after a column was replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

from ..errors import DataError
from .records import Sentence
from .streams import Source, Target, name_of, open_target, read_lines

FIELDS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_BLANK = " \t\r\n"
_WORD = re.compile(r"[1-9][0-9]*")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY = re.compile(r"([0-9]+)\.([1-9][0-9]*)")


class _Origin(NamedTuple):
    """The lines of a sentence with their line breaks, and which of them are words."""

    lines: list[str]
    words: list[int]


def read_conllu(source: Source, keys: Sequence[str] = ()) -> Iterator[Sentence]:
    """Sentences with the ten columns of CoNLL-U, `word` (the same as `form`), and `misc.KEY` for each key.

    Multiword tokens, empty nodes and comments are no tokens but are written back. A word without
    the key has the value "O". `# newdoc` begins a document, `# text =` gives the text.
    """
    reader = _Reader(name_of(source), keys)
    for number, line in read_lines(source):
        if reader.ended and line.strip(_BLANK):
            yield reader.sentence()
        reader.add(number, line)
    if reader.rows:
        yield reader.sentence()
    elif reader.comments:
        reader.fail("found comments without a sentence, expected words after them")


class _Reader:
    """Collects the lines of one sentence after the other and checks them."""

    def __init__(self, file: str, keys: Sequence[str]) -> None:
        self.file, self.keys = file, keys
        self.document = self.number = 0
        self._clear()

    def _clear(self) -> None:
        self.origin = _Origin([], [])
        self.rows: list[list[str]] = []
        self.comments: list[str] = []
        self.first_line = self.range_end = self.empty_nodes = 0
        self.ended = False

    def fail(self, message: str, column: int = 1) -> NoReturn:
        raise DataError(message, file=self.file, line=self.number, column=column)

    def add(self, number: int, line: str) -> None:
        """Take in the next line."""
        self.number = number
        content = line.rstrip("\r\n")
        if number == 1:
            content = content.removeprefix("\ufeff")
        if not content.strip(_BLANK):
            self._end()
        elif content.startswith("#"):
            self._comment(content)
        else:
            self._row(content.split("\t"), number)
        self.origin.lines.append(line)

    def _end(self) -> None:
        if self.comments and not self.rows:
            self.fail("found a blank line, expected words after the comments")
        if self.range_end > len(self.rows):
            self.fail(f"found the sentence's end, expected word {len(self.rows) + 1} of a multiword token")
        self.ended = bool(self.rows)

    def _comment(self, content: str) -> None:
        if self.rows:
            self.fail("found a comment inside a sentence, expected it before the first word")
        self.comments.append(content)
        if re.match(r"#\s*newdoc\b", content):
            self.document += 1

    def _row(self, fields: list[str], number: int) -> None:
        if len(fields) != len(FIELDS):
            # The first field too many, or the end of the line.
            column = sum(len(value) + 1 for value in fields[: len(FIELDS)]) + (len(fields) > len(FIELDS))
            self.fail(f"found {len(fields)} columns, expected {len(FIELDS)}", column)
        if "" in fields:
            empty = fields.index("")
            column = sum(len(value) + 1 for value in fields[:empty]) + 1
            self.fail(f"found an empty {FIELDS[empty]} field, expected _ or a value", column)
        if self._is_word(fields[0]):
            self.first_line = self.first_line or number
            self.origin.words.append(len(self.origin.lines))
            self.rows.append(fields)
            self.empty_nodes = 0

    def _is_word(self, id_: str) -> bool:
        """Checks an id against those before it; multiword tokens and empty nodes are no words."""
        last = len(self.rows)
        if _WORD.fullmatch(id_) and id_ == str(last + 1):
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

    def sentence(self) -> Sentence:
        """The sentence collected so far; starts a new one."""
        if self.range_end > len(self.rows):
            self._end()
        columns = {name: [row[i] for row in self.rows] for i, name in enumerate(FIELDS)}
        columns["word"] = columns["form"]
        for key in self.keys:
            columns[f"misc.{key}"] = [get_key(misc, key) for misc in columns["misc"]]
        texts = (
            comment.partition("=")[2].strip() for comment in self.comments if comment.startswith("# text =")
        )
        result = Sentence(
            columns, next(texts, None), comments=self.comments, document=self.document, line=self.first_line
        )
        result.origin = self.origin
        self._clear()
        return result


def get_key(misc: str, key: str, absent: str = "O") -> str:
    """The value of `key=value` in a MISC (or FEATS) field."""
    values = (item[len(key) + 1 :] for item in misc.split("|") if item.startswith(f"{key}="))
    return next(values, absent)


def set_key(misc: str, key: str, value: str, absent: str = "O") -> str:
    """The field with `key=value` in its old place or at the end; `absent` takes the key out."""
    if get_key(misc, key, absent) == value:
        return misc
    items = [] if misc == "_" else misc.split("|")
    places = [i for i, item in enumerate(items) if item.startswith(f"{key}=")] or [len(items)]
    items[places[0] : places[0] + 1] = [] if value == absent else [f"{key}={value}"]
    return "|".join(items) or "_"


def commented(sentence: Sentence, comments: Sequence[str]) -> Sentence:
    """A copy of the sentence with more comments before its first word."""
    found = replace(sentence, comments=[*sentence.comments, *comments])
    if isinstance(sentence.origin, _Origin):
        lines, words = sentence.origin
        at = next(i for i, line in enumerate(lines) if line[:1].isdigit())
        break_ = lines[at][len(lines[at].rstrip("\r\n")) :] or "\n"
        added = [comment + break_ for comment in comments]
        found.origin = _Origin([*lines[:at], *added, *lines[at:]], [i + len(added) for i in words])
    return found


def write_conllu(sentences: Iterable[Sentence], target: Target) -> None:
    """Write sentences as they were read, with the present values of their columns (also of `misc.KEY`)."""
    with open_target(target) as write:
        for sentence in sentences:
            rows = [_row(row, sentence) for row in zip(*_fields(sentence), strict=True)]
            write("".join(_lines(sentence, rows)))


def _row(fields: Sequence[str], sentence: Sentence) -> str:
    if any(value == "" or re.search(r"[\t\r\n\0]", value) for value in fields):
        raise DataError(f"fields {fields!r} cannot be written to CoNLL-U", line=sentence.line or None)
    return "\t".join(fields)


def _fields(sentence: Sentence) -> list[list[str]]:
    columns = dict(sentence.columns)
    if not isinstance(sentence.origin, _Origin):
        columns["id"] = [str(i + 1) for i in range(len(sentence))]
        columns.setdefault("form", sentence.tokens)
    blank = ["_"] * len(sentence)
    for name in [name for name in columns if name.startswith("misc.")]:
        pairs = zip(columns.get("misc", blank), columns[name], strict=True)
        columns["misc"] = [set_key(misc, name.removeprefix("misc."), value) for misc, value in pairs]
    return [columns.get(name, blank) for name in FIELDS]


def _lines(sentence: Sentence, rows: list[str]) -> Iterator[str]:
    if not isinstance(sentence.origin, _Origin):
        yield from (f"{line}\n" for line in [*sentence.comments, *rows, ""])
        return
    words = dict(zip(sentence.origin.words, rows, strict=True))
    for i, line in enumerate(sentence.origin.lines):
        mark = "\ufeff" if line.startswith("\ufeff") else ""
        yield mark + words[i] + line[len(line.rstrip("\r\n")) :] if i in words else line
