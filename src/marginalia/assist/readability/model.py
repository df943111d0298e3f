"""Models of readability: how much easier one sentence is than another, and how difficult each is.

A model has weights of two kinds. Those of sentences say how much easier one is that has a feature; those of
pairs also know how the two differ in words. Of a pair only what one side has alone counts, so comparing b
with a gives exactly minus what comparing a with b gives.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ...errors import ModelError, SettingsError
from ...model.bundle import Bundle
from ..records import Plain, Reason
from .changes import changes, is_change, why_change
from .evidence import WORD, Evidence, by_family, family_of, is_plain, triple, why_feature
from .features import LANGUAGES, SHIPPED
from .ratings import verdict_of
from .text_model import TextModel

if TYPE_CHECKING:
    from ...model.saved import SavedModel

TASK = "readability"
PAIRS, SENTENCES, MEANS, TEXTS = "pairs", "sentences", "means", "texts"
_MOST_REASONS, _LEAST_REASON = 8, 0.1


@dataclass(frozen=True)
class Comparison(Plain):
    """How two sentences (or two texts) compare. `score` is in [-1, 1], positive where the left one is easier;
    `verdict` is left, right or comparable (|score| is below `threshold`). The weight of a reason is positive
    where it speaks for the left one; `side` has the feature."""

    score: float
    verdict: str
    threshold: float
    reasons: tuple[SideReason, ...] = ()


@dataclass(frozen=True)
class SideReason(Plain):
    """A feature that one of two sentences has alone, and how much it speaks for the left one."""

    name: str
    text: str
    weight: float
    side: str


@dataclass(frozen=True)
class ReadabilityModel:
    """Weights of features, and what makes scores of them.

    `texts` is for whole texts, if it was trained on such, too.
    `temperature` is what differences of pairs are divided by to be log odds; `threshold` is θ; `levels` have
    the mean and the standard deviation of ease of sentences written for readers of each level; `means` what
    the features of a family add to the ease of a sentence of the data on average.
    """

    pairs: SavedModel = field(repr=False)
    sentences: SavedModel = field(repr=False)
    language: str
    temperature: float
    threshold: float
    levels: Mapping[str, tuple[float, float]]
    means: Mapping[str, float] = field(repr=False)
    texts: TextModel | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def pair_weights(self) -> dict[str, float]:
        """The weight of each feature that one side of a pair has alone: positive is easier."""
        return weights_of(self.pairs)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each feature of a sentence: positive is easier."""
        return weights_of(self.sentences)

    def score(self, left: Evidence, right: Evidence) -> float:
        """How much easier the left sentence is, in [-1, 1]: P(left is easier) - P(right is easier)."""
        first, second = (self._ease(side) for side in sides(left, right))
        return math.tanh((first - second) / (2 * self.temperature))

    def _ease(self, side: Mapping[str, float]) -> float:
        weights = self.pair_weights
        return math.fsum(weights[name] * value for name, value in side.items() if name in weights)

    def compare(self, left: Evidence, right: Evidence) -> Comparison:
        """The score of two sentences with the verdict and the reasons, the weightiest first."""
        score = self.score(left, right)
        reasons: list[SideReason] = []
        for side, own, sign in zip(("left", "right"), sides(left, right), (1, -1), strict=True):
            terms = {name: self.pair_weights.get(name, 0.0) * value for name, value in own.items()}
            for name, weight in self._families(terms, sign / self.temperature):
                reasons.append(SideReason(name, why(self.language, name), weight, side))
        reasons.sort(key=lambda one: (-abs(one.weight), one.name, one.side))
        verdict = verdict_of(score, self.threshold)
        return Comparison(score, verdict, self.threshold, tuple(reasons[:_MOST_REASONS]))

    def ease(self, sentence: Evidence) -> float:
        """The sum of the weights of what a sentence has."""
        weights = self.weights
        return math.fsum(weights[name] for name in sentence.features if name in weights)

    def difficulty(self, sentence: Evidence, level: str) -> float:
        """How difficult a sentence is for readers of a level, 0 to 100: about how many percent of the
        sentences written for them are easier."""
        if level not in self.levels:
            raise SettingsError(f"found level {level!r}, expected one of {', '.join(self.levels)}")
        mean, deviation = self.levels[level]
        return 50 * math.erfc((self.ease(sentence) - mean) / (deviation * math.sqrt(2)))

    def reasons(self, sentence: Evidence) -> tuple[Reason, ...]:
        """What makes a sentence harder than most, the weightiest first."""
        terms = {name: self.weights.get(name, 0.0) for name in sentence.features}
        reasons = []
        for name, weight in self._families(terms, -1.0):
            beyond = weight + self.means.get(family_of(name), 0.0)
            if weight > 0 and beyond > _LEAST_REASON:
                words = (name.removeprefix(WORD),) if name.startswith(WORD) else ()
                reasons.append(Reason(name, why(self.language, name), beyond, words))
        reasons.sort(key=lambda one: (-one.weight, one.name))
        return tuple(reasons[:_MOST_REASONS])

    def _families(self, terms: Mapping[str, float], factor: float) -> Iterator[tuple[str, float]]:
        """Sums of the terms of families, by the highest threshold of each; words that everybody knows are no
        reasons."""
        for members in by_family(terms).values():
            weight = factor * math.fsum(terms[name] for name in members)
            if weight and not is_plain(members[-1], self.language):
                yield members[-1], weight

    def bundle(self) -> Bundle:
        """The model as a file has it."""
        about = {
            **self.about,
            "task": TASK,
            "language": self.language,
            "temperature": self.temperature,
            "threshold": self.threshold,
            "levels": {name: list(values) for name, values in self.levels.items()},
        }
        tables = {MEANS: tuple(f"{name}\t{mean:.6g}" for name, mean in sorted(self.means.items()))}
        if self.texts is not None:
            about[TEXTS], tables[TEXTS] = self.texts.about(), self.texts.ridge.lines()
        return Bundle({PAIRS: self.pairs, SENTENCES: self.sentences}, tables, about)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, all of it or nothing."""
        self.bundle().save(path)


def load_model(path: str | os.PathLike[str]) -> ReadabilityModel:
    """The model of a file; a ModelError if it is none of readability, or damaged."""
    try:
        return of_bundle(Bundle.load(path))
    except ModelError as error:
        raise ModelError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None


def of_bundle(bundle: Bundle) -> ReadabilityModel:
    """The model of what was in a file."""
    about = dict(bundle.about)
    if about.pop("task", None) != TASK:
        raise ModelError(
            "this is no model of readability; expected what `marginalia readability --train` makes."
        )
    try:
        language, temperature, threshold = (
            about.pop(key) for key in ("language", "temperature", "threshold")
        )
        levels = {str(name): _mean_and_deviation(values) for name, values in about.pop("levels").items()}
        means = {name: float(mean) for name, mean in (line.split("\t") for line in bundle.tables[MEANS])}
        if language not in LANGUAGES or not temperature > 0 or not 0 <= threshold <= 1:
            raise ValueError("a setting is out of its bounds")
        texts = TextModel.of(about.pop(TEXTS), bundle.tables[TEXTS]) if TEXTS in about else None
        pairs, sentences = bundle.parts[PAIRS], bundle.parts[SENTENCES]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelError(f"the model's description is damaged: {what}") from error
    return ReadabilityModel(pairs, sentences, language, temperature, threshold, levels, means, texts, about)


def _mean_and_deviation(values: Any) -> tuple[float, float]:
    mean, deviation = map(float, values)
    if not (math.isfinite(mean) and 0 < deviation < math.inf):
        raise ValueError("a level has no deviation")
    return mean, deviation


def weights_of(saved: SavedModel) -> dict[str, float]:
    """The weights of a model of candidates, by name."""
    names = saved.feature_names() or []
    return {name: float(saved.cells(row)[1].sum()) for row, name in enumerate(names) if name}


def sides(left: Evidence, right: Evidence) -> tuple[dict[str, float], dict[str, float]]:
    """What each side of a pair has alone: its features, and how its words differ from those of the other."""
    _, own_left, own_right = triple(left, right)
    first, second = changes(left, right)
    return dict.fromkeys(own_left, 1.0) | first, dict.fromkeys(own_right, 1.0) | second


def why(language: str, name: str) -> str:
    """What a name means, for a teacher."""
    return why_change(name) if is_change(name) else why_feature(language, name)


@cache
def shipped_model(language: str) -> ReadabilityModel:
    """The model that ships for a language."""
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    return load_model(SHIPPED / language / "readability.mg")
