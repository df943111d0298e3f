"""What users call to train pipelines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from marginalia.corpus.document import Document
from marginalia.corpus.document_reader import read_conllu
from marginalia.decode.pipeline import Pipeline
from marginalia.errors import DataError, SettingsError
from marginalia.learn.pipeline.training import PartProgress, PipelineTraining
from marginalia.model.built_in import model_path
from marginalia.model.bundle import Bundle

Treebank = str | os.PathLike[str] | Document | Sequence[str | os.PathLike[str]]


def train_pipeline(
    train: Treebank,
    dev: Treebank | None = None,
    *,
    parts: Sequence[str] = (),
    start: Pipeline | str | os.PathLike[str] | None = None,
    spaces: bool | None = None,
    seed: int = 1,
    threads: int = 1,
    on_progress: Callable[[PartProgress], object] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Pipeline:
    """A pipeline from raw text to trees, trained on treebanks (files of CoNLL-U, or documents).

    `parts`: which to train, the others being those of the pipeline `start`. `spaces`: whether the language
    puts blanks between words, for treebanks without `# text`. `settings` are those of parts, such as
    `{"tags.passes": 5}`.
    """
    bundle = None
    if start is not None:
        bundle = start.bundle if isinstance(start, Pipeline) else Bundle.load(model_path(start))
    run = PipelineTraining(
        read_treebank(train, spaces),
        None if dev is None else read_treebank(dev, spaces),
        parts=parts,
        start=bundle,
        seed=seed,
        threads=threads,
        settings=settings,
    )
    return Pipeline(run.finish(on_progress))


def train_task(
    train: Any,
    dev: Any,
    refused: Mapping[str, Any],
    start: Any,
    seed: int,
    threads: int,
    on_progress: Callable[[Any], object] | None,
    settings: Mapping[str, Any],
) -> Pipeline:
    """`train_pipeline` as `train(…, task="ud")` calls it."""
    if given := [name for name, value in refused.items() if value]:
        raise SettingsError(f"task ud trains several models: {given[0]} is not for it.")
    own = dict(settings)
    parts, spaces = own.pop("parts", ()), own.pop("spaces", None)
    more = {"parts": parts, "spaces": spaces, "seed": seed, "threads": threads}
    return train_pipeline(train, dev, start=start, on_progress=on_progress, settings=own, **more)


def read_treebank(source: Treebank, spaces: bool | None = None) -> Document:
    """A treebank of one or more files as one document."""
    if isinstance(source, Document):
        return source
    if isinstance(source, (str, os.PathLike)):
        source = [source]
    documents = [_read(path, spaces) for path in source]
    if len(documents) == 1:
        return documents[0]
    if not documents:
        raise SettingsError("found no treebank, expected at least one file.")
    for document in documents[1:]:
        first = document.sentences[0] if document.sentences else None
        if first is not None and first.newdoc is None and first.newpar is None:
            first.comments.insert(0, "# newdoc")
    return Document.made([sentence for one in documents for sentence in one.sentences], spaces=spaces)


def _read(path: str | os.PathLike[str], spaces: bool | None) -> Document:
    document = read_conllu(path, spaces=spaces)
    if not document.sentences:
        raise DataError("found no sentences, expected a treebank with at least one", file=os.fspath(path))
    return document
