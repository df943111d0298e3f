"""Search over segments against enumeration: best, k best, probabilities, ties, extremes, long sentences."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import steady
from segment_oracles import NO_LABEL, Problem, Types, problems, random_problem, tie_key

from marginalia import _core


@settings(steady, max_examples=300)
@given(problems())
def test_best_is_the_best_of_all(p: Problem) -> None:
    labels, score = p.lattice().best()
    outputs = p.outputs()
    assert score == pytest.approx(max(outputs.values()), abs=1e-9)
    assert outputs[tuple(labels.tolist())] == pytest.approx(score, abs=1e-9)


@settings(steady, max_examples=300)
@given(problems(whole=True))
def test_ties(p: Problem) -> None:
    """Whole numbers tie often, and sum up exactly."""
    best = min(p.types.segmentations(p.length), key=lambda y: (-p.score(y), tie_key(y)))
    assert tuple(p.lattice().best()[0].tolist()) == p.types.labels_of(best)
    assert next(p.lattice().k_best())[0].tolist() == list(p.types.labels_of(best))


@settings(steady, max_examples=150)
@given(st.booleans().flatmap(lambda whole: problems(whole=whole, most=5)), st.integers(0, 12))
def test_k_best_gives_all_outputs_in_order(p: Problem, k: int) -> None:
    outputs = p.outputs()
    found = [(tuple(labels.tolist()), score) for labels, score in p.lattice().k_best()]
    assert len(found) == len({labels for labels, _ in found})
    assert {labels for labels, _ in found} == outputs.keys()
    scores = [score for _, score in found]
    assert scores == pytest.approx(sorted(outputs.values(), reverse=True), abs=1e-9)
    assert scores == pytest.approx([outputs[labels] for labels, _ in found], abs=1e-9)
    first = [(tuple(labels.tolist()), score) for labels, score in p.lattice().k_best(k)]
    assert [score for _, score in first] == pytest.approx(scores[:k], abs=1e-9)
    assert [outputs[labels] for labels, _ in first] == pytest.approx(scores[:k], abs=1e-9)
    assert len({labels for labels, _ in first}) == len(first)


@settings(steady, max_examples=150)
@given(problems())
def test_scores_of_given_outputs(p: Problem) -> None:
    """Whatever spells no segments of the longest length is not legal."""
    outputs, n = p.outputs(), len(p.types.inside)
    lattice = p.lattice()
    for y in [*outputs, *np.random.default_rng(1).integers(0, n + 1, (20, p.length)).tolist()]:
        expected = outputs.get(tuple(y), -math.inf)
        assert lattice.score(np.array(y, np.uint32)) == pytest.approx(expected, abs=1e-9)
    with pytest.raises(ValueError):
        lattice.score(np.zeros(p.length + 1, np.uint32))


def enumerated(p: Problem) -> dict[str, np.ndarray]:
    """The probabilities that `marginals` gives, and log Z."""
    types, n = p.types, len(p.types.begins)
    ways = list(types.segmentations(p.length))
    scores = np.array([p.score(y) for y in ways])
    log_z = float(scores.max() + np.log(np.exp(scores - scores.max()).sum()))
    found = {
        "log_z": np.array(log_z),
        "node": np.zeros((p.length, len(types.inside))),
        "segment": np.zeros(p.scores.shape),
        "start": np.zeros(n),
        "end": np.zeros(n),
        "transition": np.zeros((n, n)),
    }
    for y, probability in zip(ways, np.exp(scores - log_z), strict=True):
        for t, label in enumerate(types.labels_of(y)):
            found["node"][t, label] += probability
        for number, (b, e, s) in enumerate(y):
            found["segment"][b, e - b, s] += probability
            found["start"][s] += probability * (number == 0)
            found["end"][s] += probability * (number == len(y) - 1)
            if number and types.transitions:
                found["transition"][y[number - 1][2], s] += probability
    return found


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5])
@settings(steady, max_examples=150)
@given(data=st.data())
def test_probabilities(scale: float, data: st.DataObject) -> None:
    p = data.draw(problems(scale=scale))
    found, expected = p.lattice().marginals(), enumerated(p)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-9, atol=1e-9 * scale, err_msg=name)


@pytest.mark.parametrize("scale", [1e3, 1e5])
@settings(steady, max_examples=60)
@given(data=st.data())
def test_extreme_scores(scale: float, data: st.DataObject) -> None:
    p = data.draw(problems(scale=scale))
    outputs = p.outputs()
    labels, score = p.lattice().best()
    assert score == pytest.approx(max(outputs.values()), abs=1e-12 * scale)
    assert score == pytest.approx(outputs[tuple(labels.tolist())], abs=1e-12 * scale)
    scores = [score for _, score in p.lattice().k_best()]
    assert scores == pytest.approx(sorted(outputs.values(), reverse=True), abs=1e-12 * scale)


def test_a_type_that_only_the_future_likes() -> None:
    """A way that is hopeless at first may be the only one in the end: no sum may forget it."""
    types = Types((NO_LABEL, NO_LABEL), 1)
    constants = np.zeros(types.shape().constants)
    constants[2 * 2 + 1 * 2 + 1] = 4000.0  # the second type likes itself
    p = Problem(types, np.array([[[0.0, -2000.0]], [[0.0, 0.0]]]), constants)
    assert p.lattice().marginals()["log_z"] == pytest.approx(2000.0)
    assert p.lattice().marginals()["node"].tolist() == [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("transitions", [False, True])
def test_when_all_is_zero_it_ends_quickly(transitions: bool) -> None:
    """All outputs tie: depth first, or the search would hold them all."""
    types = Types((1, 1, NO_LABEL, 4, 4), 4, transitions)
    p = Problem(types, np.zeros((400, 4, 3)), np.zeros(types.shape().constants))
    assert p.lattice().best()[0].tolist() == [0] * 400
    found = [tuple(labels.tolist()) for labels, _ in islice(p.lattice().k_best(), 50)]
    assert len(set(found)) == 50
    assert len(list(p.lattice().k_best(50))) == 50


@pytest.mark.parametrize("transitions", [False, True])
def test_long_sentences(transitions: bool) -> None:
    """3,000 tokens: the best of k is the best, k given or not, and probabilities sum to one."""
    p = random_problem(5, 3000, 3, 4, transitions=transitions, whole=False)
    lattice = p.lattice()
    best, score = lattice.best()
    free, bound = list(islice(lattice.k_best(), 5)), list(lattice.k_best(5))
    for found in (free, bound):
        assert found[0][0].tolist() == best.tolist()
        assert found[0][1] == pytest.approx(score, rel=1e-12)
        assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
        assert [lattice.score(y) for y, _ in found] == pytest.approx([s for _, s in found], rel=1e-12)
    assert [s for _, s in free] == pytest.approx([s for _, s in bound], rel=1e-12)
    marginals = lattice.marginals()
    assert marginals["log_z"] >= score
    np.testing.assert_allclose(marginals["node"].sum(axis=1), 1.0, atol=1e-8)
    lengths = np.arange(1, 5)[:, None]
    assert (marginals["segment"] * lengths).sum() == pytest.approx(3000, rel=1e-8)


def test_shapes_and_scores_that_do_not_fit() -> None:
    for inside, most in [
        ([], 3),
        ([1, 1], 0),
        ([1, 1], 1001),
        ([2, 1], 3),
        ([1, 0], 3),
        ([1, 1, 1], 3),
        ([0], 3),
        ([1], 3),
    ]:
        with pytest.raises(ValueError):
            _core.SegmentShape(np.array(inside, np.uint32), most, True, True)
    shape = _core.SegmentShape(np.array([1, 1], np.uint32), 3, True, True)
    assert (shape.labels, shape.most, shape.types, shape.constants) == (2, 3, 1, 8)
    for scores, length, constants in [(np.zeros(5), 2, np.zeros(8)), (np.zeros(4), 2, np.zeros(7))]:
        with pytest.raises(ValueError):
            _core.SegmentLattice(shape, scores, length, constants)
    for number in (math.nan, math.inf, -math.inf):
        with pytest.raises(ValueError):
            _core.SegmentLattice(shape, np.full(4, number), 2, np.zeros(8))
        with pytest.raises(ValueError):
            _core.SegmentLattice(shape, np.zeros(4), 2, np.full(8, number))


@pytest.mark.parametrize(
    ("most", "gold", "cut", "expected"),
    [
        (2, [0, 1, 1, 1, 1], 1, [0, 1, 0, 1, 0]),
        (3, [0, 1, 1, 2, 0, 1, 1, 1, 1, 1, 1], 1, [0, 1, 1, 2, 0, 1, 1, 0, 1, 1, 0]),
        (1, [0, 1, 0, 1, 2], 2, [0, 0, 0, 0, 2]),
        (9, [0, 1, 1, 1], 0, [0, 1, 1, 1]),
    ],
)
def test_long_gold_segments_are_cut(most: int, gold: list[int], cut: int, expected: list[int]) -> None:
    """The longest pieces first."""
    shape = _core.SegmentShape(np.array([1, 1, NO_LABEL], np.uint32), most, True, True)
    extractor = _core.SegmentExtractor([], [], [], 1)
    examples = _core.SegmentExamples(False)
    examples.add(extractor, _core.from_columns([["a"] * len(gold)], [len(gold)]))
    assert examples.set_gold(np.array(gold, np.int32), shape) == cut
    assert examples.gold.tolist() == expected


@pytest.mark.parametrize("gold", [[1, 0, 0], [2, 1, 0], [0, 1, 3], [0, -1, 0], [0, 1]])
def test_gold_labels_that_spell_no_segments(gold: list[int]) -> None:
    shape = _core.SegmentShape(np.array([1, 1, NO_LABEL], np.uint32), 4, True, True)
    examples = _core.SegmentExamples(False)
    examples.add(_core.SegmentExtractor([], [], [], 1), _core.from_columns([["a"] * 3], [3]))
    with pytest.raises(ValueError):
        examples.set_gold(np.array(gold, np.int32), shape)
