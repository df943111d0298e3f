"""Learning of segments, weight for weight, against the pseudo-codes that chains are compared with."""

from __future__ import annotations

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from naive_perceptron import NaivePerceptron, Vector
from oracles import steady
from segment_oracles import NO_LABEL, Types
from segment_worlds import TEMPLATES, SegmentWorld, random_segment_world, segment_worlds
from test_core_dropout import Chances, Draws, chances, rules
from test_core_gradients import GRID, Likelihood, enumerated
from test_core_learners import RULES, both, learn_in_parts
from test_core_penalties import PENALTIES, RATES, visits
from test_core_penalties import rules as penalised_rules
from worlds import UNWEIGHTED, Trained, World, assert_close, table_of

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


def orders(seed: int, count: int = 5) -> list[int]:
    return [i for k in range(3) for i in _core.permutation(count, (seed + k) % 2**32).tolist()]


@settings(steady, max_examples=60)
@given(world=segment_worlds(most=4, count=6), seed=st.integers(0, 1000))
def test_the_perceptron_from_nothing(world: SegmentWorld, seed: int) -> None:
    """With ties, which go as for the best output; rows are for what gold or a wrong answer has, only."""
    world.met = []
    plain, trained = NaivePerceptron(world), world.untrained()
    assert len(trained.index) == 0 or not world.open
    touched: set[object] = set()
    for i in orders(seed, 6):
        best = plain.best(i)
        counts = trained.learn(_core.UpdateRule.perceptron(), [i])
        assert counts["mistakes"] == (best != world.gold[i])
        if counts["mistakes"]:
            touched |= {name for phi in (plain.gold[i], plain.legal[i][best]) for name, _ in phi}
            shared = shared_names(world, i, world.gold[i], best)
            touched -= shared - {name for name, _ in plain.w}
        plain.learn(i)
    assert trained.current() == {f: w for f, w in plain.w.items() if w}
    assert_close(trained.mean(), plain.mean(), 1e-6)
    assert world.open <= (set(trained.names().values()) - {"constant"} <= touched)
    best = trained.batch().best(trained.weights.current, 0, 6).tolist()
    assert best == [c for i in range(6) for c in plain.best(i)]


def shared_names(world: SegmentWorld, i: int, one: tuple[int, ...], two: tuple[int, ...]) -> set[object]:
    """Names that only segments have which both outputs share: they cancel out, and need no rows."""
    segments = [set(world.segments(y)) for y in (one, two)]
    of = [
        {(False, name) for b, e, _ in group for _, name in world._names(i, b, e)}
        for group in (segments[0] & segments[1], segments[0] ^ segments[1])
    ]
    return of[0] - of[1]


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=50)
@given(world=segment_worlds(), seed=seeds)
def test_against_pseudo_code(name: str, world: SegmentWorld, seed: int) -> None:
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
        world = random_segment_world(seed, 2, 3, open=seed % 2 == 0, met=20)
        _, learner, _ = both(world, RULES["margin 2.5"], seed)
        whole += len(learner.learn_until_tie([*range(5)] * 3)) == 15
    assert whole >= 25


@settings(steady, max_examples=40)
@given(world=segment_worlds(), seed=seeds, decay=st.sampled_from([1.0, 0.3]), whole=st.booleans())
def test_gradient_steps(world: SegmentWorld, seed: int, decay: float, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    trained = world.untrained()
    start = trained.scatter(rng, 0.3)
    trained.batch().make_room(trained.weights, whole)
    plain = naive.gradient(0.4, decay, 5, False)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 5), room=trained.room())
    order = orders(seed)
    rule = _core.UpdateRule.gradient(0.4, decay, 5, False)
    counts = learn_in_parts(trained, rule, order, learner.samples)
    for i in order:
        learner.learn(i)
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-5, abs=1e-5)
    assert_close(trained.current(), learner.w)


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=40)
@given(world=segment_worlds(most=4, count=6), seed=seeds, which=st.integers(0, 2), size=st.integers(0, 2))
def test_lazy_penalties_are_dense(
    penalty: str, world: SegmentWorld, seed: int, which: int, size: int
) -> None:
    """Of weights whose features were not yet met, too: they owe like all others."""
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    native, plain = penalised_rules(world.labels)[which]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.5)
    learner = NaiveLearner(world, start, plain, rng.uniform(0.1, 2.0, 6), penalty, rate)
    order = learner.learn_until_tie(visits(seed, 6))
    half = len(order) // 2
    for part in (order[:half], order[half:]):
        trained.learn(native, part, learner.samples)
        if rng.random() < 0.5:
            trained.weights.catch_up(trained.step)
    assert_close(trained.current(), learner.w)
    if order:
        assert_close(trained.mean(), learner.mean())


