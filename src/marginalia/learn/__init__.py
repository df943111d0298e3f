"""Training: recipes, data, learners and the loop that runs them. Never imported by tagging."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from marginalia.corpus.batches import guess_layout
from marginalia.decode.tagger import Tagger
from marginalia.learn.data import Corpus, Data, corpus_of_records
from marginalia.learn.recipe import TASKS, Recipe, make_recipe
from marginalia.learn.training import Progress, Training

__all__ = ["TASKS", "Progress", "Recipe", "Training", "make_recipe", "prepare", "train"]


def train(
    data: Data,
    dev: Data | None = None,
    *,
    task: str | None = None,
    structure: str = "chain",
    features: str | None = None,
    learner: str = "perceptron",
    columns: str | Sequence[str] | None = None,
    label: str | None = None,
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    lists: Mapping[str, str] | None = None,
    seed: int = 1,
    threads: int = 1,
    on_progress: Callable[[Progress], object] | None = None,
    **settings: Any,
) -> Tagger:
    """Train a model on files, sentence records or (tokens, labels) pairs.

    `task`, `structure`, `features` and `learner` are names (see the documentation), `features` may be a
    template file. `options` are those of the files' reader, such as `{"separator": "\\t"}`. All other
    keywords are settings, as after `--set` on the command line.
    """
    recipe = make_recipe(
        task,
        structure=structure,
        features=features,
        learner=learner,
        seed=seed,
        lists=lists,
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
    )
    for record in run:
        if on_progress is not None:
            on_progress(record)
    return run.model()


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
) -> Training:
    """A training run with its data read and its features extracted, about to begin."""
    stream = bool(recipe.settings["stream"])
    corpus = _corpus(data, columns, label, format, dict(options or {}), stream)
    held_out = None
    if dev is not None:
        held_out = _corpus(
            dev, corpus.layout.columns, corpus.layout.label, format, dict(options or {}), False
        )
    return Training(corpus, held_out, recipe, threads)


def _corpus(
    data: Any,
    columns: str | Sequence[str] | None,
    label: str | None,
    format: str | None,
    options: dict[str, Any],
    stream: bool,
) -> Corpus:
    paths = [data] if isinstance(data, (str, os.PathLike)) else data
    if isinstance(paths, Sequence) and paths and all(isinstance(p, (str, os.PathLike)) for p in paths):
        return Corpus(guess_layout(paths[0], format, columns, label, options), paths, stream=stream)
    return corpus_of_records(paths, label)


def _format(task: str | None) -> str | None:
    return TASKS[task].format if task is not None else None
