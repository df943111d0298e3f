"""Corrections: what a model was taught after its training, and how to take it back (docs/fix.md).

A model keeps, for each of its corrections, the examples that it made right, and the weights that it changed
with their values before and after. Undoing the last one gives the model of before, bit for bit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import pack
from marginalia.corpus.records import Sentence
from marginalia.corpus.schemes import convert
from marginalia.errors import DataError, ModelError
from marginalia.model.constants import ChainSettings, constant_at, constant_count, moved_outputs
from marginalia.model.freezing import Cells, Features, built_arrays
from marginalia.model.outputs import ACTIONS, action_name
from marginalia.model.provenance import Arrays, moved_provenance

if TYPE_CHECKING:
    from marginalia.model.saved import SavedModel

_PREFIX = "fix."
_BY_WEIGHT = {"keys": "uint64", "outputs": "uint32", "before": "float32", "after": "float32"}
_DTYPES = {**_BY_WEIGHT, "end": "uint32", "added": "uint64", "added_end": "uint32"}
_COUNTS = ("labels", "updates")


@dataclass(frozen=True, slots=True)
class Change:
    """A weight that a correction changed: of a feature with its labels, or of labels alone.

    The kind is one of those of the weight table (docs/inspect.md).
    """

    kind: str
    feature: str
    labels: tuple[str, ...]
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"labels": list(self.labels)}


@dataclass(frozen=True, slots=True)
class CorrectedExample:
    """What was corrected: its tokens (of explicit attributes: their names, cut short), the right labels, and
    what the model had predicted."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    predicted: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data; files and `--json` know `predicted` as `said`."""
        return {"tokens": self.tokens, "labels": self.labels, "said": self.predicted}


@dataclass(frozen=True)
class Correction:
    """One of a model's corrections: the examples that it made right, and what it changed for that.

    `updates` counts steps, `margin` is the lead in score that was asked for. `new_labels` and `new_features`
    (how many) were not there before.
    """

    number: int
    examples: tuple[CorrectedExample, ...]
    updates: int
    margin: float
    new_labels: tuple[str, ...]
    new_features: int
    changes: tuple[Change, ...]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"examples": tuple(one.to_json() for one in self.examples)}


class Changed(NamedTuple):
    """Changed weights: the keys of their features (0: constants), outputs, values; and the keys of features
    that the model had not had before."""

    keys: npt.NDArray[np.uint64]
    outputs: npt.NDArray[np.uint32]
    before: npt.NDArray[np.float32]
    after: npt.NDArray[np.float32]
    added: npt.NDArray[np.uint64]


def check_corrections(arrays: Arrays, records: list[dict[str, Any]], labels: int) -> None:
    """An error unless records and arrays are complete and fit each other, or there are none."""
    present = [name for name in _DTYPES if _PREFIX + name in arrays]
    if not present and not records:
        return
    found = {name: arrays.get(_PREFIX + name) for name in _DTYPES}
    if any(a is None or a.dtype.name != _DTYPES[name] for name, a in found.items()):
        raise ValueError("corrections: arrays are missing or of a wrong kind")
    weights = {len(arrays[_PREFIX + name]) for name in _BY_WEIGHT}
    if len(weights) > 1:
        raise ValueError("corrections: changed weights disagree in number")
    _require_ends(arrays[_PREFIX + "end"], len(records), weights.pop())
    _require_ends(arrays[_PREFIX + "added_end"], len(records), len(arrays[_PREFIX + "added"]))
    if not all(np.isfinite(arrays[_PREFIX + name]).all() for name in ("before", "after")):
        raise ValueError("corrections: a weight is not finite")
    for record in records:
        _check_record(record)
    sizes = [*(record["labels"] for record in records), labels]
    if sorted(sizes) != sizes or sizes[0] < 1:
        raise ValueError("corrections: numbers of labels fall")


def _require_ends(ends: npt.NDArray[Any], count: int, last: int) -> None:
    if len(ends) != count or (ends[1:] < ends[:-1]).any() or (int(ends[-1]) if count else 0) != last:
        raise ValueError("corrections: the parts of the arrays do not fit each other")


