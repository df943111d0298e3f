"""The likelihood and its gradient, against enumeration and finite differences."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from oracles import steady
from worlds import UNWEIGHTED, World, random_world, worlds

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)
GRID = 2.0**-10  # weights are multiples of this, so that steps of it are exact in floats


class Likelihood:
    """A world's examples as a function of a vector of weights."""

    def __init__(self, world: Any, seed: int, *, whole: bool, local: bool, weighted: bool = True) -> None:
        rng = np.random.default_rng(seed)
        self.world, self.local, self.count = world, local, len(world.sentences)
        trained = world.untrained()
        self.trained, self.batch = trained, trained.batch()
        self.batch.make_room(trained.weights, whole)
        self.rows = trained.weights.current.compact()
        self.samples = rng.uniform(0.1, 2.0, self.count) if weighted else UNWEIGHTED
        self.observed = np.zeros(len(self.rows))
        self.batch.count_gold(self.rows, self.samples, self.observed)
        known = {(name, output) for name, _, output in trained.places()}
        self.used = np.array([cell in known for cell in self.cells()])  # row 0 has room for more
        self.x = np.round(rng.normal(0.0, 1.0, len(self.rows)) / GRID) * GRID * self.used

    def at(self, x: np.ndarray, first: int = 0, last: int | None = None) -> tuple[float, np.ndarray]:
        """Sum of log Z and expected counts of some examples."""
        self.rows.weights = x
        means = np.zeros(len(self.rows))
        bounds = first, self.count if last is None else last
        return self.batch.expectations(self.rows, *bounds, self.samples, self.local, means), means

    def loss(self, x: np.ndarray) -> float:
        return self.at(x)[0] - float(x @ self.observed)

    def cells(self) -> list[Hashable]:
        """What each weight belongs to."""
        outputs, _, ends = self.rows.flat()
        rows = np.searchsorted(ends, np.arange(len(outputs)), side="right").tolist()
        names = self.trained.names()
        return [(names[row], output) for row, output in zip(rows, outputs.tolist(), strict=True)]


