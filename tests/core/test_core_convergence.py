"""Margins and what they promise: on separable data a perceptron makes at most (R / delta)^2 mistakes."""

from __future__ import annotations

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from oracles import steady
from worlds import Trained, World, random_world, worlds

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


@settings(steady, max_examples=120)
@given(worlds(most=4, count=6), seeds)
def test_margins_are_those_of_all_outputs(world: World, seed: int) -> None:
    """Of gold over the best other output, with the norm of their difference, in the order of the examples."""
    trained = world.untrained()
    w = trained.scatter(np.random.default_rng(seed))
    learner = NaiveLearner(world, w, naive.perceptron, np.ones(6))
    expected = []
    for i, gold in enumerate(world.gold):
        others = [learner.minus(i, y) for y in learner.legal[i] if y != gold]
        if others:
            nearest = min(others, key=learner.score)
            expected.append((learner.score(nearest), np.sqrt(sum(v * v for v in nearest.values()))))
        else:
            expected.append((np.inf, 0.0))
    margins, norms = trained.batch().margins(trained.weights.current, 0, 6)
    assert margins.tolist() == pytest.approx([m for m, _ in expected], abs=1e-5)
    assert norms.tolist() == pytest.approx([n for _, n in expected], abs=1e-9)
    parts = [trained.batch().margins(trained.weights.current, *b)[0] for b in [(0, 2), (2, 6)]]
    assert np.concatenate(parts).tolist() == margins.tolist()


def separable(world: World, seed: int, gap: float) -> World:
    """The world with gold labels that hidden weights like best, without close calls."""
    w = world.untrained().scatter(np.random.default_rng(seed), 1.0)
    world.gold = [(0,) * len(s) for s in world.sentences]
    learner = NaiveLearner(world, w, naive.perceptron, np.ones(len(world.sentences)))
    kept = []
    for i, sentence in enumerate(world.sentences):
        scores = {y: learner.score(phi) for y, phi in learner.legal[i].items()}
        first, *others = sorted(scores, key=lambda y: -scores[y])
        if not others or scores[first] - scores[others[0]] > gap:
            kept.append((sentence, first))
    world.sentences, world.gold = [s for s, _ in kept], [y for _, y in kept]
    return world


def learned_until_right(trained: Trained, seed: int, rule: _core.UpdateRule) -> tuple[int, float]:
    """Passes until one has no update; all updates, and the largest squared norm of one."""
    updates, largest = 0, 0.0
    for k in range(2_000):
        order = _core.permutation(trained.examples.sentences, (seed + k) % 2**32)
        counts = trained.learn(rule, order)
        updates += counts["updates"]
        largest = max(largest, counts["largest"])
        if not counts["updates"]:
            return updates, largest
    pytest.fail("it does not converge")


@settings(steady, max_examples=60)
@given(worlds(labels=(2, 3), most=4, count=8), seeds)
def test_mistakes_are_bounded(world: World, seed: int) -> None:
    """Novikoff's theorem as Collins 2002 states it for structures."""
    world = separable(world, seed, 0.3)
    trained = world.untrained()
    updates, largest = learned_until_right(trained, seed, _core.UpdateRule.perceptron())
    margins, _ = trained.batch().margins(trained.weights.current, 0, len(world.sentences))
    if not updates:
        return
    assert margins.min() >= 0
    if margins.min() > 0:  # a tie may have fallen to gold
        delta = margins.min() / trained.weights.current.norm
        assert updates <= largest / delta**2 * (1 + 1e-6)
    learner = NaiveLearner(world, {}, naive.perceptron, np.ones(len(world.sentences)))
    pairs = [learner.minus(i, y) for i, legal in enumerate(learner.legal) for y in legal]
    assert largest <= max(sum(v * v for v in pair.values()) for pair in pairs)


@settings(steady, max_examples=40)
@given(worlds(labels=(2, 3), most=4, count=8), seeds)
def test_the_margin_perceptron_ends_with_a_margin(world: World, seed: int) -> None:
    """When nothing changes any more, gold leads by more than was asked for."""
    world = separable(world, seed, 0.3)
    trained = world.untrained()
    learned_until_right(trained, seed, _core.UpdateRule.margin(5.0))
    margins, _ = trained.batch().margins(trained.weights.current, 0, len(world.sentences))
    assert margins.min(initial=np.inf) > 5.0


def test_passive_aggressive_meets_its_costs() -> None:
    """On separable data the hard form ends with margins that are at least the costs."""
    for seed in range(10):
        world = random_world(seed, 3, 1 + seed % 2, edges=True, transitions=True, masked=False, count=8)
        world = separable(world, seed, 0.5)
        trained = world.untrained()
        rule = _core.UpdateRule.passive_aggressive("0", 1.0)
        for k in range(400):
            trained.learn(rule, _core.permutation(len(world.sentences), k))
        learner = NaiveLearner(world, trained.current(), naive.perceptron, np.ones(len(world.sentences)))
        for i, gold in enumerate(world.gold):
            for y in learner.legal[i]:
                cost = sum(a != b for a, b in zip(gold, y, strict=True))
                assert learner.score(learner.minus(i, y)) >= cost - 0.02


def test_margins_out_of_range_are_refused() -> None:
    trained = random_world(1, 3, 1, edges=False, transitions=True, masked=False).trained()
    for bounds in [(0, 6), (2, 1)]:
        with pytest.raises(ValueError):
            trained.batch().margins(trained.weights.current, *bounds)
