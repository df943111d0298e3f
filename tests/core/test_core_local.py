"""Chains whose labels are choices, one after another: an output's score is its log-probability."""

from __future__ import annotations

import itertools
from dataclasses import replace

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Output, Problem, choices, is_legal, problems, random_problem, score_at, steady
from worlds import World, assert_close, worlds

from marginalia import _core


def has_dead_end(problem: Problem) -> bool:
    """Can legal labels lead to where no label is legal?"""
    ways: list[Output] = [()]
    for t in range(problem.length):
        further = [[(*y, c) for c in choices(problem, (*y, 0), t)] for y in ways]
        if not all(further):
            return True
        ways = [y for some in further for y in some]
    return False


def log_probability(problem: Problem, y: Output) -> float:
    """Of each label, given those before it: exp(score) over the sum of exp(score) of all legal labels."""
    total = 0.0
    for t in range(len(y)):
        scores = [score_at(problem, (*y[:t], c), t) for c in choices(problem, y, t)]
        total += score_at(problem, y, t) - float(np.logaddexp.reduce(scores))
    return total


@steady
@given(problems(least=0, most=5))
def test_scores_are_log_probabilities(problem: Problem) -> None:
    """Of every output; one that leads nowhere keeps its share, which then belongs to no output."""
    lattice = replace(problem, local=True).lattice()
    total = 0.0
    for y in itertools.product(range(problem.labels), repeat=problem.length):
        found = lattice.score(np.array(y, np.uint32))
        expected = log_probability(problem, y) if is_legal(problem, y) else -np.inf
        assert found == pytest.approx(expected, abs=1e-11)
        total += np.exp(found)
    if has_dead_end(problem):
        assert total < 1
    else:
        assert total == pytest.approx(1.0, abs=1e-12)


@settings(steady, max_examples=150)
@given(problems(least=0, most=5))
def test_search_and_marginals(problem: Problem) -> None:
    lattice = replace(problem, local=True).lattice()
    legal = [
        y for y in itertools.product(range(problem.labels), repeat=problem.length) if is_legal(problem, y)
    ]
    scores = {y: log_probability(problem, y) for y in legal}
    ranking = sorted(scores.values(), reverse=True)
    assert [s for _, s in lattice.k_best()] == pytest.approx(ranking, abs=1e-10)
    assert [s for _, s in lattice.best_k(2)] == pytest.approx(ranking[:2], abs=1e-10)
    if not legal:
        return
    assert lattice.best()[1] == pytest.approx(ranking[0], abs=1e-10)
    for method in ["auto", "log"]:
        found = lattice.marginals(True, method)
        total = float(np.logaddexp.reduce(ranking))
        assert found["log_z"] == pytest.approx(total, abs=1e-10)
        node = np.zeros((problem.length, problem.labels))
        for y, s in scores.items():
            node[np.arange(len(y)), list(y)] += np.exp(s - total)
        np.testing.assert_allclose(found["node"], node, atol=1e-10)


@pytest.mark.parametrize("scale", [30.0, 300.0, 1e4])
@settings(steady, max_examples=60)
@given(data=st.data())
def test_extreme_scores(scale: float, data: st.DataObject) -> None:
    problem = data.draw(problems(most=4, scale=scale))
    lattice = replace(problem, local=True).lattice()
    for y in itertools.product(range(problem.labels), repeat=problem.length):
        expected = log_probability(problem, y) if is_legal(problem, y) else -np.inf
        assert lattice.score(np.array(y, np.uint32)) == pytest.approx(expected, abs=1e-10 * scale)


@pytest.mark.parametrize("order", [1, 2])
def test_long_sentences(order: int) -> None:
    """More label pairs than are kept at once: what makes them choices is computed anew where needed."""
    problem = random_problem(5, 20, 3_000, order, edges=True, whole=False, masks="all")
    local = replace(problem, local=True)
    found = local.lattice().marginals()
    assert found["log_z"] == pytest.approx(0.0, abs=1e-8)
    labels, best = local.lattice().best()
    assert best == pytest.approx(log_probability(problem, tuple(labels.tolist())), rel=1e-9)


def naive_best(world: World, learner: naive.NaiveLearner, i: int) -> tuple[list[Output], list[float]]:
    """All outputs by falling probability."""
    found = {}
    for y in learner.legal[i]:
        total = 0.0
        for t in range(len(y)):
            several = [(*y[:t], c, *y[t + 1 :]) for c in naive.legal_labels(world, y, t)]
            scores = [learner.score(naive.features_at(world, learner.names[i], z, t)) for z in several]
            here = learner.score(naive.features_at(world, learner.names[i], y, t))
            total += here - float(np.logaddexp.reduce(scores))
        found[y] = total
    ranking = sorted(found, key=lambda y: -found[y])
    return ranking, [found[y] for y in ranking]


@settings(steady, max_examples=60)
@given(worlds(most=4, count=5), st.integers(0, 2**32 - 1))
def test_best_labels_of_a_model(world: World, seed: int) -> None:
    """From weights and features, in training and in a finished model."""
    world.local = True
    world.__post_init__()
    trained = world.untrained()
    w = trained.scatter(np.random.default_rng(seed))
    learner = naive.NaiveLearner(world, w, naive.perceptron, np.ones(5))
    best = trained.batch().best(trained.weights.current, 0, 5).tolist()
    model, space = _core.ChainModel(world.shape, trained.arrays()), _core.ChainSpace()
    assert model.best(world.extractor, world.table(), space).tolist() == best
    first = 0
    for i, gold in enumerate(world.gold):
        ranking, scores = naive_best(world, learner, i)
        found = tuple(best[first : first + len(gold)])
        assert scores[ranking.index(found)] == pytest.approx(scores[0], abs=1e-5)
        lattice = model.lattice(world.extractor, world.table(), i, space)
        assert lattice.best()[1] == pytest.approx(scores[0], abs=1e-5)
        first += len(gold)


@settings(steady, max_examples=60)
@given(worlds(most=4, count=5), st.integers(0, 2**32 - 1), st.floats(0.3, 3.0))
def test_corrections(world: World, seed: int, margin: float) -> None:
    """Step by step as in dictionaries: towards gold, away from the output of the best log-probability."""
    world.local = True
    world.__post_init__()
    trained = world.untrained()
    learner = naive.NaiveLearner(
        world, trained.scatter(np.random.default_rng(seed)), naive.perceptron, np.ones(5)
    )
    order = []
    for i in [i for i in range(5) for _ in range(3)]:
        gold = world.gold[i]
        ranking, scores = naive_best(world, learner, i)
        if gold not in ranking:
            continue
        others = [y for y in ranking if y != gold]
        close = len(scores) > 2 and min(scores[0] - scores[1], scores[1] - scores[2]) < naive.HAIR
        lead = scores[ranking.index(gold)] - scores[ranking.index(others[0])] if others else np.inf
        if close or abs(lead - margin) < naive.HAIR:
            break  # a hair decides
        order.append(i)
        change = learner.minus(i, others[0]) if others else {}
        norm = sum(value * value for value in change.values())
        if lead < margin and norm:
            for f, value in change.items():
                learner.w[f] = learner.w.get(f, 0.0) + (1.01 * margin - lead) / norm * value
    trained.learn(_core.UpdateRule.correction(margin, True), order)
    assert_close(trained.current(), learner.w)
