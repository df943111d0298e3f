"""Online learners at work: a rule, its weights and its steps. The rules are in core/learn/rules.hpp, the
formulas in docs/learners.md and docs/regularisers.md."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Setting
from marginalia.learn.regularisers import dropout_of, penalty_of
from marginalia.learn.run import Batch, Batches, Counts, Setup, State, checked_count, rows_of_cells

PASSES = Setting("passes", 10, "Passes over the training data.", 1, 100_000)
AVERAGE = Setting(
    "average",
    "mean",
    "Which weights to keep: the mean over all steps, the last, or all of them, which then vote.",
    choices=("mean", "none", "vote"),
)
CANDIDATES = Setting(
    "candidates",
    20,
    "With average=vote: among how many of the outputs that the mean weights like best.",
    1,
    100_000,
)
LOOP = (
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


class OnlineRun:
    """Weights and step count of a run, and the size of the next slice of work."""

    extra_passes = 0
    round = None

    def __init__(
        self,
        setup: Setup,
        rule: _core.Rule,
        *,
        penalty: tuple[str, float] | None = None,
        variances: bool = False,
        member: int = 0,
    ) -> None:
        self._setup, self._rule, self._member = setup, rule, member
        self._support = setup.settings.get("support")
        self.has_mistakes = self._support is None  # a rule that follows gradients looks for no outputs
        self._vote = setup.settings.get("average") == "vote"
        self._keeps_lessons = bool(setup.settings.get("provenance"))
        self.weights = _core.WeightTable(
            len(setup.index) + 1,
            setup.structure.constants,
            *(penalty or penalty_of(setup.settings)),
            variances,
            self._vote,
            self._keeps_lessons,
        )
        self._dropout = dropout_of(setup.settings)
        self.step = 0
        self._slice = _SMALLEST_SLICE
        self._settling = _Settling(setup.settings.get("tolerance", 0.0) if self.has_mistakes else 0.0)
        self.converged = False

    def prepare(self, batches: Batches) -> None:
        """A rule that follows gradients learns the weights that the data support, and no others."""
        if self._support is None:
            return
        for batch in batches():
            examples = self._setup.structure.batch(batch.examples)
            examples.make_room(self.weights, self._support == "all")

    def learn(self, batch: Batch, counts: Counts) -> Iterator[Counts]:
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
                    *self._dropout,
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
        self.weights.settle(self.step)
        idle = self.has_mistakes and counts.updates == 0  # but for dropout and penalties, for ever
        self.converged = self._settling.is_over(counts) or idle

    def finished(self) -> _core.SparseRows:
        """The weights to use if training ended now."""
        self.weights.settle(self.step)
        if self._averages:
            return self.weights.averaged(self.step)
        return self.weights.current.copy()

    @property
    def _averages(self) -> bool:
        return bool(self._setup.settings.get("average", "none") != "none")

    def lessons(self) -> _core.Lessons | None:
        """What each example has of the finished weights."""
        return self.weights.lessons(self.step if self._averages else 0) if self._keeps_lessons else None

    def voters(self) -> tuple[_core.WeightTable, int] | None:
        """All versions of the weights so far, if they vote."""
        return (self.weights, self.step) if self._vote else None

    def start_from(self, rows: _core.SparseRows) -> None:
        """Begin with these weights."""
        self._setup.fill(self.weights, rows)

    def state(self) -> State:
        """Weights with what averaging and penalties know of them, and the step count."""
        state: State = self.weights.state()
        return state | {"step": np.array([self.step], np.uint64), "errors": self._settling.state()}

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
            self._settling.resume(state["errors"])


def _first_changes(state: State) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
    """Weights to begin with as changes at the first step: so every version of the weights has them."""
    weights, outputs = state["weights"], state["outputs"]
    rows = rows_of_cells(state["row_end"], len(outputs))
    places = np.stack([rows, outputs, np.zeros_like(rows)], axis=1)[weights != 0]
    return np.ascontiguousarray(places.reshape(-1)), np.ascontiguousarray(weights[weights != 0])


class _Settling:
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
