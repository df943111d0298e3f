"""Cross-decoding: the k best outputs of training data, each found by a model that has not seen it.

The data are cut into folds. For each fold a model is trained on all others by the recipe of a base model, and
gives the k best outputs of the fold (Collins 2002, re-ranking). What is done is kept in a folder, fold by
fold, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block, pack
from marginalia.corpus.records import Sentence
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.decode.threads import in_order
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.learn.preparing import PreparedFeatures, prepare
from marginalia.learn.recipe import Recipe, on_same_data, stored_recipe
from marginalia.learn.training import Training
from marginalia.model import SavedModel
from marginalia.model.container import checksum, container, file_bytes, read_arrays, read_header, write_file
from marginalia.model.provenance import Arrays
from marginalia.model.word_tables import tables_in

_FORMAT = "marginalia-hypotheses"
_DECISIVE = ("program", "structure", "learner", "settings", "seed", "scheme", "encoding", "history", "labels")


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """The k best outputs of the units (sentences or documents) of a block, under a base model.

    Ids are numbers of the base model's labels. Where a unit has fewer than k outputs, its best one stands in,
    with NaN for a score.
    """

    block: Block
    ids: npt.NDArray[np.int32]  # [ranks, tokens]
    scores: npt.NDArray[np.float64]  # [ranks, units]

    def of_units(
        self, starts: Sequence[int]
    ) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.float64]]]:
        """The outputs [k, tokens] of each unit, and their scores; of one without any legal output that which
        the search gives."""
        for unit, (first, last) in enumerate(pairwise(starts)):
            real = ~np.isnan(self.scores[:, unit])
            real[0] = True
            yield np.ascontiguousarray(self.ids[real, first:last]), self.scores[real, unit]


@dataclass(frozen=True)
class FoldProgress:
    """How far a fold is: `done` of its passes of training; None if it is done and was kept before."""

    fold: int
    folds: int
    done: float | None


class Stopped(Exception):
    """Cross-decoding was asked to stop; finished folds are kept."""


OnProgress = Callable[[FoldProgress], object]


def cross_decode(
    source: DataSource,
    base: TrainedModel,
    *,
    k: int,
    folds: int = 5,
    threads: int = 1,
    cache: str | os.PathLike[str],
    on_progress: OnProgress = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> list[Hypotheses]:
    """The k best outputs of all data, fold by fold, each by a model trained on the other folds.

    `threads` folds are worked on side by side; the result does not depend on them. Folds that the folder
    `cache` already has, made of the same data, recipe and numbers, are not made again.
    """
    saved = base.saved
    parts = split(source, folds, whole_documents=saved.settings_as(DataSettings).whole_documents)
    recipe, features = _fold_recipe(saved), PreparedFeatures.of(saved)
    kept = HypothesisCache(cache, fingerprint_of(saved, parts, k))

    def made(fold: int) -> Hypotheses:
        if (arrays := kept.load(fold)) is not None:
            on_progress(FoldProgress(fold, folds, None))
            return Hypotheses(parts[fold].blocks[0], arrays["ids"].astype(np.int32), arrays["scores"])
        others = tuple(block for other, part in enumerate(parts) if other != fold for block in part.blocks)
        training = prepare(replace(parts[fold].source, held=others), None, recipe, features=features)
        for done in _passes(training):
            on_progress(FoldProgress(fold, folds, done))
            if stop():
                raise Stopped
        model = training.model()
        found = decode(model, parts[fold].blocks[0], k, saved.labels)
        kept.store(fold, {"ids": found.ids.astype(np.uint16), "scores": found.scores})
        return found

    return list(in_order(made, range(folds), threads))


def decode(model: TrainedModel, block: Block, k: int, labels: Sequence[str]) -> Hypotheses:
    """The k best outputs of a block under a model, as numbers of `labels`."""
    whole = model.saved.settings_as(DataSettings).whole_documents
    unit = block.by_document() if whole else block
    found = model.decoder.ranked(unit, k)
    numbers = {label: number for number, label in enumerate(labels)}
    if unknown := [label for label in model.saved.labels if label not in numbers]:
        raise DataError(f"found the label {unknown[0]}, which the base model does not know")
    table = np.array([numbers[label] for label in model.saved.labels], np.int32)
    return Hypotheses(block, table[found.ids], found.scores)


@dataclass(frozen=True, eq=False)
class Part:
    """One fold of the data: its blocks, and the source that they are of."""

    source: DataSource
    blocks: tuple[Block, ...]


def split(source: DataSource, folds: int, *, whole_documents: bool) -> list[Part]:
    """The data in so many parts of about as many tokens, each a stretch of them; documents stay whole if the
    data tell them apart."""
    if folds < 2:
        raise SettingsError(f"folds: found {folds}, expected at least 2.")
    loaded = replace(source, stream=False).loaded()
    sentences = [sentence for block in loaded.blocks() for sentence in block.sentences()]
    groups = _groups(sentences, folds, whole_documents, source.name)
    columns = loaded.layout.columns
    parts: list[list[Sentence]] = [[] for _ in range(folds)]
    total, before = sum(map(len, sentences)), 0
    for number, group in enumerate(groups):
        size = sum(map(len, group))
        # The middle of a group decides, but no part stays without one.
        wanted = min(int((before + size / 2) * folds / max(total, 1)), folds - 1)
        nearest = max(wanted, folds - (len(groups) - number))
        fold = min(nearest, _first_empty(parts))
        parts[fold].extend(group)
        before += size
    return [Part(loaded, (pack(part, columns, source.name),)) for part in parts]


def _first_empty(parts: Sequence[Sequence[Sentence]]) -> int:
    return next((number for number, part in enumerate(parts) if not part), len(parts) - 1)


def _groups(
    sentences: Sequence[Sentence], folds: int, whole_documents: bool, name: str | None
) -> list[list[Sentence]]:
    """What is not cut: documents, or sentences where there are too few documents to tell apart."""
    groups: list[list[Sentence]] = []
    for sentence in sentences:
        if groups and groups[-1][-1].document == sentence.document:
            groups[-1].append(sentence)
        else:
            groups.append([sentence])
    if len(groups) >= folds:
        return groups
    if whole_documents:
        raise DataError(f"found {len(groups)} documents, expected at least {folds}, one a fold", file=name)
    if len(sentences) < folds:
        raise DataError(f"found {len(sentences)} sentences, expected at least {folds}, one a fold", file=name)
    return [[sentence] for sentence in sentences]


def _fold_recipe(saved: SavedModel) -> Recipe:
    """The recipe of a base model, with as many passes as its best one took, and no regard to dev data."""
    best = [record["number"] for record in saved.history if record.get("best")]
    passes = {} if not best else {"passes": max(best)}
    return stored_recipe(saved, **passes, patience=0, **on_same_data(saved))


def _passes(training: Training) -> Iterator[float]:
    """Trains; how much of it is done, now and then."""
    for record in training:
        within = 1.0 if record.finished else record.sentences / max(record.total, 1)
        yield (record.number - 1 + within) / max(record.passes, 1)


def fingerprint_of(saved: SavedModel, parts: Sequence[Part], k: int) -> str:
    """A digest of all that hypotheses depend on: the base model's recipe and features, the data, k."""
    digest = hashlib.blake2b(repr((k, len(parts))).encode(), digest_size=16)
    described = saved.metadata()
    for name in _DECISIVE:
        digest.update(repr((name, described[name])).encode("utf-8", "surrogatepass"))
    for _, array in sorted(tables_in(saved.arrays).items()):
        digest.update(np.ascontiguousarray(array).data)
    for part in parts:
        for block in part.blocks:
            digest.update(block.table.text)
            digest.update(block.table.attribute_bytes)
            digest.update(np.ascontiguousarray(block.table.sentence_starts).data)
            digest.update(np.ascontiguousarray(block.table.documents).data)
    return digest.hexdigest()


