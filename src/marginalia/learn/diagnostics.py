"""What theory says of a finished run: mistakes, the norms of updates, the margin, and Novikoff's bound."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.decode.structures import Examples, StructureInTraining
from marginalia.decode.tagger import in_order
from marginalia.learn.recipe import Recipe
from marginalia.learn.regularisers import dropout_of, penalty_of
from marginalia.learn.run import Batch, Counts


def summary_of(total: Counts) -> dict[str, Any]:
    """What was counted on the way."""
    return {
        "mistakes": total.mistakes,
        "updates": total.updates,
        "largest_difference": float(np.sqrt(total.largest)),
    }


def margin_of(
    structure: StructureInTraining, rows: _core.SparseRows, batches: Iterator[Batch], threads: int
) -> dict[str, Any]:
    """By how much gold outputs beat the best wrong ones on the training data.

    `margin` is the smallest difference of scores, `relative_margin` the same for weights of norm 1. Where it
    is positive the data are separable, and a perceptron makes at most (R / margin)² mistakes.
    """
    least, wrong = np.inf, 0
    for batch in batches:
        examples = structure.batch(batch.examples)
        bounds = np.linspace(0, batch.examples.sentences, 4 * threads + 1).astype(int).tolist()

        def margins_of(part: tuple[int, int], examples: Examples = examples) -> npt.NDArray[np.float64]:
            return examples.margins(rows, *part)[0]

        for margins in in_order(margins_of, pairwise(bounds), threads):
            least = min(least, float(margins.min(initial=np.inf)))
            wrong += int((margins <= 0).sum())
    norm = rows.norm
    relative = least / norm if norm > 0 and np.isfinite(least) else 0.0
    return {
        "margin": least if np.isfinite(least) else None,
        "relative_margin": relative,
        "separable": bool(relative > 0) if np.isfinite(least) else None,
        "not_separated": wrong,
    }


def has_bound(recipe: Recipe, threads: int) -> bool:
    """Whether Novikoff's theorem speaks of this run: one perceptron, all of each example, nothing else."""
    settings = recipe.settings
    if recipe.learner != "perceptron" or settings["shuffle-average"] > 1 or settings["bpm-init"]:
        return False
    mixes = settings["parallel"] == "mix" and threads > 1
    return not mixes and penalty_of(settings)[1] == 0.0 and dropout_of(settings) == (0.0, 0.0)


def bound_of(found: dict[str, Any]) -> dict[str, Any]:
    """The bound on a perceptron's mistakes, and whether they stayed within it, if the data are separable."""
    if not found.get("separable"):
        return {}
    bound = (found["largest_difference"] / found["relative_margin"]) ** 2
    return {"mistake_bound": bound, "within_bound": bool(found["mistakes"] <= bound * (1 + 1e-6))}
