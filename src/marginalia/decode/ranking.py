"""The k best outputs of batches of sentences, or of documents."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import BlockConfidence, Ranked
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import RankedOutputs
from marginalia.decode.model_constraints import ConstrainedLabels, ModelConstraints
from marginalia.decode.structures import StructureDecoder
from marginalia.decode.tagged import UserLabels

Ids = npt.NDArray[np.int32]


class Ranking:
    """Finds the k best outputs of a model, with their probabilities if it has a temperature, and with all
    confidences if they are wanted. It may be used from many threads at once."""

    def __init__(
        self,
        decoder: StructureDecoder,
        shown: UserLabels,
        confidence_of: Callable[[Block, Ids, float], BlockConfidence],
        *,
        temperature: float | None = None,
        confidence: bool = False,
        model_constraints: ModelConstraints | None = None,
        by_document: bool = False,
    ) -> None:
        self._decoder, self._shown, self._confidence_of = decoder, shown, confidence_of
        self._temperature, self._confidence = temperature, confidence
        self._model_constraints, self._by_document = model_constraints, by_document

    def __call__(self, before: int, batch: Batch, k: int) -> list[Ranked]:
        """The outputs of a batch, which stands behind so many sentences, by rank; where there are no more,
        the best ones stand in."""
        block = batch.block
        unit = block.by_document() if self._by_document else block
        found, constrained = self._found(before, batch, unit, k)
        whole = _units(block) if self._by_document else np.arange(block.table.sentences)
        bounds = np.searchsorted(whole, np.arange(unit.table.sentences + 1)) if self._by_document else None
        probabilities, confidences = self._probabilities(block, found, whole)
        return [
            Ranked(
                self._shown.user_ids(ids, block),
                scores[whole],
                probabilities[rank] if probabilities is not None else None,
                confidences[rank] if confidences is not None else None,
                constrained.broken,
                constrained.inexact,
                bounds,
            )
            for rank, (ids, scores) in enumerate(zip(found.ids, found.scores, strict=True))
        ]

    def _found(
        self, before: int, batch: Batch, unit: Block, k: int
    ) -> tuple[RankedOutputs, ConstrainedLabels]:
        if not unit.table.tokens:  # such a block may have no columns
            sentences = unit.table.sentences
            nothing = np.zeros((1, 0), np.int32), np.zeros((1, sentences))
            always = np.zeros(sentences, np.uint32), np.ones(sentences, np.uint8)
            return RankedOutputs(*nothing, *always), ConstrainedLabels(nothing[0][0])
        if self._model_constraints is not None:
            return self._model_constraints.ranked(self._decoder, unit, batch, before, k)
        found = self._decoder.ranked(unit, k)
        return found, ConstrainedLabels(found.ids[0])

    def _probabilities(
        self, block: Block, found: RankedOutputs, whole: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.float64] | None, list[BlockConfidence] | None]:
        """By rank those of all outputs, and all confidences if they are wanted."""
        temperature = self._temperature
        if temperature is None:
            return None, None
        best = self._confidence_of(block, found.ids[0], temperature)
        probabilities = best.sentence * np.exp((found.scores - found.scores[0]) / temperature)[:, whole]
        if not self._confidence:
            return probabilities, None
        rest = [self._confidence_of(block, ids, temperature) for ids in found.ids[1:]]
        return probabilities, [best, *rest]


def _units(block: Block) -> npt.NDArray[np.intp]:
    """The number of each sentence's document among those of a block."""
    documents = block.table.documents
    return np.cumsum(np.diff(documents, prepend=documents[:1]) != 0)
