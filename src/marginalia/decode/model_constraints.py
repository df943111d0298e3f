"""Constraints as the core takes them: sets of contexts of tokens, and where they apply.

A context is a label with its relations to the labels before and after it; see core/search/constraints.hpp.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.corpus.records import Sentence
from marginalia.corpus.schemes import APART, JOINED, TWINS, prefix_table, split_label
from marginalia.corpus.settings import DataSettings
from marginalia.decode.confidence import relations_of
from marginalia.decode.constraints import (
    At,
    Before,
    Constraint,
    Constraints,
    Count,
    Names,
    Never,
    Only,
    given,
)
from marginalia.decode.decoder import CompiledConstraints, ConstrainedOutputs, RankedOutputs
from marginalia.decode.dictionaries import HardDictionary
from marginalia.decode.structures import StructureDecoder
from marginalia.decode.tagged import UserLabels
from marginalia.errors import DataError, SettingsError
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]
Set = npt.NDArray[np.bool_]  # [label, relation before, relation after]
SPANS = "spans"  # what the given spans of records are called
BLANKS = "blanks"  # the same of blanks between tokens, over which no span goes
_APART_OR_TWINS = [APART, TWINS]
_GOING_ON = ("I", "M", "E", "L")  # in the schemes whose other labels begin spans


class Contexts:
    """The sets of contexts that names stand for."""

    def __init__(self, saved: SavedModel, shown: UserLabels, names: Names) -> None:
        self.relation = relations_of(saved)
        self._labels, self._names, self._same = saved.labels, names, shown.same
        self._prefix = None if shown.same or saved.scheme is None else prefix_table(saved.scheme)

    def tokens(self, name: str) -> Set:
        """Tokens with a label, or in a span of a type."""
        type_ = self._names.types.get(name, self._names.type_of_any(name))
        if type_ is not None:
            own = [label != "O" and split_label(label)[1] == type_ for label in self._labels]
        elif self._prefix is None or name == "O":
            own = [label == name for label in self._labels]
        else:
            prefix, of = split_label(name)
            same = np.array([label != "O" and split_label(label)[1] == of for label in self._labels])
            return np.asarray(same[:, None, None] & (self._prefix == prefix)[None])
        return np.broadcast_to(np.array(own)[:, None, None], (len(self._labels), 3, 3))

    def either(self, names: Sequence[str]) -> Set:
        """Tokens of one of several names."""
        found: Set = np.logical_or.reduce([self.tokens(name) for name in names])
        return found

    def firsts(self, *names: str) -> Set:
        """Where something of the names begins."""
        found = self.either(names).copy()
        if self._names.is_type(names[0]):
            found[:, JOINED, :] = False
        return found

    def lasts(self, name: str) -> Set:
        """Where something of a name ends."""
        found = self.tokens(name).copy()
        if self._names.is_type(name):
            found[:, :, JOINED] = False
        return found

    def in_span(self, names: Sequence[str], opens: bool, closes: bool) -> Set:
        """A token of a span of one of the types: its first or another one, its last or another one."""
        found = self.either(names).copy()
        found[:, [JOINED] if opens else _APART_OR_TWINS, :] = False
        found[:, :, [JOINED] if closes else _APART_OR_TWINS] = False
        return found


class _Compiler:
    """Gathers constraints; equal sets are made once."""

    def __init__(self, contexts: Contexts, names: Names) -> None:
        self._contexts, self._names = contexts, names
        self._numbers: dict[bytes, int] = {}
        self._places: dict[tuple[object, ...], int] = {}  # of constraints on tokens: there may be very many
        self._sets: list[Set] = []
        self.everywhere: list[int] = []
        self.counts: list[tuple[int, int, int | None]] = []
        self.orders: list[tuple[int, int]] = []
        self.neighbours: list[tuple[int, int]] = []
        self.tokens: list[tuple[int, int, int]] = []
        self.spans: list[tuple[int, int, int, int]] = []

    def number(self, members: Set) -> int:
        """A set's number."""
        key = np.packbits(members).tobytes()
        if key not in self._numbers:
            self._numbers[key] = len(self._sets)
            self._sets.append(members)
        return self._numbers[key]

    def add(self, constraint: Count | Before | Never | Only) -> None:
        """A constraint on every sentence."""
        contexts, number = self._contexts, self.number
        if isinstance(constraint, Count):
            self.counts.append((number(contexts.firsts(constraint.name)), constraint.least, constraint.most))
        elif isinstance(constraint, Before):
            self.orders.append(
                (number(contexts.firsts(constraint.first)), number(contexts.firsts(constraint.second)))
            )
        elif isinstance(constraint, Only):
            outside = ["O"] if any(map(self._names.is_type, constraint.names)) else []
            self.everywhere.append(number(contexts.either([*constraint.names, *outside])))
        elif constraint.then is None:
            self.everywhere.append(number(~contexts.tokens(constraint.name)))
        else:
            pair = number(contexts.lasts(constraint.name)), number(contexts.firsts(constraint.then))
            self.neighbours.append(pair)

    def add_at(self, constraint: At, sentence: int, offset: int) -> None:
        """A constraint on tokens of a sentence, `offset` tokens after the beginning of an output."""
        first, last = offset + constraint.first - 1, offset + constraint.last - 1
        is_type = self._names.is_type(constraint.names[0])
        if is_type and constraint.forbid:
            self.spans.append((sentence, first, last, self.number(self._contexts.firsts(*constraint.names))))
            return
        for token in range(first, last + 1):
            ends = (token == first, token == last) if is_type else ()
            self.tokens.append((sentence, token, self._place(constraint, *ends)))

    def _place(self, constraint: At, *ends: bool) -> int:
        """The number of what may stand at a token: one of a span, at its ends or not, or a label."""
        key = (constraint.names, constraint.forbid, *ends)
        if key not in self._places:
            contexts = self._contexts
            members = contexts.in_span(constraint.names, *ends) if ends else contexts.either(constraint.names)
            self._places[key] = self.number(~members if constraint.forbid else members)
        return self._places[key]

    def compiled(self, chosen: npt.NDArray[np.uint8]) -> CompiledConstraints:
        """All of it, for some sentences."""
        labels = len(self._contexts.relation)
        sets = np.array([s.reshape(-1) for s in self._sets], np.uint8).reshape(len(self._sets), labels * 9)
        constraint_set = _core.ConstraintSet(
            labels,
            np.ascontiguousarray(self._contexts.relation).ravel(),
            np.ascontiguousarray(sets),
            self.everywhere,
            self.counts,
            self.orders,
            self.neighbours,
        )
        flat = [np.array(rows, np.uint32).ravel() for rows in (self.tokens, self.spans)]
        return CompiledConstraints(chosen, constraint_set, flat[0], flat[1])


