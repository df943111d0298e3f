"""Items in, classes out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from marginalia.corpus.batches import Batch, Layout
from marginalia.corpus.blocks import Block
from marginalia.corpus.item_objects import pack_objects
from marginalia.decode.answering import LabelModel
from marginalia.decode.confidence import NO_TAG
from marginalia.decode.constraints import Constraints, ConstraintsLike
from marginalia.decode.plain_data import PlainData

if TYPE_CHECKING:
    from marginalia.decode.explaining_batches import Explainer
    from marginalia.decode.explanation import Explanation

_ITEMS = 500  # of a batch
_SHOWN = 40  # characters of an item that stand for all of it


@dataclass(frozen=True)
class Classified(PlainData):
    """An item's class, None if the model abstains from `abstained`; how probable it is, if that was asked
    for; the constraints that it breaks, because no class meets all of them."""

    label: str | None
    score: float | None = None
    confidence: float | None = None
    abstained: str | None = None
    broken: tuple[str, ...] = ()


class Classifier(LabelModel):
    """A trained model that gives one class to a whole item: a text, a dictionary of fields, or a list of
    attributes. It never changes and may be used from many threads at once."""

    kind = "classes"

    def classify(self, item: Any, **options: Any) -> Classified:
        """The class of one item; options as of `classify_all`."""
        return self.classify_all([item], **options)[0]

    def classify_all(
        self,
        items: Iterable[Any],
        threads: int = 1,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: ConstraintsLike = (),
    ) -> list[Classified]:
        """The classes of items; the result does not depend on the number of threads.

        With `confidence` it says how probable they are; with `min_confidence`, there is no class where the
        best is less probable. `constraints`: see docs/constraints.md; an item is its own token 1.
        """
        listed, names, parsed = list(items), self.written_labels(min_confidence), Constraints.of(constraints)
        parsed.check_numbers(len(listed))
        batches = (Batch(self._pack(listed[i : i + _ITEMS])) for i in range(0, len(listed), _ITEMS))
        sure: dict[str, Any] = {"confidence": confidence or min_confidence is not None}
        sure |= {"min_confidence": min_confidence, "constraints": parsed}
        found = []
        for _, answer in self.tag_batches(batches, threads, **sure):
            for i, y in enumerate(answer.ids.tolist()):
                p = None if answer.confidence is None else float(answer.confidence.token[i])
                back = NO_TAG if answer.taken_back is None else names[answer.taken_back[i]]
                label, gone = (names[y], None) if back == NO_TAG else (None, back)
                found.append(Classified(label, None, p, gone, answer.broken.get(i, ())))
        return found

    def predict(self, items: Iterable[Any], threads: int = 1) -> list[str]:
        """The classes of items, and nothing else."""
        return [str(one.label) for one in self.classify_all(items, threads)]

    def probabilities(self, item: Any) -> dict[str, float]:
        """The probability of each class, the highest first; of a model that gives none by itself or by
        calibration, scores are taken as log-probabilities, which are too sure of themselves."""
        scores = {str(one.label): one.score for one in self.nbest(item, len(self.labels))}
        scaled = np.array(list(scores.values()), np.float64) / (self.temperature or 1.0)
        return dict(zip(scores, np.exp(scaled - np.logaddexp.reduce(scaled)).tolist(), strict=True))

    def nbest(self, item: Any, k: int, *, constraints: ConstraintsLike = ()) -> list[Classified]:
        """The k best classes with their scores, best first, and their probabilities if the model gives any;
        with constraints, of those that break as few of them as possible."""
        [(_, ranked)] = self.nbest_batches([Batch(self._block(item))], k, constraints=constraints)
        found = []
        for one in (one for one in ranked if not np.isnan(one.scores[0])):
            p = None if one.probabilities is None else float(one.probabilities[0])
            y, broken = one.ids[0], one.broken.get(0, ())
            found.append(Classified(self.labels[y], float(one.scores[0]), p, broken=broken))
        return found

    def explainer(self, against: Any, cite: int, constraints: ConstraintsLike) -> Explainer:
        """Explains why items have their classes: against the runner-up, another class, or "1=A|B"."""
        explain = super().explainer(against, cite, constraints)
        return lambda batch, before: [_shortened(one) for one in explain(batch, before)]

    def _block(self, given: Any) -> Block:
        return self._pack([given])

    def _pack(self, items: Sequence[Any]) -> Block:
        columns = (*self.feature_columns, self.saved.label)
        return pack_objects(items, Layout(self.saved.format, columns, self.saved.label, items=True))


def _shortened(found: Explanation) -> Explanation:
    """The explanation with the beginning of the item's text for all of it."""
    short = tuple(shorten(text, _SHOWN, placeholder=" …") for text in found.tokens)
    chosen, other = (replace(side, tokens=short) for side in (found.chosen, found.other))
    return replace(found, chosen=chosen, other=other)
