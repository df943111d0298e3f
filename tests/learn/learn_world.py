"""What the tests of the learners share: every learner with a regulariser, and views of what was learned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import marginalia as mg
from marginalia.corpus import write_conll
from marginalia.corpus.source import DataSource
from marginalia.learn import Training, prepare, recipe_with
from marginalia.model import SavedModel

Toys = Callable[..., Any]
Settings = dict[str, Any]

# By name: the learner and its settings. Each learner alone, each regulariser, each way to keep weights.
RUNS: dict[str, tuple[str, Settings]] = {
    "perceptron": ("perceptron", {}),
    "perceptron, last weights": ("perceptron", {"average": "none"}),
    "perceptron, voted": ("perceptron", {"average": "vote", "vote_candidates": 5}),
    "perceptron, l2": ("perceptron", {"l2": 0.01}),
    "perceptron, l1": ("perceptron", {"l1": 0.01}),
    "perceptron, l1-cumulative": ("perceptron", {"l1_cumulative": 0.01}),
    "perceptron, dropout of tokens": ("perceptron", {"dropout": "input:0.3"}),
    "perceptron, dropout of values": ("perceptron", {"dropout": "values:0.3"}),
    "perceptron, dropout of features": ("perceptron", {"dropout": "hide-features:0.3"}),
    "perceptron, shuffle-average": ("perceptron", {"shuffle_average": 3}),
    "perceptron, shuffle-average of all": ("perceptron", {"shuffle_average": 3, "shuffle_mean": "all"}),
    "perceptron, bpm-init": ("perceptron", {"bpm_init": 3}),
    "perceptron, order 2": ("perceptron", {"order": 2}),
    "perceptron, class weights": ("perceptron", {"class_weights": "X:2,O:0.5"}),
    "margin": ("margin", {"C": 2.0}),
    "margin, l1-cumulative": ("margin", {"C": 2.0, "l1_cumulative": 0.02}),
    "margin, shuffle-average and bpm-init": ("margin", {"C": 2.0, "shuffle_average": 2, "bpm_init": 2}),
    "pa": ("pa", {}),
    "pa 0, l2": ("pa", {"variant": "0", "l2": 0.005}),
    "pa II, dropout": ("pa", {"variant": "II", "dropout": "input:0.2,hide-features:0.2"}),
    "pa, voted": ("pa", {"average": "vote"}),
    "arow": ("arow", {}),
    "arow, l1": ("arow", {"l1": 0.001}),
    "arow, shuffle-average": ("arow", {"shuffle_average": 2}),
    "arow, bpm-init and dropout": ("arow", {"bpm_init": 2, "dropout": "hide-features:0.1"}),
    "crf": ("crf", {}),
    "crf, l1": ("crf", {"l1": 0.3, "l2": 0.0}),
    "crf, both": ("crf", {"l1": 0.1, "l2": 0.1, "memory": 2}),
    "crf, all weights": ("crf", {"support": "all", "order": 2}),
    "crf, sgd": ("crf", {"algorithm": "sgd"}),
    "crf, sgd with l1": ("crf", {"algorithm": "sgd", "l1": 0.5, "l2": 0.0}),
    "maxent": ("maxent", {}),
    "maxent, l1": ("maxent", {"l1": 0.2, "l2": 0.0}),
    "maxent, beam": ("maxent", {"search": "beam", "beam": 3}),
}
# And all that segments can be learned with: no choices one by one, no orders.
RUNS |= {
    f"segments, {name}": (learner, settings | {"structure": "segments"})
    for name, (learner, settings) in RUNS.items()
    if learner != "maxent" and "order" not in settings
}


def a_run(
    data: Any,
    dev: Any = None,
    *,
    learner: str = "perceptron",
    seed: int = 1,
    threads: int = 1,
    start: SavedModel | None = None,
    sample_weights: Any = None,
    features: str | None = None,
    structure: str = "chain",
    **settings: Any,
) -> Training:
    """A run about to begin, as `marginalia.train` makes it."""
    recipe = recipe_with(
        start, structure=structure, features=features, learner=learner, seed=seed, settings=settings
    )
    return prepare(DataSource(data), dev, recipe, threads=threads, start=start, sample_weights=sample_weights)


def finished(run: Training) -> list[mg.Progress]:
    """All passes of a run."""
    return [record for record in run if record.finished]


def arrays_of(tagger: mg.Tagger) -> dict[str, Any]:
    """All arrays of a model, to be compared."""
    return {name: (array.dtype.name, array.tolist()) for name, array in tagger.saved.arrays.items()}


def assert_same_arrays(found: mg.Tagger, expected: mg.Tagger) -> None:
    """The same weights, bit for bit; names the first array that differs."""
    assert found.saved.arrays.keys() == expected.saved.arrays.keys()
    for name, array in expected.saved.arrays.items():
        other = found.saved.arrays[name]
        assert (other.dtype, other.shape) == (array.dtype, array.shape), name
        assert other.tobytes() == array.tobytes(), name


def weights_of(tagger: mg.Tagger) -> dict[Hashable, float]:
    """All weights that are not zero: by feature name and output, and by place among the constants."""
    saved = tagger.saved
    found: dict[Hashable, float] = {}
    for row in np.flatnonzero(saved.arrays["keys"]).tolist():
        outputs, weights = saved.cells(row)
        name = (saved.is_edge(row), saved.feature_name(row))
        found |= {(name, o): w for o, w in zip(outputs.tolist(), weights.tolist(), strict=True) if w}
    places, constants = saved.arrays["constant_at"].tolist(), saved.arrays["constants"].tolist()
    return found | {("constant", at): w for at, w in zip(places, constants, strict=True) if w}


def assert_close(
    found: Mapping[Hashable, float], expected: Mapping[Hashable, float], tolerance: float = 1e-5
) -> None:
    """Weights are floats: the same up to a small share of the largest."""
    largest = max([1.0, *map(abs, expected.values())])
    for place in found.keys() | expected.keys():
        gap = abs(found.get(place, 0.0) - expected.get(place, 0.0))
        assert gap <= tolerance * largest, (place, found.get(place, 0.0), expected.get(place, 0.0))


def conll_file(path: Path, data: Any) -> Path:
    """The sentences as a column file."""
    write_conll([mg.Sentence(columns | {"label": labels}) for columns, labels in data], path)
    return path


def contradictory(toys: Toys, count: int = 12) -> Any:
    """A corpus that no weights fit: learners never come to rest on it."""
    return [*toys(count), *((columns, ["O"] * len(labels)) for columns, labels in toys(3))]


def until(run: Training, number: int, steps: int) -> Iterator[mg.Progress]:
    """Walks to the end of pass `number` and so many records into the next, as a Ctrl-C would find it."""
    records = iter(run)
    for record in records:
        if number == 0 or (record.finished and record.number == number):
            break
    for _ in range(steps if number else steps - 1):
        next(records)
    return records
