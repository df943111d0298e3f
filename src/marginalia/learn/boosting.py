"""Boosting: rounds of a learner, each with more weight on the examples that the rounds before got wrong.

After Iwakura 2013 (Semi-Boost), for any structure and any online learner; docs/boosting.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.learn.margins import given_weights, margins_of
from marginalia.learn.run import (
    Batches,
    Counts,
    LearnerRun,
    Round,
    RunContext,
    State,
    TrainingBatch,
    checked_count,
)

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class BoostSettings(Settings):
    """Settings of boosting."""

    boost: int = setting(
        0,
        "Rounds of boosting: each trains anew, with more weight on what those before got wrong; 0: none.",
        0,
        100_000,
    )


_LARGEST = 1e30  # what no weight of the sum may come near: floats end at 3e38
_SUM, _START = "sum.", "start."


def round_weight(logs: Vector, margins: Vector, most: float = np.inf) -> float:
    """The factor of a round: where Z(α) = Σ w e^(-αd) is least on [0, 2ᾱ]; 0 if the round is of no use.

    `logs` are the logarithms of the weights w, which sum to 1; `margins` are d. Where nothing is wrong Z
    falls for ever: 2ᾱ is at most log(m + 1) for m examples. `most` is a limit of the caller's.
    """
    weights = np.exp(logs)
    right, wrong = float(weights[margins > 0].sum()), float(weights[margins <= 0].sum())
    if not right > wrong:
        return 0.0
    cap = float(np.log(len(logs) + 1.0))
    reach = min(float(np.log(right / wrong)), cap) if wrong > 0 else cap
    known = np.isfinite(margins) & (weights > 0)  # the others say nothing about where Z is least
    if known.any() and not margins[known].any():
        return 0.0
    return _least(logs[known], margins[known], min(reach, most))


def _least(logs: Vector, margins: Vector, high: float) -> float:
    """Where Z is least on [0, high], by bisection of its slope; Z is convex."""

    def falls(alpha: float) -> bool:
        powers = logs - alpha * margins
        return float(margins @ np.exp(powers - powers.max(initial=-np.inf))) >= 0

    if falls(high):
        return high
    low = 0.0
    while low < (middle := (low + high) / 2) < high and high - low > 1e-14 * high:
        low, high = (middle, high) if falls(middle) else (low, middle)
    return low


def log_sum(logs: Vector) -> float:
    """log Σ e^x, for any x."""
    most = float(logs.max(initial=-np.inf))
    return most + float(np.log(np.exp(logs - most).sum())) if most > -np.inf else most


class Boosting:
    """Learners one after another, the weights of the examples, and the sum of what was learned so far."""

    has_mistakes = True

    def __init__(self, context: RunContext, rounds: int, make: Callable[[], LearnerRun]) -> None:
        self._setup, self._make = context, make
        self._batches: Batches | None = None
        self._start: _core.SparseRows | None = None
        self._sum: _core.SparseRows | None = None  # of all rounds, each times its confidence
        self._logs: Vector | None = None  # of the examples' weights, which sum to 1; None: as given
        self._total = 0.0  # of the weights as given
        self._rounds, self._log_bound = 0, 0.0  # also those of a run that is continued
        self._left = rounds
        self._passes = self._passes_before = 0  # of this round, and of those before
        self.round = Round(1)
        self._learner = make()

    @property
    def extra_passes(self) -> int:
        """Rounds have as many passes each; those that ended early had fewer."""
        passes = self._setup.settings.passes
        return self._passes_before + self._left * (passes + self._learner.extra_passes) - passes

    @property
    def converged(self) -> bool:
        """Whether there is no round left."""
        return self._left == 0

    def prepare(self, batches: Batches) -> None:
        """For the first learner; those of later rounds are prepared when they begin."""
        self._batches = batches
        self._learner.prepare(batches)

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """The learner of the round, with the weights of the examples as learning ratios."""
        self.round = Round(self._rounds + 1)
        yield from self._learner.learn(replace(batch, sample_weights=self._ratios(batch)), counts)

    def _ratios(self, batch: TrainingBatch) -> Vector:
        """Weights with the mean of those that were given, so that settings such as C keep their meaning."""
        if self._logs is None:
            return batch.sample_weights
        last = batch.first + batch.examples.sentences
        return np.asarray(self._total * np.exp(self._logs[batch.first : last]))

    def end_pass(self, counts: Counts) -> None:
        """Ends the round, too, if that was its last pass or its learner has nothing left to learn."""
        self._learner.end_pass(counts)
        self._passes += 1
        planned = self._setup.settings.passes + self._learner.extra_passes
        if self._passes >= planned or self._learner.converged:
            self._end_round()

    def _end_round(self) -> None:
        """Nothing is changed before all is known: Ctrl-C may come at any time."""
        rows = self._learner.finished()
        margins, given = self._measured(rows)
        total = float(given.sum()) if self._logs is None else self._total
        logs = _logs_of(given, total) if self._logs is None else self._logs
        # The ratios summed to `total`. Had they been the weights, which sum to 1, so much less was learned.
        margins = margins / total if total > 0 else margins
        alpha = round_weight(logs, margins, _LARGEST / max(rows.norm, 1.0)) if total > 0 else 0.0
        if alpha > 0:
            factor = alpha / total
            together, factors = ([self._sum, rows], [1.0, factor]) if self._sum else ([rows], [factor])
            self._sum = _core.SparseRows.sum(together, factors)
            powers = logs - alpha * margins
            log_z = log_sum(powers)
            self._log_bound += log_z
            self._total, self._logs = total, (powers - log_z if log_z > -np.inf else powers)
            self._rounds += 1
        goes_on = alpha > 0 and self._log_bound > -np.inf
        self.round = Round(self.round.number, True, alpha, float(np.exp(self._log_bound)))
        self._passes_before, self._passes = self._passes_before + self._passes, 0
        self._left = self._left - 1 if goes_on else 0
        if self._left:
            self._begin_round()

    def _measured(self, rows: _core.SparseRows) -> tuple[Vector, Vector]:
        """The margins of all examples under these weights, and their weights as given."""
        assert self._batches is not None
        context = self._setup
        found = [
            (margins, given_weights(batch))
            for batch, margins in margins_of(context.structure, rows, self._batches(), context.threads)
        ]
        margins, given = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return margins, given

    def _begin_round(self) -> None:
        self._learner = self._make()
        if self._start is not None:
            self._learner.start_from(self._start)
        if self._batches is not None:
            self._learner.prepare(self._batches)

    def finished(self) -> _core.SparseRows:
        """The sum of all rounds; before the first one is over, what its learner would give."""
        return self._learner.finished() if self._sum is None else self._sum

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Every round begins there."""
        self._start = rows
        self._begin_round()

    def state(self) -> State:
        """Of all rounds that are over: the next one begins anew. Before that, just weights."""
        if self._sum is None or self._logs is None:
            return _flat(self.finished())
        state: State = {
            "samples": self._logs,
            "numbers": np.array([self._total, self._log_bound]),
            "round": np.array([self._rounds], np.uint64),
            "data": np.frombuffer(self._setup.fingerprint.encode(), np.uint8),
        }
        state |= _flat(self._sum, _SUM)
        return state if self._start is None else state | _flat(self._start, _START)

    def resume(self, state: State) -> None:
        """Go on with the next round, if the data are the same; else begin with the weights."""
        if "samples" not in state:
            self.start_from(self._rows(state))
            return
        weights = self._rows(_part(state, _SUM))
        if state["data"].tobytes() != self._setup.fingerprint.encode():
            self.start_from(weights)
            return
        self._logs, numbers = np.array(state["samples"], np.float64), state["numbers"].astype(np.float64)
        if self._logs.shape != (self._setup.sentences,) or numbers.shape != (2,):
            raise ValueError("its sample weights are not those of the data")
        if not abs(log_sum(self._logs)) < 1e-3 or not numbers[0] > 0 or np.isnan(numbers).any():
            raise ValueError("its sample weights do not sum to 1")
        self._sum, self._rounds = weights, checked_count(state["round"])
        self._total, self._log_bound = numbers.tolist()
        self.round = Round(self._rounds + 1)
        if start := _part(state, _START):
            self.start_from(self._rows(start))

    def _rows(self, state: State) -> _core.SparseRows:
        table = _core.WeightTable(len(self._setup.index) + 1, self._setup.structure.constants)
        self._setup.restore(table, state)
        return table.current.compact()


def _logs_of(given: Vector, total: float) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):  # a weight of 0 is no error
        return np.asarray(np.log(given) - np.log(total))


def _flat(rows: _core.SparseRows, prefix: str = "") -> State:
    """Without zeros: which of them have a cell depends on how the rows came about."""
    outputs, weights, ends = rows.flat()
    kept = weights != 0
    ends = np.append(0, np.cumsum(kept))[ends].astype(np.uint32)
    return {f"{prefix}row_end": ends, f"{prefix}outputs": outputs[kept], f"{prefix}weights": weights[kept]}


def _part(state: State, prefix: str) -> State:
    return {name.removeprefix(prefix): a for name, a in state.items() if name.startswith(prefix)}
