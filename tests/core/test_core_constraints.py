"""Outputs that satisfy constraints: fewest violations, then the best score, as enumeration finds them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import steady
from worlds import random_world

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)
APART, JOINED = 0, 2


@dataclass
class RandomConstraints:
    """Random constraints, and how often labels break them, counted in the plainest way."""

    relation: np.ndarray  # [left, right]
    sets: np.ndarray  # [number, label, before, after]
    everywhere: list[int]
    counts: list[tuple[int, int, int | None]]
    orders: list[tuple[int, int]]
    neighbours: list[tuple[int, int]]
    tokens: list[tuple[int, int]]
    spans: list[tuple[int, int, int]]

    def constraint_set(self) -> _core.ConstraintSet:
        labels = len(self.relation)
        flat = np.ascontiguousarray(self.sets.reshape(len(self.sets), -1))
        parts = self.everywhere, self.counts, self.orders, self.neighbours
        return _core.ConstraintSet(labels, self.relation.ravel().copy(), flat, *parts)

    def rows(self, sentence: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Constraints on tokens and spans, with the number of the sentence if there is one."""
        before = [] if sentence is None else [sentence]
        flat = [[[*before, *row] for row in rows] for rows in (self.tokens, self.spans)]
        return np.array(flat[0], np.uint32).ravel(), np.array(flat[1], np.uint32).ravel()

    def violations(self, y: tuple[int, ...], sentences: list[int]) -> int:
        bounds = [*sentences, len(y)]
        relation = [
            APART if t in (0, len(y)) or t in sentences else int(self.relation[y[t - 1], y[t]])
            for t in range(len(y) + 1)
        ]
        found = 0
        members = [[bool(s[y[t], relation[t], relation[t + 1]]) for t in range(len(y))] for s in self.sets]
        found += sum(not members[s][t] for s in self.everywhere for t in range(len(y)))
        found += sum(not members[s][t] for t, s in self.tokens)
        for first, last in itertools.pairwise(bounds):
            here = range(first, last)
            for s, least, most in self.counts:
                count = sum(members[s][t] for t in here)
                found += max(least - count, 0) + (0 if most is None else max(count - most, 0))
            for a, b in self.orders:
                found += sum(members[a][t] and any(members[b][u] for u in range(first, t)) for t in here)
            for a, b in self.neighbours:
                found += sum(members[a][t - 1] and members[b][t] for t in here if t > first)
        for first, last, s in self.spans:
            inside = all(relation[t] == JOINED for t in range(first + 1, last + 1))
            found += members[s][first] and inside and relation[last + 1] != JOINED
        return found


def random_constraints(rng: np.random.Generator, relation: np.ndarray, length: int) -> RandomConstraints:
    labels, count = len(relation), 5
    sets = (rng.random((count, labels, 3, 3)) < 0.4).astype(np.uint8)
    for s in sets[:3]:  # most are sets of labels, whatever stands beside them
        s[:] = s[:, :1, :1]
    one = lambda: int(rng.integers(count))  # noqa: E731
    few = lambda most: range(int(rng.integers(most + 1)))  # noqa: E731

    def limits() -> tuple[int, int | None]:
        least = int(rng.integers(3))
        return least, None if rng.random() < 0.4 else least + int(rng.integers(2))

    def span() -> tuple[int, int]:
        first, last = sorted(rng.integers(length, size=2).tolist())
        return first, last

    return RandomConstraints(
        relation,
        sets,
        [one() for _ in few(1)],
        [(one(), *limits()) for _ in few(2)],
        [(one(), one()) for _ in few(2)],
        [(one(), one()) for _ in few(2)],
        [(int(rng.integers(length)), one()) for _ in few(3)],
        [(*span(), one()) for _ in few(2)],
    )


def best_first(
    scores: dict[tuple[int, ...], float], constraints: RandomConstraints, sentences: list[int]
) -> tuple[int, list[tuple[int, ...]]]:
    """The fewest violations, and the outputs with no more, best first."""
    broken = {y: constraints.violations(y, sentences) for y in scores}
    least = min(broken.values())
    return least, sorted((y for y in scores if broken[y] == least), key=lambda y: -scores[y])


def check_outputs(lattice: Any, scores: dict[tuple[int, ...], float], constraints: RandomConstraints) -> None:
    least, expected = best_first(scores, constraints, [0])
    outputs = lattice.constrained(constraints.constraint_set(), *constraints.rows())
    assert outputs.exact
    assert outputs.violations == least
    found = list(outputs)
    assert {tuple(ids.tolist()) for ids, _ in found} == set(expected)
    assert len(found) == len(expected)
    assert [score for _, score in found] == pytest.approx([scores[y] for y in expected])


