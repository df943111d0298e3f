"""The boosting re-ranker as figure 2 of Collins 2002 says it, densely: all sums anew in every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from candidate_worlds import BASE, CandidateWorld


@dataclass
class NaiveRankBoost:
    """`differences` are [pairs, features], right candidate minus other; `base` that of the base scores."""

    names: list[str]
    differences: np.ndarray
    base: np.ndarray
    samples: np.ndarray
    smoothing: float

    @classmethod
    def of(
        cls, world: CandidateWorld, names: list[str], samples: np.ndarray, smoothing: float
    ) -> NaiveRankBoost:
        rows, base, weights = [], [], []
        for i, item in enumerate(world.sentences):
            right = item[world.gold[i][0]]
            for y, other in enumerate(item):
                if y not in world.gold[i] and samples[i] > 0:
                    values = [
                        np.float32(right.get(n, 0.0)) - np.float64(np.float32(other.get(n, 0.0)))
                        for n in names
                    ]
                    rows.append(values)
                    base.append(right.get(BASE, 0.0) - other.get(BASE, 0.0))
                    weights.append(samples[i])
        shape = (len(rows), len(names))
        return cls(
            names,
            np.array(rows, np.float32).astype(float).reshape(shape),
            np.array(base),
            np.array(weights),
            smoothing,
        )

    def __post_init__(self) -> None:
        self.w = np.zeros(len(self.names))
        self.w0 = 0.0
        self.scale = np.abs(self.differences).max(axis=0, initial=0.0)

    def loss_at(self, w0: float) -> float:
        return float((self.samples * np.exp(-w0 * self.base)).sum())

    def pair_weights(self) -> np.ndarray:
        margins = self.w0 * self.base + self.differences @ self.w
        return self.samples * np.exp(-margins)

    def sums(self) -> tuple[np.ndarray, np.ndarray, float]:
        """W+, W- and Z."""
        weights = self.pair_weights()
        share = np.divide(
            self.differences, self.scale, out=np.zeros_like(self.differences), where=self.scale > 0
        )
        return weights @ np.maximum(share, 0.0), weights @ np.maximum(-share, 0.0), float(weights.sum())

    def gains(self) -> np.ndarray:
        more, less, _ = self.sums()
        return np.abs(np.sqrt(more) - np.sqrt(less))

    def update(self, k: int) -> None:
        more, less, z = self.sums()
        smooth = self.smoothing * z
        self.w[k] += 0.5 * np.log((more[k] + smooth) / (less[k] + smooth)) / self.scale[k]
