"""How good classes of items are: accuracy, macro and micro averages, each class by itself, confusions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.evaluate.report import SHOWN_CONFUSIONS, Confused, TypeScore, widths_of
from marginalia.evaluate.tally import percent, precision_recall_f1

Ids = npt.NDArray[np.int32]
_Z = 1.959963984540054  # 95 % of a normal distribution lie within so many standard deviations


@dataclass(frozen=True)
class Averages:
    """Precision, recall and F1, in percent."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class ClassReport:
    """Scores of one class for each item against the right ones. Percentages run from 0 to 100.

    `interval` is Wilson's 95 % interval of the accuracy. The macro average is over all classes that are right
    or were given at least once; the micro average over items equals the accuracy, as each has one class.
    """

    accuracy: float
    interval: tuple[float, float]
    macro: Averages
    micro: Averages
    items: int
    correct: int
    per_class: dict[str, TypeScore]
    confusion_table: dict[tuple[str, str], int]

    @property
    def score(self) -> float:
        """The number that picks the best of several models: the accuracy."""
        return self.accuracy

    @property
    def score_name(self) -> str:
        """What that number is called."""
        return "accuracy"

    @property
    def confusion(self) -> list[Confused]:
        """The wrong (gold, predicted) pairs, the most frequent first; ties in order of the classes."""
        wrong = [Confused(*pair, count) for pair, count in self.confusion_table.items() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda pair: (-pair.count, pair.gold, pair.predicted))

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""
        return {"accuracy": self.accuracy, "macro F1": self.macro.f1}

    def summary(self) -> str:
        """The main numbers in a few words."""
        return f"accuracy {self.accuracy:.2f} %, macro F1 {self.macro.f1:.2f}"

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`; `confusion` has all pairs that were confused."""
        return {
            "accuracy": self.accuracy,
            "interval": list(self.interval),
            "macro": asdict(self.macro),
            "micro": asdict(self.micro),
            "items": self.items,
            "correct": self.correct,
            "per_class": {name: score._asdict() for name, score in self.per_class.items()},
            "confusion": [asdict(pair) for pair in self.confusion],
            "mode": "classes",
        }

    def to_text(self) -> str:
        """A table for people."""
        return "\n".join([*self._overall(), *self._classes(), *self._confusions()]) + "\n"

    def _overall(self) -> Iterator[str]:
        low, high = self.interval
        yield f"processed {self.items} items; {self.correct} classes are right."
        yield f"accuracy: {self.accuracy:6.2f}% (95% interval {low:.2f} to {high:.2f})"
        yield f"macro: {_line(self.macro)}"
        yield f"micro: {_line(self.micro)}"

    def _classes(self) -> Iterator[str]:
        width = max([17, *map(len, self.per_class)])
        for name, score in self.per_class.items():
            yield f"{name:>{width}}: {_line(Averages(*score[:3]))}  of {score.gold}"

    def _confusions(self) -> Iterator[str]:
        pairs = self.confusion[:SHOWN_CONFUSIONS]
        if not pairs:
            return
        yield "most frequent confusions:"
        width, other, digits = widths_of(pairs)
        yield f"  {'gold':{width}}  {'predicted':{other}}  {'count':>{digits}}"
        for pair in pairs:
            yield f"  {pair.gold:{width}}  {pair.predicted:{other}}  {pair.count:{digits}}"


def _line(scores: Averages) -> str:
    return f"precision: {scores.precision:6.2f}%; recall: {scores.recall:6.2f}%; F1: {scores.f1:6.2f}"


def score_classes(gold: Ids, predicted: Ids, names: Sequence[str]) -> ClassReport:
    """The report of predicted class ids; classes are listed by name."""
    size = len(names)
    counts = [np.bincount(ids, minlength=size) for ids in (gold, predicted, gold[gold == predicted])]
    rows = {
        names[i]: TypeScore(*precision_recall_f1(*triple), *triple)
        for i, triple in enumerate(zip(*(c.tolist() for c in counts), strict=True))
        if triple[0] or triple[1]
    }
    pairs, times = np.unique(gold.astype(np.int64) * size + predicted, return_counts=True)
    table = {
        (names[pair // size], names[pair % size]): count
        for pair, count in zip(pairs.tolist(), times.tolist(), strict=True)
    }
    items, correct = len(gold), int(counts[2].sum())
    macro = [float(np.mean([row[k] for row in rows.values()])) if rows else 0.0 for k in range(3)]
    accuracy = percent(correct, items)
    return ClassReport(
        accuracy,
        wilson(correct, items),
        Averages(*macro),
        Averages(accuracy, accuracy, accuracy),
        items,
        correct,
        dict(sorted(rows.items())),
        table,
    )


def wilson(correct: int, items: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a proportion, in percent."""
    if not items:
        return 0.0, 100.0
    p, z2 = correct / items, _Z * _Z / items
    middle = (p + z2 / 2) / (1 + z2)
    half = _Z * math.sqrt(p * (1 - p) / items + z2 / (4 * items)) / (1 + z2)
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return 100 * min(low, p), 100 * max(high, p)  # rounding must not leave p outside
