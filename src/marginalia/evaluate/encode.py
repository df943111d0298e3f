"""Labelled sentences as flat arrays of label ids: the only place where labels are met one by one.

Legend used in this room: n tokens, S sentences, L labels. A *framed* column has n + S + 1 places: one id L
("outside", like the blank line of a CoNLL file) before each sentence and one at the end. Between its places
lie n + S *steps*; step i leads from place i to place i + 1, and each sentence owns the steps into its tokens
and the one that leaves its last token.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from marginalia.errors import DataError

Ids: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Sentences: TypeAlias = Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class LabelColumns:
    """Columns of label ids over the same sentences: `columns[c][t]` indexes `labels`, `starts` the tokens."""

    labels: tuple[str, ...]
    starts: Counts
    columns: tuple[Ids, ...]

    @property
    def tokens(self) -> int:
        """The number of tokens, n."""
        return int(self.columns[0].size)

    @property
    def sentences(self) -> int:
        """The number of sentences, S."""
        return int(self.starts.size)

    def framed(self, column: int) -> Ids:
        """The column with the outside id around each sentence: n + S + 1 places."""
        return np.insert(self.columns[column], np.append(self.starts, self.tokens), len(self.labels))

    def per_sentence(self, steps: Flags) -> Counts:
        """How many of the n + S step flags are set, by sentence."""
        # Each sentence owns at least the step out of it, so reduceat never meets an empty slice.
        first = self.starts + np.arange(self.sentences)
        return np.add.reduceat(steps, first, dtype=np.int64) if first.size else np.zeros(0, np.int64)


def encode(names: Sequence[str], *columns: Sentences) -> LabelColumns:
    """Give the labels of parallel columns common ids, in order of appearance; `names` is for the errors."""
    lengths = same_lengths(names, *columns)
    total = int(lengths.sum())
    index: defaultdict[str, int] = defaultdict()
    index.default_factory = index.__len__
    flat = (chain.from_iterable(column) for column in columns)
    try:
        ids = tuple(np.fromiter(map(index.__getitem__, labels), np.int32, total) for labels in flat)
    except TypeError:  # some label is a set or a list
        _check_strings(label for column in columns for label in chain.from_iterable(column))
        raise
    _check_strings(index)
    return LabelColumns(tuple(index), np.cumsum(lengths) - lengths, ids)


def _check_strings(labels: Iterable[Any]) -> None:
    for label in labels:
        if not isinstance(label, str):
            why = "data to be scored must be labelled completely"
            raise DataError(f"found the label {label!r}, expected a string: {why}")


def same_lengths(names: Sequence[str], *columns: Sentences) -> Counts:
    """The common sentence lengths of parallel columns; the first sentence that differs is a `DataError`."""
    first, *others = (np.fromiter(map(len, column), np.int64, len(column)) for column in columns)
    for name, other in zip(names[1:], others, strict=True):
        if first.size != other.size:
            raise DataError(f"{first.size} sentences in {names[0]} but {other.size} in {name}")
        wrong = np.flatnonzero(first != other)
        if wrong.size:
            k = int(wrong[0])
            found = f"{first[k]} tokens in {names[0]} but {other[k]} in {name}"
            raise DataError(f"sentence {k + 1}: {found}")
    return first


def from_ids(
    labels: Sequence[str], starts: npt.ArrayLike, *columns: npt.NDArray[np.integer[Any]]
) -> LabelColumns:
    """Wrap columns that are already ids, after checking that they fit each other and the labels."""
    flat = [_checked_ids(column, len(labels)) for column in columns]
    for column in flat[1:]:
        if column.size != flat[0].size:
            raise DataError(f"{flat[0].size} gold ids but {column.size} predicted ids")
    return LabelColumns(tuple(labels), _checked_starts(starts, flat[0].size), tuple(flat))


def _checked_ids(column: npt.NDArray[np.integer[Any]], labels: int) -> Ids:
    ids = np.asarray(column)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise DataError(f"label ids must be a flat array of integers, not {ids.dtype} of shape {ids.shape}")
    if ids.size and (ids.min() < 0 or ids.max() >= labels):
        raise DataError(f"label ids must lie in 0..{labels - 1}, but {ids.min()}..{ids.max()} were found")
    return ids.astype(np.int32, copy=False)


def _checked_starts(given: npt.ArrayLike, tokens: int) -> Counts:
    starts = np.asarray(given, dtype=np.int64)
    if starts.ndim != 1:
        raise DataError(f"sentence_starts must be a flat array, not of shape {starts.shape}")
    if starts.size == 0 and tokens:
        raise DataError(f"{tokens} tokens but no sentence_starts")
    if starts.size and (starts[0] != 0 or starts[-1] > tokens or (np.diff(starts) < 0).any()):
        raise DataError(f"sentence_starts must rise from 0 to at most {tokens}")
    return starts


def unseen_mask(words: Sentences, known: Collection[str], tokens: int) -> Flags:
    """Which tokens carry a word that is not among the known ones."""
    lookup = known if isinstance(known, AbstractSet | Mapping) else frozenset(known)
    return ~np.fromiter(map(lookup.__contains__, chain.from_iterable(words)), np.bool_, tokens)
