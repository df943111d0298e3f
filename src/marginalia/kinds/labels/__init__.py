"""Labels of the tokens of sentences, which may spell spans: what chains and segments give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

import numpy.typing as npt

from marginalia.corpus.answers import LabelWriter
from marginalia.corpus.batches import Layout
from marginalia.corpus.blocks import Block
from marginalia.decode.answering import LabelModel
from marginalia.decode.tagger import Tagger
from marginalia.kinds.kind import Answered, Difference, Ids, OutputKind
from marginalia.kinds.sentences import SENTENCES, output_layout

if TYPE_CHECKING:
    from marginalia.evaluate import Report

L = TypeVar("L", bound=LabelModel)


class LabelKind(OutputKind[L]):
    """What kinds share whose outputs are ids of labels, one for each token of a block."""

    def answered(self, model: L, block: Block, label: str) -> Answered:
        """Parts and spans."""
        from marginalia.kinds.labels.scores import AnsweredLabels

        return AnsweredLabels(model, block, label, self.part)

    def differences(self, before: L, after: L, block: Block, label: str) -> Iterator[Difference]:
        """The examples that are labelled otherwise."""
        from marginalia.kinds.labels.scores import differences

        return differences(before, after, block, label)


class Labels(LabelKind[Tagger]):
    """A label for each token."""

    name = "labels"
    reader = SENTENCES
    part, label = "tokens", "label"
    schemes = True
    model = Tagger

    def score(
        self, labels: Sequence[str], gold: Ids, predicted: Ids, starts: npt.ArrayLike, **rules: Any
    ) -> Report:
        """F1 of spans, or the accuracy of labels that spell none."""
        from marginalia.evaluate import score_ids

        return score_ids(gold, predicted, labels, starts, **rules)

    def writer(
        self, target: BinaryIO, layout: Layout, model: Tagger, min_confidence: float | None = None
    ) -> LabelWriter:
        """Writes sentences back with their labels."""
        labels, saved = model.written_labels(min_confidence), model.saved
        return LabelWriter(target, output_layout(layout, saved), labels, saved.scheme)


KIND = Labels()
