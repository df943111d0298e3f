"""Lists of candidates: learning weight for weight against the pseudo-codes, search by looking at all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import naive_learners as naive
import numpy as np
import pytest
from candidate_worlds import CandidateWorld, candidate_worlds, random_candidate_world
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from naive_perceptron import NaivePerceptron, Vector
from oracles import steady
from test_core_dropout import Chances, Draws, chances
from test_core_gradients import GRID, Likelihood, enumerated
from test_core_learners import learn_in_parts
from test_core_penalties import PENALTIES, RATES, visits
from worlds import assert_close

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


def by_example(make: Any, world: CandidateWorld) -> naive.Rule:
    """A rule with costs that each example has for itself."""
    return lambda learner, i: make(world.costs(i))(learner, i)


def costly(kind: str, c: float) -> Any:
    native = _core.UpdateRule.passive_aggressive(kind, c)
    return lambda world: (native, by_example(lambda costs: naive.passive_aggressive(kind, c, costs), world))


RULES: dict[str, Any] = {
    "perceptron": lambda world: (_core.UpdateRule.perceptron(), naive.perceptron),
    "margin 2.5": lambda world: (_core.UpdateRule.margin(2.5), naive.margin_perceptron(2.5)),
    **{f"PA-{kind}": costly(kind, 0.3) for kind in ("0", "I", "II")},
    "correction": lambda world: (_core.UpdateRule.correction(1.5), naive.correction(1.5)),
    "AROW": lambda world: (
        _core.UpdateRule.arow(0.8),
        by_example(lambda costs: naive.arow(0.8, costs), world),
    ),
}


def orders(seed: int, count: int = 5) -> list[int]:
    return [i for k in range(3) for i in _core.permutation(count, (seed + k) % 2**32).tolist()]


@settings(steady, max_examples=60)
@given(world=candidate_worlds(count=6), seed=st.integers(0, 1000))
def test_the_perceptron_from_nothing(world: CandidateWorld, seed: int) -> None:
    """With ties, which go to the first candidate, as long as sums are exact."""
    for item in world.sentences:
        for features in item:
            features.update({name: float(np.round(value * 4) / 4) for name, value in features.items()})
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
    assert best == [y for i in range(6) for y in plain.best(i)]


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=50)
@given(world=candidate_worlds(), seed=seeds)
def test_against_pseudo_code(name: str, world: CandidateWorld, seed: int) -> None:
    rng = np.random.default_rng(seed)
    native, plain = RULES[name](world)
    trained = world.untrained("none", 0.0, "AROW" in name)
    learner = NaiveLearner(world, trained.scatter(rng), plain, rng.uniform(0.1, 2.0, 5))
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, native, order, learner.samples)
    assert counts["sentences"] == len(order)
    assert abs(counts["updates"] - learner.updates) <= learner.near
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=40)
@given(world=candidate_worlds(), seed=seeds, decay=st.sampled_from([1.0, 0.3]))
def test_gradient_steps(local: bool, world: CandidateWorld, seed: int, decay: float) -> None:
    """There is but one choice: choice by choice is the same. All features have a weight."""
    rng = np.random.default_rng(seed)
    trained = world.untrained()
    start = trained.scatter(rng, 0.3)
    trained.batch().make_room(trained.weights, False)
    assert trained.room() == set(world.places())
    plain = naive.gradient(0.4, decay, 5, False)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 5), room=trained.room())
    rule = _core.UpdateRule.gradient(0.4, decay, 5, local)
    counts = learn_in_parts(trained, rule, orders(seed), learner.samples)
    for i in orders(seed):
        learner.learn(i)
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-5, abs=1e-5)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=30)
@given(world=candidate_worlds(count=6), seed=seeds, which=st.sampled_from(["perceptron", "PA-I"]))
def test_lazy_penalties_are_dense(penalty: str, world: CandidateWorld, seed: int, which: str) -> None:
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][1]
    native, plain = RULES[which](world)
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.5)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate)
    order = learner.learn_until_tie(visits(seed, 6))
    for part in (order[: len(order) // 2], order[len(order) // 2 :]):
        trained.learn(native, part, learner.samples)
    assert_close(trained.current(), learner.w)


class ThinnedLearner(NaiveLearner):
    """Sees each item as dropout leaves it: without the features of hidden candidates, and without others."""

    def hide(self, rows: dict[Any, int], chances: Chances, seed: int) -> None:
        self.rows, self.chances, self.seed = rows, chances, seed

    def learn(self, i: int) -> None:
        draws, world = Draws(self.chances, self.seed, self.step), self.world
        for y in range(len(world.sentences[i])):
            kept = {
                feature: value
                for feature, value in world.of(i, y).items()
                if not draws.hides(y, 0) and not draws.leaves_out(self.rows[feature[0]])
            }
            self.legal[i][(y,)] = Vector(kept)
        self.gold[i] = self.legal[i][world.gold[i]]
        super().learn(i)


@settings(steady, max_examples=40)
@given(world=candidate_worlds(), chances=chances, seed=seeds)
def test_dropout(world: CandidateWorld, chances: Chances, seed: int) -> None:
    rng = np.random.default_rng(seed)
    trained = world.untrained(keep_templates=True)
    start = trained.scatter(rng)
    learner = ThinnedLearner(world, start, naive.margin_perceptron(2.5), rng.uniform(0.5, 2.0, 5))
    learner.hide({name: row for row, name in trained.names().items()}, chances, seed)
    order = learner.learn_until_tie(orders(seed))
    for part in (order[:4], order[4:]):
        trained.learn(_core.UpdateRule.margin(2.5), part, learner.samples, *chances, seed)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("local", [False, True])
@settings(steady, max_examples=60)
@given(world=candidate_worlds(count=4), seed=seeds)
def test_gradients_against_enumeration(local: bool, world: CandidateWorld, seed: int) -> None:
    likelihood = Likelihood(world, seed, whole=False, local=local)
    likelihood.local = False  # the plain one has no choices
    expected = enumerated(likelihood)
    likelihood.local = local
    log_z, means = likelihood.at(likelihood.x)
    assert log_z == pytest.approx(expected["log_z"], rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(means, expected["means"], atol=1e-6)
    np.testing.assert_allclose(likelihood.observed, expected["observed"], atol=1e-6)


@settings(steady, max_examples=15)
@given(world=candidate_worlds(count=4), seed=seeds)
def test_gradients_against_finite_differences(world: CandidateWorld, seed: int) -> None:
    likelihood = Likelihood(world, seed, whole=False, local=False)
    gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
    for i in np.flatnonzero(likelihood.used):
        step = np.zeros(len(gradient))
        step[i] = GRID
        up, down = likelihood.loss(likelihood.x + step), likelihood.loss(likelihood.x - step)
        assert (up - down) / (2 * GRID) == pytest.approx(gradient[i], abs=5e-5)


def several_right(world: CandidateWorld, seed: int) -> CandidateWorld:
    """The same items, with more than one right candidate in some."""
    rng = np.random.default_rng(seed)
    gold = [
        tuple(sorted({*one, *(y for y in range(len(item)) if rng.random() < 0.4)}))
        for item, one in zip(world.sentences, world.gold, strict=True)
    ]
    return CandidateWorld(world.sentences, None, gold)


@settings(steady, max_examples=60)
@given(world=candidate_worlds(), seed=seeds, margin=st.booleans())
def test_several_right_candidates(world: CandidateWorld, seed: int, margin: bool) -> None:
    """The best right candidate is the target, and only wrong ones are learned from."""
    world, rng = several_right(world, seed), np.random.default_rng(seed)
    trained = world.untrained()
    w = dict(trained.scatter(rng))
    rule = _core.UpdateRule.margin(1.0) if margin else _core.UpdateRule.perceptron()
    for i in orders(seed):
        scores = [sum(w.get(f, 0.0) * v for f, v in world.of(i, y).items())
                  for y in range(len(world.sentences[i]))]  # fmt: skip
        ranked = sorted(range(len(scores)), key=lambda y: -scores[y])
        if any(abs(a - b) < 1e-4 for n, a in enumerate(scores) for b in scores[:n]):
            break
        right = next(y for y in ranked if y in world.gold[i])
        wrong = next((y for y in ranked if y not in world.gold[i]), None)
        if wrong is not None and abs(scores[right] - scores[wrong] - 1.0) < 1e-4:
            break
        lead = 1.0 if margin else 0.0
        learns = wrong is not None and scores[right] - scores[wrong] <= lead
        trained.learn(rule, [i])
        for y, sign in ((right, 1.0), (wrong, -1.0)) if learns else ():
            for f, v in world.of(i, y).items():
                w[f] = w.get(f, 0.0) + sign * v
    assert_close(trained.current(), w)


@settings(steady, max_examples=40)
@given(world=candidate_worlds(), seed=seeds)
def test_the_likelihood_of_several_right_candidates(world: CandidateWorld, seed: int) -> None:
    world = several_right(world, seed)
    likelihood = Likelihood(world, seed, whole=False, local=False)
    loss, gradient = likelihood.at(likelihood.x)
    cells = likelihood.cells()
    w = dict(zip(cells, likelihood.x.tolist(), strict=True))
    total, means = 0.0, Vector()
    for i, item in enumerate(world.sentences):
        vectors = [world.of(i, y) for y in range(len(item))]
        scores = [sum(w.get(f, 0.0) * v for f, v in phi.items()) for phi in vectors]
        mean, log_z = naive.mean_of(vectors, scores)
        share = likelihood.samples[i]
        total += share * log_z
        means.update({f: share * v for f, v in mean.items()})
        if len(world.gold[i]) > 1:
            mean, log_right = naive.mean_of(*([x[y] for y in world.gold[i]] for x in (vectors, scores)))
            total -= share * log_right
            means.subtract({f: share * v for f, v in mean.items()})
    assert loss == pytest.approx(total, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(gradient, [means[f] for f in cells], atol=1e-6)


@settings(steady, max_examples=40)
@given(candidate_worlds(), seeds, st.integers(1, 6))
def test_best_k_best_and_scores(world: CandidateWorld, seed: int, k: int) -> None:
    """In training and in use, against enumeration."""
    trained = world.untrained()
    w = trained.scatter(np.random.default_rng(seed))
    trained.step = 1
    learner = NaiveLearner(world, w, naive.perceptron, np.ones(5))
    model = _core.CandidateModel(world.shape, trained.arrays())
    found = model.scores(world.extractor, world.table(), _core.CandidateSpace()).tolist()
    expected = [learner.score(world.of(i, y)) for i, item in enumerate(world.sentences)
                for y in range(len(item))]  # fmt: skip
    np.testing.assert_allclose(found, expected, atol=1e-5)
    margins, _ = trained.batch().margins(trained.weights.current, 0, 5)
    best = trained.batch().best(trained.weights.current, 0, 5).tolist()
    for i, (y,) in enumerate(world.gold):
        scores = [learner.score(phi) for phi in learner.legal[i].values()]
        assert scores[best[i]] == pytest.approx(max(scores), abs=1e-5)
        others = [score for n, score in enumerate(scores) if n != y]
        assert margins[i] == pytest.approx(scores[y] - max(others, default=-np.inf), abs=1e-5)


@settings(steady, max_examples=30)
@given(world=candidate_worlds(count=6), seed=seeds, k=st.integers(1, 6))
def test_votes(world: CandidateWorld, seed: int, k: int) -> None:
    """Figure 4: of the k best the one that most versions of the weights prefer, in training and in use."""
    trained = world.untrained("none", 0.0, False, True)
    versions = []
    for i in orders(seed, 6):
        trained.learn(_core.UpdateRule.perceptron(), [i])
        versions.append(dict(trained.current()))
    rows = trained.rows()
    found = trained.batch().voted(rows, trained.weights.votes(trained.step), k, 0, 6).tolist()
    mean = trained.weights_of(rows)
    for i, item in enumerate(world.sentences):
        phi = [world.of(i, y) for y in range(len(item))]
        score = lambda w, y: sum(w.get(f, 0.0) * n for f, n in phi[y].items())  # noqa: B023, E731
        ranked = sorted(range(len(item)), key=lambda y: (-score(mean, y), y))[:k]
        winners: Counter[int] = Counter()
        close = any(abs(score(mean, a) - score(mean, b)) < 1e-4 for a in ranked for b in ranked if a < b)
        for w in versions:
            scores = [score(w, y) for y in ranked]
            close = close or (
                sorted(scores)[-2:][0] > max(scores) - 1e-4 and len(scores) > 1 and any(w.values())
            )
            winners[int(np.argmax(scores))] += 1
        expected = ranked[min(j for j in winners if winners[j] == max(winners.values()))]
        assert close or found[i] == expected


def test_the_base_score_is_scaled() -> None:
    world = random_candidate_world(1)
    trained = world.untrained()
    trained.scatter(np.random.default_rng(2))
    trained.step = 1
    plain, scaled = (
        _core.CandidateModel(_core.CandidateShape(scale), trained.arrays()).scores(
            world.extractor, world.table(), _core.CandidateSpace()
        )
        for scale in (1.0, 0.25)
    )
    base = trained.weights_of(trained.rows())[(False, _core.BASE_SCORE), 0]
    scores = [features[_core.BASE_SCORE] for item in world.sentences for features in item]
    np.testing.assert_allclose(plain - scaled, 0.75 * base * np.array(scores), atol=1e-5)
    row, examples = _core.base_row(trained.index), trained.examples
    _core.scale_values(examples, row, 0.25, 0)
    values = [dict(examples.rows(t))[row] for t in range(examples.tokens)]
    np.testing.assert_allclose(values, 0.25 * np.array(scores))


def test_features_are_counted_by_item() -> None:
    index, examples = _core.FeatureIndex(True), _core.ExampleRows()
    items = [{"often": 1.0, "rare": 1.0}] * 5, [{"often": 1.0}, {_core.BASE_SCORE: 1.0}]
    flat = [one for item in items for one in item]
    table = _core.from_columns([[""] * 7], [5, 2], [], flat)
    examples.add_growing(_core.FeatureExtractor.of_items(1), table, index)
    _core.count_by_item(index, examples, True)
    index.cut(2, [examples])
    assert [index.name(row).decode() for row in (1, 2)] == ["often", _core.BASE_SCORE]
    assert len(index) == 2


def test_which_candidates_are_right() -> None:
    lengths, losses = np.array([3, 2], np.uint32), np.array([1.0, 0.5, 0.5, 2.0, 2.0])
    scores = np.array([9.0, 1.0, 2.0, 0.0, 0.0])
    assert _core.right_candidates(lengths, losses, scores, False).tolist() == [0, 0, 1, 1, 0]
    assert _core.right_candidates(lengths, losses, None, False).tolist() == [0, 1, 0, 1, 0]
    assert _core.right_candidates(lengths, losses, scores, True).tolist() == [0, 1, 1, 1, 1]
    for bad in (np.array([np.nan, 0, 0, 0, 0]), np.zeros(4)):
        with pytest.raises(ValueError, match="loss"):
            _core.right_candidates(lengths, bad, scores, False)
    with pytest.raises(ValueError, match="an item has none"):
        _core.right_candidates(np.array([0], np.uint32), np.zeros(0), None, False)


def test_what_does_not_fit_is_refused() -> None:
    world = random_candidate_world(3)
    trained = world.untrained()
    empty = _core.ExampleRows()
    empty.add_growing(world.extractor, _core.from_columns([[]], [0], [], []), trained.index)
    with pytest.raises(ValueError, match="at least one candidate"):
        _core.CandidateExamples(world.shape, empty, np.zeros(0, np.float32))
    with pytest.raises(ValueError, match="one for each candidate"):
        _core.CandidateExamples(world.shape, trained.examples, np.zeros(1, np.float32))
    trained.examples.set_gold(np.ones(trained.examples.tokens, np.int32), 2)
    with pytest.raises(ValueError, match="none that is right"):
        trained.learn(_core.UpdateRule.perceptron(), [0])


def test_the_tiers_of_the_contract() -> None:
    assert _core.CandidateExamples.tiers() == _core.tiers().keys() - {"constants", "tokens"}
