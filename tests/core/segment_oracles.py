"""The meaning of segments, by enumeration: every segmentation of a small sentence with its score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from oracles import Output

from marginalia import _core

NO_LABEL = 2**32 - 1
Segment = tuple[int, int, int]  # first and last token, type
Segmentation = tuple[Segment, ...]


@dataclass(frozen=True)
class Types:
    """The labels of segments: `inside` as `_core.SegmentShape` wants it, and what follows from it."""

    inside: tuple[int, ...]
    most: int
    transitions: bool = True
    ends: bool = True

    @property
    def begins(self) -> list[int]:
        """The begin label of each type."""
        return [label for label, inside in enumerate(self.inside) if inside != label]

    def shape(self) -> _core.SegmentShape:
        inside = np.array(self.inside, np.uint32)
        return _core.SegmentShape(inside, self.most, self.transitions, self.ends)

    def longest(self, type_: int) -> int:
        return 1 if self.inside[self.begins[type_]] == NO_LABEL else self.most

    def segmentations(self, length: int, begin: int = 0) -> Iterator[Segmentation]:
        if begin == length:
            yield ()
        for type_ in range(len(self.begins)):
            for last in range(begin, min(length, begin + self.longest(type_))):
                for rest in self.segmentations(length, last + 1):
                    yield ((begin, last, type_), *rest)

    def labels_of(self, segments: Segmentation) -> Output:
        labels: list[int] = []
        for begin, last, type_ in segments:
            label = self.begins[type_]
            labels += [label] + [self.inside[label]] * (last - begin)
        return tuple(labels)


def random_types(rng: np.random.Generator, count: int, most: int, transitions: bool, ends: bool) -> Types:
    """Types in a random order of their labels, some without an inside label, and perhaps a stray one."""
    labels = rng.permutation(2 * count + 1).tolist()
    kept = sorted(labels[:count] + [label for label in labels[count:] if rng.random() < 0.6])
    number = {label: i for i, label in enumerate(kept)}
    inside = list(range(len(kept)))  # those that no type takes name themselves
    for begin, within in zip(labels[:count], labels[count : 2 * count], strict=True):
        inside[number[begin]] = number.get(within, NO_LABEL)
    return Types(tuple(inside), most, transitions, ends)


@dataclass(frozen=True)
class Problem:
    """The scores of a sentence: [tokens][longest][types], and those of row 0."""

    types: Types
    scores: np.ndarray
    constants: np.ndarray

    @property
    def length(self) -> int:
        return len(self.scores)

    def lattice(self) -> _core.SegmentLattice:
        return _core.SegmentLattice(self.types.shape(), self.scores.ravel(), self.length, self.constants)

    def constant(self, kind: str, *types: int) -> float:
        n, labels = len(self.types.inside), [self.types.begins[s] for s in types]
        if kind == "transition":
            return float(self.constants[2 * n + labels[0] * n + labels[1]]) * self.types.transitions
        return float(self.constants[labels[0] + (n if kind == "end" else 0)])

    def score(self, segments: Segmentation) -> float:
        if not segments:
            return 0.0
        total = sum(float(self.scores[b, e - b, s]) for b, e, s in segments)
        total += sum(self.constant("transition", x[2], y[2]) for x, y in pairwise(segments))
        return total + self.constant("start", segments[0][2]) + self.constant("end", segments[-1][2])

    def outputs(self) -> dict[Output, float]:
        return {self.types.labels_of(y): self.score(y) for y in self.types.segmentations(self.length)}


def tie_key(segments: Sequence[Segment]) -> tuple[tuple[int, int], ...]:
    """Seen from the end of the sentence, the lowest type wins, then the shortest segment."""
    return tuple((type_, last - begin) for begin, last, type_ in reversed(segments))


def random_problem(
    seed: int, length: int, count: int, most: int, *, transitions: bool, whole: bool, scale: float = 1.0
) -> Problem:
    rng = np.random.default_rng(seed)
    types = random_types(rng, count, most, transitions, True)

    def scores(*shape: int) -> np.ndarray:
        values = rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(0.0, 2.0, shape)
        return values * scale

    rows = min(most, max(length, 1))
    return Problem(types, scores(length, rows, count), scores(types.shape().constants))


@st.composite
def problems(draw: st.DrawFn, whole: bool = False, most: int = 6, scale: float = 1.0) -> Problem:
    return random_problem(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(0, most)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        transitions=draw(st.booleans()),
        whole=whole,
        scale=scale,
    )
