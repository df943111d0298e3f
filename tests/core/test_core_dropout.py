"""Dropout: what is hidden follows from seed and step, and learning sees nothing of it."""

from __future__ import annotations

from collections.abc import Hashable

import naive_learners as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner
from naive_perceptron import Names, features_of, legal_outputs
from oracles import steady
from worlds import COLUMN, UNWEIGHTED, Trained, World, assert_close, literal, random_world, value, worlds

from marginalia import _core

FULL = 2**64 - 1
SOURCES = [*COLUMN, ("first", "", 0, 0)]
ABSOLUTE = ("", 0, 1, True, ["<"], [">"])  # the second token, wherever one is
FROM_END = ("", 1, -3, True, ["<"], [">"])  # the third token from the end, or outside
# Each template's name begins with its letter; what it looks at: (offset, is it absolute?, column).
TEMPLATES = {
    "a": (False, [literal("a"), value(0, 0)], [(0, False, 0)]),
    "b": (False, [literal("b"), value(0, -2), value(1, 1)], [(-2, False, 0), (1, False, 1)]),
    "c": (False, [literal("c")], []),
    "d": (False, [literal("d"), ABSOLUTE], [(1, True, 0)]),
    "e": (False, [literal("e"), FROM_END], [(-3, True, 1)]),
    "f": (False, [literal("f"), value(2, 0)], []),  # "is it the first?" looks at no token
    "g": (True, [literal("g"), value(1, 3)], [(3, False, 1)]),
    "h": (True, [literal("h"), value(0, 0)], [(0, False, 0)]),
}
Chances = tuple[float, float, float]  # of tokens, values and features to be hidden


def scrambled(x: int) -> int:
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & FULL
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & FULL
    return x ^ (x >> 31)


def draw(key: int, which: int) -> float:
    """Uniform in [0, 1), the same everywhere."""
    return (scrambled((key + which * 0x9E3779B97F4A7C15) & FULL) >> 11) * 2.0**-53


class Draws:
    """What is hidden at a step."""

    def __init__(self, chances: Chances, seed: int, step: int) -> None:
        self.chances, self.key = chances, scrambled(seed ^ scrambled(step))

    def hides(self, token: int, column: int) -> bool:
        key = scrambled(scrambled(self.key))
        values = draw(key, (token << 32) + column) < self.chances[1]
        return values or draw(self.key, token) < self.chances[0]

    def leaves_out(self, feature: int) -> bool:
        return draw(scrambled(self.key), feature) < self.chances[2]


def looks_at(name: str, t: int, length: int) -> list[tuple[int, int]]:
    """The values inside the sentence, (token, column), that the feature was made of."""
    places = [
        ((offset % length if offset < 0 <= offset + length else offset) if absolute else t + offset, column)
        for offset, absolute, column in TEMPLATES[name[0]][2]
    ]
    return [(token, column) for token, column in places if 0 <= token < length]


def thinned(names: Names, rows: dict[str, int], chances: Chances, seed: int, step: int) -> Names:
    """What is left of a sentence's features."""
    draws = Draws(chances, seed, step)
    kept = []
    for t, token in enumerate(names):
        seen = [f for f in token if not any(draws.hides(*at) for at in looks_at(f[1], t, len(names)))]
        kept.append([f for f in seen if not draws.leaves_out(rows[f[1]])])
    return kept


class ThinnedLearner(NaiveLearner):
    """Sees each example as dropout leaves it."""

    def hide(self, rows: dict[str, int], chances: Chances, seed: int) -> None:
        self.rows, self.chances, self.seed = rows, chances, seed
        self.whole = [[[f for f in token if f[1] in rows] for token in names] for names in self.names]

    def learn(self, i: int) -> None:
        world, names = self.world, thinned(self.whole[i], self.rows, self.chances, self.seed, self.step)
        self.names[i] = names
        self.gold[i] = features_of(world, names, world.gold[i])
        self.legal[i] = {y: features_of(world, names, y) for y in legal_outputs(world, len(names))}
        super().learn(i)


def rows_of(index: _core.FeatureIndex) -> dict[str, int]:
    return {index.name(row).decode(): row for row in range(1, len(index) + 1)}


def reading(world: World, edges: bool) -> World:
    """The world with the templates above."""
    templates = [(edge, pieces) for edge, pieces, _ in TEMPLATES.values() if edges or not edge]
    world.extractor = _core.FeatureExtractor(SOURCES, templates, [], 2)
    return world


shares = st.sampled_from([0.0, 0.3, 0.6])
chances = st.tuples(shares, shares, st.sampled_from([0.0, 0.2, 0.7]))
seeds = st.integers(0, 2**64 - 1)


def rules() -> dict[str, tuple[_core.UpdateRule, naive.Rule]]:
    return {
        "perceptron": (_core.UpdateRule.perceptron(), naive.perceptron),
        "margin": (_core.UpdateRule.margin(1.0), naive.margin_perceptron(1.0)),
        "gradient": (_core.UpdateRule.gradient(0.5, 0.9, 5, False), naive.gradient(0.5, 0.9, 5, False)),
        "choices": (_core.UpdateRule.gradient(0.5, 0.9, 5, True), naive.gradient(0.5, 0.9, 5, True)),
    }