class ConstrainedLabels(NamedTuple):
    """Label ids that satisfy constraints as well as can be: by sentence the constraints that they break,
    and sentences for which there may be better ones."""

    ids: Ids
    broken: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    inexact: frozenset[int] = frozenset()


class ModelConstraints:
    """What constrains a model's outputs: constraints, labels in a column of the input or spans of its
    records (`given`), and the phrases of a dictionary. It may be used from many threads at once."""

    def __init__(
        self,
        saved: SavedModel,
        shown: UserLabels,
        constraints: Constraints,
        given: str | None = None,
        dictionary: HardDictionary | None = None,
    ) -> None:
        self.names = Names(shown.labels, shown.scheme)
        self._contexts = Contexts(saved, shown, self.names)
        self._shown, self._column, self._dictionary = shown, given, dictionary
        self._by_document = saved.settings_as(DataSettings).whole_documents
        self._everywhere = tuple(map(self.names.resolved, constraints.everywhere))
        self._own = {number: self._own_of(number, some) for number, some in constraints.by_sentence.items()}

    def _own_of(self, number: int, some: Sequence[Constraint]) -> tuple[Constraint, ...]:
        """The constraints on one sentence, by its number; checked."""
        for constraint in some:
            if self._by_document and not isinstance(constraint, At):
                raise SettingsError(
                    f"sentence {number}: found {constraint}, but this model labels whole documents: only "
                    "constraints on tokens and spans can be for some of their sentences."
                )
        try:
            return tuple(map(self.names.resolved, some))
        except SettingsError as error:
            raise SettingsError(f"sentence {number}: {error}") from None

    def of_sentences(self, batch: Batch, before: int) -> list[tuple[Constraint, ...]]:
        """The constraints on each sentence of a batch, which stands behind so many others; checked."""
        block = batch.block
        starts = block.table.sentence_starts.tolist()
        found = [
            (*self._own.get(before + s + 1, ()), *self._given(batch, s, starts))
            for s in range(len(starts) - 1)
        ]
        for s, some in enumerate(found):
            length = starts[s + 1] - starts[s]
            for constraint in some:
                if isinstance(constraint, At) and constraint.last > length:
                    where = f"sentence {before + s + 1}"
                    raise DataError(
                        f"{where}: found {constraint}, but it has {length} tokens", file=block.file
                    )
        phrases: Sequence[Sequence[At]] = [()] * len(found)
        if self._dictionary is not None:
            phrases = self._dictionary.constraints(block)
        return [(*self._everywhere, *some, *more) for some, more in zip(found, phrases, strict=True)]

    def _given(self, batch: Batch, s: int, starts: Sequence[int]) -> list[At]:
        """The labels or spans of a sentence that are to be kept."""
        block, first, column = batch.block, starts[s], self._column
        if column is None:
            return []
        if column == SPANS and batch.sentences is not None:
            spans, column = batch.sentences[s].spans, block.columns[0]
            found = [At(span.start + 1, span.end, (span.label,)) for span in spans]
        elif column == BLANKS and batch.sentences is not None:
            found, column = self._behind_blanks(batch.sentences[s]), block.columns[0]
        else:
            found = given(block.table.column_slice(block.index(column), first, starts[s + 1]))
        kept = []
        for constraint in found:
            try:
                kept.append(self.names.resolved(constraint))
            except SettingsError as error:
                raise block.error(str(error), first + constraint.first - 1, column) from None
        return kept

    def _behind_blanks(self, sentence: Sentence) -> list[At]:
        """No span goes on behind a blank."""
        beginning = tuple(name for name in self.names.labels if split_label(name)[0] not in _GOING_ON)
        offsets = enumerate(itertools.pairwise(sentence.offsets or ()), 2)
        return [At(t, t, beginning) for t, ((_, end), (start, _)) in offsets if start > end]

    def compile(
        self, unit: Block, block: Block, by_sentence: Sequence[Sequence[Constraint]]
    ) -> Iterator[CompiledConstraints]:
        """The constraints on a block whose sentences may be parts of a unit's; sentences with the same
        constraints on all of their tokens go together."""
        starts = block.table.sentence_starts
        whole = _wholes(unit, block)
        offsets = starts[:-1].astype(np.int64) - unit.table.sentence_starts[whole]
        groups: dict[tuple[Constraint, ...], list[int]] = {}
        for s, some in enumerate(by_sentence):
            groups.setdefault(tuple(one for one in some if not isinstance(one, At)), []).append(s)
        for general, members in groups.items():
            compiler = _Compiler(self._contexts, self.names)
            for constraint in general:
                compiler.add(constraint)  # type: ignore[arg-type]
            chosen = np.zeros(unit.table.sentences, np.uint8)
            for s in members:
                length = int(starts[s + 1] - starts[s])
                chosen[whole[s]] = 1
                for constraint in by_sentence[s]:
                    if isinstance(constraint, At) and constraint.last <= length:
                        compiler.add_at(constraint, int(whole[s]), int(offsets[s]))
            yield compiler.compiled(chosen)

    def constrain(
        self, decoder: StructureDecoder, unit: Block, batch: Batch, before: int, ids: Ids
    ) -> ConstrainedLabels:
        """The best label ids of a batch, changed where they break constraints."""
        block = batch.block
        if not block.table.tokens:  # such a block may have no columns
            return ConstrainedLabels(ids)
        by_sentence = self.of_sentences(batch, before)
        starts = block.table.sentence_starts
        worst = np.zeros(unit.table.sentences, np.uint32)
        sure = np.ones(unit.table.sentences, np.uint8)
        for constraints in self.compile(unit, block, by_sentence):
            ids, violations, exact = decoder.constrain(unit, ids, constraints, starts)
            worst, sure = np.maximum(worst, violations), np.minimum(sure, exact)
        return self._constrained(unit, block, by_sentence, ids, worst, sure)

    def ranked(
        self, decoder: StructureDecoder, unit: Block, batch: Batch, before: int, k: int
    ) -> tuple[RankedOutputs, ConstrainedLabels]:
        """The k best outputs of a batch that satisfy constraints best; what is known of the first."""
        block, by_sentence = batch.block, self.of_sentences(batch, before)
        starts, found = block.table.sentence_starts, None
        for constraints in self.compile(unit, block, by_sentence):
            some = decoder.ranked_constrained(unit, k, constraints, starts)
            found = (
                some if found is None else some.where(constraints.chosen, found, unit.table.sentence_starts)
            )
        assert found is not None, "a block with tokens has sentences"
        return found, self._constrained(unit, block, by_sentence, found.ids[0], found.violations, found.exact)

    def _constrained(
        self,
        unit: Block,
        block: Block,
        by_sentence: Sequence[tuple[Constraint, ...]],
        ids: Ids,
        violations: npt.NDArray[np.uint32],
        exact: npt.NDArray[np.uint8],
    ) -> ConstrainedLabels:
        whole, starts = _wholes(unit, block), block.table.sentence_starts
        broken = {}
        for s in np.flatnonzero(violations[whole]).tolist():
            labels = self._shown.user_labels(ids[starts[s] : starts[s + 1]])
            if told := self.broken(labels, by_sentence[s]):
                broken[s] = told
        return ConstrainedLabels(ids, broken, frozenset(np.flatnonzero(exact[whole] == 0).tolist()))

    def outputs(
        self, decoder: StructureDecoder, batch: Batch, before: int = 0
    ) -> Iterator[tuple[ConstrainedOutputs, tuple[Constraint, ...]]]:
        """By sentence of a batch the outputs that satisfy its constraints best; the constraints."""
        block, by_sentence = batch.block, self.of_sentences(batch, before)
        compiled = list(self.compile(block, block, by_sentence))
        for s, some in enumerate(by_sentence):
            constraints = next(one for one in compiled if one.chosen[s])
            yield decoder.constrained(block, s, constraints), some

    def broken(self, labels: Sequence[str], constraints: Sequence[Constraint]) -> tuple[str, ...]:
        """The constraints, as texts, that labels of a sentence break: none, if there are no labels."""
        if not labels:
            return ()
        return tuple(str(one) for one in constraints if not self.names.holds(one, labels))


def _wholes(unit: Block, block: Block) -> npt.NDArray[np.intp]:
    """Which of a unit's sentences those of a block are parts of."""
    if unit is block:
        return np.arange(block.table.sentences)
    found = np.searchsorted(unit.table.sentence_starts, block.table.sentence_starts[:-1], "right") - 1
    return np.minimum(found, unit.table.sentences - 1)
