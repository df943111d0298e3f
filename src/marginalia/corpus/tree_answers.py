"""Trees that a model gives, written back in the format of the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.answers import Answer, Ranked
from marginalia.corpus.batches import Batch, Layout
from marginalia.corpus.conllu import commented
from marginalia.corpus.formats import format_of
from marginalia.corpus.records import Sentence

MOST_LABELS = _core.MOST_TREE_LABELS  # an arc is head * MOST_LABELS + label
HEAD = "head"


class TreeWriter:
    """Writes batches back with heads and labels, one after the other: in their own columns of CoNLL-U, in
    other columns as two more at the end, label:head if there are only labels."""

    def __init__(self, target: BinaryIO, layout: Layout, labels: Sequence[str]) -> None:
        self._target, self._layout, self._labels = target, layout, list(labels)

    def write(self, batch: Batch, answer: Answer) -> None:
        """A batch with the best trees."""
        if batch.sentences is None:
            self._target.write(self._rendered(batch, answer.ids))
        else:
            self._write(self._parsed(batch, answer.ids))

    def write_best(self, batch: Batch, ranked: Sequence[Ranked]) -> None:
        """A batch with the k best trees of each sentence."""
        if batch.sentences is None:
            for one in ranked:
                self._target.write(self._rendered(batch, one.ids))
            return
        listed = [list(self._parsed(batch, one.ids)) for one in ranked]
        for s in range(len(batch.sentences)):
            for rank, one in enumerate(ranked):
                if np.isnan(one.scores[s]):
                    continue
                comments = [f"# rank = {rank + 1}", f"# score = {round(float(one.scores[s]), 4)}"]
                self._write(iter([commented(listed[rank][s], comments)]))

    def _rendered(self, batch: Batch, ids: npt.NDArray[np.int32]) -> bytes:
        arcs, places = np.unique(ids, return_inverse=True)
        names = [f"{arc // MOST_LABELS}\t{self._labels[arc % MOST_LABELS]}" for arc in arcs.tolist()]
        return batch.block.render(names, places.astype(np.int32))

    def _parsed(self, batch: Batch, ids: npt.NDArray[np.int32]) -> Iterator[Sentence]:
        starts, arcs = batch.block.table.sentence_starts.tolist(), ids.tolist()
        for sentence, first, last in zip(batch.sentences or (), starts, starts[1:], strict=False):
            found = copy(sentence)
            found.columns = sentence.columns | {
                HEAD: [str(arc // MOST_LABELS) for arc in arcs[first:last]],
                self._layout.label: [self._labels[arc % MOST_LABELS] for arc in arcs[first:last]],
            }
            yield found

    def _write(self, sentences: Iterator[Sentence]) -> None:
        format_of("", self._layout.format).write(sentences, self._target)
