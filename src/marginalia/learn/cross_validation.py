"""Cross-validation: for each fold of the data a model of all others, and its scores on that fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import Any

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.corpus.source import DataSource
from marginalia.kinds import kind_of
from marginalia.kinds.kind import Scores
from marginalia.learn.cross_decoding import split
from marginalia.learn.preparing import prepare, training_source
from marginalia.learn.recipe import Recipe


@dataclass(frozen=True, eq=False)
class Fold:
    """A fold, the model that has not seen it, and the scores of that model on it."""

    number: int
    block: Block
    label: str
    model: Any
    report: Scores


@dataclass(frozen=True)
class FoldScores:
    """What cross-validation found: the main numbers of each fold by name."""

    score_name: str
    folds: tuple[dict[str, float], ...]

    @classmethod
    def of(cls, folds: Sequence[Fold]) -> FoldScores:
        """Those of folds that are done."""
        return cls(folds[0].report.score_name, tuple(fold.report.headline() for fold in folds))

    def values(self, name: str) -> list[float]:
        """One number of all folds."""
        return [fold[name] for fold in self.folds]

    @property
    def means(self) -> dict[str, float]:
        """The mean of each number over the folds."""
        return {name: fmean(self.values(name)) for name in self.folds[0]}

    @property
    def deviations(self) -> dict[str, float]:
        """The standard deviation of each number over the folds; 0 of a single one."""
        many = len(self.folds) > 1
        return {name: stdev(self.values(name)) if many else 0.0 for name in self.folds[0]}

    def to_json(self) -> dict[str, Any]:
        """All of it, for `json.dumps`."""
        return {"folds": list(self.folds), "mean": self.means, "deviation": self.deviations}


def cross_validate(
    source: DataSource,
    recipe: Recipe,
    folds: int,
    *,
    threads: int = 1,
    on_progress: Callable[[int, float], object] = lambda fold, done: None,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[Fold]:
    """Fold after fold; documents stay whole where the data tell them apart. `on_progress` hears the number of
    a fold, from 1, and how much of its training is done; `stop` ends the whole after a pass or less."""
    kind = kind_of(recipe.structure)
    source = training_source(source, recipe, None)
    parts = split(source, folds, whole_documents=source.whole_documents)
    for number, part in enumerate(parts, 1):
        others = tuple(block for other in parts if other is not part for block in other.blocks)
        training = prepare(replace(part.source, held=others), None, recipe, threads=threads)
        for record in training:
            within = 1.0 if record.finished else record.sentences / max(record.total, 1)
            on_progress(number, (record.number - 1 + within) / max(record.passes, 1))
            if stop():
                return
        model, label = training.model(), part.source.layout.label
        report = kind.evaluate(model, [Batch(part.blocks[0])], label, threads)
        yield Fold(number, part.blocks[0], label, model, report)
