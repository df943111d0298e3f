"""Online learners at work: a rule, its weights and its steps. The rules are in core/learn/update_rules.hpp, the
formulas in docs/learners.md and docs/regularisers.md."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import setting
from marginalia.decode.settings import VoteSettings
from marginalia.errors import SettingsError
from marginalia.learn.boosting import BoostSettings
from marginalia.learn.provenance import ProvenanceSettings
from marginalia.learn.regularisers import NOTHING_HIDDEN, Hidden, RegulariserSettings
from marginalia.learn.run import (
    Batches,
    Counts,
    LearnerSettings,
    RunContext,
    State,
    TrainingBatch,
    checked_count,
    rows_of_cells,
)

PENALTIES = ("l2", "l1", "l1-cumulative")


@dataclass(frozen=True, kw_only=True)
class LoopSettings(LearnerSettings):
    """Settings of learners that go from example to example."""

    shuffle: bool = setting(True, "Visit the sentences in a new order in every pass (by seed).")
    patience: int = setting(
        3, "With dev data, stop after so many passes without a better score; 0 never stops.", 0, 100_000
    )

    @property
    def shuffles(self) -> bool:
        """Whether examples are visited in a new order in every pass."""
        return self.shuffle


@dataclass(frozen=True, kw_only=True)
class OnlineSettings(VoteSettings, LoopSettings, RegulariserSettings, BoostSettings, ProvenanceSettings):
    """Settings of online learners."""

    passes: int = setting(10, "Passes over the training data.", 1, 100_000)

    @property
    def state_kind(self) -> tuple[object, ...]:
        """What the parts of a state depend on."""
        return self.average == "vote", self.shuffle_average, self.penalty[0], self.boost > 0

    @property
    def regularisers(self) -> list[str]:
        """Those that are chosen and need a tier of the contract."""
        return [*(["dropout"] if any(self.dropout_chances) else []), *self.chosen(*PENALTIES)]

    def chosen(self, *names: str) -> list[str]:
        """Which of these make training more than plain updates of one model."""
        on = {
            "l2": self.l2,
            "l1": self.l1,
            "l1-cumulative": self.l1_cumulative,
            "shuffle-average": self.shuffle_average > 1,
            "bpm-init": self.bpm_init,
            "parallel=mix": self.parallel == "mix",
            "boost": self.boost,
        }
        return [name for name in names if on[name]]


S = TypeVar("S", bound=OnlineSettings)


def checked(settings: S) -> S:
    """The settings; what does not go together is refused, before anything is read."""
    penalties = settings.chosen(*PENALTIES)
    if len(penalties) > 1:
        raise SettingsError(f"found the penalties {' and '.join(penalties)}, expected one of them.")
    _ = settings.dropout_chances  # refuses what it cannot read
    clashes = settings.chosen(*PENALTIES, "bpm-init", "boost", "shuffle-average", "parallel=mix")
    if settings.provenance and clashes:
        raise SettingsError(
            "provenance=on needs weights that are sums of one model's updates, and does not go with "
            f"{', '.join(clashes)}."
        )
    if len(settings.chosen("shuffle-average", "parallel=mix")) > 1:
        raise SettingsError("found shuffle-average and parallel=mix, expected one of them.")
    if settings.chosen("shuffle-average", "bpm-init") and not settings.shuffle:
        raise SettingsError("shuffle-average and bpm-init need shuffle=on: their models differ in the order.")
    clashes = settings.chosen(*PENALTIES, "shuffle-average", "bpm-init", "parallel=mix", "boost")
    if settings.average == "vote" and clashes:
        raise SettingsError(f"average=vote keeps plain updates and does not go with {', '.join(clashes)}.")
    return settings


@dataclass(frozen=True)
class OnlineOptions:
    """How a run of an update rule is set: those settings of its learner that it looks at.

    `support`: which weights there are, of a rule that follows gradients; None: it looks for outputs.
    """

    average: str = "none"
    penalty: tuple[str, float] = ("none", 0.0)
    dropout: Hidden = NOTHING_HIDDEN
    provenance: bool = False
    tolerance: float = 0.0
    variances: bool = False
    support: str | None = None

    @classmethod
    def of(
        cls, settings: OnlineSettings, *, tolerance: float = 0.0, variances: bool = False
    ) -> OnlineOptions:
        """Those of an online learner."""
        hidden = settings.dropout_chances
        return cls(settings.average, settings.penalty, hidden, settings.provenance, tolerance, variances)


_SMALLEST_SLICE = 64  # sentences: every slice begins with work that grows with the labels squared
_SLICE_SECONDS = 0.2  # how long the core may run before Python sees Ctrl-C or draws progress


class OnlineRun:
    """Weights and step count of a run, and the size of the next slice of work."""

    extra_passes = 0
    round = None

    def __init__(
        self, context: RunContext, rule: _core.UpdateRule, options: OnlineOptions, *, member: int = 0
    ) -> None:
        self._setup, self._rule, self._options, self._member = context, rule, options, member
        self.has_mistakes = options.support is None  # a rule that follows gradients looks for no outputs
        self._vote = options.average == "vote"
        self.weights = _core.WeightTable(
            len(context.index) + 1,
            context.structure.constants,
            *options.penalty,
            options.variances,
            self._vote,
            options.provenance,
        )
        self.step = 0
        self._slice = _SMALLEST_SLICE
        self._convergence = _ConvergenceTest(options.tolerance)
        self.converged = False

    def prepare(self, batches: Batches) -> None:
        """A rule that follows gradients learns the weights that the data support, and no others."""
        if self._options.support is None:
            return
        for batch in batches():
            examples = self._setup.structure.batch(batch.examples)
            examples.make_room(self.weights, self._options.support == "all")

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """One visit to each example; yields the running counts several times a second."""
        examples = self._setup.structure.batch(batch.examples)
        order, done = batch.order(self._member), 0
        seed = (self._setup.seed * 1_000_003 + self._member) % 2**63
        while done < len(order):
            started = time.perf_counter()
            part = order[done : done + self._slice]
            # Counted first: after Ctrl-C within the call, no step is missing and averages stay right.
            before, self.step = self.step, self.step + len(part)
            loss, counts.loss = counts.loss, 0.0  # summed in one go, wherever the pass is cut
            counts.add(
                examples.learn(
                    self.weights,
                    self._rule,
                    part,
                    before,
                    batch.sample_weights,
                    *self._options.dropout,
                    seed,
                    batch.first,
                    loss,
                )
            )
            done += len(part)
            self._adapt(time.perf_counter() - started)
            yield counts

    def _adapt(self, seconds: float) -> None:
        if seconds < _SLICE_SECONDS / 2:
            self._slice = min(self._slice * 2, 1 << 20)
        elif seconds > _SLICE_SECONDS and self._slice > _SMALLEST_SLICE:
            self._slice //= 2

    def end_pass(self, counts: Counts) -> None:
        """Pays the penalties that are due and looks whether anything still changes."""
        self.weights.catch_up(self.step)
        idle = self.has_mistakes and counts.updates == 0  # but for dropout and penalties, for ever
        self.converged = self._convergence.is_over(counts) or idle

    def finished(self) -> _core.SparseRows:
        """The weights to use if training ended now."""
        self.weights.catch_up(self.step)
        if self._averages:
            return self.weights.averaged(self.step)
        return self.weights.current.copy()

    @property
    def _averages(self) -> bool:
        return self._options.average != "none"

    def provenance(self) -> _core.Provenance | None:
        """What each example has of the finished weights."""
        return (
            self.weights.provenance(self.step if self._averages else 0) if self._options.provenance else None
        )

    def voters(self) -> tuple[_core.WeightTable, int] | None:
        """All versions of the weights so far, if they vote."""
        return (self.weights, self.step) if self._vote else None

    def start_from(self, rows: _core.SparseRows) -> None:
        """Begin with these weights."""
        self._setup.fill(self.weights, rows)

    def state(self) -> State:
        """Weights with what averaging and penalties know of them, and the step count."""
        state: State = self.weights.state()
        return state | {"step": np.array([self.step], np.uint64), "errors": self._convergence.state()}

    def resume(self, state: State) -> None:
        """Go on from there."""
        self._setup.restore(self.weights, state)
        if self._vote:
            has_log = "log_places" in state
            self.weights.restore_log(
                *((state["log_places"], state["log_changes"]) if has_log else _first_changes(state))
            )
        if "step" in state:
            self.step = checked_count(state["step"])
            self._convergence.resume(state["errors"])


def _first_changes(state: State) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """Weights to begin with as changes at the first step: so every version of the weights has them."""
    weights, outputs = state["weights"], state["outputs"]
    rows = rows_of_cells(state["row_end"], len(outputs))
    places = np.stack([rows, outputs, np.zeros_like(rows)], axis=1)[weights != 0]
    return np.ascontiguousarray(places.reshape(-1)), np.ascontiguousarray(weights[weights != 0])


class _ConvergenceTest:
    """Whether the training error has stopped to change: by less than `tolerance`, relative, three times."""

    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._last, self._quiet = -1.0, 0

    def is_over(self, counts: Counts) -> bool:
        error = counts.wrong_tokens / max(counts.tokens, 1)
        if self._last >= 0:
            change = abs(error - self._last) / max(self._last, 1e-300)
            self._quiet = self._quiet + 1 if change < self._tolerance or error == self._last == 0 else 0
        self._last = error
        return self._tolerance > 0 and self._quiet >= 3

    def state(self) -> np.ndarray:
        return np.array([self._last, float(self._quiet)])

    def resume(self, state: np.ndarray) -> None:
        self._last, self._quiet = float(state[0]), int(state[1])
