"""The structure of one class for a whole item, which is a sentence of one token. See docs/single.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.decode.chain import ChainTraining
from marginalia.decode.decoder import (
    ActiveFeature,
    CompiledConstraints,
    Decoder,
    DecoderFactory,
    RankedOutputs,
)
from marginalia.features.compiling import compile_item_extractor


class SingleTraining(ChainTraining):
    """Classes that are being learned: what a learner needs to know of them."""

    def _shape_of(self, labels: Sequence[str], *others: Any) -> _core.SingleShape:
        return _core.SingleShape(len(labels))

    def batch(self, examples: _core.ExampleRows) -> _core.SingleBatch:
        """The examples as items with a class each."""
        return _core.SingleBatch(self.shape, examples, self._costs)


class RankedClasses(NamedTuple):
    """The classes of an item with their scores, best first; how often they break constraints."""

    classes: list[tuple[npt.NDArray[np.uint32], float]]
    violations: int = 0
    exact: bool = True

    def __iter__(self) -> Iterator[Any]:
        return iter(self.classes)


def _of_item(found: RankedOutputs, item: int) -> list[tuple[npt.NDArray[np.uint32], float]]:
    ids, scores = found.ids[:, item, None].astype(np.uint32), found.scores[:, item].tolist()
    return [(y, score) for y, score in zip(ids, scores, strict=True) if not np.isnan(score)]


class SingleDecoder(Decoder[_core.SingleShape]):
    """A saved model of classes, ready to use from any number of threads."""

    _factory = DecoderFactory(
        lambda saved: _core.SingleShape(len(saved.labels)),
        _core.SingleModel,
        compile_item_extractor,
        _core.SingleSpace,
    )

    def class_scores(self, block: Block) -> npt.NDArray[np.float64]:
        """[items, classes]"""
        return np.asarray(self._model.scores(self._extractor(block), block.table, self._space()))

    def k_best(self, block: Block, sentence: int, k: int | None = None) -> Iterator[Any]:
        """The classes of an item with their scores, best first."""
        return islice(_of_item(self.ranked(block, len(self._saved.labels)), sentence), k)

    def constrained(self, block: Block, sentence: int, constraints: CompiledConstraints) -> RankedClasses:
        """The classes that satisfy constraints as well as can be, with their scores, best first."""
        starts = block.table.sentence_starts
        found = self.ranked_constrained(block, len(self._saved.labels), constraints, starts)
        return RankedClasses(_of_item(found, sentence), int(found.violations[sentence]))

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a class."""
        return float(self.class_scores(block)[sentence, np.asarray(ids)[0]])

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z and the probabilities of the classes (`node`)."""
        scores = self.class_scores(block)[sentence]
        log_z = float(np.logaddexp.reduce(scores))
        return {"log_z": log_z, "node": np.exp(scores - log_z)[None]}

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        found = self._model.features(self._extractor(block), block.table, sentence, self._space())
        for row, times, template, texts in found:
            yield ActiveFeature(row, ids[0], times, 0, 0, 0, template, texts)