class HypothesisCache:
    """A folder with the hypotheses of folds; damaged ones, or those of other data, count as not there."""

    def __init__(self, folder: str | os.PathLike[str], fingerprint: str) -> None:
        self.folder, self._fingerprint = os.fspath(folder), fingerprint
        os.makedirs(self.folder, exist_ok=True)  # what cannot be written is to be known before training

    def path(self, fold: int) -> str:
        """Where the hypotheses of a fold are."""
        return os.path.join(self.folder, f"fold-{fold + 1}.hypotheses")

    def load(self, fold: int) -> Arrays | None:
        """The arrays of a fold, None if it is not there."""
        if not os.path.exists(self.path(fold)):
            return None
        with suppress(ModelError):
            metadata, header, body = read_header(file_bytes(self.path(fold)))
            if metadata.get("format") == _FORMAT and metadata.get("of") == self._of(fold):
                arrays = read_arrays(header, body)
                if metadata.get("checksum") == checksum(self._of(fold), arrays):
                    return arrays
        return None

    def store(self, fold: int, arrays: Arrays) -> None:
        """Keep the arrays of a fold, all of them or nothing."""
        arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        of = self._of(fold)
        metadata = {"format": _FORMAT, "of": of, "checksum": checksum(of, arrays)}
        write_file(self.path(fold), container(arrays, metadata))

    def _of(self, fold: int) -> str:
        return f"{self._fingerprint}/{fold}"
