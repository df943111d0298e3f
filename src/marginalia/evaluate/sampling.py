"""Chance, by repeated sampling of sentences: confidence intervals and randomisation tests of F1.

F1 depends on sums of per-sentence counts, and many sentences have equal counts. So no sentence is ever drawn:
what is drawn is how many sentences of each *kind* a sample holds (a multinomial or binomial number), which
has exactly the same distribution and makes a sample cost the number of kinds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from marginalia.errors import SettingsError
from marginalia.evaluate.encode import Counts
from marginalia.evaluate.tally import CORRECT, GOLD, PREDICTED

Floats = npt.NDArray[np.float64]

MOST_ROUNDS = 100_000
"""More tell nothing that these do not."""
# The most numbers held at once: rounds are drawn in chunks below this.
_CELLS = 1 << 20


def bootstrap_interval(
    counts: Counts, *, rounds: int = 1000, level: float = 0.95, seed: int = 1
) -> tuple[float, float]:
    """The percentile bootstrap interval of F1 over sentences.

    `counts[s]` holds the (gold, predicted, correct) of sentence s, as `sentence_counts` gives them.
    """
    _check(rounds, "bootstrap rounds")
    if not 0.0 < level < 1.0:
        raise SettingsError(f"level: {level} does not lie between 0 and 1")
    if not len(counts):
        return 0.0, 0.0
    kinds, often = np.unique(counts, axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    chunks = _chunks(rounds, len(kinds))
    sums = (rng.multinomial(len(counts), often / len(counts), size) @ kinds for size in chunks)
    scores = np.concatenate([f1_of(*total.T[[GOLD, PREDICTED, CORRECT]]) for total in sums])
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def count_as_extreme(a: Counts, b: Counts, *, rounds: int, seed: int) -> int:
    """In how many rounds of swapping sentences at random F1 differs by at least as much as it does now."""
    _check(rounds, "rounds")
    gold = a[:, GOLD].sum()
    total_a, total_b = a.sum(axis=0), b.sum(axis=0)
    observed = abs(f1_of(*total_b) - f1_of(*total_a))
    kinds, often = np.unique((b - a)[:, [PREDICTED, CORRECT]], axis=0, return_counts=True)
    rng = np.random.default_rng(seed)
    extreme = 0
    for size in _chunks(rounds, max(1, len(kinds))):
        moved = rng.binomial(often, 0.5, (size, len(kinds))) @ kinds
        swapped_a = f1_of(gold, *(total_a[1:] + moved).T)
        swapped_b = f1_of(gold, *(total_b[1:] - moved).T)
        # Equal differences may differ in the last bit, and ties must count.
        extreme += int((np.abs(swapped_b - swapped_a) >= observed - 1e-9).sum())
    return extreme


def f1_of(gold: npt.ArrayLike, predicted: npt.ArrayLike, correct: npt.ArrayLike) -> Floats:
    """F1 in percent of arrays of counts, 0 where there is nothing to find and nothing found."""
    found = np.asarray(gold) + np.asarray(predicted)
    return np.asarray(200.0 * np.asarray(correct) / np.maximum(found, 1), np.float64)


def _chunks(rounds: int, width: int) -> Iterator[int]:
    step = max(1, _CELLS // width)
    for done in range(0, rounds, step):
        yield min(step, rounds - done)


def _check(rounds: int, name: str) -> None:
    if not 1 <= rounds <= MOST_ROUNDS:
        raise SettingsError(f"{name}: found {rounds}, expected a whole number from 1 to {MOST_ROUNDS:,}")
