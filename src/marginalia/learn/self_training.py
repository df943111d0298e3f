"""Self-training: a model labels raw text, and learns again with the sentences that it is sure of.

What it brings is measured on held-out data, and the model without it is kept if it brings nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from marginalia import _core
from marginalia.corpus.answers import Answer
from marginalia.corpus.batches import Batch, Layout, read_batches
from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import LabelCoder
from marginalia.corpus.source import Data, DataSource
from marginalia.corpus.streams import replacing
from marginalia.decode.model import TrainedModel
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import SettingsError
from marginalia.kinds import kind_of
from marginalia.kinds.kind import OutputKind, Scores
from marginalia.kinds.labelled import named
from marginalia.kinds.reader import Reading
from marginalia.learn.calibration import calibrated
from marginalia.learn.data import TrainingSet
from marginalia.learn.preparing import prepare, training_source
from marginalia.learn.recipe import Recipe
from marginalia.learn.training import Progress, Training, finish
from marginalia.model import SavedModel

_LABELS = "labels"  # the kind of output of sentences whose tokens have labels


@dataclass(frozen=True)
class Unlabelled:
    """Text to learn from: files, how sure a model must be of a sentence, and how the files are read (None: as
    the training data)."""

    paths: Sequence[str | os.PathLike[str]]
    min_confidence: float = 0.99
    format: str | None = None


class AddedSentence(NamedTuple):
    """A sentence that was added: its columns, its labels, how probable they are, and where it stands."""

    columns: tuple[tuple[str, ...], ...]
    labels: tuple[str, ...]
    confidence: float
    file: str | None
    line: int | None


@dataclass
class SelfTrainingReport:
    """What was read and added, and what it brought on held-out data."""

    sentences: int = 0
    added: list[AddedSentence] = field(default_factory=list)
    before: float | None = None
    after: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the model with them is better."""
        return self.before is not None and self.after is not None and self.after > self.before

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "sentences": self.sentences,
            "added": len(self.added),
            "added_tokens": sum(len(one.labels) for one in self.added),
            "dev_before": self.before,
            "dev_after": self.after,
            "kept": self.kept,
        }

    def __str__(self) -> str:
        found = f"{len(self.added):,} of {self.sentences:,} unlabelled sentences were sure enough"
        if self.after is None or self.before is None:
            return f"self-training: {found}: nothing was learned again"
        fate = "kept" if self.kept else "not better, and not kept"
        return f"self-training: {found}: dev {self.before:.2f} without, {self.after:.2f} with them, {fate}"


Add = Callable[[Training, SelfTrainingReport], "Training | None"]
"""Makes the second run from the first one, and tells what was added; None if nothing was."""


class SelfTraining:
    """A run, then one with more data. All that is asked of it is answered by the better of them so far."""

    def __init__(self, first: Training, add: Add) -> None:
        self._first, self._add = first, add
        self._second: Training | None = None
        self.self_training = SelfTrainingReport()

    def __iter__(self) -> Iterator[Progress]:
        yield from self._first
        report = self.self_training
        report.before = _score(self._first)
        self._second = self._add(self._first, report)
        for record in self._second or ():
            assert self._second is not None, "it has made a pass"
            report.after = _score(self._second)
            yield replace(record, seconds=self.seconds)

    @property
    def _kept(self) -> Training:
        return self._second if self._second is not None and self.self_training.kept else self._first

    @property
    def data(self) -> TrainingSet:
        """What the better run learns from."""
        return self._kept.data

    @property
    def coder(self) -> LabelCoder:
        """Its labels and their scheme."""
        return self._kept.coder

    @property
    def recipe(self) -> Recipe:
        """What is trained, in both runs."""
        return self._first.recipe

    @property
    def kind(self) -> OutputKind[Any]:
        """The kind of output."""
        return self._first.kind

    @property
    def notes(self) -> list[str]:
        """Its notes; after the first run, what the second one has brought."""
        report = self.self_training
        return [*self._kept.notes, *([] if report.before is None else [str(report)])]

    @property
    def history(self) -> list[Progress]:
        """The passes of the better run."""
        return self._kept.history

    @property
    def report(self) -> Scores | None:
        """How good its model is on dev data."""
        return self._kept.report

    @property
    def seconds(self) -> float:
        """Time since the first run began."""
        return self._first.seconds

    def model(self) -> TrainedModel:
        """Its best model so far."""
        return self._kept.model()

    def finish(self, on_progress: Callable[[Progress], object] | None = None) -> TrainedModel:
        """Makes all passes, tells of each, and gives the model."""
        return finish(self, on_progress)


def _score(run: Training) -> float | None:
    return None if run.report is None else run.report.score


