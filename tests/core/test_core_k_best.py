"""The k best outputs, against the sorted list of all outputs."""

from __future__ import annotations

import itertools
import resource
import time

import numpy as np
import pytest
from hypothesis import given
from oracles import Problem, is_legal, outputs, problems, random_problem, score, steady


@steady
@given(problems(least=0))
def test_all_outputs_in_order(problem: Problem) -> None:
    expected = sorted(outputs(problem), key=lambda pair: -pair[1])
    found = [(tuple(labels.tolist()), s) for labels, s in problem.lattice().k_best()]
    assert {y for y, _ in found} == {y for y, _ in expected}
    assert len(found) == len(expected)
    assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-11)
    assert [s for _, s in found] == pytest.approx([score(problem, y) for y, _ in found], abs=1e-11)


@steady
@given(problems(whole=True, least=0))
def test_whole_scores_fall_strictly_in_order(problem: Problem) -> None:
    """Without rounding the order is exact, and the first is Viterbi's, ties and all."""
    lattice = problem.lattice()
    found = list(lattice.k_best())
    scores = [s for _, s in found]
    assert scores == sorted(scores, reverse=True)
    if found:
        labels, best = lattice.best()
        assert found[0][0].tolist() == labels.tolist()
        assert found[0][1] == best


@steady
@given(problems())
def test_first_is_viterbi_and_the_end_is_final(problem: Problem) -> None:
    lattice = problem.lattice()
    search = lattice.k_best()
    found = list(search)
    assert list(search) == []
    if found:
        assert found[0][0].tolist() == lattice.best()[0].tolist()
    else:
        assert lattice.best()[1] == -np.inf


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("length", [0, 1])
def test_shortest_sentences(order: int, length: int) -> None:
    problem = random_problem(5, 4, length, order, edges=True, whole=False, masks="all")
    found = [tuple(labels.tolist()) for labels, _ in problem.lattice().k_best()]
    assert len(found) == 4**length
    if length:
        start, end, *_ = problem.parts()
        assert found == [(int(c),) for c in np.argsort(-(start + end + problem.node[0]))]


def test_far_down_a_middling_list() -> None:
    """All 4^7 outputs, with scores of very different sizes."""
    problem = random_problem(11, 4, 7, 2, edges=True, whole=False, masks="some", scale=50.0)
    expected = sorted((s for _, s in outputs(problem)), reverse=True)
    found = [s for _, s in problem.lattice().k_best()]
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("order", "whole", "size"), [(1, False, 10_000), (1, True, 3_000), (2, False, 3_000)]
)
def test_many_outputs_of_long_sentences(order: int, whole: bool, size: int) -> None:
    problem = random_problem(13, 10 if order == 1 else 4, size, order, edges=False, whole=whole, masks="some")
    lattice = problem.lattice()
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    seen, scores = set(), []
    for labels, s in itertools.islice(lattice.k_best(), size):
        seen.add(hash(labels.tobytes()))
        scores.append(s)
    assert len(seen) == size
    assert np.all(np.diff(scores) <= 1e-8)
    assert scores[0] == pytest.approx(lattice.best()[1], rel=1e-12)
    assert is_legal(problem, tuple(labels.tolist()))
    assert time.process_time() - began < 60  # takes five seconds; a sanitizer build ten times that
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB


def test_a_search_outlives_its_lattice() -> None:
    problem = random_problem(1, 3, 4, 1, edges=False, whole=False, masks="all")
    search = problem.lattice().k_best()
    assert len(list(search)) == 3**4
