"""Write core/base/unicode_tables.inc from Python's unicodedata; run again only for a newer Unicode.

    python tools/make_unicode_tables.py > core/base/unicode_tables.inc

Kinds follow the general category: upper (Lu, Lt), lower (Ll), letter (Lm, Lo), mark (M*), digit (Nd),
punct (P*, S*), space (Z*, and the controls that Python's str.isspace accepts), other (the rest).
Scripts follow the character's name, for letters and marks; the Chinese numerals below are apart.
A range is stored as first code point << 8 | script << 4 | kind, numbered as in core/base/unicode.hpp.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator

KINDS = ["other", "upper", "lower", "letter", "mark", "digit", "punct", "space"]
SCRIPTS = ["none", "han", "hiragana", "katakana", "hangul", "latin", "greek", "cyrillic", "cjk_digit"]
CJK_DIGITS = "〇零一二三四五六七八九十百千万萬亿億兆两兩"
IDEOGRAPHS = "々〆"  # letters that stand for ideographs, without the name of one
SCRIPT_OF_NAME = {
    "CJK UNIFIED IDEOGRAPH": "han",
    "CJK COMPATIBILITY IDEOGRAPH": "han",
    "HIRAGANA": "hiragana",
    "KATAKANA": "katakana",
    "HALFWIDTH KATAKANA": "katakana",
    "HANGUL": "hangul",
    "HALFWIDTH HANGUL": "hangul",
    "LATIN": "latin",
    "FULLWIDTH LATIN": "latin",
    "GREEK": "greek",
    "CYRILLIC": "cyrillic",
}


def kind(char: str) -> str:
    """The kind of a character, as named in core/base/unicode.hpp."""
    category = unicodedata.category(char)
    if char.isspace():
        return "space"
    exact = {"Lu": "upper", "Lt": "upper", "Ll": "lower", "Nd": "digit"}
    major = {"L": "letter", "M": "mark", "P": "punct", "S": "punct", "Z": "space"}
    return exact.get(category) or major.get(category[0], "other")


def script(char: str) -> str:
    """The script of a letter or mark; "none" for everything else and for all other scripts."""
    if char in CJK_DIGITS:
        return "cjk_digit"
    if char in IDEOGRAPHS:
        return "han"
    if unicodedata.category(char)[0] not in "LM":
        return "none"
    name = unicodedata.name(char, "")
    return next((value for key, value in SCRIPT_OF_NAME.items() if name.startswith(key)), "none")


def lower(char: str) -> str:
    """Lower case of a character as one character (only U+0130 has a longer one: its base is taken)."""
    return char.lower()[0]


def class_ranges() -> Iterator[int]:
    """The ranges in which neither kind nor script changes, packed."""
    previous = None
    for code in range(sys.maxunicode + 1):
        current = kind(chr(code)), script(chr(code))
        if current != previous:
            yield code << 8 | SCRIPTS.index(current[1]) << 4 | KINDS.index(current[0])
        previous = current


def lower_ranges() -> Iterator[tuple[int, int, int, int]]:
    """(first, last, step, delta): the lower case of each `step`-th code point lies `delta` further on."""
    run: tuple[int, int, int, int] | None = None
    for code in range(sys.maxunicode + 1):
        delta = ord(lower(chr(code))) - code
        if delta == 0:
            continue
        if run and run[3] == delta and code - run[1] in ((1, 2) if run[0] == run[1] else (run[2],)):
            run = run[0], code, code - run[1], delta
            continue
        if run:
            yield run
        run = code, code, 1, delta
    if run:
        yield run


def rows(items: list[str]) -> Iterator[str]:
    """The items in lines of at most 110 characters."""
    line = " "
    for item in items:
        if len(line) + len(item) > 108:
            yield line
            line = " "
        line += f" {item},"
    yield line


def main() -> None:
    """Print both tables as C++ initialisers."""
    classes = [f"0x{packed:X}" for packed in class_ranges()]
    lowers = [f"{{0x{first:X}, 0x{last:X}, {step}, {delta}}}" for first, last, step, delta in lower_ranges()]
    print(f"// Unicode {unicodedata.unidata_version}; written by tools/make_unicode_tables.py.")
    print("constexpr std::uint32_t kRanges[] = {", *rows(classes), "};", sep="\n")
    print("constexpr LowerRange kLowers[] = {", *rows(lowers), "};", sep="\n")


if __name__ == "__main__":
    main()
