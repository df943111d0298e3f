"""What the training loop knows of a learner at work."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.decode.structures import TrainingStructure

Order = Callable[[int], npt.NDArray[np.uint32]]
State = dict[str, npt.NDArray[Any]]


@dataclass
class Counts:
    """What happened so far in a pass; `largest` is a squared norm, `loss` what some learners minimise."""

    sentences: int = 0
    mistakes: int = 0
    tokens: int = 0
    wrong_tokens: int = 0
    updates: int = 0
    largest: float = 0.0
    loss: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """What a model's diagnostics tell of it."""
        return {
            "mistakes": self.mistakes,
            "updates": self.updates,
            "largest_difference": math.sqrt(self.largest),
        }

    def add(self, more: Mapping[str, Any]) -> None:
        """Add what a part of the pass counted."""
        self.sentences += more["sentences"]
        self.mistakes += more["mistakes"]
        self.tokens += more["tokens"]
        self.wrong_tokens += more["wrong_tokens"]
        self.updates += more["updates"]
        self.largest = max(self.largest, more["largest"])
        self.loss += more["loss"]


@dataclass(frozen=True, kw_only=True)
class LearnerSettings(Settings):
    """Settings of every learner."""

    passes: int = setting(10, "Passes over the training data.", 1, 100_000)
    patience: int = setting(
        3, "With dev data, stop after so many passes without a better score; 0 never stops.", 0, 100_000
    )

    @property
    def shuffles(self) -> bool:
        """Whether examples are visited in a new order in every pass."""
        return False

    @property
    def regularisers(self) -> list[str]:
        """Those that a structure must have a tier of the contract for (learn/fitting.py)."""
        return []

    @property
    def state_kind(self) -> tuple[object, ...]:
        """What the parts of a state depend on: a run goes on exactly from a state of its own kind only."""
        return ()


@dataclass(frozen=True)
class RunContext:
    """What a run is made of, besides its examples. `settings` are those of every learner; each learner gets
    its own besides. `partial`: gold outputs may leave open what is right."""

    structure: TrainingStructure
    index: _core.FeatureIndex
    labels: list[str]
    settings: LearnerSettings
    seed: int
    threads: int
    sentences: int
    fingerprint: str  # of the data
    partial: bool = False

    def restore(self, weights: _core.WeightTable, state: State) -> None:
        """Put the weights of a state, with all that is known of them, into a fresh table."""
        none64, none32 = np.zeros(0), np.zeros(0, np.float32)
        weights.restore(
            self.index,
            self.structure.row_width,
            rows_of_cells(state["row_end"], len(state["outputs"])),
            state["outputs"],
            state["weights"],
            state.get("totals", none64),
            state.get("paid", none64),
            state.get("variances", none32),
            float(state["due"][0]) if "due" in state else 0.0,
        )

    def fill(self, weights: _core.WeightTable, rows: _core.SparseRows) -> None:
        """Put weights into a fresh table."""
        outputs, values, ends = rows.flat()
        self.restore(weights, {"row_end": ends, "outputs": outputs, "weights": values})


def rows_of_cells(ends: npt.NDArray[Any], cells: int) -> npt.NDArray[np.uint32]:
    """The row of each cell."""
    sizes: npt.NDArray[np.int64] = np.diff(np.append(0, ends.astype(np.int64)))
    if (sizes < 0).any() or sizes.sum() != cells:
        raise ValueError("its rows and weights disagree in number")
    return np.repeat(np.arange(len(ends), dtype=np.uint32), sizes)


def checked_count(array: npt.NDArray[Any]) -> int:
    """The only number of an array of a state."""
    if array.shape != (1,) or not 0 <= (number := int(array[0])) < 2**53:
        raise ValueError("a count is out of range")
    return number


@dataclass(frozen=True)
class TrainingBatch:
    """Some examples of a pass. `order(k)` is the order in which the k-th of several models visits them.

    `first` is the number of the first example among those of the whole pass.
    """

    examples: Any
    sample_weights: npt.NDArray[np.float64]
    order: Order
    first: int = 0


Batches = Callable[[], Iterator[TrainingBatch]]


@dataclass(frozen=True)
class Round:
    """A round of boosting: several passes that together make the model better.

    When it is `over`, `round_weight` is its factor in the sum of all rounds, and `bound` what the share of
    wrong training examples cannot exceed.
    """

    number: int
    over: bool = False
    round_weight: float | None = None
    bound: float | None = None


class LearnerRun(Protocol):
    """A learner with its structure, its weights and its settings."""

    @property
    def extra_passes(self) -> int:
        """Passes that it makes, as far as it knows, besides those of the setting `passes`."""

    @property
    def converged(self) -> bool:
        """Whether nothing is left to learn."""

    @property
    def has_mistakes(self) -> bool:
        """Whether it looks for outputs, so that wrong ones can be counted."""

    @property
    def round(self) -> Round | None:
        """The round of the last pass; its model is worth a look only when the round is over.

        None if every pass gives a model of its own.
        """

    def prepare(self, batches: Batches) -> None:
        """To be called once, before the first pass and after `start_from` or `resume`."""

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """One visit to each example; yields the running counts now and then."""

    def end_pass(self, counts: Counts) -> None:
        """To be called when all batches of a pass were visited."""

    def finished(self) -> _core.SparseRows:
        """The weights to use if training ended now."""

    def voters(self) -> tuple[_core.WeightTable, int] | None:
        """The table whose versions vote, and how many there are; None if the finished weights decide."""

    def provenance(self) -> _core.Provenance | None:
        """What each example has of each of the finished weights, if that is kept."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Begin with these weights instead of none."""

    def state(self) -> State:
        """All that further passes depend on; to be asked for between passes."""

    def resume(self, state: State) -> None:
        """Go on from the state of another run over the same features."""
