"""Small worlds of words: segments whose features also look at the segment before, and a plain beam search."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st
from naive_learners import HAIR, Change, NaiveLearner, TieError
from naive_perceptron import Vector
from oracles import Output
from segment_oracles import Segmentation
from segment_worlds import COLUMNS, SegmentWorld, random_segment_world

from marginalia import _core
from marginalia.features.compiling import compile_word_extractor
from marginalia.features.templates import parse_templates

# By what their features depend on, as in segment_worlds.py.
NEIGHBOURS = {
    "leave": ["tag[p..q]", "word[p]/word[b]", "word[p+1]", "tag[p-1]/tag[b+1]"],
    "pair": ["tag[p..q]/tag[b..e]", "previous-length/word[b..e]", "tag[p]/length(2)", "tag[e]/tag[p..q]"],
    "before": ["before: tag[b..e]", "before: word[b]/length"],
}


@dataclass
class WordWorld(SegmentWorld):
    """`beam` 0: all states."""

    beam: int = 0
    early: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        inside = np.array(self.types.inside, np.uint32)
        flags = self.types.transitions, self.types.ends
        self.shape = _core.WordShape(inside, self.types.most, *flags, self.beam, self.early)
        self._known: dict[tuple[int, Segmentation], Vector] = {}

    def compiled(self) -> Any:
        program = parse_templates("\n".join(self.lines), COLUMNS)
        return program, compile_word_extractor(program, ("word", "tag"), {})

    def batch(
        self, examples: _core.SegmentExamples, index: _core.FeatureIndex, costs: np.ndarray | None = None
    ) -> _core.WordBatch:
        return _core.WordBatch(self.shape, self.extractor, examples, index, self.open, costs)

    def features_of(self, i: int, segments: Segmentation, names: Any = None) -> Vector:
        """Of an output or of a prefix of one, which has no end."""
        if (i, segments) not in self._known:
            self._known[i, segments] = self._features_of(i, segments)
        return self._known[i, segments]

    def _features_of(self, i: int, segments: Segmentation) -> Vector:
        phi = super().features_of(i, segments)
        naive, begins = self.naive(i), self.types.begins
        for previous, (begin, last, type_) in pairwise([None, *segments]):
            for before, name in naive.neighbours(previous and previous[0], begin, last):
                phi[(False, name), begins[previous[2] if before else type_]] += 1
        if segments and self.types.ends and segments[-1][1] + 1 < len(self.sentences[i]):
            del phi["constant", self.labels + begins[segments[-1][2]]]
        return phi


@st.composite
def word_worlds(draw: st.DrawFn, most: int = 4, count: int = 5, **given: Any) -> WordWorld:
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    world = random_segment_world(
        seed,
        draw(st.integers(1, 2)),
        draw(st.integers(1, 4)),
        transitions=draw(st.booleans()),
        ends=draw(st.booleans()),
        most=most,
        sentences=count,
        met=draw(st.sampled_from([2, 8])),
    )
    lines = [line for kind in NEIGHBOURS.values() for line in kind if rng.random() < 0.6]
    fields = world.types, [*lines, *world.lines], world.sentences, world.gold, True, world.met
    return WordWorld(*fields, **given)


class NaiveBeam:
    """Search as it is described: at each place the best prefix for each last word; the best few go on.
    `TieError` where a hair decides."""

    def __init__(
        self, learner: NaiveLearner, i: int, cost: Callable[[Output], float] = lambda y: 0.0
    ) -> None:
        self.learner, self.world, self.i, self.cost = learner, learner.world, i, cost
        self.length = len(self.world.sentences[i])
        self.agendas: list[list[Segmentation]] = [[()]]
        for place in range(1, self.length + 1):
            self.agendas.append(self._agenda(place))

    def score(self, prefix: Segmentation) -> float:
        phi = self.world.features_of(self.i, prefix)
        return self.learner.score(phi) + self.cost(self.world.types.labels_of(prefix))

    def _agenda(self, place: int) -> list[Segmentation]:
        found, types = [], self.world.types
        for begin in range(max(0, place - types.most), place):
            for type_ in range(len(types.begins)):
                if place - begin <= types.longest(type_) and self.agendas[begin]:
                    ways = [(*prefix, (begin, place - 1, type_)) for prefix in self.agendas[begin]]
                    found.append(self._sorted(ways)[0])
        return self._sorted(found)[: self.world.beam or None]

    def _sorted(self, prefixes: list[Segmentation]) -> list[Segmentation]:
        scores = {prefix: self.score(prefix) for prefix in prefixes}
        ranking = sorted(scores, key=lambda prefix: -scores[prefix])
        if any(scores[a] - scores[b] < HAIR for a, b in pairwise(ranking)):
            raise TieError
        return ranking

    def violation(self, gold: Segmentation) -> tuple[Segmentation, Segmentation] | None:
        """The prefixes that an update compares."""
        best, found, most = self.agendas[-1][0], None, -np.inf
        for n in range(1, len(gold) + 1):
            right, agenda = gold[:n], self.agendas[gold[n - 1][1] + 1]
            lost = right[-1] not in [prefix[-1] for prefix in agenda]
            lead = self.score(agenda[0]) - self.score(right)
            last = n == len(gold)
            if self.world.early:
                if (lost or last) and agenda[0] != right:
                    return right, agenda[0]
            elif agenda[0] != right:
                if abs(lead - most) < HAIR:
                    raise TieError
                if lead > most:
                    found, most = (right, agenda[0]), lead
        return found if best != gold else None


def beam_perceptron(learner: NaiveLearner, i: int) -> Change:
    world = learner.world
    if not world.gold[i]:
        return {}, 1.0
    found = NaiveBeam(learner, i).violation(world.segments(world.gold[i]))
    if found is None:
        return {}, 1.0
    right, wrong = (world.features_of(i, prefix) for prefix in found)
    change: dict[Hashable, float] = {f: right[f] - wrong[f] for f in right.keys() | wrong.keys()}
    return {f: value for f, value in change.items() if value}, 1.0
