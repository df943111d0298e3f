"""Models of readability: how much easier one sentence is than another, and how difficult each is.

A model has a weight for each feature: how much easier a sentence is that has it. Of a pair only those count
that one side alone has, so comparing b with a gives exactly minus what comparing a with b gives.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from ...errors import ModelError, SettingsError
from ...model.bundle import Bundle
from ..records import Plain, Reason
from .evidence import WORD, Evidence, by_family, family_of, is_plain, triple, why
from .features import LANGUAGES, SHIPPED
from .ratings import verdict_of

if TYPE_CHECKING:
    from ...model.saved import SavedModel

TASK = "readability"
PAIRS, MEANS = "pairs", "means"
_MOST_REASONS = 8


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

    `temperature` is what sums of weights are divided by to be log odds; `threshold` is θ; `levels` have the
    mean and the standard deviation of sentences written for readers of each level; `means` what the features
    of a family add to a sentence of the data on average.
    """

    saved: SavedModel = field(repr=False)
    language: str
    temperature: float
    threshold: float
    levels: Mapping[str, tuple[float, float]]
    means: Mapping[str, float] = field(repr=False)
    about: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each feature: positive is easier."""
        names = self.saved.feature_names() or []
        return {name: float(self.saved.cells(row)[1].sum()) for row, name in enumerate(names) if name}

    def ease(self, sentence: Evidence) -> float:
        """The sum of the weights of what a sentence has."""
        weights = self.weights
        return math.fsum(weights[name] for name in sentence if name in weights)

    def score(self, left: Evidence, right: Evidence) -> float:
        """How much easier the left sentence is, in [-1, 1]: P(left is easier) - P(right is easier)."""
        _, own_left, own_right = triple(left, right)
        return math.tanh((self.ease(own_left) - self.ease(own_right)) / (2 * self.temperature))

    def compare(self, left: Evidence, right: Evidence) -> Comparison:
        """The score of two sentences with the verdict and the reasons, the weightiest first."""
        score = self.score(left, right)
        _, own_left, own_right = triple(left, right)
        reasons = [
            *self._reasons(own_left, "left", 1 / self.temperature),
            *self._reasons(own_right, "right", -1 / self.temperature),
        ]
        reasons.sort(key=lambda one: (-abs(one.weight), one.name, one.side))
        verdict = verdict_of(score, self.threshold)
        return Comparison(score, verdict, self.threshold, tuple(reasons[:_MOST_REASONS]))

    def difficulty(self, sentence: Evidence, level: str) -> float:
        """How difficult a sentence is for readers of a level, 0 to 100: about how many percent of the
        sentences written for them are easier."""
        if level not in self.levels:
            raise SettingsError(f"found level {level!r}, expected one of {', '.join(self.levels)}")
        mean, deviation = self.levels[level]
        return 50 * math.erfc((self.ease(sentence) - mean) / (deviation * math.sqrt(2)))

    def reasons(self, sentence: Evidence) -> tuple[Reason, ...]:
        """What makes a sentence harder than most, the weightiest first."""
        reasons = []
        for one in self._reasons(sentence, "left", -1 / self.temperature):
            weight = one.weight + self.means.get(family_of(one.name), 0.0) / self.temperature
            if weight > 0 and one.weight > 0:
                words = (one.name.removeprefix(WORD),) if one.name.startswith(WORD) else ()
                reasons.append(Reason(one.name, one.text, weight, words))
        reasons.sort(key=lambda one: (-one.weight, one.name))
        return tuple(reasons[:_MOST_REASONS])

    def _reasons(self, names: Iterable[str], side: str, factor: float) -> Iterable[SideReason]:
        """A reason for each family, which has the name of its highest threshold."""
        for members in by_family(names).values():
            if is_plain(members[-1], self.language):
                continue
            weight = factor * math.fsum(self.weights.get(name, 0.0) for name in members)
            if weight:
                yield SideReason(members[-1], why(self.language, members[-1]), weight, side)

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
        means = tuple(f"{name}\t{mean:.6g}" for name, mean in sorted(self.means.items()))
        return Bundle({PAIRS: self.saved}, {MEANS: means}, about)

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
        saved = bundle.parts[PAIRS]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else error
        raise ModelError(f"the model's description is damaged: {what}") from error
    return ReadabilityModel(saved, language, temperature, threshold, levels, means, about)


def _mean_and_deviation(values: Any) -> tuple[float, float]:
    mean, deviation = map(float, values)
    if not (math.isfinite(mean) and 0 < deviation < math.inf):
        raise ValueError("a level has no deviation")
    return mean, deviation


@cache
def shipped_model(language: str) -> ReadabilityModel:
    """The model that ships for a language."""
    if language not in LANGUAGES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(LANGUAGES)}")
    return load_model(SHIPPED / language / "readability.mg")
