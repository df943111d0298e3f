"""The outcome of an evaluation: numbers to use, a table to read, a dict to store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

SHOWN_CONFUSIONS = 10


class TypeScore(NamedTuple):
    """The score of one span type (or of one tag): percentages and the counts behind them."""

    precision: float
    recall: float
    f1: float
    gold: int
    predicted: int
    correct: int


@dataclass(frozen=True)
class Confused:
    """How many tokens with the gold label got the other one."""

    gold: str
    predicted: str
    count: int


@dataclass(frozen=True)
class Report:
    """Scores of one labelling against the gold one. Percentages run from 0 to 100 and are never NaN.

    `mode` is "conlleval", "strict" (with `scheme`) or "tags"; in "tags" the unit is the token, so precision,
    recall and f1 all equal `accuracy` and the span counts are 0. `interval` is the confidence interval of
    f1, if one was asked for; `unseen_accuracy` is None if not asked for or if there are no unseen words.
    """

    precision: float
    recall: float
    f1: float
    accuracy: float
    sentence_accuracy: float
    unseen_accuracy: float | None
    unseen_tokens: int
    sentences: int
    tokens: int
    gold_spans: int
    predicted_spans: int
    correct_spans: int
    per_type: dict[str, TypeScore]
    confusion_table: dict[tuple[str, str], int]
    interval: tuple[float, float] | None
    mode: str
    scheme: str | None = None

    @property
    def score(self) -> float:
        """The number that picks the best of several models: f1, which is the accuracy of plain tags."""
        return self.f1

    @property
    def score_name(self) -> str:
        """What `score` is."""
        return "accuracy" if self.mode == "tags" else "F1"

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""
        return {name: getattr(self, name) for name in ("f1", "precision", "recall", "accuracy")}

    def summary(self) -> str:
        """The main numbers in a few words."""
        return f"F1 {self.f1:.2f}, accuracy {self.accuracy:.2f}"

    @property
    def confusion(self) -> list[Confused]:
        """The wrong (gold, predicted) label pairs, the most frequent first; ties in order of the labels.

        The right ones are in `confusion_table` too, which counts every pair that occurs.
        """
        wrong = [Confused(*pair, count) for pair, count in self.confusion_table.items() if pair[0] != pair[1]]
        return sorted(wrong, key=lambda pair: (-pair.count, pair.gold, pair.predicted))

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`, with the most frequent confusions instead of the whole table."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        del plain["confusion_table"]
        plain["per_type"] = {name: score._asdict() for name, score in self.per_type.items()}
        plain["confusion"] = [asdict(pair) for pair in self.confusion[:SHOWN_CONFUSIONS]]
        plain["interval"] = list(self.interval) if self.interval else None
        return plain

    def to_text(self) -> str:
        """The familiar table of conlleval, followed by what the script does not tell."""
        return "\n".join([*self._overall(), *self._types(), *self._beyond(), *self._confusions()]) + "\n"

    def _overall(self) -> Iterator[str]:
        if self.mode == "tags":
            yield f"processed {self.tokens} tokens in {self.sentences} sentences."
            yield f"accuracy: {self.accuracy:6.2f}%"
            return
        yield (
            f"processed {self.tokens} tokens with {self.gold_spans} phrases; "
            f"found: {self.predicted_spans} phrases; correct: {self.correct_spans}."
        )
        yield f"accuracy: {self.accuracy:6.2f}%; {_scores(self.precision, self.recall, self.f1)}"

    def _types(self) -> Iterator[str]:
        width = max([17, *map(len, self.per_type)])
        digits = max((len(str(score.predicted)) for score in self.per_type.values()), default=1)
        for name, score in self.per_type.items():
            yield f"{name:>{width}}: {_scores(*score[:3])}  {score.predicted:{digits}}"

    def _beyond(self) -> Iterator[str]:
        yield f"sentences right: {self.sentence_accuracy:6.2f}% of {self.sentences}"
        if self.unseen_accuracy is not None:
            yield f"unseen words:    {self.unseen_accuracy:6.2f}% of {self.unseen_tokens}"
        if self.interval is not None:
            yield f"FB1 lies between {self.interval[0]:6.2f} and {self.interval[1]:.2f} (95% bootstrap)"

    def _confusions(self) -> Iterator[str]:
        pairs = self.confusion[:SHOWN_CONFUSIONS]
        if not pairs:
            return
        yield "most frequent confusions:"
        width, other, digits = widths_of(pairs)
        yield f"  {'gold':{width}}  {'predicted':{other}}  {'count':>{digits}}"
        for pair in pairs:
            yield f"  {pair.gold:{width}}  {pair.predicted:{other}}  {pair.count:{digits}}"


def _scores(precision: float, recall: float, f1: float) -> str:
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


def widths_of(pairs: list[Confused]) -> tuple[int, int, int]:
    """How wide the columns of a table of confusions are."""
    gold = max(len("gold"), *(len(pair.gold) for pair in pairs))
    predicted = max(len("predicted"), *(len(pair.predicted) for pair in pairs))
    return gold, predicted, max(len("count"), *(len(str(pair.count)) for pair in pairs))
