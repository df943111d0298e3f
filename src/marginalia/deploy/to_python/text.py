"""Functions of one string: kinds of characters, lower case, small regular expressions, attributes."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable

OTHER, UPPER, LOWER, LETTER, MARK, DIGIT, PUNCT, SPACE = range(8)
KIND_NAMES = ("other", "letter", "letter", "letter", "other", "digit", "punct", "space")
SCRIPT_NAMES = ("", "han", "hiragana", "katakana", "hangul", "latin", "greek", "cyrillic", "cjk-digit")


def mapped(numbers: list[int]) -> dict[int, int]:
    """What code points become, of rows of first, last, step, distance."""
    rows = [numbers[i : i + 4] for i in range(0, len(numbers), 4)]
    return {code: code + d for a, b, step, d in rows for code in range(a, b + 1, step)}


class Characters:
    """Kinds, scripts, lower case and widths of characters, by the tables that the model was trained with."""

    def __init__(self, ranges: list[int], lowers: list[int], widths: list[int]) -> None:
        self._starts = [packed >> 8 for packed in ranges]
        self._classes = [packed & 0xFF for packed in ranges]
        self._lowers, self._widths = mapped(lowers), mapped(widths)

    def kind(self, char: str) -> int:
        """One of the kinds above."""
        return self._packed(char) & 0xF

    def script(self, char: str) -> str:
        """The script of a letter or mark, "" for others."""
        return SCRIPT_NAMES[self._packed(char) >> 4]

    def lower(self, text: str) -> str:
        """Lower case, one character for each."""
        return text.translate(self._lowers)

    def usual_width(self, text: str) -> str:
        """In usual widths, one character for each."""
        return text.translate(self._widths)

    def _packed(self, char: str) -> int:
        return self._classes[bisect_right(self._starts, ord(char)) - 1]


class Pattern:
    """A regular expression of Wapiti's pattern files: a star takes as little as it can, `?` what it can."""

    def __init__(self, pattern: str, characters: Characters) -> None:
        self._characters = characters
        self._from_start = pattern.startswith("^")
        self._to_end = False
        self._items: list[tuple[str, bool, str]] = []  # character or class, is it a class, how often
        at = 1 if self._from_start else 0
        while at < len(pattern):
            if pattern[at] == "$" and at + 1 == len(pattern):
                self._to_end = True
                break
            escaped = pattern[at] == "\\"
            at += escaped
            char = pattern[at]
            at += 1
            is_class = characters.lower(char) in tuple("adlpsuw") if escaped else char == "."
            repeat = pattern[at] if at < len(pattern) and pattern[at] in "*?" else ""
            at += len(repeat)
            self._items.append((char, is_class, repeat))

    def find(self, text: str) -> str | None:
        """The leftmost match."""
        fits = self._tails(text)
        begin = 0
        last = 0 if self._from_start else len(text)
        while begin <= last and not fits[begin][0]:
            begin += 1
        return text[begin : self._end(text, fits, begin)] if begin <= last else None

    def _tails(self, text: str) -> list[list[bool]]:
        """Whether the items from there on match the text from there on."""
        count = len(self._items)
        fits = [[False] * (count + 1) for _ in range(len(text) + 1)]
        for at in range(len(text), -1, -1):
            fits[at][count] = not self._to_end or at == len(text)
            for i in range(count - 1, -1, -1):
                repeat = self._items[i][2]
                rest = i if repeat == "*" else i + 1
                skips = repeat != "" and fits[at][i + 1]
                takes = at < len(text) and self._accepts(i, text[at]) and fits[at + 1][rest]
                fits[at][i] = skips or takes
        return fits

    def _end(self, text: str, fits: list[list[bool]], at: int) -> int:
        for i, (_, _, repeat) in enumerate(self._items):
            if repeat == "*":
                while not fits[at][i + 1]:
                    at += 1
            elif repeat == "" or (at < len(text) and self._accepts(i, text[at]) and fits[at + 1][i + 1]):
                at += 1
        return at

    def _accepts(self, item: int, char: str) -> bool:
        code, is_class, _ = self._items[item]
        if not is_class:
            return char == code
        if code == ".":
            return True
        name, kind = self._characters.lower(code), self._characters.kind(char)
        letter = kind in (UPPER, LOWER, LETTER, MARK)
        inside = {
            "a": letter,
            "d": kind == DIGIT,
            "l": kind == LOWER,
            "p": kind == PUNCT,
            "s": kind == SPACE,
            "u": kind == UPPER,
            "w": letter or kind == DIGIT,
        }
        return inside[name] == (name == code)


