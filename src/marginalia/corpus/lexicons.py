"""Lexicons: words with the labels that a model gave them in much text, and how often.

A line of a file is word, tab, label, tab, count, and as many more labels with their counts. Lines that begin
with `#` and have no tab are comments.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ..errors import DataError
from .phrases import Place
from .streams import read_lines, replacing

BANDS = (1000, 100, 10, 1)
"""What a label was seen at least so many times."""

_LINE = "expected word, tab, label, tab, count, and maybe more labels with counts"
_HEAD = "# lexicon of labels seen at least "
_MOST_COUNT = 2**63

Lexicon = dict[str, dict[str, int]]
"""Counts of labels, by word."""


class LexiconEntry(NamedTuple):
    """A word of a lexicon with its labels and their counts, the most frequent label first."""

    word: str
    counts: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        """What a model keeps of it: labels and their bands, with tabs between."""
        return "\t".join(f"{label}\t{band_of(count)}" for label, count in self.counts)

    @property
    def total(self) -> int:
        """How often the word was seen with any of its labels."""
        return sum(count for _, count in self.counts)


def band_of(count: int) -> int:
    """The band of a count: 1000 for 1000 and more, 100 for 100 to 999, and so on."""
    return next(band for band in BANDS if count >= band)


def ranked(counts: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Labels with counts, the most frequent first; of equally frequent ones, the first in order of text."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def read_lexicon(path: str | os.PathLike[str]) -> Iterator[LexiconEntry]:
    """The entries of a file; a DataError with the line for what is none."""
    name, lines = os.fspath(path), dict[str, int]()
    for number, line in read_lines(path):
        text = (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
        if not text or (text.startswith("#") and "\t" not in text):
            continue
        place = Place(name, number)
        entry = _entry(text.split("\t"), place)
        if entry.word in lines:
            raise place.error(
                f"found the word '{entry.word}' again, which line {lines[entry.word]} has: expected each once"
            )
        lines[entry.word] = number
        yield entry


def _entry(fields: list[str], place: Place) -> LexiconEntry:
    word, labels, counts = fields[0], fields[1::2], fields[2::2]
    if not word or not labels or len(labels) != len(counts) or not all(labels):
        raise place.error(f"found {len(fields)} fields, {_LINE}")
    if len(set(labels)) < len(labels):
        raise place.error(f"found a label of '{word[:40]}' twice, {_LINE}")
    return LexiconEntry(
        word, ranked({label: _count(text, place) for label, text in zip(labels, counts, strict=True)})
    )


def _count(text: str, place: Place) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < _MOST_COUNT:
        raise place.error(f"found the count '{text[:40]}', expected a whole number above 0; {_LINE}")
    return int(text)


def least_of(path: str | os.PathLike[str]) -> int | None:
    """How often labels of a file were seen at least, as it says itself; None if it does not."""
    for _, line in read_lines(path):
        number = line.removeprefix("\ufeff").removeprefix(_HEAD).split()[:1]
        return int(number[0]) if number and number[0].isdigit() and _HEAD in line else None
    return None


def merged(paths: Iterable[str | os.PathLike[str]]) -> Lexicon:
    """The sums of the counts of several files."""
    lexicon: Lexicon = {}
    for path in paths:
        for entry in read_lexicon(path):
            counts = lexicon.setdefault(entry.word, {})
            for label, count in entry.counts:
                counts[label] = counts.get(label, 0) + count
    return lexicon


def entries_of(lexicon: Mapping[str, Mapping[str, int]], least: int) -> Iterator[LexiconEntry]:
    """Words in order of their text, with the labels that were seen so often; none without any."""
    for word in sorted(lexicon):
        if kept := {label: count for label, count in lexicon[word].items() if count >= least}:
            yield LexiconEntry(word, ranked(kept))


def write_lexicon(path: str, lexicon: Mapping[str, Mapping[str, int]], least: int) -> int:
    """Writes what was seen so often to a file, which appears when it is whole; how many words it has."""
    words = 0
    with replacing(path) as stream:
        stream.write(f"{_HEAD}{least} times; a line: word, label, count…\n".encode())
        for entry in entries_of(lexicon, least):
            fields = [entry.word, *(str(field) for pair in entry.counts for field in pair)]
            if any(not field or field[0] == "\n" or set(field) & set("\t\r\n") for field in fields):
                raise DataError(f"found the word or label {fields!r}, expected none with tabs or line breaks")
            stream.write(("\t".join(fields) + "\n").encode())
            words += 1
    return words
