"""The k best at once and search by beam, against sorted lists of all outputs and a plain beam."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner, margin_perceptron
from oracles import Output, Problem, choices, is_legal, outputs, problems, score, score_at, steady
from worlds import World, assert_close, worlds

from marginalia import _core

Found = list[tuple[Output, float]]


def best_k(problem: Problem, k: int) -> Found:
    return [(tuple(labels.tolist()), s) for labels, s in problem.lattice().best_k(k)]


def assert_k_best(problem: Problem, found: Found, k: int) -> None:
    """Different legal outputs with their scores, and no better ones left out. Which of equal ones is open."""
    everything = sorted((s for _, s in outputs(problem)), reverse=True)
    assert len({y for y, _ in found}) == len(found) == min(k, len(everything))
    assert all(is_legal(problem, y) for y, _ in found)
    assert [s for _, s in found] == pytest.approx(everything[:k], abs=1e-11)
    assert [s for _, s in found] == pytest.approx([score(problem, y) for y, _ in found], abs=1e-11)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 10])
@settings(steady, max_examples=150)
@given(problem=problems(least=0, most=5))
def test_k_best_at_once(k: int, problem: Problem) -> None:
    assert_k_best(problem, best_k(problem, k), k)


@steady
@given(problems())
def test_the_first_of_two_is_the_best(problem: Problem) -> None:
    """Ties and all: a margin learner sees the same output as a perceptron."""
    found = best_k(problem, 2)
    if found:
        assert found[0][0] == tuple(problem.lattice().best()[0].tolist())
    assert [s for _, s in found] == pytest.approx(sorted([s for _, s in found], reverse=True), abs=1e-11)


@pytest.mark.parametrize("order", [1, 2])
def test_two_best_of_a_long_sentence(order: int) -> None:
    rng = np.random.default_rng(order)
    length, labels = 3_000, 5
    problem = Problem(
        order,
        np.ones(labels, np.uint8),
        (rng.random((labels, labels)) < 0.8).astype(np.uint8),
        np.ones(labels, np.uint8),
        rng.normal(0.0, 1.0, (length, labels)),
        None,
        rng.normal(0.0, 1.0, 2 * labels + labels**2 + (labels + 1) * labels**2 * (order == 2)),
    )
    expected = itertools.islice(problem.lattice().k_best(), 2)
    found = problem.lattice().best_k(2)
    assert [y.tolist() for y, _ in found] == [y.tolist() for y, _ in expected]


def plain_beam(problem: Problem, width: int) -> Found:
    """What is kept from left to right, best first; among equals, what came first."""
    kept: Found = [((), 0.0)]
    for t in range(problem.length):
        longer = []
        for y, s in kept:
            for c in choices(problem, (*y, 0), t):
                longer.append(((*y, c), s + score_at(problem, (*y, c), t)))
        kept = sorted(longer, key=lambda pair: -pair[1])[:width]  # a stable sort
    return kept


@settings(steady, max_examples=300)
@given(problems(least=0, most=5), st.integers(1, 6))
def test_a_narrow_beam(problem: Problem, width: int) -> None:
    expected = plain_beam(problem, width)
    searched = replace(problem, beam=width)
    lattice = searched.lattice()
    for found in (list(lattice.k_best()), lattice.best_k(width), lattice.best_k(1_000)):
        assert [tuple(y.tolist()) for y, _ in found] == [y for y, _ in expected]
        assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-11)
    assert len(lattice.best_k(2)) == min(2, len(expected))
    labels, best = lattice.best()
    if expected:
        assert (tuple(labels.tolist()), best) == (expected[0][0], pytest.approx(expected[0][1], abs=1e-11))
    else:  # a beam that ran into a wall: the exact search answers
        exact, most = problem.lattice().best()
        assert (labels.tolist(), best) == (exact.tolist(), most)


@settings(steady, max_examples=150)
@given(problems(least=0, most=5))
def test_a_beam_wider_than_all_outputs_is_exact(problem: Problem) -> None:
    searched = replace(problem, beam=problem.labels**problem.length)
    assert_k_best(problem, best_k(searched, 10**6), 10**6)
    exact, found = problem.lattice().best(), searched.lattice().best()
    assert found[1] == pytest.approx(exact[1], abs=1e-11)


@settings(steady, max_examples=60)
@given(problems(least=0, most=5), st.integers(1, 6))
def test_a_beam_over_choices(problem: Problem, width: int) -> None:
    """Local probabilities of each label, searched by beam: how maximum entropy taggers search."""
    searched = replace(problem, beam=width, local=True)
    exact = replace(problem, local=True).lattice()
    for y, s in searched.lattice().best_k(width):
        assert s == pytest.approx(exact.score(y), abs=1e-10)
    wide = replace(searched, beam=problem.labels**problem.length)
    found = [s for _, s in wide.lattice().best_k(5)]
    assert found == pytest.approx([s for _, s in exact.best_k(5)], abs=1e-10)


@settings(steady, max_examples=40)
@given(worlds(most=3, count=4), st.integers(0, 2**32 - 1))
def test_learning_with_a_wide_beam(world: World, seed: int) -> None:
    """A beam that keeps everything learns what exact search learns."""
    world.beam = 10**6
    world.__post_init__()
    rng = np.random.default_rng(seed)
    trained = world.untrained()
    start = trained.scatter(rng)
    learner = NaiveLearner(world, start, margin_perceptron(1.0), np.ones(4))
    order = learner.learn_until_tie([*range(4)] * 3)
    trained.learn(_core.UpdateRule.margin(1.0), order)
    assert_close(trained.current(), learner.w)
    scores = NaiveLearner(world, trained.current(), margin_perceptron(1.0), np.ones(4))
    best = trained.batch().best(trained.weights.current, 0, 4).tolist()
    first = 0
    for i, gold in enumerate(world.gold):
        found = tuple(best[first : first + len(gold)])
        first += len(gold)
        most = max(scores.score(phi) for phi in scores.legal[i].values())
        assert scores.score(scores.legal[i][found]) == pytest.approx(most, abs=1e-4)
