"""Training: recipes, data, learners and the loop that runs them. Never imported by tagging."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from marginalia.corpus.batches import guess_layout
from marginalia.decode.tagger import Tagger, load
from marginalia.errors import SettingsError
from marginalia.features.dictionary import Dictionary, dictionary_of
from marginalia.learn.calibration import calibrated
from marginalia.learn.correcting import corrected
from marginalia.learn.data import Corpus, Data, corpus_of_records
from marginalia.learn.labeler import Labeler
from marginalia.learn.receipts import Flip, Receipt, receipt_of
from marginalia.learn.recipe import TASKS, Recipe, make_recipe, recipe_of
from marginalia.learn.training import Progress, Training
from marginalia.model import SavedModel

__all__ = [
    "TASKS",
    "Flip",
    "Labeler",
    "Progress",
    "Receipt",
    "Recipe",
    "Training",
    "calibrate",
    "calibrated",
    "continued",
    "corpus_for",
    "fixed",
    "make_recipe",
    "prepare",
    "recipe_with",
    "train",
]


def train(
    data: Data,
    dev: Data | None = None,
    *,
    task: str | None = None,
    structure: str | None = None,
    features: str | None = None,
    learner: str = "perceptron",
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    lists: Mapping[str, str] | None = None,
    dictionary: Dictionary | str | os.PathLike[str] | Mapping[Any, Any] | None = None,
    seed: int = 1,
    threads: int = 1,
    start: Tagger | str | os.PathLike[str] | None = None,
    labels: Sequence[str] = (),
    sample_weights: Sequence[float] | None = None,
    on_progress: Callable[[Progress], object] | None = None,
    **settings: Any,
) -> Tagger:
    """Train a model on files, sentence records or (tokens, labels) pairs; instead of each token there may be
    its attributes, as a list of strings or a dictionary.

    `task`, `structure`, `features` and `learner` are names (see the documentation), `features` may be a
    template file. `dictionary` has phrases with labels, whose matches are features; in use, the model may be
    given another one. `start` is a model to begin with: its structure, features and labels are used.
    `labels` are known beforehand: the model can give them even if the data have none such. `sample_weights`
    has a number for each example. `options` are those of the files' reader, such as `{"separator": "\\t"}`.
    All other keywords are settings, as after `--set` on the command line.
    """
    begin = _start(start)
    recipe = recipe_with(
        begin,
        task,
        structure=structure,
        features=features,
        learner=learner,
        seed=seed,
        lists=lists,
        dictionary=None if dictionary is None else dictionary_of(dictionary),
        settings=settings,
    )
    run = prepare(
        data,
        dev,
        recipe,
        columns=columns,
        label=label,
        format=format or _format(task),
        options=options,
        threads=threads,
        start=begin,
        sample_weights=sample_weights,
        labels=labels,
    )
    return run.finish(on_progress)


def calibrate(
    model: Tagger,
    data: Data,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
) -> Tagger:
    """The model with a temperature that makes its scores probabilities, fitted on labelled data.

    The data, given as for `train`, must not be those that the model was trained on: of those it is too sure.
    """
    corpus = corpus_for(model.saved, data, columns=columns, label=label, format=format, options=options)
    return calibrated(model, corpus.blocks(), corpus.layout.label, threads)


def corpus_for(
    saved: SavedModel,
    data: Data,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Corpus:
    """Labelled data for a model, read as its training data were unless told otherwise."""
    return _corpus(
        data,
        columns or saved.columns,
        label or saved.label,
        format or saved.format,
        dict(saved.options if options is None else options),
        {"unit": "sentence", "partial": False} | saved.settings | {"stream": False},
    )


def fixed(
    model: Tagger, data: Corpus, *, margin: float = 1.0, check: Corpus | None = None, threads: int = 1
) -> tuple[SavedModel, Receipt]:
    """A model that labels all examples as they are labelled, and the receipt of the correction."""
    saved, replaced = corrected(model, data, margin)
    blocks, label = ([], "") if check is None else (check.blocks(), check.layout.label)
    return saved, receipt_of(model, Tagger(saved), replaced, blocks, label, threads)


def continued(
    saved: SavedModel,
    data: Data,
    *,
    passes: int = 1,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
    sample_weights: Sequence[float] | None = None,
) -> Training:
    """A run of a model's own learner that goes on where the model stopped, over other data."""
    return prepare(
        data,
        None,
        recipe_of(saved, passes),
        columns=columns,
        label=label,
        format=format or saved.format,
        options=saved.options if options is None else options,
        threads=threads,
        start=saved,
        sample_weights=sample_weights,
    )


