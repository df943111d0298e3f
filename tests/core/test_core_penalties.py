"""Penalties: taking them from a weight when it is needed is the same as taking them from all at each step."""

from __future__ import annotations

from collections.abc import Hashable

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from oracles import steady
from worlds import Trained, World, assert_close, random_world, worlds

from marginalia import _core

PENALTIES = ["l2", "l1", "l1-cumulative", "l1-signed"]
RATES = {"l2": [0.01, 0.2, 0.9], "l1": [0.003, 0.05, 0.7]}
seeds = st.integers(0, 2**32 - 1)


def rules(labels: int) -> list[tuple[_core.UpdateRule, naive.Rule]]:
    costs = (1 - np.eye(labels)).astype(np.float32)
    return [
        (_core.UpdateRule.perceptron(), naive.perceptron),
        (_core.UpdateRule.margin(1.5), naive.margin_perceptron(1.5)),
        (_core.UpdateRule.passive_aggressive("I", 0.3), naive.passive_aggressive("I", 0.3, costs)),
    ]


def visits(seed: int, sentences: int, passes: int = 4) -> list[int]:
    """Orders with gaps: some examples are not seen for long, and what they owe grows."""
    rng = np.random.default_rng(seed)
    return rng.choice(sentences, passes * sentences, p=rng.dirichlet(np.full(sentences, 0.5))).tolist()


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=120)
@given(world=worlds(most=4, count=6), seed=seeds, which=st.integers(0, 2), size=st.integers(0, 2))
def test_lazy_is_dense(penalty: str, world: World, seed: int, which: int, size: int) -> None:
    """The weights, and the mean of the weights after every example."""
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    native, plain = rules(world.labels)[which]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.5)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate)
    order = learner.learn_until_tie(visits(seed, 6))
    cuts = sorted(rng.integers(0, len(order) + 1, 2).tolist())
    for part in (order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :]):
        trained.learn(native, part, learner.samples)
        if rng.random() < 0.5:
            trained.weights.catch_up(trained.step)  # paying in between changes nothing
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=40)
@given(world=worlds(most=4, count=6), seed=seeds, size=st.integers(0, 1))
def test_with_gradient_steps(local: bool, penalty: str, world: World, seed: int, size: int) -> None:
    """Their penalty falls with the learning rate."""
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.3)
    trained.batch().make_room(trained.weights, True)
    plain = naive.gradient(0.5, 0.7, 6, local)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate, room=trained.room())
    order = visits(seed, 6)
    for i in order:
        learner.learn(i)
    for part in (order[:5], order[5:]):
        trained.learn(_core.UpdateRule.gradient(0.5, 0.7, 6, local), part, learner.samples)
    assert_close(trained.current(), learner.w)


def aged(penalty: str, rate: float, steps: int) -> tuple[Trained, dict[Hashable, float]]:
    """Weights after so many steps that taught nothing: gold is what an unpenalised perceptron answers."""
    world = random_world(6, 2, 1, edges=True, transitions=True, masked=False, most=3, count=2)
    world.sentences, world.gold = [world.sentences[0], []], [world.gold[0], ()]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(np.random.default_rng(1), 1.0)
    trained.learn(_core.UpdateRule.perceptron(), [1] * steps)
    return trained, start


@pytest.mark.parametrize("steps", [1, 10, 5_000])
def test_many_steps_at_once(steps: int) -> None:
    """Sums over thousands of steps in one formula."""
    trained, start = aged("l2", 0.001, steps)
    left = 0.999**steps
    assert_close(trained.current(), {f: w * left for f, w in start.items()})
    mean = 0.999 * (1 - left) / 0.001 / steps
    assert_close(trained.mean(), {f: w * mean for f, w in start.items()})
    for penalty in PENALTIES[1:]:
        trained, start = aged(penalty, 0.001, steps)
        sizes = {f: np.maximum(0.0, abs(w) - 0.001 * np.arange(1, steps + 1)) for f, w in start.items()}
        assert_close(trained.current(), {f: np.sign(start[f]) * s[-1] for f, s in sizes.items()})
        assert_close(trained.mean(), {f: np.sign(start[f]) * s.mean() for f, s in sizes.items()})


@pytest.mark.parametrize("penalty", PENALTIES)
def test_no_rate_is_no_penalty(penalty: str) -> None:
    world = random_world(7, 3, 2, edges=True, transitions=True, masked=True, count=8)
    plain, free = world.untrained(), world.untrained(penalty, 0.0)
    for trained in (plain, free):
        trained.learn(_core.UpdateRule.perceptron(), [*range(8)] * 3)
    assert free.current() == plain.current()
    assert free.mean() == plain.mean()


def test_a_debt_is_paid_by_the_first_update() -> None:
    """What a weight that was zero for long owes is taken all at once; the plain l1 forgets it."""
    for penalty, kept in [("l1", True), ("l1-cumulative", False), ("l1-signed", False)]:
        world = random_world(8, 2, 1, edges=False, transitions=False, masked=False, most=3, count=3)
        world.sentences, world.gold = [[("w0", "t0")], [], []], [(1,), (), ()]
        trained = world.untrained(penalty, 0.05)
        trained.learn(_core.UpdateRule.perceptron(), [1] * 30 + [0])
        assert bool(trained.current()) == kept


@pytest.mark.parametrize("penalty", ["l1-cumulative", "l1-signed"])
def test_small_penalties_of_weights_that_are_always_needed(penalty: str) -> None:
    """A float cannot lose 2e-8 of 1: what rounding keeps must stay owed, or nothing is ever paid."""
    world = random_world(3, 2, 1, edges=False, transitions=True, masked=False, count=1)
    world.sentences, world.gold = [[("a", "b"), ("c", "d")]], [(0, 0)]
    trained = world.untrained(penalty, 2e-8)
    start = trained.scatter(np.random.default_rng(0), 1.0)
    world.gold = [tuple(trained.batch().best(trained.weights.current, 0, 1).tolist())]
    trained.examples.set_gold(np.array(world.gold[0], np.int32), 2)
    trained.learn(_core.UpdateRule.perceptron(), np.zeros(500_000, np.uint32))
    expected = {f: np.sign(w) * max(0.0, abs(w) - 0.01) for f, w in start.items()}
    assert_close(trained.current(), expected)
    means = {f: np.sign(w) * (abs(w) - 0.005) for f, w in start.items() if abs(w) > 0.01}
    assert_close({f: w for f, w in trained.mean().items() if f in means}, means)


def test_penalties_out_of_range_are_refused() -> None:
    for penalty, rate in [("l3", 0.1), ("l1", -0.1), ("l2", 1.0), ("l2", np.nan), ("l1", np.nan)]:
        with pytest.raises(ValueError):
            _core.WeightTable(3, 2, penalty, rate)
    world = random_world(8, 2, 1, edges=False, transitions=False, masked=False)
    with pytest.raises(ValueError):  # a step would turn all weights around
        world.untrained("l2", 0.5).learn(_core.UpdateRule.gradient(2.0, 1.0, 5, False), [0])
