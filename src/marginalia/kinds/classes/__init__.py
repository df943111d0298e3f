"""One class for a whole item: what the structure `single` gives."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy.typing as npt

from marginalia.corpus.batches import Layout
from marginalia.corpus.item_answers import ClassWriter
from marginalia.decode.classifier import Classifier
from marginalia.kinds.items import ITEMS, NOT_FOR_ITEMS
from marginalia.kinds.kind import Ids
from marginalia.kinds.labels import LabelKind

if TYPE_CHECKING:
    from marginalia.evaluate import ClassReport


class Classes(LabelKind[Classifier]):
    """A class for each item."""

    name = "classes"
    reader = ITEMS
    part, label = "items", "class"
    refusals = MappingProxyType({**NOT_FOR_ITEMS, "export": "exported programs know no bags of words"})
    model = Classifier

    def score(
        self, labels: Sequence[str], gold: Ids, predicted: Ids, starts: npt.ArrayLike, **rules: Any
    ) -> ClassReport:
        """Accuracy, macro and micro F1; there are no other rules."""
        from marginalia.evaluate import score_classes

        return score_classes(gold, predicted, labels)

    def writer(
        self, target: BinaryIO, layout: Layout, model: Classifier, min_confidence: float | None = None
    ) -> ClassWriter:
        """Writes items back with their classes."""
        return ClassWriter(target, layout, model.written_labels(min_confidence))


KIND = Classes()
