"""Global features in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

_OF_TYPES = re.compile(r"([\w-]+?)(/length)?\(([^,()]*),([^,()]*)(?:,([123]\+?))?\)")
_TYPED = re.compile(r"([A-Z]+2?)([01]{2,3})?\(([^()]*)\)=(.*)", re.DOTALL)
_QUOTED = re.compile(r"(QF?2?)=(.*)", re.DOTALL)

_PAIRS = {
    "same": "a string is {a} here and {b} there",
    "sub": "a string is {a}, and {b} where it is part of a longer mention",
    "majority": "a mention is {a} where most others of its string are {b}",
    "token-majority": "a word is in {a} where most others of it are in {b}",
    "super-majority": "a mention is {a} where most longer ones that contain it are {b}",
    "conjunction": "{a} and {b} are joined by commas or conjunctions",
}
_MENTIONS = {
    "WE": "a mention of {type} is '{text}'",
    "FF": "a mention of {type} has the shapes '{text}'",
    "GF": "a mention of {type} has the shapes and flags '{text}'",
    "LW": "a mention of {type} ends with '{text}'",
    "LWLC": "the last word of a mention of {type} {lower} in lower case",
    "BO": "around the start of a mention of {type}: '{text}'",
    "BE": "around the end of a mention of {type}: '{text}'",
    "TO": "around the start of a mention of {type}: '{text}'",
    "TO2": "around the start of a mention of {type}: '{text}'",
    "TE": "around the end of a mention of {type}: '{text}'",
    "TE2": "around the end of a mention of {type}: '{text}'",
    "PF": "a mention of {type} begins with the shapes '{text}'",
    "PF2": "a mention of {type} begins with the shapes and flags '{text}'",
    "SF": "a mention of {type} ends, read backwards, with the shapes '{text}'",
    "SF2": "a mention of {type} ends, read backwards, with the shapes and flags '{text}'",
}


def global_words(feature: str, times: Sequence[float]) -> str:
    """A global feature as a person would say it, and how often the two outputs have it."""
    return f"{_words(feature)} ({times[0]:g} times, not {times[1]:g})"


def _words(feature: str) -> str:
    if (found := _OF_TYPES.fullmatch(feature)) is not None and found[1] in _PAIRS:
        said = _PAIRS[found[1]].format(a=found[3], b="no mention" if found[4] == "O" else found[4])
        tokens = "" if found[5] is None else f", of {found[5]} token{'' if found[5] == '1' else 's'}"
        return said + tokens
    if (found := _TYPED.fullmatch(feature)) is not None and found[1] in _MENTIONS:
        lower = "is" if found[4] == "1" else "is not"
        return _MENTIONS[found[1]].format(type=found[3], text=found[4], lower=lower)
    if (found := _QUOTED.fullmatch(feature)) is not None:
        return f"a quotation with '{found[2]}' ({found[1]})"
    return f"the feature '{feature}'"
