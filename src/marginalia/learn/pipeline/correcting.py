"""Corrections of pipelines: parts of tags and the parser changed until sentences are as they should be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marginalia.corpus.document import Document, ParsedSentence
from marginalia.corpus.records import Sentence
from marginalia.corpus.source import DataSource
from marginalia.corpus.words import Word
from marginalia.decode.model import TrainedModel
from marginalia.decode.pipeline import Pipeline
from marginalia.decode.pipeline.parts import EMPTY, PARSER, TAGS, LabelPart, joined_label
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.kinds.pipelines import copies
from marginalia.learn.api import fixed, source_for
from marginalia.learn.correction_report import CorrectionReport, Flip
from marginalia.learn.pipeline.examples import lengths_of, sentences_of
from marginalia.model.bundle import Bundle
from marginalia.model.corrections import Correction, correction_of, undone
from marginalia.model.saved import SavedModel

_NUMBER = "pipeline"  # the key of a correction's record that says which one of the pipeline's it belongs to
Columns = dict[str, list[str]]


@dataclass(frozen=True)
class PipelineReport:
    """What a correction did, by part, and which of so many `checked` sentences have other tags or trees."""

    number: int
    parts: Mapping[str, CorrectionReport]
    checked: int = 0
    flips: tuple[Flip, ...] = ()

    def flipped(self, kind: str) -> list[Flip]:
        """The flips of one kind."""
        return [flip for flip in self.flips if flip.kind == kind]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        parts = {name: report.to_json() for name, report in self.parts.items()}
        flips = [flip.to_json() for flip in self.flips]
        return {"number": self.number, "parts": parts, "checked": self.checked, "flips": flips}


def correct_pipeline(
    pipeline: Pipeline,
    sentences: Sequence[ParsedSentence],
    parts: Sequence[str] = (),
    margin: float = 1.0,
    check: Document | None = None,
    threads: int = 1,
) -> tuple[Bundle, PipelineReport]:
    """The pipeline whose parts give sentences, with their words given, the tags and trees that they have: all
    parts for which they have any, or these (`tags`: all of tags). Each part sees what those before it say
    after their own correction. All of it is one correction, which is undone as a whole."""
    if not any(sentence.words for sentence in sentences):
        raise DataError("found no sentences, expected at least one that is right")
    bundle, words, lengths = pipeline.bundle, _words(sentences), lengths_of(sentences)
    number, reports = 1 + max(map(_last, bundle.parts.values()), default=0), {}
    for name in _chosen(pipeline, words, parts):
        seen = _seen(Pipeline(bundle), name, words, lengths)
        model: TrainedModel = _model(pipeline, name)
        label = model.saved.label
        records = sentences_of(seen | _right(pipeline, name, words, label), lengths)
        saved, reports[name] = _fixed(name, model, records, label, margin)
        bundle = replace(bundle, parts=bundle.parts | {name: _numbered(saved, number)})
    flips: list[Flip] = []
    if check is not None:
        flips = list(_flips(pipeline, Pipeline(bundle), check.sentences, list(reports), threads))
    return bundle, PipelineReport(number, reports, len(check.sentences) if check else 0, tuple(flips))


def undo_correction(bundle: Bundle) -> Bundle:
    """The pipeline before its last correction, bit for bit."""
    number = max(map(_last, bundle.parts.values()), default=0)
    if not number:
        raise ModelError("the pipeline has no corrections, so there is none to undo.")
    parts = {name: undone(part) if _last(part) == number else part for name, part in bundle.parts.items()}
    return replace(bundle, parts=parts)


def pipeline_corrections(bundle: Bundle) -> list[dict[str, Correction]]:
    """What the pipeline was taught after its training, by part; the first correction first."""
    found: dict[int, dict[str, Correction]] = {}
    for name, part in bundle.parts.items():
        for place, record in enumerate(part.corrections):
            found.setdefault(_number(record), {})[name] = correction_of(part, place)
    return [found[number] for number in sorted(found)]


def _number(record: Mapping[str, Any]) -> int:
    number = record.get(_NUMBER)
    if type(number) is not int or number < 1:
        raise ModelError("the corrections of the pipeline are damaged: one has no number.")
    return number


def _last(part: SavedModel) -> int:
    """The number of a part's last correction; 0 if it has none."""
    return _number(part.corrections[-1]) if part.corrections else 0