@pytest.mark.parametrize("penalty", PENALTIES)
@settings(steady, max_examples=25)
@given(world=segment_worlds(most=4, count=6, open=False), seed=seeds, size=st.integers(0, 1))
def test_penalties_with_gradient_steps(penalty: str, world: SegmentWorld, seed: int, size: int) -> None:
    """l1-signed is Tsuruoka's cumulative penalty."""
    rng, rate = np.random.default_rng(seed), RATES[penalty[:2]][size]
    trained = world.untrained(penalty, rate)
    start = trained.scatter(rng, 0.3)
    trained.batch().make_room(trained.weights, True)
    plain = naive.gradient(0.5, 0.7, 6, False)
    samples = rng.uniform(0.1, 2.0, 6)
    learner = NaiveLearner(world, start, plain, samples, penalty, rate, room=trained.room())
    order = visits(seed, 6)
    for i in order:
        learner.learn(i)
    for part in (order[:5], order[5:]):
        trained.learn(_core.UpdateRule.gradient(0.5, 0.7, 6, False), part, samples)
    assert_close(trained.current(), learner.w)


class ThinnedLearner(NaiveLearner):
    """Sees each example as dropout leaves it: what is hidden has no value, what is left out no weight."""

    def hide(self, keys: dict[str, int], chances: Chances, seed: int) -> None:
        self.keys, self.chances, self.seed = keys, chances, seed

    def learn(self, i: int) -> None:
        draws = Draws(self.chances, self.seed, self.step)
        length, world = len(self.world.sentences[i]), self.world
        cells = [(t, c, name) for t in range(length) for c, name in enumerate(("word", "tag"))]
        naive = world.naive(i, {(t, name) for t, c, name in cells if draws.hides(t, c)})

        def names(_: int, begin: int, last: int) -> list[tuple[int | None, str]]:
            seen = [f for f in naive.names(begin, last) if f[1] in self.keys]
            return [f for f in seen if not draws.leaves_out(self.keys[f[1]])]

        self.gold[i] = world.features_of(i, world.segments(world.gold[i]), names)
        for y in self.legal[i]:
            self.legal[i][y] = world.features_of(i, world.segments(y), names)
        super().learn(i)


@pytest.mark.parametrize("name", ["perceptron", "margin", "gradient"])
@settings(steady, max_examples=40)
@given(
    world=segment_worlds(most=3, count=5, met=30),
    chances=chances,
    seed=seeds,
    penalty=st.sampled_from([("none", 0.0), ("l2", 0.1), ("l1-cumulative", 0.02)]),
)
def test_dropout(
    name: str, world: SegmentWorld, chances: Chances, seed: int, penalty: tuple[str, float]
) -> None:
    rng = np.random.default_rng(seed)
    trained = world.untrained(*penalty)
    start = trained.scatter(rng)
    native, plain = rules()[name]
    trained.batch().make_room(trained.weights, True)
    learner = ThinnedLearner(world, start, plain, rng.uniform(0.5, 2.0, 5), *penalty)
    if name == "gradient":
        learner.room = trained.room()
    keys = {trained.index.name(row).decode(): key for row, key in enumerate(trained.index.keys.tolist(), 1)}
    learner.hide(keys, chances, seed)
    order = learner.learn_until_tie([i for k in range(3) for i in _core.permutation(5, k).tolist()])
    for part in (order[:4], order[4:]):
        trained.learn(native, part, learner.samples, *chances, seed)
    if set(keys) == {n for n, _ in map(last_of, trained.names().values())} - {""}:
        assert_close(trained.current(), learner.w)  # else features were met whose draws are not known here