@pytest.mark.parametrize("name", ["perceptron", "margin", "gradient", "choices"])
@settings(steady, max_examples=60)
@given(
    world=worlds(most=5, count=5, labels=(1, 2)),
    chances=chances,
    seed=seeds,
    penalty=st.sampled_from([("none", 0.0), ("l2", 0.1), ("l1-cumulative", 0.02)]),
)
def test_learning_sees_what_is_left(
    name: str, world: World, chances: Chances, seed: int, penalty: tuple[str, float]
) -> None:
    world, rng = reading(world, world.edges), np.random.default_rng(seed)
    trained = world.untrained(*penalty, keep_templates=True)
    start = trained.scatter(rng)
    native, plain = rules()[name]
    trained.batch().make_room(trained.weights, True)
    learner = ThinnedLearner(world, start, plain, rng.uniform(0.5, 2.0, 5), *penalty)
    if name in ("gradient", "choices"):
        learner.room = trained.room()
    learner.hide(rows_of(trained.index), chances, seed)
    order = learner.learn_until_tie([i for k in range(3) for i in _core.permutation(5, k).tolist()])
    for part in (order[:4], order[4:]):
        trained.learn(native, part, learner.samples, *chances, seed)
    assert_close(trained.current(), learner.w)


def by_name(trained: Trained, rows: dict[str, int]) -> dict[Hashable, float]:
    found = {}
    for name, row in [*rows.items(), ("constant", 0)]:
        key = name if row == 0 else (name[0] in "gh", name)
        found.update(
            {(key, int(o)): float(w) for o, w in zip(*trained.weights.current.cells(row), strict=True)}
        )
    return found


@pytest.mark.parametrize("known", [False, True])
@settings(steady, max_examples=40)
@given(world=worlds(most=5, count=5, labels=(1, 2)), chances=chances, seed=seeds)
def test_after_a_cut(known: bool, world: World, chances: Chances, seed: int) -> None:
    """Rows have other numbers then, and templates go with them; the same where examples are read anew."""
    world = reading(world, world.edges)
    trained = world.untrained(keep_templates=True)
    trained.index.cut(2, [trained.examples])
    if known:
        trained.examples = _core.ExampleRows(True)
        trained.examples.add_known(world.extractor, world.table(), trained.index)
        trained.examples.set_gold(np.array([c for y in world.gold for c in y], np.int32), world.labels)
    rows = rows_of(trained.index)
    trained.batch().make_room(trained.weights, True)
    native, plain = rules()["gradient"]
    learner = ThinnedLearner(world, {}, plain, np.ones(5))
    learner.hide(rows, chances, seed)
    order = [*range(5)] * 2
    for i in order:
        learner.learn(i)
    trained.learn(native, order, UNWEIGHTED, *chances, seed)
    found = by_name(trained, rows)
    assert_close(found, {f: w for f, w in learner.w.items() if f in found})


def test_everything_hidden() -> None:
    """What looks at no token, or only outside the sentence, stays when all of the input is hidden."""
    world = random_world(3, 3, 2, edges=True, transitions=True, masked=False, most=6, count=8)
    world = reading(world, True)
    outside = {"b<>", "c", "d>", "e<", "f1", "g>"}
    for hidden, visible in [((1.0, 0.0, 0.0), outside), ((0.0, 1.0, 0.0), outside), ((0.0, 0.0, 1.0), set())]:
        trained = world.untrained(keep_templates=True)
        trained.learn(_core.UpdateRule.perceptron(), [*range(8)] * 2, UNWEIGHTED, *hidden, 1)
        names = {name[1] for name, _ in trained.current() if name != "constant"}
        assert names == visible


def test_what_is_hidden_changes_from_step_to_step() -> None:
    """With the asked-for share on average, for tokens, values and features."""
    names = [[(False, f"a{t}")] for t in range(8)]
    rows = {f"a{t}": t + 1 for t in range(8)}
    for chances in [(0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3)]:
        left = [sum(map(len, thinned(names, rows, chances, 5, step))) for step in range(4_000)]
        assert np.mean(left) == pytest.approx(8 * 0.7, abs=0.08)
        assert np.var(left) == pytest.approx(8 * 0.21, rel=0.1)  # as for independent draws
        other = [sum(map(len, thinned(names, rows, chances, 6, step))) for step in range(4_000)]
        assert abs(np.corrcoef(left, other)[0, 1]) < 0.06
        assert abs(np.corrcoef(left[1:], left[:-1])[0, 1]) < 0.06


def test_hiding_ends_with_the_call() -> None:
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False, count=6)
    trained = world.trained()
    before = trained.batch().best(trained.weights.current, 0, 6).tolist()
    batch, order = trained.batch(), np.zeros(0, np.uint32)
    batch.learn(trained.weights, _core.UpdateRule.perceptron(), order, 0, UNWEIGHTED, 0.0, 0.0, 0.5, 1)
    assert batch.best(trained.weights.current, 0, 6).tolist() == before
    assert (
        trained.learn(_core.UpdateRule.perceptron(), range(6), UNWEIGHTED, 0.0, 0.0, 0.0, 1)["sentences"] == 6
    )


def test_hiding_input_needs_templates() -> None:
    world = random_world(4, 3, 1, edges=True, transitions=True, masked=False, count=6)
    trained = world.untrained()
    for hidden in [(0.5, 0.0, 0.0), (0.0, 0.5, 0.0)]:
        with pytest.raises(ValueError):
            trained.learn(_core.UpdateRule.perceptron(), range(6), UNWEIGHTED, *hidden, 1)
    trained.learn(_core.UpdateRule.perceptron(), range(6), UNWEIGHTED, 0.0, 0.0, 0.5, 1)
