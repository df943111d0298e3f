"""A model of dependency trees in use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import Answer
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block, pack
from marginalia.decode.inputs import Input
from marginalia.decode.model import TrainedModel
from marginalia.decode.threads import in_order
from marginalia.decode.trees import MOST_LABELS

Ids = npt.NDArray[np.int32]
_SENTENCES = 500  # of a batch


@dataclass(frozen=True)
class Parsed:
    """A sentence with its tree: for each token the number of its head (from 1 on; 0 is the root) and the
    label of that arc."""

    tokens: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    score: float | None = None


class Parser(TrainedModel):
    """A trained model that gives dependency trees. Sentences are mappings of columns (those in
    `feature_columns`). It never changes and may be used from many threads at once."""

    kind = "trees"

    def parse(self, sentence: Input) -> Parsed:
        """The tree of a sentence."""
        return self.parse_all([sentence])[0]

    def parse_all(self, sentences: Iterable[Input], threads: int = 1) -> list[Parsed]:
        """The trees of sentences; the result does not depend on the number of threads."""
        records = [self._record(given, number) for number, given in enumerate(sentences)]
        parts = [records[i : i + _SENTENCES] for i in range(0, len(records), _SENTENCES)]
        batches = (Batch(pack(part, self.feature_columns)) for part in parts)
        found: list[Parsed] = []
        for batch, answer in self.tag_batches(batches, threads):
            found += self._parsed(batch.block, answer.ids)
        return found

    def arcs(self, block: Block) -> tuple[Ids, Ids]:
        """Heads and numbers of labels (into `labels`) of all tokens of a block."""
        ids = self.decoder.best(block)
        return ids // MOST_LABELS, ids % MOST_LABELS

    def tag_batches(self, batches: Iterable[Batch], threads: int = 1) -> Iterator[tuple[Batch, Answer]]:
        """Answers for batch after batch, in order; their ids are arcs (docs/trees.md)."""

        def answer(batch: Batch) -> tuple[Batch, Answer]:
            with batch.block.naming_errors():
                return batch, Answer(self.decoder.best(batch.block))

        yield from in_order(answer, batches, threads)

    def _parsed(self, block: Block, ids: Ids) -> Iterator[Parsed]:
        words = block.column(self.feature_columns[0])
        heads, labels = (ids // MOST_LABELS).tolist(), self._names(ids)
        for first, last in pairwise(block.table.sentence_starts.tolist()):
            here = slice(first, last)
            yield Parsed(tuple(words[here]), tuple(heads[here]), tuple(labels[here]))

    def _names(self, ids: Ids) -> Sequence[str]:
        names = self.labels
        return [names[label] for label in (ids % MOST_LABELS).tolist()]
