"""Boosting agrees with its pseudo-code, for chains and segments; its bound holds; nothing overflows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import naive_boosting as naive
import naive_learners
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner, TieError
from oracles import steady
from segment_worlds import SegmentWorld, segment_worlds
from worlds import UNWEIGHTED, Trained, World, assert_close, worlds

from marginalia import _core
from marginalia.learn.boosting import Boosting, log_sum, round_weight
from marginalia.learn.online import OnlineOptions, OnlineRun, OnlineSettings
from marginalia.learn.run import Counts, RunContext, TrainingBatch

AnyWorld = World | SegmentWorld
seeds = st.integers(0, 2**32 - 1)
small = st.one_of(worlds(labels=(2, 3), most=3, count=6), segment_worlds(most=3, count=6))


def costs_of(world: AnyWorld) -> np.ndarray:
    return (1 - np.eye(world.labels)).astype(np.float32)


RULES: dict[str, tuple[Callable[[AnyWorld], _core.UpdateRule], Callable[[AnyWorld], Any]]] = {
    "perceptron": (lambda world: _core.UpdateRule.perceptron(), lambda world: naive_learners.perceptron),
    "margin": (
        lambda world: _core.UpdateRule.margin(1.0),
        lambda world: naive_learners.margin_perceptron(1.0),
    ),
    "pa": (
        lambda world: _core.UpdateRule.passive_aggressive("I", 0.5),
        lambda world: naive_learners.passive_aggressive("I", 0.5, costs_of(world)),
    ),
}


def boosting_of(
    trained: Trained, rule: _core.UpdateRule, given: np.ndarray, threads: int = 1, **options: Any
) -> Boosting:
    """A run over a world's examples, which begins every round with the weights of the table."""
    world = trained.world
    structure: Any = SimpleNamespace(
        constants=world.shape.constants,
        row_width=world.shape.row_width,
        batch=lambda examples: trained.batch(),
    )
    labels = [str(k) for k in range(world.labels)]
    chosen = OnlineSettings(**options)
    context = RunContext(
        structure, trained.index, labels, chosen, 1, threads, trained.examples.sentences, "data"
    )
    run = Boosting(context, chosen.boost, lambda: OnlineRun(context, rule, OnlineOptions.of(chosen)))
    run.start_from(trained.weights.current.copy())
    run.prepare(lambda: iter([batch_of(trained, given)]))
    return run


def batch_of(trained: Trained, given: np.ndarray) -> TrainingBatch:
    return TrainingBatch(
        trained.examples, given, lambda member: np.arange(trained.examples.sentences, dtype=np.uint32)
    )


def rounds_of(run: Boosting, trained: Trained, given: np.ndarray) -> Iterator[Boosting]:
    """The run after each round."""
    while not run.converged:
        counts = Counts()
        for _ in run.learn(batch_of(trained, given), counts):
            pass
        run.end_pass(counts)
        if run.round.over:
            yield run


def assert_bounded(run: Boosting, trained: Trained, given: np.ndarray) -> None:
    """The share of wrong examples, by weight, is at most the product of all Z."""
    margins, _ = trained.batch().margins(run.finished(), 0, trained.examples.sentences)
    weights = given if len(given) else np.ones(len(margins))
    wrong = float(weights[margins <= 0].sum() / weights.sum())
    assert run.round.bound is not None
    assert wrong <= run.round.bound * (1 + 1e-5) + 1e-12


def learnable(world: AnyWorld, rng: np.random.Generator) -> AnyWorld:
    """With gold outputs most of which some hidden weights like best."""
    hidden = world.untrained().scatter(rng, 1.0)
    learner = NaiveLearner(world, hidden, naive_learners.perceptron, np.ones(len(world.gold)))
    best = [max(legal, key=lambda y: learner.score(legal[y])) for legal in learner.legal]
    kept = rng.random(len(best)) < 0.2
    world.gold = [old if keep else new for old, new, keep in zip(world.gold, best, kept, strict=True)]
    return world


