"""How often the rules of a model hold in labelled data, and what is right there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import LabelReader, number_labels
from marginalia.decode.model import TrainedModel


@dataclass(frozen=True)
class RuleCounts:
    """By the row of a rule: for how many samples it holds, and, with the number of a label, how many of them
    have it."""

    held: Counter[int] = field(default_factory=Counter)
    labelled: Counter[tuple[int, int]] = field(default_factory=Counter)

    def right(self, row: int, label: int, speaks_for: bool) -> int:
        """How many samples a rule is right about: those with its label, or, if it speaks against it, those
        without."""
        with_label = self.labelled[row, label]
        return with_label if speaks_for else self.held[row] - with_label


def count_rules(model: TrainedModel, blocks: Iterable[Block], label: str) -> RuleCounts:
    """Counts over labelled blocks; the labels of neighbours are the right ones, as in training."""
    saved, found = model.saved, RuleCounts()
    decoder: Any = model.decoder  # of a structure that may have rules
    reader = LabelReader(label, saved.scheme, saved.encoding, saved.repairs)
    numbers = {name: number for number, name in enumerate(saved.labels)}
    for block in blocks:
        ids = number_labels(reader.complete(block), numbers)
        for sentence, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist())):
            gold = np.ascontiguousarray(ids[first:last], np.uint32)
            for token, row in decoder.rules_holding(block, sentence, gold):
                found.held[row] += 1
                found.labelled[row, int(gold[token])] += 1
    return found
