"""Finished models: the same answers as the weights they were made of; damaged arrays never crash."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from oracles import steady
from worlds import COLUMN, NODE, Trained, World, numbered, random_sentence, random_world, table_of, worlds

from marginalia import _core

Arrays = dict[str, Any]


def thawed(arrays: Arrays) -> dict[tuple[bool, str, int], float]:
    """The weights of frozen arrays, by scope, name and output."""
    ends = arrays["name_end"].tolist()
    names = [arrays["names"][a:b].decode() for a, b in pairwise([0, *ends])]
    edge = arrays.get("edge", np.zeros(len(arrays["keys"])))
    found = {}
    for row, (begin, end) in enumerate(pairwise([0, *arrays["row_end"].tolist()])):
        for i in range(begin, end):
            if arrays["weights"][i]:
                key = bool(edge[row]), names[row], int(arrays["narrow"][i])
                found[key] = float(arrays["weights"][i])
    return found


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 5), count=8))
def test_frozen_arrays_hold_the_weights_that_are_not_zero(world: World) -> None:
    trained = world.trained()
    expected = {}
    for (edge, name), row in numbered(world.extractor, world.table()).items():
        outputs, weights = trained.rows().cells(row)
        expected.update(
            {(edge, name, o): w for o, w in zip(outputs.tolist(), weights.tolist(), strict=True) if w}
        )
    arrays = trained.arrays()
    assert thawed(arrays) == expected
    keys = arrays["keys"][arrays["keys"] > 0].tolist()
    assert keys == sorted(set(keys))


@settings(steady, max_examples=60)
@given(worlds(labels=(1, 5), count=8))
def test_a_model_labels_as_its_weights_do(world: World) -> None:
    trained = world.trained()
    rng = np.random.default_rng(1)
    unseen = table_of([random_sentence(rng, int(n)) for n in rng.integers(0, 9, 6)])
    for table in [world.table(), unseen]:
        examples = _core.ExampleRows()
        examples.add_known(world.extractor, table, trained.index)
        for wide in [False, True]:
            model = _core.ChainModel(world.shape, trained.arrays(wide))
            assert model.best(world.extractor, table, _core.ChainSpace()).tolist() == trained.decoded(
                examples
            )


@settings(steady, max_examples=30)
@given(worlds(labels=(1, 4)))
def test_lattice_and_rows_of_a_model(world: World) -> None:
    trained = world.trained()
    arrays = trained.arrays()
    weights = thawed(arrays)
    model, space = _core.ChainModel(world.shape, arrays), _core.ChainSpace()
    names = iter(world.extractor.names(world.table()))
    for s, sentence in enumerate(world.sentences):
        lattice = model.lattice(world.extractor, world.table(), s, space)
        features = model.features(world.extractor, world.table(), s, space)
        known = Counter((t, edge) for t, edge, _, value, *_ in features if value == 1)
        for t in range(len(sentence)):
            here = next(names)
            scores = [
                sum(weights.get((e, name, c), 0.0) for e, name in here if not e) for c in range(world.labels)
            ]
            np.testing.assert_allclose(lattice.node[t], scores, atol=1e-12)
            stored = {(e, name) for e, name, _ in weights}
            for scope in [False, True]:
                assert known[t, scope] == sum(f in stored for f in here if f[0] == scope)
    with pytest.raises(IndexError):
        model.lattice(world.extractor, world.table(), len(world.sentences), space)


def test_a_space_serves_many_programs() -> None:
    """What a space remembers of an extractor must not reach another that is made where the first one died."""
    world = random_world(8, 3, 1, edges=False, transitions=True, masked=False, count=12)
    model, space = _core.ChainModel(world.shape, world.trained().arrays()), _core.ChainSpace()
    table = table_of([[("w1", "t1"), ("w2", "t0"), ("w4", "t2")]])
    for k in range(40):
        sources = [COLUMN[0] if k % 2 else ("prefix", "1", 0, 0), COLUMN[1]]
        extractor = _core.FeatureExtractor(sources, NODE, [], 2)
        found = model.features(extractor, table, 0, space)
        assert found == model.features(extractor, table, 0, _core.ChainSpace())
        del extractor


def test_a_program_without_columns() -> None:
    """Only the number of tokens counts."""
    world = random_world(8, 3, 1, edges=False, transitions=True, masked=False, count=12)
    model = _core.ChainModel(world.shape, world.trained().arrays())
    extractor = _core.FeatureExtractor([], [NODE[2]], [], 0)
    tables = [table_of([[(word, "t")] * 3]) for word in ["w1", "else"]]
    first, second = (model.best(extractor, table, _core.ChainSpace()).tolist() for table in tables)
    assert first == second
    assert len(first) == 3


def test_threads_with_spaces_of_their_own() -> None:
    world = random_world(9, 5, 2, edges=True, transitions=True, masked=True, most=30, count=30)
    model = _core.ChainModel(world.shape, world.trained().arrays())
    rng = np.random.default_rng(2)
    tables = [table_of([random_sentence(rng, int(n)) for n in rng.integers(0, 40, 50)]) for _ in range(6)]
    expected = [model.best(world.extractor, table, _core.ChainSpace()).tolist() for table in tables]

    def work(shift: int) -> bool:
        space = _core.ChainSpace()
        turns = [(i + shift) % len(tables) for i in range(60)]
        return all(model.best(world.extractor, tables[i], space).tolist() == expected[i] for i in turns)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


@pytest.fixture(scope="module")
def sound() -> Trained:
    world = random_world(10, 4, 2, edges=True, transitions=True, masked=False, count=15)
    return world.trained()


ARRAYS = ["homes", "keys", "row_end", "narrow", "weights", "edge", "constant_at", "constants"]


def unfit(name: str, array: np.ndarray) -> dict[str, Any]:
    """Replacements of an array that must be refused."""
    other = np.int64 if array.dtype != np.int64 else np.uint8
    return {
        "short": array[:-1],
        "long": np.append(array, array[-1:]),
        "empty": array[:0],
        "dtype": array.astype(other),
        "swapped": array.astype(array.dtype.newbyteorder()) if array.itemsize > 1 else array.astype(np.int8),
        "square": array[:, None],
        "strided": np.repeat(array, 2)[::2] if len(array) > 1 else None,
        "unaligned": np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1)
        if array.itemsize > 1
        else None,
        "list": array.tolist(),
        "none": None,
        "text": "damaged",
    }


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_that_do_not_fit(sound: Trained, name: str) -> None:
    arrays = sound.arrays()
    for kind, replacement in unfit(name, arrays[name]).items():
        try:
            _core.ChainModel(sound.world.shape, arrays | {name: replacement})
        except (ValueError, TypeError):
            continue
        pytest.fail(f"{name} {kind} was taken")
    with pytest.raises((ValueError, TypeError)):
        _core.ChainModel(sound.world.shape, {k: v for k, v in arrays.items() if k != name})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        *[(name, lambda a: a[::-1].copy()) for name in ["keys", "row_end", "narrow"]],
        ("keys", lambda a: np.concatenate([a[:1], a[:-1]])),
        ("keys", lambda a: np.where(np.arange(len(a)) == a.argmax() - 1, a.max(), a)),  # one key twice
        ("keys", lambda a: np.full_like(a, 2**64 - 1)),
        ("narrow", lambda a: a + np.uint16(16)),
        ("constant_at", lambda a: a + np.uint32(10_000)),
        ("weights", lambda a: a * np.float32(np.nan)),
        ("constants", lambda a: a * np.float32(np.inf)),
        ("homes", lambda a: a * np.uint64(0)),
        ("homes", lambda a: a - np.uint64(1)),
        ("homes", lambda a: a + np.uint64(2**63)),
        ("row_end", lambda a: a + np.uint32(1)),
    ],
)
def test_values_that_do_not_fit(sound: Trained, name: str, change: Any) -> None:
    arrays = sound.arrays()
    with pytest.raises(ValueError):
        _core.ChainModel(sound.world.shape, arrays | {name: change(arrays[name])})


def test_a_node_feature_with_the_row_of_an_edge(sound: Trained) -> None:
    """Its outputs are label pairs, in range by the flag, but there is no room for them among labels."""
    arrays = {name: np.array(array) for name, array in sound.arrays().items() if name in ARRAYS}
    begins = np.append(0, arrays["row_end"][:-1])
    for row in np.flatnonzero((arrays["edge"] == 0) & (arrays["row_end"] > begins)):
        arrays["edge"][row] = 1
        arrays["narrow"][arrays["row_end"][row] - 1] = 15  # of 4 labels
    model, world = _core.ChainModel(sound.world.shape, arrays), sound.world
    labels = model.best(world.extractor, world.table(), _core.ChainSpace())
    assert labels.max() < world.labels


def test_freezing_what_does_not_fit(sound: Trained) -> None:
    with pytest.raises(ValueError):
        sound.rows().freeze(sound.index, 2)
    many = _core.WeightTable(len(sound.index) + 2, sound.world.shape.constants)
    with pytest.raises(ValueError):
        many.current.freeze(sound.index, sound.world.labels)
    few = _core.WeightTable(2, sound.world.shape.constants)  # features may come later than weights
    assert not few.current.freeze(sound.index, sound.world.labels)["weights"].size


def damaged(rng: np.random.Generator, arrays: Arrays) -> Arrays:
    """One to three random injuries."""
    arrays = dict(arrays)
    for _ in range(rng.integers(1, 4)):
        name = str(rng.choice(ARRAYS))
        array = np.array(arrays.get(name, np.zeros(1, np.uint8)))
        kind = rng.integers(6)
        if kind == 0:
            array = array[: rng.integers(len(array) + 1)]
        elif kind == 1:
            array = np.concatenate([array, array[: rng.integers(len(array) + 1)]])
        elif kind == 2:
            array = array.view(rng.choice([np.uint8, np.int8]) if array.itemsize == 1 else np.uint8)
        elif kind == 3 and len(array) > 1:
            i, j = rng.integers(len(array), size=2)
            array[[i, j]] = array[[j, i]]
        elif len(array):  # flip bits
            raw = array.view(np.uint8)
            raw[rng.integers(len(raw), size=rng.integers(1, 9))] ^= rng.integers(1, 256, dtype=np.uint8)
        arrays[name] = array
        if rng.random() < 0.05:
            del arrays[name]
    return arrays


def test_random_damage_never_crashes(sound: Trained) -> None:
    rng = np.random.default_rng(3)
    arrays, world = sound.arrays(), sound.world
    refused = 0
    for _ in range(6_000):
        try:
            model = _core.ChainModel(world.shape, damaged(rng, arrays))
        except (ValueError, TypeError):
            refused += 1
            continue
        labels = model.best(world.extractor, world.table(), _core.ChainSpace())
        assert labels.min() >= 0
        assert labels.max() < world.labels
    assert 3_000 < refused < 6_000