def enumerated(likelihood: Likelihood) -> dict[str, Any]:
    """Log Z and counts, by enumeration."""
    cells = likelihood.cells()
    w = dict(zip(cells, likelihood.x.tolist(), strict=True))
    learner = NaiveLearner(likelihood.world, w, naive.perceptron, likelihood.samples)
    total, means, observed = 0.0, naive.Vector(), naive.Vector()
    for i in range(likelihood.count):
        mean, log_z = (naive.expected_choices if likelihood.local else naive.expected)(learner, i)
        share = likelihood.samples[i]
        total += share * log_z
        means.update({f: share * v for f, v in mean.items()})
        observed.update({f: share * v for f, v in learner.gold[i].items()})
    vectors = [np.array([v[f] for f in cells]) for v in (means, observed)]
    return {"log_z": total, "means": vectors[0], "observed": vectors[1]}


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=120)
@given(world=worlds(most=4, count=4), seed=seeds, whole=st.booleans())
def test_against_enumeration(local: bool, world: World, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=local)
    expected = enumerated(likelihood)
    log_z, means = likelihood.at(likelihood.x)
    assert log_z == pytest.approx(expected["log_z"], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(means, expected["means"], atol=1e-12)
    np.testing.assert_allclose(likelihood.observed, expected["observed"], atol=1e-12)


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=25)
@given(world=worlds(labels=(2, 3), most=4, count=4), seed=seeds, whole=st.booleans())
def test_against_finite_differences(local: bool, world: World, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=local)
    gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
    assert not gradient[~likelihood.used].any()
    for i in np.flatnonzero(likelihood.used):
        step = np.zeros(len(gradient))
        step[i] = GRID
        up, down = likelihood.loss(likelihood.x + step), likelihood.loss(likelihood.x - step)
        assert (up - down) / (2 * GRID) == pytest.approx(gradient[i], abs=2e-5)


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=25)
@given(world=worlds(most=5, count=7), seed=seeds)
def test_parts_sum_up(local: bool, world: World, seed: int) -> None:
    """Examples are independent, gradients are added to, and no sample weights are sample weights of 1."""
    likelihood = Likelihood(world, seed, whole=True, local=local, weighted=False)
    log_z, means = likelihood.at(likelihood.x)
    parts = [likelihood.at(likelihood.x, first, last) for first, last in [(0, 3), (3, 3), (3, 7)]]
    assert sum(p[0] for p in parts) == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(sum(p[1] for p in parts), means, atol=1e-12)
    likelihood.samples = np.ones(7)
    again = likelihood.at(likelihood.x)
    assert again[0] == log_z
    np.testing.assert_array_equal(again[1], means)
    total = np.full(len(means), 3.0)
    likelihood.batch.expectations(likelihood.rows, 0, 7, UNWEIGHTED, local, total)
    np.testing.assert_allclose(total, means + 3.0, atol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
def test_many_labels_and_long_sentences(order: int) -> None:
    """Finite differences along random directions, where enumeration ends."""
    world = random_world(9, 6, order, edges=True, transitions=True, masked=True, most=40, count=6)
    for local in [False, True]:
        likelihood = Likelihood(world, 3, whole=True, local=local)
        gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
        rng = np.random.default_rng(1)
        for _ in range(10):
            way = rng.choice([-1.0, 0.0, 1.0], len(gradient))
            losses = [likelihood.loss(likelihood.x + h * GRID * way) for h in (-2, -1, 1, 2)]
            slope = (losses[0] - 8 * losses[1] + 8 * losses[2] - losses[3]) / (12 * GRID)
            assert slope == pytest.approx(float(gradient @ way), rel=1e-5, abs=1e-3)


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_the_optimum_of_a_likelihood(local: bool, l1: float) -> None:
    """Weights, counts, gradients and optimiser together: by enumeration there is no way down from where they
    end."""
    world = random_world(11, 3, 2, edges=True, transitions=True, masked=False, most=4, count=6)
    likelihood = Likelihood(world, 2, whole=True, local=local)
    optimiser = _core.Lbfgs(np.zeros(len(likelihood.rows)), 6, l1)
    for _ in range(300):
        x = optimiser.x
        log_z, means = likelihood.at(x)
        value = log_z - float(likelihood.rows.weights @ likelihood.observed) + 0.2 * float(x @ x)
        if optimiser.update(value, means - likelihood.observed + 0.4 * x) == "stuck":
            break
    likelihood.x = optimiser.best
    expected = enumerated(likelihood)
    slopes = expected["means"] - expected["observed"] + 0.4 * likelihood.x
    slopes[likelihood.x != 0] += l1 * np.sign(likelihood.x[likelihood.x != 0])
    assert np.abs(slopes[likelihood.x != 0]).max() < 1e-4
    assert np.abs(slopes[likelihood.x == 0]).max(initial=0.0) <= l1 + 1e-4
    if l1:
        assert (likelihood.x == 0).sum() > 10


def test_gold_that_leaves_no_choice() -> None:
    """Where nothing may follow gold's label, no choice has a probability; whole outputs still have one."""
    world = random_world(2, 3, 1, edges=False, transitions=True, masked=False, most=3, count=1)
    world = replace(world, sentences=[[("a", "b")] * 2], gold=[(1, 0)])
    world.transition[1] = 0
    world.__post_init__()
    likelihood = Likelihood(world, 1, whole=True, local=True)
    with pytest.raises(ValueError):
        likelihood.at(likelihood.x)
    likelihood.local = False
    assert np.isfinite(likelihood.at(likelihood.x)[0])
    world.end[:] = 0
    world.__post_init__()
    nothing = Likelihood(world, 1, whole=True, local=False)
    with pytest.raises(ValueError):
        nothing.at(nothing.x)


def test_sizes_that_do_not_fit_are_refused() -> None:
    world = random_world(2, 3, 1, edges=False, transitions=True, masked=False)
    likelihood = Likelihood(world, 1, whole=True, local=False)
    batch, rows, right = likelihood.batch, likelihood.rows, np.zeros(len(likelihood.rows))
    for arguments in [
        (rows, 0, 6, UNWEIGHTED, False, right),
        (rows, 3, 2, UNWEIGHTED, False, right),
        (rows, 0, 5, np.ones(4), False, right),
        (rows, 0, 5, UNWEIGHTED, False, right[1:]),
    ]:
        with pytest.raises(ValueError):
            batch.expectations(*arguments)
    with pytest.raises(ValueError):
        batch.count_gold(rows, UNWEIGHTED, right[1:])
    with pytest.raises(ValueError):
        rows.weights = right[1:]
    with pytest.raises(TypeError):
        batch.expectations(rows, 0, 5, UNWEIGHTED, False, right.astype(np.float32))


def test_a_local_likelihood_is_that_of_local_scores() -> None:
    """Scores that are log-probabilities of choices: gold's is minus the loss of the choices."""
    world = random_world(12, 3, 2, edges=True, transitions=True, masked=True, count=6)
    likelihood = Likelihood(world, 5, whole=True, local=True, weighted=False)
    loss = likelihood.loss(likelihood.x)
    learner = NaiveLearner(
        world, dict(zip(likelihood.cells(), likelihood.x, strict=True)), naive.perceptron, np.ones(6)
    )
    chosen = 0.0
    for i, gold in enumerate(world.gold):
        for t in range(len(gold)):
            labels = naive.legal_labels(world, gold, t)
            scores = [
                learner.score(naive.features_at(world, learner.names[i], (*gold[:t], c, *gold[t + 1 :]), t))
                for c in labels
            ]
            here = learner.score(naive.features_at(world, learner.names[i], gold, t))
            chosen += here - float(np.logaddexp.reduce(scores))
    assert loss == pytest.approx(-chosen, rel=1e-9)
    assert isinstance(_core.dot(likelihood.x, likelihood.observed), float)
