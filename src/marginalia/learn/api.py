"""What users call: training, calibration, corrections and further training."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import Data, DataSource
from marginalia.decode.model import TrainedModel
from marginalia.errors import SettingsError
from marginalia.features.dictionary import Dictionary, dictionary_of
from marginalia.kinds import kind_of, load, model_of
from marginalia.kinds.reader import Reading, scheme_of_records
from marginalia.learn.calibration import calibrated
from marginalia.learn.correcting import corrected
from marginalia.learn.correction_report import CorrectionReport, report_correction
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import TASKS, GlobalChoice, Recipe, recipe_of, recipe_with
from marginalia.learn.self_training import Unlabelled, prepare_self_training
from marginalia.learn.training import Progress, Training, TrainingRun
from marginalia.model import SavedModel

Own = TypeVar("Own", bound=TrainedModel)


def train(
    data: Data,
    dev: Data | None = None,
    *,
    task: str | None = None,
    structure: str | None = None,
    features: str | None = None,
    learner: str | None = None,
    preset: str | None = None,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    lists: Mapping[str, str] | None = None,
    clusters: Mapping[str, str] | None = None,
    lexicons: Mapping[str, str] | None = None,
    dictionary: Dictionary | str | os.PathLike[str] | Mapping[Any, Any] | None = None,
    global_features: str | os.PathLike[str] | None = None,
    global_functions: Sequence[str] = (),
    lowercase: str | os.PathLike[str] | None = None,
    seed: int = 1,
    threads: int = 1,
    start: TrainedModel | str | os.PathLike[str] | None = None,
    labels: Sequence[str] = (),
    sample_weights: Sequence[float] | None = None,
    also_unlabelled: Unlabelled | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    **settings: Any,
) -> Any:
    """Train a model on files, sentence records or (tokens, labels) pairs; instead of each token there may be
    its attributes, as a list of strings or a dictionary.

    `task`, `structure`, `features`, `learner` and `preset` (fast, balanced or best; it chooses the learner)
    are names (see the documentation), `features` may be a template file. `lists` are files of phrases by
    name, `clusters` files of word clusters, `lexicons` files of words with their labels (marginalia lexicon).
    `dictionary` has phrases with labels, whose matches are features; in use, the model may be given another.
    `global_features` (a set or a file), `global_functions` ("module:function") and `lowercase` (a word list)
    are for the learner nonlocal (docs/global-features.md). `start` is a model to begin with: its structure,
    features and labels are used. `labels` are known beforehand: the model can give them even if the data have
    none such. `sample_weights` has a number for each example. `also_unlabelled` is text to learn from, too
    (docs/self-training.md). `options` are those of the files' reader, such
    as `{"separator": "\\t"}`. All other keywords are settings, as after `--set` on the command line.

    The task `ud` gives a `Pipeline` from treebanks in CoNLL-U; it knows `parts` and `spaces` besides
    (docs/ud.md), and its settings are those of parts: `**{"tags.passes": 5}`.
    """
    if (task := task and task.lower()) == "ud":
        from marginalia.learn.pipeline.api import train_task

        own: dict[str, Any] = {"columns": columns, "label": label, "structure": structure}
        own |= {"features": features, "format": format, "options": options, "lists": lists}
        own |= {"clusters": clusters, "lexicons": lexicons, "dictionary": dictionary}
        own |= {"global_features": global_features, "lowercase": lowercase}
        own |= {"also_unlabelled": also_unlabelled, "learner": learner}
        settings = {**({"preset": preset} if preset else {}), **settings}
        return train_task(data, dev, own, start, seed, threads, on_progress, settings)
    begin = _start(start)
    recipe = recipe_with(
        begin,
        task,
        structure=structure,
        features=features,
        learner=learner,
        preset=preset,
        seed=seed,
        lists=lists,
        clusters=clusters,
        lexicons=lexicons,
        dictionary=None if dictionary is None else dictionary_of(dictionary),
        global_choice=GlobalChoice(
            None if global_features is None else os.fspath(global_features),
            tuple(global_functions),
            None if lowercase is None else os.fspath(lowercase),
        ),
        settings=settings,
    )
    source = _source_of(task, DataSource(data, columns, label, format, options))
    more: dict[str, Any] = {"threads": threads, "start": begin, "labels": labels}
    more["sample_weights"] = sample_weights
    return _run(source, dev, recipe, also_unlabelled, more).finish(on_progress)


def _source_of(task: str | None, source: DataSource) -> DataSource:
    """The data, read as a task reads them where nothing else is said."""
    if task is None:
        return source
    data = source.data
    first = data[0] if isinstance(data, (list, tuple)) and data else data
    format, options = TASKS[task].reading(first, source.format, source.options or {})
    return replace(source, format=format, options=options)


def _run(
    source: DataSource, dev: Data | None, recipe: Recipe, text: Unlabelled | None, more: dict[str, Any]
) -> TrainingRun:
    if text is not None:
        return prepare_self_training(source, dev, recipe, text, **more)
    return prepare(source, dev, recipe, **more)


def _start(start: TrainedModel | str | os.PathLike[str] | None) -> SavedModel | None:
    if start is None or isinstance(start, TrainedModel):
        return None if start is None else start.saved
    if not isinstance(start, (str, os.PathLike)):
        raise SettingsError(f"start: found {start!r}, expected a model or the name of its file.")
    model: TrainedModel = load(start)
    return model.saved


def calibrate(
    model: Own,
    data: Data,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
) -> Own:
    """The model with a temperature that makes its scores probabilities, fitted on labelled data.

    The data, given as for `train`, must not be those that the model was trained on: of those it is too sure.
    """
    source = source_for(model.saved, DataSource(data, columns, label, format, options))
    return calibrated(model, source.blocks(), source.layout.label, threads)


def source_for(saved: SavedModel, source: DataSource) -> DataSource:
    """Labelled data for a model, read as its training data were unless the source says otherwise."""
    data, reader = saved.settings_as(DataSettings), kind_of(saved.structure).reader
    format, options = reader.format_and_options(saved, _reading_of(source))
    return replace(
        source,
        columns=source.columns or saved.columns,
        label=source.label or saved.label,
        format=format,
        options=options if source.options is None else source.options,
        whole_documents=data.whole_documents,
        to_document_ends=saved.program.of_documents,
        partial=data.partial,
        items=reader.items,
        scheme=scheme_of_records(saved),
    )


def _reading_of(source: DataSource) -> Reading:
    return Reading(source.format, file=source.name or "")


def fixed(
    model: TrainedModel,
    source: DataSource,
    *,
    margin: float = 1.0,
    check: DataSource | None = None,
    threads: int = 1,
) -> tuple[SavedModel, CorrectionReport]:
    """A model that labels all examples as they are labelled, and the report of the correction."""
    saved, replaced = corrected(model, source, margin)
    blocks, label = ((), "") if check is None else (check.blocks(), check.layout.label)
    return saved, report_correction(model, model_of(saved), replaced, blocks, label, threads)


def continued(
    saved: SavedModel,
    source: DataSource,
    *,
    passes: int = 1,
    threads: int = 1,
    sample_weights: Sequence[float] | None = None,
) -> Training:
    """A run of a model's own learner that goes on where the model stopped, over other data."""
    reader = kind_of(saved.structure).reader
    format, options = reader.format_and_options(saved, _reading_of(source))
    own = options if source.options is None else source.options
    source = replace(source, format=format, options=own, scheme=scheme_of_records(saved))
    recipe = recipe_of(saved, passes)
    return prepare(source, None, recipe, threads=threads, start=saved, sample_weights=sample_weights)
