"""Attributes by Python's own means: slow, obvious, independent of the core."""

from __future__ import annotations

import itertools
import re
import unicodedata

CJK_DIGITS = "〇零一二三四五六七八九十百千万萬亿億兆两兩"
SCRIPTS = {
    "han": ("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH"),
    "hiragana": ("HIRAGANA",),
    "katakana": ("KATAKANA", "HALFWIDTH KATAKANA"),
    "hangul": ("HANGUL", "HALFWIDTH HANGUL"),
    "latin": ("LATIN", "FULLWIDTH LATIN"),
    "greek": ("GREEK",),
    "cyrillic": ("CYRILLIC",),
}


def upper(c: str) -> bool:
    return unicodedata.category(c) in ("Lu", "Lt")


def lower(c: str) -> bool:
    return unicodedata.category(c) == "Ll"


def digit(c: str) -> bool:
    return unicodedata.category(c) == "Nd"


def letter(c: str) -> bool:
    return unicodedata.category(c)[0] == "L"


def mark(c: str) -> bool:
    return unicodedata.category(c)[0] == "M"


def punct(c: str) -> bool:
    return unicodedata.category(c)[0] in "PS"


def hyphen(c: str) -> bool:
    return c in "-\u2010\u2011"


CLASSES = {
    "a": lambda c: letter(c) or mark(c),
    "d": digit,
    "l": lower,
    "p": punct,
    "s": str.isspace,
    "u": upper,
    "w": lambda c: letter(c) or mark(c) or digit(c),
}

HAS = {"digit": digit, "upper": upper, "hyphen": hyphen}

IS = {
    "two-digits": lambda t: len(t) == 2 and all(map(digit, t)),
    "four-digits": lambda t: len(t) == 4 and all(map(digit, t)),
    "digits-letters": lambda t: any(map(digit, t)) and any(map(letter, t)),
    "digits-dash": lambda t: any(map(digit, t)) and any(map(hyphen, t)),
    "digits-slash": lambda t: any(map(digit, t)) and "/" in t,
    "digits-comma": lambda t: any(map(digit, t)) and "," in t,
    "digits-period": lambda t: any(map(digit, t)) and "." in t,
    "number": lambda t: t != "" and all(map(digit, t)),
    "initial-cap": lambda t: t != "" and upper(t[0]),
    "all-caps": lambda t: t != "" and all(map(upper, t)),
    "lower-case": lambda t: t != "" and all(map(lower, t)),
    "cap-period": lambda t: len(t) == 2 and upper(t[0]) and t[1] == ".",
}


def lowered(text: str) -> str:
    return "".join(c.lower()[0] for c in text)


def usual_width(c: str) -> str:
    form = unicodedata.decomposition(c).split()
    return chr(int(form[1], 16)) if form and form[0] in ("<wide>", "<narrow>") else c


def shape(text: str) -> str:
    def of(c: str) -> str:
        if upper(c):
            return "X"
        if lower(c):
            return "x"
        return "c" if letter(c) else "d" if digit(c) else c

    return "".join(of(c) for c in text if not mark(c))


def char_class(c: str) -> str:
    if c in CJK_DIGITS:
        return "cjk-digit"
    if c in "々〆":
        return "han"
    name = unicodedata.name(c, "")
    if letter(c) or mark(c):
        for script, beginnings in SCRIPTS.items():
            if name.startswith(beginnings):
                return script
    if c.isspace():
        return "space"
    return "letter" if letter(c) else "digit" if digit(c) else "punct" if punct(c) else "other"


def python_regex(pattern: str, text: str) -> str:
    """The expression in Python's syntax, with classes spelled out for the characters of this text."""
    result = r"\A" if pattern.startswith("^") else ""
    rest = pattern.removeprefix("^")
    while rest:
        if rest == "$":
            return result + r"\Z"
        item = rest[:2] if rest[0] == "\\" else rest[0]
        rest = rest[len(item) :]
        result += _item(item, text)
        if rest[:1] in ("*", "?") and rest:
            result += {"*": "*?", "?": "?"}[rest[0]]
            rest = rest[1:]
    return result


def _item(item: str, text: str) -> str:
    if item == ".":
        return r"[\s\S]"
    if item[0] != "\\" or item[1].lower() not in CLASSES:
        return re.escape(item[-1])
    holds = CLASSES[item[1].lower()]
    members = {c for c in text if bool(holds(c)) == item[1].islower()}
    return "[" + "".join(map(re.escape, sorted(members))) + "]" if members else "(?!)"


def found(pattern: str, text: str) -> str | None:
    match = re.search(python_regex(pattern, text), text)
    return match[0] if match else None


def evaluate(function: str, argument: str, value: str) -> str | None:
    """What `_core.evaluate_attribute` must say."""
    if function.endswith(("prefix", "suffix")):
        n = int(argument)
        value = lowered(value) if function.startswith("lower-") else value
        return (
            None if len(value) < n else value[:n] if function.endswith("prefix") else value[len(value) - n :]
        )
    if function in ("has", "is"):
        holds = any(map(HAS[argument], value)) if function == "has" else IS[argument](value)
        return "1" if holds else None
    return {
        "column": lambda: value,
        "lower": lambda: lowered(value),
        "width": lambda: "".join(map(usual_width, value)),
        "nfkc": lambda: unicodedata.normalize("NFKC", value),
        "shape": lambda: shape(value),
        "collapsed-shape": lambda: "".join(c for c, _ in itertools.groupby(shape(value))),
        "char-class": lambda: char_class(value[0]) if value else None,
        "test": lambda: "false" if found(argument, value) is None else "true",
        "match": lambda: found(argument, value) or "",
        "lower-match": lambda: lowered(found(argument, value) or ""),
    }[function]()