class Attributes:
    """The functions that templates name; each gives a string, or None if there is no value."""

    def __init__(self, characters: Characters) -> None:
        self._characters = characters

    def function(self, name: str, argument: str) -> Callable[[str], str | None]:
        """The function of that name with its argument."""
        if name == "column":
            return lambda text: text
        if name in ("prefix", "suffix", "lower-prefix", "lower-suffix"):
            return self._affix(name, int(argument))
        if name in ("has", "is"):
            holds = self._flags()[argument]
            return lambda text: "1" if holds(text) else None
        if name in ("test", "match", "lower-match"):
            return self._pattern(name, Pattern(argument, self._characters))
        simple: dict[str, Callable[[str], str | None]] = {
            "lower": self._characters.lower,
            "shape": lambda text: self._shape(text, False),
            "collapsed-shape": lambda text: self._shape(text, True),
            "char-class": self._char_class,
            "width": self._characters.usual_width,
            "nfkc": lambda text: unicodedata.normalize("NFKC", text),
        }
        return simple[name]

    def _affix(self, name: str, size: int) -> Callable[[str], str | None]:
        change = self._characters.lower if name.startswith("lower-") else str
        if name.endswith("prefix"):
            return lambda text: change(text[:size]) if len(text) >= size else None
        return lambda text: change(text[-size:]) if len(text) >= size else None

    def _pattern(self, name: str, pattern: Pattern) -> Callable[[str], str | None]:
        if name == "test":
            return lambda text: "false" if pattern.find(text) is None else "true"
        if name == "match":
            return lambda text: pattern.find(text) or ""
        return lambda text: self._characters.lower(pattern.find(text) or "")

    def _shape(self, text: str, collapse: bool) -> str:
        shown = {UPPER: "X", LOWER: "x", LETTER: "c", DIGIT: "d"}
        out: list[str] = []
        for char in text:
            kind = self._characters.kind(char)
            current = shown.get(kind, char)
            if kind != MARK and not (collapse and out and out[-1] == current):
                out.append(current)
        return "".join(out)

    def _char_class(self, text: str) -> str | None:
        if not text:
            return None
        return self._characters.script(text[0]) or KIND_NAMES[self._characters.kind(text[0])]

    def _flags(self) -> dict[str, Callable[[str], bool]]:
        kind = self._characters.kind

        def any_of(text: str, *kinds: int) -> bool:
            return any(kind(char) in kinds for char in text)

        def all_of(text: str, wanted: int) -> bool:
            return text != "" and all(kind(char) == wanted for char in text)

        def hyphen(text: str) -> bool:
            return any(char in "-\u2010\u2011" for char in text)

        return {
            "digit": lambda t: any_of(t, DIGIT),
            "upper": lambda t: any_of(t, UPPER),
            "hyphen": hyphen,
            "two-digits": lambda t: len(t) == 2 and all_of(t, DIGIT),
            "four-digits": lambda t: len(t) == 4 and all_of(t, DIGIT),
            "digits-letters": lambda t: any_of(t, DIGIT) and any_of(t, UPPER, LOWER, LETTER),
            "digits-dash": lambda t: any_of(t, DIGIT) and hyphen(t),
            "digits-slash": lambda t: any_of(t, DIGIT) and "/" in t,
            "digits-comma": lambda t: any_of(t, DIGIT) and "," in t,
            "digits-period": lambda t: any_of(t, DIGIT) and "." in t,
            "number": lambda t: all_of(t, DIGIT),
            "initial-cap": lambda t: t != "" and kind(t[0]) == UPPER,
            "all-caps": lambda t: all_of(t, UPPER),
            "lower-case": lambda t: all_of(t, LOWER),
            "cap-period": lambda t: len(t) == 2 and kind(t[0]) == UPPER and t[1] == ".",
        }
