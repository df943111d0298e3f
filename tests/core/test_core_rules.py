"""Boosted rules against the paper's pseudo-code and against all combinations of atoms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_rules import NaiveRules, Options, Rule, Samples
from oracles import steady

from marginalia import _core

NONE = np.zeros(0)


@st.composite
def samples(draw: st.DrawFn) -> Samples:
    """A few samples of both signs; atoms are rows, numbered from 1."""
    atoms = draw(st.lists(st.frozensets(st.integers(1, 6), min_size=1), min_size=2, max_size=9))
    signs = draw(st.lists(st.sampled_from([1, -1]), min_size=len(atoms), max_size=len(atoms)))
    return list(zip(atoms, [1, -1, *signs[2:]], strict=True))


OPTIONS = st.builds(
    Options,
    rules_per_round=st.integers(1, 4),
    width=st.integers(0, 3),
    size=st.integers(1, 3),
    frequency=st.integers(1, 2),
    buckets=st.integers(1, 4),
    by_weight=st.booleans(),
    smoothing=st.sampled_from([1.0, 0.1]),
)


def examples_of(given_samples: Samples) -> _core.ExampleRows:
    """Items whose atoms are explicit attributes; the class 1 is right for those with a plus."""
    index, examples = _core.FeatureIndex(True), _core.ExampleRows(False)
    first = [{f"a{row}": 1.0 for row in range(1, 7)}]  # so that atom k gets row k
    items = [{f"a{atom}": 1.0 for atom in sorted(atoms)} for atoms, _ in given_samples]
    extractor = _core.FeatureExtractor.of_items(1)
    _core.ExampleRows(False).add_growing(extractor, _core.from_columns([[""]], [1], [], first), index)
    table = _core.from_columns([[""] * len(items)], [1] * len(items), [], items)
    examples.add_growing(extractor, table, index)
    examples.set_gold(np.array([int(y > 0) for _, y in given_samples], np.int32), 2)
    return examples


def learner_of(given_samples: Samples, options: Options) -> _core.RuleLearner:
    made = _core.RuleSamples(2, 0, False)
    made.add(examples_of(given_samples), NONE)
    made.finish(options.frequency)
    own = (options.rules_per_round, options.width, options.size, options.buckets, options.by_weight)
    return _core.RuleLearner(made, 1, *own, options.smoothing)


@steady
@given(samples(), OPTIONS, st.integers(1, 12))
def test_rules_are_those_of_the_paper(data: Samples, options: Options, rounds: int) -> None:
    naive, learner = NaiveRules(data, options), learner_of(data, options)
    learner.run(rounds, 20)
    expected = naive.run(rounds, 20)
    assert learner.default == naive.default
    if not learner.done:  # a sweep that moves nothing ends learning
        assert [tuple(rule) for rule, _ in learner.rules] == [rule for rule, _ in expected]
    found = learner.rules
    assert [(tuple(rule), c) for rule, c in found] == expected[: len(found)]
    assert all(c == 0 for _, c in expected[len(found) :])
    if not learner.done:
        assert learner.loss == pytest.approx(sum(naive.weights), rel=1e-12)


@steady
@given(samples(), st.integers(1, 3), st.integers(1, 4))
def test_one_bucket_and_full_width_find_the_best_of_all_combinations(
    data: Samples, size: int, count: int
) -> None:
    """So the bound never cuts off a better rule."""
    options = Options(rules_per_round=count, size=size)
    naive, learner = NaiveRules(data, options), learner_of(data, options)
    learner.run(1, 100)
    gains = sorted((naive.gain(rule) for rule in naive.all_rules()), reverse=True)[:count]
    ids = {atom: i for i, atom in enumerate(naive.atoms)}
    found = [naive.gain(tuple(sorted(ids[atom] for atom in rule))) for rule, _ in learner.rules]
    assert found == [gain for gain in gains if gain > 0]


def plain_adaboost(data: Samples, size: int, rounds: int) -> list[tuple[Rule, float]]:
    """Each time the best of all combinations, over all samples: no buckets, no bound, no growing."""
    naive = NaiveRules(data, Options(size=size))
    found: list[tuple[Rule, float]] = []
    for _ in range(rounds):
        best = min(naive.all_rules(), key=lambda rule: (-naive.gain(rule), len(rule), rule))
        if not naive.gain(best):
            break
        plus, minus, _ = naive.sums(best)
        c = 0.5 * math.log((plus + 1) / (minus + 1))
        holds = [atoms.issuperset(best) for atoms, _ in naive.samples]
        signs = [y for _, y in naive.samples]
        parts = zip(naive.weights, holds, signs, strict=True)
        naive.weights = [w * math.exp(-y * c) if held else w for w, held, y in parts]
        found.append((tuple(naive.atoms[atom] for atom in best), c))
    return found


@steady
@given(samples(), st.integers(1, 3), st.integers(1, 8))
def test_plain_adaboost_is_one_bucket_and_one_rule(data: Samples, size: int, rounds: int) -> None:
    learner = learner_of(data, Options(rules_per_round=1, buckets=1, size=size))
    learner.run(rounds, 100)
    found = [(tuple(rule), c) for rule, c in learner.rules]
    expected = plain_adaboost(data, size, rounds)
    assert found == expected[: len(found)]
    if not learner.done:  # a sweep that moves nothing ends learning
        assert len(found) == len(expected)


@steady
@given(samples(), OPTIONS)
def test_loss_bounds_the_training_error(data: Samples, options: Options) -> None:
    learner, naive = learner_of(data, options), NaiveRules(data, options)
    for rounds in range(1, 6):
        learner.run(1, 100)
        naive.run(1, 100)
        wrong = sum(y * naive.score(atoms) <= -1e-12 for atoms, y in naive.samples)
        assert wrong <= learner.loss * (1 + 1e-12), rounds


@steady
@given(samples(), OPTIONS, st.integers(1, 8))
def test_gains_are_what_rules_take_from_the_loss(data: Samples, options: Options, rounds: int) -> None:
    learner = learner_of(data, options)
    before = learner.loss
    learner.run(rounds, 100)
    assert len(learner.gains) == len(learner)
    assert sum(learner.gains) == pytest.approx(before - learner.loss, abs=1e-9)


@steady
@given(samples(), st.floats(0.5, 3.0))
def test_sample_weights_multiply_the_weights(data: Samples, factor: float) -> None:
    made = _core.RuleSamples(2, 0, False)
    made.add(examples_of(data), np.full(len(data), factor))
    made.finish(1)
    learner = _core.RuleLearner(made, 1)
    plus = sum(y > 0 for _, y in data) * factor
    minus = sum(y < 0 for _, y in data) * factor
    assert learner.default == pytest.approx(0.5 * math.log(plus / minus))
    assert learner.loss == pytest.approx(2 * math.sqrt(plus * minus))


def test_labels_of_neighbours_are_atoms() -> None:
    """Rules of a label that follows from the label after it, or before it, alone."""
    index, examples = _core.FeatureIndex(True), _core.ExampleRows(False)
    table = _core.from_columns([[""] * 5], [5], [], [{"x": 1.0}] * 5)
    examples.add_growing(_core.FeatureExtractor.of_items(1), table, index)
    examples.set_gold(np.array([0, 1, 2, 1, 2], np.int32), 3)
    for backwards, label, expected in ((True, 1, 2), (False, 2, 1)):
        made = _core.RuleSamples(3, 1, backwards)
        made.add(examples, NONE)
        made.finish(1)
        learner = _core.RuleLearner(made, label, 1, 0, 1, 1)
        learner.run(1, 1)
        (codes, confidence) = learner.rules[0]
        assert codes == [_core.LABEL_CODE + expected]
        assert confidence > 0


def test_what_does_not_fit_is_refused() -> None:
    made = _core.RuleSamples(2, 1, True)
    with pytest.raises(ValueError, match="not finished"):
        _core.RuleLearner(made, 0)
    with pytest.raises(ValueError, match="three neighbours"):
        _core.RuleSamples(2, 4, True)
    made.add(examples_of([(frozenset({1}), 1), (frozenset({2}), -1)]), NONE)
    with pytest.raises(ValueError, match="sample weights"):
        made.add(examples_of([(frozenset({1}), 1)]), np.ones(3))
    made.finish(1)
    with pytest.raises(ValueError, match="finished"):
        made.finish(1)
    with pytest.raises(ValueError, match="out of range"):
        _core.RuleLearner(made, 0, 0)
