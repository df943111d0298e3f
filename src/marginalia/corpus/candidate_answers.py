"""Items written back with their candidates in the order of a model's scores."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import BlockConfidence
from marginalia.corpus.batches import Batch
from marginalia.corpus.items import ItemBatch, ItemRecord

Floats = npt.NDArray[np.float64]


class CandidateAnswer(NamedTuple):
    """Which candidates of a batch are best (`ids`: 0 for those, 1 for others), the scores of all of them, and
    their probabilities if they were asked for; the rest as of `Answer`."""

    ids: npt.NDArray[np.int32]
    scores: Floats
    probabilities: Floats | None = None
    confidence: BlockConfidence | None = None
    broken: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    inexact: frozenset[int] = frozenset()
    most: int | None = None  # how many of each item are wanted

    def orders(self, starts: Sequence[int]) -> Iterator[list[int]]:
        """By item the places of its candidates in the batch, the best first; ties in the order given."""
        for first, last in pairwise(starts):
            order = np.lexsort((-self.scores[first:last], self.ids[first:last])) + first
            yield order[: self.most].tolist()


class CandidateWriter:
    """Writes items back: all that was read, with the candidates in a new order, each with `rank` and
    `model_score`, and `probability` if it is known."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target

    def write(self, batch: Batch, answer: Any) -> None:
        """A batch with all candidates."""
        assert isinstance(batch, ItemBatch), "items are read as such"
        starts = batch.block.table.sentence_starts.tolist()
        orders = zip(batch.records or (), starts, answer.orders(starts), strict=False)
        text = "".join(self._line(record, first, order, answer) for record, first, order in orders)
        self._target.write((text + batch.tail).encode())

    def write_best(self, batch: Batch, ranked: Sequence[Any]) -> None:
        """A batch with the k best of each item."""
        self.write(batch, ranked[0])

    def _line(self, record: ItemRecord, first: int, order: Sequence[int], answer: CandidateAnswer) -> str:
        listed = []
        for rank, place in enumerate(order, 1):
            found = {"rank": rank, "model_score": round(float(answer.scores[place]), 6)}
            if answer.probabilities is not None:
                found["probability"] = round(float(answer.probabilities[place]), 6)
            listed.append({**record.fields["candidates"][place - first], **found})
        item: dict[str, Any] = {**record.fields, "candidates": listed}
        return f"{record.before}{json.dumps(item, ensure_ascii=False)}\n"
