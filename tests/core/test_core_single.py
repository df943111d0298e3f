"""One class for an item: learning weight for weight against the pseudo-codes, search by looking at all."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import naive_learners as naive
import naive_partial
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from naive_perceptron import NaivePerceptron, Vector
from oracles import steady
from single_worlds import SingleWorld, random_single_world, single_worlds
from test_core_dropout import Chances, Draws, chances
from test_core_gradients import GRID, Likelihood, enumerated
from test_core_learners import RULES, both, learn_in_parts
from test_core_partial import RULES as PARTIAL_RULES
from test_core_partial import PartialLikelihood, partial
from test_core_penalties import PENALTIES, RATES, visits
from test_core_penalties import rules as penalised_rules
from worlds import World, assert_close

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


def orders(seed: int, count: int = 5) -> list[int]:
    return [i for k in range(3) for i in _core.permutation(count, (seed + k) % 2**32).tolist()]


@settings(steady, max_examples=60)
@given(world=single_worlds(count=6), seed=st.integers(0, 1000))
def test_the_perceptron_from_nothing(world: SingleWorld, seed: int) -> None:
    """With ties, which go to the lowest class."""
    plain, trained = NaivePerceptron(world), world.untrained()
    for i in orders(seed, 6):
        best = plain.best(i)
        counts = trained.learn(_core.UpdateRule.perceptron(), [i])
        assert counts["mistakes"] == counts["wrong_tokens"] == (best != world.gold[i])
        assert counts["tokens"] == 1
        plain.learn(i)
    assert trained.current() == {f: w for f, w in plain.w.items() if w}
    assert_close(trained.mean(), plain.mean(), 1e-6)
    best = trained.batch().best(trained.weights.current, 0, 6).tolist()
    assert best == [c for i in range(6) for c in plain.best(i)]


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=50)
@given(world=single_worlds(), seed=seeds)
def test_against_pseudo_code(name: str, world: SingleWorld, seed: int) -> None:
    trained, learner, rule = both(world, RULES[name], seed, "none", 0.0, "AROW" in name)
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, rule, order, learner.samples)
    assert counts["sentences"] == len(order)
    assert counts["updates"] == learner.updates
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


def test_hairs_are_rare() -> None:
    """The tests here compare whole runs, not just their first steps."""
    whole = 0
    for seed in range(40):
        _, learner, _ = both(random_single_world(seed), RULES["margin 2.5"], seed)
        whole += len(learner.learn_until_tie([*range(5)] * 3)) == 15
    assert whole >= 35


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=40)
@given(world=single_worlds(), seed=seeds, decay=st.sampled_from([1.0, 0.3]), whole=st.booleans())
def test_gradient_steps(local: bool, world: SingleWorld, seed: int, decay: float, whole: bool) -> None:
    """There is but one choice: choice by choice is the same."""
    rng = np.random.default_rng(seed)
    trained = world.untrained()
    start = trained.scatter(rng, 0.3)
    trained.batch().make_room(trained.weights, whole)
    plain = naive.gradient(0.4, decay, 5, False)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 5), room=trained.room())
    rule = _core.UpdateRule.gradient(0.4, decay, 5, local)
    counts = learn_in_parts(trained, rule, orders(seed), learner.samples)
    for i in orders(seed):
        learner.learn(i)
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-5, abs=1e-5)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=40)
@given(world=single_worlds(count=6), seed=seeds, which=st.integers(0, 2), size=st.integers(0, 2))
def test_lazy_penalties_are_dense(penalty: str, world: SingleWorld, seed: int, which: int, size: int) -> None:
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    native, plain = penalised_rules(world.labels)[which]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.5)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate)
    order = learner.learn_until_tie(visits(seed, 6))
    for part in (order[: len(order) // 2], order[len(order) // 2 :]):
        trained.learn(native, part, learner.samples)
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


class ThinnedLearner(NaiveLearner):
    """Sees each item as dropout leaves it: without features of hidden columns, and without some others."""

    def hide(self, rows: dict[Any, int], chances: Chances, seed: int) -> None:
        self.rows, self.chances, self.seed = rows, chances, seed

    def learn(self, i: int) -> None:
        draws, world = Draws(self.chances, self.seed, self.step), self.world
        looked = {"words(text)": (0,), "ngrams(2)(text)": (0,), "tag": (1,), "tag/number(number)": (1, 2)}
        kept = {
            name: value
            for name, value in world.features(i).items()
            if not any(draws.hides(0, c) for c in looked.get(name[1].partition("=")[0], ()))
            and not draws.leaves_out(self.rows[name])
        }
        self.legal[i] = {
            (y,): Vector({(name, y): value for name, value in kept.items()}) for y in range(world.labels)
        }
        self.gold[i] = self.legal[i][world.gold[i]]
        super().learn(i)


@settings(steady, max_examples=60)
@given(world=single_worlds(), chances=chances, seed=seeds, margin=st.booleans())
def test_dropout(world: SingleWorld, chances: Chances, seed: int, margin: bool) -> None:
    rng = np.random.default_rng(seed)
    trained = world.untrained(keep_templates=True)
    start = trained.scatter(rng)
    native, plain = RULES["margin 2.5" if margin else "perceptron"](world.labels)
    learner = ThinnedLearner(world, start, plain, rng.uniform(0.5, 2.0, 5))
    learner.hide({name: row for row, name in trained.names().items()}, chances, seed)
    order = learner.learn_until_tie(orders(seed))
    for part in (order[:4], order[4:]):
        trained.learn(native, part, learner.samples, *chances, seed)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=60)
@given(world=single_worlds(count=4), seed=seeds, whole=st.booleans())
def test_gradients_against_enumeration(local: bool, world: SingleWorld, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=local)
    likelihood.local = False  # the plain one has no choices
    expected = enumerated(likelihood)
    likelihood.local = local
    log_z, means = likelihood.at(likelihood.x)
    assert log_z == pytest.approx(expected["log_z"], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(means, expected["means"], atol=1e-12)
    np.testing.assert_allclose(likelihood.observed, expected["observed"], atol=1e-12)


@settings(steady, max_examples=15)
@given(world=single_worlds(count=4), seed=seeds, whole=st.booleans())
def test_gradients_against_finite_differences(world: SingleWorld, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=False)
    gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
    for i in np.flatnonzero(likelihood.used):
        step = np.zeros(len(gradient))
        step[i] = GRID
        up, down = likelihood.loss(likelihood.x + step), likelihood.loss(likelihood.x - step)
        assert (up - down) / (2 * GRID) == pytest.approx(gradient[i], abs=2e-5)


@pytest.mark.parametrize("name", PARTIAL_RULES)
@settings(steady, max_examples=50)
@given(world=single_worlds(), seed=seeds)
def test_open_classes(name: str, world: SingleWorld, seed: int) -> None:
    native, plain = PARTIAL_RULES[name](world.labels)
    trained, learner = partial(world, plain, seed, "none", 0.0, "AROW" in name)
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, native, order, learner.samples)
    assert counts["updates"] == learner.updates
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w, 1e-4)


@settings(steady, max_examples=40)
@given(world=single_worlds(labels=4), seed=seeds)
def test_the_likelihood_of_open_classes(world: SingleWorld, seed: int) -> None:
    likelihood = PartialLikelihood(world, seed)
    loss, gradient = likelihood.at(likelihood.x)
    cells, learner = likelihood.cells(), likelihood.learner
    learner.w = dict(zip(cells, likelihood.x.tolist(), strict=True))
    total, means = 0.0, Vector()
    for i in range(5):
        (mean, log_z), (gold, log_right) = (
            naive.expected(learner, i),
            naive_partial.expected_right(learner, i),
        )
        share, complete = learner.samples[i], all(len(one) == 1 for one in learner.sets[i])
        total += share * (log_z - (log_right if not complete else learner.score(gold)))
        means.update({f: share * (mean[f] - gold[f]) for f in mean.keys() | gold.keys()})
    assert loss == pytest.approx(total, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(gradient, [means[f] for f in cells], atol=1e-6)


@settings(steady, max_examples=40)
@given(single_worlds(), seeds)
def test_margins(world: SingleWorld, seed: int) -> None:
    trained = world.untrained()
    start = trained.scatter(np.random.default_rng(seed))
    learner = NaiveLearner(world, start, naive.perceptron, np.ones(5))
    margins, norms = trained.batch().margins(trained.weights.current, 0, 5)
    for i, gold in enumerate(world.gold):
        others = [learner.score(learner.minus(i, y)) for y in learner.legal[i] if y != gold]
        assert margins[i] == pytest.approx(min(others, default=np.inf), abs=1e-5)
        square = sum(2 * v * v for v in world.features(i).values())
        assert norms[i] == pytest.approx(np.sqrt(square) if others else 0.0)


def model_of(trained: Any, **more: np.ndarray) -> _core.SingleModel:
    return _core.SingleModel(trained.world.shape, trained.arrays() | more)


@settings(steady, max_examples=40)
@given(single_worlds(), seeds)
def test_the_finished_model_scores_all_classes(world: SingleWorld, seed: int) -> None:
    trained = world.untrained()
    trained.scatter(np.random.default_rng(seed))
    trained.step = 1
    w = trained.weights_of(trained.rows())
    model, space = model_of(trained), _core.SingleSpace()
    scores = model.scores(world.extractor, world.table(), space)
    names = trained.names()
    for i in range(5):
        expected = [
            sum(w.get((f, y), 0.0) * n for f, n in world.features(i).items()) for y in range(world.labels)
        ]
        np.testing.assert_allclose(scores[i], expected, atol=1e-5)
        found: Counter[Any] = Counter()
        for _, times, _, texts in model.features(world.extractor, world.table(), i, space):
            found[False, "".join(texts)] += times
        known = {name for name, _ in w}
        assert found == {f: n for f, n in world.features(i).items() if f in known}
    assert names[0] == "constant"


@settings(steady, max_examples=60)
@given(single_worlds(), seeds, st.integers(1, 6), st.floats(0.1, 3.0))
def test_batches_against_looking_at_all_classes(world: SingleWorld, seed: int, k: int, factor: float) -> None:
    """The k best classes, under constraints too, classes changed because of them, and probabilities; weights
    are whole numbers at times, so that classes tie."""
    rng, n = np.random.default_rng(seed), world.labels
    trained = world.untrained()
    trained.scatter(rng)
    trained.step = 1
    model, space, table = model_of(trained), _core.SingleSpace(), world.table()
    count = table.sentences
    scores = model.scores(world.extractor, table, space)
    sets = rng.integers(0, 2, (3, n, 1, 1)).repeat(3, 2).repeat(3, 3).astype(np.uint8)
    everywhere = [0] if rng.integers(2) else []
    rules = _core.ConstraintSet(n, np.zeros(n * n, np.uint8), sets.reshape(3, -1), everywhere, [], [], [])
    chosen = rng.integers(0, 2, count).astype(np.uint8)
    own = [(i, 0, int(s)) for i in range(count) for s in (1, 2) if chosen[i] and rng.integers(2)]
    tokens = np.array([x for one in own for x in one], np.uint32)
    none, starts = np.zeros(0, np.uint32), np.arange(count, dtype=np.uint32)
    broken = np.zeros((count, n), np.int64)
    for i in range(count):
        wanted = ([*everywhere] if chosen[i] else []) + [s for j, _, s in own if j == i]
        broken[i] = sum((1 - sets[s, :, 0, 0].astype(np.int64) for s in wanted), np.zeros(n, np.int64))
    free = model.best(world.extractor, table, space)
    under = (chosen, rules, tokens, none, starts, space)
    plain = model.ranked(world.extractor, table, k, space)
    limited = model.ranked_constrained(world.extractor, table, k, free, *under)
    for (ids, found, *_), counted in ((plain, 0 * broken), (limited, broken)):
        for i in range(count):
            order = sorted(range(n), key=lambda y, i=i, c=counted: (c[i, y], -scores[i, y], y))
            order = [y for y in order if counted[i, y] == counted[i].min()][:k]
            real = ~np.isnan(found[:, i])
            assert ids[real, i].tolist() == order
            assert found[real, i].tolist() == scores[i, order].tolist()
            assert set(ids[~real, i].tolist()) <= {order[0]}
    assert limited[2].tolist() == broken.min(axis=1).tolist()
    assert limited[3].all()
    given_ids = rng.integers(0, n, count).astype(np.int32)
    changed, left, exact = model.constrain(world.extractor, table, given_ids, *under)
    best = limited[0][0]
    keeps = broken[np.arange(count), given_ids] == broken.min(axis=1)
    assert changed.tolist() == np.where(keeps, given_ids, best).tolist()
    assert (left.tolist(), exact.all()) == (broken.min(axis=1).tolist(), True)
    flat = (np.zeros(size, np.uint8) for size in (n, n * n, 0))
    spelling = _core.Spelling(np.arange(n, dtype=np.uint32), *flat)
    token, span, _, _, whole = model.confidences(
        world.extractor, table, given_ids, starts, spelling, factor, space
    )
    expected = np.exp(factor * scores - np.logaddexp.reduce(factor * scores, axis=1)[:, None])
    np.testing.assert_allclose(token, expected[np.arange(count), given_ids], rtol=1e-9)
    assert (span.size, whole.tolist()) == (0, token.tolist())


def as_chain(world: SingleWorld) -> World:
    """The same items as sentences of one token of a chain without transitions."""
    n, every = world.labels, np.ones(world.labels, np.uint8)
    shape = (every, np.ones((n, n), np.uint8), every)
    chain = World(n, 1, False, *shape, False, False, [[("", "")]] * len(world.sentences), world.gold)
    chain.extractor = world.extractor
    chain.table = world.table  # type: ignore[method-assign]
    return chain


@pytest.mark.parametrize("name", [*RULES, "gradient"])
@settings(steady, max_examples=20)
@given(world=single_worlds(), seed=seeds)
def test_a_chain_of_one_token(name: str, world: SingleWorld, seed: int) -> None:
    """The weights and answers of a chain, ties included."""
    table = ("none", 0.0, "AROW" in name)
    ours, theirs = world.untrained(*table), as_chain(world).untrained(*table)
    rule = (
        _core.UpdateRule.gradient(0.3, 0.8, 5, False) if name == "gradient" else RULES[name](world.labels)[0]
    )
    start = {} if name == "perceptron" else ours.scatter(np.random.default_rng(seed), 1.0)
    for trained in (ours, theirs):
        trained.begin_with(start)
        if name == "gradient":
            trained.batch().make_room(trained.weights, False)
        trained.learn(rule, orders(seed), np.linspace(0.5, 2.0, 5))
    assert_close(ours.current(), theirs.current())
    found, expected = (t.batch().best(t.weights.current, 0, 5).tolist() for t in (ours, theirs))
    assert found == expected


@settings(steady, max_examples=40)
@given(world=single_worlds(count=6), seed=seeds, k=st.integers(1, 6))
def test_votes(world: SingleWorld, seed: int, k: int) -> None:
    """Of the k best the one that most versions of the weights prefer, in training and in use."""
    trained = world.untrained("none", 0.0, False, True)
    versions = []
    for i in orders(seed, 6):
        trained.learn(_core.UpdateRule.perceptron(), [i])
        versions.append(dict(trained.current()))
    rows = trained.rows()
    votes = trained.weights.votes(trained.step)
    found = trained.batch().voted(rows, votes, k, 0, 6).tolist()
    mean = trained.weights_of(rows)
    for i in range(6):
        legal = {y: world.of_class(i, y) for y in range(world.labels)}
        score = lambda w, y: sum(w.get(f, 0.0) * n for f, n in legal[y].items())  # noqa: B023, E731
        ranked = sorted(legal, key=lambda y: (-round(score(mean, y), 4), y))[:k]
        winners = Counter()
        for w in versions:
            best = max(score(w, y) for y in ranked)
            winners[next(j for j, y in enumerate(ranked) if score(w, y) == best)] += 1
        close = len({round(score(mean, y), 4) for y in legal}) < len(legal)
        expected = ranked[min(j for j in winners if winners[j] == max(winners.values()))]
        assert close or found[i] == expected


def test_constraints_are_counted_for_each_class() -> None:
    """A set of contexts is [label][relation before][relation after]; an item stands alone."""
    sets = np.zeros((2, 4, 3, 3), np.uint8)
    sets[0, [0, 2]] = 1
    sets[1, 1] = 1
    none = np.zeros(0, np.uint32)
    for everywhere, token in product((False, True), repeat=2):
        rules = _core.ConstraintSet(
            4, np.zeros(16, np.uint8), sets.reshape(2, -1), [0] * everywhere, [(1, 0, 0)], [], []
        )
        tokens = np.array([0, 0], np.uint32) if token else none
        expected = [(everywhere + token) * (y not in (0, 2)) + (y == 1) for y in range(4)]
        assert rules.violations_of_one(tokens, none).tolist() == expected


def test_what_does_not_fit_is_refused() -> None:
    world = random_single_world(3)
    trained = world.untrained()
    trained.scatter(np.random.default_rng(1))
    trained.step = 1
    model, space, table = model_of(trained), _core.SingleSpace(), world.table()
    free, none = model.best(world.extractor, table, space), np.zeros(0, np.uint32)
    for labels, ids, chosen in ((4, free, 5), (3, free, 4), (3, free[1:], 5), (3, free + 3, 5)):
        sets = np.zeros((1, labels * 9), np.uint8)
        rules = _core.ConstraintSet(labels, np.zeros(labels * labels, np.uint8), sets, [0], [], [], [])
        under = (ids, np.ones(chosen, np.uint8), rules, none, none, none, space)
        with pytest.raises(ValueError):
            model.constrain(world.extractor, table, *under)
        with pytest.raises(ValueError):
            model.ranked_constrained(world.extractor, table, 2, *under)
    with pytest.raises(ValueError, match="no classes"):
        _core.SingleBatch(_core.SingleShape(0), trained.examples)
    two = _core.ExampleRows()
    two.add_growing(world.extractor, _core.from_columns([["1", "2"]] * 3, [2]), trained.index)
    with pytest.raises(ValueError, match="an item is a sentence of one token"):
        _core.SingleBatch(world.shape, two)
    with pytest.raises(ValueError, match="one for each pair of labels"):
        trained.batch(np.ones(4, np.float32))
    model = model_of(trained)
    with pytest.raises(ValueError, match="an item is a sentence of one token"):
        model.scores(world.extractor, _core.from_columns([["1", "2"]] * 3, [2]), _core.SingleSpace())
    arrays = trained.arrays() | {"constant_at": np.zeros(1, np.uint32), "constants": np.ones(1, np.float32)}
    with pytest.raises(ValueError, match="single: a constant is out of range"):
        _core.SingleModel(world.shape, arrays)


def test_the_tiers_of_the_contract() -> None:
    assert _core.SingleBatch.tiers() == _core.tiers().keys() - {"constants", "lists"}
