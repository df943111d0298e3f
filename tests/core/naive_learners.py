"""The online learners as their pseudo-codes say: dictionaries, enumeration, penalties on all weights always.

A learner is asked for the change of the weights at an example; it sees the weights before it. Where
a hair decides (two outputs with nearly the same score) it raises `Tie`: floats may decide otherwise.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from naive_perceptron import Names, Vector, features_at, names_of
from oracles import Output
from segment_worlds import SegmentWorld
from worlds import World

HAIR = 1e-4  # far above what floats lose in the worlds here


class TieError(Exception):
    """Rounding would decide."""


Change = tuple[dict[Hashable, float], float]  # what is added to the weights, and the scale of the penalty
Rule = Callable[["NaiveLearner", int], Change]


@dataclass
class NaiveLearner:
    world: World | SegmentWorld
    w: dict[Hashable, float]
    rule: Rule
    samples: np.ndarray
    penalty: str = "none"
    rate: float = 0.0
    sum_of_w: Vector = field(default_factory=Vector)
    variance: dict[Hashable, float] = field(default_factory=dict)
    owed: dict[Hashable, float] = field(default_factory=dict)  # c of Zhang et al.
    total: float = 0.0  # u of Tsuruoka et al.
    taken: dict[Hashable, float] = field(default_factory=dict)  # their q
    room: set[Hashable] | None = None  # the weights that can be learned, if not all
    step: int = 0
    loss: float = 0.0
    updates: int = 0
    near: int = 0  # examples whose loss is 0 up to rounding, so that rounding says if they count as updates

    def __post_init__(self) -> None:
        self.gold, self.legal = self.world.vectors()
        self.every = list(dict.fromkeys([*self.world.places(), *self.w]))

    @cached_property
    def names(self) -> list[Names]:
        """The features of tokens, in a chain."""
        assert isinstance(self.world, World)
        return names_of(self.world)

    def score(self, phi: Mapping[Hashable, float]) -> float:
        return sum(self.w.get(f, 0.0) * count for f, count in phi.items())

    def ranked(self, i: int, cost: Callable[[Output], float] = lambda y: 0.0) -> list[Output]:
        """The outputs by falling score + cost, if nothing is close among the first three."""
        scores = {y: self.score(phi) + cost(y) for y, phi in self.legal[i].items()}
        ranking = sorted(scores, key=lambda y: -scores[y])
        if any(scores[a] - scores[b] < HAIR for a, b in itertools.pairwise(ranking[:3])):
            raise TieError
        return ranking

    def minus(self, i: int, y: Output) -> dict[Hashable, float]:
        """Features of gold minus those of y."""
        other = self.legal[i][y]
        change = {f: self.gold[i][f] - other[f] for f in self.gold[i].keys() | other.keys()}
        return {f: value for f, value in change.items() if value}

    def learn(self, i: int) -> None:
        change, scale = self.rule(self, i)
        self.updates += bool(change)
        rate = scale * self.rate
        if self.penalty == "l2":
            self.w = {f: (1 - rate) * w for f, w in self.w.items()}
        if self.penalty == "l1":
            self.w = {f: math.copysign(max(0.0, abs(w) - rate), w) for f, w in self.w.items()}
        for f, value in change.items():
            self.w[f] = self.w.get(f, 0.0) + self.samples[i] * value
        if self.penalty == "l1-cumulative":
            self.pay_cumulative(rate)
        if self.penalty == "l1-signed":
            self.pay_signed(rate)
        self.sum_of_w.update(self.w)
        self.step += 1

    def pay_cumulative(self, rate: float) -> None:
        """Zhang, Su and Zhou 2014, equations 13 to 17: every weight owes, whether it is zero or not."""
        for f in self.every:
            w, owed = self.w.get(f, 0.0), self.owed.get(f, 0.0) + rate
            paid = min(abs(w), owed)
            self.w[f] = math.copysign(abs(w) - paid, w)
            self.owed[f] = owed - paid

    def pay_signed(self, rate: float) -> None:
        """Tsuruoka, Tsujii and Ananiadou 2009, figure 2."""
        self.total += rate
        for f in self.every:
            w, taken = self.w.get(f, 0.0), self.taken.get(f, 0.0)
            if w > 0:
                self.w[f] = max(0.0, w - (self.total + taken))
            elif w < 0:
                self.w[f] = min(0.0, w + (self.total - taken))
            self.taken[f] = taken + self.w.get(f, 0.0) - w

    def learn_until_tie(self, order: Iterable[int]) -> list[int]:
        """Learns from the examples in order, up to the first where a hair decides: those before it."""
        done = []
        for i in order:
            try:
                self.learn(i)
            except TieError:
                break
            done.append(i)
        return done

    def mean(self) -> dict[Hashable, float]:
        return {f: total / max(self.step, 1) for f, total in self.sum_of_w.items()}


def perceptron(learner: NaiveLearner, i: int) -> Change:
    best = learner.ranked(i)[0]
    return (learner.minus(i, best) if best != learner.world.gold[i] else {}), 1.0


def margin_perceptron(c: float) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        """Kazama and Torisawa 2007, algorithm 3.1."""
        first, *others = learner.ranked(i)
        if first != learner.world.gold[i]:
            return learner.minus(i, first), 1.0
        if not others:
            return {}, 1.0
        change = learner.minus(i, others[0])
        if abs(learner.score(change) - c) < HAIR:
            raise TieError
        return (change if learner.score(change) <= c else {}), 1.0

    return rule


def costly_best(learner: NaiveLearner, i: int, costs: np.ndarray) -> tuple[dict[Hashable, float], float]:
    """Gold's features minus those of the best output by score + cost, and the loss."""
    gold = learner.world.gold[i]

    def cost(y: Output) -> float:
        return sum(float(costs[right, given]) for right, given in zip(gold, y, strict=True))

    best = learner.ranked(i, cost)[0]
    if best == gold:
        return {}, 0.0
    change = learner.minus(i, best)
    missing = cost(best) - learner.score(change)
    learner.near += abs(missing) < HAIR
    loss = max(0.0, missing)
    learner.loss += loss
    return (change if loss > 0 else {}), loss


