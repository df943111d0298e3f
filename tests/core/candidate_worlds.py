"""Small worlds of items with lists of candidates, to learn in: the same that worlds.py has for chains."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from naive_perceptron import Vector
from oracles import Output
from worlds import Trained

from marginalia import _core
from marginalia.decode.candidates import CandidateLists

BASE = _core.BASE_SCORE
VALUES = (1.0, 1.0, 1.0, 0.5, 2.0, -1.25)
Features = dict[str, float]


@dataclass
class CandidateWorld:
    """Items with candidates: the features of each, their losses, and which one is right."""

    sentences: list[list[Features]]
    losses: list[list[float]] | None
    gold: list[Output]
    labels: int = 1  # outputs of a feature's row

    def __post_init__(self) -> None:
        self.shape = _core.CandidateShape(1.0)
        self.extractor = _core.FeatureExtractor.of_items(1)

    def table(self) -> _core.TokenTable:
        flat = [features for item in self.sentences for features in item]
        return _core.from_columns([[""] * len(flat)], [len(item) for item in self.sentences], [], flat)

    def batch(self, examples: _core.ExampleRows, index: _core.FeatureIndex, costs: Any = None) -> Any:
        flat = [] if self.losses is None else [loss for item in self.losses for loss in item]
        return _core.CandidateExamples(self.shape, examples, np.array(flat, np.float32))

    def right(self) -> list[int]:
        return [int(y not in gold) for item, gold in zip(self.sentences, self.gold, strict=True)
                for y in range(len(item))]  # fmt: skip

    def examples(self, index: _core.FeatureIndex, keep_templates: bool = False) -> _core.ExampleRows:
        examples = _core.ExampleRows(keep_templates)
        examples.add_growing(self.extractor, self.table(), index)
        examples.set_gold(np.array(self.right(), np.int32), 2)
        return examples

    def untrained(self, *table: Any, keep_templates: bool = False) -> Trained:
        index = _core.FeatureIndex(True)
        examples = self.examples(index, keep_templates)
        return Trained(self, index, examples, _core.WeightTable(len(index) + 1, 0, *table), 0)

    def of(self, i: int, y: int) -> Vector:
        return Vector({((False, name), 0): value for name, value in self.sentences[i][y].items() if value})

    def vectors(self) -> tuple[list[Vector], list[dict[Output, Vector]]]:
        every = range(len(self.sentences))
        gold = [self.of(i, self.gold[i][0]) for i in every]
        return gold, [{(y,): self.of(i, y) for y in range(len(self.sentences[i]))} for i in every]

    def tie_key(self, y: Output) -> tuple[int, ...]:
        return y

    def outputs_of(self, name: Hashable) -> range:
        return range(int(name != "constant"))

    def constants(self) -> list[int]:
        return []

    def places(self) -> list[tuple[Hashable, int]]:
        names = dict.fromkeys(name for item in self.sentences for y in item for name in y if y[name])
        return [((False, name), 0) for name in names]

    def costs(self, i: int) -> np.ndarray:
        """[right, given], as if all candidates could be right."""
        size = len(self.sentences[i])
        if self.losses is None:
            return 1.0 - np.eye(size)
        own = np.array(self.losses[i], np.float32).astype(float)
        return np.maximum(own[None, :] - own[:, None], 0.0)

    def lists(self) -> CandidateLists:
        return CandidateLists(self.untrained().examples)


def random_candidate_world(seed: int, count: int = 5, *, losses: bool = False) -> CandidateWorld:
    """Features are shared by candidates; some are present or not, some have values."""
    rng = np.random.default_rng(seed)
    items, all_losses, gold = [], [], []
    for _ in range(count):
        size = int(rng.integers(1, 6))
        item = []
        for _ in range(size):
            names = [f"f{n}" for n in range(8) if rng.random() < 0.4]
            features = {name: float(rng.choice(VALUES)) for name in names}
            item.append({BASE: float(np.float32(rng.normal())), **features})
        own = [float(np.float32(x)) for x in rng.uniform(0.0, 2.0, size)]
        items.append(item)
        all_losses.append(own)
        gold.append((int(np.argmin(own)),))
    return CandidateWorld(items, all_losses if losses else None, gold)


@st.composite
def candidate_worlds(draw: st.DrawFn, count: int = 5, losses: bool | None = None) -> CandidateWorld:
    chosen = draw(st.booleans()) if losses is None else losses
    return random_candidate_world(draw(st.integers(0, 2**32 - 1)), count, losses=chosen)
