"""Finished models of segments: scores are sums of weights of named features, however they are found."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_learners import NaiveLearner, perceptron
from oracles import steady
from segment_oracles import Types
from segment_worlds import TEMPLATES, SegmentWorld, random_output, random_segment_world, segment_worlds
from worlds import Trained, WithCosts, random_sentence, table_of

from marginalia import _core

ALL_LINES = [line for lines in TEMPLATES.values() for line in lines]
seeds = st.integers(0, 2**32 - 1)


def scattered(world: SegmentWorld, seed: int) -> tuple[Trained, NaiveLearner]:
    """Random weights, those of all labels of all features; and who adds them up plainly."""
    trained = world.untrained()
    start = trained.scatter(np.random.default_rng(seed))
    return trained, NaiveLearner(world, start, perceptron, np.ones(len(world.sentences)))


def model_of(trained: Trained) -> tuple[_core.SegmentModel, _core.SegmentSpace]:
    trained.step = 1
    arrays = trained.weights.current.freeze(trained.index, trained.world.labels)
    arrays["narrow"] = arrays.pop("outputs").astype(np.uint16)
    at, weights = trained.weights.current.cells(0)
    arrays["constant_at"], arrays["constants"] = at[weights != 0], weights[weights != 0]
    return _core.SegmentModel(trained.world.shape, arrays), _core.SegmentSpace()


@settings(steady, max_examples=150)
@given(segment_worlds(most=5, count=3), seeds)
def test_scores_are_sums_of_weights(world: SegmentWorld, seed: int) -> None:
    trained, learner = scattered(world, seed)
    model, space = model_of(trained)
    table = world.table()
    for i, legal in enumerate(learner.legal):
        lattice = model.lattice(world.extractor, table, i, space)
        scores = {y: learner.score(phi) for y, phi in legal.items()}
        for y, score in scores.items():
            assert lattice.score(np.array(y, np.uint32)) == pytest.approx(score, abs=1e-5)
        assert lattice.best()[1] == pytest.approx(max(scores.values()), abs=1e-5)
    best = trained.batch().best(trained.weights.current, 0, 3).tolist()
    assert model.best(world.extractor, table, space).tolist() == best
    whole = [y for i in range(3) for y in model.lattice(world.extractor, table, i, space).best()[0].tolist()]
    assert whole == best


@settings(steady, max_examples=40)
@given(segment_worlds(most=4, count=3), seeds)
def test_features_of_outputs(world: SegmentWorld, seed: int) -> None:
    """(row, label) of those that the model knows, as often as an output has them."""
    trained, learner = scattered(world, seed)
    model, space = model_of(trained)
    known = {
        row for row, name in trained.names().items() if row and len(trained.weights.current.cells(row)[0])
    }
    names = {name for row, name in trained.names().items() if row in known}
    for i, legal in enumerate(learner.legal):
        for y in islice(legal, 20):
            found = model.features_of(world.extractor, world.table(), i, np.array(y, np.uint32), space)
            expected = sum(
                n for (name, _), n in world.features_of(i, world.segments(y)).items() if name in names
            )
            assert len(found) == expected
    with pytest.raises(ValueError):
        model.features_of(world.extractor, world.table(), 0, np.zeros(99, np.uint32), space)


def big_world(tokens: int) -> SegmentWorld:
    """So many types and so long segments that sentences are scored in blocks (of 116 tokens)."""
    rng = np.random.default_rng(4)
    inside = [label | 1 for label in range(70)]
    types = Types(tuple(inside), 1000)
    world = SegmentWorld(types, [*ALL_LINES, "edge:"], [random_sentence(rng, tokens)], [()])
    world.gold = [random_output(rng, Types(tuple(inside), 9), tokens)]
    world.met = [[random_output(rng, Types(tuple(inside), 30), tokens)] for _ in range(3)]
    return world


def test_blocks_are_one_block() -> None:
    """What is shared between segments is the same where the sentence is scored in pieces."""
    world = big_world(300)
    trained = world.untrained()
    trained.scatter(np.random.default_rng(8), 0.3)
    model, space = model_of(trained)
    labels, score = model.lattice(world.extractor, world.table(), 0, space).best()
    assert model.best(world.extractor, world.table(), space).tolist() == labels.tolist()
    assert trained.batch().best(trained.weights.current, 0, 1).tolist() == labels.tolist()
    w, features = trained.current(), world.features_of(0, world.segments(tuple(labels.tolist())))
    plain = sum(count * w.get(f, 0.0) for f, count in features.items())
    assert score == pytest.approx(plain, rel=1e-6)
    assert max(last - begin for begin, last, _ in world.segments(tuple(labels.tolist()))) > 4


def test_blocks_with_costs() -> None:
    """Passive-aggressive learning asks for costs on top; here for each right label there is a wrong one that
    costs so much that segments of one token have it."""
    world = big_world(260)
    begins = world.types.begins
    wanted = [next(label for label in begins[right % 5 :] if label != right) for right in range(70)]
    costs = np.random.default_rng(2).uniform(0.5, 2.0, (70, 70)).astype(np.float32)
    costs[range(70), wanted] = 1000.0
    np.fill_diagonal(costs, 0.0)
    trained = world.untrained()
    trained.scatter(np.random.default_rng(1), 0.3)
    model, space = model_of(trained)
    lattice = model.lattice(world.extractor, world.table(), 0, space)
    right, costly = (np.array(y, np.uint32) for y in (world.gold[0], [wanted[y] for y in world.gold[0]]))
    expected = lattice.score(costly) - lattice.score(right) + 260 * 1000.0
    counts = trained.learn(WithCosts(_core.UpdateRule.passive_aggressive("I", 1e-9), costs), [0])
    assert counts["loss"] == pytest.approx(expected, rel=1e-6)


def test_threads_with_spaces_of_their_own() -> None:
    world = random_segment_world(9, 3, 4, most=30, sentences=20, met=3)
    model, _ = model_of(world.trained())
    rng = np.random.default_rng(2)
    tables = [table_of([random_sentence(rng, int(n)) for n in rng.integers(0, 40, 20)]) for _ in range(4)]
    expected = [model.best(world.extractor, table, _core.SegmentSpace()).tolist() for table in tables]

    def work(shift: int) -> bool:
        space = _core.SegmentSpace()
        turns = [(i + shift) % len(tables) for i in range(20)]
        return all(model.best(world.extractor, tables[i], space).tolist() == expected[i] for i in turns)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_a_space_serves_many_models_and_programs() -> None:
    """What a space remembers must not reach another model or extractor that is made where one died."""
    space, table = _core.SegmentSpace(), table_of([[("w1", "t1"), ("w2", "t0"), ("w4", "t2")] * 3])
    for seed in range(30):
        world = random_segment_world(seed, 1 + seed % 3, 1 + seed % 4)
        model, fresh = model_of(world.trained())
        found = model.best(world.extractor, table, space).tolist()
        assert found == model.best(world.extractor, table, fresh).tolist()
        del world, model


@settings(steady, max_examples=30)
@given(segment_worlds(most=4, count=4), seeds)
def test_models_of_other_shapes_are_refused(world: SegmentWorld, seed: int) -> None:
    trained, _ = scattered(world, seed)
    arrays = trained.arrays()
    for name, bad in [
        ("constant_at", np.full_like(arrays["constant_at"], world.shape.constants)),
        ("constants", np.full_like(arrays["constants"], np.nan)),
        ("constants", arrays["constants"][:-1]),
        ("narrow", np.full_like(arrays["narrow"], world.labels)),
        ("weights", np.full_like(arrays["weights"], np.inf)),
        ("row_end", arrays["row_end"][::-1].copy()),
    ]:
        if len(bad) and (name != "row_end" or arrays["row_end"][0] != arrays["row_end"][-1]):
            with pytest.raises(ValueError):
                _core.SegmentModel(world.shape, arrays | {name: bad})
