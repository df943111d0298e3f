"""What a kind of output must provide. See docs/architecture.md for how a kind is added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import LabelCoder
from marginalia.decode.model import TrainedModel

Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.float64]
M = TypeVar("M", bound=TrainedModel)


class Scores(Protocol):
    """How good outputs are: a report of the room `evaluate`."""

    @property
    def score(self) -> float:
        """The number that picks the best of several models, from 0 to 100."""

    @property
    def score_name(self) -> str:
        """What that number is called, such as F1."""

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""

    def summary(self) -> str:
        """The same in a few words."""

    def to_json(self) -> dict[str, Any]:
        """All of it, for `json.dumps`."""

    def to_text(self) -> str:
        """All of it, for people."""


class Answered(Protocol):
    """A block with a model's outputs: which parts of them are right, and how sure the model is of those.

    Parts have names; calibration makes the probabilities of the last one fit that there are any of.
    """

    @property
    def right(self) -> Mapping[str, Flags]:
        """Which are right, by name."""

    def at(self, temperature: float) -> Mapping[str, Numbers]:
        """How sure they are at a temperature, by name."""


class Difference(NamedTuple):
    """An example to which two models give different outputs; `number` counts from 1."""

    number: int
    tokens: tuple[str, ...]
    right: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


class OutputKind(ABC, Generic[M]):
    """A kind of output: all that differs between kinds outside of the search itself."""

    name: ClassVar[str]  # as `Structure.kind`
    example: ClassVar[str]  # what an example is called: sentence, item …

    @property
    @abstractmethod
    def model(self) -> type[M]:
        """The class that a user holds."""

    @abstractmethod
    def score(
        self,
        coder: LabelCoder,
        labels: Sequence[str],
        gold: Ids,
        predicted: Ids,
        starts: npt.NDArray[np.uint32],
    ) -> Scores:
        """The scores of predicted ids of `labels` (the coder's, and others of held-out data only), in
        training. Example s begins at token `starts[s]`."""

    @abstractmethod
    def evaluate(self, model: M, batches: Iterable[Batch], label: str, threads: int = 1) -> Scores:
        """The scores of a model on labelled batches; `label` is the column of gold outputs."""

    @abstractmethod
    def answered(self, model: M, block: Block, label: str) -> Answered:
        """A labelled block with the outputs of a model, to calibrate it with."""

    @abstractmethod
    def differences(self, before: M, after: M, block: Block, label: str) -> Iterator[Difference]:
        """The examples of a labelled block that two models do not agree on."""
