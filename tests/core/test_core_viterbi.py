"""The best output, against all outputs and, for long sentences, against a plain numpy Viterbi."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import Problem, is_legal, outputs, problems, random_problem, score, steady, tie_key

from marginalia import _core


@steady
@given(problems())
def test_best_is_the_best_of_all(problem: Problem) -> None:
    everything = list(outputs(problem))
    labels, best = problem.lattice().best()
    y = tuple(labels.tolist())
    if not everything:
        assert best == -np.inf
        assert all(0 <= label < problem.labels for label in y)
        return
    assert is_legal(problem, y)
    assert best == pytest.approx(max(s for _, s in everything), abs=1e-12)
    assert best == pytest.approx(score(problem, y), abs=1e-12)


@steady
@given(problems(whole=True))
def test_ties_go_to_the_lowest_state_from_the_end(problem: Problem) -> None:
    everything = list(outputs(problem))
    if everything:
        most = max(s for _, s in everything)
        first = min((y for y, s in everything if s == most), key=lambda y: tie_key(problem.order, y))
        assert tuple(problem.lattice().best()[0].tolist()) == first


@steady
@given(problems(), st.data())
def test_score_of_any_output(problem: Problem, data: st.DataObject) -> None:
    y = data.draw(st.tuples(*[st.integers(0, problem.labels - 1)] * problem.length))
    found = problem.lattice().score(np.array(y, np.uint32))
    assert found == (pytest.approx(score(problem, y), abs=1e-12) if is_legal(problem, y) else -np.inf)


@pytest.mark.parametrize("order", [1, 2])
def test_no_tokens_and_no_legal_output(order: int) -> None:
    empty = random_problem(0, 3, 0, order, edges=False, whole=True, masks="all")
    labels, best = empty.lattice().best()
    assert labels.size == 0
    assert best == 0.0
    barred = random_problem(0, 3, 5, order, edges=True, whole=True, masks="all")
    barred.end[:] = 0
    labels, best = barred.lattice().best()
    assert best == -np.inf  # and any labels whatever, in range
    assert labels.max() < 3


def numpy_viterbi(problem: Problem) -> tuple[np.ndarray, float]:
    """All scores kept, one array per token; states of order 2 are pairs [previous][current]."""
    start, end, pairs, triples = problem.masked()
    n = problem.labels
    now = start + problem.node[0]
    back = []
    for t in range(1, problem.length):
        step = pairs + problem.node[t] + (0.0 if problem.edge is None else problem.edge[t])
        if problem.order == 1:
            reached = now[:, None] + step
        elif t == 1:
            now = now[:, None] + step + triples[n]
            continue
        else:
            reached = now[:, :, None] + triples[:n] + step
        back.append(reached.argmax(0))
        now = reached.max(0)
    now = now + end
    y = [int(i) for i in reversed(np.unravel_index(now.argmax(), now.shape))]  # backwards
    for pointers in reversed(back):
        y.append(int(pointers[y[-1]] if problem.order == 1 else pointers[y[-1], y[-2]]))
    return np.array(y[::-1]), float(now.max())


@pytest.mark.parametrize(
    ("order", "labels", "length"),
    [(2, 22, 18_000), (2, 22, 17_332), (2, 22, 17_331), (1, 120, 70_000)],
)
def test_long_sentences(order: int, labels: int, length: int) -> None:
    """More than 2^23 state scores are not all kept: the second half of viterbi.cpp. 17,331 * 484 is the last
    below that, the others are above."""
    problem = random_problem(7, labels, length, order, edges=False, whole=False, masks="some")
    found, best = problem.lattice().best()
    expected, most = numpy_viterbi(problem)
    assert best == pytest.approx(most, rel=1e-10)
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5, 7, 8, 13, 22, 63, 64, 65, 67, 130])
@pytest.mark.parametrize("masks", ["all", "some"])
@pytest.mark.parametrize("edges", [False, True])
def test_any_number_of_labels_with_ties(labels: int, masks: str, edges: bool) -> None:
    """Labels are looked at four and sixty-four at a time; whole-number scores tie often."""
    for order in (1, 2) if labels <= 13 else (1,):
        problem = random_problem(labels, labels, 40, order, edges=edges, whole=True, masks=masks)
        expected, most = numpy_viterbi(problem)
        found, best = problem.lattice().best()
        assert best == most
        if most > -np.inf:
            assert found.tolist() == expected.tolist()


def test_checkpoints_with_edge_scores_and_ties() -> None:
    """Whole-number scores: the checkpointed search must break each tie as the plain one does."""
    labels, length = 30, 9_400  # 900 states * 9,400 > 2^23
    problem = random_problem(3, labels, length, 2, edges=False, whole=True, masks="some")
    edge = np.random.default_rng(4).integers(-1, 2, (length, labels, labels)).astype(float)
    problem = Problem(**{**problem.__dict__, "edge": edge})
    found, best = problem.lattice().best()
    expected, most = numpy_viterbi(problem)
    assert best == most
    assert found.tolist() == expected.tolist()


def test_scores_that_do_not_fit_are_refused() -> None:
    problem = random_problem(0, 3, 4, 1, edges=True, whole=True, masks="all")
    shape, node, edge = problem.shape(), problem.node.ravel(), problem.edge.ravel()
    for bad in [(node[:-1], edge, problem.constants), (node, edge[:-1], problem.constants)]:
        with pytest.raises(ValueError):
            _core.Lattice(shape, *bad)
    with pytest.raises(ValueError):
        _core.Lattice(shape, node, edge, problem.constants[:-1])
    with pytest.raises(TypeError):
        _core.Lattice(shape, node.astype(np.float32), edge, problem.constants)
    lattice = problem.lattice()
    with pytest.raises(ValueError):
        lattice.score(np.zeros(3, np.uint32))
    with pytest.raises(ValueError):
        lattice.score(np.full(4, 3, np.uint32))


@pytest.mark.parametrize(
    "arguments",
    [(0, 1, 0, 0, 0), (2, 3, 2, 4, 2), (2, 0, 2, 4, 2), (2, 1, 1, 4, 2), (2, 1, 2, 3, 2), (2, 1, 2, 4, 3)],
)
def test_shapes_that_do_not_fit_are_refused(arguments: tuple[int, ...]) -> None:
    labels, order, *sizes = arguments
    with pytest.raises(ValueError):
        _core.ChainShape(labels, order, True, *[np.ones(size, np.uint8) for size in sizes], True)
