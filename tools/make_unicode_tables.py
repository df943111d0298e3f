"""Write the tables of core/base from Python's unicodedata; run again only for a newer Unicode.

    python tools/make_unicode_tables.py

`unicode_tables.inc`: kinds, scripts and lower case.
Kinds follow the general category: upper (Lu, Lt), lower (Ll), letter (Lm, Lo), mark (M*), digit (Nd),
punct (P*, S*), space (Z*, and the controls that Python's str.isspace accepts), other (the rest).
Scripts follow the character's name, for letters and marks; the Chinese numerals below are apart.
A range is stored as first code point << 8 | script << 4 | kind, numbered as in core/base/unicode.hpp.
`normalization_tables.inc`: usual widths (of characters whose decomposition is <wide> or <narrow>), and what
NFKC needs: whole compatibility decompositions, combining classes, pairs that compose. Hangul syllables are
left to arithmetic.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "core" / "base"
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


def usual_width(char: str) -> str:
    """The character that a wide or narrow form stands for, or itself."""
    form, _, rest = unicodedata.decomposition(char).partition(" ")
    return chr(int(rest, 16)) if form in ("<wide>", "<narrow>") else char


def mapped_ranges(change: Callable[[str], str]) -> Iterator[tuple[int, int, int, int]]:
    """(first, last, step, delta): what each `step`-th code point becomes lies `delta` further on."""
    run: tuple[int, int, int, int] | None = None
    for code in range(sys.maxunicode + 1):
        delta = ord(change(chr(code))) - code
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


def decompositions() -> Iterator[tuple[int, str]]:
    """The whole compatibility decompositions of characters that have one."""
    for code in range(sys.maxunicode + 1):
        whole = unicodedata.normalize("NFKD", chr(code))
        if whole != chr(code) and not unicodedata.name(chr(code), "").startswith("HANGUL SYLLABLE"):
            yield code, whole


def combining_ranges() -> Iterator[tuple[int, int, int]]:
    """(first, last, class) of characters with a combining class that is not 0."""
    run: tuple[int, int, int] | None = None
    for code in range(sys.maxunicode + 2):
        own = unicodedata.combining(chr(code)) if code <= sys.maxunicode else 0
        if run and run[2] == own:
            run = run[0], code, own
            continue
        if run and run[2]:
            yield run
        run = code, code, own


def composites() -> list[tuple[int, int, int]]:
    """(first, second, whole): the pairs that compose, sorted."""
    found = []
    for code in range(sys.maxunicode + 1):
        pair = unicodedata.decomposition(chr(code)).split()
        if len(pair) == 2 and not pair[0].startswith("<"):
            first, second = (int(one, 16) for one in pair)
            if unicodedata.normalize("NFC", chr(first) + chr(second)) == chr(code):  # else it is excluded
                found.append((first, second, code))
    return sorted(found)


def rows(items: list[str]) -> Iterator[str]:
    """The items in lines of at most 110 characters."""
    line = " "
    for item in items:
        if len(line) + len(item) > 108:
            yield line
            line = " "
        line += f" {item},"
    yield line


def table(declaration: str, items: list[str]) -> str:
    """A table as a C++ array."""
    return "\n".join([f"constexpr {declaration}[] = {{", *rows(items), "};\n"])


def mapped_table(name: str, change: Callable[[str], str]) -> str:
    """A map of characters as a C++ array."""
    ranges = mapped_ranges(change)
    items = [f"{{0x{first:X}, 0x{last:X}, {step}, {delta}}}" for first, last, step, delta in ranges]
    return table(f"MappedRange {name}", items)


def header() -> str:
    """The first line of each file."""
    return f"// Unicode {unicodedata.unidata_version}; written by tools/make_unicode_tables.py.\n"


def class_tables() -> str:
    """The text of unicode_tables.inc."""
    packed = [f"0x{one:X}" for one in class_ranges()]
    return header() + table("std::uint32_t kRanges", packed) + mapped_table("kLowers", lower)


def normalization_tables() -> str:
    """The text of normalization_tables.inc."""
    entries, text = [], ""
    for code, whole in decompositions():
        at = text.find(whole)
        if at < 0:
            at, text = len(text), text + whole
        entries.append(f"{{0x{code:X}, {at}, {len(whole)}}}")
    marks = [f"{{0x{first:X}, 0x{last:X}, {own}}}" for first, last, own in combining_ranges()]
    pairs = [f"{{0x{first:X}, 0x{second:X}, 0x{whole:X}}}" for first, second, whole in composites()]
    return "".join(
        [
            header(),
            mapped_table("kWidths", usual_width),
            table("char32_t kDecomposed", [f"0x{ord(char):X}" for char in text]),
            table("Decomposition kDecompositions", entries),
            table("ClassRange kClasses", marks),
            table("Composite kComposites", pairs),
        ]
    )


FILES = {"unicode_tables.inc": class_tables, "normalization_tables.inc": normalization_tables}


def main() -> None:
    """Write all files."""
    for name, text in FILES.items():
        (FOLDER / name).write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
