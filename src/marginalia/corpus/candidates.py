"""Items with lists of candidates, one of which is to be chosen: JSON lines, dictionaries, or arrays.

An item is a sentence of a block whose tokens are its candidates; their features are attributes, and the base
model's score is one of those. What is right stands in a column of labels: `best` for one candidate, `other`
for the rest. docs/candidates.md has the format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._core import (
    BASE_SCORE,
    BEST_CANDIDATE,
    OTHER_CANDIDATE,
    candidate_table,
    from_columns,
    right_candidates,
)
from ..errors import DataError, SettingsError
from .batches import Layout
from .blocks import ATTRIBUTES, OUTPUT, Block
from .formats import CANDIDATES
from .items import ItemBatch, ItemRecord, json_objects
from .streams import Source, name_of

BEST, OTHER = BEST_CANDIDATE, OTHER_CANDIDATE
SCORE, LOSS, RIGHT = "score", "loss", "right"
COLUMNS = (ATTRIBUTES, OUTPUT, SCORE, LOSS, RIGHT)
"""Of labelled blocks; others have the first two."""

_ITEMS = 500  # per batch
_MOST = float(np.finfo(np.float32).max)

Floats = npt.NDArray[np.float64]


def candidate_layout(partial: bool = False, label: str | None = None) -> Layout:
    """How candidates are laid out: always in the same way."""
    if label not in (None, RIGHT):
        raise SettingsError(f"label: found '{label}', but the right candidates are marked by '{RIGHT}'.")
    return Layout(CANDIDATES, COLUMNS, RIGHT, partial=partial)


def read_candidates(
    source: Source, *, labelled: bool, partial: bool = False, at_once: bool = False
) -> Iterator[ItemBatch]:
    """The items of a file in batches, or `at_once`, one by one. With `labelled`, it must be known which
    candidates are right."""
    file, records, tail = name_of(source), json_objects(source), ""
    while listed := list(islice(records, 1 if at_once else _ITEMS)):
        if not listed[-1].raw:  # blank lines at the end
            tail = listed.pop().before
        if listed or tail:
            yield ItemBatch(pack_candidates(listed, labelled, partial, file), None, listed, "", tail)


def pack_dictionaries(data: Iterable[Any], partial: bool) -> tuple[Layout, tuple[Block, ...]]:
    """The layout and the blocks of labelled items in memory, given as dictionaries or `CandidateArrays`."""
    if isinstance(data, CandidateArrays):
        return candidate_layout(partial), (data.block(partial),)
    listed = list(data)
    if not listed:
        raise DataError("found no items, expected at least one")
    blocks = (
        pack_candidates(records_of(listed[i : i + _ITEMS], i), True, partial)
        for i in range(0, len(listed), _ITEMS)
    )
    return candidate_layout(partial), tuple(blocks)


def records_of(items: Sequence[Any], before: int = 0) -> list[ItemRecord]:
    """Items in memory as records; their numbers stand for lines."""
    for number, item in enumerate(items, before + 1):
        if not isinstance(item, Mapping):
            raise DataError(
                f"item {number}: found {type(item).__name__}, expected a dictionary with 'candidates'"
            )
    return [ItemRecord(item, number, "") for number, item in enumerate(items, before + 1)]


def pack_candidates(
    records: Sequence[ItemRecord], labelled: bool, partial: bool = False, file: str | None = None
) -> Block:
    """A block of items. With `partial` all candidates that are as right as can be are marked, not one."""
    items = [_Item(record, file) for record in records]
    lists = [item.candidates for item in items]
    lengths = [len(one) for one in lists]
    attributes = [features for item in items for features in item.attributes()]
    outputs = [_shown(one, n) for listed in lists for n, one in enumerate(listed, 1)]
    columns = [[""] * len(outputs), outputs]
    if labelled:
        scores, losses = ([x for item in items for x in read(item)] for read in (_Item.scores, _Item.losses))
        marks = [x for item in items for x in item.marks()]
        size = np.array(lengths, np.uint32)
        right = right_candidates(size, np.array(marks, np.float64), np.array(scores, np.float64), partial)
        columns += [list(map(repr, scores)), list(map(repr, losses))]
        columns.append([BEST if one else OTHER for one in right.tolist()])
    table = from_columns(columns, lengths, [], attributes)
    lines = tuple(record.line for record in records)
    names = COLUMNS if labelled else COLUMNS[:2]
    return Block(table, names, file, lines[0] if lines else 1, sentence_lines=lines)


def losses_of(block: Block) -> Floats:
    """The losses of all candidates of a labelled block."""
    return np.array(block.column(LOSS)).astype(np.float64)


def scores_of(block: Block) -> Floats:
    """Their base scores."""
    return np.array(block.column(SCORE)).astype(np.float64)


class CandidateArrays(NamedTuple):
    """Items in arrays, to train on without texts in between: how many candidates each item has, where the
    features of each candidate end, features as numbers of `names`, their values (None: 1), base scores and
    losses of the candidates. `keys` stand for the names, if those are not their hashes."""

    lengths: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint64]
    features: npt.NDArray[np.uint32]
    names: list[str]
    values: npt.NDArray[np.float32] | None = None
    scores: Floats | None = None
    losses: Floats | None = None
    keys: npt.NDArray[np.uint64] | None = None

    def block(self, partial: bool = False) -> Block:
        """The items as a block; labelled if there are losses."""
        lengths, ends, features, values, keys, scores, losses = map(self._array, _DTYPES)
        try:
            table = candidate_table(
                lengths, ends, features, list(self.names), values, keys, scores, losses, partial
            )
        except TypeError:
            raise DataError("names: found something else than texts, expected a list of them") from None
        except ValueError as error:
            raise DataError(str(error)) from None
        lines = tuple(range(1, len(self.lengths) + 1))
        return Block(table, COLUMNS if self.losses is not None else COLUMNS[:2], sentence_lines=lines)

    def _array(self, name: str) -> Any:
        """One of the arrays, as the core takes it."""
        found, (dtype, optional) = getattr(self, name), _DTYPES[name]
        if found is None and optional:
            return None
        if not isinstance(found, np.ndarray) or found.dtype != dtype or found.ndim != 1:
            what = type(found).__name__
            if isinstance(found, np.ndarray):
                what = f"an array of {found.dtype} with {found.ndim} dimensions"
            expected = f"a numpy array of {np.dtype(dtype)} with 1 dimension" + (
                ", or None" if optional else ""
            )
            raise DataError(f"{name}: found {what}, expected {expected}")
        return np.ascontiguousarray(found)


_DTYPES: dict[str, tuple[type[np.generic], bool]] = {
    "lengths": (np.uint32, False),
    "ends": (np.uint64, False),
    "features": (np.uint32, False),
    "values": (np.float32, True),
    "keys": (np.uint64, True),
    "scores": (np.float64, True),
    "losses": (np.float64, True),
}
"""What the arrays of `CandidateArrays` hold, and whether they may be missing."""


def _shown(candidate: Mapping[str, Any], number: int) -> str:
    """What a candidate is, for people."""
    output = candidate.get(OUTPUT)
    if output is None:
        return f"candidate {number}"
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=str)
    return " ".join(text.split())


class _Item:
    """An item that is read and checked; errors name the line and the candidate."""

    def __init__(self, record: ItemRecord, file: str | None) -> None:
        self._line, self._file = record.line, file
        found = record.fields.get("candidates")
        if not isinstance(found, (list, tuple)):
            what = "no 'candidates'" if found is None else f"{type(found).__name__} as 'candidates'"
            raise self._error(f"found {what}, expected a list of them")
        if not found:
            raise self._error("found an empty list of candidates, expected at least one")
        self.candidates: list[Mapping[str, Any]] = list(found)
        for number, one in enumerate(self.candidates, 1):
            if not isinstance(one, Mapping):
                raise self._error(f"found {type(one).__name__}, expected an object", number)

    def attributes(self) -> Iterator[dict[str, float]]:
        """The features of each candidate, its base score among them."""
        scores: Sequence[float | None] = self.scores() if self._has(SCORE) else [None] * len(self.candidates)
        for number, (one, score) in enumerate(zip(self.candidates, scores, strict=True), 1):
            found = self._features(one.get("features"), number)
            if BASE_SCORE in found:
                raise self._error(f"found a feature '{BASE_SCORE}', which is the name of the score", number)
            yield found if score is None else {BASE_SCORE: score, **found}

    def _features(self, given: Any, number: int) -> dict[str, float]:
        if given is None:
            return {}
        if isinstance(given, Mapping):
            for name in given:
                if not isinstance(name, str):
                    raise self._error(f"found {name!r} as the name of a feature, expected a string", number)
            return {name: self._number(x, f"the value of '{name}'", number) for name, x in given.items()}
        if not isinstance(given, (list, tuple, set, frozenset)):
            raise self._error(
                f"found {type(given).__name__} as features, expected an object of names and values, or a "
                "list of names",
                number,
            )
        counts: dict[str, float] = {}
        for name in sorted(given) if isinstance(given, (set, frozenset)) else given:
            if not isinstance(name, str):
                raise self._error(f"found {name!r} in a list of features, expected a string", number)
            counts[name] = counts.get(name, 0.0) + 1.0
        return counts

    def scores(self) -> list[float]:
        """The base scores; 0 if there are none."""
        return self._numbers(SCORE, 0.0)

    def losses(self) -> list[float]:
        """The losses; without any, 1 for each candidate that is not right."""
        right = self._right()
        if not self._has(LOSS) and not any(right):
            wanted = f"{LOSS} for each, or {RIGHT} (true) for one at least"
            raise self._error(f"found no candidate that is right, expected a {wanted}")
        if not self._has(LOSS):
            return [0.0 if one else 1.0 for one in right]
        losses = self._numbers(LOSS, 0.0)
        most = max((x for x, one in zip(losses, right, strict=True) if one), default=-math.inf)
        for number, (x, one) in enumerate(zip(losses, right, strict=True), 1):
            if x < most and not one:
                raise self._error(f"found a smaller {LOSS} than that of a right candidate", number)
        return losses

    def marks(self) -> list[float]:
        """What decides which one is right: marks, else losses."""
        losses, right = self.losses(), self._right()
        return [0.0 if one else 1.0 for one in right] if any(right) else losses

    def _right(self) -> list[bool]:
        found = []
        for number, one in enumerate(self.candidates, 1):
            value = one.get(RIGHT, False)
            if not isinstance(value, (bool, np.bool_)) and value not in (0, 1):
                raise self._error(f"found {value!r} as '{RIGHT}', expected true or false", number)
            found.append(bool(value))
        return found

    def _has(self, name: str) -> bool:
        return any(one.get(name) is not None for one in self.candidates)

    def _numbers(self, name: str, default: float) -> list[float]:
        if not self._has(name):
            return [default] * len(self.candidates)
        found = []
        for number, one in enumerate(self.candidates, 1):
            if one.get(name) is None:
                raise self._error(f"found no '{name}', expected one as other candidates of the item", number)
            found.append(self._number(one[name], f"'{name}'", number))
        return found

    def _number(self, value: Any, what: str, number: int) -> float:
        if isinstance(value, (int, float, np.integer, np.floating, np.bool_)):
            try:
                converted = float(value)
            except OverflowError:
                converted = math.inf
            if abs(converted) <= _MOST:  # not so for NaN
                return converted
        raise self._error(f"found {value!r} as {what}, expected a number of at most 3.4e+38 in size", number)

    def _error(self, message: str, number: int | None = None) -> DataError:
        where = f"candidate {number}: " if number is not None else ""
        if self._file is None:
            where = f"item {self._line}: {where}"
        return DataError(where + message, file=self._file, line=self._line if self._file else None)
