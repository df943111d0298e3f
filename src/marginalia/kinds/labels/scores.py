"""Labels that a model gives, beside those that are right."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import encode_labels
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.corpus.settings import DataSettings
from marginalia.decode.answering import LabelModel
from marginalia.evaluate import right_spans
from marginalia.kinds.kind import Difference, Numbers


class AnsweredLabels:
    """A block with a model's labels, which tokens and spans are right, and how sure they are."""

    def __init__(self, model: LabelModel, block: Block, label: str, part: str = "tokens") -> None:
        self._block, self._model, self._part = block, model, part
        self._ids, predicted = model.best_ids(block)
        if model.saved.settings_as(DataSettings).partial:
            refuse_open(block, label, SCORED)
        names, gold = block.table.distinct(block.index(label))
        labels = list(dict.fromkeys([*model.labels, *names]))
        numbers = {name: number for number, name in enumerate(labels)}
        gold = np.array([numbers[name] for name in names], np.int32)[gold]
        starts = block.table.sentence_starts
        sure = model.confidence_of(block, self._ids, 1.0)
        spans = right_spans(gold, predicted, labels, starts[:-1], sure.span_begin, sure.span_end)
        self.right = {part: gold == predicted, "spans": spans}

    def at(self, temperature: float) -> dict[str, Numbers]:
        """How sure tokens and spans are."""
        sure = self._model.confidence_of(self._block, self._ids, temperature)
        return {self._part: sure.token, "spans": sure.span}


def differences(before: LabelModel, after: LabelModel, block: Block, label: str) -> Iterator[Difference]:
    """The sentences of a block that two models label otherwise, with the labels that are right."""
    if not block.table.tokens:
        return
    old, new = (model.best_ids(block)[1] for model in (before, after))
    right, tokens = _right(before, block, label), block.readable(after.feature_columns[0])
    for number, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist()), 1):
        predicted = tuple(before.labels[i] for i in old[first:last].tolist())
        now = tuple(after.labels[i] for i in new[first:last].tolist())
        if predicted != now:
            yield Difference(number, tuple(tokens[first:last]), tuple(right[first:last]), predicted, now)


def _right(model: LabelModel, block: Block, label: str) -> list[str]:
    """The labels of a block, complete and legal as those that the model was trained on."""
    saved = model.saved
    if saved.settings_as(DataSettings).partial:
        refuse_open(block, label, SCORED)
    names, ids, _ = encode_labels(block, label, saved.scheme, mend=saved.repairs)
    return [names[i] for i in ids.tolist()]
