"""Boosting as its pseudo-code says (Iwakura 2013, figure 2): dictionaries, enumeration, plain sums."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from naive_learners import HAIR, NaiveLearner, Rule, TieError
from segment_worlds import SegmentWorld
from worlds import World


@dataclass
class NaiveRound:
    round_weight: float
    z: float
    samples: list[float]  # the weights of the examples after the round
    total: dict[Hashable, float]  # the sum of all weights so far


def z_of(samples: Sequence[float], margins: Sequence[float], alpha: float) -> float:
    return math.fsum(w * math.exp(-alpha * d) for w, d in zip(samples, margins, strict=True))


def round_weight(samples: Sequence[float], margins: Sequence[float]) -> float:
    """The least Z between 0 and 2 ᾱ: the middle third as long as it lasts."""
    pairs = list(zip(samples, margins, strict=True))
    right, wrong = (math.fsum(w for w, d in pairs if (d > 0) == sign) for sign in (True, False))
    if right <= wrong:
        return 0.0
    cap = math.log(len(samples) + 1)
    low, high = 0.0, min(math.log(right / wrong) if wrong else cap, cap)
    for _ in range(200):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if z_of(samples, margins, first) <= z_of(samples, margins, second):
            high = second
        else:
            low = first
    return high


def margins_of(learner: NaiveLearner, w: Mapping[Hashable, float]) -> list[float]:
    """Gold's score minus that of the best other output."""
    learner.w = dict(w)
    margins = []
    for i, gold in enumerate(learner.world.gold):
        others = [learner.score(learner.minus(i, y)) for y in learner.legal[i] if y != gold]
        margins.append(min(others, default=math.inf))
    if any(abs(d) < HAIR for d in margins):
        raise TieError
    return margins


def boosted(
    world: World | SegmentWorld,
    start: Mapping[Hashable, float],
    rule: Callable[[], Rule],
    given: Sequence[float],
    rounds: int,
    passes: int,
) -> list[NaiveRound]:
    """The rounds that are of use."""
    samples = [weight / math.fsum(given) for weight in given]
    total: Counter[Hashable] = Counter()
    done: list[NaiveRound] = []
    for _ in range(rounds):
        ratios = np.array(samples) * math.fsum(given)
        learner = NaiveLearner(world, dict(start), rule(), ratios)
        for _ in range(passes):
            before = learner.updates, learner.near
            for i in range(len(world.gold)):
                learner.learn(i)
            updates, near = learner.updates - before[0], learner.near - before[1]
            if near and updates <= near:
                raise TieError
            if not updates:
                break
        w = learner.mean()
        margins = [d / math.fsum(given) for d in margins_of(learner, w)]
        alpha = round_weight(samples, margins)
        if alpha < 1e-12:
            break
        z = z_of(samples, margins, alpha)
        samples = [s * math.exp(-alpha * d) / z for s, d in zip(samples, margins, strict=True)]
        total.update({f: alpha * value / math.fsum(given) for f, value in w.items()})
        done.append(NaiveRound(alpha, z, samples, dict(total)))
    return done
