"""Which training examples taught a weight (docs/provenance.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from marginalia.model.constants import moved_outputs

if TYPE_CHECKING:
    from marginalia.model.saved import SavedModel

Arrays = dict[str, npt.NDArray[Any]]

_DTYPES = {
    "lesson_row_end": "uint32",
    "lesson_outputs": "uint32",
    "lesson_end": "uint32",
    "lesson_examples": "uint32",
    "lesson_parts": "float32",
    "lesson_rest": "float32",
    "example_lines": "uint32",
    "file_end": "uint32",
}


@dataclass(frozen=True, slots=True)
class Citation:
    """A training example with what it added to a weight, or to the difference of two scores.

    `number` counts the examples of the file from 1, or of all training data if they came from no file (then
    `file` is None, as are unknown lines). Number 0 is the model that training began with. A model does not
    have the text, but who has the file can add it.
    """

    file: str | None
    number: int
    line: int | None
    labels: tuple[str, ...]
    part: float
    text: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self) | {"labels": list(self.labels)}

    @property
    def where(self) -> str:
        """The example in words."""
        if not self.number:
            return "the model that training began with"
        line = f" (line {self.line})" if self.line else ""
        return f"{self.file or 'training data'}, sentence {self.number}{line}"


class Provenance:
    """What a model knows of the examples that taught it."""

    def __init__(self, saved: SavedModel) -> None:
        self._arrays, self._files = saved.arrays, saved.files
        self.is_known = "lesson_parts" in saved.arrays

    def contributions(self, row: int, output: int) -> tuple[list[tuple[int, float]], float]:
        """(example, part) of a weight, largest part first, and the sum of those that were not kept."""
        begin, end = _bounds(self._arrays["lesson_row_end"], row)
        outputs = self._arrays["lesson_outputs"][begin:end]
        place = begin + int(np.searchsorted(outputs, output))
        if place >= end or self._arrays["lesson_outputs"][place] != output:
            return [], 0.0
        first, last = _bounds(self._arrays["lesson_end"], place)
        examples = self._arrays["lesson_examples"][first:last].tolist()
        parts = self._arrays["lesson_parts"][first:last].tolist()
        return list(zip(examples, parts, strict=True)), float(self._arrays["lesson_rest"][place])

    def citations(self, row: int, output: int, labels: tuple[str, ...], sign: int = 1) -> list[Citation]:
        """The examples that taught a weight, as the user knows them."""
        contributions, _ = self.contributions(row, output)
        return [Citation(*self._source(example), labels, sign * part) for example, part in contributions]

    def _source(self, example: int) -> tuple[str | None, int, int | None]:
        lines, ends = self._arrays["example_lines"], self._arrays["file_end"]
        if example == len(lines):
            return None, 0, None
        file = int(np.searchsorted(ends, example, "right"))
        begin, _ = _bounds(ends, file)
        return self._files[file] or None, example - begin + 1, int(lines[example]) or None


def _bounds(ends: npt.NDArray[Any], at: int) -> tuple[int, int]:
    return (int(ends[at - 1]) if at else 0), int(ends[at])


def check_provenance(arrays: Arrays, files: list[str]) -> None:
    """A ValueError unless the arrays are complete and fit each other, or there are none."""
    present = [name for name in _DTYPES if name in arrays]
    if not present and not files:
        return
    if any(name not in arrays or arrays[name].dtype.name != kind for name, kind in _DTYPES.items()):
        raise ValueError("provenance: arrays are missing or of a wrong kind")
    rows, ends = arrays["lesson_row_end"], arrays["lesson_end"]
    outputs, examples = arrays["lesson_outputs"], arrays["lesson_examples"]
    _require_bounds(rows, len(arrays["keys"]) + 1, len(outputs))
    _require_bounds(ends, len(outputs), len(examples))
    _require_bounds(arrays["file_end"], len(files), len(arrays["example_lines"]))
    if len(arrays["lesson_parts"]) != len(examples) or len(arrays["lesson_rest"]) != len(outputs):
        raise ValueError("provenance: parts and examples disagree in number")
    if (examples > len(arrays["example_lines"])).any():
        raise ValueError("provenance: there is no such example")
    if not all(np.isfinite(arrays[name]).all() for name in ("lesson_parts", "lesson_rest")):
        raise ValueError("provenance: a part is not finite")
    rising = np.ones(len(outputs), bool)
    rising[1:] = outputs[1:] > outputs[:-1]
    starts = np.append(0, rows[:-1]).astype(np.int64)
    rising[starts[starts < len(outputs)]] = True
    if not rising.all():
        raise ValueError("provenance: the outputs of a row are not sorted")


def _require_bounds(ends: npt.NDArray[Any], count: int, last: int) -> None:
    if len(ends) != count or (ends[1:] < ends[:-1]).any() or (int(ends[-1]) if count else 0) != last:
        raise ValueError("provenance: the parts of the arrays do not fit each other")


def moved_provenance(saved: SavedModel, keys: npt.NDArray[np.uint64], width: int) -> Arrays:
    """What is known of the weights of a model, for one with other slots and rows of `width` outputs.

    Slots that the model does not have know nothing; those that the other one does not have are left out.
    """
    if "lesson_parts" not in saved.arrays:
        return {}
    arrays, old = saved.arrays, saved.width
    slots = np.flatnonzero(arrays["keys"])
    places = np.searchsorted(arrays["keys"][slots], keys)
    found = (keys != 0) & np.isin(keys, arrays["keys"][slots])
    nowhere = len(arrays["keys"])  # the row of the constants, which stays the last
    old_rows = np.append(np.where(found, np.append(slots, nowhere)[places], -1), nowhere)
    row_end, weights = _gathered(arrays["lesson_row_end"], old_rows)
    end, parts = _gathered(arrays["lesson_end"], weights)
    rows = np.repeat(old_rows, np.diff(row_end, prepend=0))
    edge = np.append(saved.edges(), False)[rows]
    outputs = moved_outputs(arrays["lesson_outputs"][weights], rows == nowhere, edge, old, width)
    return {
        "lesson_row_end": row_end.astype(np.uint32),
        "lesson_outputs": outputs.astype(np.uint32),
        "lesson_end": end.astype(np.uint32),
        "lesson_examples": arrays["lesson_examples"][parts],
        "lesson_parts": arrays["lesson_parts"][parts],
        "lesson_rest": arrays["lesson_rest"][weights],
    }


def _gathered(
    ends: npt.NDArray[Any], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Some rows (-1: an empty one) one after another: where each ends, and where its items were."""
    last = np.append(ends.astype(np.int64), 0)
    first = np.append(np.append(0, last[:-2])[: len(ends)], 0)
    begins, sizes = first[rows], last[rows] - first[rows]
    new_ends = np.cumsum(sizes)
    return new_ends, np.arange(sizes.sum()) + np.repeat(begins - (new_ends - sizes), sizes)
