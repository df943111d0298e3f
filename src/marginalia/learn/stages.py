"""Two stages: a first model labels the data, and the templates of the second one look at its labels.

The first model's labels of the training data come from cross-decoding: each fold is labelled by a model that
has not seen it, so that the second model learns how far such labels are to be trusted (docs/stages.md).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from marginalia.corpus.blocks import Block
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import DataError, SettingsError
from marginalia.features.documents import FIRST_COLUMNS
from marginalia.features.first_labels import with_first_labels, without_first_labels
from marginalia.kinds import kind_of
from marginalia.learn.cross_decoding import FoldProgress, Hypotheses, cross_decode, decode
from marginalia.learn.preparing import PreparedFeatures, features_of, prepare
from marginalia.learn.recipe import Recipe
from marginalia.learn.regularisers import RegulariserSettings
from marginalia.model import SavedModel
from marginalia.model.global_part import global_column

FOLDS = 5


@dataclass(frozen=True, eq=False)
class Staged:
    """Data with the columns of a first model, the features that look at them, and that model."""

    source: DataSource
    dev: DataSource | None
    features: PreparedFeatures
    first: SavedModel


def first_stage(
    source: DataSource,
    dev: DataSource | None,
    recipe: Recipe,
    threads: int = 1,
    say: Callable[[str], object] = lambda line: None,
) -> Staged:
    """Trains the first model, and labels the training data by cross-decoding and the dev data by it."""
    check_stages(recipe)
    source = source.loaded()
    wide = _widened(source, ())
    features = features_of(recipe, wide)
    if not features.program.has_first_labels:
        raise SettingsError(f"stages=2: no template looks at one of {', '.join(FIRST_COLUMNS)}.")
    own = replace(features, program=without_first_labels(features.program))
    say("stage 1 of 2: the first model")
    first = prepare(source, None, _first_recipe(recipe), threads=threads, features=own).finish()
    told: set[int] = set()
    with tempfile.TemporaryDirectory() as cache:

        def tell(progress: FoldProgress) -> None:
            if progress.done == 1.0 and progress.fold not in told:
                told.add(progress.fold)
                say(f"stage 1 of 2: fold {progress.fold + 1}/{FOLDS}")

        found = cross_decode(source, first, k=1, folds=FOLDS, threads=threads, cache=cache, on_progress=tell)
    say("stage 2 of 2")
    held_out = None if dev is None else _widened(dev, _labelled_by(first, dev.loaded().blocks()))
    return Staged(_widened(source, map(_Widening(first), found)), held_out, features, first.saved)


def check_stages(recipe: Recipe) -> None:
    """An error if a recipe does not go with two stages."""
    data = recipe.settings.data
    if kind_of(recipe.structure).name != "labels":
        raise SettingsError(f"stages=2 needs a structure that labels tokens, not {recipe.structure}.")
    for name, chosen in {"stream": data.stream, "partial": data.partial, "state": data.state}.items():
        if chosen:
            raise SettingsError(f"stages=2 does not go with {name}=on.")
    if recipe.global_features is not None:
        raise SettingsError(f"stages=2 does not go with the learner {recipe.learner}.")
    if recipe.dictionary is not None:
        raise SettingsError("stages=2 does not go with a dictionary.")


def _first_recipe(recipe: Recipe) -> Recipe:
    """That of the first model: the same, but a mean of several models is not worth its time there."""
    settings = recipe.settings
    learner: Any = settings.learner  # a record of its own class and of regularisers
    if isinstance(learner, RegulariserSettings):
        learner = replace(learner, shuffle_average=1)
    features = replace(settings.features, stages=1)
    return replace(recipe, settings=replace(settings, learner=learner, features=features))


def _widened(source: DataSource, blocks: Iterable[Block]) -> DataSource:
    """The source of other blocks, with the columns of the first model."""
    source = source.loaded()
    columns = source.layout.columns
    if taken := [name for name in columns if name in FIRST_COLUMNS]:
        raise DataError(
            f"found a column '{taken[0]}', expected other names: it is one of the first model",
            file=source.name,
        )
    return replace(source, columns=(*columns, *FIRST_COLUMNS), held=tuple(blocks))


class _Widening:
    """Adds the columns of the first model's labels to a block."""

    def __init__(self, first: TrainedModel) -> None:
        self._saved = first.saved
        self._column = global_column(self._saved.columns, self._saved.label)

    def __call__(self, found: Hypotheses) -> Block:
        labels = [self._saved.labels[i] for i in found.ids[0].tolist()]
        return with_first_labels(found.block, labels, self._saved.encoding, self._column)


def _labelled_by(first: TrainedModel, blocks: Iterable[Block]) -> Iterable[Block]:
    return (_Widening(first)(decode(first, block, 1, first.saved.labels)) for block in blocks)
