"""Learning, weight for weight, against the naive perceptron."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_perceptron import NaivePerceptron
from oracles import steady
from worlds import UNWEIGHTED, WithCosts, World, numbered, random_world, worlds

from marginalia import _core


def assert_weights(found: dict[Hashable, float], expected: Mapping[Hashable, float]) -> None:
    wanted = {f: w for f, w in expected.items() if abs(w) > 1e-12}
    found = {f: w for f, w in found.items() if abs(w) > 1e-6}
    assert found.keys() == {f for f, w in wanted.items() if abs(w) > 1e-6}
    for feature, weight in found.items():
        assert weight == pytest.approx(wanted[feature], rel=1e-6, abs=1e-6)


@settings(steady, max_examples=120)
@given(world=worlds(most=5, count=6), seed=st.integers(0, 1000))
def test_weights_are_collins_weights(world: World, seed: int) -> None:
    naive = NaivePerceptron(world)
    trained, counts = world.untrained(), Counter()
    for visit in range(3):
        order = _core.permutation(len(world.sentences), seed + visit)
        counts.update(trained.learn(_core.UpdateRule.perceptron(), order))
        for i in order.tolist():
            naive.learn(i)
    assert trained.step == naive.steps == counts["sentences"]
    assert counts["mistakes"] == counts["updates"] == naive.mistakes
    assert counts["tokens"] == 3 * sum(map(len, world.gold))
    assert counts["wrong_tokens"] == naive.wrong
    assert trained.current() == {f: w for f, w in naive.w.items() if w}
    assert_weights(trained.mean(), naive.mean())
    best = trained.batch().best(trained.weights.current, 0, len(world.sentences))
    assert best.tolist() == [c for i in range(len(world.gold)) for c in naive.best(i)]


@settings(steady, max_examples=12)
@given(worlds(labels=(9, 13), most=2, count=8))
def test_many_labels(world: World) -> None:
    """Rows grow through all sizes from empty to dense, and give their old places to others."""
    naive = NaivePerceptron(world)
    trained = world.trained(passes=4)
    for seed in range(4):
        for i in _core.permutation(len(world.sentences), seed).tolist():
            naive.learn(i)
    assert trained.current() == {f: w for f, w in naive.w.items() if w}
    assert_weights(trained.mean(), naive.mean())
    for name, row in numbered(world.extractor, world.table()).items():
        outputs = trained.weights.current.cells(row)[0].tolist()
        space = world.labels**2 if name[0] else world.labels
        assert len(outputs) <= space // 2 or outputs == list(range(space))


def test_learners_that_share_weights() -> None:
    """Batches take turns: each must see what the others changed, constants too."""
    world = random_world(4, 3, 2, edges=True, transitions=True, masked=True, most=5, count=8)
    whole = world.trained(passes=1)
    parts = world.untrained()
    batches = [parts.batch() for _ in range(3)]
    for step, i in enumerate(_core.permutation(8, 0).tolist()):
        order = np.array([i], np.uint32)
        batches[step % 3].learn(parts.weights, _core.UpdateRule.perceptron(), order, step, UNWEIGHTED)
    assert parts.current() == whole.current()


@pytest.mark.parametrize(
    ("order", "labels"),
    [*((1, n) for n in (1, 2, 3, 4, 5, 8, 22, 29, 32, 33, 61, 64, 65)), *((2, n) for n in (1, 3, 6, 22))],
)
def test_sums_of_rows_are_the_same_from_copies(order: int, labels: int) -> None:
    """Training adds rows from copies, unless there is a need for room. Weights of PA are not whole numbers:
    they would tell if rows were added in another order."""
    rules = [
        _core.UpdateRule.perceptron(),
        WithCosts(_core.UpdateRule.passive_aggressive("I", 0.3), (1.0 - np.eye(labels)).astype(np.float32)),
    ]
    for seed, rule in enumerate(rules):
        world = random_world(
            seed, labels, order, edges=seed == 0, transitions=True, masked=False, most=70, count=9
        )
        copied, plain = world.untrained(), world.untrained()
        plain.batch().make_room(plain.weights, False)
        for visit in range(4):
            order_of = _core.permutation(len(world.sentences), visit)
            assert copied.learn(rule, order_of) == plain.learn(rule, order_of)
            assert copied.current() == plain.current()
        again = world.untrained()  # copies of weights that were there before
        again.begin_with(copied.current())
        plain = world.untrained()
        plain.begin_with(copied.current())
        plain.batch().make_room(plain.weights, False)
        again.learn(rule, order_of)
        plain.learn(rule, order_of)
        assert again.current() == plain.current()


@settings(steady, max_examples=40)
@given(world=worlds(most=4, count=6), length=st.integers(150, 400), seed=st.integers(0, 1000))
def test_one_huge_example_among_small_ones(world: World, length: int, seed: int) -> None:
    """What a huge example leaves behind must not be seen by those after it: as if each began anew."""
    rng = np.random.default_rng(seed)
    tokens = [(f"w{i}", f"t{i}") for i in rng.integers(0, 5 * length, length).tolist()]
    legal = [c for c in range(world.labels) if world.transition[c, c] and world.start[c] and world.end[c]]
    if not legal:
        return
    world.sentences[0], world.gold[0] = tokens, (legal[-1],) * length
    together, alone = world.untrained(), world.untrained()
    order = [0, *range(1, len(world.sentences)), 0, *range(len(world.sentences))]
    together.learn(_core.UpdateRule.perceptron(), order)
    for i in order:
        alone.learn(_core.UpdateRule.perceptron(), [i])
    assert together.current() == alone.current()
    assert together.mean() == alone.mean()


def test_nothing_to_do() -> None:
    world = random_world(1, 2, 1, edges=False, transitions=True, masked=False)
    trained = world.trained(passes=0)
    assert trained.step == 0
    assert trained.mean() == {}
    assert not any(trained.learn(_core.UpdateRule.perceptron(), []).values())


def test_what_does_not_fit_is_refused() -> None:
    world = random_world(1, 3, 1, edges=True, transitions=True, masked=False)
    trained = world.trained()
    shape, examples, weights = world.shape, trained.examples, trained.weights
    other = random_world(1, 2, 1, edges=True, transitions=True, masked=False).shape
    few = _core.WeightTable(len(trained.index), shape.constants)
    without_gold = _core.ExampleRows()
    without_gold.add_known(world.extractor, world.table(), trained.index)
    first, rule = np.array([0], np.uint32), _core.UpdateRule.perceptron()
    for s, e, w in [(other, examples, weights), (shape, examples, few), (shape, without_gold, weights)]:
        batch = _core.ChainBatch(s, e)
        zeros = np.zeros(len(w.current))
        for refused in [
            lambda batch=batch, w=w: batch.learn(w, rule, first, 0, UNWEIGHTED),
            lambda batch=batch, w=w: batch.make_room(w, True),
            lambda batch=batch, w=w, zeros=zeros: batch.count_gold(w.current, UNWEIGHTED, zeros),
            lambda batch=batch, w=w: batch.margins(w.current, 0, 1),
        ]:
            with pytest.raises(ValueError):
                refused()
    batch = _core.ChainBatch(shape, examples)
    for rows, last in [(few.current, 1), (weights.current, examples.sentences + 1)]:
        with pytest.raises(ValueError):
            batch.best(rows, 0, last)
    with pytest.raises(ValueError):
        _core.WeightTable(0, 3)
    for order, samples in [([99], UNWEIGHTED), ([0], np.ones(2))]:
        with pytest.raises(ValueError):
            batch.learn(weights, rule, np.array(order, np.uint32), 0, samples)


def test_gold_that_does_not_fit_is_refused() -> None:
    world = random_world(1, 3, 1, edges=True, transitions=True, masked=False)
    trained = world.trained()
    examples, batch = trained.examples, trained.batch()
    for gold in [
        np.zeros(3, np.int32),
        np.full(examples.tokens, 3, np.int32),
        np.full(examples.tokens, -1, np.int32),
    ]:
        with pytest.raises(ValueError):
            examples.set_gold(gold, 3)
    examples.add_known(world.extractor, world.table(), trained.index)
    with pytest.raises(ValueError):
        batch.learn(trained.weights, _core.UpdateRule.perceptron(), np.array([0], np.uint32), 0, UNWEIGHTED)


def test_permutation_is_the_same_everywhere() -> None:
    assert _core.permutation(10, 1).tolist() == permuted(10, 1)
    assert sorted(_core.permutation(1000, 5).tolist()) == list(range(1000))
    assert _core.permutation(0, 5).tolist() == []


def permuted(n: int, seed: int) -> list[int]:
    """Fisher and Yates over splitmix64."""
    full = (1 << 64) - 1
    state = seed

    def draw(bound: int) -> int:
        nonlocal state
        while True:
            state = (state + 0x9E3779B97F4A7C15) & full
            x = state
            x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & full
            x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & full
            x ^= x >> 31
            if x >= (1 << 64) % bound:
                return x % bound

    order = list(range(n))
    for i in range(n, 1, -1):
        j = draw(i)
        order[i - 1], order[j] = order[j], order[i - 1]
    return order
