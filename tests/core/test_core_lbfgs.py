"""The optimiser, against closed forms, optimality conditions and plain gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import steady

from marginalia import _core

Function = Callable[[np.ndarray], tuple[float, np.ndarray]]
seeds = st.integers(0, 2**32 - 1)


def quadratic(seed: int, n: int, spread: float = 2.0) -> tuple[Function, np.ndarray, np.ndarray]:
    """x A x / 2 - b x with eigenvalues from 1 to 10^spread; also A and b."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    a = (q * 10.0 ** rng.uniform(0.0, spread, n)) @ q.T
    b = rng.normal(0.0, 3.0, n)
    return lambda x: (float(x @ a @ x / 2 - b @ x), a @ x - b), a, b


def logistic(seed: int, n: int, examples: int, l2: float) -> Function:
    """Regression on random signs: smooth, convex, and not quadratic."""
    rng = np.random.default_rng(seed)
    signed = rng.normal(size=(examples, n)) * rng.choice([-1.0, 1.0], (examples, 1))

    def function(x: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signed @ x
        value = np.logaddexp(0.0, -margins).sum() + l2 / 2 * x @ x
        return float(value), -signed.T @ ((1 - np.tanh(margins / 2)) / 2) + l2 * x

    return function


def minimised(optimiser: _core.Lbfgs, function: Function, most: int = 1_000) -> list[str]:
    """All answers until it is stuck or as good as done."""
    answers = []
    while len(answers) < most and (not answers or optimiser.gradient_norm > 1e-10):
        answers.append(optimiser.update(*function(optimiser.x)))
        if answers[-1] == "stuck":
            break
    return answers


@settings(steady, max_examples=100)
@given(seed=seeds, n=st.integers(1, 12), memory=st.integers(1, 10))
def test_quadratics(seed: int, n: int, memory: int) -> None:
    function, a, b = quadratic(seed, n)
    optimiser = _core.Lbfgs(np.random.default_rng(seed).normal(size=n), memory, 0.0)
    minimised(optimiser, function)
    np.testing.assert_allclose(optimiser.best, np.linalg.solve(a, b), atol=1e-6)
    assert optimiser.value == pytest.approx(-b @ np.linalg.solve(a, b) / 2, rel=1e-12, abs=1e-12)


@settings(steady, max_examples=40)
@given(seed=seeds, n=st.integers(1, 10), l2=st.sampled_from([0.1, 1.0, 10.0]))
def test_logistic_losses(seed: int, n: int, l2: float) -> None:
    """Newton's method finds the same point."""
    function, x = logistic(seed, n, 30, l2), np.zeros(n)
    optimiser = _core.Lbfgs(np.zeros(n), 6, 0.0)
    minimised(optimiser, function)
    for _ in range(50):
        h = 1e-6
        slopes = [(function(x + h * e)[1] - function(x - h * e)[1]) / (2 * h) for e in np.eye(n)]
        x = x - np.linalg.solve(np.array(slopes) + 1e-9 * np.eye(n), function(x)[1])
    assert np.linalg.norm(function(x)[1]) < 1e-7
    np.testing.assert_allclose(optimiser.best, x, atol=1e-6)
    assert optimiser.gradient_norm < 1e-6


def assert_l1_optimum(function: Function, x: np.ndarray, l1: float, tolerance: float) -> None:
    """0 is among the subgradients: l1 * sign where a weight is not zero, anything up to l1 where it is."""
    gradient = function(x)[1]
    assert np.abs(gradient[x != 0] + l1 * np.sign(x[x != 0])).max(initial=0.0) < tolerance
    assert np.abs(gradient[x == 0]).max(initial=0.0) <= l1 + tolerance


@settings(steady, max_examples=100)
@given(seed=seeds, n=st.integers(1, 12), l1=st.sampled_from([0.01, 0.5, 3.0, 100.0]), smooth=st.booleans())
def test_l1_optima(seed: int, n: int, l1: float, smooth: bool) -> None:
    function = logistic(seed, n, 40, 0.1) if smooth else quadratic(seed, n, 1.0)[0]
    start = np.random.default_rng(seed).normal(size=n)
    optimiser = _core.Lbfgs(start, 6, l1)
    minimised(optimiser, function)
    assert_l1_optimum(function, optimiser.best, l1, 1e-5)
    value = function(optimiser.best)[0] + l1 * np.abs(optimiser.best).sum()
    assert optimiser.value == pytest.approx(value, rel=1e-12)
    if l1 == 100.0 and smooth:
        assert not optimiser.best.any()


@settings(steady, max_examples=30)
@given(seed=seeds, n=st.integers(1, 8))
def test_l1_of_independent_coordinates(seed: int, n: int) -> None:
    """Each is the plain optimum moved towards zero, not across."""
    rng = np.random.default_rng(seed)
    scale, b = rng.uniform(0.5, 5.0, n), rng.normal(0.0, 2.0, n)
    optimiser = _core.Lbfgs(np.zeros(n), 6, 1.0)
    minimised(optimiser, lambda x: (float(scale @ (x * x) / 2 - b @ x), scale * x - b))
    expected = np.sign(b) * np.maximum(0.0, np.abs(b) - 1.0) / scale
    np.testing.assert_allclose(optimiser.best, expected, atol=1e-7)
    assert ((optimiser.best == 0) == (expected == 0)).all()


@settings(steady, max_examples=60)
@given(seed=seeds, l1=st.sampled_from([0.0, 0.5]), n=st.integers(2, 10))
def test_iterations_never_go_up(seed: int, l1: float, n: int) -> None:
    """Values fall from step to step, also from where the function is steep; l1 never crosses zero at once."""
    function = logistic(seed, n, 25, 0.01)
    optimiser = _core.Lbfgs(30 * np.random.default_rng(seed).normal(size=n), 5, l1)
    last, point = np.inf, optimiser.x
    for _ in range(200):
        answer = optimiser.update(*function(optimiser.x))
        if answer == "stuck":
            break
        if answer == "stepped":
            assert optimiser.value <= last
            if l1 and np.isfinite(last):
                assert (optimiser.best * point >= 0).all()
            last, point = optimiser.value, optimiser.best
    assert optimiser.gradient_norm < 1e-4


def resumed(state: dict[str, Any], memory: int, l1: float) -> _core.Lbfgs:
    parts = ("point", "gradient", "value", "length", "trials", "steps", "changes")
    return _core.Lbfgs.resumed(*(state[part] for part in parts), memory, l1)


@settings(steady, max_examples=60)
@given(seed=seeds, l1=st.sampled_from([0.0, 0.5]), stop=st.integers(1, 25), steep=st.booleans())
def test_resumed_runs_go_on_exactly(seed: int, l1: float, stop: int, steep: bool) -> None:
    """Also from within a search along a line."""
    function = logistic(seed, 8, 30, 0.1)
    if steep:  # the first steps are too long, so that there are trials
        plain = function
        function = lambda x: tuple(1e3 * part for part in plain(x))  # noqa: E731
    whole = _core.Lbfgs(np.random.default_rng(seed).normal(size=8), 4, l1)
    for _ in range(stop):
        whole.update(*function(whole.x))
    part = resumed(whole.state(), 4, l1)
    for _ in range(15):
        assert part.x.tobytes() == whole.x.tobytes()
        assert (part.value, part.best.tobytes()) == (whole.value, whole.best.tobytes())
        assert part.gradient_norm == whole.gradient_norm
        value, gradient = function(whole.x)
        if whole.update(value, gradient) == "stuck":
            assert part.update(value, gradient) == "stuck"
            return
        part.update(value, gradient)


def test_trials_happen_and_are_kept() -> None:
    """The states above are not all from between iterations."""
    kept = 0
    for seed in range(30):
        function, *_ = quadratic(seed, 6, 4.0)
        optimiser = _core.Lbfgs(np.zeros(6), 4, 0.0)
        for _ in range(12):
            optimiser.update(*function(optimiser.x))
            kept += optimiser.state()["trials"] > 0
    assert kept > 10


def test_a_smaller_memory_after_resuming() -> None:
    function, *_ = quadratic(3, 8)
    optimiser = _core.Lbfgs(np.zeros(8), 6, 0.0)
    for _ in range(12):
        optimiser.update(*function(optimiser.x))
    assert len(optimiser.state()["steps"]) == 6
    again = resumed(optimiser.state(), 2, 0.0)
    for _ in range(4):
        again.update(*function(again.x))
    assert len(again.state()["steps"]) <= 2


def test_the_minimum_is_where_it_starts() -> None:
    function, *_ = quadratic(1, 5)
    optimiser = _core.Lbfgs(np.zeros(5), 6, 1e6)
    assert optimiser.update(*function(optimiser.x)) == "stuck"  # with such an l1 nothing pays
    assert not optimiser.best.any()
    flat = _core.Lbfgs(np.ones(3), 6, 0.0)
    assert flat.update(2.0, np.zeros(3)) == "stuck"
    assert flat.value == 2.0


def test_values_that_are_not_numbers_shorten_the_step() -> None:
    """A function that ends somewhere: beyond x = 1 there is no value."""

    def barrier(x: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(-np.log(1 - x[0]) - 3 * x[0]), 1 / (1 - x) - 3

    optimiser = _core.Lbfgs(np.array([-5.0]), 6, 0.0)
    minimised(optimiser, barrier)
    assert optimiser.best[0] == pytest.approx(2 / 3, abs=1e-7)


def test_what_does_not_fit_is_refused() -> None:
    for memory, l1 in [(0, 0.0), (6, -1.0), (6, np.nan)]:
        with pytest.raises(ValueError):
            _core.Lbfgs(np.zeros(3), memory, l1)
    with pytest.raises(ValueError):
        _core.Lbfgs(np.zeros(3), 6, 0.0).update(1.0, np.zeros(2))
    x, one = np.zeros(3), [np.zeros(3)]
    with pytest.raises(ValueError):
        _core.Lbfgs.resumed(x, x[1:], 0.0, 1.0, 0, [], [], 6, 0.0)
    with pytest.raises(ValueError):
        _core.Lbfgs.resumed(x, x, 0.0, 1.0, 0, one, [], 6, 0.0)
    with pytest.raises(ValueError):
        _core.Lbfgs.resumed(x, x, 0.0, 1.0, 0, [np.zeros(2)], [np.zeros(2)], 6, 0.0)
    with pytest.raises(ValueError):
        _core.Lbfgs.resumed(x, x, 0.0, 1.0, 0, [], [], 0, 0.0)
