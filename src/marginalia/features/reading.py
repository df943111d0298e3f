"""What the readers of template files share: places in a file, errors that name them, columns by name."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from marginalia import _core
from marginalia.corpus.guarded import read_at_most
from marginalia.corpus.streams import open_source
from marginalia.errors import DataError, SettingsError

FARTHEST_IMPORTED = 1000
"""Tokens that templates of other programs may look away, which set no limit themselves."""


_LARGEST = 1 << 24  # bytes


def text_of_file(path: Path) -> str:
    """The text of a file of templates or features; a SettingsError says why it cannot be read."""
    try:
        with open_source(path) as stream:
            text = read_at_most(stream, _LARGEST, str(path)).decode()
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: cannot be read as UTF-8 text: {error}.") from error
    except DataError as error:
        raise SettingsError(f"{path}: cannot be read: {error.message}.") from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that suggests the known name nearest to an unknown one, or lists them all."""
    import difflib  # slow to load, and most names are known

    names = list(known)
    found = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean '{found[0]}'?" if found else f"Known: {', '.join(names) or 'none'}."


@dataclass(frozen=True)
class Line:
    """One line of a template file, and where it stands."""

    file: str
    number: int
    text: str

    def error(self, column: int, message: str) -> SettingsError:
        """The error to raise about what begins at `column` (counted from 0) of this line."""
        return SettingsError(f"{self.file}:{self.number}:{column + 1}: {message}")


def lines(text: str, file: str) -> Iterator[Line]:
    """The lines of a file's text, numbered from 1."""
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        yield Line(file, number, line)


def split_macros(
    line: Line, text: str, macro: re.Pattern[str], expected: str
) -> Iterator[str | re.Match[str]]:
    """The literals and the macros of a foreign template in turn; an error at a `%` that begins no macro."""
    at = 0
    for found in itertools.chain(macro.finditer(text), [None]):
        literal = text[at : found.start() if found else len(text)]
        if "%" in literal:
            start = at + literal.index("%")
            raise line.error(start, f"found '{text[start:].split()[0]}', expected {expected}.")
        yield literal
        if found:
            yield found
            at = found.end()


@dataclass(frozen=True)
class Columns:
    """The columns of the data: all names in order, the label (which no template may look at), and other
    names that stand for a column. `token` always stands for the first column, unless one has that name."""

    names: Sequence[str]
    label: str
    aliases: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        """The column that a name stands for, or None if there is none that templates may use."""
        if name not in self.names:
            name = self.aliases.get(name, self.names[0] if name == "token" else name)
        return name if name in self.names and name != self.label else None

    def named(self, name: str, line: Line, at: int) -> str:
        """The column that a name stands for; an error at this place if there is none."""
        found = self.find(name)
        if found is None and name == self.label:
            raise line.error(
                at, f"column '{name}' is the label to be predicted; templates cannot look at it."
            )
        if found is None:
            usable = [known for known in self.names if known != self.label]
            raise line.error(at, f"the data have no column '{name}'. {nearest(name, usable)}")
        return found

    def numbered(self, number: int, line: Line, at: int) -> str:
        """The column with this number, counted from 0; an error at this place if there is none."""
        if number >= len(self.names):
            raise line.error(
                at, f"column {number} is asked for, but the data have columns 0 to {len(self.names) - 1}."
            )
        return self.named(self.names[number], line, at)


def check_offset(offset: int, line: Line, at: int) -> None:
    """An error at this place if a template of another program looks too far away."""
    if abs(offset) > FARTHEST_IMPORTED:
        raise line.error(
            at, f"found the offset {offset}, expected one from {-FARTHEST_IMPORTED} to {FARTHEST_IMPORTED}."
        )


def check_argument(function: str, argument: str, line: Line, at: int) -> None:
    """An error at this place unless the function takes this argument."""
    try:
        _core.check_attribute(function, argument)
    except ValueError as error:
        raise line.error(at, f"{error}.") from None
