"""Explicit attributes with real values: scores, updates and gradients, against enumeration."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import steady
from worlds import UNWEIGHTED, assert_close

from marginalia import _core

Output = tuple[int, ...]
NAMES = "abcd"
VALUES = st.sampled_from([1.0, 1.0, 0.5, 2.0, -1.5, 0.25])  # sums of their products are exact in floats
TOKENS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
SEQUENCES = st.lists(st.lists(TOKENS, min_size=1, max_size=4), min_size=1, max_size=3)
NO_LABEL = 2**32 - 1
INSIDE = [NO_LABEL, 2, 2]  # O, B, I


def table_of(sequences: list[list[Any]]) -> _core.TokenTable:
    flat = [item for sequence in sequences for item in sequence]
    return _core.from_columns([[""] * len(flat)], [len(s) for s in sequences], [], flat)


@dataclass
class World:
    """Sequences, right outputs, and a structure over three labels, with weights to learn."""

    structure: str
    order: int
    sequences: list[list[dict[str, float]]]
    gold: list[Output]
    labels: int = 3

    def __post_init__(self) -> None:
        self.index, table = _core.FeatureIndex(True), table_of(self.sequences)
        gold = np.array([label for y in self.gold for label in y], np.int32)
        if self.structure == "chain":
            ones = np.ones(3, np.uint8)
            self.shape: Any = _core.ChainShape(3, self.order, True, ones, np.ones(9, np.uint8), ones, True)
            self.extractor: Any = _core.FeatureExtractor.of_items(1)
            self.examples: Any = _core.ExampleRows(True)
            self.examples.add_growing(self.extractor, table, self.index)
            self.examples.set_gold(gold, 3)
            self.batch: Any = _core.ChainBatch(self.shape, self.examples)
        else:
            self.shape = _core.SegmentShape(np.array(INSIDE, np.uint32), 4, True, True)
            self.extractor = _core.SegmentExtractor.of_items(1)
            self.examples = _core.SegmentExamples(True)
            self.examples.add(self.extractor, table)
            assert self.examples.set_gold(gold, self.shape) == 0
            self.batch = _core.SegmentBatch(self.shape, self.extractor, self.examples, self.index, True)
            self.batch.count_features()
        known = sorted({name for s in self.sequences for token in s for name in token})
        found = {self.index.name(row).decode(): row for row in range(1, len(self.index) + 1)}
        assert sorted(found) == known
        self.rows = found
        self.weights = _core.WeightTable(len(self.index) + 1, self.shape.constants)

    def outputs(self, i: int) -> Iterator[Output]:
        for y in itertools.product(range(3), repeat=len(self.sequences[i])):
            if self.structure == "chain" or all(
                b != 2 or a in (1, 2) for a, b in zip((0, *y), y, strict=False)
            ):
                yield y

    def features(self, i: int, y: Output) -> Counter[Hashable]:
        found: Counter[Hashable] = Counter()
        for t, token in enumerate(self.sequences[i]):
            for name, value in token.items():
                found[self.rows[name], y[t]] += value  # type: ignore[assignment]
        heads = y if self.structure == "chain" else tuple(label for label in y if label != 2)
        if heads:
            found[0, heads[0]] += 1
            found[0, 3 + heads[-1]] += 1
        for a, b in itertools.pairwise(heads):
            found[0, 6 + 3 * a + b] += 1
        for t in range(1, len(y) if self.order == 2 else 0):
            older = 3 if t == 1 else y[t - 2]
            found[0, 15 + (older * 3 + y[t - 1]) * 3 + y[t]] += 1
        return found

    def score(self, w: dict[Hashable, float], i: int, y: Output) -> float:
        return sum(w.get(f, 0.0) * count for f, count in self.features(i, y).items())

    def best(self, w: dict[Hashable, float], i: int) -> float:
        return max(self.score(w, i, y) for y in self.outputs(i))

    def current(self) -> dict[Hashable, float]:
        outputs, values, ends = self.weights.current.flat()
        rows = np.searchsorted(ends, np.arange(len(outputs)), side="right")
        places = zip(rows.tolist(), outputs.tolist(), strict=True)
        return {place: value for place, value in zip(places, values.tolist(), strict=True) if value}

    def scatter(self, seed: int) -> dict[Hashable, float]:
        """Random weights for all features."""
        rng = np.random.default_rng(seed)
        places = [(row, label) for row in self.rows.values() for label in range(3)]
        places += [(0, at) for at in range(self.shape.constants)]
        if self.structure == "segments":  # nothing begins or follows with I
            used = {f for i in range(len(self.gold)) for y in self.outputs(i) for f in self.features(i, y)}
            places = [place for place in places if place in used]
        values = (rng.integers(-64, 65, len(places)) / 32).astype(np.float32)
        rows, outputs = (np.array([p[k] for p in places], np.uint32) for k in (0, 1))
        none = np.zeros(0)
        parts = rows, outputs, values, none, none, none.astype(np.float32)
        self.weights.restore(self.index, 3, *parts, 0.0)
        return dict(zip(places, values.tolist(), strict=True))


@st.composite
def worlds(draw: st.DrawFn) -> World:
    structure = draw(st.sampled_from(["chain", "segments"]))
    order = draw(st.sampled_from([1, 2])) if structure == "chain" else 1
    sequences = draw(SEQUENCES)
    gold = []
    for sequence in sequences:
        y = [draw(st.integers(0, 2)) for _ in sequence]
        if structure == "segments":
            y = [1 if b == 2 and a == 0 else b for a, b in zip([0, *y], y, strict=False)]
            y = [1 if b == 2 and a not in (1, 2) else b for a, b in zip([0, *y], y, strict=False)]
        gold.append(tuple(y))
    return World(structure, order, sequences, gold)


@steady
@given(worlds(), st.integers(0, 1000))
def test_best_outputs_have_the_highest_score(world: World, seed: int) -> None:
    w = world.scatter(seed)
    found = world.batch.best(world.weights.current, 0, len(world.gold)).tolist()
    for i, sequence in enumerate(world.sequences):
        y, found = tuple(found[: len(sequence)]), found[len(sequence) :]
        assert y in set(world.outputs(i))
        assert world.score(w, i, y) == pytest.approx(world.best(w, i), abs=1e-9)


@steady
@given(worlds(), st.integers(0, 1000))
def test_perceptron_updates_count_values(world: World, seed: int) -> None:
    w = Counter(world.scatter(seed))
    for i in range(len(world.gold)):
        y = tuple(world.batch.best(world.weights.current, i, i + 1).tolist())
        world.batch.learn(
            world.weights, _core.UpdateRule.perceptron(), np.array([i], np.uint32), i, UNWEIGHTED
        )
        if y != world.gold[i]:
            w.update(world.features(i, world.gold[i]))
            w.subtract(world.features(i, y))
        assert_close(world.current(), {f: v for f, v in w.items() if v})


@steady
@given(worlds(), st.integers(0, 1000))
def test_expectations_are_those_of_enumeration(world: World, seed: int) -> None:
    w = world.scatter(seed)
    rows = world.weights.current.compact()
    means, observed = np.zeros(len(rows)), np.zeros(len(rows))
    log_z = world.batch.expectations(rows, 0, len(world.gold), UNWEIGHTED, False, means)
    world.batch.count_gold(rows, UNWEIGHTED, observed)
    expected, gold, total = Counter[Hashable](), Counter[Hashable](), 0.0
    for i in range(len(world.gold)):
        outputs = list(world.outputs(i))
        scores = np.array([world.score(w, i, y) for y in outputs])
        norm = np.logaddexp.reduce(scores)
        total += norm
        for y, score in zip(outputs, scores, strict=True):
            for f, count in world.features(i, y).items():
                expected[f] += float(np.exp(score - norm)) * count  # type: ignore[assignment]
        gold.update(world.features(i, world.gold[i]))
    assert log_z == pytest.approx(total, rel=1e-9, abs=1e-9)
    outputs_, _, ends = rows.flat()
    places = zip(
        np.searchsorted(ends, np.arange(len(means)), side="right").tolist(), outputs_.tolist(), strict=True
    )
    for place, mean, count in zip(places, means, observed, strict=True):
        assert mean == pytest.approx(expected[place], abs=1e-8)
        assert count == pytest.approx(gold[place], abs=1e-8)


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_the_gradient_is_that_of_finite_differences(structure: str) -> None:
    sequences = [[{"a": 0.5, "b": 2.0}, {"a": -1.5}, {"c": 1.0}], [{"b": 0.25}]]
    world = World(structure, 1, sequences, [(1, 2, 0), (0,)])
    world.scatter(3)
    rows, step = world.weights.current.compact(), 2.0**-8
    means = np.zeros(len(rows))
    world.batch.expectations(rows, 0, 2, UNWEIGHTED, False, means)
    x = rows.weights
    for cell in range(len(x)):
        sides = []
        for sign in (1, -1):
            moved = x.copy()
            moved[cell] += sign * step
            rows.weights = moved
            sides.append(world.batch.expectations(rows, 0, 2, UNWEIGHTED, False, np.zeros(len(rows))))
        assert (sides[0] - sides[1]) / (2 * step) == pytest.approx(means[cell], abs=1e-4)


def test_choices_of_maxent_count_values() -> None:
    world = World("chain", 1, [[{"a": 0.5}, {"a": 2.0, "b": -1.5}]], [(1, 0)])
    w = world.scatter(5)
    rows = world.weights.current.compact()
    means = np.zeros(len(rows))
    log_z = world.batch.expectations(rows, 0, 1, UNWEIGHTED, True, means)
    expected, total = Counter[Hashable](), 0.0
    for t, before in enumerate([None, 1]):
        outputs = [(c,) if before is None else (before, c) for c in range(3)]
        scores = []
        for y in outputs:
            scores.append(sum(w[f] * v for f, v in _token(world, t, y).items()))
        norm = np.logaddexp.reduce(scores)
        total += norm
        for y, score in zip(outputs, scores, strict=True):
            for f, v in _token(world, t, y).items():
                expected[f] += float(np.exp(score - norm)) * v  # type: ignore[assignment]
    assert log_z == pytest.approx(total)
    outputs_, _, ends = rows.flat()
    rows_ = np.searchsorted(ends, np.arange(len(means)), side="right").tolist()
    for place, mean in zip(zip(rows_, outputs_.tolist(), strict=True), means, strict=True):
        assert mean == pytest.approx(expected[place], abs=1e-9)


def _token(world: World, t: int, y: Output) -> dict[Hashable, float]:
    """The features of the choice of the last label of y, at token t of two."""
    found: dict[Hashable, float] = {(world.rows[n], y[-1]): v for n, v in world.sequences[0][t].items()}
    found[(0, y[-1]) if t == 0 else (0, 6 + 3 * y[0] + y[1])] = 1.0
    if t == 1:
        found[0, 3 + y[1]] = 1.0
    return found


@pytest.mark.parametrize("chances", [(1 - 1e-12, 0.0, 0.0), (0.0, 1 - 1e-12, 0.0)])
@steady
@given(world=worlds())
def test_hidden_tokens_have_no_attributes(chances: tuple[float, float, float], world: World) -> None:
    """With nearly all input hidden, learning moves constants alone."""
    order = np.arange(len(world.gold), dtype=np.uint32)
    world.batch.learn(world.weights, _core.UpdateRule.perceptron(), order, 0, UNWEIGHTED, *chances, 1)
    assert all(row == 0 for row, _ in world.current())


def test_values_of_one_take_no_room_and_zeros_none() -> None:
    index, examples = _core.FeatureIndex(True), _core.ExampleRows()
    examples.add_growing(
        _core.FeatureExtractor.of_items(1), table_of([[{"a": 1, "b": True, "c": 0, "d": False}]]), index
    )
    assert [index.name(row) for row in range(1, len(index) + 1)] == [b"a", b"b"]


def test_the_key_of_an_attribute_is_that_of_its_name() -> None:
    table = table_of([[{"w": "é", "x": 2.0}]])
    assert _core.FeatureExtractor.of_items(1).names(table) == [[(False, "w:é"), (False, "x")]]
    assert _core.SegmentExtractor.of_items(1).names(table, 0, 0, 0) == [(0, "w:é"), (0, "x")]


def test_a_table_without_attributes_is_refused() -> None:
    table = _core.from_columns([["a"]], [1])
    for extractor in (_core.FeatureExtractor.of_items(1),):
        with pytest.raises(ValueError, match="no explicit attributes"):
            _core.ExampleRows().add_growing(extractor, table, _core.FeatureIndex(True))
    with pytest.raises(ValueError, match="without explicit attributes"):
        _core.SegmentExamples(True).add(_core.SegmentExtractor.of_items(1), table)
