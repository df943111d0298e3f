"""What each example has of each weight, against learners that keep a set of weights for every example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import Change, NaiveLearner
from naive_learners import Rule as NaiveRule
from oracles import steady
from segment_worlds import SegmentWorld, segment_worlds
from test_core_learners import RULES
from worlds import Trained, World, assert_close, worlds

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)
START = 2**32 - 1
Taught = dict[Hashable, float]


@dataclass
class NaiveTeacher:
    """Notes what a rule changes at which example; the sum after every step is for the mean."""

    rule: NaiveRule
    taught: Counter[Hashable] = field(default_factory=Counter)
    sum_of_taught: Counter[Hashable] = field(default_factory=Counter)
    steps: int = 0

    def __call__(self, learner: NaiveLearner, i: int) -> Change:
        change, scale = self.rule(learner, i)
        for f, value in change.items():
            self.taught[f, i] += learner.samples[i] * value
        self.sum_of_taught.update(self.taught)
        self.steps += 1
        return change, scale

    def mean(self) -> Taught:
        return {place: total / self.steps for place, total in self.sum_of_taught.items()}


def taught(trained: Trained, steps: int) -> Taught:
    """The core's contributions by feature, output and example."""
    names = trained.names()
    flat = trained.weights.provenance(steps).flat()
    rows = zip(*(part.tolist() for part in flat), strict=True)
    return {((names[row], output), example): part for row, output, example, part in rows}


def of_examples(provenance: Taught) -> Taught:
    return {place: part for place, part in provenance.items() if place[1] != START}


def sums(provenance: Taught) -> Taught:
    found: Counter[Hashable] = Counter()
    for (weight, _), part in provenance.items():
        found[weight] += part
    return dict(found)


def compare(name: str, world: Any, seed: int) -> None:
    """The contributions are those of the pseudo-code, and sum to the weights."""
    rng = np.random.default_rng(seed)
    native, plain = RULES[name](world.labels)
    trained = world.untrained("none", 0.0, "AROW" in name, False, True)
    start = trained.scatter(rng)
    teacher = NaiveTeacher(plain)
    learner = NaiveLearner(world, dict(start), teacher, rng.uniform(0.1, 2.0, len(world.sentences)))
    order = [i for k in range(3) for i in _core.permutation(5, (seed + k) % 2**32).tolist()]
    order = learner.learn_until_tie(order)
    trained.learn(native, order[:4], learner.samples)
    trained.learn(native, order[4:], learner.samples)
    last, mean = taught(trained, 0), taught(trained, len(order))
    assert_close(of_examples(last), teacher.taught)
    assert {place[0]: part for place, part in last.items() if place[1] == START} == pytest.approx(start)
    # To the weight itself they sum exactly: what rounding took is taken from the lesson.
    assert_close(sums(last), trained.current(), 1e-12)
    if order:
        assert_close(of_examples(mean), teacher.mean())
        assert_close(sums(mean), trained.mean(), 1e-6)


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=40)
@given(world=worlds(most=4, count=5), seed=seeds)
def test_chains(name: str, world: World, seed: int) -> None:
    compare(name, world, seed)


@pytest.mark.parametrize("name", RULES)
@settings(steady, max_examples=15)
@given(world=segment_worlds(), seed=seeds)
def test_segments(name: str, world: SegmentWorld, seed: int) -> None:
    compare(name, world, seed)


def test_examples_of_later_batches_have_their_own_numbers() -> None:
    from worlds import random_world

    world = random_world(3, 3, 1, edges=True, transitions=True, masked=False, count=6)
    trained = world.untrained("none", 0.0, False, False, True)
    order = np.arange(6, dtype=np.uint32)
    trained.batch().learn(trained.weights, _core.UpdateRule.perceptron(), order, 0, np.zeros(0), first=100)
    examples = trained.weights.provenance(0).flat()[2]
    assert examples.size
    assert set(examples.tolist()) <= set(range(100, 106))


@pytest.mark.parametrize("most", [0, 1, 3])
def test_what_is_not_kept_is_summed_up(most: int) -> None:
    from worlds import random_world

    world = random_world(5, 3, 2, edges=True, transitions=True, masked=False, count=12)
    trained = world.untrained("none", 0.0, False, False, True)
    for seed in range(4):
        trained.learn(_core.UpdateRule.perceptron(), _core.permutation(12, seed))
    provenance = trained.weights.provenance(trained.step)
    arrays = trained.rows().freeze(
        trained.index, world.labels, contributions=provenance, most=most, examples=len(world.sentences)
    )
    ends = arrays["lesson_end"].astype(int)
    counts = np.diff(ends, prepend=0)
    assert counts.max() > 0
    assert most == 0 or counts.max() <= most
    for output, (first, last) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True)):
        parts = np.abs(arrays["lesson_parts"][first:last])
        assert (parts[1:] <= parts[:-1]).all()
        if most == 0:
            assert arrays["lesson_rest"][output] == 0
    rows = np.repeat(np.arange(arrays["lesson_row_end"].size), np.diff(arrays["lesson_row_end"], prepend=0))
    at = {(int(r), int(o)): k for k, (r, o) in enumerate(zip(rows, arrays["lesson_outputs"], strict=True))}
    ends_of_rows = arrays["row_end"].astype(int)
    for row in np.flatnonzero(arrays["keys"]):
        for cell in range(ends_of_rows[row - 1] if row else 0, ends_of_rows[row]):
            if weight := arrays["weights"][cell]:
                k = at[int(row), int(arrays["outputs"][cell])]
                kept = arrays["lesson_parts"][ends[k] - counts[k] : ends[k]].sum(dtype=np.float64)
                assert kept + arrays["lesson_rest"][k] == pytest.approx(weight, abs=1e-5)
