"""Readability formulas, as they were published, of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt

from .counts import Counts


@dataclass(frozen=True)
class Formula:
    """A formula: its name, what its number means, its definition in words, and the function."""

    name: str
    scale: str
    definition: str
    of: Callable[[Counts], float]


def _per(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _flesch(c: Counts) -> float:
    return 206.835 - 1.015 * _per(c.words, c.sentences) - 84.6 * _per(c.syllables, c.words)


def _flesch_kincaid(c: Counts) -> float:
    return 0.39 * _per(c.words, c.sentences) + 11.8 * _per(c.syllables, c.words) - 15.59


def _dale_chall(c: Counts) -> float:
    share = 100 * _per(c.unfamiliar, c.words)
    return 0.1579 * share + 0.0496 * _per(c.words, c.sentences) + (3.6365 if share > 5 else 0.0)


def _fog(c: Counts) -> float:
    return 0.4 * (_per(c.words, c.sentences) + 100 * _per(c.complex_words, c.words))


def _smog(c: Counts) -> float:
    return 1.0430 * sqrt(30 * _per(c.polysyllables, c.sentences)) + 3.1291


def _ari(c: Counts) -> float:
    return 4.71 * _per(c.characters, c.words) + 0.5 * _per(c.words, c.sentences) - 21.43


def _coleman_liau(c: Counts) -> float:
    return 5.88 * _per(c.letters, c.words) - 29.6 * _per(c.sentences, c.words) - 15.8


GRADE = "school grade (US)"
FORMULAS = (
    Formula(
        "flesch",
        "0 (hard) to 100 (easy)",
        "206.835 - 1.015 words/sentences - 84.6 syllables/words (Flesch 1948)",
        _flesch,
    ),
    Formula(
        "flesch-kincaid",
        GRADE,
        "0.39 words/sentences + 11.8 syllables/words - 15.59 (Kincaid et al. 1975)",
        _flesch_kincaid,
    ),
    Formula(
        "dale-chall",
        "4.9 or less: grade 4; 10 or more: college",
        "15.79 unfamiliar/words + 0.0496 words/sentences, + 3.6365 if more than 5 % are unfamiliar (Chall "
        "and Dale 1995); familiar are words of a frequency of our own choice, not those of their list",
        _dale_chall,
    ),
    Formula(
        "gunning-fog", GRADE, "0.4 (words/sentences + 100 complex words/words) (Gunning 1952)", _fog
    ),
    Formula(
        "smog", GRADE, "1.0430 sqrt(30 polysyllables/sentences) + 3.1291 (McLaughlin 1969)", _smog
    ),
    Formula(
        "ari",
        GRADE,
        "4.71 letters and digits/words + 0.5 words/sentences - 21.43 (Senter and Smith 1967)",
        _ari,
    ),
    Formula(
        "coleman-liau",
        GRADE,
        "5.88 letters/words - 29.6 sentences/words - 15.8 (Coleman and Liau 1975)",
        _coleman_liau,
    ),
)  # fmt: skip


def formula_scores(counts: Counts) -> dict[str, float]:
    """The number of each formula; all are 0 for a text without words."""
    if not counts.words:
        return {formula.name: 0.0 for formula in FORMULAS}
    return {formula.name: formula.of(counts) for formula in FORMULAS}


@dataclass(frozen=True)
class JapaneseCounts:
    """Counts of a Japanese text, without punctuation.

    `sino_japanese` and `native` words are told apart by their script, since parsers do not know where words
    come from: nouns of kanji alone are Sino-Japanese; other words with a kanji or of hiragana are native.
    """

    sentences: int
    words: int
    sino_japanese: int
    native: int
    verbs: int
    particles: int

    def to_dict(self) -> dict[str, int]:
        """All counts by name."""
        return asdict(self)


JREADABILITY_LEVELS = (
    (1.5, "upper advanced"),
    (2.5, "lower advanced"),
    (3.5, "upper intermediate"),
    (4.5, "lower intermediate"),
    (5.5, "upper elementary"),
)


def jreadability(c: JapaneseCounts) -> float:
    """jReadability (Lee and Hasebe): 6.5 is lower elementary, 0.5 upper advanced; 0 without words."""
    if not c.words:
        return 0.0
    shares = 12.6 * c.sino_japanese + 4.2 * c.native + 14.5 * c.verbs + 4.4 * c.particles
    return 11.724 - 0.056 * _per(c.words, c.sentences) - shares / c.words


def jreadability_level(score: float) -> str:
    """The level that a score of jReadability stands for."""
    return next((name for limit, name in JREADABILITY_LEVELS if score < limit), "lower elementary")
