"""Small worlds of items with one class each, to learn in: the same that worlds.py has for chains."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from naive_perceptron import Vector
from oracles import Output
from worlds import Trained, random_sentence

from marginalia import _core
from marginalia.features.compiling import compile_item_extractor
from marginalia.features.item_templates import parse_item_templates
from marginalia.features.reading import Columns

TEMPLATES = "words(text)\nngrams(2)(text)\ntag\ntag/number(number)\nbias"
COLUMNS = ("text", "tag", "number")


@dataclass
class SingleWorld:
    """Items with a text, a tag and a number; `gold` has an output of one class for each."""

    labels: int
    sentences: list[tuple[str, str, str]]
    gold: list[Output]

    def __post_init__(self) -> None:
        self.shape = _core.SingleShape(self.labels)
        self.templates = parse_item_templates(TEMPLATES, Columns(COLUMNS, ""))
        self.extractor = compile_item_extractor(self.templates, COLUMNS, {})

    def table(self) -> _core.TokenTable:
        columns = [list(values) for values in zip(*self.sentences, strict=True)]
        return _core.from_columns(columns, [len(self.sentences)]).as_items()

    def batch(
        self, examples: _core.ExampleRows, index: _core.FeatureIndex, costs: np.ndarray | None = None
    ) -> _core.SingleBatch:
        return _core.SingleBatch(self.shape, examples, costs)

    def examples(self, index: _core.FeatureIndex, keep_templates: bool = False) -> _core.ExampleRows:
        examples = _core.ExampleRows(keep_templates)
        examples.add_growing(self.extractor, self.table(), index)
        examples.set_gold(np.array([c for y in self.gold for c in y], np.int32), self.labels)
        return examples

    def untrained(self, *table: Any, keep_templates: bool = False) -> Trained:
        index = _core.FeatureIndex(True)
        examples = self.examples(index, keep_templates)
        return Trained(self, index, examples, _core.WeightTable(len(index) + 1, 0, *table), 0)

    def features(self, i: int) -> dict[Hashable, float]:
        """What an item has, by (edge, name), computed by hand."""
        text, tag, number = self.sentences[i]
        words = text.split()
        found = Vector({(False, "bias"): 1.0})
        for word in words:
            found[False, f"words(text)={word}"] += 1
        for pair in pairwise(words):
            found[False, f"ngrams(2)(text)={' '.join(pair)}"] += 1
        if tag:
            found[False, f"tag={tag}"] += 1
        if tag and number and float(number):
            found[False, f"tag/number(number)={tag}"] += float(number)
        return found

    def of_class(self, i: int, y: int) -> Vector:
        return Vector({(name, y): value for name, value in self.features(i).items()})

    def vectors(self) -> tuple[list[Vector], list[dict[Output, Vector]]]:
        every = range(len(self.sentences))
        gold = [self.of_class(i, self.gold[i][0]) for i in every]
        return gold, [{(y,): self.of_class(i, y) for y in range(self.labels)} for i in every]

    def tie_key(self, y: Output) -> tuple[int, ...]:
        return y

    def outputs_of(self, name: Hashable) -> range:
        return range(self.labels if name != "constant" else 0)

    def constants(self) -> list[int]:
        return []

    def places(self) -> list[tuple[Hashable, int]]:
        names = dict.fromkeys(name for i in range(len(self.sentences)) for name in self.features(i))
        return [(name, y) for name in names for y in range(self.labels)]


def random_single_world(seed: int, labels: int = 3, count: int = 5) -> SingleWorld:
    rng = np.random.default_rng(seed)
    items = []
    for _ in range(count):
        tokens = random_sentence(rng, int(rng.integers(0, 5)))
        text = " ".join(word for word, _ in tokens)
        tag = tokens[0][1] if tokens else ""
        items.append((text, tag, str(rng.choice(["", "0", "0.5", "2", "-1.25"]))))
    return SingleWorld(labels, items, [(int(rng.integers(labels)),) for _ in range(count)])


@st.composite
def single_worlds(draw: st.DrawFn, count: int = 5, labels: int | None = None) -> SingleWorld:
    chosen = draw(st.integers(1, 5)) if labels is None else labels
    return random_single_world(draw(st.integers(0, 2**32 - 1)), chosen, count)
