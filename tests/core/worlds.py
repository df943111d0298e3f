"""Small worlds to learn in: random sentences of two columns, simple templates, gold labels and masks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from marginalia import _core

Sentence = list[tuple[str, str]]  # (word, tag) of each token
COLUMN = [("column", "", 0, 0), ("column", "", 1, 0)]  # the sources of all programs here


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


def program_of(edges: bool) -> _core.Program:
    return _core.Program(COLUMN, NODE + EDGE if edges else NODE, [], 2)


def numbered(program: _core.Program, table: _core.TokenTable) -> dict[tuple[bool, str], int]:
    """The row that each feature should get: its place in the order of first appearance, from 1."""
    names = [name for token in program.names(table) for name in token]
    return {name: row for row, name in enumerate(dict.fromkeys(names), 1)}


@dataclass
class World:
    labels: int
    order: int
    transitions: bool
    start: np.ndarray
    transition: np.ndarray
    end: np.ndarray
    edges: bool
    sentences: list[Sentence]
    gold: list[tuple[int, ...]]
    shape: _core.ChainShape = field(init=False)
    program: _core.Program = field(init=False)

    def __post_init__(self) -> None:
        masks = self.start, self.transition.ravel(), self.end
        self.shape = _core.ChainShape(self.labels, self.order, self.transitions, *masks, self.transitions)
        self.program = program_of(self.edges)

    def table(self) -> _core.TokenTable:
        return table_of(self.sentences)

    def examples(self, index: _core.FeatureIndex) -> _core.Examples:
        examples = _core.Examples()
        examples.add_growing(self.program, self.table(), index)
        examples.set_gold(np.array([c for y in self.gold for c in y], np.int32), self.labels)
        return examples

    def trained(self, passes: int = 3) -> Trained:
        index = _core.FeatureIndex(True)
        examples = self.examples(index)
        weights = _core.WeightTable(len(index) + 1, self.shape.constants)
        learner = _core.ChainLearner(self.shape, examples, weights)
        step = 0
        for seed in range(passes):
            step, *_ = learner.perceptron(_core.permutation(len(self.sentences), seed), step)
        return Trained(self, index, examples, weights, step)


@dataclass
class Trained:
    world: World
    index: _core.FeatureIndex
    examples: _core.Examples
    weights: _core.WeightTable
    step: int

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

    def decoded(self, examples: _core.Examples) -> list[int]:
        shape = self.world.shape
        return _core.decode_chain(shape, examples, self.rows(), 0, examples.sentences).tolist()


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
        edges=edges,
        sentences=[random_sentence(rng, n) for n in lengths],
        gold=[tuple(rng.integers(0, labels, n).tolist()) for n in lengths],
    )


@st.composite
def worlds(draw: st.DrawFn, labels: tuple[int, int] = (1, 3), most: int = 4, count: int = 5) -> World:
    return random_world(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(*labels)),
        draw(st.sampled_from([1, 2])),
        edges=draw(st.booleans()),
        transitions=draw(st.booleans()),
        masked=draw(st.booleans()),
        most=most,
        count=count,
    )
