"""The averaged perceptron: which settings it has and how it runs over batches of examples.

The update rule is in core/learn/perceptron.hpp; the formulas are in docs/perceptron.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marginalia import _core
from marginalia.config import Setting
from marginalia.decode.structures import StructureInTraining
from marginalia.learn.run import Counts

SETTINGS = (
    Setting("passes", 10, "Passes over the training data.", 1, 100_000),
    Setting(
        "average",
        "mean",
        "Which weights to keep: the mean over all steps, or the last.",
        choices=("mean", "none"),
    ),
    Setting("shuffle", True, "Visit the sentences in a new order in every pass (by seed)."),
    Setting(
        "patience",
        3,
        "With dev data, stop after so many passes without a better score; 0 never stops.",
        0,
        100_000,
    ),
)

_SMALLEST_SLICE = 64  # sentences: every slice begins with work that grows with the labels squared
_SLICE_SECONDS = 0.2  # how long the core may run before Python sees Ctrl-C or draws progress


@dataclass
class PerceptronRun:
    """Weights and step count of a run, and the size of the next slice of work."""

    structure: StructureInTraining
    weights: _core.WeightTable
    settings: Mapping[str, Any]
    step: int = 0
    _slice: int = field(default=_SMALLEST_SLICE, repr=False)

    def learn(self, examples: _core.Examples, order_seed: int | None, counts: Counts) -> Iterator[Counts]:
        """One visit to each example; yields the running counts several times a second."""
        learner = self.structure.learner(examples, self.weights)
        size = examples.sentences
        order = (
            np.arange(size, dtype=np.uint32) if order_seed is None else _core.permutation(size, order_seed)
        )
        done = 0
        while done < len(order):
            started = time.perf_counter()
            part = order[done : done + self._slice]
            # Counted first: after Ctrl-C within the call, no step is missing and averages stay right.
            before, self.step = self.step, self.step + len(part)
            _, sentences, mistakes, tokens, wrong = learner.perceptron(part, before)
            done += len(part)
            counts.sentences += sentences
            counts.mistakes += mistakes
            counts.tokens += tokens
            counts.wrong_tokens += wrong
            self._adapt(time.perf_counter() - started)
            yield counts

    def _adapt(self, seconds: float) -> None:
        if seconds < _SLICE_SECONDS / 2:
            self._slice = min(self._slice * 2, 1 << 20)
        elif seconds > _SLICE_SECONDS and self._slice > _SMALLEST_SLICE:
            self._slice //= 2

    def finished(self) -> _core.SparseRows:
        """The weights to use if training ended now."""
        if self.settings["average"] == "mean":
            return self.weights.averaged(self.step)
        return self.weights.copy()
