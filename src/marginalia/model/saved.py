"""What a model is when it is not in use: labels, templates, settings, history and arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings
from marginalia.corpus.schemes import repairs_always
from marginalia.corpus.settings import DataSettings
from marginalia.errors import ModelError
from marginalia.features.program import TemplateProgram
from marginalia.model.provenance import Arrays, check_provenance
from marginalia.model.records import check_history, check_labels

S = TypeVar("S", bound=Settings)
LEAST_TEMPERATURE, MOST_TEMPERATURE = 1e-6, 1e12
_SHARE_MAP = ("slope", "offset")  # of calibrated models whose search keeps few outputs
LEVELS = 127  # weights of 8 bits tell apart on each side of zero
BLOCK = 64  # slots that share a base in shrunk models, as kBlock in core/weights/frozen.hpp


@dataclass(frozen=True)
class SavedModel:
    """All that a model file holds.

    `labels` are spelled in the scheme `encoding`; users see `scheme`. `columns` are those of the
    training data, `label` the one among them to predict, `options` those of their reader. `arrays` hold
    the weights (see docs/model-file.md). `calibration` has the `temperature` that makes scores
    log-probabilities, if one was fitted. `files` are those that provenance cites; `edits` has a record for
    each time that weights were changed by hand, `corrections` one for each correction that can be undone.
    `row_width` is how many outputs a feature's row has, if that is not the number of labels.
    `global_features` describes those of whole outputs, if there are any (model/global_part.py); `first` the
    first model of a model of two stages (model/first_part.py).
    """

    labels: tuple[str, ...]
    program: TemplateProgram
    columns: tuple[str, ...]
    label: str
    scheme: str | None
    encoding: str | None
    structure: str
    learner: str
    settings: dict[str, Any]
    seed: int
    format: str
    fingerprint: str
    options: dict[str, Any] = field(default_factory=dict)
    history: list[dict[str, Any]] = field(default_factory=list)
    diagnostics: dict[str, Any] = field(default_factory=dict)
    calibration: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    edits: list[dict[str, Any]] = field(default_factory=list)
    corrections: list[dict[str, Any]] = field(default_factory=list)
    row_width: int | None = None
    global_features: dict[str, Any] = field(default_factory=dict)
    first: dict[str, Any] = field(default_factory=dict)
    arrays: Arrays = field(default_factory=dict, repr=False)

    @cached_property
    def _views(self) -> dict[tuple[object, ...], Settings]:
        return {}

    def settings_as(self, record: type[S], needs: Sequence[str] = ()) -> S:
        """The model's settings as a typed record, checked. What an older file does not have is as by default;
        without what it `needs`, the file is damaged."""
        key = (record, *needs)
        found = self._views.get(key)
        if not isinstance(found, record):
            found = self._views[key] = record.stored(self.settings, needs)
        return found

    @property
    def shown_as_they_are(self) -> bool:
        """Whether users see the labels as the model has them."""
        # The spans of documents may go on from one sentence to the next: as labels of sentences they may not.
        crosses = self.scheme is not None and self.settings_as(DataSettings).whole_documents
        return self.scheme == self.encoding and not crosses

    @property
    def repairs(self) -> bool:
        """Whether labels of data that are not as their scheme has them are repaired, as in training."""
        return self.settings_as(DataSettings).repair or repairs_always(self.scheme)

    def metadata(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        left_out = {"arrays", "program"} | ({"row_width"} if self.row_width is None else set())
        left_out |= {name for name in ("global_features", "first") if not getattr(self, name)}
        names = [name for name in self.__dataclass_fields__ if name not in left_out]
        return {name: getattr(self, name) for name in names} | {"program": self.program.to_json()}

    @classmethod
    def from_metadata(cls, data: dict[str, Any], arrays: Arrays) -> SavedModel:
        """The inverse of `metadata`; a ModelError if something is missing or of a wrong kind."""
        try:
            checked = _checked(data)
            program = TemplateProgram.from_json(data["program"])
            _check_layout(checked, program)
            _check_arrays(arrays)
            check_provenance(arrays, checked["files"])
            _check_global(checked["global_features"], arrays)
            if checked["corrections"] or any(name.startswith("fix.") for name in arrays):
                from marginalia.model.corrections import check_corrections  # most models have none

                check_corrections(arrays, checked["corrections"], len(checked["labels"]))
        except (KeyError, TypeError, ValueError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ModelError(f"the model's description is damaged: {what}") from error
        return cls(program=program, arrays=arrays, **checked)

    @property
    def width(self) -> int:
        """How many outputs a feature's row has; one of label pairs has the square of it."""
        return self.width_of(len(self.labels))

    def width_of(self, labels: int) -> int:
        """How many outputs a feature's row would have with so many labels."""
        return labels if self.row_width is None else self.row_width

    def feature_names(self) -> list[str] | None:
        """The name of each weight row ("" for the table's empty slots), or None if there are no names."""
        if "names" not in self.arrays:
            return None
        text = self.arrays["names"].tobytes()
        ends = self.arrays["name_end"].tolist()
        begins = [0, *ends[:-1]]
        return [text[b:e].decode("utf-8", "replace") for b, e in zip(begins, ends, strict=True)]

    def feature_name(self, row: int) -> str:
        """The name of one weight row, or its number if the model was saved without names."""
        if "names" not in self.arrays:
            return f"#{row}"
        ends = self.arrays["name_end"]
        begin, end = int(ends[row - 1]) if row else 0, int(ends[row])
        return self.arrays["names"][begin:end].tobytes().decode("utf-8", "replace")

    def is_edge(self, row: int) -> bool:
        """Whether the outputs of a weight row are label pairs."""
        if "edge" not in self.arrays:
            return False
        if self.is_shrunk:
            return bool(self.arrays["edge"][row // 8] >> row % 8 & 1)
        return bool(self.arrays["edge"][row])

    def edges(self) -> npt.NDArray[np.bool_]:
        """By weight row: whether its outputs are label pairs."""
        size = self.arrays["keys"].size
        if "edge" not in self.arrays:
            return np.zeros(size, bool)
        if self.is_shrunk:
            return np.unpackbits(self.arrays["edge"], bitorder="little")[:size].astype(bool)
        return np.asarray(self.arrays["edge"] != 0)

    def row_ends(self) -> npt.NDArray[np.int64]:
        """Where the cells of each weight row end."""
        ends = self.arrays["row_end"].astype(np.int64)
        if "row_base" not in self.arrays:
            return ends
        return ends + np.repeat(self.arrays["row_base"].astype(np.int64), BLOCK)[: ends.size]

    @property
    def features(self) -> int:
        """How many features have weights."""
        return int(np.count_nonzero(self.arrays["keys"]))

    def outputs(self) -> npt.NDArray[np.uint32]:
        """The output (label, or label pair) of each weight."""
        if "gaps" not in self.arrays:
            return self._outputs().astype(np.uint32)
        ends = self.row_ends()
        steps = np.concatenate([[0], np.cumsum(self.arrays["gaps"].astype(np.int64) + 1)])
        before = np.repeat(steps[np.append(0, ends[:-1])], np.diff(ends, prepend=0))
        return np.asarray(steps[1:] - before - 1, np.uint32)

    def cells(self, row: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
        """The outputs of one weight row and their weights."""
        cells = slice(self._row_end(row - 1) if row else 0, self._row_end(row))
        if "gaps" in self.arrays:
            outputs = np.cumsum(self.arrays["gaps"][cells].astype(np.int64) + 1) - 1
            return outputs.astype(np.uint32), self.weights(cells)
        return self._outputs()[cells].astype(np.uint32), self.weights(cells)

    def _row_end(self, row: int) -> int:
        base = int(self.arrays["row_base"][row // BLOCK]) if "row_base" in self.arrays else 0
        return base + int(self.arrays["row_end"][row])

    def weights(self, cells: slice = slice(None)) -> npt.NDArray[np.float32]:
        """The weights of some cells, as numbers whatever they are kept as."""
        kept = self.arrays["weights"][cells]
        if kept.dtype == np.int16:
            return kept.astype(np.float32) * self.arrays["scale"]
        return self.arrays["codebook"][kept] if kept.dtype == np.uint8 else kept

    @property
    def is_shrunk(self) -> bool:
        """Whether keys are short: the features can be looked up, but not learned further."""
        keys = self.arrays.get("keys")
        return keys is not None and keys.dtype == np.uint32

    def _outputs(self) -> npt.NDArray[Any]:
        return self.arrays["narrow"] if "narrow" in self.arrays else self.arrays["wide"]


def phrases_of(saved: SavedModel) -> dict[str, _core.PhraseSet]:
    """The model's phrase lists."""
    lists = saved.program.lists
    return {name: _core.PhraseSet.from_states(saved.arrays[f"list.{name}"]) for name in lists}


_KINDS: dict[str, tuple[type, ...]] = {
    "label": (str,),
    "scheme": (str, type(None)),
    "encoding": (str, type(None)),
    "structure": (str,),
    "learner": (str,),
    "settings": (dict,),
    "seed": (int,),
    "format": (str,),
    "fingerprint": (str,),
    "options": (dict,),
    "history": (list,),
    "diagnostics": (dict,),
    "calibration": (dict,),
    "files": (list,),
    "edits": (list,),
    "corrections": (list,),
    "global_features": (dict,),
    "first": (dict,),
}
_YOUNGER = (
    "diagnostics",
    "calibration",
    "files",
    "edits",
    "corrections",
    "global_features",
    "first",
)  # older files have none


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    values = {}
    for name, kinds in _KINDS.items():
        value = data.get(name, kinds[0]()) if name in _YOUNGER else data[name]
        if not isinstance(value, kinds):
            raise TypeError(f"{name} is {type(value).__name__}")
        values[name] = value
    if (width := data.get("row_width")) is not None:
        if type(width) is not int or not 0 < width < 2**31:
            raise ValueError(f"row_width is {width!r}")
        values["row_width"] = width
    for name in ("labels", "columns"):
        items = data[name]
        if not isinstance(items, list) or not items or not all(isinstance(i, str) for i in items):
            raise TypeError(f"{name} is not a list of texts")
        if len(set(items)) < len(items):
            raise ValueError(f"{name} repeats itself")
        values[name] = tuple(items)
    return values


def _check_global(described: dict[str, Any], arrays: Arrays) -> None:
    if described or any(name.startswith("global.") for name in arrays):
        from marginalia.model.global_part import check_global, weights_of_base  # most models have none

        check_global(described, arrays)
        if base := weights_of_base(arrays):
            _check_arrays(base)


def _check_layout(data: dict[str, Any], program: TemplateProgram) -> None:
    unknown = sorted({data["label"], *program.columns} - set(data["columns"]))
    if unknown:
        raise ValueError(f"there is no column {', '.join(unknown)}")
    for name in ("history", "edits", "corrections"):
        if not all(isinstance(record, dict) for record in data[name]):
            raise TypeError(f"{name} is not a list of records")
    check_labels(data["labels"])
    check_history(data["history"])
    if not all(isinstance(name, str) for name in data["files"]):
        raise TypeError("files is not a list of names")
    temperature = data["calibration"]["temperature"] if data["calibration"] else 1.0
    if type(temperature) not in (int, float) or not LEAST_TEMPERATURE <= temperature <= MOST_TEMPERATURE:
        raise ValueError(f"the temperature is {temperature!r}")
    if not data["calibration"].keys().isdisjoint(_SHARE_MAP):
        _check_share_map(*(data["calibration"].get(name) for name in _SHARE_MAP))


def _check_share_map(slope: Any, offset: Any) -> None:
    """Shares of a beam become probabilities that rise with them."""
    numbers = all(type(one) in (int, float) and math.isfinite(one) for one in (slope, offset))
    if not numbers or slope < 0:
        raise ValueError(f"the map of shares has the slope {slope!r} and the offset {offset!r}")


def _check_arrays(arrays: Arrays) -> None:
    """What the decoder does not check for itself: one kind of outputs, and names that fit the rows."""
    if sum(name in arrays for name in ("narrow", "wide", "gaps")) != 1:
        raise ValueError("expected outputs as one of narrow, wide and gaps")
    if ("row_base" in arrays) != (arrays["row_end"].dtype == np.uint16):
        raise ValueError("expected row_base for short row_end only")
    if any(array.ndim != 1 for array in arrays.values()):
        raise ValueError("expected flat arrays")
    if arrays["constant_at"].size != arrays["constants"].size:
        raise ValueError("the constants and their places disagree in number")
    _check_codes(arrays)
    _check_support(arrays)
    names, ends = arrays.get("names"), arrays.get("name_end")
    if names is None and ends is None:
        return
    if names is None or ends is None or (names.dtype.name, ends.dtype.name) != ("uint8", "uint32"):
        raise ValueError("the names of features are incomplete")
    if len(ends) != len(arrays["keys"]) or (len(ends) and int(ends[-1]) != len(names)):
        raise ValueError("the names of features disagree in number")
    if (ends[1:] < ends[:-1]).any():
        raise ValueError("the names of features overlap")


def _check_support(arrays: Arrays) -> None:
    """What is told of rules is told of each of them."""
    if "rule.keys" not in arrays:
        return
    told = [arrays["rule.support"], *([arrays["rule.gain"]] if "rule.gain" in arrays else [])]
    if any(array.size != arrays["rule.keys"].size for array in told):
        raise ValueError("the rules and what is told of them disagree in number")


def _check_codes(arrays: Arrays) -> None:
    """Weights of fewer bits need what makes numbers of them."""
    by_type = {"int16": ("scale", 1), "uint8": ("codebook", 256)}
    needed = by_type.get(arrays["weights"].dtype.name)
    for name, size in by_type.values():
        found = arrays.get(name)
        if (found is not None) != ((name, size) == needed):
            raise ValueError(f"expected {name} for weights of its kind only")
        if found is not None and (found.dtype.name, found.size) != ("float32", size):
            raise ValueError(f"{name} is of a wrong kind")
