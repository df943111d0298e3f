"""What a model has learned: its strongest features and transitions, and how big its parts are."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from marginalia.errors import ModelError
from marginalia.model.constants import KINDS as CONSTANTS
from marginalia.model.constants import constant_at
from marginalia.model.outputs import output_names
from marginalia.model.rules_part import RuleAtoms, has_rules, rule_arrays, supports
from marginalia.model.saved import SavedModel

Picks = npt.NDArray[np.intp]


class Weighted(NamedTuple):
    """A feature (its name, or its number if names were not kept), the labels it fires with, its weight; of a
    rule how many samples of the training data had it, in other data how many had it and how often it was
    right, and its atoms."""

    feature: str
    labels: tuple[str, ...]
    weight: float
    support: int | None = None
    held: int | None = None
    right: int | None = None
    atoms: tuple[str, ...] = ()


class Counts(Protocol):
    """How often rules hold in labelled data, by row, and how often they are right about a label."""

    @property
    def held(self) -> Mapping[int, int]:
        """For how many samples."""

    def right(self, row: int, label: int, speaks_for: bool) -> int:
        """About how many of them."""


class Inspection:
    """Views of a model's weights; nothing is computed before it is asked for."""

    def __init__(self, saved: SavedModel, min_support: int = 0, counts: Counts | None = None) -> None:
        self.saved, self._counts = saved, counts
        self._arrays, self._size, self._width = saved.arrays, len(saved.labels), saved.width
        self.outputs = output_names(saved)
        ends = saved.row_ends()
        self._rows = np.repeat(np.arange(ends.size), np.diff(ends, prepend=0))  # [cells] row of each weight
        self._edge = saved.edges()[self._rows]
        self._output_of = saved.outputs()
        self._weights = saved.weights()
        self._supports = supports(saved) if has_rules(saved) else {}
        self._atoms = RuleAtoms(saved) if has_rules(saved) else None
        self._shown = self._supported(min_support)

    @property
    def has_names(self) -> bool:
        """Whether the features' names were kept."""
        return "names" in self._arrays

    def sizes(self) -> dict[str, int]:
        """Features, weights and what they take."""
        return {
            "features": self.saved.features,
            "weights": int(self._weights.size + self._arrays["constants"].size),
            "bytes": sum(array.nbytes for array in self._arrays.values()),
        }

    def array_sizes(self) -> dict[str, int]:
        """The bytes of each array, the biggest first."""
        sizes = {name: array.nbytes for name, array in self._arrays.items()}
        return dict(sorted(sizes.items(), key=lambda item: (-item[1], item[0])))

    def strongest(self, label: str, top: int, *, positive: bool = True) -> list[Weighted]:
        """The features that speak most for a label (of parsers: an action), or against it."""
        cells = self._of_label(self.outputs.index(label))
        return self._picked(cells, top, positive)

    def find(self, text: str, top: int, label: str | None = None) -> list[Weighted]:
        """The strongest weights, either way, of the features whose name has this text."""
        names = self.saved.feature_names() or []
        wanted = np.array([text in name for name in names], bool)
        hits = wanted[self._rows] if wanted.size else np.zeros(self._rows.size, bool)
        cells = np.flatnonzero(hits & self._shown)
        if label is not None:
            cells = np.intersect1d(cells, self._of_label(self.outputs.index(label)))
        order = np.argsort(-np.abs(self._weights[cells]), kind="stable")[:top]
        return [self._weighted(int(cell)) for cell in cells[order]]

    def conflicts(self, top: int, label: str | None = None) -> list[tuple[Weighted, Weighted]]:
        """Rules that hold together and say different things, the strongest first: one that asks for more
        than another and says the opposite about a label (the wider one first), or one that speaks for two
        labels."""
        cells = np.flatnonzero(self._shown) if label is None else self._of_label(self.outputs.index(label))
        wider, found = self._wider_rows(), list[tuple[int, int]]()
        at = {
            (int(self._rows[cell]), int(self._output_of[cell])): int(cell)
            for cell in np.flatnonzero(self._shown)
        }
        for cell in cells.tolist():
            row, output, weight = int(self._rows[cell]), int(self._output_of[cell]), self._weights[cell]
            others = [at[place] for other in wider.get(row, ()) if (place := (other, output)) in at]
            found += [(other, cell) for other in others if self._weights[other] * weight < 0]
            if weight > 0 and row in wider:
                same = [at[row, i] for i in range(len(self.saved.labels)) if i != output and (row, i) in at]
                for_both = [other for other in same if self._weights[other] > 0]
                found += [(other, cell) for other in for_both if label is not None or other < cell]
        found.sort(key=lambda pair: (-min(abs(self._weights[cell]) for cell in pair), pair))
        return [(self._weighted(one), self._weighted(other)) for one, other in found[:top]]

    def _wider_rows(self) -> dict[int, list[int]]:
        """By the row of a rule those of the rules that ask for a part of its atoms, and for no others."""
        if not has_rules(self.saved):
            raise ModelError("--conflicts is for models of rules.")
        keys, ends, atoms = (array.tolist() for array in rule_arrays(self.saved.arrays))
        row_of = {key: row for row, key in enumerate(self._arrays["keys"].tolist()) if key}
        bodies = {
            tuple(sorted(atoms[begin:end])): row_of[key]
            for key, begin, end in zip(keys, [0, *ends], ends, strict=False)
            if key in row_of and end > begin
        }
        sizes = sorted({len(body) for body in bodies})
        return {
            row: [
                bodies[part]
                for size in sizes[: sizes.index(len(body))]
                for part in combinations(body, size)
                if part in bodies
            ]
            for body, row in bodies.items()
        }

    def transitions(self, top: int, label: str | None = None) -> dict[str, list[Weighted]]:
        """The strongest start, end, transition and trigram weights, either way, best first."""
        at, values = self._arrays["constant_at"].astype(np.int64), self._arrays["constants"]
        found: dict[str, list[Weighted]] = {kind: [] for kind in CONSTANTS}
        for i in np.argsort(-np.abs(values), kind="stable").tolist():
            kind, labels = self._constant(int(at[i]))
            if len(found[kind]) < top and (label is None or label in labels):
                found[kind].append(Weighted(kind, labels, float(values[i])))
        return {kind: sorted(items, key=lambda item: -item.weight) for kind, items in found.items() if items}

    def _supported(self, least: int) -> npt.NDArray[np.bool_]:
        """By weight: whether it is of a rule that at least so many samples of the training data had."""
        if not least:
            return np.ones(self._rows.size, bool)
        if not self._supports:
            raise ModelError(
                "--min-support is for models of rules: others do not keep how often features were seen."
            )
        keys = self._arrays["keys"].tolist()
        enough = np.array([self._supports.get(key, 0) >= least for key in keys], bool)
        return enough[self._rows]

    def _of_label(self, label: int) -> Picks:
        # An edge feature belongs to the later one of its two labels.
        found: Picks = np.flatnonzero(
            (np.where(self._edge, self._output_of % self._width, self._output_of) == label) & self._shown
        )
        return found

    def _picked(self, cells: Picks, top: int, positive: bool) -> list[Weighted]:
        sign = -1.0 if positive else 1.0
        signed = sign * self._weights[cells]
        order = np.argsort(signed, kind="stable")[:top]
        return [self._weighted(int(cells[i])) for i in order if signed[i] < 0]

    def _weighted(self, cell: int) -> Weighted:
        output = int(self._output_of[cell])
        pair = divmod(output, self._width) if self._edge[cell] else (output,)
        labels = tuple(self.outputs[i] for i in pair)
        row = int(self._rows[cell])
        support = self._supports.get(int(self._arrays["keys"][row]))
        name, weight = self.saved.feature_name(row), float(self._weights[cell])
        atoms = () if self._atoms is None else tuple(self._atoms.of(row))
        if self._counts is None:
            return Weighted(name, labels, weight, support, atoms=atoms)
        right = self._counts.right(row, output, weight > 0)
        return Weighted(name, labels, weight, support, self._counts.held[row], right, atoms)

    def _constant(self, at: int) -> tuple[str, tuple[str, ...]]:
        labels = [*self.saved.labels, "^"]  # the last one stands for what is before the sentence
        kind, ids = constant_at(at, self._size)
        return kind, tuple(labels[i] for i in ids)
