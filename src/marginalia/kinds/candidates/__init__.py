"""The best of a list: what the structure `candidates` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Layout
from marginalia.corpus.blocks import OUTPUT, Block
from marginalia.corpus.candidate_answers import CandidateWriter
from marginalia.corpus.candidates import BEST, losses_of, scores_of
from marginalia.decode.candidates import LABELS
from marginalia.decode.reranker import Reranker
from marginalia.kinds.kind import Difference, Ids, Numbers
from marginalia.kinds.labels import LabelKind
from marginalia.kinds.lists import LISTS, NOT_FOR_LISTS

if TYPE_CHECKING:
    from marginalia.evaluate import RankingReport


class Candidates(LabelKind[Reranker]):
    """The best candidate of each item."""

    name = "candidates"
    reader = LISTS
    part, label = "items", "choice"
    known_labels = LABELS
    refusals = MappingProxyType({**NOT_FOR_LISTS, "export": "exported programs know no lists of candidates"})
    model = Reranker

    def score(
        self, labels: Sequence[str], gold: Ids, predicted: Ids, starts: npt.ArrayLike, **rules: Any
    ) -> RankingReport:
        """Losses of the choices; `losses` and `base` (scores) are those of all candidates."""
        from marginalia.evaluate import score_ranking

        best = list(labels).index(BEST)
        return score_ranking(
            predicted == best, starts, rules["losses"], rules["base"], rules.get("reciprocal")
        )

    def beside(self, block: Block, answer: Any = None) -> dict[str, npt.NDArray[Any]]:
        """Losses and base scores; with an answer also the reciprocal ranks of right candidates."""
        losses = losses_of(block)
        found = {"losses": losses, "base": scores_of(block)}
        if answer is None:
            return found
        from marginalia.evaluate import reciprocal_ranks

        starts = block.table.sentence_starts
        least = np.repeat(np.minimum.reduceat(losses, starts[:-1].astype(np.intp)), np.diff(starts))
        return found | {"reciprocal": reciprocal_ranks(answer.scores, losses <= least, starts[:-1])}

    def answered(self, model: Reranker, block: Block, label: str) -> AnsweredLists:
        """Items, whose choices are right or not."""
        return AnsweredLists(model, block)

    def writer(
        self, target: BinaryIO, layout: Layout, model: Reranker, min_confidence: float | None = None
    ) -> CandidateWriter:
        """Writes items back with their candidates in a new order."""
        return CandidateWriter(target)

    def differences(
        self, before: Reranker, after: Reranker, block: Block, label: str
    ) -> Iterator[Difference]:
        """The items of which another candidate is chosen."""
        for one in super().differences(before, after, block, label):
            starts = block.table.sentence_starts
            outputs = block.column(OUTPUT)[starts[one.number - 1] : starts[one.number]]
            yield one._replace(tokens=tuple(outputs))


class AnsweredLists:
    """A block with a model's choices, which of them are right, and how sure they are."""

    def __init__(self, model: Reranker, block: Block) -> None:
        self._model, self._block = model, block
        self._ids, _ = model.best_ids(block)
        losses, starts = losses_of(block), block.table.sentence_starts[:-1].astype(np.intp)
        self.right = {"items": losses[self._ids == 0] <= np.minimum.reduceat(losses, starts)}

    def at(self, temperature: float) -> dict[str, Numbers]:
        """How sure the choices are."""
        return {"items": self._model.confidence_of(self._block, self._ids, temperature).sentence}


KIND = Candidates()