def prepare(
    data: Data,
    dev: Data | None,
    recipe: Recipe,
    *,
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int = 1,
    start: SavedModel | None = None,
    sample_weights: Sequence[float] | None = None,
    labels: Sequence[str] = (),
) -> Training:
    """A training run with its data read and its features extracted, about to begin."""
    settings = recipe.settings
    if start is not None:
        columns, label = _as_before(start, recipe, columns, label)
    corpus = _corpus(data, columns, label, format, dict(options or {}), settings)
    held_out = None
    if dev is not None:
        held_out = _corpus(
            dev,
            corpus.layout.columns,
            corpus.layout.label,
            format,
            dict(options or {}),
            settings | {"stream": False},
        )
    return Training(
        corpus, held_out, recipe, threads, sample_weights=sample_weights, start=start, labels=labels
    )


def _corpus(
    data: Any,
    columns: str | Sequence[str] | None,
    label: str | None,
    format: str | None,
    options: dict[str, Any],
    settings: Mapping[str, Any],
) -> Corpus:
    paths = [data] if isinstance(data, (str, os.PathLike)) else data
    documents, partial = settings["unit"] == "document", bool(settings.get("partial"))
    if isinstance(paths, Sequence) and paths and all(isinstance(p, (str, os.PathLike)) for p in paths):
        layout = guess_layout(paths[0], format, columns, label, options)
        if documents and layout.format not in ("conll", "conllu"):
            raise SettingsError(f"unit=document: {layout.format} files do not tell documents apart.")
        layout = replace(layout, whole_documents=documents, partial=partial)
        return Corpus(layout, paths, stream=settings["stream"])
    return corpus_of_records(paths, label, documents, partial)


# What the weights of a model depend on: a run that begins with it has the same.
_INHERITED = {"order": 1, "legal": True, "unit": "sentence"}
_KEPT = ("max-length",)  # the same, unless another is given


def recipe_with(
    start: SavedModel | None,
    task: str | None = None,
    *,
    structure: str | None = None,
    features: str | None = None,
    learner: str = "perceptron",
    seed: int = 1,
    lists: Mapping[str, str] | None = None,
    dictionary: Dictionary | None = None,
    settings: Mapping[str, Any],
) -> Recipe:
    """The recipe of a run that may begin with a model: what the user gave, and what the model brings."""
    own: dict[str, Any] = {"features": features, "lists": lists, "dictionary": dictionary}
    if structure is None:
        structure = start.structure if start is not None else "chain"
    if start is not None:
        settings = _inherited(start, structure, settings, own)
    return make_recipe(task, structure=structure, learner=learner, seed=seed, settings=settings, **own)


def _inherited(
    start: SavedModel, structure: str, settings: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings, with those that the model depends on."""
    found = [name for name in ("scheme", "encode") if str(settings.get(name, "auto")) != "auto"]
    found += [name for name, given in own.items() if given]
    if found:
        raise SettingsError(f"found {' and '.join(found)}, but a model to begin with brings its own.")
    names = (*_INHERITED, *_KEPT) if structure == start.structure else ()  # `prepare` refuses another one
    return {name: start.settings[name] for name in names if name in start.settings} | dict(settings)


def _start(start: Tagger | str | os.PathLike[str] | None) -> SavedModel | None:
    if start is None or isinstance(start, Tagger):
        return None if start is None else start.saved
    if not isinstance(start, (str, os.PathLike)):
        raise SettingsError(f"start: found {start!r}, expected a model or the name of its file.")
    return load(start).saved


def _as_before(
    start: SavedModel, recipe: Recipe, columns: str | Sequence[str] | None, label: str | None
) -> tuple[str | Sequence[str], str]:
    """The columns and the label of a model to begin with; what contradicts it is refused."""
    if recipe.structure != start.structure:
        raise SettingsError(
            f"structure: found {recipe.structure}, but the model to begin with has {start.structure}."
        )
    for name, default in _INHERITED.items():
        if (found := recipe.settings.get(name, default)) != start.settings.get(name, default):
            raise SettingsError(
                f"setting '{name}': found {found}, but the model to begin with has "
                f"{start.settings.get(name, default)}."
            )
    return columns or start.columns, label or start.label


def _format(task: str | None) -> str | None:
    return TASKS[task].format if task is not None else None