def _check_record(record: dict[str, Any]) -> None:
    if any(type(record[name]) is not int for name in _COUNTS) or type(record["margin"]) is not float:
        raise TypeError("corrections: a number is of a wrong kind")
    if not 0.0 < record["margin"] < float("inf"):
        raise ValueError("corrections: a margin is out of range")
    if type(record.get("width", 1)) is not int or record.get("width", 1) < 1:
        raise ValueError("corrections: a width is out of range")
    replaced = record.get("replaced", {})
    if not isinstance(replaced, dict) or not all(isinstance(a, list) for a in replaced.values()):
        raise TypeError("corrections: replaced arrays are no lists")
    if not isinstance(record["examples"], list) or not record["examples"]:
        raise TypeError("corrections: examples is not a list of some")
    for example in record["examples"]:
        if not isinstance(example, dict):
            raise TypeError("corrections: an example is not a record")
        labels, predicted, columns = (example[name] for name in ("labels", "said", "columns"))
        if not isinstance(columns, dict) or not columns:
            raise TypeError("corrections: an example has no columns")
        if not all(isinstance(names, list) for names in (labels, predicted, *columns.values())):
            raise TypeError("corrections: an example is not made of lists")
        if not all(isinstance(name, str) for name in (*labels, *predicted)):
            raise TypeError("corrections: a label is not a text")
        if {len(values) for values in (predicted, *columns.values())} != {len(labels)}:
            raise ValueError("corrections: an example has columns of different lengths")


def changed_weights(saved: SavedModel, number: int) -> Changed:
    """What one of the corrections changed; outputs are those over the labels that the model had after it."""
    first, last = _bounds(saved, "end", number)
    begin, end = _bounds(saved, "added_end", number)
    keys, outputs, before, after = (saved.arrays[_PREFIX + name][first:last] for name in _BY_WEIGHT)
    return Changed(keys, outputs, before, after, saved.arrays[_PREFIX + "added"][begin:end])


def _bounds(saved: SavedModel, name: str, number: int) -> tuple[int, int]:
    ends = saved.arrays[_PREFIX + name]
    return (int(ends[number - 1]) if number else 0), int(ends[number])


def with_correction(saved: SavedModel, record: dict[str, Any], changed: Changed) -> SavedModel:
    """A model whose weights were changed, with one more correction in its log."""
    arrays, new = dict(saved.arrays), changed._asdict()
    for name, kind in _DTYPES.items():
        before = saved.arrays.get(_PREFIX + name, np.zeros(0, kind))
        if name.endswith("end"):
            size = len(changed.added if name == "added_end" else changed.keys)
            more = np.array([size + (int(before[-1]) if len(before) else 0)])
        else:
            more = new[name]
        arrays[_PREFIX + name] = np.concatenate([before, more]).astype(kind)
    return replace(saved, arrays=arrays, corrections=[*saved.corrections, record])


