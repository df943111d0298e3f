"""Probabilities, against sums over all outputs, numpy in log space, and finite differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import Problem, constant_count, outputs, problems, random_problem, steady

METHODS = ["auto", "log", "scaled"]


def enumerated(problem: Problem) -> dict[str, Any]:
    """Log Z and expected counts, by enumeration."""
    n, everything = problem.labels, list(outputs(problem))
    scores = np.array([s for _, s in everything])
    log_z = scores.max() + np.log(np.exp(scores - scores.max()).sum())
    found = {
        "log_z": log_z,
        "node": np.zeros((problem.length, n)),
        "edge": np.zeros((problem.length, n, n)),
        "transition": np.zeros((n, n)),
        "trigram": np.zeros((n + 1, n, n)),
    }
    for (y, _), p in zip(everything, np.exp(scores - log_z), strict=True):
        for t, label in enumerate(y):
            found["node"][t, label] += p
            if t > 0:
                found["edge"][t, y[t - 1], label] += p
                found["transition"][y[t - 1], label] += p
                found["trigram"][n if t == 1 else y[t - 2], y[t - 1], label] += p
    if problem.order == 1:
        del found["trigram"]
    return found


def assert_same(found: dict[str, Any], expected: dict[str, Any], tolerance: float) -> None:
    assert found.keys() == expected.keys()
    assert found["log_z"] == pytest.approx(expected["log_z"], rel=1e-12, abs=tolerance)
    for name in expected.keys() - {"log_z"}:
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance, err_msg=name)


def marginals(problem: Problem, method: str) -> dict[str, Any] | None:
    """None where scaling gives up, as it may."""
    try:
        return problem.lattice().marginals(True, method)
    except ValueError:
        if method != "scaled":
            raise
        return None


@pytest.mark.parametrize("method", METHODS)
@steady
@given(problem=problems())
def test_against_enumeration(method: str, problem: Problem) -> None:
    if not any(True for _ in outputs(problem)):
        with pytest.raises(ValueError):
            problem.lattice().marginals(True, method)
        return
    found = marginals(problem, method)
    assert found is not None  # nothing here is near underflow
    assert_same(found, enumerated(problem), 1e-11)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [30.0, 150.0, 300.0, 1e4])
@settings(steady, max_examples=150)
@given(data=st.data())
def test_extreme_scores(method: str, scale: float, data: st.DataObject) -> None:
    problem = data.draw(problems(scale=scale))
    if any(True for _ in outputs(problem)):
        found = marginals(problem, method)
        if found is not None:
            assert_same(found, enumerated(problem), 1e-13 * scale * 100)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("method", METHODS)
@settings(steady, max_examples=400)
@given(seed=st.integers(0, 2**32 - 1), labels=st.integers(2, 4), length=st.integers(2, 6))
def test_scores_of_mixed_sizes(order: int, method: str, seed: int, labels: int, length: int) -> None:
    """Each score has a size of its own, so that forward probabilities fall to the last bits of a double and
    later tokens raise them again."""
    problem = random_problem(seed, labels, length, order, edges=True, whole=False, masks="some")
    rng = np.random.default_rng(seed)
    assert problem.edge is not None
    for array in [problem.node, problem.edge, problem.constants]:
        array *= rng.choice([0.0, 1.0, 100.0, 300.0, 700.0], array.shape) / 2
    if any(True for _ in outputs(problem)):
        found = marginals(problem, method)
        if found is not None:
            assert_same(found, enumerated(problem), 1e-9)


def late_evidence(gap: float, order: int) -> Problem:
    """Label 1 loses by `gap` at the first token and wins by twice that at the last; labels never change."""
    return Problem(
        order=order,
        start=np.ones(2, np.uint8),
        transition=np.eye(2, dtype=np.uint8),
        end=np.ones(2, np.uint8),
        node=np.array([[0.0, -gap], [0.0, 0.0], [0.0, 2 * gap]]),
        edge=None,
        constants=np.zeros(constant_count(2, order)),
    )


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("gap", [10.0, 640.0, 700.0, 740.0, 745.0, 800.0, 1e4])
def test_underflow_that_later_evidence_undoes(order: int, gap: float) -> None:
    found = late_evidence(gap, order).lattice().marginals(True)
    assert found["log_z"] == pytest.approx(np.logaddexp(0.0, gap))
    np.testing.assert_allclose(found["node"][:, 1], 1.0, atol=1e-4 if gap == 10 else 1e-12)


def test_a_small_scale_hides_no_small_state() -> None:
    """All labels come out of the second token with products below 1e-277, some with few digits left; later
    only their ratio counts."""
    problem = Problem(
        order=1,
        start=np.array([1, 0, 0], np.uint8),
        transition=np.ones((3, 3), np.uint8),
        end=np.ones(3, np.uint8),
        node=np.array([[0.0, 0, 0], [-640.0, 0, 0], [0.0, 100.0, 100.0]]),
        edge=np.zeros((3, 3, 3)),
        constants=np.zeros(15),
    )
    assert problem.edge is not None
    problem.edge[1] = [[0.0, -741.0, -743.3], [0, 0, 0], [0, 0, 0]]
    problem.edge[2] = [[-1e4, -1e4, -1e4], [0, 0, 0], [0, 0, 0]]
    assert_same(problem.lattice().marginals(True), enumerated(problem), 1e-9)


@pytest.mark.parametrize("gap", [100.0, 640.0, 720.0, 1e4])
def test_underflow_of_triples_that_later_evidence_undoes(gap: float) -> None:
    """At the third token the triple 0 1 1 loses by `gap`, and its only rival 1 1 1 lost as much before; what
    follows needs one of the two."""
    problem = random_problem(4, 2, 5, 2, edges=False, whole=False, masks="all")
    _, _, _, triples = problem.parts()
    triples[0, 1, 1] -= gap
    problem.node[0, 1] -= gap
    problem.node[1, 0] -= 3 * gap
    problem.node[3] = [-3 * gap, 0.0]
    problem.node[2] = [-3 * gap, 0.0]
    assert_same(problem.lattice().marginals(True), enumerated(problem), 1e-8)


def test_exponentials_are_exact_to_a_few_bits() -> None:
    """The probabilities of one token's labels are exponentials of their scores, as exact as a double holds
    them; below exp(-644) the scaled way gives up."""
    for x in np.linspace(-643.0, 0.0, 3_000):
        scores = np.array([[x, 0.0, x / 7]])
        one = Problem(1, *(np.ones(s, np.uint8) for s in (3, (3, 3), 3)), scores, None, np.zeros(15))
        found = one.lattice().marginals(False, "scaled")
        exact = np.array([math.exp(v) for v in scores[0]])
        np.testing.assert_allclose(found["node"][0], exact / math.fsum(exact), rtol=5 * 2.0**-52, atol=0)
        assert found["log_z"] == pytest.approx(math.log(math.fsum(exact)), rel=1e-14, abs=1e-15)


@pytest.mark.parametrize("length", [20, 2_000])
@pytest.mark.parametrize("order", [1, 2])
def test_an_unreachable_label_with_high_scores(length: int, order: int) -> None:
    """An I-X without B-X: no way in, however much the words ask for it."""
    legal = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 1]], np.uint8)
    problem = random_problem(2, 3, length, order, edges=False, whole=False, masks="all")
    problem = Problem(**{**problem.__dict__, "transition": legal, "start": np.array([1, 1, 0], np.uint8)})
    problem.node[:, 2] += 60.0
    found = problem.lattice().marginals(True)
    assert found["log_z"] == pytest.approx(numpy_log_z(problem))
    np.testing.assert_allclose(found["node"].sum(1), 1.0, atol=1e-9)
    assert not found["node"][:, 2].any()
    assert_same(found, problem.lattice().marginals(True, "log"), 1e-8)


def numpy_log_z(problem: Problem) -> float:
    start, end, pairs, triples = problem.masked()
    with np.errstate(divide="ignore"):
        now = start + problem.node[0]
        for t in range(1, problem.length):
            step = pairs + problem.node[t] + (0.0 if problem.edge is None else problem.edge[t])
            if problem.order == 2 and t == 1:
                now = now[:, None] + step + triples[problem.labels]
                continue
            reached = now[:, None] + step if problem.order == 1 else now[:, :, None] + triples[:-1] + step
            now = np.logaddexp.reduce(reached, 0)
    return float(np.logaddexp.reduce((now + end).ravel()))


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_a_hundred_thousand_tokens(scale: float) -> None:
    problem = random_problem(17, 5, 100_000, 1, edges=False, whole=False, masks="some", scale=scale)
    auto = problem.lattice().marginals()
    in_logs = problem.lattice().marginals(False, "log")
    assert auto["log_z"] == pytest.approx(numpy_log_z(problem), rel=1e-11)
    assert_same(auto, in_logs, 1e-7)
    np.testing.assert_allclose(auto["node"].sum(1), 1.0, atol=1e-11)
    np.testing.assert_allclose(auto["node"], in_logs["node"], atol=1e-11)


def test_twenty_thousand_tokens_of_order_two() -> None:
    problem = random_problem(19, 4, 20_000, 2, edges=False, whole=False, masks="some")
    found = problem.lattice().marginals()
    assert found["log_z"] == pytest.approx(numpy_log_z(problem), rel=1e-11)
    assert_same(found, problem.lattice().marginals(False, "log"), 1e-7)
    assert found["trigram"].sum() == pytest.approx(problem.length - 1)
    np.testing.assert_allclose(found["trigram"].sum(0), found["transition"], atol=1e-7)


@settings(steady, max_examples=40)
@given(problem=problems(whole=False))
def test_log_z_rises_by_the_marginals(problem: Problem) -> None:
    """The derivative of log Z by a score is the expected count of what has that score."""
    if not any(True for _ in outputs(problem)):
        return
    found, h = problem.lattice().marginals(True), 1e-5
    n = problem.labels
    ends = [found["node"][0], found["node"][-1]]
    expected = np.concatenate([*ends, found["transition"].ravel(), found.get("trigram", np.zeros(0)).ravel()])
    for i in range(len(expected)):
        change = np.zeros(len(expected))
        change[i] = h
        up, down = (problem.with_constants(problem.constants + d).lattice() for d in (change, -change))
        slope = (up.marginals()["log_z"] - down.marginals()["log_z"]) / (2 * h)
        assert slope == pytest.approx(expected[i], abs=1e-7)
    for i in range(problem.length * n):
        change = np.zeros(problem.length * n)
        change[i] = h
        d = change.reshape(-1, n)
        up, down = (problem.with_node(problem.node + s * d).lattice() for s in (1, -1))
        slope = (up.marginals()["log_z"] - down.marginals()["log_z"]) / (2 * h)
        assert slope == pytest.approx(found["node"].ravel()[i], abs=1e-7)


def test_no_tokens() -> None:
    for order in [1, 2]:
        problem = random_problem(0, 3, 0, order, edges=False, whole=True, masks="all")
        found = problem.lattice().marginals(True)
        assert found["log_z"] == 0.0
        assert found["node"].shape == (0, 3)
