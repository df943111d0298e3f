"""Learning from labels that leave open what is right, against enumeration: chains and segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import naive_partial as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import HAIR, TieError
from naive_partial import PartialLearner, Sets, gold_numbers, random_sets
from naive_perceptron import names_of
from oracles import steady
from segment_worlds import SegmentWorld, random_segment_world, segment_worlds
from test_core_gradients import GRID
from test_core_learners import hamming, learn_in_parts, random_costs
from worlds import UNWEIGHTED, Trained, WithCosts, World, assert_close, random_world, table_of, worlds

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)
both_kinds = st.one_of(worlds(labels=(2, 3), most=4, count=5), segment_worlds(most=4, count=5, open=True))
PENALTIES = {"none": 0.0, "l2": 0.01, "l1": 0.01, "l1-cumulative": 0.01}


def aggressive(kind: str, costs: Callable[[int], np.ndarray]) -> Callable[[int], tuple[Any, Any]]:
    return lambda n: (
        WithCosts(_core.UpdateRule.passive_aggressive(kind, 0.3), costs(n)),
        naive.passive_aggressive(kind, 0.3, costs(n)),
    )


RULES: dict[str, Callable[[int], tuple[_core.UpdateRule, Any]]] = {
    "perceptron": lambda n: (_core.UpdateRule.perceptron(), naive.perceptron),
    "margin 0": lambda n: (_core.UpdateRule.margin(0.0), naive.margin_perceptron(0.0)),
    "margin 2.5": lambda n: (_core.UpdateRule.margin(2.5), naive.margin_perceptron(2.5)),
    "PA-0": aggressive("0", hamming),
    "PA-I with costs": aggressive("I", random_costs),
    "PA-II with costs": aggressive("II", random_costs),
    "AROW with costs": lambda n: (
        WithCosts(_core.UpdateRule.arow(0.8), random_costs(n)),
        naive.arow(0.8, random_costs(n)),
    ),
}


def set_gold(world: Any, examples: Any, sets: Sets) -> int | None:
    shape = world.shape if isinstance(world, SegmentWorld) else world.labels
    numbers, allowed = gold_numbers(sets, world.labels)
    return examples.set_gold(numbers, shape, allowed)


def partial(world: Any, rule: Any, seed: int, *table: object) -> tuple[Trained, PartialLearner]:
    """The core and the naive learner, at the same random start, with the same labels left open."""
    rng = np.random.default_rng(seed)
    trained = world.untrained(*table)
    start = trained.scatter(rng)
    penalty, rate = (str(table[0]), float(table[1])) if table else ("none", 0.0)  # type: ignore[arg-type]
    samples = rng.uniform(0.1, 2.0, len(world.sentences))
    learner = PartialLearner(world, start, rule, samples, penalty, rate)
    learner.sets = random_sets(rng, world, learner.legal)
    set_gold(world, trained.examples, learner.sets)
    return trained, learner


def orders(seed: int) -> list[int]:
    return [i for k in range(3) for i in _core.permutation(5, (seed + k) % 2**32).tolist()]


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=80)
@given(world=both_kinds, seed=seeds, penalty=st.sampled_from(sorted(PENALTIES)))
def test_rules(name: str, world: Any, seed: int, penalty: str) -> None:
    native, plain = RULES[name](world.labels)
    if "AROW" in name:
        penalty = "none"
    trained, learner = partial(world, plain, seed, penalty, PENALTIES[penalty], "AROW" in name)
    order = learner.learn_until_tie(orders(seed))
    counts = learn_in_parts(trained, native, order, learner.samples)
    assert counts["updates"] == learner.updates
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-4, abs=1e-4)
    assert_close(trained.current(), learner.w, 1e-4)
    if order:
        assert_close(trained.mean(), learner.mean(), 1e-4)


def test_hairs_are_rare_and_right_outputs_several() -> None:
    """The test above compares whole runs that learn something."""
    whole = updates = several = 0
    for seed in range(30):
        world: Any = random_world(seed, 3, 1 + seed % 2, edges=True, transitions=True, masked=seed % 3 == 0)
        if seed % 3 == 0:
            world = random_segment_world(seed)
        _, learner = partial(world, naive.margin_perceptron(2.5), seed)
        whole += len(learner.learn_until_tie(orders(seed))) == 15
        updates += learner.updates
        several += sum(sum(learner.right(i, y) for y in learner.legal[i]) > 1 for i in range(5))
    assert whole >= 25
    assert updates > 100
    assert several > 50


@settings(steady, max_examples=60)
@given(world=both_kinds, seed=seeds, decay=st.sampled_from([1.0, 0.5]))
def test_gradient_steps(world: Any, seed: int, decay: float) -> None:
    trained, learner = partial(world, naive.gradient(0.4, decay, 5), seed)
    trained.batch().make_room(trained.weights, True)
    learner.room = trained.room()
    counts = learn_in_parts(
        trained, _core.UpdateRule.gradient(0.4, decay, 5, False), orders(seed), learner.samples
    )
    for i in orders(seed):
        learner.learn(i)
    assert counts["loss"] == pytest.approx(learner.loss, rel=1e-5, abs=1e-5)
    assert_close(trained.current(), learner.w)


class PartialLikelihood:
    """The loss of a world's examples as a function of a vector of weights."""

    def __init__(self, world: Any, seed: int) -> None:
        self.trained, self.learner = partial(world, naive.perceptron, seed)
        self.batch = self.trained.batch()
        self.batch.make_room(self.trained.weights, True)
        self.rows = self.trained.weights.current.compact()
        self.samples = self.learner.samples
        self.observed = np.zeros(len(self.rows))
        self.batch.count_gold(self.rows, self.samples, self.observed)
        known = {(name, output) for name, _, output in self.trained.places()}
        self.used = np.array([cell in known for cell in self.cells()])  # row 0 has room for more
        self.x = np.round(self.rows.weights / GRID) * GRID * self.used

    def cells(self) -> list[Any]:
        """What each weight belongs to."""
        outputs, _, ends = self.rows.flat()
        rows = np.searchsorted(ends, np.arange(len(outputs)), side="right").tolist()
        names = self.trained.names()
        return [(names[row], output) for row, output in zip(rows, outputs.tolist(), strict=True)]

    def at(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        self.rows.weights = x
        means = np.zeros(len(self.rows))
        log_z = self.batch.expectations(self.rows, 0, 5, self.samples, False, means)
        return log_z - float(x @ self.observed), means - self.observed


@settings(steady, max_examples=60)
@given(world=both_kinds, seed=seeds)
def test_the_likelihood_against_enumeration(world: Any, seed: int) -> None:
    likelihood = PartialLikelihood(world, seed)
    loss, slopes = likelihood.at(likelihood.x)
    cells, learner = likelihood.cells(), likelihood.learner
    learner.w = dict(zip(cells, likelihood.x.tolist(), strict=True))
    expected_loss, gradient = 0.0, naive.Vector()
    for i in range(5):
        (mean, log_z), (gold, log_right) = naive.expected(learner, i), naive.expected_right(learner, i)
        expected_loss += learner.samples[i] * (log_z - log_right)
        gradient.update({f: learner.samples[i] * v for f, v in mean.items()})
        gradient.update({f: -learner.samples[i] * v for f, v in gold.items()})
    assert loss == pytest.approx(expected_loss, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(slopes, [gradient[f] for f in cells], atol=1e-9)


@settings(steady, max_examples=20)
@given(world=both_kinds, seed=seeds)
def test_the_likelihood_against_finite_differences(world: Any, seed: int) -> None:
    likelihood = PartialLikelihood(world, seed)
    slopes = likelihood.at(likelihood.x)[1]
    rng = np.random.default_rng(seed)
    for _ in range(3):
        way = rng.choice([-1.0, 0.0, 1.0], len(slopes)) * likelihood.used
        losses = [likelihood.at(likelihood.x + h * GRID * way)[0] for h in (-2, -1, 1, 2)]
        slope = (losses[0] - 8 * losses[1] + 8 * losses[2] - losses[3]) / (12 * GRID)
        assert slope == pytest.approx(float(slopes @ way), rel=1e-5, abs=1e-4)


@settings(steady, max_examples=80)
@given(world=both_kinds, seed=seeds)
def test_margins(world: Any, seed: int) -> None:
    """The best right output's score minus that of the best wrong one."""
    trained, learner = partial(world, naive.perceptron, seed)
    margins, _ = trained.batch().margins(trained.weights.current, 0, 5)
    for i, margin in enumerate(margins.tolist()):
        try:
            wrong = learner.best(i, False)
            expected = np.inf if wrong is None else learner.score(learner.minus(i, wrong))
        except TieError:
            continue
        assert margin == pytest.approx(expected, abs=HAIR)


@settings(steady, max_examples=50)
@given(world=both_kinds, seed=seeds)
def test_complete_labels_are_as_ever(world: Any, seed: int) -> None:
    """Sets that nobody uses, and sets of one label, change no bit."""
    rng = np.random.default_rng(seed)
    plain, with_sets = (world.untrained() for _ in range(2))
    for trained in (plain, with_sets):
        trained.scatter(np.random.default_rng(seed))
    gold = np.array([c for y in world.gold for c in y], np.int32)
    shape = world.labels if isinstance(world, World) else world.shape
    unused = rng.integers(0, 2, (3, world.labels)).astype(np.uint8)
    unused[:, 0] = 1
    with_sets.examples.set_gold(gold, shape, unused.ravel())
    for name in ("perceptron", "margin 2.5", "PA-II with costs"):
        counts = [t.learn(RULES[name](world.labels)[0], orders(seed)) for t in (plain, with_sets)]
        assert counts[0] == counts[1]
        assert plain.current() == with_sets.current()


def test_room_is_for_labels_that_are_named() -> None:
    """At most half of the labels left is a name; a token that may be anything supports nothing."""
    world = random_world(4, 4, 1, edges=True, transitions=True, masked=False, most=4, count=5)
    trained = world.untrained()
    sets = [
        [frozenset([0, 1]) if t % 2 else frozenset(range(4)) for t in range(len(s))] for s in world.sentences
    ]
    set_gold(world, trained.examples, sets)
    trained.batch().make_room(trained.weights, False)
    names = names_of(world)
    named = {
        (name, label)
        for tokens in names
        for t, features in enumerate(tokens)
        if t % 2
        for name in features
        if not name[0]
        for label in (0, 1)
    }
    assert {f for f in trained.room() if f[0] != "constant"} == named


@settings(steady, max_examples=40)
@given(seed=seeds)
def test_features_of_segments_that_are_named(seed: int) -> None:
    """In a closed world: those of segments in some right output whose tokens all have a name."""
    world = random_segment_world(seed, 2, 3, open=False)
    rng = np.random.default_rng(seed)
    index, examples = _core.FeatureIndex(True), _core.SegmentExamples(True)
    examples.add(world.extractor, world.table())
    learner = PartialLearner(world, {}, naive.perceptron, UNWEIGHTED)
    _, legal = learner.world.vectors()
    learner.legal = legal
    learner.sets = random_sets(rng, world, legal)
    set_gold(world, examples, learner.sets)
    world.batch(examples, index).count_features()
    found = {index.name(row).decode() for row in range(1, len(index) + 1)}
    expected = set()
    for i, sets in enumerate(learner.sets):
        complete = all(len(s) == 1 for s in sets)
        named = [len(s) == 1 or 2 * len(s) <= world.labels for s in sets]
        for y in legal[i]:
            if not learner.right(i, y):
                continue
            for begin, last, _ in world.segments(y):
                if complete or all(named[begin : last + 1]):
                    expected |= {name for _, name in world._names(i, begin, last)}
    # A segment may look possible by its own tokens and the next, and be in no right output.
    assert found >= expected


def test_too_long_segments_may_be_cut_anywhere() -> None:
    inside = np.array([1, 1, 2**32 - 1], np.uint32)  # B-X I-X O
    shape = _core.SegmentShape(inside, 2, False, False)
    world = random_segment_world(3)
    examples = _core.SegmentExamples(False)
    examples.add(world.extractor, table_of([[("a", "b")] * 5, [("a", "b")] * 2]))
    unknown = np.ones(3, np.uint8)
    assert examples.set_gold(np.array([0, 1, 1, 1, -1, -1, 1], np.int32), shape, unknown) == 1
    sets, gold = examples.sets, examples.gold
    assert gold.tolist()[5:] == [3, 1]
    assert [sets[g - 3].tolist() for g in gold.tolist()[:5]] == [[1, 0, 0], *[[1, 1, 0]] * 3, [1, 1, 1]]


def test_what_does_not_fit_is_refused() -> None:
    world = random_world(1, 3, 1, edges=False, transitions=True, masked=False)
    examples = world.untrained().examples
    gold = np.full(examples.tokens, -1, np.int32)
    for sets, why in [(np.zeros(3), "empty"), (np.ones(4), "disagree"), (np.ones(0), "out of range")]:
        with pytest.raises(ValueError, match=why):
            examples.set_gold(gold, 3, sets.astype(np.uint8))
    examples.set_gold(gold, 3, np.ones(3, np.uint8))
    other = random_world(1, 2, 1, edges=False, transitions=True, masked=False)
    trained = other.untrained()
    trained.examples.set_gold(gold, 3, np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="do not fit"):
        trained.learn(_core.UpdateRule.perceptron(), [0])
    local = world.untrained()
    local.examples.set_gold(gold, 3, np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="complete labels"):
        local.learn(_core.UpdateRule.gradient(0.1, 1.0, 5, True), range(5))


@pytest.mark.parametrize("order", [1, 2])
def test_no_right_output_is_legal(order: int) -> None:
    """Label 1 stands alone: what must be nothing else, with a neighbour, is refused by all who ask."""
    world = random_world(2, 3, order, edges=False, transitions=True, masked=False, most=4, count=4)
    world.transition[1] = world.transition[:, 1] = 0
    world.__post_init__()
    trained = world.untrained()
    long = next(i for i, sentence in enumerate(world.sentences) if len(sentence) > 1)
    gold = np.tile(np.array([1, -1], np.int32), trained.examples.tokens)[: trained.examples.tokens]
    trained.examples.set_gold(gold, 3, np.array([0, 1, 0], np.uint8))
    for name in ("perceptron", "PA-0"):
        with pytest.raises(ValueError, match="no right output"):
            trained.learn(RULES[name](3)[0], [long])
    with pytest.raises(ValueError, match="no legal output"):
        trained.learn(_core.UpdateRule.gradient(0.1, 1.0, 5, False), [long])


@pytest.mark.parametrize("order", [1, 2])
def test_dropout_hides_the_same_from_the_right_output(order: int) -> None:
    """With all features hidden nothing tells outputs apart but constants, and those are learned."""
    world = random_world(6, 3, order, edges=False, transitions=True, masked=False, most=4, count=5)
    trained = world.untrained(keep_templates=True)
    sets = [[frozenset([1, 2])] * len(s) for s in world.sentences]
    set_gold(world, trained.examples, sets)
    trained.learn(_core.UpdateRule.perceptron(), range(5), UNWEIGHTED, 0.0, 0.0, 1.0, 7)
    assert {name for name, _ in trained.current()} == {"constant"}
