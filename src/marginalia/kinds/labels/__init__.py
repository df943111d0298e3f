"""Labels of the tokens of sentences, which may spell spans: what chains and segments give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import LabelCoder
from marginalia.decode.tagger import Tagger
from marginalia.kinds.kind import Answered, Difference, Ids, OutputKind

if TYPE_CHECKING:
    from marginalia.evaluate import Report


class Labels(OutputKind[Tagger]):
    """A label for each token."""

    name = "labels"
    example = "sentence"
    model = Tagger

    def score(
        self,
        coder: LabelCoder,
        labels: Sequence[str],
        gold: Ids,
        predicted: Ids,
        starts: npt.NDArray[np.uint32],
    ) -> Report:
        """F1 of spans, or the accuracy of labels that spell none."""
        from marginalia.evaluate import score_ids

        return score_ids(gold, predicted, labels, starts, spans=coder.encoding is not None)

    def evaluate(self, model: Tagger, batches: Iterable[Batch], label: str, threads: int = 1) -> Report:
        """F1 of spans, or the accuracy of labels that spell none."""
        from marginalia.kinds.labels.scores import evaluate

        return evaluate(model, batches, label, threads)

    def answered(self, model: Tagger, block: Block, label: str) -> Answered:
        """Tokens and spans."""
        from marginalia.kinds.labels.scores import AnsweredLabels

        return AnsweredLabels(model, block, label)

    def differences(self, before: Tagger, after: Tagger, block: Block, label: str) -> Iterator[Difference]:
        """The sentences that are labelled otherwise."""
        from marginalia.kinds.labels.scores import differences

        return differences(before, after, block, label)


KIND = Labels()
