"""What a kind of output must provide. See docs/architecture.md for how a kind is added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, BinaryIO, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import Answer, Ranked
from marginalia.corpus.batches import Batch, Layout
from marginalia.corpus.blocks import Block
from marginalia.decode.model import TrainedModel
from marginalia.kinds.reader import ExampleReader
from marginalia.model import SavedModel

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

    @property
    def confusion(self) -> Sequence[Any]:
        """Pairs of gold and predicted outputs that were confused, with counts, the most frequent first."""

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""

    def summary(self) -> str:
        """The main numbers in a few words."""

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
        """How sure they are at a temperature, by name; or what shares of a beam they have."""


class AnswerWriter(Protocol):
    """Writes batches back in their own format, one after the other."""

    def write(self, batch: Batch, answer: Answer) -> None:
        """A batch with the best outputs."""

    def write_best(self, batch: Batch, ranked: Sequence[Ranked]) -> None:
        """A batch with the k best outputs of each example."""


class Difference(NamedTuple):
    """An example to which two models give different outputs; `number` counts from 1."""

    number: int
    tokens: tuple[str, ...]
    right: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]


def joined(parts: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """Arrays of the same names, one after another."""
    return {name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())}


class OutputKind(ABC, Generic[M]):
    """A kind of output: all that differs between kinds outside of the search itself."""

    name: ClassVar[str]  # as `Structure.kind`
    reader: ClassVar[ExampleReader]  # how examples are read
    part: ClassVar[str]  # what the numbered parts of outputs belong to, several of them: tokens, items …
    label: ClassVar[str]  # what such a part gets: label, class …
    schemes: ClassVar[bool] = False  # whether labels may spell spans, by a scheme
    shares: ClassVar[bool] = False  # whether confidences are shares of a beam, which calibration maps
    known_labels: ClassVar[tuple[str, ...]] = ()  # that every model has, whatever its data say
    refusals: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Verbs (`export`) and options of verbs (`eval --mode`) that there are not, with the reason."""

    @property
    @abstractmethod
    def model(self) -> type[M]:
        """The class that a user holds."""

    @abstractmethod
    def score(
        self, labels: Sequence[str], gold: Ids, predicted: Ids, starts: npt.ArrayLike, **rules: Any
    ) -> Scores:
        """The scores of predicted ids of `labels`; example s begins at token `starts[s]`. `rules`: whether
        labels spell `spans`, and those that the verb eval was given."""

    def beside(self, block: Block, answer: Any = None) -> dict[str, npt.NDArray[Any]]:
        """What else scoring a labelled block takes, by token or by example; `answer` is what a model said of
        it, if it was asked."""
        return {}

    def renumbered(self, ids: Ids, numbers: Ids) -> Ids:
        """A model's outputs, if label k has the number numbers[k]."""
        return numbers[ids]

    def right_outputs(self, saved: SavedModel, block: Block, ids: Ids, labels: Sequence[str]) -> Ids:
        """What a decoder would give for a block if it is right: `ids` are numbers of labels. An error for
        what a correction cannot ask for."""
        return ids

    def output_names(self, labels: Sequence[str], outputs: Ids) -> list[str]:
        """Outputs of tokens in words, as reports of corrections have them."""
        return [labels[output] for output in outputs.tolist()]

    def output_label(self, name: str) -> str:
        """The label in such a name."""
        return name

    def output_columns(self, names: Sequence[str]) -> dict[str, list[str]]:
        """Columns of examples that such names stand for, beside the column of labels."""
        return {}

    def evaluate(self, model: M, batches: Iterable[Batch], label: str, threads: int = 1) -> Scores:
        """The scores of a model on labelled batches; `label` is the column of gold outputs."""
        answering: Any = model  # batch after batch, with ids of labels
        numbers = {name: i for i, name in enumerate(model.labels)}
        gold, predicted, starts, tokens = [], [], [], 0
        more: list[dict[str, npt.NDArray[Any]]] = []
        for batch, answer in answering.tag_batches(batches, threads):
            table = batch.block.table
            names, own = table.distinct(batch.block.index(label))
            known = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int32)
            gold.append(known[own])
            predicted.append(answer.ids)
            more.append(self.beside(batch.block, answer))
            starts.append(table.sentence_starts[:-1] + tokens)
            tokens += table.tokens
        flat = (np.concatenate(one) for one in (gold, predicted, starts))
        return self.score(list(numbers), *flat, spans=model.saved.scheme is not None, **joined(more))

    @abstractmethod
    def answered(self, model: M, block: Block, label: str) -> Answered:
        """A labelled block with the outputs of a model, to calibrate it with."""

    @abstractmethod
    def writer(
        self, target: BinaryIO, layout: Layout, model: M, min_confidence: float | None = None
    ) -> AnswerWriter:
        """Writes batches back in their own format with the model's answers."""

    @abstractmethod
    def differences(self, before: M, after: M, block: Block, label: str) -> Iterator[Difference]:
        """The examples of a labelled block that two models do not agree on."""
