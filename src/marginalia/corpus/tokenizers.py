"""Cutting raw text into tokens: functions from a text to the character offsets of its tokens."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import SettingsError
from .formats import CUT_TEXT

Offsets = list[tuple[int, int]]
Tokenizer = Callable[[str], Offsets]

_WHITESPACE = re.compile(r"\S+")
_WORDS = re.compile(r"\w+|[^\w\s]")
_CHARACTERS = re.compile(r"\S")

_FRACTION = "\u00bc-\u00be\u2150-\u215e"  # ½ and its kin: letters to `\\w`, numbers to people
_AMOUNT = rf"~?(?:\d+[{_FRACTION}]?|[{_FRACTION}])(?:[.,/–-](?:\d+[{_FRACTION}]?|[{_FRACTION}]))*"
_SIGN = r",;:()\[\]*!?/"
_FIELDS = re.compile(
    rf"{_AMOUNT}(?=[^\W\d_{_FRACTION}]+\.?(?:[\s{_SIGN}]|$))"  # an amount with its unit behind it
    rf"|(?:[^\s{_SIGN}]|(?<=\d)[,/](?=\d))+|[{_SIGN}]"
)
_ABBREVIATIONS = re.compile(
    r"approx|c|ca|cl|cm|dl|doz|fl|g|gal|in|kg|l|lbs?|lg|med|ml|no|opt|oz|pcs?|pkgs?|pt|qt|sm|t|tbsp?|temp|tsp"
)


def whitespace(text: str) -> Offsets:
    """Runs of anything but white space."""
    return [match.span() for match in _WHITESPACE.finditer(text)]


def words(text: str) -> Offsets:
    """Runs of letters, digits and their combining marks; every other sign by itself."""
    found = [match.span() for match in _WORDS.finditer(text)]
    return found if text.isascii() else _join_marks(text, found)


def _join_marks(text: str, found: Offsets) -> Offsets:
    """Vowel signs and accents of their own are no `\\w`: glue them to the letters around them."""
    joined: Offsets = []
    for start, end in found:
        touches = bool(joined) and joined[-1][1] == start
        if touches and (_is_mark(text[start]) or (_is_mark(text[start - 1]) and text[start].isalnum())):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def characters(text: str) -> Offsets:
    """Every character but white space."""
    return [match.span() for match in _CHARACTERS.finditer(text)]


def fields(text: str) -> Offsets:
    """Short strings such as addresses and ingredients: `500g` is two tokens, `1/2` and `2-inch` are one.

    Commas, colons, brackets and slashes stand by themselves unless they are inside a number; a full
    stop does at the end, unless it belongs to an abbreviation. See data/ingredients/GUIDELINE.md.
    """
    found = [match.span() for match in _FIELDS.finditer(text)]
    if found and text[slice(*found[-1])].endswith("."):
        start, end = found[-1]
        word = text[start : end - 1].rpartition("-")[2].lower()
        if end - start > 1 and not _ABBREVIATIONS.fullmatch(word):
            found[-1:] = [(start, end - 1), (end - 1, end)]
    return found


TOKENIZERS: dict[str, Tokenizer] = {
    "whitespace": whitespace,
    "words": words,
    "characters": characters,
    "fields": fields,
}


def tokenizer_of(format: str, options: Mapping[str, Any]) -> str:
    """The name of the tokenizer that made the tokens of such files, as far as one can know."""
    usual = "characters" if format in CUT_TEXT else "words" if format == "jsonl" else "whitespace"
    return str(options.get("tokenizer", usual))


def tokenizer_named(name: str) -> Tokenizer:
    """The tokenizer of that name."""
    if name not in TOKENIZERS:
        raise SettingsError(f"found tokenizer {name!r}, expected one of {', '.join(TOKENIZERS)}")
    return TOKENIZERS[name]
