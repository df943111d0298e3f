"""The learners, weight for weight, against their pseudo-codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from naive_perceptron import features_of, names_of
from oracles import steady
from worlds import UNWEIGHTED, Trained, WithCosts, World, assert_close, random_world, worlds

from marginalia import _core

Rules = Callable[[int], tuple[_core.UpdateRule, naive.Rule]]  # of so many labels
seeds = st.integers(0, 2**32 - 1)


def hamming(labels: int) -> np.ndarray:
    return (1 - np.eye(labels)).astype(np.float32)


def random_costs(labels: int) -> np.ndarray:
    """Not symmetric, and no error is free."""
    costs = np.random.default_rng(labels).uniform(0.2, 3.0, (labels, labels)).astype(np.float32)
    np.fill_diagonal(costs, 0.0)
    return costs


def margin_rules(c: float) -> Rules:
    return lambda labels: (_core.UpdateRule.margin(c), naive.margin_perceptron(c))


def aggressive_rules(kind: str, c: float, costs: Callable[[int], np.ndarray]) -> Rules:
    def rules(n: int) -> tuple[_core.UpdateRule, naive.Rule]:
        native = WithCosts(_core.UpdateRule.passive_aggressive(kind, c), costs(n))
        return native, naive.passive_aggressive(kind, c, costs(n))

    return rules


def arow_rules(r: float, costs: Callable[[int], np.ndarray]) -> Rules:
    return lambda n: (WithCosts(_core.UpdateRule.arow(r), costs(n)), naive.arow(r, costs(n)))


RULES = {
    "perceptron": lambda n: (_core.UpdateRule.perceptron(), naive.perceptron),
    "margin 0": margin_rules(0.0),
    "margin 2.5": margin_rules(2.5),
    **{f"PA-{k}": aggressive_rules(k, 0.1, hamming) for k in ("0", "I", "II")},
    **{f"PA-{k} with costs": aggressive_rules(k, 0.7, random_costs) for k in ("0", "I", "II")},
    "correction": lambda n: (_core.UpdateRule.correction(1.5), naive.correction(1.5)),
    "AROW": arow_rules(0.8, hamming),
    "AROW with costs": arow_rules(5.0, random_costs),
}


def both(
    world: Any, rules: Rules, seed: int, *table: object
) -> tuple[Trained, NaiveLearner, _core.UpdateRule]:
    """The core and the naive learner at the same random start, with random sample weights."""
    rng = np.random.default_rng(seed)
    native, plain = rules(world.labels)
    trained = world.untrained(*table)
    start = trained.scatter(rng)
    return trained, NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, len(world.sentences))), native


def learn_in_parts(
    trained: Trained, rule: _core.UpdateRule, order: list[int], samples: np.ndarray
) -> Counter[str]:
    """In two calls: nothing but the weights and the step may live from one to the other."""
    half, counts = len(order) // 2, Counter()
    for part in (order[:half], order[half:]):
        found = trained.learn(rule, part, samples)
        counts.update({name: found[name] for name in ("sentences", "updates", "loss")})
    return counts


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=80)
@given(world=worlds(most=4, count=5), seed=seeds)
def test_against_pseudo_code(name: str, world: World, seed: int) -> None:
    trained, learner, rule = both(world, RULES[name], seed, "none", 0.0, "AROW" in name)
    order = [i for k in range(3) for i in _core.permutation(5, (seed + k) % 2**32).tolist()]
    order = learner.learn_until_tie(order)
    counts = learn_in_parts(trained, rule, order, learner.samples)
    assert counts["sentences"] == len(order)
    assert counts["updates"] == learner.updates
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


@pytest.mark.parametrize("name", RULES)
def test_hairs_are_rare(name: str) -> None:
    """The test above compares whole runs, not just their first steps."""
    whole = 0
    for seed in range(20):
        world = random_world(seed, 3, 1 + seed % 2, edges=True, transitions=True, masked=seed % 3 == 0)
        _, learner, _ = both(world, RULES[name], seed)
        whole += len(learner.learn_until_tie([*range(5)] * 3)) == 15
    assert whole >= 17


@settings(steady, max_examples=60)
@given(worlds(most=4, count=5), seeds)
def test_variances_are_those_of_the_pseudo_code(world: World, seed: int) -> None:
    trained, learner, rule = both(world, RULES["AROW"], seed, "none", 0.0, True)
    trained.learn(rule, learner.learn_until_tie([*range(5)] * 3), learner.samples)
    state = trained.weights.state()
    rows = np.searchsorted(state["row_end"], np.arange(len(state["outputs"])), side="right")
    names = {(row, output): (name, output) for name, row, output in trained.places()}
    found = {
        names[row, output]: variance
        for row, output, variance in zip(
            rows.tolist(), state["outputs"].tolist(), state["variances"].tolist(), strict=True
        )
    }
    for f in found.keys() | learner.variance.keys():
        assert found.get(f, 1.0) == pytest.approx(learner.variance.get(f, 1.0), rel=1e-5)


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=60)
@given(
    world=worlds(most=4, count=5),
    seed=seeds,
    whole=st.booleans(),
    decay=st.sampled_from([1.0, 0.85, 0.3]),
    scattered=st.booleans(),
)
def test_gradient_steps(
    local: bool, world: World, seed: int, whole: bool, decay: float, scattered: bool
) -> None:
    """Only weights with room are learned; a whole row has room for all of its outputs."""
    rng = np.random.default_rng(seed)
    trained = world.untrained()
    start = trained.scatter(rng, 0.3) if scattered else {}
    trained.batch().make_room(trained.weights, whole)
    plain = naive.gradient(0.4, decay, 5, local)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 5), room=trained.room())
    assert learner.room is not None
    assert learner.room >= {f for phi in learner.gold for f in phi}
    order = [i for k in range(3) for i in _core.permutation(5, (seed + k) % 2**32).tolist()]
    counts = learn_in_parts(trained, _core.UpdateRule.gradient(0.4, decay, 5, local), order, learner.samples)
    for i in order:
        learner.learn(i)
    assert counts["updates"] == len(order)
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-5, abs=1e-5)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("whole", [False, True])
def test_room(whole: bool) -> None:
    """For the labels a feature is seen with; for all of them where it is seen with about half."""
    world = random_world(3, 9, 2, edges=True, transitions=True, masked=False, count=10)
    trained = world.untrained()
    trained.batch().make_room(trained.weights, whole)
    pairs = zip(names_of(world), world.gold, strict=True)
    gold = {f for names, y in pairs for f in features_of(world, names, y)}
    room = trained.room()
    for name, row, _ in trained.places():
        if name == "constant":
            continue
        space = world.labels**2 if name[0] else world.labels
        seen = {o for f, o in gold if f == name}
        has = {o for f, o in room if f == name}
        assert has == (set(range(space)) if (whole and seen) or len(seen) > space // 2 else seen), row


@pytest.mark.parametrize("local", [False, True])
def test_gold_without_room_is_not_learned(local: bool) -> None:
    """Without `make_room` there are the constants and nothing else."""
    world = random_world(5, 3, 1, edges=True, transitions=True, masked=False)
    trained = world.untrained()
    trained.learn(_core.UpdateRule.gradient(0.5, 1.0, 5, local), range(5))
    assert {name for name, _ in trained.current()} == {"constant"}


def test_rules_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError):
        _core.UpdateRule.passive_aggressive("III", 1.0)
    world = random_world(3, 3, 1, edges=False, transitions=True, masked=False)
    with pytest.raises(ValueError, match="variances"):
        world.untrained().learn(_core.UpdateRule.arow(1.0), range(5))


@pytest.mark.parametrize("size", [0, 3, 4, 8])
def test_costs_of_other_labels_are_refused(size: int) -> None:
    world = random_world(3, 3, 1, edges=False, transitions=True, masked=False)
    with pytest.raises(ValueError, match="one for each pair of labels"):
        world.untrained().batch(np.ones(size, np.float32))


def test_without_costs_each_wrong_label_costs_one() -> None:
    """By default the costs are those of Hamming."""
    world = random_world(7, 3, 1, edges=True, transitions=True, masked=False)
    found = []
    for costs in (None, hamming(3).ravel()):
        trained = world.untrained()
        order = np.array([*range(5)] * 3, np.uint32)
        trained.batch(costs).learn(
            trained.weights, _core.UpdateRule.passive_aggressive("I", 0.1), order, 0, UNWEIGHTED
        )
        found.append(trained.current())
    assert found[0] == found[1] != {}
