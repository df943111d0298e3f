"""Partly segmented text as KyTea writes it: between any two characters stands what is known of them.

`|` is a boundary, `-` is none, a blank is not known. A word that ends at a boundary may have a tag behind its
last character, which goes up to the boundary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..errors import DataError
from .partial import ANY, OR, UNKNOWN, alternatives
from .plain import in_a_row, texts
from .records import Sentence
from .schemes import split_label
from .streams import Source, Target, name_of, open_target

BOUNDARY, INSIDE, OPEN = "|", "-", " "
_PREFIXES = {"||": "S", "|-": "B", "--": "M", "-|": "E"}  # by what stands before and behind a character


def read_kytea(
    source: Source, tag_separator: str | None = None, *, blank_lines: bool = False
) -> Iterator[Sentence]:
    """Characters with labels of BMES that may leave open what is right (`B|S`; `_` if nothing is known).

    With a `tag_separator` labels are typed: `B-n` in a word whose tag is given, `B-*` in others. With
    `blank_lines` empty lines are sentences without tokens, else they are skipped.
    """
    file = name_of(source)
    for number, text in texts(source):
        if text or blank_lines:
            yield _Line(text, tag_separator, file, number).sentence()


class _Line:
    """A line being read: its characters, the marks around them (one more) and the tags behind them."""

    def __init__(self, text: str, separator: str | None, file: str, number: int) -> None:
        self._text, self._separator, self._file, self._number = text, separator, file, number
        self._characters: list[str] = []
        self._marks = [BOUNDARY]
        self._tags: dict[int, str] = {}
        place = 0
        while place < len(text):
            place = self._take(place)

    def _take(self, place: int) -> int:
        """Reads a character, its tag and the mark behind it; the place of the next one."""
        text = self._text
        if text[place] in " \t":
            raise self._error(repr(text[place]), "a character", place)
        self._characters.append(text[place])
        place += 1
        if self._separator is not None and text.startswith(self._separator, place):
            place = self._take_tag(place)
        if place == len(text):
            self._marks.append(BOUNDARY)
            return place
        if text[place] not in (BOUNDARY, INSIDE, OPEN):
            marks = f"'{BOUNDARY}' (a boundary), '{INSIDE}' (none) or a blank (not known)"
            raise self._error(repr(text[place]), marks, place)
        if place + 1 == len(text):
            raise self._error("the end of the line", f"a character behind {text[place]!r}", place + 1)
        self._marks.append(text[place])
        return place + 1

    def _take_tag(self, place: int) -> int:
        begin = place + len(self._separator or "")
        end = self._text.find(BOUNDARY, begin)
        end = len(self._text) if end < 0 else end
        if begin == end:
            raise self._error("no tag", f"one behind {self._separator!r}", begin)
        self._tags[len(self._characters) - 1] = self._text[begin:end]
        return end

    def sentence(self) -> Sentence:
        """The characters with what is known of them."""
        types = self._types()
        labels = [
            _label(before + behind, type_)
            for before, behind, type_ in zip(self._marks, self._marks[1:], types, strict=False)
        ]
        columns = {"word": self._characters, "label": labels}
        text = "".join(self._characters)
        return Sentence(columns, text, in_a_row(len(text)), line=self._number)

    def _types(self) -> list[str | None]:
        """The tag of each character's word: as far back from a tag as there is no mark but `-`."""
        types: list[str | None] = [None if self._separator is None else ANY] * len(self._characters)
        for last, tag in self._tags.items():
            first = last
            types[last] = tag
            while self._marks[first] == INSIDE:
                first -= 1
                types[first] = tag
        return types

    def _error(self, found: str, expected: str, place: int) -> DataError:
        message = f"found {found}, expected {expected}"
        return DataError(message, file=self._file, line=self._number, column=place + 1)


def _label(marks: str, type_: str | None) -> str:
    """The label of a character with these marks before and behind it."""
    fitting = [
        prefix if type_ is None else f"{prefix}-{type_}"
        for around, prefix in _PREFIXES.items()
        if all(mark in (OPEN, known) for mark, known in zip(marks, around, strict=True))
    ]
    return UNKNOWN if len(fitting) == len(_PREFIXES) and type_ in (None, ANY) else OR.join(fitting)


def write_kytea(sentences: Iterable[Sentence], target: Target, *, tag_separator: str | None = None) -> None:
    """What labels of BMES, which may leave something open, say of the places between characters."""
    with open_target(target) as write:
        for sentence in sentences:
            write(_written(sentence.tokens, sentence.columns["label"], tag_separator) + "\n")


def _written(characters: Sequence[str], labels: Sequence[str], separator: str | None) -> str:
    pieces: list[str] = []
    for t, character in enumerate(characters):
        behind = _mark(labels[t], labels[t + 1] if t + 1 < len(labels) else None)
        pieces += [character, _tag(labels[t], separator) if behind == BOUNDARY else "", behind]
    return "".join(pieces[:-1])


def _mark(left: str, right: str | None) -> str:
    """What two labels know of the place between them; the end of a text is a boundary."""
    if right is None:
        return BOUNDARY
    ends, begins = _prefixes(left), _prefixes(right)
    if ends <= {"E", "S"} or begins <= {"B", "S"}:
        return BOUNDARY
    return INSIDE if ends <= {"B", "M"} or begins <= {"M", "E"} else OPEN


def _prefixes(label: str) -> set[str]:
    return set("BMES") if label == UNKNOWN else {split_label(one)[0] for one in alternatives(label)}


def _tag(label: str, separator: str | None) -> str:
    """The tag of a word by the label of its last character, if it is known."""
    types = {split_label(one)[1] for one in alternatives(label)} - {"", ANY}
    return f"{separator}{types.pop()}" if separator is not None and len(types) == 1 else ""
