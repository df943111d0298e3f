"""What users see: labels in their scheme, and labelled sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import suggestion
from marginalia.corpus.answers import Answer, Ranked
from marginalia.corpus.blocks import Block
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import convert, labels_of_type, spans_of, validate
from marginalia.corpus.translation import Translation
from marginalia.decode.plain_data import PlainData
from marginalia.errors import DataError
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Tagged(PlainData):
    """A labelled sentence: its tokens (or their attributes, as they were given), a label for each, and the
    spans they spell (if they spell spans).

    If it was asked for: how probable all of it is (`confidence`; for a model of documents: its document),
    each label, and each of the `spans`; and the spans or tags that the model took back because it was not
    sure enough (`abstained`), with their confidence. `label_confidence` is that of the labels before.

    Under constraints: those that it breaks, because no output meets all of them (`broken`), and whether it is
    known to be the best of all that break no more (`exact`).
    """

    tokens: tuple[Any, ...]
    labels: tuple[str, ...]
    scheme: str | None = None
    score: float | None = None
    confidence: float | None = None
    label_confidence: tuple[float, ...] | None = None
    span_confidence: tuple[float, ...] | None = None
    abstained: tuple[tuple[Span, float], ...] = ()
    broken: tuple[str, ...] = ()
    exact: bool = True

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """What the labels spell; nothing if they are plain tags."""
        return tuple(spans_of(self.labels, self.scheme)) if self.scheme else ()

    def __iter__(self) -> Iterator[tuple[Any, str]]:
        return iter(zip(self.tokens, self.labels, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: what is known, and the spans."""
        spans = {"spans": [span._asdict() for span in self.spans]} if self.scheme else {}
        return super().to_dict() | spans


def tagged(
    tokens: Sequence[Sequence[Any]], block: Block, answer: Answer, names: tuple[str, ...], scheme: str | None
) -> list[Tagged]:
    """The labelled sentences of a block with these tokens; `names` are those of the ids."""
    starts = block.table.sentence_starts
    labels = _core.label_tuples(names, answer.ids, starts)
    found = [_plain(*one, scheme) for one in zip(tokens, labels, strict=True)]
    for s in {*answer.broken, *answer.inexact}:
        found[s] = replace(found[s], broken=answer.broken.get(s, ()), exact=s not in answer.inexact)
    if answer.confidence is None:
        return found
    before = (
        labels
        if answer.before_abstention is None
        else _core.label_tuples(names, answer.before_abstention, starts)
    )
    confidences = answer.confidence.by_sentence(starts.tolist())
    return [_with_confidence(*one) for one in zip(found, before, confidences, strict=True)]


def ranked_sentences(
    tokens: Sequence[Sequence[Any]],
    block: Block,
    ranked: Sequence[Ranked],
    names: tuple[str, ...],
    scheme: str | None,
) -> list[list[Tagged]]:
    """The outputs of each sentence of a block, best first."""
    found: list[list[Tagged]] = [[] for _ in tokens]
    for one in ranked:
        answer = Answer(one.ids, one.confidence, broken=one.broken, inexact=one.inexact)
        whole = [None] * len(tokens) if one.probabilities is None else one.probabilities.tolist()
        outputs = tagged(tokens, block, answer, names, scheme)
        for listed, output, score, probability in zip(
            found, outputs, one.scores.tolist(), whole, strict=True
        ):
            if not math.isnan(score):
                listed.append(replace(output, score=score, confidence=probability))
    return found


def _plain(tokens: Sequence[Any], labels: tuple[str, ...], scheme: str | None) -> Tagged:
    """Made at once: fields that have their defaults are those of the class."""
    made = object.__new__(Tagged)
    object.__setattr__(made, "__dict__", {"tokens": tuple(tokens), "labels": labels, "scheme": scheme})
    return made


def _with_confidence(
    plain: Tagged, before: Sequence[str], confidence: tuple[float, list[float], list[float]]
) -> Tagged:
    """`before`: the labels before the model took some back, whose confidences are given."""
    whole, tokens, spans = confidence
    if plain.scheme is not None:
        by_span = dict(zip(spans_of(before, plain.scheme), spans, strict=True))
        kept = plain.spans
        gone = [(span, p) for span, p in by_span.items() if span not in set(kept)]
    else:
        by_span, kept = {}, ()
        pairs = zip(before, plain.labels, tokens, strict=True)
        gone = [(Span(i, i + 1, old), p) for i, (old, new, p) in enumerate(pairs) if old != new]
    return replace(
        plain,
        confidence=whole,
        label_confidence=tuple(tokens),
        span_confidence=tuple(by_span[span] for span in kept),
        abstained=tuple(gone),
    )


class UserLabels:
    """Model labels and the user's: the same, unless the model was trained in another scheme."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved, self.scheme = saved, saved.scheme
        self.same = saved.shown_as_they_are
        self.labels = list(saved.labels) if self.same else _all_labels(saved)
        self._numbers = {label: i for i, label in enumerate(self.labels)}

    def user_labels(self, ids: Sequence[int] | npt.NDArray[Any]) -> list[str]:
        """The labels of an output as users see them."""
        labels = [self._saved.labels[i] for i in ids]
        if self.same or self._saved.encoding is None or self._saved.scheme is None:
            return labels
        return convert(labels, self._saved.encoding, self._saved.scheme)

    def user_ids(self, ids: Ids, block: Block) -> Ids:
        """The labels of all sentences of a block as numbers into `labels`."""
        if self.same:
            return ids
        return self._translation(ids, block.table.sentence_starts)

    @cached_property
    def _translation(self) -> Translation:
        return Translation(self._saved.labels, str(self._saved.encoding), str(self.scheme), self.labels)

    def model_ids(self, labels: Sequence[str]) -> list[int]:
        """The model's numbers of labels that a user gave for all tokens of a sentence; checked."""
        for position, label in enumerate(labels, 1):
            if not isinstance(label, str) or label not in self._numbers:
                more = suggestion(str(label), self.labels)
                raise DataError(f"label {position}: found '{label}', which the model does not give. {more}")
        if self.same:
            return [self._numbers[label] for label in labels]
        self.check(labels)
        numbers = {label: i for i, label in enumerate(self._saved.labels)}
        spelled = convert(labels, str(self.scheme), str(self._saved.encoding))
        if missing := [label for label in spelled if label not in numbers]:
            raise DataError(
                f"the model cannot give these labels: it has none that it would write {missing[0]}"
            )
        return [numbers[label] for label in spelled]

    def check(self, labels: Sequence[str]) -> None:
        """An error if the user's scheme does not allow such labels."""
        if self.scheme is not None and (problems := validate(labels, self.scheme)):
            raise DataError(f"label {problems[0].position + 1}: {problems[0].why}")


def _all_labels(saved: SavedModel) -> list[str]:
    """Every label that the user's scheme can write for the model's types."""
    types = dict.fromkeys(label.partition("-")[2] for label in saved.labels if label != "O")
    scheme = str(saved.scheme)
    found = dict.fromkeys(["O"] if "O" in saved.labels else [])
    for type_ in types:
        found |= dict.fromkeys(labels_of_type(type_, scheme))
    return list(found)
