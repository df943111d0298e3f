"""What a model says of a batch, written back in the batch's own format: labels, and how sure they are.

Confidences have four decimals. In columns they stand before the label: of the token, of its span (`_` outside
of spans), of the whole sentence; then, if a model may abstain, the label that was taken back, or `_`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.batches import Batch, Layout
from marginalia.corpus.conllu import commented
from marginalia.corpus.formats import CUT_TEXT, format_of
from marginalia.corpus.partial import without_regions
from marginalia.corpus.records import Certainty, Sentence, Span
from marginalia.corpus.schemes import labels_of, spans_of, split_label
from marginalia.corpus.segmented import segmented_records
from marginalia.corpus.translation import scheme_labels
from marginalia.errors import SettingsError

_TREEBANKS = ("conllu", "conllu-text")  # what is of a whole sentence stands in comments
_OF_TAGS = ("tag_separator", "tag_column")  # options of writers
Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class BlockConfidence:
    """Probabilities of what the labels of a block say: of each token, span and sentence."""

    token: Numbers
    span: Numbers
    span_begin: npt.NDArray[np.uint32]
    span_end: npt.NDArray[np.uint32]
    sentence: Numbers

    @cached_property
    def span_tokens(self) -> npt.NDArray[np.intp]:
        """The tokens of all spans, one after another."""
        lengths = (self.span_end - self.span_begin).astype(np.intp)
        before = np.cumsum(lengths) - lengths
        return np.repeat(self.span_begin.astype(np.intp) - before, lengths) + np.arange(lengths.sum())

    def columns(self, starts: npt.NDArray[Any]) -> Numbers:
        """[tokens, 3]: of the token, of its span (NaN if it has none), of its sentence."""
        of_span = np.full(len(self.token), np.nan)
        of_span[self.span_tokens] = np.repeat(self.span, self.span_end - self.span_begin)
        return np.stack([self.token, of_span, np.repeat(self.sentence, np.diff(starts))], axis=1)

    def by_sentence(self, starts: Sequence[int]) -> list[tuple[float, list[float], list[float]]]:
        """By sentence its own probability, those of its tokens and those of its spans."""
        token, span = self.token.tolist(), self.span.tolist()
        bounds = np.searchsorted(self.span_begin, starts).tolist()
        return [
            (whole, token[starts[s] : starts[s + 1]], span[bounds[s] : bounds[s + 1]])
            for s, whole in enumerate(self.sentence.tolist())
        ]


class Answer(NamedTuple):
    """Label ids of a batch, and how sure they are. If the model may abstain: the labels before, and which of
    that it took back (the label `_` elsewhere). Under constraints: those that sentences break, and sentences
    that may have better labels."""

    ids: Ids
    confidence: BlockConfidence | None = None
    before_abstention: Ids | None = None
    taken_back: Ids | None = None
    broken: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    inexact: frozenset[int] = frozenset()


class Ranked(NamedTuple):
    """One of the best outputs of each sentence of a batch, or of each document.

    By sentence their scores (NaN: there is no such output) and probabilities, if the model gives them; how
    sure what they say is, if that was asked for; under constraints as in `Answer`. `units`: the first
    sentences of the documents that outputs are of, and the number of all sentences.
    """

    ids: Ids
    scores: Numbers
    probabilities: Numbers | None = None
    confidence: BlockConfidence | None = None
    broken: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    inexact: frozenset[int] = frozenset()
    units: npt.NDArray[np.intp] | None = None

    @property
    def bounds(self) -> npt.NDArray[np.intp]:
        """The first sentence of each unit, and the number of sentences."""
        return np.arange(len(self.scores) + 1) if self.units is None else self.units


class LabelWriter:
    """Writes batches back in their own format with what a model says of them, one after the other. In item
    files, labels take the place of those that were there."""

    def __init__(self, target: BinaryIO, layout: Layout, labels: Sequence[str], scheme: str | None) -> None:
        self._target, self._layout = target, layout
        self._labels, self._scheme = list(labels), scheme
        if layout.format == "conll" and layout.options.get("separator") != "\t":
            self._refuse_blanks()

    def _refuse_blanks(self) -> None:
        for label in self._labels:
            if len(label.split()) > 1:
                raise SettingsError(
                    f"found label {label!r}, which columns with blanks between them cannot have: "
                    "choose tabs (--separator tab)."
                )

    def write(self, batch: Batch, answer: Answer) -> None:
        """The batch with `labels[ids[token]]`: as a last column, or in the place its format has for them."""
        sure, starts = answer.confidence, batch.block.table.sentence_starts
        if self._layout.format == "crfsuite":
            if sure is not None or answer.taken_back is not None:
                raise SettingsError("item files have no place for confidences and what was taken back.")
            column = batch.block.index(self._layout.label)
            self._target.write(batch.block.table.replace_column(column, self._labels, answer.ids))
            return
        if self._layout.format == "segmented":
            self._target.write(batch.block.table.render_segmented(self._spelled, answer.ids, self._tags))
            return
        batch = self._with_records(batch)
        if batch.sentences is None:
            numbers = None if sure is None else sure.columns(starts)
            rendered = batch.block.render(self._labels, answer.ids, numbers=numbers, before=answer.taken_back)
            self._target.write(rendered)
            return
        for s, sentence in enumerate(self._answered(batch, answer)):
            batch.sentences[s] = sentence
        self._write_records(batch.sentences)

    def _with_records(self, batch: Batch) -> Batch:
        """Segmented text that goes into another format, as records."""
        if batch.sentences is not None or self._layout.format == "conll":
            return batch
        return replace(batch, sentences=list(segmented_records(batch.block)))

    @cached_property
    def _spelled(self) -> _core.SchemeLabels:
        """The labels as they spell words."""
        return scheme_labels(self._labels, self._scheme or "BMES")

    @cached_property
    def _tags(self) -> list[str]:
        """What is written behind a word whose first label is this one."""
        separator, types = (
            self._layout.options.get("tag_separator"),
            [split_label(one)[1] for one in self._labels],
        )
        outside = "O" if any(types) else ""
        return [f"{separator}{type_ or outside}" if separator else "" for type_ in types]

    def write_best(self, batch: Batch, ranked: Sequence[Ranked]) -> None:
        """The batch with the best outputs of each sentence, or of each document."""
        batch = self._with_records(batch)
        if batch.sentences is None:
            self._target.write(self._ranked_lines(batch, ranked))
            return
        answers = [Answer(one.ids, one.confidence, broken=one.broken) for one in ranked]
        listed = [list(self._answered(batch, answer)) for answer in answers]
        for first, last in itertools.pairwise(ranked[0].bounds.tolist()):
            ranks = [_Rank(r, one, first) for r, one in enumerate(ranked)]
            self._write_ranked([(rank, listed[rank.rank][first:last]) for rank in ranks if rank.exists])

    def _answered(self, batch: Batch, answer: Answer) -> Iterator[Sentence]:
        """Copies of the sentences with their labels and confidences."""
        starts, sure = batch.block.table.sentence_starts.tolist(), answer.confidence
        confidences = itertools.repeat(None) if sure is None else sure.by_sentence(starts)
        bounds = zip(batch.sentences or (), starts, starts[1:], confidences, strict=False)
        for s, (sentence, first, last, confidence) in enumerate(bounds):
            given = (answer.ids, answer.before_abstention, answer.taken_back)
            names = [self._names(ids[first:last]) for ids in given if ids is not None]
            found = self._set(sentence, names, confidence)
            found.broken = answer.broken.get(s, ())
            if found.broken and self._layout.format in _TREEBANKS:
                found = commented(found, [f"# broken = {', '.join(found.broken)}"])
            yield found

    def _names(self, ids: Ids) -> list[str]:
        return [self._labels[i] for i in ids.tolist()]

    def _set(self, sentence: Sentence, given: list[list[str]], confidence: Any) -> Sentence:
        """`given`: the labels and, if the model may abstain, those before and those it took back."""
        found = copy(sentence)
        labels, before_abstention = given[0], given[1] if len(given) > 1 else given[0]
        found.spans, found.origin = self._spans(labels), without_regions(sentence.origin)
        if self._layout.format in CUT_TEXT and self._scheme not in (None, "BMES"):
            labels = _cut(found.spans, len(labels))
        found.columns = sentence.columns | {self._layout.label: labels}
        if confidence is not None:
            whole, tokens, spans = confidence
            by_span = zip(self._spans(before_abstention), spans if self._scheme else tokens, strict=True)
            found.certainty = Certainty(whole, tokens, dict(by_span))
            found.columns |= self._confident_columns(found.certainty)
            if self._layout.format in _TREEBANKS:
                found = commented(found, [f"# confidence = {_decimals(whole)}"])
        if len(given) > 1:
            first, kept = self._spans(before_abstention), set(found.spans)
            found.spans = [span for span in first if span in kept]  # without what stands for no tag
            found.taken_back = [span for span in first if span not in kept]
            found.columns |= self._column("Abstained", given[2])
        return found

    def _confident_columns(self, certainty: Certainty) -> dict[str, list[str]]:
        of_spans = certainty.of_tokens() if self._scheme else [None] * len(certainty.tokens)
        return {
            **self._column("Confidence", map(_decimals, certainty.tokens)),
            **self._column("SpanConfidence", ["_" if p is None else _decimals(p) for p in of_spans]),
        }

    def _column(self, name: str, values: Iterable[str]) -> dict[str, list[str]]:
        """A column beside the labels; in CoNLL-U a key of MISC, which words without a value do not have."""
        if self._layout.format != "conllu":
            return {name: list(values)}
        return {f"misc.{name}": ["O" if value == "_" else value for value in values]}

    def _spans(self, labels: list[str]) -> list[Span]:
        if self._scheme is not None:
            return spans_of(labels, self._scheme)
        return [Span(i, i + 1, label) for i, label in enumerate(labels)]  # each tag a span of its own token

    def _write_records(self, sentences: Iterable[Sentence]) -> None:
        if self._layout.format == "plain":
            for sentence in sentences:
                self._target.write(("".join(self._lines(sentence)) + "\n").encode())
            return
        format, options = format_of("", self._layout.format), self._layout.options
        tags = {name: options[name] for name in _OF_TAGS if name in format.options and name in options}
        format.write(sentences, self._target, **tags)

    def _lines(self, sentence: Sentence) -> Iterator[str]:
        """Lines of plain text, as those of column files."""
        beside = [
            sentence.columns[name] for name in ("Confidence", "SpanConfidence") if name in sentence.columns
        ]
        if sentence.certainty is not None:
            beside.append([_decimals(sentence.certainty.sentence)] * len(sentence))
        if sentence.taken_back is not None:
            beside.append(sentence.columns["Abstained"])
        for fields in zip(sentence.tokens, *beside, sentence.columns["label"], strict=True):
            yield "\t".join(fields) + "\n"

    def _write_ranked(self, outputs: Sequence[tuple[_Rank, list[Sentence]]]) -> None:
        """The outputs of a unit, each with its sentences; in JSONL these have their alternatives."""
        if self._layout.format == "jsonl":
            ranks = [rank.fields() for rank, _ in outputs]
            for alternatives in zip(*[sentences for _, sentences in outputs], strict=True):
                alternatives[0].alternatives = list(zip(ranks, alternatives, strict=True))
                self._write_records([alternatives[0]])
            return
        for rank, sentences in outputs:
            if self._layout.format in _TREEBANKS:
                comments = [f"# {name} = {value}" for name, value in rank.fields().items()]
                self._write_records([commented(sentence, comments) for sentence in sentences])
            else:
                self._target.write(rank.line())
                self._write_records(sentences)

    def _ranked_lines(self, batch: Batch, ranked: Sequence[Ranked]) -> bytes:
        """Lines as they were read, those of a unit as often as it has outputs."""
        table = batch.block.table
        starts, bounds = table.sentence_starts, ranked[0].bounds
        firsts = bounds[:-1]
        confidences = [one.confidence.columns(starts) for one in ranked if one.confidence is not None]
        probabilities = [one.probabilities[firsts] for one in ranked if one.probabilities is not None]
        return table.render_ranked(
            self._labels,
            np.stack([one.ids for one in ranked]),
            np.stack([one.scores[firsts] for one in ranked]),
            np.stack(probabilities) if probabilities else None,
            np.stack(confidences) if confidences else None,
            np.ascontiguousarray(starts[bounds]),
            batch.block.line,
        )


def _cut(spans: Sequence[Span], length: int) -> list[str]:
    """Labels of words for spans in another scheme than BMES; what is in none is a word of one character."""
    covered = {t for span in spans for t in range(span.start, span.end)}
    type_ = "O" if any(span.label for span in spans) else ""
    others = [Span(t, t + 1, type_) for t in range(length) if t not in covered]
    return labels_of(sorted([*spans, *others]), length, "BMES")


def _decimals(probability: float) -> str:
    return f"{probability:.4f}"


class _Rank(NamedTuple):
    """Output number `rank` of the sentence `sentence`, or of the unit that it begins."""

    rank: int
    outputs: Ranked
    sentence: int

    @property
    def exists(self) -> bool:
        """Whether there are so many outputs."""
        return not np.isnan(self.outputs.scores[self.sentence])

    def line(self) -> bytes:
        """Rank and scores as a comment in columns: of one field, so that it is never taken for a token."""
        return ("#" + ";".join(f"{name}={value}" for name, value in self.fields().items()) + "\n").encode()

    def fields(self) -> dict[str, Any]:
        """Rank, score and probability by name."""
        found = {"rank": self.rank + 1, "score": round(float(self.outputs.scores[self.sentence]), 4)}
        if self.outputs.probabilities is not None:
            found["probability"] = round(float(self.outputs.probabilities[self.sentence]), 4)
        return found
