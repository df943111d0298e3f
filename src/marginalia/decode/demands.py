"""Constraints as the core takes them: sets of contexts of tokens, and where they apply.

A context is a label with its relations to the labels before and after it; see core/search/constraints.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
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
from marginalia.decode.decoder import Compiled, ConstrainedOutputs, RankedOutputs
from marginalia.decode.dictionaries import HardDictionary
from marginalia.decode.structures import StructureInUse
from marginalia.decode.tagged import UserLabels
from marginalia.errors import DataError, SettingsError
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]
Set = npt.NDArray[np.bool_]  # [label, relation before, relation after]
SPANS = "spans"  # what the given spans of records are called
_APART_OR_TWINS = [APART, TWINS]


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
    """Gathers demands; equal sets are made once."""

    def __init__(self, contexts: Contexts, names: Names) -> None:
        self._contexts, self._names = contexts, names
        self._numbers: dict[bytes, int] = {}
        self._places: dict[tuple[object, ...], int] = {}  # of demands on tokens: there may be very many
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

    def add(self, said: Count | Before | Never | Only) -> None:
        """A demand on every sentence."""
        contexts, number = self._contexts, self.number
        if isinstance(said, Count):
            self.counts.append((number(contexts.firsts(said.name)), said.least, said.most))
        elif isinstance(said, Before):
            self.orders.append((number(contexts.firsts(said.first)), number(contexts.firsts(said.second))))
        elif isinstance(said, Only):
            outside = ["O"] if any(map(self._names.is_type, said.names)) else []
            self.everywhere.append(number(contexts.either([*said.names, *outside])))
        elif said.then is None:
            self.everywhere.append(number(~contexts.tokens(said.name)))
        else:
            pair = number(contexts.lasts(said.name)), number(contexts.firsts(said.then))
            self.neighbours.append(pair)

    def add_at(self, said: At, sentence: int, offset: int) -> None:
        """A demand on tokens of a sentence, which are `offset` tokens after the beginning of an output."""
        first, last = offset + said.first - 1, offset + said.last - 1
        is_type = self._names.is_type(said.names[0])
        if is_type and said.forbid:
            self.spans.append((sentence, first, last, self.number(self._contexts.firsts(*said.names))))
            return
        for token in range(first, last + 1):
            ends = (token == first, token == last) if is_type else ()
            self.tokens.append((sentence, token, self._place(said, *ends)))

    def _place(self, said: At, *ends: bool) -> int:
        """The number of what may stand at a token: one of a span, at its ends or not, or a label."""
        key = (said.names, said.forbid, *ends)
        if key not in self._places:
            contexts = self._contexts
            members = contexts.in_span(said.names, *ends) if ends else contexts.either(said.names)
            self._places[key] = self.number(~members if said.forbid else members)
        return self._places[key]

    def compiled(self, chosen: npt.NDArray[np.uint8]) -> Compiled:
        """All of it, for some sentences."""
        labels = len(self._contexts.relation)
        sets = np.array([s.reshape(-1) for s in self._sets], np.uint8).reshape(len(self._sets), labels * 9)
        rules = _core.Rules(
            labels,
            np.ascontiguousarray(self._contexts.relation).ravel(),
            np.ascontiguousarray(sets),
            self.everywhere,
            self.counts,
            self.orders,
            self.neighbours,
        )
        flat = [np.array(rows, np.uint32).ravel() for rows in (self.tokens, self.spans)]
        return Compiled(chosen, rules, flat[0], flat[1])


class Met(NamedTuple):
    """Label ids that meet demands as well as can be: by sentence the demands that they break, and sentences
    for which there may be better ones."""

    ids: Ids
    broken: Mapping[int, tuple[str, ...]] = MappingProxyType({})
    inexact: frozenset[int] = frozenset()


class Demands:
    """What a user demands of a model's outputs: constraints, labels in a column of the input or spans of its
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
        """The demands on one sentence, by its number; checked."""
        for said in some:
            if self._by_document and not isinstance(said, At):
                raise SettingsError(
                    f"sentence {number}: found {said}, but this model labels whole documents: only "
                    "constraints on tokens and spans can be for some of their sentences."
                )
        try:
            return tuple(map(self.names.resolved, some))
        except SettingsError as error:
            raise SettingsError(f"sentence {number}: {error}") from None

    def of_sentences(self, batch: Batch, before: int) -> list[tuple[Constraint, ...]]:
        """The demands on each sentence of a batch, which stands behind so many others; checked."""
        block = batch.block
        starts = block.table.sentence_starts.tolist()
        found = [
            (*self._own.get(before + s + 1, ()), *self._given(batch, s, starts))
            for s in range(len(starts) - 1)
        ]
        for s, some in enumerate(found):
            length = starts[s + 1] - starts[s]
            for said in some:
                if isinstance(said, At) and said.last > length:
                    where = f"sentence {before + s + 1}"
                    raise DataError(f"{where}: found {said}, but it has {length} tokens", file=block.file)
        phrases: Sequence[Sequence[At]] = [()] * len(found)
        if self._dictionary is not None:
            phrases = self._dictionary.demands(block)
        return [(*self._everywhere, *some, *more) for some, more in zip(found, phrases, strict=True)]

    def _given(self, batch: Batch, s: int, starts: Sequence[int]) -> list[At]:
        """The labels or spans of a sentence that are to be kept."""
        block, first, column = batch.block, starts[s], self._column
        if column is None:
            return []
        if column == SPANS and batch.sentences is not None:
            spans, column = batch.sentences[s].spans, block.columns[0]
            found = [At(span.start + 1, span.end, (span.label,)) for span in spans]
        else:
            found = given(block.table.column_slice(block.index(column), first, starts[s + 1]))
        kept = []
        for said in found:
            try:
                kept.append(self.names.resolved(said))
            except SettingsError as error:
                raise block.error(str(error), first + said.first - 1, column) from None
        return kept

    def compile(
        self, unit: Block, block: Block, by_sentence: Sequence[Sequence[Constraint]]
    ) -> Iterator[Compiled]:
        """The demands on a block whose sentences may be parts of a unit's; sentences with the same demands
        on all of their tokens go together."""
        starts = block.table.sentence_starts
        whole = _wholes(unit, block)
        offsets = starts[:-1].astype(np.int64) - unit.table.sentence_starts[whole]
        groups: dict[tuple[Constraint, ...], list[int]] = {}
        for s, some in enumerate(by_sentence):
            groups.setdefault(tuple(said for said in some if not isinstance(said, At)), []).append(s)
        for general, members in groups.items():
            compiler = _Compiler(self._contexts, self.names)
            for said in general:
                compiler.add(said)  # type: ignore[arg-type]
            chosen = np.zeros(unit.table.sentences, np.uint8)
            for s in members:
                length = int(starts[s + 1] - starts[s])
                chosen[whole[s]] = 1
                for said in by_sentence[s]:
                    if isinstance(said, At) and said.last <= length:
                        compiler.add_at(said, int(whole[s]), int(offsets[s]))
            yield compiler.compiled(chosen)

    def meet(self, decoder: StructureInUse, unit: Block, batch: Batch, before: int, ids: Ids) -> Met:
        """The best label ids of a batch, changed where they break demands."""
        block = batch.block
        if not block.table.tokens:  # such a block may have no columns
            return Met(ids)
        by_sentence = self.of_sentences(batch, before)
        starts = block.table.sentence_starts
        worst = np.zeros(unit.table.sentences, np.uint32)
        sure = np.ones(unit.table.sentences, np.uint8)
        for demands in self.compile(unit, block, by_sentence):
            ids, violations, exact = decoder.constrain(unit, ids, demands, starts)
            worst, sure = np.maximum(worst, violations), np.minimum(sure, exact)
        return self._met(unit, block, by_sentence, ids, worst, sure)

    def ranked(
        self, decoder: StructureInUse, unit: Block, batch: Batch, before: int, k: int
    ) -> tuple[RankedOutputs, Met]:
        """The k best outputs of a batch that meet demands as well as can be; what is known of the first."""
        block, by_sentence = batch.block, self.of_sentences(batch, before)
        starts, found = block.table.sentence_starts, None
        for demands in self.compile(unit, block, by_sentence):
            some = decoder.ranked_constrained(unit, k, demands, starts)
            found = some if found is None else some.where(demands.chosen, found, unit.table.sentence_starts)
        assert found is not None, "a block with tokens has sentences"
        return found, self._met(unit, block, by_sentence, found.ids[0], found.violations, found.exact)

    def _met(
        self,
        unit: Block,
        block: Block,
        by_sentence: Sequence[tuple[Constraint, ...]],
        ids: Ids,
        violations: npt.NDArray[np.uint32],
        exact: npt.NDArray[np.uint8],
    ) -> Met:
        whole, starts = _wholes(unit, block), block.table.sentence_starts
        broken = {}
        for s in np.flatnonzero(violations[whole]).tolist():
            labels = self._shown.user_labels(ids[starts[s] : starts[s + 1]])
            if told := self.broken(labels, by_sentence[s]):
                broken[s] = told
        return Met(ids, broken, frozenset(np.flatnonzero(exact[whole] == 0).tolist()))

    def outputs(
        self, decoder: StructureInUse, batch: Batch, before: int = 0
    ) -> Iterator[tuple[ConstrainedOutputs, tuple[Constraint, ...]]]:
        """Of each sentence of a batch the outputs that meet its demands as well as can be; the demands."""
        block, by_sentence = batch.block, self.of_sentences(batch, before)
        compiled = list(self.compile(block, block, by_sentence))
        for s, some in enumerate(by_sentence):
            demands = next(one for one in compiled if one.chosen[s])
            yield decoder.constrained(block, s, demands), some

    def broken(self, labels: Sequence[str], demands: Sequence[Constraint]) -> tuple[str, ...]:
        """Those demands, as texts, that labels of a sentence do not meet: none, if there are no labels."""
        return (
            () if not labels else tuple(str(said) for said in demands if not self.names.holds(said, labels))
        )


def _wholes(unit: Block, block: Block) -> npt.NDArray[np.intp]:
    """Which of a unit's sentences those of a block are parts of."""
    if unit is block:
        return np.arange(block.table.sentences)
    found = np.searchsorted(unit.table.sentence_starts, block.table.sentence_starts[:-1], "right") - 1
    return np.minimum(found, unit.table.sentences - 1)
