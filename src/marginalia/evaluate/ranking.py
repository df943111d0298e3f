"""How good choices from lists are: what they lose beside the base model's first and the best there is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.evaluate.classes import wilson
from marginalia.evaluate.tally import percent

Ids = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankingReport:
    """Losses of one candidate of each item. Percentages run from 0 to 100.

    A choice is right if no candidate of the item loses less. `loss` is the mean loss of the choices,
    `base_loss` that of the candidates which the base scores like best, `oracle_loss` and `worst_loss` those
    of the best and the worst of each item. `reciprocal_rank` is the mean of 1 / the place of the first right
    candidate, if whole rankings are known.
    """

    accuracy: float
    interval: tuple[float, float]
    base_accuracy: float
    loss: float
    base_loss: float
    oracle_loss: float
    worst_loss: float
    reciprocal_rank: float | None
    items: int
    candidates: int
    correct: int

    @property
    def score(self) -> float:
        """The number that picks the best of several models: which share of the loss that can be avoided is.

        If all wrong candidates lose 1, that is the accuracy on items with a wrong candidate.
        """
        gap = self.worst_loss - self.oracle_loss
        return 100.0 * (self.worst_loss - self.loss) / gap if gap > 0 else 100.0

    @property
    def score_name(self) -> str:
        """What that number is called."""
        return "avoided loss"

    @property
    def confusion(self) -> tuple[()]:
        """Candidates have no classes that could be confused."""
        return ()

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""
        return {"accuracy": self.accuracy, "loss": self.loss, "avoided loss": self.score}

    def summary(self) -> str:
        """The same in a few words."""
        return f"avoided loss {self.score:.2f} %, mean loss {self.loss:.4g}, accuracy {self.accuracy:.2f} %"

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        return {**asdict(self), "interval": list(self.interval), "score": self.score, "mode": "candidates"}

    def to_text(self) -> str:
        """A table for people."""
        low, high = self.interval
        lines = [
            f"processed {self.items} items with {self.candidates} candidates; {self.correct} choices are "
            "right.",
            f"accuracy: {self.accuracy:6.2f}% (95% interval {low:.2f} to {high:.2f}); "
            f"of the base scores: {self.base_accuracy:.2f}%",
            f"mean loss: {self.loss:.4f}; first by base score: {self.base_loss:.4f}; oracle: "
            f"{self.oracle_loss:.4f}; worst: {self.worst_loss:.4f}",
            f"avoided loss: {self.score:6.2f}%",
        ]
        if self.reciprocal_rank is not None:
            lines.append(f"mean reciprocal rank: {self.reciprocal_rank:.4f}")
        return "\n".join(lines) + "\n"


def score_ranking(
    chosen: npt.NDArray[np.bool_],
    starts: npt.ArrayLike,
    losses: Floats,
    base: Floats,
    reciprocal: Floats | None = None,
) -> RankingReport:
    """The report of choices: which candidates are chosen, the first one of each item, losses and base scores
    of all; `reciprocal` are the reciprocal ranks of items."""
    first = np.asarray(starts, np.intp)
    lengths = np.diff(np.append(first, len(losses)))
    least, most = np.minimum.reduceat(losses, first), np.maximum.reduceat(losses, first)
    own, base_first = losses[chosen], losses[_first_of_greatest(base, first, lengths)]
    correct = int((own <= least).sum())
    return RankingReport(
        percent(correct, len(first)),
        wilson(correct, len(first)),
        percent(int((base_first <= least).sum()), len(first)),
        float(own.mean()),
        float(base_first.mean()),
        float(least.mean()),
        float(most.mean()),
        None if reciprocal is None else float(reciprocal.mean()),
        len(first),
        len(losses),
        correct,
    )


def reciprocal_ranks(scores: Floats, right: npt.NDArray[np.bool_], starts: npt.ArrayLike) -> Floats:
    """By item 1 / the place of its first right candidate, if they are ranked by these numbers; ties in the
    order given."""
    bounds = np.append(np.asarray(starts, np.intp), len(scores))
    found = []
    for first, last in pairwise(bounds.tolist()):
        order = np.argsort(-scores[first:last], kind="stable")
        found.append(1.0 / (1.0 + float(np.flatnonzero(right[first:last][order])[0])))
    return np.array(found)


def _first_of_greatest(values: Floats, first: npt.NDArray[np.intp], lengths: npt.NDArray[Any]) -> Any:
    """The places of the first candidate of each item with the greatest number."""
    is_greatest = values == np.repeat(np.maximum.reduceat(values, first), lengths)
    places = np.where(is_greatest, np.arange(len(values)), len(values))
    return np.minimum.reduceat(places, first)
