"""Are probabilities what they promise? Of the labels with probability 0.8, four of five should be right.

Numbers in, numbers out: how sure a model was of each of its answers, and which of them were right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.errors import DataError
from marginalia.evaluate.conlleval import chunk_ends, chunk_starts
from marginalia.evaluate.encode import Flags, from_ids
from marginalia.evaluate.labels import chunk_columns

BINS = 10


class Bin(NamedTuple):
    """The answers whose confidence lies in one of the intervals: how many, how sure, how often right."""

    low: float
    high: float
    number: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Reliability:
    """How far confidence and accuracy differ.

    `ece` is the expected calibration error, the mean over answers of |confidence - accuracy| of their bins;
    `brier` the mean of (confidence - 1 if right else 0) squared.
    """

    count: int
    confidence: float
    accuracy: float
    ece: float
    brier: float
    bins: tuple[Bin, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it as plain objects."""
        named = ("count", "confidence", "accuracy", "ece", "brier")
        return {name: getattr(self, name) for name in named} | {"bins": [bin._asdict() for bin in self.bins]}

    def to_text(self, name: str) -> str:
        """A table for people."""
        lines = [f"{name}: ECE {self.ece:.4f}; Brier {self.brier:.4f}; {self.count:,} {name}"]
        lines.append(f"  {'confidence':>11} {'number':>8} {'mean':>7} {'right':>7}")
        for low, high, count, confidence, accuracy in self.bins:
            means = "      -       -" if not count else f"{confidence:7.4f} {accuracy:7.4f}"
            lines.append(f"  {low:5.2f}-{high:5.2f} {count:8,} {means}")
        return "\n".join(lines) + "\n"


def reliability(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = BINS) -> Reliability:
    """Compare how sure answers were with which of them were right, in `bins` intervals of equal width."""
    sure, correct = np.asarray(confidence, np.float64), np.asarray(right, bool)
    if sure.ndim != 1 or sure.shape != correct.shape:
        raise DataError(f"{sure.shape} confidences but {correct.shape} answers, right or wrong")
    if sure.size and not ((sure >= 0.0) & (sure <= 1.0)).all():
        raise DataError("found a confidence that is no probability, expected numbers from 0 to 1")
    if bins < 1:
        raise DataError(f"found {bins} bins, expected at least one")
    place = np.minimum((sure * bins).astype(np.intp), bins - 1)
    counts = np.bincount(place, minlength=bins)
    total_sure = np.bincount(place, sure, bins)
    total_right = np.bincount(place, correct, bins)
    size = max(sure.size, 1)
    return Reliability(
        int(sure.size),
        float(sure.sum() / size),
        float(correct.sum() / size),
        float(np.abs(total_sure - total_right).sum() / size),
        float(((sure - correct) ** 2).sum() / size),
        tuple(
            Bin(i / bins, (i + 1) / bins, int(n), float(s / n) if n else None, float(r / n) if n else None)
            for i, (n, s, r) in enumerate(zip(counts, total_sure, total_right, strict=True))
        ),
    )


def right_spans(
    gold: npt.NDArray[np.integer[Any]],
    predicted: npt.NDArray[np.integer[Any]],
    labels: Sequence[str],
    sentence_starts: npt.ArrayLike,
    begin: npt.NDArray[np.integer[Any]],
    end: npt.NDArray[np.integer[Any]],
) -> Flags:
    """Which of the predicted spans, tokens `begin` to `end` (exclusive), are spans of the gold labels too.

    Columns are label ids as for `score_ids`; spans are those of conlleval.
    """
    encoded = from_ids(labels, sentence_starts, gold, predicted)
    _, (true, own) = chunk_columns(encoded)
    # Token t of sentence s stands at place t + s + 1 of a framed column.
    place = np.arange(encoded.tokens) + np.searchsorted(encoded.starts, np.arange(encoded.tokens), "right")
    starting = chunk_starts(true)[place - 1]
    ending = np.flatnonzero(chunk_ends(true)[place])
    first = begin.astype(np.intp)
    next_end = np.append(ending, -1)[np.searchsorted(ending, first)]
    same_type = true.types[place[first]] == own.types[place[first]]
    found: Flags = starting[first] & same_type & (next_end + 1 == end)
    return found
