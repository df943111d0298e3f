"""Words: outputs against enumeration, updates against pseudo-codes, beams against a plain one."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner, TieError
from oracles import steady
from test_core_learners import RULES, both, learn_in_parts
from test_core_partial import RULES as PARTIAL_RULES
from test_core_partial import orders as partial_orders
from test_core_partial import partial
from test_core_penalties import PENALTIES, RATES, visits
from test_core_penalties import rules as penalised_rules
from test_core_segments_learners import orders
from word_worlds import NaiveBeam, WordWorld, beam_perceptron, word_worlds
from worlds import Trained, assert_close

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


def scattered(world: WordWorld, seed: int) -> tuple[Trained, NaiveLearner]:
    """Random weights, and who adds them up plainly."""
    trained = world.untrained()
    start = trained.scatter(np.random.default_rng(seed))
    return trained, NaiveLearner(world, start, naive.perceptron, np.ones(len(world.sentences)))


def model_of(trained: Trained) -> tuple[_core.WordModel, _core.WordSpace]:
    trained.step = 1
    arrays = trained.weights.current.freeze(trained.index, trained.world.labels)
    arrays["narrow"] = arrays.pop("outputs").astype(np.uint16)
    at, weights = trained.weights.current.cells(0)
    arrays["constant_at"], arrays["constants"] = at[weights != 0], weights[weights != 0]
    return _core.WordModel(trained.world.shape, arrays), _core.WordSpace()


@settings(steady, max_examples=40)
@given(word_worlds(most=5, count=3), seeds)
def test_outputs_are_those_of_enumeration(world: WordWorld, seed: int) -> None:
    """Scores, the best output, the k best ones and probabilities, if the beam keeps all states."""
    trained, learner = scattered(world, seed)
    model, space = model_of(trained)
    table, best = world.table(), []
    for i, legal in enumerate(learner.legal):
        lattice = model.lattice(world.extractor, table, i, space)
        scores = {y: learner.score(phi) for y, phi in legal.items()}
        for y, score in scores.items():
            assert lattice.score(np.array(y, np.uint32)) == pytest.approx(score, abs=1e-5)
        found = list(lattice.k_best())
        assert sorted(tuple(y.tolist()) for y, _ in found) == sorted(scores)
        assert [s for _, s in found] == pytest.approx(sorted(scores.values(), reverse=True), abs=1e-5)
        best += found[0][0].tolist()
        assert_marginals(world, lattice.marginals(), scores)
    assert model.best(world.extractor, table, space).tolist() == best
    assert trained.batch().best(trained.weights.current, 0, 3).tolist() == best
    ids, ranked_scores, *_ = model.ranked(world.extractor, table, 2, space)
    assert ids[0].tolist() == best
    assert all(ranked_scores[0] >= np.nan_to_num(ranked_scores[-1], nan=-np.inf))


def assert_marginals(world: WordWorld, found: dict[str, Any], scores: dict[Any, float]) -> None:
    log_z = math.log(sum(math.exp(score) for score in scores.values()))
    assert found["log_z"] == pytest.approx(log_z, abs=1e-4)
    words, labels = np.zeros_like(found["segment"]), np.zeros_like(found["node"])
    for y, score in scores.items():
        for begin, last, type_ in world.segments(y):
            words[begin, last - begin, type_] += math.exp(score - log_z)
        for t, label in enumerate(y):
            labels[t, label] += math.exp(score - log_z)
    assert found["segment"] == pytest.approx(words, abs=1e-4)
    assert found["node"] == pytest.approx(labels, abs=1e-4)


@settings(steady, max_examples=40)
@given(word_worlds(most=6, count=3, beam=2), seeds)
def test_a_beam_is_the_plain_one(world: WordWorld, seed: int) -> None:
    trained, learner = scattered(world, seed)
    model, space = model_of(trained)
    table, starts = world.table(), world.table().sentence_starts
    best = model.best(world.extractor, table, space).tolist()
    for i, sentence in enumerate(world.sentences):
        try:
            agenda = NaiveBeam(learner, i).agendas[-1]
        except TieError:
            continue
        assert tuple(best[starts[i] : starts[i + 1]]) == world.types.labels_of(agenda[0])
        outputs = [tuple(y.tolist()) for y, _ in model.lattice(world.extractor, table, i, space).k_best()]
        assert outputs[0] == world.types.labels_of(agenda[0])
        assert len(outputs) == len(set(outputs))
        assert len(sentence) == 0 or all(world.types.labels_of(prefix) in outputs for prefix in agenda)


@settings(steady, max_examples=20)
@given(word_worlds(most=4, count=3), seeds)
def test_features_of_outputs(world: WordWorld, seed: int) -> None:
    """(row, label) of those that the model knows, as often as an output has them, with their names."""
    trained, learner = scattered(world, seed)
    model, space = model_of(trained)
    names = trained.names()
    known = {names[row] for row in names if row and len(trained.weights.current.cells(row)[0])}
    for i, legal in enumerate(learner.legal):
        for y in islice(legal, 20):
            found = model.features_of(world.extractor, world.table(), i, np.array(y, np.uint32), space)
            expected = world.features_of(i, world.segments(y))
            texts = sorted(("".join(texts), label) for _, _, _, _, label, _, _, texts in found)
            plain = [
                (name[1], label)
                for (name, label), n in expected.items()
                if name in known
                for _ in range(int(n))
            ]
            assert texts == sorted(plain)


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=25)
@given(world=word_worlds(), seed=seeds)
def test_against_pseudo_code(name: str, world: WordWorld, seed: int) -> None:
    """If the beam loses nothing, updates are those of whole outputs."""
    trained, learner, rule = both(world, RULES[name], seed, "none", 0.0, "AROW" in name)
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, rule, order, learner.samples)
    assert counts["updates"] == learner.updates
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("early", [True, False])
@settings(steady, max_examples=40)
@given(data=st.data(), beam=st.integers(0, 3), seed=seeds)
def test_updates_of_prefixes(early: bool, data: st.DataObject, beam: int, seed: int) -> None:
    world = data.draw(word_worlds(most=6, beam=beam, early=early))
    rules = _core.UpdateRule.perceptron(), beam_perceptron
    trained, learner, rule = both(world, lambda _: rules, seed)
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, rule, order, learner.samples)
    assert counts["updates"] == learner.updates
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=25)
@given(world=word_worlds(count=6), seed=seeds, which=st.integers(0, 2), size=st.integers(0, 2))
def test_lazy_penalties_are_dense(penalty: str, world: WordWorld, seed: int, which: int, size: int) -> None:
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    native, plain = penalised_rules(world.labels)[which]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.5)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate)
    order = learner.learn_until_tie(visits(seed, 6))
    trained.learn(native, order, learner.samples)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("name", PARTIAL_RULES)
@settings(steady, max_examples=20)
@given(world=word_worlds(most=4, count=5), seed=seeds, penalty=st.sampled_from(["none", "l2"]))
def test_partial_labels(name: str, world: WordWorld, seed: int, penalty: str) -> None:
    """Gold is the best right output, and the best wrong one is not a right one."""
    native, plain = PARTIAL_RULES[name](world.labels)
    trained, learner = partial(world, plain, seed, penalty, 0.01, "AROW" in name)
    order = learner.learn_until_tie(partial_orders(seed))
    counts = learn_in_parts(trained, native, order, learner.samples)
    assert counts["updates"] == learner.updates
    assert_close(trained.current(), learner.w)


def test_likelihood_is_refused() -> None:
    world = WordWorld(*_tiny())
    trained = world.untrained()
    with pytest.raises(ValueError, match="needs expected features, which the structure words does not have"):
        trained.learn(_core.UpdateRule.gradient(0.1, 0.9, 1.0, False), [0])


def _tiny() -> tuple[Any, ...]:
    from segment_oracles import Types

    return Types((1, 1), 3), ["word[p..q]/word[b..e]"], [[("a", "x"), ("b", "x")]], [(0, 1)]
