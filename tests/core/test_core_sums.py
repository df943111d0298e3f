"""Sums of weight rows that models keep: those of the rows, whatever was kept, forgotten or never kept."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from worlds import COLUMN, Sentence, Trained, World, literal, random_world, table_of, value

from marginalia import _core

SOURCES = [*COLUMN, ("suffix", "1", 0, 0)]
TEMPLATES = [
    *[(False, [literal(f"w{k}="), value(0, k)]) for k in (-2, -1, 0, 1, 2)],
    (False, [literal("s="), value(2, 0)]),  # with the word itself a sum, not a row
    (False, [literal("ww="), value(0, -1), literal("/"), value(0, 0)]),
    *[(False, [literal(f"t{k}="), value(1, k)]) for k in (-1, 0, 1)],
    (False, [literal("tt="), value(1, -1), literal("/"), value(1, 0)]),
    (False, [literal("ttt="), value(1, 0), literal("/"), value(1, 1), literal("/"), value(1, 2)]),
    (False, [literal("wt="), value(0, 0), literal("/"), value(1, 0)]),
    (False, [literal("bias")]),
    (True, [literal("edge="), value(1, 0)]),
]


def trained(labels: int, count: int = 12) -> tuple[World, Trained]:
    world = random_world(labels, labels, 1, edges=False, transitions=True, masked=False, count=count, most=7)
    world.extractor = _core.FeatureExtractor(SOURCES, TEMPLATES, [], 2)
    return world, world.trained()


def sums_of_rows(
    model: _core.ChainModel, arrays: dict[str, np.ndarray], world: World, table: _core.TokenTable, s: int
) -> np.ndarray:
    starts = table.sentence_starts
    node = np.zeros((int(starts[s + 1] - starts[s]), world.labels))
    bounds = list(pairwise([0, *arrays["row_end"].tolist()]))
    for token, edge, row, times, *_ in model.features(world.extractor, table, s, _core.ChainSpace()):
        begin, end = bounds[row]
        if not edge:
            node[token, arrays["narrow"][begin:end]] += times * arrays["weights"][begin:end].astype(float)
    return node


@pytest.mark.parametrize("labels", [*range(1, 18), 22, 23, 29, 31, 32, 33, 63, 64, 65, 70])
def test_kept_sums_are_those_of_the_rows(labels: int) -> None:
    world, weights = trained(labels)
    arrays = weights.arrays()
    model, space = _core.ChainModel(world.shape, arrays), _core.ChainSpace()
    table = world.table()
    for _ in range(2):
        for s in range(table.sentences):
            node = model.lattice(world.extractor, table, s, space).node
            np.testing.assert_allclose(node, sums_of_rows(model, arrays, world, table, s), atol=1e-9)
            fresh = model.lattice(world.extractor, table, s, _core.ChainSpace()).node
            assert np.array_equal(node, fresh)


def mixed(rng: np.random.Generator, known: list[Sentence], values: int, count: int) -> list[Sentence]:
    """Sentences of strings that the model knows among very many that it does not know."""
    tokens = [token for sentence in known for token in sentence]

    def one() -> tuple[str, str]:
        word, tag = tokens[rng.integers(len(tokens))]
        new = rng.integers(values, size=2)
        return (word if rng.random() < 0.5 else f"w{new[0]}", tag if rng.random() < 0.5 else f"t{new[1]}")

    return [[one() for _ in range(int(n))] for n in rng.integers(1, 9, count)]


def test_what_is_forgotten_is_summed_again() -> None:
    """More values than a space remembers, and more combinations than it has room for."""
    world, weights = trained(5)
    model, space = _core.ChainModel(world.shape, weights.arrays()), _core.ChainSpace()
    rng = np.random.default_rng(1)
    sentences = mixed(rng, world.sentences, 200_000, 16_000)
    table = table_of(sentences)
    labels = model.best(world.extractor, table, space)
    assert np.array_equal(labels, model.best(world.extractor, table, space))
    starts = table.sentence_starts
    for s in rng.integers(len(sentences), size=200).tolist():
        alone = model.lattice(world.extractor, table_of([sentences[s]]), 0, _core.ChainSpace())
        assert np.array_equal(model.lattice(world.extractor, table, s, space).node, alone.node)
        assert labels[starts[s] : starts[s + 1]].tolist() == alone.best()[0].tolist()


def test_a_sentence_with_too_many_values_to_number() -> None:
    world, weights = trained(2)
    model, space = _core.ChainModel(world.shape, weights.arrays()), _core.ChainSpace()
    rng = np.random.default_rng(2)
    known = [token for sentence in world.sentences for token in sentence]
    giant = [known[i % len(known)] if i % 20 < 3 else (f"w{i}", f"t{i}") for i in range(1_250_000)]
    node = model.lattice(world.extractor, table_of([giant]), 0, space).node
    for t in (rng.integers(1, len(giant) // 20, 100) * 20 + 1).tolist():
        near = table_of([giant[t - 2 : t + 3]])
        for used in (space, _core.ChainSpace()):
            assert np.array_equal(model.lattice(world.extractor, near, 0, used).node[2], node[t])
