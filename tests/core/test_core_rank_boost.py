"""The boosting re-ranker against a dense one: the same features in the same order, the same weights."""

from __future__ import annotations

import numpy as np
import pytest
from candidate_worlds import CandidateWorld, random_candidate_world
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_rank_boost import NaiveRankBoost
from oracles import steady

from marginalia import _core

HAIR = 1e-9
seeds = st.integers(0, 2**32 - 1)


def boosted(
    world: CandidateWorld, samples: np.ndarray, smoothing: float
) -> tuple[_core.RankBoost, NaiveRankBoost, dict[int, int]]:
    """The core's, the dense one, and the place of each row among the features of the latter."""
    trained = world.untrained()
    base = _core.base_row(trained.index)
    pairs = _core.CandidatePairs()
    pairs.add(trained.batch(), base or 2**32 - 1, samples, trained.weights.current)
    boost = _core.RankBoost(pairs, len(trained.index) + 1, base or 2**32 - 1, smoothing)
    rows = [row for row in range(1, len(trained.index) + 1) if row != base]
    names = [trained.index.name(row).decode() for row in rows]
    dense = NaiveRankBoost.of(world, names, samples, smoothing)
    assert len(pairs) == len(dense.base)
    return boost, dense, {row: k for k, row in enumerate(rows)}


def binary(world: CandidateWorld) -> CandidateWorld:
    """The same with features that are there or not, as in the paper."""
    for item in world.sentences:
        for features in item:
            features.update({name: 1.0 for name in features if name != _core.BASE_SCORE})
    return world


@pytest.mark.parametrize("real", [False, True])
@settings(steady, max_examples=60)
@given(seed=seeds, smoothing=st.sampled_from([1e-6, 0.001, 0.3]))
def test_each_round_is_that_of_the_dense_one(real: bool, seed: int, smoothing: float) -> None:
    """Where two features are equally good up to rounding, the dense one takes that of the core."""
    world, rng = random_candidate_world(seed, 8), np.random.default_rng(seed)
    world = world if real else binary(world)
    boost, dense, places = boosted(world, rng.uniform(0.0, 2.0, 8), smoothing)
    boost.find_base_weight()
    dense.w0 = float(
        boost.weights[0]
        if not len(places)
        else boost.weights[[r for r in range(1, len(boost.weights)) if r not in places]].sum()
    )
    for done in range(40):
        gains = dense.gains()
        made = boost.run(1)
        if not made:
            assert gains.max(initial=0.0) < 1e-7
            return
        k = places[int(boost.chosen[done])]
        assert gains[k] >= gains.max() - HAIR
        rivals = np.flatnonzero(gains > gains[k] - HAIR)
        assert len(rivals) > 1 or k == int(np.argmax(gains))
        dense.update(k)
        found = np.array([boost.weights[row] for row in places])
        np.testing.assert_allclose(found, dense.w, rtol=1e-6, atol=1e-6)
        assert boost.loss == pytest.approx(dense.sums()[2], rel=1e-6)


def test_hairs_are_rare() -> None:
    """Whole runs pick the same features in the same order."""
    same = 0
    for seed in range(20):
        world = random_candidate_world(seed, 12)
        boost, dense, places = boosted(world, np.random.default_rng(seed).uniform(0.5, 2.0, 12), 0.01)
        boost.find_base_weight()
        row = next(r for r in range(1, len(boost.weights)) if r not in places)
        dense.w0 = float(boost.weights[row])
        boost.run(30)
        order = []
        for _ in boost.chosen:
            order.append(int(np.argmax(dense.gains())))
            dense.update(order[-1])
        same += order == [places[int(row)] for row in boost.chosen]
    assert same >= 18


