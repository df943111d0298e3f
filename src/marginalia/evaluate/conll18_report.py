"""The table of the shared task CoNLL 2018: numbers to use, a text to read, a dictionary to store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

_ABSENT = "–"
_WIDTH = 9


@dataclass(frozen=True)
class MetricScore:
    """One line of the table: percentages, and the counts behind them.

    `aligned_accuracy` is the part of aligned words that are right, None where alignment is what is scored;
    `interval` that of F1, if one was asked for.
    """

    precision: float
    recall: float
    f1: float
    aligned_accuracy: float | None
    gold: int
    predicted: int
    correct: int
    interval: tuple[float, float] | None = None

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        return asdict(self) | {"interval": list(self.interval) if self.interval else None}


@dataclass(frozen=True)
class WithoutPunctuation:
    """Attachment scores of words whose gold UPOS is not PUNCT, and the percentages of sentences all right."""

    uas: MetricScore
    las: MetricScore
    complete_unlabelled: float
    complete_labelled: float

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        return {
            "uas": self.uas.to_json(),
            "las": self.las.to_json(),
            "complete_unlabelled": self.complete_unlabelled,
            "complete_labelled": self.complete_labelled,
        }


@dataclass(frozen=True)
class TreebankReport:
    """Scores by the names of the shared task, Tokens to BLEX; None for what the gold file does not have."""

    scores: dict[str, MetricScore | None]
    without_punctuation: WithoutPunctuation | None
    sentences: int
    words: int

    def __getitem__(self, name: str) -> MetricScore:
        """The score of a metric that there is."""
        score = self.scores[name]
        if score is None:
            raise KeyError(f"{name}: the gold file does not have what this needs")
        return score

    @property
    def score(self) -> float:
        """The number that picks the best of several models: LAS, or what is nearest to it."""
        return self[self.score_name].f1

    @property
    def score_name(self) -> str:
        """What that number is: the first of LAS, UAS, UPOS and words that the gold file has."""
        return next(name for name in ("LAS", "UAS", "UPOS", "Words") if self.scores[name])

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""
        return {name: score.f1 for name, score in self.scores.items() if score}

    def summary(self) -> str:
        """The main numbers in a few words."""
        shown = [name for name in ("UPOS", "UAS", "LAS") if self.scores[name]] or ["Words"]
        return ", ".join(f"{name} {self[name].f1:.2f}" for name in shown)

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        plain = self.without_punctuation
        return {
            "mode": "conll18",
            "sentences": self.sentences,
            "words": self.words,
            "metrics": {name: score and score.to_json() for name, score in self.scores.items()},
            "without_punctuation": plain and plain.to_json(),
        }

    def to_text(self) -> str:
        """The table of the shared task, then attachment without punctuation."""
        return "\n".join([*self._table(), *self._below()]) + "\n"

    def _table(self) -> Iterator[str]:
        with_interval = any(score and score.interval for score in self.scores.values())
        heads = ["Precision", "Recall", "F1 Score", "AligndAcc", *(["95% of F1"] if with_interval else [])]
        yield f"{'Metric':10} | " + " | ".join(f"{head:>{_WIDTH}}" for head in heads)
        yield "-+-".join(["-" * 10, *("-" * _WIDTH for _ in heads)])
        for name, score in self.scores.items():
            yield f"{name:10} | " + " | ".join(_cells(score, with_interval))

    def _below(self) -> Iterator[str]:
        plain = self.without_punctuation
        if plain is None:
            return
        yield ""
        yield f"without punctuation: UAS {plain.uas.f1:.2f}, LAS {plain.las.f1:.2f}"
        yield (
            f"complete match: {plain.complete_unlabelled:.2f}% of {self.sentences} sentences, "
            f"with labels {plain.complete_labelled:.2f}%"
        )


def _cells(score: MetricScore | None, with_interval: bool) -> list[str]:
    if score is None:
        return [f"{_ABSENT:>{_WIDTH}}"] * (4 + with_interval)
    numbers = [score.precision, score.recall, score.f1, score.aligned_accuracy]
    cells = [f"{'' if number is None else format(number, '.2f'):>{_WIDTH}}" for number in numbers]
    if with_interval:
        cells.append(f"{score.interval[0]:.2f}–{score.interval[1]:.2f}" if score.interval else " " * _WIDTH)
    return cells
