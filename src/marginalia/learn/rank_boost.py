"""The boosting re-ranker (Collins 2002): the exponential loss over pairs of candidates, a weight at a time.

The kernel is core/learn/rank_boost.hpp, the formulas are in docs/rank-boost.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import setting
from marginalia.learn.run import (
    Batches,
    Counts,
    LearnerSettings,
    Round,
    RunContext,
    State,
    TrainingBatch,
    checked_count,
)

_SLICE_SECONDS = 0.2  # between two looks at whether Ctrl-C was pressed
_NO_ROW = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class RankBoostSettings(LearnerSettings):
    """Settings of the boosting re-ranker."""

    rounds: int = setting(10_000, "Rounds, at most: each changes one weight.", 1, 100_000_000)
    look: int = setting(
        0,
        "With dev data, how many rounds there are between two looks at the dev score (a pass); 0: a "
        "hundredth of all.",
        0,
        100_000_000,
    )
    smoothing: float = setting(
        0.001, "What is added to both sums of a feature, as a share of the loss.", 1e-12, 1e6
    )
    passes: int = setting(1, "Looks at the dev score.", 1, 100_000_000, hidden=True)
    patience: int = setting(
        20, "With dev data, stop after so many looks without a better score; 0 never stops.", 0, 100_000
    )

    @property
    def state_kind(self) -> tuple[object, ...]:
        """What the parts of a state depend on."""
        return ("rank-boost",)


def resolve_rounds(settings: RankBoostSettings) -> RankBoostSettings:
    """With the number of rounds of a pass, and that of passes."""
    look = min(settings.look or max(settings.rounds // 100, 1), settings.rounds)
    return replace(settings, look=look, passes=ceil(settings.rounds / look))


class RankBoostRun:
    """Pairs of candidates, and weights that change one by one. A pass is a number of rounds."""

    extra_passes = 0
    has_mistakes = False

    def __init__(self, context: RunContext, settings: RankBoostSettings) -> None:
        self._setup, self._settings = context, settings
        self._start: npt.NDArray[np.float64] | None = None
        self._rounds = 0  # so far, also of a run that is continued
        self._left = settings.rounds
        self._slice = 64
        self.converged = False

    @property
    def round(self) -> Round:
        """How many rounds there were, and what they make sure of; every look is at a model."""
        return Round(self._rounds, True, None, self._boost.bound)

    def prepare(self, batches: Batches) -> None:
        """Collect the pairs of all examples, and find the weight of the base score."""
        index, base = self._setup.index, _core.base_row(self._setup.index)
        pairs, liked = _core.CandidatePairs(), self._table(self._unit(base)).current
        for batch in batches():
            examples = self._setup.structure.batch(batch.examples)
            assert isinstance(examples, _core.CandidateExamples), "check_fit knows what rank-boost needs"
            pairs.add(examples, base or _NO_ROW, batch.sample_weights, liked)
        self._boost = _core.RankBoost(pairs, len(index) + 1, base or _NO_ROW, self._settings.smoothing)
        if self._start is None:
            self._boost.find_base_weight()
        else:
            self._boost.begin_with(self._start)

    def _unit(self, row: int) -> npt.NDArray[np.float64]:
        """Weights that are 0 but for one."""
        weights = np.zeros(len(self._setup.index) + 1)
        weights[row] = row > 0
        return weights

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """The rounds of a pass, with the first of its batches: all pairs are at hand."""
        planned = min(self._settings.look, self._left) if batch.first == 0 else 0
        done = 0
        while done < planned and not self.converged:
            started = time.perf_counter()
            wanted = min(self._slice, planned - done)
            made = self._boost.run(wanted)
            self.converged = made < wanted
            done, self._rounds, self._left = done + made, self._rounds + made, self._left - made
            counts.sentences = int(self._setup.sentences * done / planned)
            self._adapt(time.perf_counter() - started)
            yield counts

    def _adapt(self, seconds: float) -> None:
        if seconds < _SLICE_SECONDS / 2:
            self._slice = min(self._slice * 2, 1 << 24)
        elif seconds > _SLICE_SECONDS:
            self._slice = max(self._slice // 2, 1)

    def end_pass(self, counts: Counts) -> None:
        """Computes all sums anew, so that rounding does not add up and runs can be continued exactly."""
        self._boost.refresh()
        counts.loss = self._boost.loss

    def finished(self) -> _core.SparseRows:
        """The weights so far."""
        return self._table(self._boost.weights).current.copy()

    def _table(self, weights: npt.NDArray[np.float64]) -> _core.WeightTable:
        table = _core.WeightTable(len(self._setup.index) + 1, self._setup.structure.constants)
        self._setup.restore(table, _flat(weights))
        return table

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Begin with these weights, that of the base score included."""
        outputs, weights, ends = rows.flat()
        self._take({"row_end": ends, "outputs": outputs, "weights": weights})

    def _take(self, state: State) -> None:
        sizes = np.diff(np.append(0, state["row_end"].astype(np.int64)))
        self._start = np.zeros(len(self._setup.index) + 1)
        self._start[np.flatnonzero(sizes)] = state["weights"]

    def state(self) -> State:
        """Weights, exact ones too, and how many rounds there were."""
        weights = self._boost.weights
        return _flat(weights) | {"exact": weights, "rounds": np.array([self._rounds], np.uint64)}

    def resume(self, state: State) -> None:
        """Go on from there."""
        self._take(state)
        if "exact" in state and state["exact"].shape == (len(self._setup.index) + 1,):
            self._start = state["exact"].astype(np.float64)
        if "rounds" in state:
            self._rounds = checked_count(state["rounds"])


def _flat(weights: npt.NDArray[np.float64]) -> State:
    """As weights of rows with one output each."""
    used = weights != 0
    return {
        "row_end": np.cumsum(used).astype(np.uint32),
        "outputs": np.zeros(int(used.sum()), np.uint32),
        "weights": weights[used].astype(np.float32),
    }