def prepare_self_training(
    source: DataSource,
    dev: Data | None,
    recipe: Recipe,
    text: Unlabelled,
    *,
    threads: int = 1,
    start: SavedModel | None = None,
    sample_weights: Sequence[float] | None = None,
    **more: Any,
) -> SelfTraining:
    """A run that learns twice, about to begin: from labelled data, then from what it made of text, too."""
    _check(recipe, text)
    if dev is None:
        raise SettingsError("unlabelled text needs dev data, which tell whether it helps: give some.")
    held_out: Data = dev
    source = training_source(source, recipe, start).loaded()
    options: dict[str, Any] = {"threads": threads, "start": start, **more}
    first = prepare(source, dev, recipe, sample_weights=sample_weights, **options)
    _check_text(first.model(), text)

    def add(run: Training, report: SelfTrainingReport) -> Training | None:
        blocks = list(_sure_blocks(run, source.like(held_out), text, threads, report))
        if not report.added:
            return None
        joined = replace(source, held=(*source.held, *blocks))  # type: ignore[misc]
        given = sample_weights if sample_weights is not None else [1.0] * run.data.units
        weights = [*given, *(one.confidence for one in report.added)]
        return prepare(joined, dev, recipe, sample_weights=weights, **options)

    return SelfTraining(first, add)


def _check(recipe: Recipe, text: Unlabelled) -> None:
    if STRUCTURES[recipe.structure].kind != _LABELS:
        raise SettingsError(f"unlabelled text is for labels of tokens, not for {recipe.structure}.")
    if not 0.0 <= text.min_confidence <= 1.0:
        raise SettingsError(f"min-confidence: found {text.min_confidence}, expected a number from 0 to 1.")
    data = recipe.settings.data
    if data.stream or data.whole_documents or recipe.settings.features.stages > 1:
        raise SettingsError("unlabelled text does not go with stream=on, unit=document or stages=2.")


def _check_text(model: Any, text: Unlabelled) -> None:
    """Reads the text once, so that what is wrong with it is told before anything is learned."""
    if model.saved.program.explicit or model.saved.program.of_documents:
        raise SettingsError(
            "unlabelled text is for templates over columns that look at one sentence at a time."
        )
    for path in text.paths:
        for batch in _batches(path, model, text):
            for name in model.feature_columns:
                batch.block.column(name)


def _batches(path: str | os.PathLike[str], model: Any, text: Unlabelled) -> Iterator[Batch]:
    layout = kind_of(model.saved.structure).reader.input_layout(model.saved, Reading(text.format))
    return (named(batch, model) for batch in read_batches(path, layout))


def _sure_blocks(
    run: Training, dev: DataSource, text: Unlabelled, threads: int, report: SelfTrainingReport
) -> Iterator[Block]:
    """The sentences of the text that the run's model is sure of, each once, as labelled blocks."""
    model: Any = calibrated(run.model(), dev.blocks(), dev.layout.label, threads)
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for path in text.paths:
        for batch, answer in model.tag_batches(_batches(path, model, text), threads, confidence=True):
            report.sentences += batch.block.table.sentences
            sure = [s for s in _sure(batch, answer, model, text) if s.columns not in seen]
            sure = list({sentence.columns: sentence for sentence in sure}.values())
            seen |= {sentence.columns for sentence in sure}
            report.added += sure
            if sure:
                yield _block(sure, dev.layout, model.feature_columns)


def _sure(batch: Batch, answer: Answer, model: Any, text: Unlabelled) -> Iterator[AddedSentence]:
    block, starts = batch.block, batch.block.table.sentence_starts.tolist()
    columns = [block.column(name) for name in model.feature_columns]
    labels = [model.labels[i] for i in answer.ids.tolist()]
    assert answer.confidence is not None
    for s, (first, last) in enumerate(pairwise(starts)):
        probability = float(answer.confidence.sentence[s])
        if first < last and probability >= text.min_confidence:
            cut = tuple(tuple(column[first:last]) for column in columns)
            place = block.file, block.line_of(s)
            yield AddedSentence(cut, tuple(labels[first:last]), min(probability, 1.0), *place)


def _block(sentences: list[AddedSentence], layout: Layout, names: Sequence[str]) -> Block:
    """Sentences with their labels in the columns of the training data; what no template reads is _."""
    columns: list[list[str]] = []
    for name in layout.columns:
        if name == layout.label:
            columns.append([label for one in sentences for label in one.labels])
        elif name in names:
            at = list(names).index(name)
            columns.append([value for one in sentences for value in one.columns[at]])
        else:
            columns.append(["_" for one in sentences for _ in one.labels])
    table = _core.from_columns(columns, [len(one.labels) for one in sentences])
    return Block(table, layout.columns, sentence_lines=tuple(one.line or 0 for one in sentences))


def write_added(path: str, report: SelfTrainingReport) -> None:
    """A file of columns with the sentences that were added, each after a comment that says where it stands
    and how sure the model was of it."""
    with replacing(path) as stream:
        for one in report.added:
            place = f"{one.file}:{one.line}" if one.line else str(one.file)
            stream.write(f"# confidence = {one.confidence:.4f}; {place}\n".encode())
            rows = zip(*one.columns, one.labels, strict=True)
            stream.write(("".join("\t".join(row) + "\n" for row in rows) + "\n").encode())