def _numbered(saved: SavedModel, number: int) -> SavedModel:
    *earlier, last = saved.corrections
    return replace(saved, corrections=[*earlier, {**last, _NUMBER: number}])


def _words(sentences: Sequence[ParsedSentence]) -> list[Word]:
    return [word for sentence in sentences for word in sentence.words]


def _chosen(pipeline: Pipeline, words: Sequence[Word], asked: Sequence[str]) -> list[str]:
    """The parts to correct, in the order in which they work."""
    tags = [part.name for part in pipeline.annotator.tags]
    known = [*tags, *([PARSER] if pipeline.annotator.parser is not None else [])]
    wanted = [one for name in asked for one in (tags if name == TAGS else [name])]
    if unknown := [name for name in wanted if name not in known]:
        raise SettingsError(f"part: found '{unknown[0]}', expected one of {', '.join(known)}.")
    there = [name for name in known if _is_known(pipeline, name, words)]
    if lacking := [name for name in wanted if name not in there]:
        raise DataError(f"the sentences have nothing that the part '{lacking[0]}' gives")
    if not there:
        raise DataError("the sentences have neither tags nor heads, expected what is right")
    return [name for name in there if name in wanted or not wanted]


def _is_known(pipeline: Pipeline, name: str, words: Sequence[Word]) -> bool:
    if name == PARSER:
        return any(word.head is not None for word in words)
    columns = _part(pipeline, name).columns
    return any(getattr(word, column) != EMPTY for word in words for column in columns)


def _part(pipeline: Pipeline, name: str) -> LabelPart:
    return next(part for part in pipeline.annotator.tags if part.name == name)


def _model(pipeline: Pipeline, name: str) -> TrainedModel:
    model: TrainedModel = pipeline.annotator.parser.model if name == PARSER else _part(pipeline, name).tagger
    return model


def _seen(pipeline: Pipeline, name: str, words: Sequence[Word], lengths: Sequence[int]) -> Columns:
    """What a part sees of words when it is used."""
    annotator = pipeline.annotator
    columns = annotator.tagged(words, lengths, given=False)
    if name == PARSER:
        if annotator.lemmas is not None:
            columns["lemma"] = annotator.lemmas.lemmas(columns)
        columns = annotator.for_parser(columns, lengths)
    none = [EMPTY] * len(words)
    return {column: columns.get(column, none) for column in _model(pipeline, name).feature_columns}


def _right(pipeline: Pipeline, name: str, words: Sequence[Word], label: str) -> Columns:
    """What a part should say of words."""
    if name == PARSER:
        heads = [EMPTY if word.head is None else str(word.head) for word in words]
        return {"head": heads, label: [word.deprel for word in words]}
    columns = _part(pipeline, name).columns
    return {label: [joined_label([getattr(word, column) for column in columns]) for word in words]}


def _fixed(
    name: str, model: TrainedModel, records: list[Sentence], label: str, margin: float
) -> tuple[SavedModel, CorrectionReport]:
    if model.saved.is_shrunk:
        raise ModelError(
            f"the part '{name}' cannot be corrected: its weights are kept in few bits, which cannot be "
            f"changed a little. Train it with --set {name}.bits=32 --set {name}.keep=0 (--part)."
        )
    try:
        return fixed(model, source_for(model.saved, DataSource(records, label=label)), margin=margin)
    except (DataError, ModelError) as error:
        raise type(error)(f"the part '{name}': {error}") from None


def _flips(
    before: Pipeline,
    after: Pipeline,
    gold: Sequence[ParsedSentence],
    parts: Sequence[str],
    threads: int,
) -> Iterator[Flip]:
    """Sentences of which one of these parts says something else; their words are given."""
    columns = [c for name in parts if name != PARSER for c in _part(before, name).columns]
    columns += ["deprel", "head"] if PARSER in parts else []
    rows = [copies(gold), copies(gold)]
    for pipeline, own in zip((before, after), rows, strict=True):
        list(pipeline.annotate(own, ("tokens",), threads))
    for number, sentences in enumerate(zip(gold, *rows, strict=True), 1):
        right, old, new = (tuple(_told(word, columns) for word in one.words) for one in sentences)
        if old != new:
            yield Flip(number, tuple(word.form for word in sentences[0].words), right, old, new)


def _told(word: Word, columns: Sequence[str]) -> str:
    return " ".join(str(getattr(word, column)) for column in columns)
