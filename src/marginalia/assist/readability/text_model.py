"""The model of whole texts: how difficult each is, 0 to 100."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .regression import Features, Ridge

LEVEL_MARKS = {"beginner": 25.0, "intermediate": 50.0, "advanced": 75.0}
"""What texts written for readers of each level score."""


@dataclass(frozen=True)
class TextModel:
    """A regression from features of a text to its difficulty; `temperature` is what differences are divided
    by to be log odds."""

    ridge: Ridge
    temperature: float

    def difficulty(self, text: Features) -> float:
        """0 to 100: texts for beginners are about 25, for intermediate readers 50, for advanced ones 75."""
        return min(100.0, max(0.0, self.ridge.predict(text)))

    def score(self, left: Features, right: Features) -> float:
        """How much easier the left text is, in [-1, 1]."""
        return math.tanh((self.ridge.predict(right) - self.ridge.predict(left)) / (2 * self.temperature))

    def about(self) -> dict[str, Any]:
        """All but the terms, ready for JSON."""
        return {"intercept": self.ridge.intercept, "temperature": self.temperature}

    @classmethod
    def of(cls, about: Mapping[str, Any], lines: Sequence[str]) -> TextModel:
        """The inverse of `about` and the lines of its terms."""
        temperature = float(about["temperature"])
        if not temperature > 0:
            raise ValueError("the temperature of texts is not positive")
        return cls(Ridge.of_lines(lines, about["intercept"]), temperature)
