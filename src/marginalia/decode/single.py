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
    Ids,
    RankedOutputs,
)
from marginalia.features.compiling import compile_item_extractor
from marginalia.model import SavedModel


class SingleTraining(ChainTraining):
    """Classes that are being learned: what a learner needs to know of them."""

    def _shape_of(self, labels: Sequence[str], *others: Any) -> _core.SingleShape:
        return _core.SingleShape(len(labels))

    def batch(self, examples: _core.ExampleRows) -> _core.SingleBatch:
        """The examples as items with a class each."""
        return _core.SingleBatch(self._shape, examples, self._costs)


class RankedClasses(NamedTuple):
    """The classes of an item with their scores, best first; how often they break constraints."""

    ids: Ids
    scores: npt.NDArray[np.float64]
    violations: int
    exact: bool = True

    def __iter__(self) -> Iterator[Any]:
        return zip(self.ids.astype(np.uint32)[:, None], self.scores.tolist(), strict=True)


class SingleDecoder(Decoder[_core.SingleShape]):
    """A saved model of classes, ready to use from any number of threads."""

    def __init__(self, saved: SavedModel) -> None:
        shape = _core.SingleShape(len(saved.labels))
        super().__init__(
            saved,
            DecoderFactory(lambda _: shape, _core.SingleModel, compile_item_extractor, _core.SingleSpace),
        )

    def class_scores(self, block: Block) -> npt.NDArray[np.float64]:
        """[items, classes]"""
        return np.asarray(self._model.scores(self._extractor(block), block.table, self._space()))

    def ranked(self, block: Block, k: int, violations: npt.NDArray[np.uint32] | None = None) -> RankedOutputs:
        """The k best classes of all items, of those that break constraints least often; ties go to the lowest
        number."""
        scores = self.class_scores(block)
        broken = np.zeros(scores.shape, np.uint32) if violations is None else violations
        least = broken.min(axis=1)
        allowed = np.where(broken == least[:, None], scores, -np.inf)
        order = np.argsort(-allowed, axis=1, kind="stable")[:, :k]
        found = np.take_along_axis(allowed, order, axis=1)
        ids = np.where(np.isinf(found), order[:, :1], order).astype(np.int32).T
        kept = np.where(np.isinf(found), np.nan, found).T
        return RankedOutputs(ids, kept, least, np.ones(len(least), np.uint8))

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """The same under constraints on the chosen items."""
        return self.ranked(block, k, self._violations(constraints))

    def k_best(self, block: Block, sentence: int, k: int | None = None) -> Iterator[Any]:
        """The classes of an item with their scores, best first."""
        return islice(self.constrained(block, sentence), k)

    def constrained(
        self, block: Block, sentence: int, constraints: CompiledConstraints | None = None
    ) -> RankedClasses:
        """The classes that satisfy constraints as well as can be, with their scores, best first."""
        violations = None if constraints is None else self._violations(constraints)
        found = self.ranked(block, len(self._saved.labels), violations)
        real = ~np.isnan(found.scores[:, sentence])
        ids, scores = found.ids[real, sentence], found.scores[real, sentence]
        return RankedClasses(ids, scores, int(found.violations[sentence]))

    def constrain(
        self, block: Block, ids: Ids, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> tuple[Ids, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """The best classes, changed where they break constraints; how often they still do."""
        violations = self._violations(constraints)
        best = self.ranked(block, 1, violations)
        breaks = violations[np.arange(len(ids)), ids] > best.violations
        return np.where(breaks, best.ids[0], ids), best.violations, best.exact

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a class."""
        return float(self.class_scores(block)[sentence, np.asarray(ids)[0]])

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z and the probabilities of the classes (`node`)."""
        scores = self.class_scores(block)[sentence]
        log_z = float(np.logaddexp.reduce(scores))
        return {"log_z": log_z, "node": np.exp(scores - log_z)[None]}

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of the classes of items; there are no spans."""
        scores = self.class_scores(block) / temperature
        sure = np.exp(scores[np.arange(len(ids)), ids] - np.logaddexp.reduce(scores, axis=1))
        return sure, np.zeros(0), np.zeros(0, np.uint32), np.zeros(0, np.uint32), sure

    def _violations(self, constraints: CompiledConstraints) -> npt.NDArray[np.uint32]:
        """[items, classes] How often each class breaks the constraints on a chosen item."""
        none, own = (
            np.zeros(0, np.uint32),
            {*constraints.tokens[::3].tolist(), *constraints.spans[::4].tolist()},
        )
        found = np.outer(constraints.chosen, constraints.constraint_set.violations_of_one(none, none)).astype(
            np.uint32
        )
        for i in own:
            found[i] = constraints.constraint_set.violations_of_one(
                constraints.tokens_of(i), constraints.spans_of(i)
            )
        return found

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        found = self._model.features(self._extractor(block), block.table, sentence, self._space())
        for row, times, template, texts in found:
            yield ActiveFeature(row, ids[0], times, 0, 0, 0, template, texts)
