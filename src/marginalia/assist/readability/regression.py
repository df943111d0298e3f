"""Ridge regression: a number from features of a text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...errors import DataError

Features = Mapping[str, float]


@dataclass(frozen=True)
class Ridge:
    """Weights of standardised features: intercept + Σ weight · (value − mean) / deviation.

    A feature that a text does not have is 0 there.
    """

    terms: Mapping[str, tuple[float, float, float]] = field(repr=False)  # mean, deviation, weight
    intercept: float

    def predict(self, features: Features) -> float:
        """The number of a text."""
        return self.intercept + math.fsum(self.shares(features).values())

    def shares(self, features: Features) -> dict[str, float]:
        """What each feature adds to the number of an average text."""
        return {
            name: weight * (features.get(name, 0.0) - mean) / deviation
            for name, (mean, deviation, weight) in self.terms.items()
        }

    def lines(self) -> tuple[str, ...]:
        """The terms as lines of a table."""
        return tuple(
            f"{name}\t{mean:.6g}\t{deviation:.6g}\t{weight:.6g}"
            for name, (mean, deviation, weight) in sorted(self.terms.items())
        )

    @classmethod
    def of_lines(cls, lines: Iterable[str], intercept: float) -> Ridge:
        """The inverse of `lines`; a ValueError if they are none."""
        terms = {}
        for line in lines:
            name, mean, deviation, weight = line.split("\t")
            terms[name] = (float(mean), float(deviation), float(weight))
            if not (all(map(math.isfinite, terms[name])) and terms[name][1] > 0):
                raise ValueError(f"the term of {name} is out of bounds")
        return cls(terms, float(intercept))


def fit_ridge(texts: Sequence[Features], targets: Sequence[float], strength: float, least: int = 2) -> Ridge:
    """The weights with the least squared error plus `strength` times their squares; features of fewer than
    `least` texts are left out."""
    if len(texts) != len(targets) or not texts:
        raise DataError(
            f"found {len(texts)} texts with {len(targets)} numbers, expected as many, at least one"
        )
    names, values = _table(texts, least)
    means, deviations = values.mean(0), values.std(0)
    known = deviations > 1e-9
    x = (values[:, known] - means[known]) / deviations[known]
    y = np.asarray(targets, np.float64)
    weights = _weights(x, y - y.mean(), strength)
    columns = zip(means[known].tolist(), deviations[known].tolist(), weights.tolist(), strict=True)
    kept = [name for name, one in zip(names, known, strict=True) if one]
    return Ridge(dict(zip(kept, columns, strict=True)), float(y.mean()))


_Table = npt.NDArray[np.float64]


def _table(texts: Sequence[Features], least: int) -> tuple[list[str], _Table]:
    counts: dict[str, int] = {}
    for text in texts:
        for name in text:
            counts[name] = counts.get(name, 0) + 1
    names = sorted(name for name, count in counts.items() if count >= least)
    place = {name: number for number, name in enumerate(names)}
    values = np.zeros((len(texts), len(names)))
    for row, text in enumerate(texts):
        for name, value in text.items():
            if name in place:
                values[row, place[name]] = value
    return names, values


def _weights(x: _Table, y: npt.NDArray[np.float64], strength: float) -> npt.NDArray[np.float64]:
    """(XᵀX + λI)⁻¹ Xᵀy, or the same by way of XXᵀ where there are more features than texts."""
    texts, features = x.shape
    if features <= texts:
        return np.asarray(np.linalg.solve(x.T @ x + strength * np.eye(features), x.T @ y))
    return np.asarray(x.T @ np.linalg.solve(x @ x.T + strength * np.eye(texts), y))
