"""How good dependency trees are: the share of words with the right head, and with the right label, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.evaluate.tally import percent

Ids = npt.NDArray[np.int32]


class LabelConfusion(NamedTuple):
    """A label that was given for another one, where the head is right, and how often."""

    gold: str
    predicted: str
    times: int


@dataclass(frozen=True)
class TreeReport:
    """Attachment scores from 0 to 100. `uas`: heads that are right; `las`: heads and labels;
    `label_accuracy`: labels. `complete`: sentences all of whose arcs are right. Words whose head is not known
    do not count."""

    uas: float
    las: float
    label_accuracy: float
    complete: float
    words: int
    sentences: int
    confusion: tuple[LabelConfusion, ...] = ()

    @property
    def score(self) -> float:
        """The number that picks the best of several models."""
        return self.las

    @property
    def score_name(self) -> str:
        """What that number is called."""
        return "LAS"

    def headline(self) -> dict[str, float]:
        """The main numbers by name."""
        return {"LAS": self.las, "UAS": self.uas, "complete": self.complete}

    def summary(self) -> str:
        """The same in a few words."""
        return f"LAS {self.las:.2f} %, UAS {self.uas:.2f} %, complete {self.complete:.2f} %"

    def to_json(self) -> dict[str, Any]:
        """A plain dict for `json.dumps`."""
        return {
            **asdict(self),
            "confusion": [one._asdict() for one in self.confusion],
            "score": self.score,
            "mode": "trees",
        }

    def to_text(self) -> str:
        """A table for people."""
        lines = [
            f"processed {self.words} words in {self.sentences} sentences.",
            f"labelled attachment (LAS): {self.las:6.2f}%",
            f"unlabelled attachment (UAS): {self.uas:6.2f}%",
            f"labels: {self.label_accuracy:6.2f}%; complete sentences: {self.complete:6.2f}%",
        ]
        if self.confusion:
            lines.append("labels confused where the head is right:")
            lines += [f"{one.times:6}  {one.gold} as {one.predicted}" for one in self.confusion[:10]]
        return "\n".join(lines) + "\n"


def score_trees(
    heads: Ids,
    labels: Ids,
    predicted_heads: Ids,
    predicted_labels: Ids,
    starts: npt.ArrayLike,
    names: Sequence[str],
) -> TreeReport:
    """The report of trees: heads (below 0: not known) and numbers of labels, right and predicted; sentence s
    begins at word `starts[s]`."""
    known = heads >= 0
    right_head = heads == predicted_heads
    right_label = labels == predicted_labels
    right = right_head & right_label
    words, first = int(known.sum()), np.asarray(starts, np.intp)
    first = first[np.diff(np.append(first, len(heads))) > 0]
    whole = int(np.logical_and.reduceat(right | ~known, first).sum()) if len(first) else 0
    wrong = known & right_head & ~right_label
    pairs = Counter(zip(labels[wrong].tolist(), predicted_labels[wrong].tolist(), strict=True))
    confused = tuple(LabelConfusion(names[g], names[p], n) for (g, p), n in pairs.most_common())
    return TreeReport(
        percent(int((right_head & known).sum()), words),
        percent(int((right & known).sum()), words),
        percent(int((right_label & known).sum()), words),
        percent(whole, len(first)),
        words,
        len(first),
        confused,
    )
