"""What a model is when it is not in use: labels, templates, settings, history and arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.errors import ModelError
from marginalia.features.program import Program

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class SavedModel:
    """All that a model file holds.

    `labels` are spelled in the scheme `encoding`; users see `scheme`. `columns` are those of the
    training data, `label` the one among them to predict, `options` those of their reader. `arrays` hold
    the weights (see docs/model-file.md).
    """

    labels: tuple[str, ...]
    program: Program
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
    arrays: Arrays = field(default_factory=dict, repr=False)

    def metadata(self) -> dict[str, Any]:
        """Everything but the arrays, ready for JSON."""
        names = [name for name in self.__dataclass_fields__ if name not in ("arrays", "program")]
        return {name: getattr(self, name) for name in names} | {"program": self.program.to_json()}

    @classmethod
    def from_metadata(cls, data: dict[str, Any], arrays: Arrays) -> SavedModel:
        """The inverse of `metadata`; a ModelError if something is missing or of a wrong kind."""
        try:
            checked = _checked(data)
            program = Program.from_json(data["program"])
            _check_layout(checked, program)
            _check_arrays(arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"the model's description is damaged: {error!r}") from error
        return cls(program=program, arrays=arrays, **checked)

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
        return "edge" in self.arrays and bool(self.arrays["edge"][row])

    @property
    def features(self) -> int:
        """How many features have weights."""
        return int(np.count_nonzero(self.arrays["keys"]))

    def outputs(self) -> npt.NDArray[np.uint32]:
        """The output (label, or label pair) of each weight."""
        return self._outputs().astype(np.uint32)

    def cells(self, row: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.float32]]:
        """The outputs of one weight row and their weights."""
        ends = self.arrays["row_end"]
        begin, end = int(ends[row - 1]) if row else 0, int(ends[row])
        return self._outputs()[begin:end].astype(np.uint32), self.arrays["weights"][begin:end]

    def _outputs(self) -> npt.NDArray[Any]:
        return self.arrays["narrow"] if "narrow" in self.arrays else self.arrays["wide"]


def phrases_of(saved: SavedModel) -> dict[str, _core.PhraseSet]:
    """The model's phrase lists."""
    lists = saved.program.lists
    return {name: _core.PhraseSet.from_states(saved.arrays[f"list.{name}"]) for name in lists}


def frozen_arrays(
    rows: _core.SparseRows,
    index: _core.FeatureIndex,
    labels: int,
    voters: _core.WeightTable | None = None,
    versions: int = 0,
) -> Arrays:
    """The arrays of a model file from weights, without what is zero; see docs/model-file.md."""
    arrays: dict[str, Any] = rows.freeze(index, labels, voters, versions)
    outputs = arrays.pop("outputs")
    narrow = not outputs.size or int(outputs.max()) < 1 << 16
    arrays["narrow" if narrow else "wide"] = outputs.astype(np.uint16 if narrow else np.uint32)
    at, constants = rows.cells(0)
    arrays["constant_at"], arrays["constants"] = at[constants != 0], constants[constants != 0]
    if "names" in arrays:
        arrays["names"] = np.frombuffer(arrays["names"], np.uint8)
    return arrays


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
}


def _checked(data: dict[str, Any]) -> dict[str, Any]:
    values = {}
    for name, kinds in _KINDS.items():
        value = data.get(name, {}) if name == "diagnostics" else data[name]  # older files have none
        if not isinstance(value, kinds):
            raise TypeError(f"{name} is {type(value).__name__}")
        values[name] = value
    for name in ("labels", "columns"):
        items = data[name]
        if not isinstance(items, list) or not items or not all(isinstance(i, str) for i in items):
            raise TypeError(f"{name} is not a list of texts")
        if len(set(items)) < len(items):
            raise ValueError(f"{name} repeats itself")
        values[name] = tuple(items)
    return values


def _check_layout(data: dict[str, Any], program: Program) -> None:
    unknown = sorted({data["label"], *program.columns} - set(data["columns"]))
    if unknown:
        raise ValueError(f"there is no column {', '.join(unknown)}")
    if not all(isinstance(record, dict) for record in data["history"]):
        raise TypeError("history is not a list of records")


def _check_arrays(arrays: Arrays) -> None:
    """What the decoder does not check for itself: one kind of outputs, and names that fit the rows."""
    if ("narrow" in arrays) == ("wide" in arrays):
        raise ValueError("expected either narrow or wide outputs")
    if any(array.ndim != 1 for array in arrays.values()):
        raise ValueError("expected flat arrays")
    names, ends = arrays.get("names"), arrays.get("name_end")
    if names is None and ends is None:
        return
    if names is None or ends is None or (names.dtype.name, ends.dtype.name) != ("uint8", "uint32"):
        raise ValueError("the names of features are incomplete")
    if len(ends) != len(arrays["keys"]) or (len(ends) and int(ends[-1]) != len(names)):
        raise ValueError("the names of features disagree in number")
    if (ends[1:] < ends[:-1]).any():
        raise ValueError("the names of features overlap")
