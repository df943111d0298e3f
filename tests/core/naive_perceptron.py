"""Collins's perceptron as its pseudo-code says: dictionaries, enumeration, a sum of w after every example."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

from oracles import Output

if TYPE_CHECKING:
    from worlds import World

Vector = Counter[Hashable]  # (row, output): the name of a feature and what it is seen with
Names = list[list[tuple[bool, str]]]  # the features of each token


def features_at(world: World, names: Names, y: Output, t: int) -> Vector:
    """What the label of token t brings, given those before it; constants are ("constant", place in row 0)."""
    n, phi = world.labels, Vector()
    for name in names[t]:
        edge = name[0]
        if not edge:
            phi[name, y[t]] += 1
        elif t > 0:
            phi[name, y[t - 1] * n + y[t]] += 1
    if world.ends and t == 0:
        phi["constant", y[0]] += 1
    if world.ends and t == len(names) - 1:
        phi["constant", n + y[t]] += 1
    if world.transitions and t > 0:
        phi["constant", 2 * n + y[t - 1] * n + y[t]] += 1
        if world.order == 2:
            older = n if t == 1 else y[t - 2]
            phi["constant", 2 * n + n * n + (older * n + y[t - 1]) * n + y[t]] += 1
    return phi


def features_of(world: World, names: Names, y: Output) -> Vector:
    """The feature vector of an output."""
    phi = Vector()
    for t in range(len(y)):
        phi.update(features_at(world, names, y, t))
    return phi


def names_of(world: World) -> list[Names]:
    """The features of all tokens of each sentence."""
    flat = iter(world.extractor.names(world.table()))
    return [list(itertools.islice(flat, len(s))) for s in world.sentences]


def legal_outputs(world: World, length: int) -> Iterable[Output]:
    for y in itertools.product(range(world.labels), repeat=length):
        inside = all(world.transition[a, b] for a, b in itertools.pairwise(y))
        if not y or (world.start[y[0]] and world.end[y[-1]] and inside):
            yield y


class NaivePerceptron:
    """In the world of a chain or of segments."""

    def __init__(self, world: Any) -> None:
        self.world = world
        self.gold, self.legal = world.vectors()
        self.w, self.sum_of_w = Vector(), Vector()
        self.steps = self.mistakes = self.wrong = 0

    def best(self, i: int) -> Output:
        def key(y: Output) -> tuple[float, tuple[Any, ...]]:
            score = sum(self.w[f] * count for f, count in self.legal[i][y].items())
            return -score, self.world.tie_key(y)

        return min(self.legal[i], key=key)

    def learn(self, i: int) -> None:
        z, y = self.best(i), self.world.gold[i]
        if z != y:
            self.mistakes += 1
            self.wrong += sum(a != b for a, b in zip(y, z, strict=True))
            self.w.update(self.gold[i])
            self.w.subtract(self.legal[i][z])
        self.sum_of_w.update(self.w)
        self.steps += 1

    def mean(self) -> dict[Hashable, float]:
        return {f: total / self.steps for f, total in self.sum_of_w.items()}
