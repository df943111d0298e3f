"""Learning from labels that leave open what is right, by enumeration: the right outputs are listed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from naive_learners import HAIR, Change, NaiveLearner, Rule, TieError, expected, mean_of
from naive_perceptron import Vector
from oracles import Output

Sets = list[list[frozenset[int]]]  # the labels that may be right, by sentence and token


def random_sets(rng: np.random.Generator, world: Any, legal: list[dict[Output, Vector]]) -> Sets:
    """Around a legal output of each sentence: the label itself, some more, or all; some are complete."""
    every = frozenset(range(world.labels))

    def of_token(label: int, share: float) -> frozenset[int]:
        if rng.random() > share:
            return frozenset([label])
        some = frozenset(c for c in every if rng.random() < 0.5)
        return (some if rng.random() < 0.5 else every) | {label}

    found = []
    for outputs in legal:
        gold = list(outputs)[rng.integers(len(outputs))]
        share = rng.choice([0.0, 0.5, 1.0])
        found.append([of_token(label, share) for label in gold])
    return found


def gold_numbers(sets: Sets, labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Label numbers, sets as -1 - k, and the sets."""
    several = list(dict.fromkeys(s for sentence in sets for s in sentence if len(s) > 1))
    numbers = [min(s) if len(s) == 1 else -1 - several.index(s) for sentence in sets for s in sentence]
    allowed = [[label in s for label in range(labels)] for s in several]
    return np.array(numbers, np.int32), np.array(allowed, np.uint8).reshape(-1)


@dataclass
class PartialLearner(NaiveLearner):
    sets: Sets = field(default_factory=list)

    def right(self, i: int, y: Output) -> bool:
        return all(label in allowed for label, allowed in zip(y, self.sets[i], strict=True))

    def best(self, i: int, right: bool) -> Output | None:
        """The best of the outputs that are right, or are not."""
        scores = {y: self.score(phi) for y, phi in self.legal[i].items() if self.right(i, y) == right}
        ranking = sorted(scores, key=lambda y: -scores[y])
        if any(scores[a] - scores[b] < HAIR for a, b in itertools.pairwise(ranking[:2])):
            raise TieError
        return ranking[0] if ranking else None

    def minus(self, i: int, y: Output) -> dict[Hashable, float]:
        """Features of the best right output minus those of y."""
        best = self.best(i, True)
        assert best is not None
        gold, other = self.legal[i][best], self.legal[i][y]
        change = {f: gold[f] - other[f] for f in gold.keys() | other.keys()}
        return {f: value for f, value in change.items() if value}

    def cost(self, costs: np.ndarray, i: int, y: Output) -> float:
        pairs = zip(y, self.sets[i], strict=True)
        return sum(min(float(costs[r, c]) for r in right) for c, right in pairs if c not in right)


def perceptron(learner: NaiveLearner, i: int) -> Change:
    assert isinstance(learner, PartialLearner)
    best = learner.ranked(i)[0]
    return ({} if learner.right(i, best) else learner.minus(i, best)), 1.0


def margin_perceptron(c: float) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        assert isinstance(learner, PartialLearner)
        best = learner.ranked(i)[0]
        if not learner.right(i, best):
            return learner.minus(i, best), 1.0
        wrong = learner.best(i, False)
        if wrong is None:
            return {}, 1.0
        change = learner.minus(i, wrong)
        if abs(learner.score(change) - c) < HAIR:
            raise TieError
        return (change if learner.score(change) <= c else {}), 1.0

    return rule


def _costly(
    costs: np.ndarray, change: Callable[[PartialLearner, dict[Hashable, float], float], Change]
) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        assert isinstance(learner, PartialLearner)
        best = learner.ranked(i, lambda y: learner.cost(costs, i, y))[0]
        if learner.right(i, best):
            return {}, 1.0
        difference = learner.minus(i, best)
        missing = learner.cost(costs, i, best) - learner.score(difference)
        if abs(missing) < HAIR:
            raise TieError
        learner.loss += max(0.0, missing)
        return change(learner, difference, missing) if missing > 0 and difference else ({}, 1.0)

    return rule


def passive_aggressive(kind: str, c: float, costs: np.ndarray) -> Rule:
    def change(learner: PartialLearner, x: dict[Hashable, float], loss: float) -> Change:
        norm = sum(value * value for value in x.values())
        tau = {"0": loss / norm, "I": min(c, loss / norm), "II": loss / (norm + 1 / (2 * c))}[kind]
        return {f: tau * value for f, value in x.items()}, 1.0

    return _costly(costs, change)


def arow(r: float, costs: np.ndarray) -> Rule:
    def change(learner: PartialLearner, x: dict[Hashable, float], loss: float) -> Change:
        old = {f: learner.variance.get(f, 1.0) for f in x}
        beta = 1 / (sum(value * value * old[f] for f, value in x.items()) + r)
        for f, value in x.items():
            learner.variance[f] = old[f] - beta * old[f] * value * value * old[f]
        return {f: loss * beta * old[f] * value for f, value in x.items()}, 1.0

    return _costly(costs, change)


def expected_right(learner: PartialLearner, i: int) -> tuple[Vector, float]:
    """The mean features of the right outputs, and the log of the sum over them."""
    outputs = [phi for y, phi in learner.legal[i].items() if learner.right(i, y)]
    return mean_of(outputs, [learner.score(phi) for phi in outputs])


def gradient(rate: float, decay: float, examples: float) -> Rule:
    def rule(learner: NaiveLearner, i: int) -> Change:
        assert isinstance(learner, PartialLearner)
        eta = rate * decay ** (learner.step / examples)
        (mean, log_z), (gold, log_right) = expected(learner, i), expected_right(learner, i)
        learner.loss += learner.samples[i] * (log_z - log_right)
        change = {f: eta * (gold[f] - mean[f]) for f in gold.keys() | mean.keys()}
        return {f: v for f, v in change.items() if learner.room is None or f in learner.room}, eta

    return rule
