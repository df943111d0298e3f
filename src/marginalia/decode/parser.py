"""A model of dependency trees in use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import Answer, Ranked
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block, pack
from marginalia.corpus.tree_answers import MOST_LABELS
from marginalia.decode.answering import check_k
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.inputs import Input
from marginalia.decode.model import TrainedModel
from marginalia.decode.plain_data import PlainData
from marginalia.decode.shares import beam_shares, share_map_of
from marginalia.decode.threads import in_order
from marginalia.decode.tree_explaining import ArcExplanation, explained
from marginalia.decode.trees import GivenTree, TreeDecoder
from marginalia.errors import DataError, SettingsError

Ids = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.float64]
Heads = Mapping[int, int] | Sequence[int | None]
Names = Mapping[int, str] | Sequence[str | None]
Spans = Sequence[tuple[int, int]]
_SENTENCES = 500  # of a batch


@dataclass(frozen=True)
class Parsed(PlainData):
    """A sentence with its tree: for each token the number of its head (from 1 on; 0 is the root) and the
    label of that arc. If it was asked for: the score of the tree, how probable it is, and how probable each
    arc."""

    tokens: tuple[str, ...]
    heads: tuple[int, ...]
    labels: tuple[str, ...]
    score: float | None = None
    confidence: float | None = None
    arc_confidence: tuple[float, ...] | None = None


class Parser(TrainedModel):
    """A trained model that gives dependency trees. Sentences are mappings of columns (those in
    `feature_columns`). It never changes and may be used from many threads at once."""

    kind = "trees"
    decoder: TreeDecoder

    def parse(
        self,
        sentence: Input,
        *,
        heads: Heads | None = None,
        labels: Names | None = None,
        spans: Spans = (),
        confidence: bool = False,
    ) -> Parsed:
        """The tree of a sentence. `heads` and `labels` that are given are kept: by token, counted from 1, or
        one for each with None where none is given. Of the tokens of each of the `spans` (first, last) exactly
        one has its head outside."""
        if heads is None and labels is None and not spans and not confidence:
            return self.parse_all([sentence])[0]
        return self._beam(sentence, self._given(sentence, heads, labels, spans), confidence)[0]

    def parse_all(
        self, sentences: Iterable[Input], threads: int = 1, *, confidence: bool = False
    ) -> list[Parsed]:
        """The trees of sentences; the result does not depend on the number of threads."""
        if confidence:
            needed_temperature(self.saved)
            one = in_order(lambda given: self._beam(given, None, True)[0], sentences, threads)
            return list(one)
        records = [self._record(given, number) for number, given in enumerate(sentences)]
        parts = [records[i : i + _SENTENCES] for i in range(0, len(records), _SENTENCES)]
        batches = (Batch(pack(part, self.feature_columns)) for part in parts)
        found: list[Parsed] = []
        for batch, answer in self.tag_batches(batches, threads):
            found += self._parsed(batch.block, answer.ids)
        return found

    def nbest(
        self,
        sentence: Input,
        k: int,
        *,
        heads: Heads | None = None,
        labels: Names | None = None,
        spans: Spans = (),
        confidence: bool = False,
    ) -> list[Parsed]:
        """The k best trees of those that the beam ends with, best first: at most as many as its states. What
        is given is kept, as in `parse`."""
        check_k(k)
        return self._beam(sentence, self._given(sentence, heads, labels, spans), confidence)[:k]

    def explain(
        self, sentence: Input, word: int, *, head: int | None = None, label: str | None = None
    ) -> ArcExplanation:
        """Why a word (counted from 1) has its head and not another: the best tree against the best one in
        which this word has the head or the label that is given, or, without either, another arc."""
        block = self._block(sentence)
        return explained(self.saved, self.decoder, block, word, head, label)

    def arcs(self, block: Block) -> tuple[Ids, Ids]:
        """Heads and numbers of labels (into `labels`) of all tokens of a block."""
        ids = self.decoder.best(block)
        return ids // MOST_LABELS, ids % MOST_LABELS

    def arc_confidence(self, block: Block, ids: Ids) -> Numbers:
        """How probable arcs of all tokens of a block are, after calibration."""
        found = [
            self._sure(block, s, ids[first:last])[0]
            for s, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist()))
            if first < last
        ]
        return np.concatenate(found) if found else np.zeros(0)

    def _sure(
        self, block: Block, sentence: int, arcs: Ids, given: GivenTree | None = None
    ) -> tuple[Numbers, float]:
        """How probable arcs are, and at most the tree of all of them."""
        agreement = self.decoder.agreement(block, sentence, arcs, given)
        shares, whole = beam_shares(*agreement, needed_temperature(self.saved))
        mapped = share_map_of(self.saved.calibration)
        sure = shares if mapped is None else mapped(shares)
        return sure, min(whole, float(sure.min()))

    def tag_batches(
        self, batches: Iterable[Batch], threads: int = 1, **others: Any
    ) -> Iterator[tuple[Batch, Answer]]:
        """Answers for batch after batch, in order; their ids are arcs (docs/trees.md)."""
        _refuse(others)

        def answer(batch: Batch) -> tuple[Batch, Answer]:
            with batch.block.naming_errors():
                return batch, Answer(self.decoder.best(batch.block))

        yield from in_order(answer, batches, threads)

    def nbest_batches(
        self, batches: Iterable[Batch], k: int, threads: int = 1, **others: Any
    ) -> Iterator[tuple[Batch, list[Ranked]]]:
        """The k best trees of each sentence of batch after batch, in order, by rank."""
        check_k(k)
        _refuse(others)

        def ranked(batch: Batch) -> tuple[Batch, list[Ranked]]:
            with batch.block.naming_errors():
                return batch, self._ranked(batch.block, k)

        yield from in_order(ranked, batches, threads)

    def written_labels(self, min_confidence: float | None = None) -> tuple[str, ...]:
        """`labels`; trees are given whole, whether the model is sure of them or not."""
        _refuse({"min_confidence": min_confidence is not None})
        return self.labels

    def _ranked(self, block: Block, k: int) -> list[Ranked]:
        """Trees by rank; where a sentence has no more, its best one with no score."""
        starts = block.table.sentence_starts.tolist()
        listed = [
            self.decoder.trees(block, s)[:k] if first < last else []
            for s, (first, last) in enumerate(pairwise(starts))
        ]
        found = []
        for rank in range(max(map(len, listed), default=0)):
            chosen = [trees[rank] if rank < len(trees) else None for trees in listed]
            arcs = [(one or trees[0])[0] for one, trees in zip(chosen, listed, strict=True) if trees]
            scores = [np.nan if one is None else one[2] for one in chosen]
            found.append(Ranked(np.concatenate(arcs), np.array(scores)))
        return found or [Ranked(np.zeros(0, np.int32), np.full(len(listed), np.nan))]

    def _beam(self, sentence: Input, given: GivenTree | None, confidence: bool) -> list[Parsed]:
        block = self._block(sentence)
        words = tuple(block.column(self.feature_columns[0]))
        if not words:
            return [Parsed((), (), ())]
        trees = self.decoder.trees(block, 0, given)
        if not trees:
            raise DataError("search found no tree that has the heads, labels and spans that are given")
        found = []
        for arcs, _, score in trees:
            sure = self._sure(block, 0, arcs, given) if confidence else None
            found.append(
                Parsed(
                    words,
                    tuple((arcs // MOST_LABELS).tolist()),
                    tuple(self._names(arcs)),
                    score,
                    None if sure is None else sure[1],
                    None if sure is None else tuple(sure[0].tolist()),
                )
            )
        return found

    def _given(
        self, sentence: Input, heads: Heads | None, labels: Names | None, spans: Spans
    ) -> GivenTree | None:
        if heads is None and labels is None and not spans:
            return None
        length = len(self._record(sentence))
        for span in spans:
            if not _is_span(span, length):
                raise SettingsError(
                    f"spans: found {span!r}, expected the numbers of a first and a last token, from 1 to "
                    f"{length}."
                )
        numbers = {name: number for number, name in enumerate(self.labels)}
        names = _by_token(labels, length, "labels")
        for name in names.values():
            if name not in numbers:
                raise SettingsError(f"labels: found '{name}', expected one of {', '.join(self.labels)}.")
        found = _by_token(heads, length, "heads")
        for token, head in found.items():
            if type(head) is not int or not 0 <= head <= length or head == token + 1:
                raise SettingsError(
                    f"heads: found {head!r} for token {token + 1}, expected another token's number up to "
                    f"{length}, or 0 for the root."
                )
        return GivenTree.of(length, found, {token: numbers[name] for token, name in names.items()}, spans)

    def _parsed(self, block: Block, ids: Ids) -> Iterator[Parsed]:
        words = block.column(self.feature_columns[0])
        heads, labels = (ids // MOST_LABELS).tolist(), self._names(ids)
        for first, last in pairwise(block.table.sentence_starts.tolist()):
            here = slice(first, last)
            yield Parsed(tuple(words[here]), tuple(heads[here]), tuple(labels[here]))

    def _names(self, ids: Ids) -> Sequence[str]:
        names = self.labels
        return [names[label] for label in (ids % MOST_LABELS).tolist()]


def _is_span(given: Any, length: int) -> bool:
    numbers = isinstance(given, tuple | list) and len(given) == 2 and all(type(n) is int for n in given)
    return numbers and 1 <= given[0] <= given[1] <= length


def _by_token(given: Any, length: int, what: str) -> dict[int, Any]:
    """What is given, by token counted from 0."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if len(given) != length:
            raise SettingsError(f"{what}: found {len(given)}, expected {length}, one for each token.")
        return {token: value for token, value in enumerate(given) if value is not None}
    for token in given:
        if type(token) is not int or not 1 <= token <= length:
            raise SettingsError(f"{what}: found token {token!r}, expected a number from 1 to {length}.")
    return {token - 1: value for token, value in given.items()}


def _refuse(others: Mapping[str, Any]) -> None:
    """What other models take and this one does not."""
    wanted = [name for name, value in others.items() if value]
    if wanted:
        raise SettingsError(
            f"{wanted[0].replace('_', '-')}: it is for labels of tokens; this model gives trees."
        )
