"""Regularisers: settings of what keeps online learners from trusting their training data too much.

Penalties and dropout are in core/weights and core/features; several models at once are in several.py. The
formulas are in docs/regularisers.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marginalia.config import Setting, named_numbers
from marginalia.errors import SettingsError
from marginalia.learn.provenance import check_provenance_settings

PENALTIES = ("l2", "l1", "l1-cumulative")
SETTINGS = (
    Setting("l2", 0.0, "Shrink all weights by this share at every step.", 0.0, 0.5),
    Setting("l1", 0.0, "Move all weights this much towards zero at every step.", 0.0, 1e6),
    Setting(
        "l1-cumulative",
        0.0,
        "The same, but what a weight that is zero cannot pay it owes for later.",
        0.0,
        1e6,
    ),
    Setting(
        "dropout",
        "none",
        "Hide input while training: input:P hides each token with probability P, values:P each column of "
        "each token, features:Q keeps each feature with probability Q; several with commas.",
    ),
    Setting(
        "shuffle-average",
        1,
        "Train so many models on different orders of the data (on --threads cores) and average them.",
        1,
        1000,
    ),
    Setting(
        "shuffle-mean",
        "nonzero",
        "How they are averaged: each weight over the models where it is not zero, or over all models.",
        choices=("nonzero", "all"),
    ),
    Setting(
        "bpm-init",
        0,
        "Begin with the mean of so many models, each trained for one pass on another order of the data.",
        0,
        1000,
    ),
    Setting(
        "parallel",
        "none",
        "mix: split the data over --threads models, train each for a pass, average them, and again.",
        choices=("none", "mix"),
    ),
)


def check_regularisers(settings: Mapping[str, Any]) -> None:
    """Refuses what does not go together, before anything is read."""
    chosen = [name for name in PENALTIES if settings[name]]
    if len(chosen) > 1:
        raise SettingsError(f"found the penalties {' and '.join(chosen)}, expected one of them.")
    dropout_of(settings)
    check_provenance_settings(settings)
    several = settings["shuffle-average"] > 1
    if several and settings["parallel"] == "mix":
        raise SettingsError("found shuffle-average and parallel=mix, expected one of them.")
    if (several or settings["bpm-init"]) and not settings["shuffle"]:
        raise SettingsError("shuffle-average and bpm-init need shuffle=on: their models differ in the order.")
    if settings["average"] == "vote":
        clashes = [*chosen, *(["shuffle-average"] if several else [])]
        clashes += ["bpm-init"] if settings["bpm-init"] else []
        clashes += ["parallel=mix"] if settings["parallel"] == "mix" else []
        clashes += ["boost"] if settings["boost"] else []
        if clashes:
            raise SettingsError(
                f"average=vote keeps plain updates and does not go with {', '.join(clashes)}."
            )


def penalty_of(settings: Mapping[str, Any]) -> tuple[str, float]:
    """The penalty as core/weights/table.hpp names it, and its rate for each step."""
    for name in PENALTIES:
        if rate := settings.get(name, 0.0):
            return name, float(rate)
    return "none", 0.0


def dropout_of(settings: Mapping[str, Any]) -> tuple[float, float, float]:
    """How probable it is that a token is hidden, a column's value at a token, and a feature left out."""
    chances = {"input": 0.0, "values": 0.0, "features": 0.0}
    for part, kind, value in named_numbers("dropout", str(settings.get("dropout", "none"))):
        hidden = 1.0 - value if kind == "features" else value
        if kind not in chances or not 0.0 <= hidden < 1.0:
            raise SettingsError(
                f"setting 'dropout': found '{part}', expected input:P or values:P (0 <= P < 1, the chance of "
                "being hidden) or features:Q (0 < Q <= 1, the chance of being kept)."
            )
        chances[kind] = hidden
    return chances["input"], chances["values"], chances["features"]
