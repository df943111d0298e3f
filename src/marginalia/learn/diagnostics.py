"""What theory says of a finished run: mistakes, the norms of updates, the margin, and Novikoff's bound."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from marginalia import _core
from marginalia.decode.structures import TrainingStructure
from marginalia.learn.margins import given_weights, margins_of
from marginalia.learn.online import OnlineSettings
from marginalia.learn.recipe import Recipe
from marginalia.learn.run import Round, TrainingBatch


def margin_of(
    structure: TrainingStructure, rows: _core.SparseRows, batches: Iterator[TrainingBatch], threads: int
) -> dict[str, Any]:
    """By how much gold outputs beat the best wrong ones on the training data.

    `margin` is the smallest difference of scores, `relative_margin` the same for weights of norm 1. Where it
    is positive the data are separable, and a perceptron makes at most (R / margin)² mistakes.
    `share_not_separated` is a share of the examples' weights.
    """
    least, wrong, weight_wrong, weight = np.inf, 0, 0.0, 0.0
    for batch, margins in margins_of(structure, rows, batches, threads):
        least = min(least, float(margins.min(initial=np.inf)))
        wrong += int((margins <= 0).sum())
        given = given_weights(batch)
        weight_wrong, weight = weight_wrong + float(given[margins <= 0].sum()), weight + float(given.sum())
    norm = rows.norm
    relative = least / norm if norm > 0 and np.isfinite(least) else 0.0
    return {
        "margin": least if np.isfinite(least) else None,
        "relative_margin": relative,
        "separable": bool(relative > 0) if np.isfinite(least) else None,
        "not_separated": wrong,
        "share_not_separated": weight_wrong / weight if weight > 0 else 0.0,
    }


def has_bound(recipe: Recipe, threads: int) -> bool:
    """Whether Novikoff's theorem speaks of this run: one perceptron, all of each example, nothing else."""
    settings = recipe.settings.learner
    if recipe.learner != "perceptron" or not isinstance(settings, OnlineSettings):
        return False
    if recipe.settings.data.partial or settings.chosen("boost", "shuffle-average", "bpm-init"):
        return False
    mixes = settings.parallel == "mix" and threads > 1
    return not mixes and settings.penalty[1] == 0.0 and not any(settings.dropout_chances)


def bound_of(diagnostics: dict[str, Any]) -> dict[str, Any]:
    """The bound on a perceptron's mistakes, and whether they stayed within it, if the data are separable."""
    if not diagnostics.get("separable"):
        return {}
    bound = (diagnostics["largest_difference"] / diagnostics["relative_margin"]) ** 2
    return {"mistake_bound": bound, "within_bound": bool(diagnostics["mistakes"] <= bound * (1 + 1e-6))}


def boosting_of(round: Round, diagnostics: dict[str, Any]) -> dict[str, Any]:
    """The bound on the share of training examples that a boosted model gets wrong, and whether it holds."""
    summary: dict[str, Any] = {"error_bound": round.bound}
    if "share_not_separated" in diagnostics and round.bound is not None:
        within = diagnostics["share_not_separated"] <= round.bound * (1 + 1e-6)
        summary["within_error_bound"] = bool(within)
    return summary