def delta_weights(saved: SavedModel) -> Changed:
    """All corrections as one, over the labels that the model has now; a weight may occur several times."""
    parts = []
    for number, size in enumerate(_sizes(saved)):
        one = changed_weights(saved, number)
        edge = _is_edge(saved, one.keys)
        outputs = moved_outputs(one.outputs, one.keys == 0, edge, size, saved.width)
        parts.append(one._replace(outputs=outputs.astype(np.uint32)))
    return Changed(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _sizes(saved: SavedModel) -> list[int]:
    """How many outputs a feature's row had after each correction."""
    return [*(_width_before(saved, record) for record in saved.corrections[1:]), saved.width]


def _width_before(saved: SavedModel, record: dict[str, Any]) -> int:
    """How many it had before one."""
    width: int = record.get("width", saved.width_of(record["labels"]))
    return width


def _is_edge(saved: SavedModel, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    return np.asarray((keys != 0) & np.isin(keys, saved.arrays["keys"][saved.edges()]))


def changes_of(saved: SavedModel, number: int) -> list[Change]:
    """What one of the corrections changed, in words, the largest change first."""
    found, size = changed_weights(saved, number), _sizes(saved)[number]
    slots = np.flatnonzero(saved.arrays["keys"])
    keys = saved.arrays["keys"][slots]
    places = np.searchsorted(keys, found.keys)
    order = np.argsort(-np.abs(found.after.astype(float) - found.before), kind="stable")
    changes = []
    for i in order.tolist():
        key, output, row = int(found.keys[i]), int(found.outputs[i]), int(places[i])
        if key == 0:
            kind, ids = constant_at(output, size)
            name = ""
        elif row == len(keys) or int(keys[row]) != key:  # undone corrections never leave such ones
            raise ModelError("the model's corrections change a feature that it does not have.")
        else:
            slot = int(slots[row])
            edge = saved.is_edge(slot)
            kind, ids = "edge" if edge else "feature", divmod(output, size) if edge else (output,)
            name = saved.feature_name(slot) if "names" in saved.arrays else f"#{key:016x}"
        if max(ids) > size - (kind != "trigram"):
            raise ModelError("the model's corrections change weights of labels that it does not have.")
        changes.append(
            Change(kind, name, _names(saved, ids, size), float(found.before[i]), float(found.after[i]))
        )
    return changes


def _names(saved: SavedModel, outputs: tuple[int, ...], size: int) -> tuple[str, ...]:
    """Labels, of which the one after the last is what is before a sentence; of trees: actions."""
    if ACTIONS in saved.arrays:
        return tuple(action_name(output, saved.labels) for output in outputs)
    return tuple("^" if output == size else saved.labels[output] for output in outputs)


def correction_of(saved: SavedModel, number: int) -> Correction:
    """One of the corrections of a model, in words; the first is number 0."""
    record = saved.corrections[number]
    after = [*(one["labels"] for one in saved.corrections[1:]), len(saved.labels)][number]
    return Correction(
        number + 1,
        tuple(_example(saved, one) for one in record["examples"]),
        record["updates"],
        record["margin"],
        saved.labels[record["labels"] : after],
        len(changed_weights(saved, number).added),
        tuple(changes_of(saved, number)),
    )


def _example(saved: SavedModel, one: dict[str, Any]) -> CorrectedExample:
    def shown(labels: list[str]) -> tuple[str, ...]:
        if saved.encoding == saved.scheme or saved.encoding is None or saved.scheme is None:
            return tuple(labels)
        return tuple(convert(labels, saved.encoding, saved.scheme))

    tokens = shown_tokens(saved, one["columns"])
    return CorrectedExample(tuple(tokens), shown(one["labels"]), shown(one["said"]))


def shown_tokens(saved: SavedModel, columns: dict[str, list[Any]]) -> list[str]:
    """The tokens of an example, as people know them."""
    name = next(name for name in (*saved.columns, *columns) if name in columns)
    try:
        return pack([Sentence(columns)]).readable(name)
    except DataError as error:
        raise ModelError(f"the examples of the model's corrections are damaged: {error}") from error


def undone(saved: SavedModel) -> SavedModel:
    """The model before its last correction, bit for bit."""
    if not saved.corrections:
        raise ModelError("the model has no corrections, so there is none to undo.")
    try:
        return _undone(saved)
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise ModelError(f"the model's last correction cannot be undone: {error}") from error


def _undone(saved: SavedModel) -> SavedModel:
    changed = changed_weights(saved, len(saved.corrections) - 1)
    last = saved.corrections[-1]
    old, width = last["labels"], _width_before(saved, last)
    features, keys, known = _features(saved, changed.added)
    rows_by_key = np.argsort(keys)
    rows = np.searchsorted(keys, changed.keys, sorter=rows_by_key)
    if len(keys) == 0 or (keys[rows_by_key[np.minimum(rows, len(keys) - 1)]] != changed.keys).any():
        raise ValueError("it changes features that the model does not have")
    cells = overwritten(_cells(saved, keys), rows_by_key[rows], changed.outputs, changed.before)
    edge = np.append(False, features.edges != 0)[cells.rows]
    outputs = moved_outputs(cells.outputs, cells.rows == 0, edge, saved.width, width)
    constants = constant_count(old, saved.settings_as(ChainSettings).order)
    arrays = built_arrays(features, cells._replace(outputs=outputs), width, constants, known)
    kept = {n: a for n, a in saved.arrays.items() if n not in _OF_WEIGHTS and not n.startswith(_PREFIX)}
    kept |= {name: np.array(values, kept[name].dtype) for name, values in last.get("replaced", {}).items()}
    if len(saved.corrections) > 1:
        kept |= _shorter_log(saved)
    shorter = replace(
        saved,
        labels=saved.labels[:old],
        arrays=kept | arrays,
        corrections=saved.corrections[:-1],
        row_width=None if saved.row_width is None else width,
    )
    return replace(shorter, arrays=shorter.arrays | moved_provenance(saved, shorter.arrays["keys"], width))


_OF_WEIGHTS = {
    "homes",
    "keys",
    "row_end",
    "narrow",
    "wide",
    "weights",
    "edge",
    "names",
    "name_end",
    "constant_at",
    "constants",
}


def _features(
    saved: SavedModel, added: npt.NDArray[np.uint64]
) -> tuple[Features, npt.NDArray[np.uint64], int]:
    """The features, those last that a correction had added; their keys by row; how many rows stay."""
    slots = np.flatnonzero(saved.arrays["keys"])
    new = np.isin(saved.arrays["keys"][slots], added)
    slots = slots[np.argsort(new, kind="stable")]
    keys, names = saved.arrays["keys"][slots], None
    if "names" in saved.arrays:
        text, ends = saved.arrays["names"].tobytes(), saved.arrays["name_end"]
        begins = np.append(0, ends[:-1])[slots].tolist()
        names = [text[b:e] for b, e in zip(begins, ends[slots].tolist(), strict=True)]
    features = Features(keys, saved.edges()[slots].astype(np.uint8), names)
    return features, np.append(np.uint64(0), keys), int(np.count_nonzero(~new)) + 1


def _cells(saved: SavedModel, keys: npt.NDArray[np.uint64]) -> Cells:
    """All weights, by rows whose keys are these."""
    arrays = saved.arrays
    by_key = np.argsort(keys)
    slots = np.repeat(np.arange(len(arrays["keys"])), np.diff(saved.row_ends(), prepend=0))
    rows = by_key[np.searchsorted(keys, arrays["keys"][slots], sorter=by_key)]
    return Cells(
        np.concatenate([np.zeros(len(arrays["constants"]), np.int64), rows]),
        np.concatenate([arrays["constant_at"], saved.outputs()]),
        np.concatenate([arrays["constants"], arrays["weights"]]),
    )


def overwritten(
    cells: Cells, rows: npt.NDArray[Any], outputs: npt.NDArray[Any], weights: npt.NDArray[np.float32]
) -> Cells:
    """Weights of which some have other values, or are new; without zeros."""
    all_rows = np.concatenate([cells.rows, rows]).astype(np.int64)
    all_outputs = np.concatenate([cells.outputs, outputs]).astype(np.int64)
    codes = all_rows << 32 | all_outputs
    _, last = np.unique(codes[::-1], return_index=True)
    chosen = len(codes) - 1 - last
    values = np.concatenate([cells.weights, weights])[chosen]
    chosen = chosen[values != 0]
    return Cells(all_rows[chosen], all_outputs[chosen], values[values != 0])


def _shorter_log(saved: SavedModel) -> Arrays:
    """The log's arrays without the last correction."""
    weights, _ = _bounds(saved, "end", len(saved.corrections) - 1)
    added, _ = _bounds(saved, "added_end", len(saved.corrections) - 1)
    sizes = dict.fromkeys(_BY_WEIGHT, weights) | {"added": added}
    rest = len(saved.corrections) - 1
    return {_PREFIX + name: saved.arrays[_PREFIX + name][: sizes.get(name, rest)] for name in _DTYPES}
