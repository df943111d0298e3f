"""The structures by name. Whoever adds one gives its settings, its side in training and its side in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from marginalia import _core
from marginalia.config import Setting
from marginalia.corpus.blocks import Block
from marginalia.decode import chain
from marginalia.features.program import Program
from marginalia.model import SavedModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Passes(Protocol):
    """Examples and the weights to learn: a method for each learner of the core, one part of a pass each."""

    def perceptron(self, order: npt.NDArray[np.uint32], step: int) -> tuple[int, int, int, int, int]:
        """Learns from examples in order: (step, examples, mistakes, tokens, wrong tokens)."""


class StructureInTraining(Protocol):
    """What training and learners may know of a structure; made of labels, scheme, settings and program."""

    constants: int

    def learner(self, examples: _core.Examples, weights: _core.WeightTable) -> Passes:
        """The examples with the weights to learn."""

    def decode(
        self, examples: _core.Examples, weights: _core.SparseRows, first: int, last: int
    ) -> npt.NDArray[np.int32]:
        """The best labels of the examples from `first` to `last` (exclusive)."""


class StructureInUse(Protocol):
    """A saved model's answers to the four questions, and the score of an output."""

    def best(self, block: Block) -> npt.NDArray[np.int32]:
        """The best label ids of all tokens of a block."""

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first, lazily."""

    def features_of(self, block: Block, sentence: int, ids: Sequence[int]) -> list[chain.Contribution]:
        """The features of an output with their weights."""

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z and the probabilities of the parts of outputs."""

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output."""


class Structure(NamedTuple):
    """A kind of output: how it is set, how it answers a learner, how it answers a user."""

    settings: tuple[Setting, ...]
    training: Callable[[Sequence[str], str | None, dict[str, Any], Program], StructureInTraining]
    decoder: Callable[[SavedModel], StructureInUse]


STRUCTURES: dict[str, Structure] = {
    "chain": Structure(chain.SETTINGS, chain.ChainTraining, chain.ChainDecoder)
}