@settings(steady, max_examples=150)
@given(small, seeds, st.sampled_from(list(RULES)), st.booleans(), st.integers(3, 8))
def test_it_is_its_pseudo_code(world: AnyWorld, seed: int, name: str, even: bool, passes: int) -> None:
    rng = np.random.default_rng(seed)
    trained = learnable(world, rng).untrained()
    start = trained.scatter(rng, 1.0)
    samples = UNWEIGHTED if even else rng.uniform(0.2, 3.0, len(world.gold))
    ours, theirs = (make(world) for make in RULES[name])
    weights = [1.0] * len(world.gold) if even else samples.tolist()
    try:
        expected = naive.boosted(world, start, lambda: theirs, weights, 3, passes)
    except TieError:
        assume(False)
    run = boosting_of(trained, ours, samples, boost=3, passes=passes)
    bound = 1.0
    for k, state in enumerate(rounds_of(run, trained, samples)):
        assert_bounded(state, trained, samples)
        if state.round.confidence == 0 or k >= len(expected):
            assert k == len(expected) or expected[k].confidence < 1e-6
            break
        bound *= expected[k].z
        assert state.round.confidence == pytest.approx(expected[k].confidence, rel=1e-3)
        assert state.round.bound == pytest.approx(bound, rel=1e-3, abs=1e-12)
        found = np.exp(state.state()["samples"])
        assert found.tolist() == pytest.approx(expected[k].samples, rel=1e-2, abs=1e-4)
        assert_close(trained.weights_of(state.finished()), expected[k].total, 1e-3)


@settings(steady, max_examples=60)
@given(small, seeds, st.sampled_from(list(RULES)))
def test_the_bound_holds_and_threads_change_nothing(world: AnyWorld, seed: int, name: str) -> None:
    samples = np.random.default_rng(seed).uniform(0.0, 2.0, len(world.gold))
    found = []
    for threads in (1, 2, 3):
        trained = world.untrained()
        run = boosting_of(trained, RULES[name][0](world), samples, threads, boost=4, passes=2)
        records = []
        for state in rounds_of(run, trained, samples):
            assert_bounded(state, trained, samples)
            records.append((state.round, *(array.tobytes() for array in state.state().values())))
        bounds = [record[0].bound for record in records]
        assert bounds == sorted(bounds, reverse=True)
        found.append(records)
    assert found[0] == found[1] == found[2]


weights_and_margins = st.lists(
    st.tuples(st.floats(1e-6, 1.0), st.floats(-3.0, 10.0, allow_subnormal=False)), min_size=1, max_size=12
)


@settings(steady, max_examples=300)
@given(weights_and_margins)
def test_bisection_finds_the_least_z(pairs: list[tuple[float, float]]) -> None:
    """Compared with a dense grid over the whole interval."""
    w, d = (np.array(column) for column in zip(*pairs, strict=True))
    w /= w.sum()
    alpha = round_weight(np.log(w), d)
    right, wrong = w[d > 0].sum(), w[d <= 0].sum()
    if right <= wrong:
        assert alpha == 0
        return
    cap = math.log(len(w) + 1)
    end = min(math.log(right / wrong) if wrong else cap, cap)
    grid = np.linspace(0.0, end, 2001)
    z = np.exp(-np.outer(grid, d)) @ w
    assert 0 <= alpha <= end * (1 + 1e-12)
    assert np.exp(-alpha * d) @ w <= z.min() * (1 + 1e-9)


@pytest.mark.parametrize(
    ("margins", "useful"),
    [
        ([1e300, 1e-300, -1e300, 5.0], True),
        ([1e6, 1e6, 1e6, -1e6], True),
        ([math.inf, math.inf, math.inf, math.inf], True),
        ([math.inf, 3.0, -2.0, 1.0], True),
        ([0.0, 0.0, 0.0, 0.0], False),
        ([math.inf, math.inf, math.inf, 0.0], False),
        ([5e-324, 1.0, 1.0, 1.0], True),
        ([-1.0, -1.0, 1.0, 1.0], False),
    ],
)
def test_extreme_margins(margins: list[float], useful: bool) -> None:
    """Nothing overflows, warns or becomes infinite."""
    logs = np.log(np.full(4, 0.25))
    with np.errstate(all="raise", under="ignore"):
        alpha = round_weight(logs, np.array(margins), 1e30)
        assert (0 < alpha < math.inf) == useful
        assert log_sum(logs - alpha * np.array(margins)) <= 1e-12 if useful else alpha == 0


def test_weights_of_nothing_and_their_return() -> None:
    """A weight may be 0 or too small for a double: it counts for nothing, and no logarithm complains."""
    logs = np.array([0.0, -np.inf, -5000.0])
    assert round_weight(logs, np.array([2.0, -100.0, -100.0])) == pytest.approx(math.log(4))
    assert log_sum(np.array([-5000.0, -5000.0])) == pytest.approx(-5000 + math.log(2))
    assert log_sum(np.array([-np.inf])) == -math.inf