def last_of(name: object) -> tuple[str, bool]:
    return (name[1], True) if isinstance(name, tuple) else ("", False)


@settings(steady, max_examples=80)
@given(world=segment_worlds(most=4, count=4), seed=seeds, whole=st.booleans())
def test_gradients_against_enumeration(world: SegmentWorld, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=False)
    expected = enumerated(likelihood)
    log_z, means = likelihood.at(likelihood.x)
    assert log_z == pytest.approx(expected["log_z"], rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(means, expected["means"], atol=1e-12)
    np.testing.assert_allclose(likelihood.observed, expected["observed"], atol=1e-12)


@settings(steady, max_examples=15)
@given(world=segment_worlds(most=4, count=4), seed=seeds, whole=st.booleans())
def test_gradients_against_finite_differences(world: SegmentWorld, seed: int, whole: bool) -> None:
    likelihood = Likelihood(world, seed, whole=whole, local=False)
    gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
    for i in np.flatnonzero(likelihood.used):
        step = np.zeros(len(gradient))
        step[i] = GRID
        up, down = likelihood.loss(likelihood.x + step), likelihood.loss(likelihood.x - step)
        assert (up - down) / (2 * GRID) == pytest.approx(gradient[i], abs=2e-5)


def test_gradients_of_long_sentences() -> None:
    """All templates at once, along random directions, where enumeration ends."""
    world = random_segment_world(9, 4, 12, most=40, sentences=6, met=0)
    world.lines = [*(line for lines in TEMPLATES.values() for line in lines), "edge:"]
    world.__post_init__()
    likelihood = Likelihood(world, 3, whole=True, local=False)
    gradient = likelihood.at(likelihood.x)[1] - likelihood.observed
    rng = np.random.default_rng(1)
    for _ in range(5):
        way = rng.choice([-1.0, 0.0, 1.0], len(gradient))
        losses = [likelihood.loss(likelihood.x + h * GRID * way) for h in (-2, -1, 1, 2)]
        slope = (losses[0] - 8 * losses[1] + 8 * losses[2] - losses[3]) / (12 * GRID)
        assert slope == pytest.approx(float(gradient @ way), rel=1e-5, abs=1e-3)


def test_choices_one_by_one_are_refused() -> None:
    """A segment is no label after another: there are no local models."""
    world = random_segment_world(1)
    likelihood = Likelihood(world, 1, whole=True, local=True)
    with pytest.raises(ValueError, match="made choice by choice, which the structure segments does not have"):
        likelihood.at(likelihood.x)


@settings(steady, max_examples=40)
@given(segment_worlds(most=4, count=5), seeds, st.integers(2, 3))
def test_cutoffs_count_gold_features(world: SegmentWorld, seed: int, least: int) -> None:
    world.open = False
    trained = world.untrained()
    gold, _ = world.vectors()
    seen = Vector()
    for phi in gold:
        for (name, _), count in phi.items():
            seen[name] += count if name != "constant" else 0
    assert set(trained.names().values()) == {n for n, count in seen.items() if count} | {"constant"}
    trained.index.cut(least, [])
    assert set(trained.names().values()) == {n for n, c in seen.items() if c >= least} | {"constant"}
    weights = _core.WeightTable(len(trained.index) + 1, world.shape.constants)
    trained = Trained(world, trained.index, trained.examples, weights, 0)
    trained.learn(_core.UpdateRule.perceptron(), range(5))
    assert len(trained.names()) == 1 + sum(c >= least for c in seen.values())


@settings(steady, max_examples=40)
@given(segment_worlds(most=4, count=5), seeds)
def test_margins(world: SegmentWorld, seed: int) -> None:
    trained = world.untrained()
    start = trained.scatter(np.random.default_rng(seed))
    learner = NaiveLearner(world, start, naive.perceptron, np.ones(5))
    margins, norms = trained.batch().margins(trained.weights.current, 0, 5)
    for i, gold in enumerate(world.gold):
        others = [(learner.score(learner.minus(i, y)), y) for y in learner.legal[i] if y != gold]
        if not others:
            assert (margins[i], norms[i]) == (np.inf, 0.0)
            continue
        least = min(others)[0]
        assert margins[i] == pytest.approx(least, abs=1e-5)
        squares = [sum(v * v for v in learner.minus(i, y).values()) for m, y in others if m < least + 1e-4]
        assert any(norms[i] == pytest.approx(np.sqrt(s)) for s in squares)


def as_chain(world: SegmentWorld) -> World:
    """The same sentences and gold labels as plain tags of a chain."""
    n = world.labels
    every = np.ones(n, np.uint8)
    chain = World(
        n, 1, world.types.transitions, every, np.ones((n, n), np.uint8), every, world.types.ends, False,
        world.sentences, world.gold,
    )  # fmt: skip
    pieces = {
        "word[0]": [("word[0]=", -1, 0, False, [], []), ("", 0, 0, False, ["_B-1"], ["_B+1"])],
        "tag[-1]": [("tag[-1]=", -1, 0, False, [], []), ("", 1, -1, False, ["_B-1"], ["_B+1"])],
    }
    templates = [(False, made) for made in pieces.values()]
    chain.extractor = _core.FeatureExtractor([("column", "", 0, 0), ("column", "", 1, 0)], templates, [], 2)
    return chain


@pytest.mark.parametrize("name", [*RULES, "gradient"])
@pytest.mark.parametrize("most", [1, 4])
@settings(steady, max_examples=25)
@given(seed=seeds, transitions=st.booleans(), ends=st.booleans())
def test_a_chain_of_segments_of_one_token(
    name: str, most: int, seed: int, transitions: bool, ends: bool
) -> None:
    """Plain tags and templates of tokens: the weights and answers of a chain, ties included."""
    rng = np.random.default_rng(seed)
    types = Types((NO_LABEL,) * 3, most, transitions, ends and transitions)
    sentences = [[(f"w{a}", f"t{b}") for a, b in rng.integers(0, 3, (n, 2))] for n in rng.integers(0, 6, 6)]
    gold = [tuple(rng.integers(0, 3, len(s)).tolist()) for s in sentences]
    world = SegmentWorld(types, ["word[0]", "tag[-1]", "edge:"], sentences, gold, met=[gold])
    chain = as_chain(world)
    table = ("none", 0.0, "AROW" in name)
    ours, theirs = world.untrained(*table), chain.untrained(*table)
    rule = _core.UpdateRule.gradient(0.3, 0.8, 6, False) if name == "gradient" else RULES[name](3)[0]
    start = {} if name == "perceptron" else theirs.scatter(rng, 1.0)  # others ask for more than the best
    for trained in (ours, theirs):
        trained.begin_with(start)
        if name == "gradient":
            trained.batch().make_room(trained.weights, False)
        counts = trained.learn(rule, orders(seed, 6), np.linspace(0.5, 2.0, 6))
        assert counts["sentences"] == 18
    tolerance = 0.0 if name == "perceptron" else 1e-5
    assert_close(ours.current(), theirs.current(), tolerance)
    assert_close(ours.mean(), theirs.mean(), max(tolerance, 1e-6))
    found, expected = (t.batch().best(t.weights.current, 0, 6).tolist() for t in (ours, theirs))
    assert found == expected


def test_batches_that_do_not_fit_are_refused() -> None:
    world = random_segment_world(3)
    trained, rule, first = world.trained(), _core.UpdateRule.perceptron(), np.array([0], np.uint32)
    other = random_segment_world(3, 3).shape
    textless = _core.SegmentExamples(False)
    textless.add(world.extractor, world.table())
    with pytest.raises(ValueError, match="keep their texts"):
        world.batch(textless, trained.index)
    unnamed = _core.FeatureIndex(False)
    batch = world.batch(textless, unnamed)
    with pytest.raises(ValueError, match="gold labels"):
        batch.learn(trained.weights, rule, first, 0, UNWEIGHTED)
    batch = _core.SegmentBatch(other, world.extractor, trained.examples, trained.index, True)
    with pytest.raises(ValueError, match="do not fit"):
        batch.learn(trained.weights, rule, first, 0, UNWEIGHTED)
    with pytest.raises(ValueError, match="of another extractor"):
        trained.examples.add(_core.SegmentExtractor([], [], [], 2), table_of(world.sentences))
