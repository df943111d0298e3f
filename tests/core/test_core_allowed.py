"""Lattices in which tokens may have only some labels: outputs and scores are those of enumeration."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import steady
from worlds import random_world

from marginalia import _core

seeds = st.integers(0, 2**32 - 1)


def masks(rng: np.random.Generator, length: int, labels: int) -> dict[int, np.ndarray]:
    chosen = [t for t in range(length) if rng.random() < 0.6]
    return {t: (rng.random(labels) < 0.6).astype(np.uint8) for t in chosen}


@settings(steady, max_examples=150)
@given(seeds, st.integers(1, 3), st.sampled_from([1, 2]), st.booleans(), st.booleans(), st.booleans())
def test_chains(seed: int, labels: int, order: int, edges: bool, local: bool, masked: bool) -> None:
    rng = np.random.default_rng(seed)
    world = random_world(seed, labels, order, edges=edges, transitions=True, masked=masked, local=local)
    trained = world.untrained()
    trained.scatter(rng)
    model, space = _core.ChainModel(world.shape, trained.arrays()), _core.ChainSpace()
    for s, sentence in enumerate(world.sentences):
        allowed = masks(rng, len(sentence), labels)
        free, lattice = (model.lattice(world.extractor, world.table(), s, space) for _ in range(2))
        for token, mask in allowed.items():
            lattice.allow(token, mask)
        expected = {}
        for y in itertools.product(range(labels), repeat=len(sentence)):
            score = free.score(np.array(y, np.uint32))
            if score > -math.inf and all(mask[y[t]] for t, mask in allowed.items()):
                expected[y] = score
        found = {tuple(ids.tolist()): score for ids, score in lattice.k_best()}
        assert found == pytest.approx(expected)
        assert list(found.values()) == sorted(found.values(), reverse=True)
        for method in ("scaled", "log"):  # neither gives up because labels are illegal
            if expected and sentence:
                probabilities = lattice.marginals(True, method)
                assert_probabilities(probabilities, expected, len(sentence), labels)


def assert_probabilities(
    found: dict[str, Any], scores: dict[tuple[int, ...], float], length: int, labels: int
) -> None:
    log_z = math.log(sum(map(math.exp, scores.values())))
    node, transition = np.zeros((length, labels)), np.zeros((labels, labels))
    for y, score in scores.items():
        node[range(length), y] += math.exp(score - log_z)
        for pair in itertools.pairwise(y):
            transition[pair] += math.exp(score - log_z)
    assert found["log_z"] == pytest.approx(log_z)
    np.testing.assert_allclose(found["node"], node, atol=1e-9)
    np.testing.assert_allclose(found["transition"], transition, atol=1e-9)


@settings(steady, max_examples=100)
@given(seeds, st.integers(1, 4), st.booleans())
def test_segments(seed: int, most: int, transitions: bool) -> None:
    rng = np.random.default_rng(seed)
    none = 2**32 - 1
    inside = np.array([1, 1, none, 4, 4], np.uint32)  # B-X I-X O B-Y I-Y
    shape = _core.SegmentShape(inside, most, transitions, transitions)
    length = int(rng.integers(1, 5))
    longest = min(most, length)
    scores = rng.normal(size=length * longest * shape.types)
    constants = rng.normal(size=shape.constants) if transitions else np.zeros(shape.constants)
    free, lattice = (_core.SegmentLattice(shape, scores, length, constants) for _ in range(2))
    allowed = masks(rng, length, 5)
    for token, mask in allowed.items():
        lattice.allow(token, mask)
    expected = {
        tuple(ids.tolist()): score
        for ids, score in free.k_best()
        if all(mask[ids[t]] for t, mask in allowed.items())
    }
    assert {tuple(ids.tolist()): score for ids, score in lattice.k_best()} == pytest.approx(expected)


def test_what_does_not_fit_is_refused() -> None:
    world = random_world(1, 3, 1, edges=False, transitions=True, masked=False)
    model, space = _core.ChainModel(world.shape, world.trained().arrays()), _core.ChainSpace()
    s = next(i for i, sentence in enumerate(world.sentences) if sentence)
    lattice = model.lattice(world.extractor, world.table(), s, space)
    with pytest.raises(ValueError, match="do not fit"):
        lattice.allow(len(world.sentences[s]), np.ones(3, np.uint8))
    with pytest.raises(ValueError, match="do not fit"):
        lattice.allow(0, np.ones(2, np.uint8))
    with pytest.raises(ValueError, match="do not fit"):
        lattice.local_normalisers(np.zeros(0, np.uint32))
