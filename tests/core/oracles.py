"""The meaning of a chain, by enumeration: every label sequence of a small lattice with its score.

Nothing here is clever. The score of an output is written down once, in `score`, and everything that the
native search answers is compared with sums and sorts over all outputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from marginalia import _core

# The same examples on every run and every machine.
steady = settings(derandomize=True, deadline=None, database=None, max_examples=200)

Output = tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """A lattice as plain arrays. `edge` is None where transition scores do not depend on the token."""

    order: int
    start: np.ndarray  # masks, 1 = legal
    transition: np.ndarray
    end: np.ndarray
    node: np.ndarray  # [T][L]
    edge: np.ndarray | None  # [T][L][L]
    constants: np.ndarray  # start, end, transition, trigram scores in one row
    local: bool = False  # is each label a choice given those before it?
    beam: int = 0  # how many candidates the search keeps; 0: all

    @property
    def labels(self) -> int:
        return len(self.start)

    @property
    def length(self) -> int:
        return len(self.node)

    def shape(self) -> _core.ChainShape:
        masks = self.start, self.transition.ravel(), self.end
        return _core.ChainShape(self.labels, self.order, True, *masks, True, self.local, self.beam)

    def lattice(self) -> _core.Lattice:
        edge = np.zeros(0) if self.edge is None else self.edge.ravel()
        return _core.Lattice(self.shape(), self.node.ravel(), edge, self.constants)

    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Start, end, transition and trigram scores without the masks."""
        n = self.labels
        start, end, pairs, triples = np.split(self.constants, [n, 2 * n, 2 * n + n * n])
        return start, end, pairs.reshape(n, n), triples.reshape(-1, n, n)

    def masked(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The same with -inf where the masks forbid."""
        start, end, pairs, triples = self.parts()
        return (
            np.where(self.start > 0, start, -np.inf),
            np.where(self.end > 0, end, -np.inf),
            np.where(self.transition > 0, pairs, -np.inf),
            triples,
        )

    def with_node(self, node: np.ndarray) -> Problem:
        return replace(self, node=node)

    def with_constants(self, constants: np.ndarray) -> Problem:
        return replace(self, constants=constants)


def constant_count(labels: int, order: int) -> int:
    return 2 * labels + labels**2 + (labels**2 * (labels + 1) if order == 2 else 0)


def is_legal(p: Problem, y: Output) -> bool:
    if not y:
        return True
    steps = all(p.transition[a, b] for a, b in itertools.pairwise(y))
    return bool(p.start[y[0]] and p.end[y[-1]] and steps)


def score_at(p: Problem, y: Output, t: int) -> float:
    """What the label of token t adds to the score, as core/search/chain/lattice.hpp states it."""
    start, end, pairs, triples = p.parts()
    total = p.node[t, y[t]]
    if t == 0:
        total += start[y[0]]
    if t == p.length - 1:
        total += end[y[t]]
    if t == 0:
        return total
    total += pairs[y[t - 1], y[t]] + (0.0 if p.edge is None else p.edge[t, y[t - 1], y[t]])
    if p.order == 2:
        total += triples[p.labels if t == 1 else y[t - 2], y[t - 1], y[t]]
    return total


def score(p: Problem, y: Output) -> float:
    """The score of a legal output."""
    return sum(score_at(p, y, t) for t in range(len(y)))


def choices(p: Problem, y: Output, t: int) -> list[int]:
    """The labels that token t may have after the first t labels of y."""
    before = p.start if t == 0 else p.transition[y[t - 1]]
    return [c for c in range(p.labels) if before[c] and (t < p.length - 1 or p.end[c])]


def outputs(p: Problem) -> Iterator[tuple[Output, float]]:
    """All legal outputs with their scores."""
    for y in itertools.product(range(p.labels), repeat=p.length):
        if is_legal(p, y):
            yield y, score(p, y)


def tie_key(order: int, y: Output) -> tuple[int, ...]:
    """What decides between outputs of equal score: the lowest last state, then its lowest predecessor, and so
    on backwards. A state of order 1 is a label, of order 2 a label and the one before it, that one first."""
    if order == 2 and len(y) > 1:
        return (y[-2], y[-1], *reversed(y[:-2]))
    return tuple(reversed(y))


def random_problem(
    seed: int,
    labels: int,
    length: int,
    order: int,
    *,
    edges: bool,
    whole: bool,
    masks: str,
    scale: float = 1.0,
) -> Problem:
    """`whole`: scores are small whole numbers, so many outputs tie. `masks`: all, some or few are legal."""
    rng = np.random.default_rng(seed)

    def scores(*shape: int) -> np.ndarray:
        values = rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(0.0, 2.0, shape)
        return values * scale

    legal = {"all": 1.0, "some": 0.75, "few": 0.4}[masks]

    def mask(*shape: int) -> np.ndarray:
        return (rng.random(shape) < legal).astype(np.uint8)

    return Problem(
        order=order,
        start=mask(labels),
        transition=mask(labels, labels),
        end=mask(labels),
        node=scores(length, labels),
        edge=scores(length, labels, labels) if edges else None,
        constants=scores(constant_count(labels, order)),
    )


@st.composite
def problems(
    draw: st.DrawFn, whole: bool | None = None, least: int = 1, most: int = 6, scale: float = 1.0
) -> Problem:
    """Small lattices of every kind."""
    return random_problem(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, 4)),
        draw(st.integers(least, most)),
        draw(st.sampled_from([1, 2])),
        edges=draw(st.booleans()),
        whole=draw(st.booleans()) if whole is None else whole,
        masks=draw(st.sampled_from(["all", "some", "few"])),
        scale=scale,
    )
