"""Warm starts: a model's features, labels and weights as the beginning of another training run.

A model that kept its learning state (state=on) goes on exactly where it stopped; any other one gives its
weights. New features and new labels may appear.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.errors import ModelError
from marginalia.learn.boosting import BoostSettings
from marginalia.learn.recipe import Recipe, goes_on
from marginalia.learn.run import LearnerRun, State, checked_count, rows_of_cells
from marginalia.model import SavedModel
from marginalia.model.constants import moved_outputs
from marginalia.model.global_part import NO_MORE_TRAINING
from marginalia.model.rules_part import CANNOT_CHANGE, has_rules

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
        if saved.global_features:
            raise ModelError(NO_MORE_TRAINING)
        if saved.first:
            raise ModelError("a model of two stages cannot be trained further: train it again.")
        if has_rules(saved):
            raise ModelError(CANNOT_CHANGE)
        self.saved = saved
        arrays = saved.arrays
        self._state = {n.removeprefix(_PREFIX): a for n, a in arrays.items() if n.startswith(_PREFIX)}

    @property
    def has_names(self) -> bool:
        """Whether the model knows the names of its features."""
        return "names" in self.saved.arrays

    def seed(self, index: _core.FeatureIndex) -> None:
        """Give a new index the model's features: those of its state, in their old order, then all others."""
        try:
            if self._state:
                self._seed(index, self._state, slice(None), self._state["edges"])
            self._seed(index, self.saved.arrays, self._others(), self.saved.edges())
        except _UNFIT as error:
            raise ModelError(f"the model's features cannot be used: {error}") from error

    def _seed(self, index: _core.FeatureIndex, source: State, used: Any, edges: npt.NDArray[Any]) -> None:
        keys = np.ascontiguousarray(source["keys"][used])
        names, ends = source.get("names"), source.get("name_end")
        if names is None or ends is None or not index.keeps_names:
            text, name_ends = b"", np.zeros(0, np.uint32)
        else:
            text, name_ends = _picked(names, ends, used)
        index.seed(keys, np.ascontiguousarray(edges[used], np.uint8), text, name_ends)

    def _others(self) -> npt.NDArray[np.intp]:
        """The slots of features that are not among those of the state."""
        keys = self.saved.arrays["keys"]
        known = np.isin(keys, self._state["keys"]) if self._state else np.zeros(len(keys), bool)
        return np.flatnonzero((keys != 0) & ~known)

    def _rows(self) -> _Rows:
        """The rows of a seeded index."""
        others, saved = self._others(), self.saved
        keys, edges = [np.zeros(1, np.uint64)], [np.zeros(1, bool)]
        if self._state:
            keys, edges = [*keys, self._state["keys"]], [*edges, self._state["edges"] != 0]
        return _Rows(
            np.concatenate([*keys, saved.arrays["keys"][others]]),
            np.concatenate([*edges, saved.edges()[others]]),
        )

    def start(self, run: LearnerRun, width: int, recipe: Recipe) -> int:
        """Give a run the model's weights; the number of passes if it goes on exactly where those ended."""
        try:
            if self._state and self._goes_on(width, recipe):
                run.resume(self._resumed(width))
                return checked_count(self._state["passes"])
            run.resume(self.weights(width))
        except _UNFIT as error:
            raise ModelError(f"the model's weights cannot be used: {error}") from error
        return 0

    def _goes_on(self, width: int, recipe: Recipe) -> bool:
        """Whether the state is one that the run can go on from."""
        saved = self.saved
        learner = recipe.settings.learner
        if saved.learner != recipe.learner:
            return False
        if saved.settings_as(type(learner)).state_kind != learner.state_kind:
            return False
        # What others remember of the way here does not hold for other labels or weights.
        return goes_on(saved.learner, saved.settings_as(BoostSettings).boost > 0) or (
            saved.width == width and not saved.corrections
        )

    def _resumed(self, width: int) -> State:
        """The state, with room for new labels, and with the model's corrections."""
        state = {n: a for n, a in self._state.items() if n not in _FEATURES}
        saved = self.saved
        old = saved.width_of(saved.corrections[0]["labels"]) if saved.corrections else saved.width
        if old == width and not saved.corrections:
            return state
        rows = self._rows()
        for name in [name for name in state if name.endswith("row_end")]:
            prefix = name.removesuffix("row_end")
            table = {n.removeprefix(prefix): a for n, a in state.items() if n.startswith(prefix)}
            moved = _Table(saved, rows, table).moved(old, width)
            state |= {prefix + part: array for part, array in moved.items()}
        return state

    def weights(self, width: int) -> State:
        """The finished weights as a state over the rows of `seed`, with room for new labels."""
        arrays, all_rows = self.saved.arrays, self._rows()
        slots = np.repeat(np.arange(len(arrays["keys"])), np.diff(self.saved.row_ends(), prepend=0))
        none = np.zeros(len(arrays["constants"]), np.int64)
        rows = np.concatenate([none, all_rows.of(arrays["keys"][slots])])
        outputs = np.concatenate([arrays["constant_at"], self.saved.outputs()])
        outputs = moved_outputs(outputs, rows == 0, all_rows.edges[rows], self.saved.width, width)
        order = np.argsort(rows, kind="stable")
        return {
            "row_end": np.cumsum(np.bincount(rows, minlength=len(all_rows.keys))).astype(np.uint32),
            "outputs": outputs[order].astype(np.uint32),
            "weights": np.concatenate([arrays["constants"], arrays["weights"]])[order].astype(np.float32),
        }


