"""The model of whole texts: how difficult each is, 0 to 100, and which school grade that is about."""

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
    by to be log odds, `grade` the line from difficulty to what school-grade formulas say of such texts."""

    ridge: Ridge
    temperature: float
    grade: tuple[float, float]

    def difficulty(self, text: Features) -> float:
        """0 to 100: texts for beginners are about 25, for intermediate readers 50, for advanced ones 75."""
        return min(100.0, max(0.0, self.ridge.predict(text)))

    def school_grade(self, text: Features) -> float:
        """The school grade (US) in which texts that difficult are read, 1 or more."""
        start, slope = self.grade
        return max(1.0, start + slope * self.difficulty(text))

    def score(self, left: Features, right: Features) -> float:
        """How much easier the left text is, in [-1, 1]."""
        return math.tanh((self.ridge.predict(right) - self.ridge.predict(left)) / (2 * self.temperature))

    def about(self) -> dict[str, Any]:
        """All but the terms, ready for JSON."""
        return {"intercept": self.ridge.intercept, "temperature": self.temperature, "grade": list(self.grade)}

    @classmethod
    def of(cls, about: Mapping[str, Any], lines: Sequence[str]) -> TextModel:
        """The inverse of `about` and the lines of its terms."""
        start, slope = map(float, about["grade"])
        temperature = float(about["temperature"])
        if not temperature > 0:
            raise ValueError("the temperature of texts is not positive")
        return cls(Ridge.of_lines(lines, about["intercept"]), temperature, (start, slope))