@settings(steady, max_examples=60)
@given(seed=seeds)
def test_the_base_weight_is_where_the_loss_is_least(seed: int) -> None:
    world, rng = random_candidate_world(seed, 8), np.random.default_rng(seed)
    boost, dense, places = boosted(world, rng.uniform(0.1, 2.0, 8), 0.01)
    boost.find_base_weight()
    row = next((r for r in range(1, len(boost.weights)) if r not in places), None)
    if row is None or not len(dense.base):
        return
    w0 = float(boost.weights[row])
    if (dense.base >= 0).all() or (dense.base <= 0).all():  # falls for ever: far out, and finite
        assert np.isfinite(w0)
        return
    nearby = [dense.loss_at(w0 + step) for step in (-1e-3, 1e-3)]
    assert dense.loss_at(w0) <= min(nearby) + 1e-12
    assert boost.loss == pytest.approx(dense.loss_at(w0))


@settings(steady, max_examples=40)
@given(seed=seeds, real=st.booleans())
def test_the_loss_falls_and_bounds_errors(seed: int, real: bool) -> None:
    world = random_candidate_world(seed, 8)
    world, ones = world if real else binary(world), np.ones(8)
    boost, dense, places = boosted(world, ones, 1e-9)
    boost.find_base_weight()
    dense.w0 = 0.0
    before = boost.loss
    for _ in range(30):
        if not boost.run(1):
            break
        assert boost.loss <= before * (1 + 1e-12)
        before = boost.loss
    weights = boost.weights
    base = next((r for r in range(1, len(weights)) if r not in places), None)
    dense.w, dense.w0 = weights[list(places)], float(weights[base]) if base else 0.0
    margins = dense.w0 * dense.base + dense.differences @ dense.w
    assert (margins <= 0).sum() <= boost.loss + 1e-6
    wrong = {i for i, m in zip(_examples_of(world), margins, strict=True) if m <= 0}
    assert len(wrong) / 8 <= boost.bound + 1e-6


def _examples_of(world: CandidateWorld) -> list[int]:
    """The example of each pair."""
    return [i for i, item in enumerate(world.sentences) for _ in range(len(item) - 1)]


def test_ties_go_to_the_lowest_row_and_runs_can_be_cut() -> None:
    item = [{"a": 1.0, "b": 1.0}, {"c": 1.0}]
    world = CandidateWorld([item], None, [(0,)])
    boost, _, places = boosted(world, np.ones(1), 0.01)
    boost.run(1)
    assert boost.chosen.tolist() == [min(places)]
    for seed in range(5):
        world = random_candidate_world(seed, 10)
        whole, cut = (boosted(world, np.ones(10), 0.01)[0] for _ in range(2))
        whole.run(50)
        for _ in range(50):
            cut.run(1)
        assert cut.chosen.tolist() == whole.chosen.tolist()
        assert cut.weights.tolist() == whole.weights.tolist()


def test_a_refresh_changes_nothing_but_rounding() -> None:
    world = random_candidate_world(7, 30)
    boost, *_ = boosted(world, np.ones(30), 0.001)
    boost.run(500)
    loss = boost.loss
    boost.refresh()
    assert boost.loss == pytest.approx(loss, rel=1e-9)
    other, *_ = boosted(world, np.ones(30), 0.001)
    other.begin_with(boost.weights)
    boost.run(20), other.run(20)
    assert boost.weights.tolist() == other.weights.tolist()


def test_what_does_not_fit_is_refused() -> None:
    world = random_candidate_world(1)
    boost, *_ = boosted(world, np.ones(5), 0.01)
    with pytest.raises(ValueError, match="do not fit"):
        boost.begin_with(np.zeros(2))
    with pytest.raises(ValueError, match="smoothing"):
        boosted(world, np.ones(5), 0.0)
    with pytest.raises(ValueError, match="sample weights"):
        boosted(world, np.ones(4), 0.1)
    nothing = _core.RankBoost(_core.CandidatePairs(), 3, 1, 0.1)
    assert nothing.run(5) == 0
    assert nothing.bound == 0.0
