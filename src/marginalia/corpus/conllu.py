"""CoNLL-U treebanks as columns of words, written back byte for byte even after a column was replaced."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..errors import DataError
from .conllu_lines import FIELDS, read_sentence_lines
from .records import Sentence
from .streams import Source, Target, open_target


class _Origin(NamedTuple):
    """The lines of a sentence with their line breaks, and which of them are words."""

    lines: list[str]
    words: list[int]


def read_conllu_columns(source: Source, keys: Sequence[str] = ()) -> Iterator[Sentence]:
    """Sentences with the ten columns of CoNLL-U, `word` (the same as `form`), and `misc.KEY` for each key.

    Multiword tokens, empty nodes and comments are no tokens but are written back. A word without
    the key has the value "O". `# newdoc` begins a document, `# text =` gives the text.
    """
    for found in read_sentence_lines(source):
        columns = {name: [row[i] for row in found.rows] for i, name in enumerate(FIELDS)}
        columns["word"] = columns["form"]
        for key in keys:
            columns[f"misc.{key}"] = [get_key(misc, key) for misc in columns["misc"]]
        text, line = comment_value(found.comments, "text"), found.first_line + found.places[0]
        sentence = Sentence(columns, text, comments=found.comments, document=found.document, line=line)
        sentence.origin = _Origin(found.lines, found.places)
        yield sentence


def comment_value(comments: Iterable[str], key: str) -> str | None:
    """What the first comment `# key = value` gives; None if there is none."""
    values = (one.partition("=")[2].strip() for one in comments if one.startswith(f"# {key} ="))
    return next(values, None)


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


def write_conllu_columns(sentences: Iterable[Sentence], target: Target) -> None:
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
