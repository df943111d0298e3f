"""Small worlds of labelled segments, to learn in: the same that worlds.py has for chains."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from naive_perceptron import Vector
from naive_segment_extractor import Naive
from oracles import Output
from segment_oracles import Segmentation, Types, random_types, tie_key
from worlds import Sentence, Trained, random_sentence, table_of

from marginalia import _core
from marginalia.features.compiling import compile_segment_extractor
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

COLUMNS = Columns(("word", "tag", "label"), "label")
# By what their features depend on: each kind is scored in a way of its own.
TEMPLATES = {
    "token": ["word[0]", "word[-1]/tag[0]", "tag[1]", "first[0]/tag[0]"],
    "begin": ["word[b]", "tag[b-1]/word[b]", "first[b]"],
    "end": ["word[e]/tag[e+1]", "tag[e]"],
    "arrival": ["word[i]", "tag[i-1]/tag[i]", "word[j]", "tag[j]/tag[j+1]", "tag[j]/word[j+2]"],
    "length": ["length", "length(2)", "node:"],
    "own": ["tag[b..e]", "word[b]/tag[e]", "tag[b]/tag[i]/tag[e]", "length/tag[j]", "tag[b..e]/word[i]"],
    "grow": ["tag[b]/word[i]", "word[b]/tag[j]/tag[j+1]", "word[i]/tag[b]"],
    "shrink": ["word[i]/tag[e]", "tag[j]/tag[j+1]/word[e]", "word[e]/word[i]"],
}


def compiled(lines: Sequence[str]) -> tuple[TemplateProgram, _core.SegmentExtractor]:
    program = parse_templates("\n".join(lines), COLUMNS)
    return program, compile_segment_extractor(program, ("word", "tag"), {})


@dataclass
class SegmentWorld:
    """`open`: features get rows as they are met, and those of `met`, an output of each sentence, have theirs
    already. Otherwise there are the features of the gold outputs, and no others."""

    types: Types
    lines: list[str]
    sentences: list[Sentence]
    gold: list[Output]
    open: bool = True
    met: list[list[Output]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.shape = self.types.shape()
        self.labels: int = self.shape.labels
        self.templates, self.extractor = self.compiled()
        self._names: Any = cache(self._names_of)

    def compiled(self) -> tuple[TemplateProgram, _core.SegmentExtractor]:
        return compiled(self.lines)

    def table(self) -> _core.TokenTable:
        return table_of(self.sentences)

    def batch(
        self, examples: _core.SegmentExamples, index: _core.FeatureIndex, costs: np.ndarray | None = None
    ) -> _core.SegmentBatch:
        return _core.SegmentBatch(self.shape, self.extractor, examples, index, self.open, costs)

    def examples(self, index: _core.FeatureIndex) -> _core.SegmentExamples:
        examples = _core.SegmentExamples(True)
        examples.add(self.extractor, self.table())
        for outputs in self.met if self.open else [self.gold]:
            self.set_gold(examples, outputs)
            self.batch(examples, index).count_features()
        self.set_gold(examples, self.gold)
        return examples

    def set_gold(self, examples: _core.SegmentExamples, outputs: list[Output]) -> None:
        examples.set_gold(np.array([c for y in outputs for c in y], np.int32), self.shape)

    def untrained(self, *table: Any, keep_templates: bool = True) -> Trained:
        """All that learning needs; `table` goes to the weight table: penalty, rate, variances."""
        index = _core.FeatureIndex(True)
        examples = self.examples(index)
        weights = _core.WeightTable(len(index) + 1, self.shape.constants, *table)
        return Trained(self, index, examples, weights, 0)

    def trained(self, passes: int = 3) -> Trained:
        trained = self.untrained()
        for seed in range(passes):
            trained.learn(_core.UpdateRule.perceptron(), _core.permutation(len(self.sentences), seed))
        return trained

    def _names_of(self, i: int, begin: int, last: int) -> list[tuple[int | None, str]]:
        return self.naive(i).names(begin, last)

    def naive(self, i: int, hidden: Collection[tuple[int, str]] = ()) -> Naive:
        words, tags = ([token[c] for token in self.sentences[i]] for c in range(2))
        return Naive(self.templates, {"word": words, "tag": tags}, hidden=hidden)

    def segments(self, y: Output) -> Segmentation:
        found: list[list[int]] = []
        for t, label in enumerate(y):
            if label in self.types.begins:
                found.append([t, t, self.types.begins.index(label)])
            else:
                found[-1][1] = t
        return tuple((b, e, s) for b, e, s in found)

    def features_of(self, i: int, segments: Segmentation, names: Any = None) -> Vector:
        """The feature vector of an output; names(i, begin, last) are those of a segment."""
        phi = Vector()
        for begin, last, type_ in segments:
            label = self.types.begins[type_]
            for token, name in (names or self._names)(i, begin, last):
                later = token is not None and token > begin
                phi[(False, name), self.types.inside[label] if later else label] += 1
        firsts = [self.types.begins[type_] for _, _, type_ in segments]
        if firsts and self.types.ends:
            phi["constant", firsts[0]] += 1
            phi["constant", self.labels + firsts[-1]] += 1
        for a, b in pairwise(firsts if self.types.transitions else []):
            phi["constant", 2 * self.labels + a * self.labels + b] += 1
        return phi

    def vectors(self) -> tuple[list[Vector], list[dict[Output, Vector]]]:
        """The features of gold and of all legal outputs, of each sentence."""
        gold = [self.features_of(i, self.segments(y)) for i, y in enumerate(self.gold)]
        known = {name for phi in gold for name, _ in phi} | {"constant"}
        legal = []
        for i, sentence in enumerate(self.sentences):
            ways = self.types.segmentations(len(sentence))
            legal.append({self.types.labels_of(y): self.features_of(i, y) for y in ways})
        if not self.open:
            legal = [{y: Vector({f: n for f, n in phi.items() if f[0] in known}) for y, phi in each.items()}
                     for each in legal]  # fmt: skip
        return gold, legal

    def tie_key(self, y: Output) -> tuple[Any, ...]:
        return tie_key(self.segments(y))

    def outputs_of(self, name: Hashable) -> Sequence[int]:
        """What a feature may have weights for. Some of them may never be met: those must not matter."""
        return range(self.labels)

    def constants(self) -> list[int]:
        """The places of row 0 that are learned."""
        n, begins = self.labels, self.types.begins
        ends = [label + shift for shift in (0, n) for label in begins] if self.types.ends else []
        pairs = [2 * n + a * n + b for a in begins for b in begins]
        return ends + (pairs if self.types.transitions else [])

    def places(self) -> list[tuple[Hashable, int]]:
        """All weights that a feature of this world can have: its name and the output."""
        _, legal = self.vectors()
        return list(dict.fromkeys(f for each in legal for phi in each.values() for f in phi))


def random_output(rng: np.random.Generator, types: Types, length: int) -> Output:
    labels: list[int] = []
    while len(labels) < length:
        type_ = int(rng.integers(len(types.begins)))
        tokens = int(rng.integers(1, min(types.longest(type_), length - len(labels)) + 1))
        labels += types.labels_of(((0, tokens - 1, type_),))
    return tuple(labels)


def random_segment_world(
    seed: int,
    count: int = 2,
    longest: int = 3,
    *,
    transitions: bool = True,
    ends: bool | None = None,
    open: bool = True,
    met: int = 8,
    most: int = 4,
    sentences: int = 5,
) -> SegmentWorld:
    """`met`: how many outputs of each sentence have given their features rows before."""
    rng = np.random.default_rng(seed)
    types = random_types(rng, count, longest, transitions, transitions if ends is None else ends)
    kinds = [kind for kind in TEMPLATES if rng.random() < 0.5] or ["token"]
    lines = [line for kind in kinds for line in TEMPLATES[kind] if rng.random() < 0.6]
    lengths = rng.integers(0, most + 1, sentences).tolist()
    return SegmentWorld(
        types,
        [*(lines or ["word[0]"]), "edge:"],
        [random_sentence(rng, n) for n in lengths],
        [random_output(rng, types, n) for n in lengths],
        open,
        [[random_output(rng, types, n) for n in lengths] for _ in range(met)],
    )


@st.composite
def segment_worlds(
    draw: st.DrawFn, most: int = 4, count: int = 5, met: int | None = None, open: bool | None = None
) -> SegmentWorld:
    return random_segment_world(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, 2)),
        draw(st.integers(1, 4)),
        transitions=draw(st.booleans()),
        ends=draw(st.booleans()),
        open=draw(st.booleans()) if open is None else open,
        met=draw(st.sampled_from([2, 8, 20])) if met is None else met,
        most=most,
        sentences=count,
    )
