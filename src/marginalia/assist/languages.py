"""Which language a text is in, by its script."""

from __future__ import annotations

import re

from marginalia.errors import DataError

LANGUAGES = ("en", "ja")

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


def language_of(text: str) -> str:
    """`en` or `ja`: the one whose script most words are in; a DataError if it is neither script."""
    kana, han, latin = (len(script.findall(text)) for script in (_KANA, _HAN, _LATIN))
    if kana + han == latin == 0:
        raise DataError("found neither Latin nor Japanese script; name the language: en or ja")
    # A word has about five letters of Latin script, and two signs of Japanese.
    return "ja" if (kana + han) / 2 > latin / 5 else "en"