def passive_aggressive(kind: str, c: float, costs: np.ndarray) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        """Crammer et al. 2006, figure 1."""
        change, loss = costly_best(learner, i, costs)
        norm = sum(value * value for value in change.values())
        if not norm:
            return {}, 1.0
        tau = {"0": loss / norm, "I": min(c, loss / norm), "II": loss / (norm + 1 / (2 * c))}[kind]
        return {f: tau * value for f, value in change.items()}, 1.0

    return rule


def correction(margin: float) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        """The smallest change that makes gold beat the best other output by the margin, and a little more."""
        others = [y for y in learner.ranked(i) if y != learner.world.gold[i]]
        if not others:
            return {}, 1.0
        change = learner.minus(i, others[0])
        lead, norm = learner.score(change), sum(value * value for value in change.values())
        if abs(lead - margin) < HAIR:
            raise TieError
        if lead > margin:
            return {}, 1.0
        learner.loss += 1.01 * margin - lead
        return {f: (1.01 * margin - lead) / norm * value for f, value in change.items()}, 1.0

    return rule


def arow(r: float, costs: np.ndarray) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        """Crammer, Kulesza and Dredze 2009, figure 1, with a diagonal for the matrix."""
        x, loss = costly_best(learner, i, costs)
        if not x:
            return {}, 1.0
        old = {f: learner.variance.get(f, 1.0) for f in x}
        beta = 1 / (sum(value * value * old[f] for f, value in x.items()) + r)
        for f, value in x.items():
            learner.variance[f] = old[f] - beta * old[f] * value * value * old[f]
        return {f: loss * beta * old[f] * value for f, value in x.items()}, 1.0

    return rule


def expected(learner: NaiveLearner, i: int) -> tuple[Vector, float]:
    """The mean features of all outputs, and log Z."""
    outputs = list(learner.legal[i].values())
    return mean_of(outputs, [learner.score(phi) for phi in outputs])


def mean_of(vectors: list[Vector], scores: list[float]) -> tuple[Vector, float]:
    most = max(scores)
    log_z = most + math.log(sum(math.exp(s - most) for s in scores))
    mean = Vector()
    for phi, s in zip(vectors, scores, strict=True):
        mean.update({f: math.exp(s - log_z) * count for f, count in phi.items()})
    return mean, log_z


def legal_labels(world: World, y: Output, t: int) -> list[int]:
    """What token t may be labelled after the labels of y before it."""
    before = world.start if t == 0 else world.transition[y[t - 1]]
    return [c for c in range(world.labels) if before[c] and (t < len(y) - 1 or world.end[c])]


def expected_choices(learner: NaiveLearner, i: int) -> tuple[Vector, float]:
    """The mean features of each label as a choice after gold's labels, and the sum of their log Z."""
    world, gold, total, log_z = learner.world, learner.world.gold[i], Vector(), 0.0
    assert isinstance(world, World)
    for t in range(len(gold)):
        choices = [(*gold[:t], c, *gold[t + 1 :]) for c in legal_labels(world, gold, t)]
        vectors = [features_at(world, learner.names[i], y, t) for y in choices]
        mean, one = mean_of(vectors, [learner.score(phi) for phi in vectors])
        total.update(mean)
        log_z += one
    return total, log_z


def gradient(rate: float, decay: float, examples: float, local: bool) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        """A step down the gradient of the negative log-likelihood, with Tsuruoka's learning rate."""
        eta = rate * decay ** (learner.step / examples)
        mean, log_z = (expected_choices if local else expected)(learner, i)
        learner.loss += learner.samples[i] * (log_z - learner.score(learner.gold[i]))
        change = {f: eta * (learner.gold[i][f] - mean[f]) for f in learner.gold[i].keys() | mean.keys()}
        return {f: v for f, v in change.items() if learner.room is None or f in learner.room}, eta

    return rule
