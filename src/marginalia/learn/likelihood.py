"""Learners that minimise the negative log-likelihood of all examples at once: L-BFGS, and OWL-QN with L1.

The optimiser is core/learn/lbfgs.hpp, the likelihood core/learn/likelihood.hpp, the formulas docs/crf.md and
docs/maxent.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.decode.threads import in_order
from marginalia.errors import ModelError
from marginalia.learn.run import Batches, Counts, LearnerSettings, RunContext, State, TrainingBatch

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PriorSettings(Settings):
    """Settings of priors, of their optimiser, and of which weights there are."""

    l2: float = setting(
        0.3, "Strength of the Gaussian prior: l2 / 2 times the sum of squared weights.", 0.0, 1e9
    )
    l1: float = setting(0.0, "Strength of the Laplace prior: l1 times the sum of absolute weights.", 0.0, 1e9)
    memory: int = setting(10, "How many steps L-BFGS remembers.", 1, 1000)
    tolerance: float = setting(
        5e-3,
        "Stop when ten iterations have changed the objective by less than this share; 0 never stops.",
        0.0,
        1.0,
    )
    support: str = setting(
        "gold",
        "Which weights there are: a feature with the labels it is seen with in the data, or with all labels.",
        choices=("gold", "all"),
    )

    @property
    def prior(self) -> str:
        """The stronger kind of prior."""
        return "l2" if self.l2 else "l1" if self.l1 else "none"


@dataclass(frozen=True, kw_only=True)
class LikelihoodPatience(LearnerSettings):
    """Settings of the loop, where a pass may be one evaluation of the likelihood."""

    patience: int = setting(
        20,
        "With dev data, stop after so many passes (evaluations) without a better score; 0 never stops.",
        0,
        100_000,
    )


# The examples of an evaluation are summed in so many parts, in this order, on however many threads: that
# makes the result the same for any number of them.
_PARTS = 8
_PERIOD = 10  # iterations over which the objective must have changed


class LikelihoodRun:
    """A point, an optimiser that moves it, and the sums of the evaluation that is under way.

    Each pass over the data is one evaluation; an iteration of the optimiser mostly takes one, sometimes more.
    """

    extra_passes = 0
    round = None
    has_mistakes = False

    def __init__(self, context: RunContext, settings: PriorSettings, *, local: bool = False) -> None:
        self._setup, self._settings, self._local = context, settings, local
        self._room = _core.WeightTable(len(context.index) + 1, context.structure.constants)
        self._resumed: State | None = None
        self._values: list[float] = []
        self.converged = False

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Begin with these weights."""
        self._setup.fill(self._room, rows)

    def resume(self, state: State) -> None:
        """Go on from there, exactly if the objective is the same."""
        self._setup.restore(self._room, state)
        self._resumed = state

    def prepare(self, batches: Batches) -> None:
        """Make room for the weights that the examples support, and count what is observed."""
        settings, structure = self._settings, self._setup.structure
        for batch in batches():
            structure.batch(batch.examples).make_room(self._room, settings.support == "all")
        self._rows = self._room.current.compact()
        del self._room
        self._observed = np.zeros(len(self._rows))
        for batch in batches():
            examples = structure.batch(batch.examples)
            examples.count_gold(self._rows, batch.sample_weights, self._observed)
        self._seen = self._expected(batches) if self._setup.partial else self._observed
        self._gradient, self._log_z = np.zeros(len(self._rows)), 0.0
        self._spare: list[Vector] = []
        self._scale = self._scales()
        self._optimiser = self._resumed_optimiser() or _core.Lbfgs(
            self._rows.weights / self._scale, settings.memory, settings.l1
        )
        self._rows.weights = self._optimiser.x * self._scale

    def _expected(self, batches: Batches) -> Vector:
        """What is observed; of examples with several right outputs what is expected if all weights are 0."""
        plain, seen = self._rows.copy(), np.zeros(len(self._rows))
        plain.weights = np.zeros(len(self._rows))
        for batch in batches():
            examples = self._setup.structure.batch(batch.examples)
            examples.count_gold(plain, batch.sample_weights, seen, True)
        return seen

    def _scales(self) -> Vector:
        """What the optimiser's coordinates are multiplied by to give weights.

        The objective curves more for features that are seen often; with coordinates that make up for some of
        it L-BFGS needs a third of the iterations. An L1 term needs the weights as they are.
        """
        settings = self._settings
        if settings.l1:
            return np.ones(len(self._rows))
        return np.asarray((settings.l2 + (self._seen + 1) / 10) ** -0.25, np.float64)

    def _resumed_optimiser(self) -> _core.Lbfgs | None:
        """What a state remembers, if it is one of the same objective; its weights serve any other."""
        state, self._resumed = self._resumed, None
        if state is None or not np.array_equal(state.get("objective", ()), self._objective()):
            return None
        try:
            remembered = range(int(state["remembered"][0]))
            steps, changes = ([state[f"{what}.{k}"] for k in remembered] for what in ("step", "change"))
            if any(len(one) != len(self._rows) for one in (state["point"], *steps, *changes)):
                raise ValueError("its parts disagree in size")
            if not len(state["gradient"]):  # nothing was evaluated yet
                return None
            value, length, trials = state["search"].tolist()
            memory, l1 = self._settings.memory, self._settings.l1
            self._values = state["values"].tolist()
            return _core.Lbfgs.resumed(
                state["point"], state["gradient"], value, length, trials, steps, changes, memory, l1
            )
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise ModelError(f"the model's state cannot be used: {error}") from error

    def _objective(self) -> npt.NDArray[np.uint8]:
        """A fingerprint of what is minimised: what was observed, of which weights, and the priors."""
        outputs, _, ends = self._rows.flat()
        digest = hashlib.blake2b(digest_size=16)
        for array in (outputs, ends, self._seen):
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr([float(self._settings.l1), float(self._settings.l2)]).encode())
        return np.frombuffer(digest.digest(), np.uint8)

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """Add the expectations of the examples."""
        examples = self._setup.structure.batch(batch.examples)
        bounds = np.linspace(0, batch.examples.sentences, _PARTS + 1).astype(int).tolist()

        def part(bounds: tuple[int, int]) -> tuple[float, Vector, int]:
            sums = self._spare.pop() if self._spare else np.zeros(len(self._rows))
            log_z = examples.expectations(self._rows, *bounds, batch.sample_weights, self._local, sums)
            return log_z, sums, bounds[1] - bounds[0]

        for log_z, sums, sentences in in_order(part, pairwise(bounds), self._setup.threads):
            self._log_z += log_z
            self._gradient += sums
            sums.fill(0.0)
            self._spare.append(sums)
            counts.sentences += sentences
            yield counts

    def end_pass(self, counts: Counts) -> None:
        """Tell the optimiser what the sums are, and take the point it wants next."""
        x, l2 = self._optimiser.x * self._scale, self._settings.l2
        value = self._log_z - _core.dot(self._rows.weights, self._observed) + l2 / 2 * _core.dot(x, x)
        self._gradient += l2 * x - self._observed
        self._gradient *= self._scale
        answer = self._optimiser.tell(value, self._gradient)
        self._gradient.fill(0.0)
        self._log_z = 0.0
        self._rows.weights = self._optimiser.x * self._scale
        counts.loss = self._optimiser.value
        if answer == "stepped":
            self._values.append(self._optimiser.value)
        self.converged = answer == "stuck" or self._is_flat()

    def _is_flat(self) -> bool:
        values, tolerance = self._values, self._settings.tolerance
        if len(values) <= _PERIOD or not tolerance:
            return False
        return bool(values[-1 - _PERIOD] - values[-1] < tolerance * abs(values[-1]))

    def finished(self) -> _core.SparseRows:
        """The best point so far."""
        rows = self._rows.copy()
        rows.weights = self._optimiser.best * self._scale
        return rows

    def state(self) -> State:
        """The point and what L-BFGS remembers."""
        outputs, _, ends = self._rows.flat()
        found = self._optimiser.state()
        state: State = {
            "outputs": outputs,
            "row_end": ends,
            "weights": (found["point"] * self._scale).astype(np.float32),
            "point": found["point"],
            "gradient": found["gradient"],
            "search": np.array([found["value"], found["length"], float(found["trials"])]),
            "values": np.array(self._values),
            "objective": self._objective(),
            "remembered": np.array([len(found["steps"])], np.uint64),
        }
        for k, (step, change) in enumerate(zip(found["steps"], found["changes"], strict=True)):
            state[f"step.{k}"], state[f"change.{k}"] = step, change
        return state
