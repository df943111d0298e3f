"""What labelled data are like before anybody trains on them: sizes, labels, repetitions, contradictions, and
labels that models of the rest of the data do not believe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from marginalia.corpus.schemes import detect, spans_of, validate
from marginalia.corpus.source import DataSource
from marginalia.kinds.wrong_sentences import WrongToken, wrong_sentences
from marginalia.learn.cross_validation import Fold, cross_validate
from marginalia.learn.recipe import Recipe

RARE = 5  # labels that are seen less often are rare
_AROUND = 2  # tokens on each side that make a context
_EDGE = ""

Named = tuple[str, DataSource]
"""Data by the name that users know."""


class Place(NamedTuple):
    """Where a sentence is, and what it says; `token` is the number of one of its tokens, from 1."""

    file: str
    line: int | None
    token: int
    text: str


@dataclass(frozen=True)
class FileCheck:
    """One file: its size, the lengths of its sentences (least, median, 95 %, greatest), how many tokens have
    words that the first file does not have, and how many sentences are repeated, or in files before it."""

    file: str
    sentences: int
    tokens: int
    documents: int
    lengths: tuple[int, int, int, int]
    unseen: int | None
    repeated: int
    shared: int


@dataclass(frozen=True)
class IllegalLabel:
    """A label that the scheme does not allow where it is."""

    place: Place
    label: str
    why: str


@dataclass(frozen=True)
class Contradiction:
    """A token with the same neighbours and different labels: the labels with a place of each."""

    context: tuple[str, ...]
    labels: dict[str, int]
    places: dict[str, Place]


@dataclass(frozen=True)
class Suspect:
    """A sentence whose labels a model that has not seen it does not believe."""

    place: Place
    tokens: tuple[WrongToken, ...]
    difference: float
    at_least: bool


@dataclass(frozen=True)
class DataCheck:
    """All of it. `spans` counts spans by type; none if the labels spell none."""

    files: tuple[FileCheck, ...]
    scheme: str | None
    labels: dict[str, int]
    spans: dict[str, int]
    illegal: tuple[IllegalLabel, ...]
    contradictions: tuple[Contradiction, ...]

    @property
    def rare(self) -> dict[str, int]:
        """Labels that are seen too seldom to be learned."""
        return {label: count for label, count in self.labels.items() if count < RARE}


class _Sentence(NamedTuple):
    file: str
    line: int | None
    words: list[str]
    labels: list[str]
    document: int

    def place(self, token: int = 1) -> Place:
        return Place(self.file, self.line, token, " ".join(self.words))


def check_data(sources: Sequence[Named]) -> DataCheck:
    """What labelled files, by the names that users know, are like, without training."""
    parts = [(name, list(_sentences(name, source))) for name, source in sources]
    sentences = [sentence for _, part in parts for sentence in part]
    labels = Counter(label for sentence in sentences for label in sentence.labels)
    scheme = detect(sentence.labels for sentence in sentences)
    spans = Counter(span.label for one in sentences if scheme for span in spans_of(one.labels, scheme))
    return DataCheck(
        tuple(_files(parts)),
        scheme,
        dict(labels.most_common()),
        dict(spans.most_common()),
        tuple(_illegal(sentences, scheme)),
        tuple(_contradictions(sentences)),
    )


def _sentences(name: str, source: DataSource) -> Iterator[_Sentence]:
    label = source.layout.label
    for block in source.blocks():
        words, labels = block.readable(block.columns[0]), block.column(label)
        starts, documents = block.table.sentence_starts.tolist(), block.table.documents.tolist()
        for s, document in enumerate(documents):
            first, last = starts[s], starts[s + 1]
            line = block.line_of(s)
            yield _Sentence(name, line, words[first:last], labels[first:last], document)


def _files(parts: Sequence[tuple[str, list[_Sentence]]]) -> Iterator[FileCheck]:
    vocabulary = {word for sentence in parts[0][1] for word in sentence.words}
    before: set[tuple[str, ...]] = set()
    for number, (name, part) in enumerate(parts):
        own: set[tuple[str, ...]] = set()
        repeated = shared = 0
        for sentence in part:
            key = tuple(sentence.words)
            shared += key in before
            repeated += key in own
            own.add(key)
        lengths = [len(sentence.words) for sentence in part] or [0]
        quantiles = np.percentile(lengths, [0, 50, 95, 100], method="lower").astype(int).tolist()
        unseen = sum(word not in vocabulary for sentence in part for word in sentence.words)
        documents = len({sentence.document for sentence in part})
        yield FileCheck(
            name,
            len(part),
            sum(len(sentence.words) for sentence in part),
            documents,
            tuple(quantiles),
            unseen if number else None,
            repeated,
            shared,
        )
        before |= own


def _illegal(sentences: Iterable[_Sentence], scheme: str | None) -> Iterator[IllegalLabel]:
    if scheme is None:
        return
    for sentence in sentences:
        for problem in validate(sentence.labels, scheme):
            place = sentence.place(problem.position + 1)
            yield IllegalLabel(place, problem.label, problem.why)


def _contradictions(sentences: Sequence[_Sentence]) -> list[Contradiction]:
    """Contexts whose token has several labels, those with the most tokens in the minority first."""
    first: dict[int, str] = {}
    torn: set[int] = set()
    for sentence in sentences:
        for key, label in zip(_contexts(sentence.words), sentence.labels, strict=True):
            if first.setdefault(key, label) != label:
                torn.add(key)
    found: dict[int, tuple[tuple[str, ...], Counter[str], dict[str, Place]]] = {}
    for sentence in sentences:
        for token, (key, label) in enumerate(zip(_contexts(sentence.words), sentence.labels, strict=True)):
            if key in torn:
                entry = found.setdefault(key, (_window(sentence.words, token), Counter(), {}))
                entry[1][label] += 1
                entry[2].setdefault(label, sentence.place(token + 1))
    listed = [
        Contradiction(context, dict(counts.most_common()), places)
        for context, counts, places in found.values()
    ]
    return sorted(listed, key=lambda one: max(one.labels.values()) - sum(one.labels.values()))


def _contexts(words: Sequence[str]) -> Iterator[int]:
    return (hash(_window(words, token)) for token in range(len(words)))


def _window(words: Sequence[str], token: int) -> tuple[str, ...]:
    places = range(token - _AROUND, token + _AROUND + 1)
    return tuple(words[place] if 0 <= place < len(words) else _EDGE for place in places)


def suspects(
    sources: Sequence[Named],
    recipe: Recipe,
    folds: int,
    *,
    threads: int = 1,
    on_progress: Callable[[int, float], object] = lambda fold, done: None,
    stop: Callable[[], bool] = lambda: False,
) -> list[Suspect]:
    """Sentences whose labels are likely to be wrong, the likeliest first: models of all other folds of the
    files prefer others."""
    places = (one.place() for name, source in sources for one in _sentences(name, source))
    whole = sources[0][1]
    if len(sources) > 1:
        whole = replace(whole, data=[path for _, source in sources for path in source.paths])
    found: list[Suspect] = []
    for fold in cross_validate(whole, recipe, folds, threads=threads, on_progress=on_progress, stop=stop):
        found += _suspects_of(fold, places)
    return sorted(found, key=lambda one: (not one.at_least, -one.difference))


def _suspects_of(fold: Fold, places: Iterator[Place]) -> Iterator[Suspect]:
    """Those of a fold, whose sentences are the next of `places`."""
    own = list(islice(places, fold.block.table.sentences))
    for wrong in wrong_sentences(fold.model, fold.block, fold.block.column(fold.label)):
        place = own[wrong.number]._replace(token=wrong.tokens[0].number)
        yield Suspect(place, wrong.tokens, wrong.difference, wrong.at_least)
