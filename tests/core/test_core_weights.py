"""Tables of weights: mixing, means, states, and rows without gaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import steady
from worlds import UNWEIGHTED, Trained, World, assert_close, random_world, worlds

from marginalia import _core

KINDS = [("none", 0.0), ("l2", 0.05), ("l1", 0.02), ("l1-cumulative", 0.02), ("l1-signed", 0.02)]
kinds = st.sampled_from(KINDS)
seeds = st.integers(0, 2**32 - 1)
NONE, NO_FLOATS = np.zeros(0), np.zeros(0, np.float32)


def learned(world: World, kind: tuple[str, float], seed: int, steps: int = 12) -> Trained:
    """A table with payments, totals and variances of all kinds."""
    trained = world.untrained(*kind, True)
    trained.scatter(np.random.default_rng(seed), 0.4)
    order = np.random.default_rng(seed).integers(0, len(world.sentences), steps)
    trained.learn(_core.UpdateRule.arow(1.0), order)
    trained.weights.catch_up(trained.step)
    return trained


def rows_of(state: dict[str, Any]) -> np.ndarray:
    counts = np.diff(state["row_end"].astype(np.int64), prepend=0)
    return np.repeat(np.arange(len(counts)), counts).astype(np.uint32)


def restored(trained: Trained, kind: tuple[str, float]) -> Trained:
    """Another table in the same state."""
    state = trained.weights.state()
    copy = trained.world.untrained(*kind, True)
    parts = [state["outputs"], state["weights"], state["totals"], state.get("paid", NONE), state["variances"]]
    copy.weights.restore(copy.index, copy.world.labels, rows_of(state), *parts, float(state["due"][0]))
    copy.step = trained.step
    return copy


def bytes_of(state: dict[str, Any]) -> dict[str, Any]:
    return {name: array.tobytes() for name, array in state.items()}


@settings(steady, max_examples=80)
@given(worlds(labels=(1, 4), most=4, count=5), kinds, seeds)
def test_states_hold_all_that_learning_depends_on(world: World, kind: tuple[str, float], seed: int) -> None:
    """Bit for bit the same weights after the same further steps."""
    first = learned(world, kind, seed)
    second = restored(first, kind)
    assert second.current() == first.current()
    order = np.random.default_rng(seed).integers(0, 5, 20)
    for trained in (first, second):
        trained.learn(_core.UpdateRule.arow(1.0), order)
    assert second.current() == first.current()
    assert second.mean() == first.mean()
    states = [{k: sorted(v.tolist()) for k, v in t.weights.state().items()} for t in (first, second)]
    assert states[0] == states[1]


@settings(steady, max_examples=40)
@given(worlds(labels=(1, 4), most=4, count=5), kinds, seeds)
def test_clones_go_their_own_way(world: World, kind: tuple[str, float], seed: int) -> None:
    trained = learned(world, kind, seed)
    before = bytes_of(trained.weights.state())
    clone = trained.weights.clone()
    order = np.arange(5, dtype=np.uint32)
    trained.batch().learn(clone, _core.UpdateRule.arow(1.0), order, trained.step, UNWEIGHTED)
    assert bytes_of(trained.weights.state()) == before
    rows = trained.weights.current.copy()
    values = rows.weights
    rows.weights = np.zeros(len(rows))
    assert trained.weights.current.weights.tobytes() == values.tobytes()


def by_place(state: dict[str, Any], name: str) -> dict[Hashable, float]:
    """One part of a state by row and output."""
    places = zip(rows_of(state).tolist(), state["outputs"].tolist(), strict=True)
    return dict(zip(places, state[name].tolist(), strict=True))


@settings(steady, max_examples=80)
@given(worlds(labels=(1, 4), most=4, count=5), kinds, seeds, st.integers(1, 4))
def test_mixtures(world: World, kind: tuple[str, float], seed: int, count: int) -> None:
    """Each part of each weight is the mean of that part; a weight that a table lacks is new there."""
    members = [learned(world, kind, seed + k, 12 + k) for k in range(count)]
    tables = [member.weights for member in members]
    mixed = _core.WeightTable.mixed(tables, members[0].index, world.labels)
    states = [table.state() for table in tables]
    found = mixed.state()
    assert found["due"][0] == pytest.approx(np.mean([state["due"][0] for state in states]))
    for name in ("weights", "totals", "paid", "variances"):
        if name not in found:
            continue
        new, parts = float(name == "variances"), [by_place(state, name) for state in states]
        places = {place for part in parts for place in part}
        expected = {p: np.mean([part.get(p, new) for part in parts]) for p in places}
        mean = {p: v - new for p, v in by_place(found, name).items()}
        assert_close(mean, {p: v - new for p, v in expected.items()}, 1e-6)


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 3), most=4, count=5), kinds, seeds)
def test_the_mean_of_a_mixture_is_the_mean_of_the_means(
    world: World, kind: tuple[str, float], seed: int
) -> None:
    members = [learned(world, kind, seed + k) for k in range(3)]
    mixed = _core.WeightTable.mixed([m.weights for m in members], members[0].index, world.labels)
    means = [member.mean() for member in members]
    expected = {f: sum(m.get(f, 0.0) for m in means) / 3 for m in means for f in m}
    assert_close(members[0].weights_of(mixed.averaged(12)), expected)


@pytest.mark.parametrize("kind", KINDS[3:])
def test_mixtures_of_unequal_shards_give_nothing_back(kind: tuple[str, float]) -> None:
    """Who learned longer owes and paid more: what a mixture owes is between them, so no weight grows."""
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False, count=6)
    members = [learned(world, kind, 5, steps) for steps in (3, 40)]
    mixed = _core.WeightTable.mixed([m.weights for m in members], members[0].index, 3)
    before = members[0].weights_of(mixed.current)
    world.sentences.append([])
    world.gold.append(())
    Trained(world, members[0].index, world.examples(members[0].index), mixed, 40).learn(
        _core.UpdateRule.perceptron(), [6]
    )
    mixed.catch_up(41)
    after = members[0].weights_of(mixed.current)
    assert before.keys() >= after.keys()
    assert all(abs(w) < abs(before[f]) for f, w in after.items())


def test_mixing_what_does_not_fit_is_refused() -> None:
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False)
    trained = world.trained()
    other = _core.WeightTable(len(trained.index) + 2, world.shape.constants)
    for tables in [[], [trained.weights, other], [trained.weights, _core.WeightTable(2, 1)]]:
        with pytest.raises(ValueError):
            _core.WeightTable.mixed(tables, trained.index, 3)


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 4), most=4, count=5), seeds, st.integers(1, 4), st.booleans())
def test_means_of_sets_of_weights(world: World, seed: int, count: int, nonzero: bool) -> None:
    members = [learned(world, ("l1", 0.05), seed + k) for k in range(count)]
    mean = _core.SparseRows.mean([member.weights.current for member in members], nonzero)
    weights = [member.current() for member in members]
    expected = {}
    for f in {f for w in weights for f in w}:
        values = [w[f] for w in weights if f in w]  # those that are not zero
        expected[f] = sum(values) / (len(values) if nonzero else count)
    assert_close(members[0].weights_of(mean), expected, 1e-6)


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 4), most=4, count=5), seeds, st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_sums_of_sets_of_weights(world: World, seed: int, factors: list[float]) -> None:
    members = [learned(world, ("l1", 0.05), seed + k) for k in range(len(factors))]
    found = _core.SparseRows.sum([member.weights.current for member in members], factors)
    expected: Counter[Hashable] = Counter()
    for member, factor in zip(members, factors, strict=True):
        expected.update({f: factor * w for f, w in member.current().items()})
    assert_close(members[0].weights_of(found), expected, 1e-6)


def test_rows_that_a_set_lacks_are_empty() -> None:
    """A structure may find new features on the way: then tables differ in length."""
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False)
    long = learned(world, ("none", 0.0), 1)
    short = _core.WeightTable(2, world.shape.constants, "none", 0.0, True)
    w = long.current()
    halves = {f: value / 2 for f, value in w.items()}
    for pair in ([long.weights, short], [short, long.weights]):
        rows = [table.current for table in pair]
        assert_close(long.weights_of(_core.SparseRows.mean(rows, False)), halves, 0.0)
        assert_close(long.weights_of(_core.SparseRows.mean(rows, True)), w, 0.0)
        assert_close(long.weights_of(_core.SparseRows.sum(rows, [0.5, 0.5])), halves, 0.0)
        mixed = _core.WeightTable.mixed(pair, long.index, world.labels)
        assert_close(long.weights_of(mixed.current), halves, 0.0)


def test_what_cannot_be_combined_is_refused() -> None:
    one = _core.WeightTable(3, 2).current
    with pytest.raises(ValueError):
        _core.SparseRows.mean([], False)
    for rows, factors in [([], []), ([one], []), ([one], [1.0, 2.0])]:
        with pytest.raises(ValueError):
            _core.SparseRows.sum(rows, factors)


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 9), most=3, count=6), seeds)
def test_rows_without_gaps(world: World, seed: int) -> None:
    trained = learned(world, ("none", 0.0), seed)
    rows, compact = trained.weights.current, trained.weights.current.compact()
    outputs, values, ends = compact.flat()
    assert len(compact) == len(outputs) == ends[-1] <= len(rows)
    assert compact.weights.tolist() == values.tolist()
    assert trained.weights_of(compact) == trained.weights_of(rows)
    assert compact.norm == pytest.approx(np.linalg.norm(values.astype(float)))
    assert rows.norm == pytest.approx(compact.norm)
    for begin, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        assert (np.diff(outputs[begin:end].astype(int)) > 0).all()
    best = [trained.batch().best(r, 0, 6).tolist() for r in (rows, compact)]
    assert best[0] == best[1]


def test_forgotten_totals() -> None:
    """The mean then is that of the weights as they are."""
    world = random_world(4, 3, 2, edges=True, transitions=True, masked=False, count=6)
    trained = world.trained()
    assert trained.mean() != trained.current()
    trained.weights.forget_totals()
    assert trained.mean() == trained.current()


def test_states_that_do_not_fit_are_refused() -> None:
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False)
    trained = world.trained()
    rows = len(trained.index) + 1
    one, zero, w = np.ones(1, np.uint32), np.zeros(1, np.uint32), np.ones(1, np.float32)
    node = next(row for name, row, _ in trained.places() if name != "constant" and not name[0])
    for at, output, weight, totals, paid, variances in [
        (one * rows, zero, w, NONE, NONE, NO_FLOATS),
        (one * node, one * 3, w, NONE, NONE, NO_FLOATS),
        (zero, one * world.shape.constants, w, NONE, NONE, NO_FLOATS),
        (one, zero, w * np.nan, NONE, NONE, NO_FLOATS),
        (one, zero, w * np.inf, NONE, NONE, NO_FLOATS),
        (one, np.zeros(2, np.uint32), w, NONE, NONE, NO_FLOATS),
        (one, zero, NO_FLOATS, NONE, NONE, NO_FLOATS),
        (one, zero, w, np.zeros(2), NONE, NO_FLOATS),
        (one, zero, w, NONE, np.zeros(2), NO_FLOATS),
        (one, zero, w, NONE, NONE, np.zeros(2, np.float32)),
    ]:
        table = world.untrained().weights
        with pytest.raises(ValueError):
            table.restore(trained.index, 3, at, output, weight, totals, paid, variances, 0.0)
