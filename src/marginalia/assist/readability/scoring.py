"""Readability of texts: how difficult one is, for which school grade, and where; two compared."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import DataError, SettingsError
from ..languages import LANGUAGES, language_of
from ..parses import cleaned, parses
from ..profile import LEVELS
from ..records import Plain, Reason
from ..trees import Tree, trees_of
from ..words.familiarity import kanji_grade, zipf
from .comparing import compare_sentences
from .counts import count
from .evidence import evidence
from .formulas import JapaneseCounts, formula_scores, jreadability
from .model import Comparison, ReadabilityModel, shipped_model
from .ratings import verdict_of
from .texts import signals, text_features

if TYPE_CHECKING:
    from ...corpus.document import ParsedSentence

FAMILIAR = 4.0  # words of this frequency (Zipf) and more are familiar to the Dale-Chall-like formula
_FEW = 3  # sentences: as many or fewer are compared as paraphrases, more as texts
_HARDEST = 5
_SURE = 0.9  # a score of texts below this means that they are comparable
_ENOUGH = 10  # sentences: then the model of texts and the mean of sentences count the same
GRADES = ("flesch-kincaid", "gunning-fog", "smog", "ari", "coleman-liau", "kanji grade")
_LEARNED = 0.95  # of the words with kanji: learned up to the grade of a Japanese text


@dataclass(frozen=True)
class SentenceScore(Plain):
    """A sentence of a text, its number (from 1 on), difficulty for the reader and reasons."""

    number: int
    text: str
    difficulty: float
    reasons: tuple[Reason, ...]


@dataclass(frozen=True)
class TextScore(Plain):
    """How difficult a text is: 0 (easy) to 100 (hard), the school grade that it is for, what formulas say,
    what holds it together, and its hardest sentences."""

    language: str
    level: str
    sentences: int
    difficulty: float
    grade: float
    formulas: dict[str, float]
    signals: dict[str, float]
    hardest: tuple[SentenceScore, ...]


def score(
    text: str, *, language: str = "", level: str = LEVELS[1], model: ReadabilityModel | None = None
) -> TextScore:
    """How difficult a text is for readers of a level."""
    language = language or (model.language if model else language_of(text))
    model = _fitting(model, language)
    sentences = _sentences(text, language)
    trees = trees_of(sentences, language)
    scored = [_scored(place, tree, model, level) for place, tree in enumerate(trees, 1)]
    hardest = sorted(scored, key=lambda one: -one.difficulty)[:_HARDEST]
    formulas = formulas_of(sentences, language)
    difficulty, grade = _of_text(trees, scored, formulas, model)
    return TextScore(language, level, len(trees), difficulty, grade, formulas, signals(trees), tuple(hardest))


def compare(
    left: str, right: str, *, language: str = "", model: ReadabilityModel | None = None
) -> Comparison:
    """How two paraphrases, or two texts, compare: the score in [-1, 1] is positive if left is easier."""
    language = language or (model.language if model else language_of(f"{left} {right}"))
    model = _fitting(model, language)
    first, second = (_sentences(text, language) for text in (left, right))
    if max(len(first), len(second)) <= _FEW:
        return compare_sentences(first, second, language, model)
    return _compared([trees_of(one, language) for one in (first, second)], model)


def _fitting(model: ReadabilityModel | None, language: str) -> ReadabilityModel:
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    if model is not None and model.language != language:
        raise SettingsError(f"the model is of the language {model.language!r}, the text of {language!r}")
    return model or shipped_model(language)


def _sentences(text: str, language: str) -> list[ParsedSentence]:
    (sentences,) = parses(language).parse([cleaned(text)])
    if not any(word.upos not in ("PUNCT", "SYM") for one in sentences for word in one.words):
        raise DataError("found no words, expected a text")
    return sentences


def _scored(number: int, tree: Tree, model: ReadabilityModel, level: str) -> SentenceScore:
    seen = evidence([tree])
    return SentenceScore(number, tree.text, model.difficulty(seen, level), model.reasons(seen))


def _of_text(
    trees: Sequence[Tree],
    scored: Sequence[SentenceScore],
    formulas: dict[str, float],
    model: ReadabilityModel,
) -> tuple[float, float]:
    """Difficulty and school grade. Shares of features mean little in short texts, so the model of texts, if
    there is one, counts as much as there are sentences, beside the mean of their difficulties."""
    mean = sum(one.difficulty for one in scored) / len(scored)
    grade = school_grade(formulas)
    if model.texts is None:
        return mean, grade
    known = len(trees) / (len(trees) + _ENOUGH)
    return known * model.texts.difficulty(text_features(trees)) + (1 - known) * mean, grade


def _compared(texts: Sequence[Sequence[Tree]], model: ReadabilityModel) -> Comparison:
    if model.texts is not None:
        left, right = map(text_features, texts)
        score = model.texts.score(left, right)
    else:
        eases = [sum(model.ease(evidence([tree])) for tree in text) / len(text) for text in texts]
        score = math.tanh((eases[0] - eases[1]) / 2)
    return Comparison(score, verdict_of(score, _SURE), _SURE)


def formulas_of(sentences: Sequence[ParsedSentence], language: str) -> dict[str, float]:
    """What the formulas of a language say of parsed sentences, by their names."""
    if language == "en":
        return formula_scores(count(sentences, is_familiar))
    trees = trees_of([one for one in sentences if one.words], language)
    return {"jreadability": jreadability(japanese_counts(trees)), "kanji grade": _kanji_grade(trees)}


def school_grade(formulas: Mapping[str, float]) -> float:
    """The median of the formulas that give school grades, 1 or more; in Japanese that of the kanji."""
    return max(1.0, statistics.median(formulas[name] for name in GRADES if name in formulas))


def is_familiar(word: str) -> bool:
    """Whether an English word is one that the Dale-Chall-like formula takes for known."""
    return zipf(word, "en") >= FAMILIAR


def japanese_counts(trees: Sequence[Tree]) -> JapaneseCounts:
    """What jReadability counts."""
    words = [node for tree in trees for node in tree.nodes if node.upos not in ("PUNCT", "SYM")]
    sino = [node for node in words if node.upos in ("NOUN", "PROPN") and all(map(_is_kanji, node.form))]
    native = [
        node
        for node in words
        if node.upos in ("NOUN", "VERB", "ADJ", "ADV", "PRON")
        and not all(map(_is_kanji, node.form))
        and not all("\u30a0" <= sign <= "\u30ff" for sign in node.form)
    ]
    verbs = sum(node.upos == "VERB" for node in words)
    particles = sum(node.upos in ("ADP", "SCONJ", "PART", "CCONJ") for node in words)
    return JapaneseCounts(len(trees), len(words), len(sino), len(native), verbs, particles)


def _is_kanji(sign: str) -> bool:
    return "\u3400" <= sign <= "\u9fff"


def _kanji_grade(trees: Sequence[Tree]) -> float:
    """The school grade by which 95 % of the words with kanji can be read; 1 without kanji."""
    found = (kanji_grade(node.form) for tree in trees for node in tree.nodes)
    grades = sorted(grade for grade in found if grade is not None)
    return float(grades[math.ceil(_LEARNED * len(grades)) - 1]) if grades else 1.0
