"""Counts of what is in the gold labelling, what was predicted and what was right: all that scores need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginalia.evaluate.encode import Counts, Flags, Ids, LabelColumns

GOLD, PREDICTED, CORRECT = range(3)


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of spans (or of tags): `by_name[k]` and `by_sentence[s]` hold (gold, predicted, correct)."""

    names: tuple[str, ...]
    by_name: Counts
    by_sentence: Counts

    @property
    def total(self) -> Counts:
        """The three counts over all sentences."""
        total: Counts = self.by_sentence.sum(axis=0)
        return total


def tally_steps(encoded: LabelColumns, names: tuple[str, ...], *parts: tuple[Flags, Ids]) -> Tally:
    """Sum step flags (gold, predicted, correct), each with the type id that its steps are counted under."""
    by_name = [np.bincount(types[steps], minlength=len(names)) for steps, types in parts]
    by_sentence = [encoded.per_sentence(steps) for steps, _ in parts]
    return Tally(names, np.stack(by_name, axis=1).astype(np.int64), np.stack(by_sentence, axis=1))


def tally_tags(encoded: LabelColumns) -> Tally:
    """Count each token as a unit of its own, named by its label."""
    gold, predicted = encoded.columns
    size = len(encoded.labels)
    by_name = [np.bincount(ids, minlength=size) for ids in (gold, predicted, gold[gold == predicted])]
    lengths = np.diff(np.append(encoded.starts, encoded.tokens))
    by_sentence = np.stack([lengths, lengths, lengths - wrong_by_sentence(encoded)], axis=1)
    return Tally(encoded.labels, np.stack(by_name, axis=1).astype(np.int64), by_sentence)


def wrong_by_sentence(encoded: LabelColumns) -> Counts:
    """How many tokens of each sentence have another label than the gold one."""
    return encoded.per_sentence(encoded.framed(0)[1:] != encoded.framed(1)[1:])


def percent(part: float, whole: float) -> float:
    """A percentage, 0 where there is nothing to take it of."""
    return 100.0 * part / whole if whole else 0.0


def precision_recall_f1(gold: int, predicted: int, correct: int) -> tuple[float, float, float]:
    """Precision, recall and their harmonic mean, in percent."""
    precision, recall = percent(correct, predicted), percent(correct, gold)
    both = precision + recall
    return precision, recall, 2.0 * precision * recall / both if both else 0.0
