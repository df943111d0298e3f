"""Transition-based parsing against plain enumeration and naive pseudo-code."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_trees import (
    Action,
    Configuration,
    NaiveParser,
    derivations,
    is_projective,
    is_tree,
    number_of,
    random_tree,
)

from marginalia import _core
from marginalia.corpus import Sentence
from marginalia.corpus.blocks import pack
from marginalia.features.compiling import compile_tree_extractor
from marginalia.features.reading import Columns
from marginalia.features.tree_templates import parse_tree_templates
from marginalia.model.freezing import frozen_arrays

SYSTEMS = ("arc-standard", "swap", "arc-eager", "arc-hybrid")
LABELS = ["a", "b"]
MOST = _core.MOST_TREE_LABELS
RICH = [
    "s0.word",
    "s1.word",
    "q0.word",
    "s0.pos/q0.pos",
    "s1.pos/s0.pos",
    "s0.left.word",
    "s0.right2.pos/s0.pos",
    "s1.left2.pos",
    "s0.left.label",
    "s0.head.word",
    "s0.label",
    "s1.right.label/s0.pos",
    "distance(s1,s0)",
    "s0.pos/distance(s0,q0)",
    "s0.word/valency(s0,left)",
    "valency(s1,right)",
    "labels(s0,left)/s0.pos",
    "labels(s1,right)",
    "s0.left.right.pos",
    "q1.pos/q2.pos",
    "s2.pos/s3.word",
]
POOR = [
    "s0.pos",
    "s1.pos/s0.pos",
    "s0.pos/q0.pos",
    "s1.left.pos",
    "s0.right.pos/s0.pos",
]  # which merge states
NONE = np.zeros(0)
HAIR = 1e-5
Record = dict[str, list[str]]


def random_records(rng: random.Random, count: int, longest: int) -> list[Record]:
    lengths = [rng.randint(1, longest) for _ in range(count)]
    return [
        {"word": [rng.choice("xyz") for _ in range(n)], "pos": [rng.choice("NV") for _ in range(n)]}
        for n in lengths
    ]


class World:
    """Sentences with trees, a shape and weights to learn."""

    def __init__(self, seed: int, system: str, templates: list[str], **options: Any) -> None:
        rng = random.Random(seed)
        beam, longest = options.pop("beam", 3), options.pop("longest", 5)
        self.system, self.templates = system, templates
        self.records = random_records(rng, options.pop("count", 4), longest)
        projective = system != "swap"
        self.trees = [random_tree(rng, len(r["word"]), len(LABELS), projective) for r in self.records]
        program = parse_tree_templates("\n".join(templates), Columns(("word", "pos", "label"), "label"))
        self.extractor = compile_tree_extractor(program, ("word", "pos"), {})
        settings = {"one_root": True, "merge": False, "update": "max-violation"} | options
        self.shape = _core.TreeShape(LABELS, system, beam, **settings)
        self.examples = _core.TreeExamples(True)
        self.examples.add(self.extractor, pack([Sentence(r) for r in self.records], ("word", "pos")).table)
        self.set_gold([list(tree) for tree in self.trees])
        self.index = _core.FeatureIndex(True)
        self.weights = _core.WeightTable(1, 0)
        self.batch = _core.TreeBatch(self.shape, self.extractor, self.examples, self.index, True)
        self.naive = NaiveParser(system, templates, LABELS, self.allowed(), beam)
        self.update = settings["update"]

    def set_gold(self, trees: list[list[tuple[int, int]]]) -> int:
        heads = np.array([head + 1 for tree in trees for head, _ in tree], np.int32)
        labels = np.array([label for tree in trees for _, label in tree], np.int32)
        return self.examples.set_gold(self.shape, heads, labels)

    def allowed(self) -> set[int]:
        return set(np.flatnonzero(self.shape.allowed).tolist())

    def oracle(self, i: int) -> list[int]:
        heads = np.array([head + 1 for head, _ in self.trees[i]], np.int32)
        labels = np.array([label for _, label in self.trees[i]], np.int32)
        return self.shape.oracle(heads, labels).tolist()

    def learn(self, rule: _core.UpdateRule, i: int, step: int) -> dict[str, Any]:
        return self.batch.learn(self.weights, rule, np.array([i], np.uint32), step, NONE)

    def learned(self) -> dict[tuple[str, int], float]:
        rows, found = self.weights.current, {}
        for row in range(1, min(len(self.index) + 1, len(rows.flat()[2]))):
            outputs, weights = rows.cells(row)
            name = self.index.name(row).decode()
            found.update({(name, o): w for o, w in zip(outputs.tolist(), weights.tolist(), strict=True) if w})
        return found

    def taught(self, passes: int = 3) -> World:
        """With weights that make few ties."""
        rule = _core.UpdateRule.passive_aggressive("II", 0.37)
        for step in range(passes * len(self.records)):
            self.learn(rule, step % len(self.records), step)
        self.naive.w = self.learned()
        return self

    def best(self, i: int) -> list[tuple[int, int]]:
        arcs = self.batch.best(self.weights.current, i, i + 1).tolist()
        return [(arc // MOST - 1, arc % MOST) for arc in arcs]


def action_of(number: int) -> Action:
    return (
        (("shift", "reduce", "swap")[number], 0)
        if number < 3
        else (("left", "right", "root")[number % 3], (number - 3) // 3)
    )


def tree_of(system: str, length: int, actions: list[Action]) -> list[tuple[int, int]]:
    config = Configuration(system, [], list(range(length)))
    for action in actions:
        assert action[0] in config.moves()
        config = config.after(action)
    assert config.done
    return [config.heads[t] for t in range(length)]


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6), length=st.integers(1, 8))
@settings(max_examples=40)
def test_the_oracle_makes_every_tree(system: str, seed: int, length: int) -> None:
    tree = random_tree(random.Random(seed), length, 2, system != "swap")
    shape = _core.TreeShape(LABELS, system, 1, True, False, "early")
    heads, labels = (np.array(column, np.int32) for column in zip(*tree, strict=True))
    actions = [action_of(number) for number in shape.oracle(heads + np.int32(1), labels).tolist()]
    assert tree_of(system, len(tree), actions) == tree


@given(seed=st.integers(0, 10**6))
@settings(max_examples=40)
def test_lifted_trees_are_projective(seed: int) -> None:
    heads = [head for head, _ in random_tree(random.Random(seed), 6, 1, False)]
    lifted = (_core.projectivised(np.array(heads, np.int32) + np.int32(1)) - 1).tolist()
    assert is_tree(lifted)
    assert is_projective(lifted)
    assert (lifted == heads) == is_projective(heads)


def all_trees(world: World, i: int) -> dict[tuple[tuple[int, int], ...], float]:
    """The best score of each tree, by enumeration."""
    record, found = world.records[i], {}
    n = len(record["word"])
    start = Configuration(world.system, [], list(range(n)))
    for actions in derivations(start, len(LABELS), lambda a: number_of(a) in world.naive.allowed):
        tree = tuple(tree_of(world.system, n, actions))
        found[tree] = max(found.get(tree, -1e9), world.naive.value(actions, record))
    return found


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6)
def test_a_wide_beam_finds_the_best_of_all_trees(system: str, seed: int) -> None:
    longest = 3
    world = World(seed, system, RICH, beam=3, longest=longest).taught()
    wide = World(seed, system, RICH, beam=1000, longest=longest)
    batch = _core.TreeBatch(wide.shape, wide.extractor, wide.examples, world.index, False)
    for i, record in enumerate(world.records):
        trees = all_trees(world, i)
        arcs = batch.best(world.weights.current, i, i + 1).tolist()
        found = tuple((arc // MOST - 1, arc % MOST) for arc in arcs)
        assert trees[found] == pytest.approx(max(trees.values()), abs=1e-4), record


def ranked(
    world: World, i: int, beam: int, k: int, spans: list[tuple[int, int]] | None = None
) -> list[tuple[tuple[tuple[int, int], ...], float]]:
    """The k best trees of a finished model with the weights of a world, with their scores."""
    shape = _core.TreeShape(LABELS, world.system, beam, True, False, "max-violation")
    shape.allow(world.shape.allowed)
    arrays = frozen_arrays(world.weights.current, world.index, shape.row_width)
    table, model = pack([Sentence(world.records[i])], ("word", "pos")).table, _core.TreeModel(shape, arrays)
    any_arc = np.full(0 if spans is None else table.tokens, -1, np.int32)
    ends = np.array(spans or [], np.int32).reshape(-1)
    found = model.ranked(world.extractor, table, 0, k, any_arc, any_arc, ends, _core.TreeSpace())
    return [
        (tuple((arc // MOST - 1, arc % MOST) for arc in arcs.tolist()), score) for arcs, _, score in found
    ]


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 40))
@settings(max_examples=6)
def test_a_wide_beam_finds_the_k_best_of_all_trees(system: str, seed: int, k: int) -> None:
    """Trees that several derivations make come once, with the score of the best."""
    world = World(seed, system, RICH, beam=3, longest=3).taught()
    for i, record in enumerate(world.records):
        trees, found = all_trees(world, i), ranked(world, i, 5000, k)
        expected = sorted(trees.values(), reverse=True)[:k]
        assert len({tree for tree, _ in found}) == len(found) == len(expected)
        assert [score for _, score in found] == pytest.approx(expected, abs=1e-4), record
        for tree, score in found:
            assert score == pytest.approx(trees[tree], abs=1e-4)


def has_span(tree: tuple[tuple[int, int], ...], first: int, last: int) -> bool:
    """Whether exactly one of the tokens first to last, from 1 on, has its head outside."""
    inside = range(first - 1, last)
    return sum(tree[token][0] not in inside for token in inside) == 1


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6)
def test_spans_that_are_given_are_kept(system: str, seed: int) -> None:
    """With room for all states, search finds all trees that have the spans, and no other."""
    world, rng = World(seed, system, RICH, beam=3, longest=4, count=3).taught(), random.Random(seed)
    for i, record in enumerate(world.records):
        length = len(record["word"])
        if system == "swap" and length > 3:
            continue
        pairs = [sorted(rng.choices(range(1, length + 1), k=2)) for _ in range(rng.randint(1, 2))]
        spans = [(first, last) for first, last in pairs]
        expected = {tree for tree in all_trees(world, i) if all(has_span(tree, *span) for span in spans)}
        assert {tree for tree, _ in ranked(world, i, 100_000, 10**6, spans)} == expected
        assert all(has_span(tree, *span) for tree, _ in ranked(world, i, 2, 9, spans) for span in spans)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=6)
def test_merged_states_lose_no_tree(seed: int) -> None:
    """With room for all states, merging finds the best tree; with little room it finds one at least as good
    as plain search most often, and its score is that of its tree."""
    world = World(seed, "arc-standard", POOR, beam=3, longest=4).taught()
    wide = World(seed, "arc-standard", POOR, beam=5000, longest=4, merge=True)
    batch = _core.TreeBatch(wide.shape, wide.extractor, wide.examples, world.index, False)
    for i in range(len(world.records)):
        trees = all_trees(world, i)
        arcs = batch.best(world.weights.current, i, i + 1).tolist()
        found = tuple((arc // MOST - 1, arc % MOST) for arc in arcs)
        assert trees[found] == pytest.approx(max(trees.values()), abs=1e-4)


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=6)
def test_arcs_that_are_known_are_kept(system: str, seed: int) -> None:
    """Gold of a tree that is partly known is the best tree with the arcs that are: an update moves towards
    one of those, and away from the best tree if that is not one of them."""
    world = World(seed, system, RICH, beam=1000, longest=3).taught()
    rng = random.Random(seed)
    known = [[arc if rng.random() < 0.5 else (-2, -1) for arc in tree] for tree in world.trees]
    world.set_gold(known)
    for i, tree in enumerate(known):
        trees, best = all_trees(world, i), tuple(world.best(i))
        fitting = [one for one in trees if all(b in (a, (-2, -1)) for a, b in zip(one, tree, strict=True))]
        counted = world.learn(_core.UpdateRule.perceptron(), i, 0)
        wrong = sum(b not in (a, (-2, -1)) for a, b in zip(best, tree, strict=True))
        assert fitting
        assert counted["wrong_tokens"] == wrong
        assert counted["updates"] == (wrong > 0)
        world.naive.w = world.learned()


def naive_violation(world: World, i: int, costly: bool) -> tuple[list[Action], list[Action], float] | None:
    """The right and the wrong part of an update, and the cost of the wrong one."""
    record, gold = world.records[i], [action_of(number) for number in world.oracle(i)]

    def cost(config: Configuration, action: Action) -> float:
        arc = config.arc(action[0])
        return float(costly and arc is not None and world.trees[i][arc[1]] != (arc[0], action[1]))

    most, found, beam, world.naive.gap = -1e9, None, [], 1.0
    for t, beam in enumerate(world.naive.beams(record, cost), 1):
        score, actions, _ = beam[0]
        right = gold[:t]
        lead = score - world.naive.value(right, record)
        in_beam = any(kept == right for _, kept, _ in beam)
        if actions != right and lead < most:
            world.naive.gap = min(world.naive.gap, most - lead)
        if actions != right and (world.update == "early" or lead >= most):
            world.naive.gap = min(world.naive.gap, lead - most)
            most, found = lead, (right, actions)
        if world.update == "early" and not in_beam:
            break
    last = [beam[0][2].heads.get(token) for token in range(len(record["word"]))]
    lost = world.update == "early" and not any(kept == gold[: len(kept)] for _, kept, _ in beam)
    if not lost and last == world.trees[i]:
        return None
    assert found is not None
    config, wrong = world.naive.start(record), 0.0
    for action in found[1]:
        wrong += cost(config, action)
        config = config.after(action)
    return (*found, wrong)


def difference(world: World, i: int, right: list[Action], wrong: list[Action]) -> dict[Any, float]:
    record = world.records[i]
    ours, theirs = world.naive.counts(right, record), world.naive.counts(wrong, record)
    net = {place: ours.get(place, 0.0) - theirs.get(place, 0.0) for place in ours.keys() | theirs.keys()}
    return {place: value for place, value in net.items() if value}


@pytest.mark.parametrize("update", ["early", "max-violation"])
@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=5)
def test_perceptron_updates_weight_for_weight(update: str, system: str, seed: int) -> None:
    world = World(seed, system, RICH, beam=2, update=update)
    w: dict[Any, float] = {}
    for step in range(3 * len(world.records)):
        i = step % len(world.records)
        world.naive.w = w
        found = naive_violation(world, i, False)
        for place, value in difference(world, i, *found[:2]).items() if found else ():
            w[place] = w.get(place, 0.0) + value
        world.learn(_core.UpdateRule.perceptron(), i, step)
        assert world.learned() == {place: value for place, value in w.items() if value}


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=4)
def test_passive_aggressive_updates_know_costs(system: str, seed: int) -> None:
    world = World(seed, system, RICH, beam=2)
    w: dict[Any, float] = {}
    for step in range(2 * len(world.records)):
        i = step % len(world.records)
        world.naive.w = world.learned()  # as rounded there
        found = naive_violation(world, i, True)
        w = dict(world.naive.w)
        if found:
            net = difference(world, i, *found[:2])
            loss = found[2] - sum(w.get(place, 0.0) * value for place, value in net.items())
            norm = sum(value * value for value in net.values())
            for place, value in net.items() if loss > 0 else ():
                w[place] = w.get(place, 0.0) + min(0.5, loss / norm) * value
        world.learn(_core.UpdateRule.passive_aggressive("I", 0.5), i, step)
        learned = world.learned()
        for place in learned.keys() | w.keys() if world.naive.gap > HAIR else ():  # else rounding decides
            assert learned.get(place, 0.0) == pytest.approx(w.get(place, 0.0), abs=1e-5)


@pytest.mark.parametrize("system", SYSTEMS)
@given(seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_every_output_is_a_tree(system: str, seed: int) -> None:
    world = World(seed, system, RICH, beam=random.Random(seed).randint(1, 4), longest=9, count=6).taught(1)
    for i in range(len(world.records)):
        heads = [head for head, _ in world.best(i)]
        assert is_tree(heads)
        assert heads.count(-1) == 1


@pytest.mark.parametrize("penalty", ["l2", "l1", "l1-cumulative"])
def test_penalties_are_paid_before_search(penalty: str) -> None:
    """A table that pays late learns what one learns that has paid everything before each example."""
    late, early = (World(3, "arc-standard", RICH, count=6) for _ in range(2))
    late.weights, early.weights = (_core.WeightTable(1, 0, penalty, 0.003) for _ in range(2))
    rule = _core.UpdateRule.passive_aggressive("II", 0.37)  # of which rounding decides nothing
    for step in range(18):
        early.weights.catch_up(float(step))
        for world in (late, early):
            world.learn(rule, step % 6, step)
    for world in (late, early):
        world.weights.catch_up(18.0)
    ours, theirs = late.learned(), early.learned()
    assert ours
    assert ours.keys() == theirs.keys()
    assert all(ours[place] == pytest.approx(theirs[place], abs=1e-6) for place in ours)
