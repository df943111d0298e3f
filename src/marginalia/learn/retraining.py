"""Re-ranking with local features: the hypotheses of a base model, scored by weights of local and global
features that are learned together (re-ranking 2 of Kazama and Torisawa 2007, section 6.3; docs/rerank.md).

It is the learner `nonlocal` with given hypotheses in place of its own n best. They come from
cross-decoding, so the base model is as right and as wrong as on new text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from marginalia import _core
from marginalia.corpus.batches import Layout
from marginalia.corpus.source import Data, DataSource
from marginalia.decode.global_training import WholeExamples, WholeExtraction
from marginalia.decode.model import TrainedModel
from marginalia.errors import DataError
from marginalia.kinds import kind_of
from marginalia.learn.api import source_for
from marginalia.learn.cross_decoding import Hypotheses
from marginalia.learn.data import MakeExtraction, label_set
from marginalia.learn.preparing import PreparedFeatures, prepare
from marginalia.learn.recipe import GlobalChoice, Recipe, recipe_beside
from marginalia.learn.training import Training
from marginalia.model import SavedModel, phrases_of
from marginalia.model.global_part import GlobalPart, base_arrays
from marginalia.model.word_tables import word_tables_of


def retraining_recipe(
    base: SavedModel, choice: GlobalChoice, hypotheses: int, seed: int, settings: Mapping[str, Any]
) -> Recipe:
    """The recipe of a base model with the learner `nonlocal`; unknown names and values are SettingsErrors."""
    looked_at = {"n": hypotheses, "hypotheses": hypotheses}
    return recipe_beside(base, "nonlocal", seed, choice, looked_at | dict(settings))


def prepared(
    base: TrainedModel,
    data: Data,
    train: Sequence[Hypotheses],
    dev: tuple[Data, Sequence[Hypotheses]] | None,
    recipe: Recipe,
    threads: int = 1,
) -> Training:
    """A training run over the hypotheses of training data, about to begin; `dev` has held-out data with those
    of the base model itself."""
    source = source_for(base.saved, DataSource(data)).loaded()
    held_out, lists = (None, ()) if dev is None else dev
    return prepare(
        replace(source, held=tuple(one.block for one in train)),
        held_out,
        recipe,
        threads=threads,
        labels=label_set(base.saved),
        features=_ListedFeatures.of_base(base.saved, train, lists),
    )


def retrained(base: TrainedModel, training: Training) -> TrainedModel:
    """The model of a run: it scores what the base model proposes, whose weights are in it."""
    saved, first = training.model().saved, base.saved
    if saved.labels != first.labels:
        unknown = ", ".join(sorted(set(saved.labels) - set(first.labels)))
        raise DataError(f"found labels that the base model does not know: {unknown}")
    part = GlobalPart.of(saved.global_features, saved.arrays)
    told = {"learner": first.learner, "settings": first.settings, "seed": first.seed}
    made: TrainedModel = kind_of(saved.structure).model(
        replace(
            saved,
            global_features=replace(part, base=told).to_json(),
            arrays=saved.arrays | base_arrays(first.arrays),
        )
    )
    return made


@dataclass(frozen=True, eq=False)
class _ListedFeatures(PreparedFeatures):
    """The base model's templates, lists and clusters, with hypotheses of training and of held-out data."""

    labels: int = 0
    train: Sequence[Hypotheses] = ()
    held_out: Sequence[Hypotheses] = ()

    @classmethod
    def of_base(
        cls, saved: SavedModel, train: Sequence[Hypotheses], held_out: Sequence[Hypotheses]
    ) -> _ListedFeatures:
        """Those of a base model."""
        return cls(
            saved.program, phrases_of(saved), word_tables_of(saved), len(saved.labels), train, held_out
        )

    def extraction(self, recipe: Recipe, layout: Layout) -> MakeExtraction:
        """How held-out data become examples."""
        return self._listed(self._plain.extraction(recipe, layout), self.held_out)

    def for_training(self, recipe: Recipe, layout: Layout) -> MakeExtraction:
        """How training data do."""
        return self._listed(self._plain.for_training(recipe, layout), self.train)

    @property
    def _plain(self) -> PreparedFeatures:
        return PreparedFeatures(self.program, self.phrases, self.word_tables)

    def _listed(self, make: Any, lists: Sequence[Hypotheses]) -> MakeExtraction:
        return lambda index: _ListedExtraction(make(index), lists, self.labels)


class _ListedExtraction:
    """How sentences become examples with given hypotheses, which follow each other as the data do."""

    def __init__(self, whole: WholeExtraction, lists: Iterable[Hypotheses], labels: int) -> None:
        self.base, self.index = whole.base, whole.index
        self._whole, self._lists, self._labels = whole, iter(lists), labels

    def examples(self, tokens: int = 0) -> WholeExamples:
        """A batch without sentences, with room for so many tokens."""
        examples = self._whole.examples(tokens)
        examples.given = _core.HypothesisLists()
        return examples

    def add(self, examples: WholeExamples, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences with the hypotheses that come next."""
        self._whole.add(examples, table, grow=grow)
        found = next(self._lists, None)
        if found is None or found.ids.shape[1] != table.tokens or found.scores.shape[1] != table.sentences:
            raise DataError("found other data than those of the hypotheses; make them again")
        assert examples.given is not None
        starts = table.sentence_starts.tolist()
        for (outputs, _), (first, last) in zip(found.of_units(starts), pairwise(starts), strict=True):
            examples.given.add(outputs.ravel(), last - first, self._labels)

    def count(self, table: _core.TokenTable) -> None:
        """Only what must be known of all local features."""
        self._whole.count(table)
