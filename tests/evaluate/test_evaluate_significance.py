"""Intervals and tests against hand values, full enumeration and plain resampling."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia.errors import DataError, SettingsError
from marginalia.evaluate import (
    approximate_randomisation,
    bootstrap_interval,
    compare,
    evaluate,
    mcnemar,
    sampling,
    sentence_counts,
)

GOLD = [["B-A", "I-A", "O"], ["B-B", "O", "O"], ["O", "B-A", "B-B"], ["B-A", "O", "O"], ["O", "O", "B-B"]]
WORSE = [["B-A", "O", "O"], ["B-A", "O", "O"], ["O", "B-A", "O"], ["B-A", "O", "B-A"], ["O", "O", "B-B"]]
BETTER = [["B-A", "I-A", "O"], ["B-B", "O", "O"], ["O", "B-A", "B-B"], ["O", "O", "O"], ["O", "O", "B-B"]]


def right_and_wrong(both: int, only_a: int, only_b: int, neither: int) -> tuple[list[list[str]], ...]:
    """One sentence of gold, a and b with these numbers of tokens that both, one or none get right."""
    a = ["x"] * (both + only_a) + ["y"] * (only_b + neither)
    b = ["x"] * both + ["y"] * only_a + ["x"] * only_b + ["y"] * neither
    return [["x"] * len(a)], [a], [b]


def test_mcnemar_exact_for_few_tokens() -> None:
    test = mcnemar(*right_and_wrong(10, 1, 5, 2))
    assert test[:4] == (10, 1, 5, 2)
    # P(at most 1 of 6) twice: 2 * (1 + 6) / 64
    assert (test.p_value, test.exact) == (14 / 64, True)
    assert test.statistic == pytest.approx(9 / 6)


def test_mcnemar_chi_square_for_many() -> None:
    test = mcnemar(*right_and_wrong(0, 10, 30, 0))
    assert test.statistic == pytest.approx((20 - 1) ** 2 / 40)
    # chi-square with one degree of freedom at 9.025
    assert (test.p_value, test.exact) == (pytest.approx(0.002663, abs=1e-6), False)


@pytest.mark.parametrize(
    ("only_a", "only_b", "p_value"), [(0, 0, 1.0), (3, 3, 1.0), (20, 20, 1.0), (0, 4, 0.125)]
)
def test_mcnemar_at_the_edges(only_a: int, only_b: int, p_value: float) -> None:
    assert mcnemar(*right_and_wrong(1, only_a, only_b, 0)).p_value == p_value


@settings(deadline=None)
@given(st.integers(0, 24), st.integers(0, 24))
def test_mcnemar_exact_is_the_sum_over_splits(only_a: int, only_b: int) -> None:
    test = mcnemar(*right_and_wrong(0, only_a, only_b, 0))
    if test.exact:
        total, chances = only_a + only_b, [1.0]
        for _ in range(total):
            chances = [(x + y) / 2 for x, y in zip([0, *chances], [*chances, 0], strict=True)]
        uneven = [p for k, p in enumerate(chances) if abs(2 * k - total) >= abs(only_a - only_b)]
        assert test.p_value == pytest.approx(min(1.0, sum(uneven)))


def all_swaps(a: np.ndarray, b: np.ndarray) -> float:
    """The exact share of all 2^S swaps of sentences that move F1 at least as far apart as it is."""

    def gap(swap: tuple[bool, ...]) -> float:
        pick = np.array(swap)[:, None]
        sums = np.where(pick, b, a).sum(axis=0), np.where(pick, a, b).sum(axis=0)
        first, second = (2 * c / max(g + p, 1) for g, p, c in sums)
        return abs(float(first - second))

    gaps = [gap(swap) for swap in product([False, True], repeat=len(a))]
    return sum(value >= gaps[0] - 1e-12 for value in gaps) / len(gaps)


def test_randomisation_comes_near_to_all_swaps() -> None:
    exact = all_swaps(sentence_counts(GOLD, WORSE), sentence_counts(GOLD, BETTER))
    found = approximate_randomisation(GOLD, WORSE, BETTER, rounds=20000)
    assert 0 < exact < 1
    assert found.p_value == pytest.approx(exact, abs=0.015)
    assert found.difference == pytest.approx(evaluate(GOLD, BETTER).f1 - evaluate(GOLD, WORSE).f1)
    assert found.p_value == (found.as_extreme + 1) / 20001


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(["O", "B-A", "I-A"])] * 6), min_size=1, max_size=6))
def test_randomisation_on_any_sentences(text: list[tuple[str, ...]]) -> None:
    gold, a, b = ([list(part[i : i + 2]) for part in text] for i in (0, 2, 4))
    exact = all_swaps(sentence_counts(gold, a), sentence_counts(gold, b))
    assert approximate_randomisation(gold, a, b, rounds=4000).p_value == pytest.approx(exact, abs=0.05)


def test_randomisation_of_equals_finds_nothing() -> None:
    assert approximate_randomisation(GOLD, WORSE, WORSE, rounds=99).p_value == 1
    assert approximate_randomisation([], [], [], rounds=9).p_value == 1


def test_the_same_seed_gives_the_same_numbers() -> None:
    one, two = (approximate_randomisation(GOLD, WORSE, BETTER, 500, seed) for seed in (1, 1))
    assert one == two
    counts = sentence_counts(GOLD * 20, WORSE * 20)
    assert bootstrap_interval(counts, seed=3) == bootstrap_interval(counts, seed=3)
    assert bootstrap_interval(counts, seed=3) != bootstrap_interval(counts, seed=4)


def test_rounds_in_chunks_are_bounded_and_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "_CELLS", 7)
    found = approximate_randomisation(GOLD, WORSE, WORSE, rounds=100)
    assert found.as_extreme == 100
    low, high = bootstrap_interval(sentence_counts(GOLD, WORSE), rounds=50)
    assert 0 <= low < high <= 100


def test_bootstrap_agrees_with_drawing_sentences() -> None:
    counts = sentence_counts(GOLD * 30, WORSE * 30)
    rng = np.random.default_rng(7)
    drawn = [counts[rng.integers(0, len(counts), len(counts))].sum(axis=0) for _ in range(4000)]
    naive = np.quantile([200 * c / (g + p) for g, p, c in drawn], [0.05, 0.95])
    assert bootstrap_interval(counts, rounds=4000, level=0.9) == pytest.approx(tuple(naive), abs=0.7)
    low, high = evaluate(GOLD * 30, WORSE * 30, bootstrap=200).interval or (0, 0)
    assert low < evaluate(GOLD, WORSE).f1 < high


def test_bootstrap_of_a_perfect_and_of_an_empty_labelling() -> None:
    assert evaluate(GOLD, GOLD, bootstrap=20).interval == (100, 100)
    assert bootstrap_interval(np.zeros((0, 3), np.int64)) == (0, 0)
    tags = evaluate([["NN", "VB"]] * 9, [["NN", "NN"]] * 9, bootstrap=20)
    assert tags.interval == (50, 50)


def test_compare() -> None:
    found = compare(GOLD, WORSE, BETTER, rounds=200)
    assert (found.a, found.b) == (evaluate(GOLD, WORSE), evaluate(GOLD, BETTER))
    assert found.mcnemar == mcnemar(GOLD, WORSE, BETTER)
    assert found.randomisation == approximate_randomisation(GOLD, WORSE, BETTER, rounds=200)
    assert found.difference == found.b.f1 - found.a.f1 > 0
    plain = found.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    text = found.to_text()
    assert f"f1{found.a.f1:24.2f}{found.b.f1:8.2f}{found.difference:+8.2f}\n" in text
    assert "McNemar, tokens (exact): p =" in text
    assert "randomisation, F1 (200 rounds): p =" in text


def test_compare_strictly_and_on_tags() -> None:
    assert compare(GOLD, WORSE, BETTER, mode="strict", rounds=9).a.scheme == "IOB2"
    assert compare(*right_and_wrong(5, 30, 2, 1), rounds=9).b.mode == "tags"


def test_errors() -> None:
    with pytest.raises(DataError, match="sentence 1: 1 tokens in gold but 2 in b"):
        mcnemar([["O"]], [["O"]], [["O", "O"]])
    with pytest.raises(SettingsError, match="rounds: found 0"):
        approximate_randomisation(GOLD, WORSE, BETTER, rounds=0)
    with pytest.raises(SettingsError, match="bootstrap rounds: found -1"):
        evaluate(GOLD, WORSE, bootstrap=-1)
    with pytest.raises(SettingsError, match="level: 1"):
        bootstrap_interval(sentence_counts(GOLD, WORSE), level=1.0)