@settings(steady, max_examples=150)
@given(seeds, st.integers(1, 3), st.sampled_from([1, 2]), st.booleans(), st.booleans(), st.booleans())
def test_chains(seed: int, labels: int, order: int, edges: bool, local: bool, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    world = random_world(seed, labels, order, edges=edges, transitions=True, masked=masked, local=local)
    trained = world.untrained()
    trained.scatter(rng)
    model, space = _core.ChainModel(world.shape, trained.arrays()), _core.ChainSpace()
    table = world.table()
    best = model.best(world.extractor, table, space)
    relation = rng.integers(0, 3, (labels, labels)).astype(np.uint8)
    starts = table.sentence_starts.tolist()
    for s, sentence in enumerate(world.sentences):
        length = len(sentence)
        lattice = model.lattice(world.extractor, table, s, space)
        scores = {
            y: score
            for y in itertools.product(range(labels), repeat=length)
            if (score := lattice.score(np.array(y, np.uint32))) > -math.inf
        }
        if not length or not scores:
            continue
        constraints = random_constraints(rng, relation, length)
        check_outputs(lattice, scores, constraints)

        parts = [0, *sorted({int(t) for t in rng.integers(1, length + 1, 2)} - {length})]  # of a document
        users = sorted({*starts[:-1], *(starts[s] + part for part in parts)})
        chosen = np.array([i == s for i in range(len(world.sentences))], np.uint8)
        found, violations, exact = model.constrain(
            world.extractor,
            table,
            best,
            chosen,
            constraints.constraint_set(),
            *constraints.rows(s),
            np.array(users, np.uint32),
            space,
        )
        least, expected = best_first(scores, constraints, parts)
        here = tuple(found[starts[s] : starts[s + 1]].tolist())
        assert violations[s] == least
        assert exact[s]
        assert constraints.violations(here, parts) == least
        assert scores[here] == pytest.approx(scores[expected[0]])
        others = np.repeat(chosen == 0, np.diff(starts))
        assert (found[others] == best[others]).all()


IOB2 = ["B-X", "I-X", "O", "B-Y", "I-Y"]


def iob2_relations() -> np.ndarray:
    kinds = [label[2:] or label for label in IOB2]
    found = np.zeros((5, 5), np.uint8)
    for a, b in itertools.product(range(5), repeat=2):
        if kinds[a] == kinds[b] != "O":
            found[a, b] = JOINED if IOB2[b][0] == "I" else 1
    return found


@settings(steady, max_examples=150)
@given(seeds, st.integers(1, 4), st.booleans())
def test_segments(seed: int, most: int, transitions: bool) -> None:
    rng = np.random.default_rng(seed)
    none = 2**32 - 1
    shape = _core.SegmentShape(np.array([1, 1, none, 4, 4], np.uint32), most, transitions, transitions)
    length = int(rng.integers(1, 6))
    scores = rng.normal(size=length * min(most, length) * shape.types)
    constants = rng.normal(size=shape.constants) if transitions else np.zeros(shape.constants)
    lattice = _core.SegmentLattice(shape, scores, length, constants)
    outputs = {tuple(ids.tolist()): score for ids, score in lattice.k_best()}
    check_outputs(lattice, outputs, random_constraints(rng, iob2_relations(), length))


@settings(steady, max_examples=40)
@given(seeds, st.booleans())
def test_more_than_can_be_remembered(seed: int, possible: bool) -> None:
    """Constraints that no memory has room for: what is found is legal, flagged, and never worse than the free
    best; what is said to be exact is."""
    rng = np.random.default_rng(seed)
    shape = _core.ChainShape(3, 1, True, *(np.ones(n, np.uint8) for n in (3, 9, 3)), True)
    length = 5
    lattice = _core.Lattice(shape, rng.normal(size=length * 3), np.zeros(0), rng.normal(size=shape.constants))
    scores = {y: lattice.score(np.array(y, np.uint32)) for y in itertools.product(range(3), repeat=length)}
    sets = np.zeros((3, 3, 3, 3), np.uint8)
    for label in range(3):
        sets[label, label] = 1
    counts = [(int(rng.integers(3)), 1 if possible else 2**20, 2**20 + i) for i in range(30)]
    constraints = RandomConstraints(np.zeros((3, 3), np.uint8), sets, [], counts, [], [], [], [])
    outputs = lattice.constrained(constraints.constraint_set(), *constraints.rows())
    first = tuple(next(iter(outputs))[0].tolist())
    least, expected = best_first(scores, constraints, [0])
    free = max(scores, key=lambda y: scores[y])
    assert constraints.violations(first, [0]) == outputs.violations <= constraints.violations(free, [0])
    if outputs.exact:
        assert outputs.violations == least
        assert first == expected[0]
    if possible:
        assert outputs.violations == least == 0


def test_more_than_there_is_time_for() -> None:
    """Counts that make far too many states: an output comes soon, flagged, and better than the free one."""
    rng = np.random.default_rng(1)
    labels, length = 12, 80
    shape = _core.ChainShape(
        labels, 1, True, *(np.ones(n, np.uint8) for n in (labels, labels**2, labels)), True
    )
    lattice = _core.Lattice(
        shape, rng.normal(size=length * labels), np.zeros(0), rng.normal(size=shape.constants)
    )
    sets = np.zeros((labels, labels, 3, 3), np.uint8)
    sets[range(labels), range(labels)] = 1
    counts: list[tuple[int, int, int | None]] = [(label, 4 + label, 5 + label) for label in range(7)]
    constraints = RandomConstraints(np.zeros((labels, labels), np.uint8), sets, [], counts, [], [], [], [])
    outputs = lattice.constrained(constraints.constraint_set(), *constraints.rows())
    free = tuple(lattice.best()[0].tolist())
    assert not outputs.exact
    assert outputs.violations < constraints.violations(free, [0])
    first = tuple(next(iter(outputs))[0].tolist())
    assert constraints.violations(first, [0]) == outputs.violations


def test_nothing_is_demanded_of_no_tokens() -> None:
    shape = _core.ChainShape(2, 1, True, *(np.ones(n, np.uint8) for n in (2, 4, 2)), True)
    lattice = _core.Lattice(shape, np.zeros(0), np.zeros(0), np.zeros(shape.constants))
    constraint_set = _core.ConstraintSet(
        2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [0], [(0, 3, None)], [], []
    )
    outputs = lattice.constrained(constraint_set, np.zeros(0, np.uint32), np.zeros(0, np.uint32))
    assert [ids.tolist() for ids, _ in outputs] == [[]]


def test_no_legal_output_at_all() -> None:
    """The free output stays: there is nothing better."""
    no = np.zeros(2, np.uint8)
    shape = _core.ChainShape(2, 1, True, no, np.ones(4, np.uint8), no, True)
    lattice = _core.Lattice(shape, np.zeros(6), np.zeros(0), np.zeros(shape.constants))
    constraint_set = _core.ConstraintSet(
        2, np.zeros(4, np.uint8), np.zeros((1, 18), np.uint8), [0], [], [], []
    )
    nothing = np.zeros(0, np.uint32)
    outputs = lattice.constrained(constraint_set, nothing, nothing)
    assert outputs.violations == 3
    assert len([ids for ids, _ in outputs]) == 1


@pytest.mark.parametrize(
    "parts",
    [
        (3, np.zeros(4, np.uint8), np.ones((1, 27), np.uint8), [], [], [], []),
        (2, np.full(4, 3, np.uint8), np.ones((1, 18), np.uint8), [], [], [], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 17), np.uint8), [], [], [], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [1], [], [], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [], [(1, 0, None)], [], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [], [(0, 2, 1)], [], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [], [], [(0, 1)], []),
        (2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [], [], [], [(2, 0)]),
    ],
)
def test_rules_that_do_not_fit_are_refused(parts: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match="do not fit"):
        _core.ConstraintSet(*parts)


@pytest.mark.parametrize(
    ("tokens", "spans"), [([3, 0], []), ([0, 1], []), ([0], []), ([], [1, 0, 0]), ([], [0, 3, 0]), ([], [0])]
)
def test_places_that_do_not_fit_are_refused(tokens: list[int], spans: list[int]) -> None:
    shape = _core.ChainShape(2, 1, True, *(np.ones(n, np.uint8) for n in (2, 4, 2)), True)
    lattice = _core.Lattice(shape, np.zeros(6), np.zeros(0), np.zeros(shape.constants))
    constraint_set = _core.ConstraintSet(2, np.zeros(4, np.uint8), np.ones((1, 18), np.uint8), [], [], [], [])
    with pytest.raises(ValueError, match="do not fit"):
        lattice.constrained(constraint_set, np.array(tokens, np.uint32), np.array(spans, np.uint32))
    other = _core.ConstraintSet(1, np.zeros(1, np.uint8), np.ones((1, 9), np.uint8), [], [], [], [])
    with pytest.raises(ValueError, match="do not fit"):
        lattice.constrained(other, np.zeros(0, np.uint32), np.zeros(0, np.uint32))
