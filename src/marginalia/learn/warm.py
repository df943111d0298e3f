"""Warm starts: a model's features, labels and weights as the beginning of another training run.

A model that kept its learning state (state=on) goes on exactly where it stopped; any other one gives its
weights. New features and new labels may appear.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.decode.structures import StructureInTraining
from marginalia.errors import ModelError
from marginalia.learn.recipe import Recipe
from marginalia.learn.regularisers import penalty_of
from marginalia.learn.run import LearnerRun, State, checked_count, rows_of_cells
from marginalia.model import SavedModel

_PREFIX = "state."
_FEATURES = ("keys", "edges", "names", "name_end", "passes")
_BY_CELL = {"outputs", "weights", "totals", "paid", "variances"}
_UNFIT = (ValueError, KeyError, IndexError, TypeError, OverflowError)  # what forged arrays may lead to


def state_arrays(run: LearnerRun, index: _core.FeatureIndex, passes: int, by_key: bool) -> State:
    """What a model keeps of a run: its state, the features of its rows, and how many passes it made.

    `by_key`: with the rows in the order of their features' keys, for threads that add rows do so in any.
    """
    state, keys = run.state(), index.keys
    order = np.argsort(keys) if by_key else np.arange(len(keys))
    if by_key:
        state = _reordered(state, order)
    kept: State = {
        "keys": keys[order],
        "edges": index.edges[order],
        "passes": np.array([passes], np.uint64),
    }
    if index.keeps_names:
        names = [index.name(row + 1) for row in order.tolist()]
        kept["names"] = np.frombuffer(b"".join(names), np.uint8)
        kept["name_end"] = np.cumsum([len(name) for name in names], dtype=np.uint32)
    return {_PREFIX + name: array for name, array in {**state, **kept}.items()}


def _reordered(state: State, order: npt.NDArray[np.int64]) -> State:
    """The state with the rows of features in this order; row 0 stays the first."""
    place = np.zeros(len(order) + 1, np.int64)  # the new row of each old one
    place[order + 1] = np.arange(1, len(order) + 1)
    moved = dict(state)
    for name in [name for name in state if name.endswith("row_end")]:
        prefix = name.removesuffix("row_end")
        rows = place[rows_of_cells(state[name], len(state[prefix + "outputs"]))]
        cells = np.argsort(rows, kind="stable")
        moved[name] = np.cumsum(np.bincount(rows, minlength=len(place))).astype(np.uint32)
        for part in _BY_CELL & {n.removeprefix(prefix) for n in state if n.startswith(prefix)}:
            moved[prefix + part] = state[prefix + part][cells]
        if (log := state.get(f"{prefix}log_places")) is not None:
            changes = log.reshape(-1, 3).copy()
            changes[:, 0] = place[changes[:, 0]]
            moved[f"{prefix}log_places"] = changes.reshape(-1)
    return moved


class WarmStart:
    """A model to begin with."""

    def __init__(self, saved: SavedModel) -> None:
        if saved.is_shrunk:
            raise ModelError("a shrunk model cannot be trained further: begin with the one it was made from.")
        self.saved = saved
        arrays = saved.arrays
        self._state = {n.removeprefix(_PREFIX): a for n, a in arrays.items() if n.startswith(_PREFIX)}

    @property
    def has_names(self) -> bool:
        """Whether the model knows the names of its features."""
        return "names" in self.saved.arrays

    def seed(self, index: _core.FeatureIndex) -> None:
        """Give a new index the model's features, in their old order."""
        try:
            self._seed(index)
        except _UNFIT as error:
            raise ModelError(f"the model's features cannot be used: {error}") from error

    def _seed(self, index: _core.FeatureIndex) -> None:
        source, used = (self._state, slice(None)) if self._state else (self.saved.arrays, self._used())
        names, ends = source.get("names"), source.get("name_end")
        if names is None or ends is None or not index.keeps_names:
            text, name_ends = b"", np.zeros(0, np.uint32)
        else:  # empty slots have empty names
            text, name_ends = names.tobytes(), np.ascontiguousarray(ends[used])
        edges = source["edges"] if self._state else source.get("edge")
        keys = np.ascontiguousarray(source["keys"][used])
        flags = np.zeros(len(keys), np.uint8) if edges is None else np.ascontiguousarray(edges[used])
        index.seed(keys, flags, text, name_ends)

    def _used(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.saved.arrays["keys"] != 0)

    def start(self, run: LearnerRun, structure: StructureInTraining, labels: int, recipe: Recipe) -> int:
        """Give a run the model's weights; the number of passes if it goes on exactly where those ended."""
        same = (self.saved.learner, len(self.saved.labels)) == (recipe.learner, labels)
        try:
            if self._state and same and _kind(self.saved.settings) == _kind(recipe.settings):
                run.resume({n: a for n, a in self._state.items() if n not in _FEATURES})
                return checked_count(self._state["passes"])
            run.resume(self._weights(structure, labels))
        except _UNFIT as error:
            raise ModelError(f"the model's weights cannot be used: {error}") from error
        return 0

    def _weights(self, structure: StructureInTraining, labels: int) -> State:
        """The finished weights as a state over the rows of `seed`, with room for new labels."""
        arrays, old = self.saved.arrays, len(self.saved.labels)
        used = np.flatnonzero(self._used())
        ends = arrays["row_end"].astype(np.int64)
        begins = np.append(0, ends[:-1])
        sizes = (ends - begins)[used]
        cells = np.arange(sizes.sum()) + np.repeat(begins[used] - (np.cumsum(sizes) - sizes), sizes)
        outputs = self.saved.outputs()[cells].astype(np.int64)
        rows = self._rows(used)
        if "edge" in arrays:
            edge = np.repeat(arrays["edge"][used] != 0, sizes)
            outputs = np.where(edge, outputs // old * labels + outputs % old, outputs)
        constants = structure.moved_constants(old)[arrays["constant_at"].astype(np.int64)]
        count = len(self._state["keys"]) if self._state else len(used)
        by_row = np.zeros(count + 1, np.int64)
        by_row[0] = len(constants)
        by_row[rows] = sizes
        order = np.argsort(np.repeat(rows, sizes), kind="stable")
        weights = arrays["weights"][cells][order]
        return {
            "row_end": np.cumsum(by_row).astype(np.uint32),
            "outputs": np.concatenate([constants, outputs[order]]).astype(np.uint32),
            "weights": np.concatenate([arrays["constants"], weights]).astype(np.float32),
        }

    def _rows(self, used: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """The training row that each used slot becomes."""
        if not self._state:
            return np.arange(1, len(used) + 1)
        keys = self._state["keys"]
        order = np.argsort(keys)
        places = np.searchsorted(keys, self.saved.arrays["keys"][used], sorter=order)
        return np.asarray(order[places] + 1, np.int64)


def _kind(settings: Mapping[str, Any]) -> tuple[object, ...]:
    """What the parts of a state depend on: a run goes on exactly from a state of its own kind only."""
    votes, members = settings.get("average") == "vote", settings.get("shuffle-average", 1)
    return settings.get("algorithm"), votes, members, penalty_of(settings)[0], settings.get("boost", 0) > 0
