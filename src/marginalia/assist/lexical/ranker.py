"""Which candidate for a word is best in its sentence: a linear model over named evidence.

`tools/make_lexical_ranker.py` learns it with our own re-ranker (`candidates`) from aligned sentences of
OneStopEnglish; what ships is its table of weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from marginalia.assist.words.packed import SHIPPED
from marginalia.assist.words.weights import read_weights

from .evidence import Choice, Features


@dataclass(frozen=True)
class Ranked:
    """A choice with its score, and how probable it is to be the best one of its list (or, if the ranker has a
    weight for that, better than leaving the word)."""

    choice: Choice
    score: float
    probability: float


KEEP = "keep"
"""The weight of leaving a word as it is, of rankers that have learned when to."""


class Ranker:
    """Weights by the names of features; those that it does not know do not count."""

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.weights = dict(weights)

    def score(self, features: Features) -> float:
        """Σ weight · value."""
        weights = self.weights
        return sum(weights.get(name, 0.0) * value for name, value in features.items())

    def ranked(self, choices: Sequence[Choice]) -> list[Ranked]:
        """The choices, the best first; equal ones by their forms."""
        scores = [self.score(choice.features) for choice in choices]
        every = [*scores, self.weights[KEEP]] if KEEP in self.weights else scores
        top = max(every, default=0.0)
        total = sum(math.exp(score - top) for score in every)
        found = (
            Ranked(choice, score, math.exp(score - top) / total)
            for choice, score in zip(choices, scores, strict=True)
        )
        return sorted(found, key=lambda one: (-one.score, one.choice.form))


def read_ranker(path: str) -> Ranker:
    """The ranker of a table of weights, as `model.export_weights` writes it for a re-ranker."""
    return Ranker(read_weights(path))


@cache
def shipped_ranker() -> Ranker:
    """The built-in ranker."""
    return read_ranker(str(SHIPPED / "en" / "lexical.weights"))
