"""Small worlds to learn in: random sentences of two columns, simple templates, gold labels and masks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from naive_perceptron import Vector, features_of, legal_outputs, names_of
from oracles import Output, tie_key

from marginalia import _core

Sentence = list[tuple[str, str]]  # (word, tag) of each token
COLUMN = [("column", "", 0, 0), ("column", "", 1, 0)]  # the sources of all extractors here
UNWEIGHTED = np.zeros(0)  # sample weights where all examples count the same


def value(source: int, offset: int) -> tuple[Any, ...]:
    return ("", source, offset, False, ["<"], [">"])


def literal(text: str) -> tuple[Any, ...]:
    return (text, -1, 0, False, [], [])


NODE = [
    (False, [literal("w="), value(0, 0)]),
    (False, [literal("p="), value(0, -1), literal("/"), value(1, 0)]),
    (False, [literal("bias")]),
]
EDGE = [(True, [literal("t="), value(1, 0)]), (True, [literal("next="), value(0, 1)])]


def table_of(sentences: list[Sentence]) -> _core.TokenTable:
    columns = [[token[c] for s in sentences for token in s] for c in range(2)]
    return _core.from_columns(columns, [len(s) for s in sentences])


def extractor_of(edges: bool) -> _core.FeatureExtractor:
    return _core.FeatureExtractor(COLUMN, NODE + EDGE if edges else NODE, [], 2)


def numbered(extractor: _core.FeatureExtractor, table: _core.TokenTable) -> dict[tuple[bool, str], int]:
    """The row that each feature should get: its place in the order of first appearance, from 1."""
    names = [name for token in extractor.names(table) for name in token]
    return {name: row for row, name in enumerate(dict.fromkeys(names), 1)}


@dataclass
class World:
    labels: int
    order: int
    transitions: bool
    start: np.ndarray
    transition: np.ndarray
    end: np.ndarray
    ends: bool
    edges: bool
    sentences: list[Sentence]
    gold: list[tuple[int, ...]]
    local: bool = False
    beam: int = 0
    shape: _core.ChainShape = field(init=False)
    extractor: _core.FeatureExtractor = field(init=False)

    def __post_init__(self) -> None:
        masks = self.start, self.transition.ravel(), self.end
        self.shape = _core.ChainShape(
            self.labels, self.order, self.transitions, *masks, self.ends, self.local, self.beam
        )
        self.extractor = extractor_of(self.edges)

    def table(self) -> _core.TokenTable:
        return table_of(self.sentences)

    def examples(self, index: _core.FeatureIndex, keep_templates: bool = False) -> _core.ExampleRows:
        examples = _core.ExampleRows(keep_templates)
        examples.add_growing(self.extractor, self.table(), index)
        examples.set_gold(np.array([c for y in self.gold for c in y], np.int32), self.labels)
        return examples

    def trained(self, passes: int = 3) -> Trained:
        trained = self.untrained()
        for seed in range(passes):
            trained.learn(_core.UpdateRule.perceptron(), _core.permutation(len(self.sentences), seed))
        return trained

    def untrained(self, *table: Any, keep_templates: bool = False) -> Trained:
        """All that learning needs; `table` goes to the weight table: penalty, rate, variances."""
        index = _core.FeatureIndex(True)
        examples = self.examples(index, keep_templates)
        weights = _core.WeightTable(len(index) + 1, self.shape.constants, *table)
        return Trained(self, index, examples, weights, 0)

    def batch(
        self, examples: _core.ExampleRows, index: _core.FeatureIndex, costs: np.ndarray | None = None
    ) -> _core.ChainBatch:
        return _core.ChainBatch(self.shape, examples, costs)

    def outputs_of(self, name: Hashable) -> range:
        """What a feature may be seen with."""
        if name == "constant":
            return range(self.shape.constants)
        return range(self.labels**2 if name[0] else self.labels)

    def constants(self) -> list[int]:
        """The places of row 0 that are learned."""
        n = self.labels
        return [*range(2 * n * self.ends), *range(2 * n, self.shape.constants * self.transitions)]

    def places(self) -> list[tuple[Hashable, int]]:
        """All weights that a feature of this world can have: its name and the output."""
        names = numbered(self.extractor, self.table())
        return [(name, output) for name in names for output in self.outputs_of(name)] + [
            ("constant", at) for at in self.constants()
        ]

    def vectors(self) -> tuple[list[Vector], list[dict[Output, Vector]]]:
        """The features of gold and of all legal outputs, of each sentence."""
        named = names_of(self)
        gold = [features_of(self, names, y) for names, y in zip(named, self.gold, strict=True)]
        legal = [{y: features_of(self, names, y) for y in legal_outputs(self, len(names))} for names in named]
        return gold, legal

    def tie_key(self, y: Output) -> tuple[int, ...]:
        return tie_key(self.order, y)


class WithCosts(NamedTuple):
    """An update rule, and the costs [right][given] that its structure is made with."""

    rule: _core.UpdateRule
    costs: np.ndarray


@dataclass
class Trained:
    """A world with weights that are being learned: that of a chain, or of segments (segment_worlds.py)."""

    world: Any
    index: _core.FeatureIndex
    examples: Any
    weights: _core.WeightTable
    step: int

    def batch(self, costs: np.ndarray | None = None) -> Any:
        return self.world.batch(self.examples, self.index, costs)

    def names(self) -> dict[int, Hashable]:
        """What each row is for."""
        edges = self.index.edges.tolist()
        names = {row: (bool(edge), self.index.name(row).decode()) for row, edge in enumerate(edges, 1)}
        return {0: "constant", **names}

    def places(self) -> list[tuple[Hashable, int, int]]:
        """All weights that the features with rows can have: name, row and output."""
        found = [
            (name, row, output)
            for row, name in self.names().items()
            if row
            for output in self.world.outputs_of(name)
        ]
        return found + [("constant", 0, at) for at in self.world.constants()]

    def room(self) -> set[Hashable]:
        """The weights that have a cell."""
        rows = self.weights.current
        return {(name, o) for row, name in self.names().items() for o in rows.cells(row)[0].tolist()}

    def weights_of(self, rows: _core.SparseRows) -> dict[Hashable, float]:
        """All weights that are not zero, by feature and output."""
        found, count = {}, len(rows.flat()[2])
        for row, name in self.names().items():
            if row >= count:
                continue  # met since
            outputs, weights = rows.cells(row)
            assert len(set(outputs.tolist())) == len(outputs)
            found.update({(name, o): w for o, w in zip(outputs.tolist(), weights.tolist(), strict=True) if w})
        return found

    def learn(
        self, rule: _core.UpdateRule | WithCosts, order: Any, samples: np.ndarray = UNWEIGHTED, *dropout: Any
    ) -> dict[str, Any]:
        """One rule on some examples; what was counted."""
        order = np.asarray(order, np.uint32)
        rule, costs = (rule.rule, rule.costs.ravel()) if isinstance(rule, WithCosts) else (rule, None)
        counted = self.batch(costs).learn(self.weights, rule, order, self.step, samples, *dropout)
        self.step += len(order)
        return counted

    def scatter(self, rng: np.random.Generator, share: float = 0.8) -> dict[Hashable, float]:
        """Gives about this share of all weights random values, so that scores do not tie; which ones."""
        chosen = [place for place in self.places() if rng.random() < share]
        values = rng.normal(0.0, 1.0, len(chosen)).astype(np.float32).tolist()
        start: dict[Hashable, float] = {(p[0], p[2]): v for p, v in zip(chosen, values, strict=True)}
        self.begin_with(start)
        return start

    def begin_with(self, start: Mapping[Hashable, float]) -> None:
        """Gives these weights their values."""
        chosen = [(row, output, start[name, output]) for name, row, output in self.places()
                  if (name, output) in start]  # fmt: skip
        rows, outputs = (np.array([place[k] for place in chosen], np.uint32) for k in (0, 1))
        values, none = np.array([place[2] for place in chosen], np.float32), np.zeros(0)
        parts = (rows, outputs, values, none, none, none.astype(np.float32))
        self.weights.restore(self.index, self.world.labels, *parts, 0.0)

    def current(self) -> dict[Hashable, float]:
        self.weights.catch_up(self.step)
        return self.weights_of(self.weights.current)

    def mean(self) -> dict[Hashable, float]:
        self.weights.catch_up(self.step)
        return self.weights_of(self.weights.averaged(self.step))

    def rows(self) -> _core.SparseRows:
        return self.weights.averaged(self.step)

    def arrays(self, wide: bool = False) -> dict[str, np.ndarray]:
        """What a model file would hold."""
        arrays = self.rows().freeze(self.index, self.world.labels)
        outputs = arrays.pop("outputs")
        arrays["wide" if wide else "narrow"] = outputs.astype(np.uint32 if wide else np.uint16)
        at, weights = self.rows().cells(0)
        arrays["constant_at"], arrays["constants"] = at[weights != 0], weights[weights != 0]
        return arrays

    def decoded(self, examples: Any) -> list[int]:
        batch = self.world.batch(examples, self.index)
        return batch.best(self.rows(), 0, examples.sentences).tolist()


def assert_close(
    found: Mapping[Hashable, float], expected: Mapping[Hashable, float], tolerance: float = 1e-5
) -> None:
    """Weights are floats, so they are the same up to a small share of the largest."""
    largest = max([1.0, *map(abs, expected.values())])
    for f in found.keys() | expected.keys():
        gap = abs(found.get(f, 0.0) - expected.get(f, 0.0))
        assert gap <= tolerance * largest, (f, found.get(f, 0.0), expected.get(f, 0.0))


def random_sentence(rng: np.random.Generator, length: int) -> Sentence:
    return [(f"w{rng.integers(5)}", f"t{rng.integers(3)}") for _ in range(length)]


def random_world(
    seed: int,
    labels: int,
    order: int,
    *,
    edges: bool,
    transitions: bool,
    masked: bool,
    most: int = 5,
    count: int = 5,
    ends: bool | None = None,
    local: bool = False,
    beam: int = 0,
) -> World:
    """Label 0 is legal everywhere, so that every sentence has an output; the gold ones need not be legal."""
    rng = np.random.default_rng(seed)

    def mask(*shape: int) -> np.ndarray:
        legal = (rng.random(shape) < (0.7 if masked else 1.1)).astype(np.uint8)
        legal[..., 0] = 1
        if len(shape) == 2:
            legal[0] = 1
        return legal

    lengths = rng.integers(0, most + 1, count)
    return World(
        labels=labels,
        order=order,
        transitions=transitions,
        start=mask(labels),
        transition=mask(labels, labels),
        end=mask(labels),
        ends=transitions if ends is None else ends,
        edges=edges,
        sentences=[random_sentence(rng, n) for n in lengths],
        gold=[tuple(rng.integers(0, labels, n).tolist()) for n in lengths],
        local=local,
        beam=beam,
    )


@st.composite
def worlds(draw: st.DrawFn, labels: tuple[int, int] = (1, 3), most: int = 4, count: int = 5) -> World:
    return random_world(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(*labels)),
        draw(st.sampled_from([1, 2])),
        edges=draw(st.booleans()),
        transitions=draw(st.booleans()),
        ends=draw(st.booleans()),
        masked=draw(st.booleans()),
        most=most,
        count=count,
    )