class _Rows(NamedTuple):
    """By row: the key of its feature (0: the constants), and whether it is of label pairs."""

    keys: npt.NDArray[np.uint64]
    edges: npt.NDArray[np.bool_]

    def of(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The rows of some features."""
        order = np.argsort(self.keys)
        found = order[np.searchsorted(self.keys, keys, sorter=order)]
        if (self.keys[found] != keys).any():
            raise ValueError("a feature is not there")
        return found


class _Table:
    """The weights of a state with what is known of each, to be made those of a corrected model."""

    def __init__(self, saved: SavedModel, all_rows: _Rows, state: State) -> None:
        self._saved, self._all, self._state = saved, all_rows, state
        self._rows = rows_of_cells(state["row_end"], len(state["outputs"])).astype(np.int64)

    def moved(self, old: int, width: int) -> State:
        """With rows of `width` outputs instead of `old` ones, and with the changes of all corrections: as if
        they had been made at the very beginning, so that they are in every mean, too."""
        state, saved = self._state, self._saved
        outputs = self._moved(self._rows, state["outputs"], old, width)
        found = {"outputs": outputs.astype(np.uint32)}
        if "log_places" in state:
            log = state["log_places"].reshape(-1, 3).copy()
            log[:, 1] = self._moved(log[:, 0], log[:, 1], old, width)
            found["log_places"] = log.reshape(-1)
        return found | (self._corrected(outputs, width) if saved.corrections else {})

    def _moved(
        self, rows: npt.NDArray[Any], outputs: npt.NDArray[Any], old: int, new: int
    ) -> npt.NDArray[np.int64]:
        return moved_outputs(outputs, rows == 0, self._all.edges[rows], old, new)

    def _corrected(self, outputs: npt.NDArray[np.int64], width: int) -> State:
        from marginalia.model.corrections import delta_weights

        state = self._state
        changed = delta_weights(self._saved)
        rows = self._all.of(changed.keys)
        more = self._moved(rows, changed.outputs, self._saved.width, width)
        codes, places = np.unique(
            np.concatenate([self._rows << 32 | outputs, rows << 32 | more]), return_inverse=True
        )
        own, new = places[: len(outputs)], places[len(outputs) :]
        due = float(state["due"][0]) if "due" in state else 0.0
        # A weight that was not there owes no penalties of the time before.
        fresh = {"weights": 0.0, "totals": 0.0, "paid": due, "variances": 1.0}
        found: State = {}
        for name in fresh.keys() & state.keys():
            if len(state[name]):
                found[name] = np.full(len(codes), fresh[name], state[name].dtype)
                found[name][own] = state[name]
        weights = found["weights"].astype(np.float64)
        np.add.at(weights, new, changed.after.astype(np.float64) - changed.before)
        ends = np.cumsum(np.bincount(codes >> 32, minlength=len(self._all.keys)))
        return found | {
            "weights": weights.astype(np.float32),
            "outputs": (codes & 0xFFFFFFFF).astype(np.uint32),
            "row_end": ends.astype(np.uint32),
        }


def _picked(
    names: npt.NDArray[np.uint8], ends: npt.NDArray[np.uint32], used: Any
) -> tuple[bytes, npt.NDArray[np.uint32]]:
    """The names of some rows, one after another, and where each ends."""
    last = ends.astype(np.int64)
    begins, sizes = np.append(0, last[:-1])[used], np.diff(last, prepend=0)[used]
    if (sizes < 0).any() or last.max(initial=0) > len(names):
        raise ValueError("the names do not fit")
    text = names.tobytes()
    if sizes.sum() < len(text):  # else the others have no names
        text = b"".join(text[b : b + n] for b, n in zip(begins.tolist(), sizes.tolist(), strict=True))
    return text, np.cumsum(sizes).astype(np.uint32)
