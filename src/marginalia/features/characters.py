"""Raw text as columns of characters, for the chain that finds tokens and sentences (docs/ud.md).

Each character has itself, and what it is a part of: the *chunk* between blanks with its place in it and, at
the first character of a chunk, the chunks before and after. Chunks of text without blanks are too long to be
of use and have no name.
"""

from __future__ import annotations

import re
from collections.abc import Set

COLUMNS = ("char", "chunk", "place", "before", "after")
"""What each character has."""
LEXICON_COLUMNS = ("ahead", "behind", "across")
"""What each character has besides if there is a lexicon: how long the longest known token is that begins with
it, that ends before it, that goes over the boundary before it."""

LONGEST_KNOWN = 8  # characters of a token of the lexicon
BLANK, BREAK, CONTROL = "␣", "⏎", "\ufffd"
_LONGEST = 24  # characters of a chunk that has a name
_FAR = 12  # places of a chunk that are told apart
_NONE = "_"
_CHUNK = re.compile(r"\S+")
_HIDDEN = re.compile(r"[\s\0-\x1f\x7f-\x9f\ud800-\udfff]")


def character_columns(text: str, breaks: bool = False) -> list[list[str]]:
    """The columns of all characters of a text, in the order of `COLUMNS`; each has one value a character.

    `breaks`: whether ends of lines differ from other white space.
    """
    chars = list(_HIDDEN.sub(_shown if breaks else _unbroken, text))
    size = len(chars)
    chunk, place, before, after = ([_NONE] * size for _ in range(4))
    found = [(m.start(), m.end()) for m in _CHUNK.finditer(text)]
    names = [_named(text[first:last]) for first, last in found]
    for number, (first, last) in enumerate(found):
        length = last - first
        before[first] = names[number - 1] if number else "_B"
        after[first] = names[number + 1] if number + 1 < len(names) else "_E"
        if length > _LONGEST:
            place[first] = "0"
            continue
        chunk[first:last] = [names[number]] * length
        place[first:last] = _PLACES[length]
    return [chars, chunk, place, before, after]


def all_columns(text: str, breaks: bool, lexicon: Set[str]) -> dict[str, list[str]]:
    """All columns by name; those of the lexicon if there is one."""
    columns = dict(zip(COLUMNS, character_columns(text, breaks), strict=True))
    if lexicon:
        columns |= dict(zip(LEXICON_COLUMNS, lexicon_columns(text, lexicon), strict=True))
    return columns


def _shown(match: re.Match[str]) -> str:
    char = match[0]
    if char.isspace():
        return BREAK if char in "\n\r\u2028\u2029" else BLANK
    return CONTROL


def _unbroken(match: re.Match[str]) -> str:
    return BLANK if match[0].isspace() else CONTROL


def _named(chunk: str) -> str:
    """A chunk as a value: cut if it is long, without what cannot be in a table."""
    if len(chunk) > _LONGEST:
        chunk = f"{chunk[:4]}…{chunk[-4:]}"
    return _HIDDEN.sub(CONTROL, chunk)


def _places(length: int) -> list[str]:
    """From the beginning and from the end, whichever is nearer to be exact."""
    return [f"{min(at, _FAR)}" if at < length - 1 else f"{min(at, _FAR)}e" for at in range(length)]


_PLACES = [_places(length) for length in range(_LONGEST + 1)]


def lexicon_columns(text: str, lexicon: Set[str]) -> list[list[str]]:
    """The columns of `LEXICON_COLUMNS`: matches of known tokens of two characters and more, anywhere."""
    size = len(text)
    ahead, behind, across = ([0] * size for _ in range(3))
    for first in range(size):
        for length in range(2, min(LONGEST_KNOWN, size - first) + 1):
            if text[first : first + length] not in lexicon:
                continue
            ahead[first] = length
            if first + length < size:
                behind[first + length] = max(behind[first + length], length)
            for at in range(first + 1, first + length):
                across[at] = max(across[at], length)
    return [[_DIGITS[n] for n in column] for column in (ahead, behind, across)]


_DIGITS = [str(n) for n in range(LONGEST_KNOWN + 1)]
