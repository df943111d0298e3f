"""A model's labels and its user's: the same, unless the model was trained in another scheme."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.config import suggestion
from marginalia.corpus.blocks import Block
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import convert, labels_of, split_label, validate
from marginalia.decode.confidence import shown_as_they_are
from marginalia.errors import DataError
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]


class Spelling:
    """Translates both ways."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved, self.scheme = saved, saved.scheme
        self._same = shown_as_they_are(saved)
        self.labels = list(saved.labels) if self._same else _all_labels(saved)
        self._numbers = {label: i for i, label in enumerate(self.labels)}

    def user_labels(self, ids: Sequence[int] | npt.NDArray[Any]) -> list[str]:
        """The labels of an output as users see them."""
        labels = [self._saved.labels[i] for i in ids]
        if self._same or self._saved.encoding is None or self._saved.scheme is None:
            return labels
        return convert(labels, self._saved.encoding, self._saved.scheme)

    def user_ids(self, ids: Ids, block: Block) -> Ids:
        """The same as numbers into `labels`, for all sentences of a block."""
        if self._same:
            return ids
        starts = block.table.sentence_starts.tolist()
        out: list[int] = []
        for first, last in pairwise(starts):
            out += [self._numbers[label] for label in self.user_labels(ids[first:last])]
        return np.array(out, np.int32)

    def model_ids(self, labels: Sequence[str]) -> list[int]:
        """The model's numbers of labels that a user gave for all tokens of a sentence; checked."""
        for position, label in enumerate(labels, 1):
            if label not in self._numbers:
                more = suggestion(label, self.labels)
                raise DataError(f"label {position}: found '{label}', which the model does not give. {more}")
        if self._same:
            return [self._numbers[label] for label in labels]
        self.check(labels)
        numbers = {label: i for i, label in enumerate(self._saved.labels)}
        spelled = convert(labels, str(self.scheme), str(self._saved.encoding))
        if missing := [label for label in spelled if label not in numbers]:
            raise DataError(
                f"the model cannot give these labels: it has none that it would write {missing[0]}"
            )
        return [numbers[label] for label in spelled]

    def check(self, labels: Sequence[str]) -> None:
        """An error if the user's scheme does not allow such labels."""
        if self.scheme is not None and (problems := validate(labels, self.scheme)):
            raise DataError(f"label {problems[0].position + 1}: {problems[0].why}")

    def serves(self, own: str, label: str, is_type: bool) -> bool:
        """Whether one of the model's labels may stand where a user wants a label, or a span of a type."""
        if (self._same and not is_type) or "O" in (own, label):
            return own == label
        return split_label(own)[1] == (label if is_type else split_label(label)[1])


def _all_labels(saved: SavedModel) -> list[str]:
    """Every label that the user's scheme can write for the model's types."""
    types = dict.fromkeys(label.partition("-")[2] for label in saved.labels if label != "O")
    scheme = str(saved.scheme)
    found = dict.fromkeys(["O"] if "O" in saved.labels else [])
    for type_ in types:
        for spans in ([(0, 1)], [(0, 3)], [(0, 2), (2, 4)], [(0, 1), (1, 2)]):
            found |= dict.fromkeys(labels_of([Span(b, e, type_) for b, e in spans], spans[-1][1], scheme))
    return list(found)
