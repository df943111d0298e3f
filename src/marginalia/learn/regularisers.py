"""Regularisers: settings of what keeps online learners from trusting their training data too much.

Penalties and dropout are in core/weights and core/features; several models at once are in ensembles.py. The
formulas are in docs/regularisers.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from marginalia.config import Settings, named_numbers, setting
from marginalia.errors import SettingsError

Own = TypeVar("Own", bound="RegulariserSettings")
_FORMERLY = "features"  # kept with a chance, until it was called hide-features


class Hidden(NamedTuple):
    """How probable it is that a token is hidden, a column's value at a token, and a feature left out."""

    input: float = 0.0
    values: float = 0.0
    features: float = 0.0


NOTHING_HIDDEN = Hidden()


@dataclass(frozen=True, kw_only=True)
class RegulariserSettings(Settings):
    """Settings of regularisers of online learners."""

    l2: float = setting(0.0, "Shrink all weights by this share at every step.", 0.0, 0.5)
    l1: float = setting(0.0, "Move all weights this much towards zero at every step.", 0.0, 1e6)
    l1_cumulative: float = setting(
        0.0, "The same, but what a weight that is zero cannot pay it owes for later.", 0.0, 1e6
    )
    dropout: str = setting(
        "none",
        "Hide input while training: input:P hides each token with probability P, values:P each column of "
        "each token, hide-features:P each feature of an example; several with commas.",
    )
    shuffle_average: int = setting(
        1,
        "Train so many models on different orders of the data (on --threads cores) and average them.",
        1,
        1000,
    )
    shuffle_mean: str = setting(
        "nonzero",
        "How they are averaged: each weight over the models where it is not zero, or over all models.",
        choices=("nonzero", "all"),
    )
    bpm_init: int = setting(
        0,
        "Begin with the mean of so many models, each trained for one pass on another order of the data.",
        0,
        1000,
    )
    parallel: str = setting(
        "none",
        "mix: split the data over --threads models, train each for a pass, average them, and again.",
        choices=("none", "mix"),
    )

    @property
    def penalty(self) -> tuple[str, float]:
        """The penalty as core/weights/weight_table.hpp names it, and its rate for each step."""
        rates = {"l2": self.l2, "l1": self.l1, "l1-cumulative": self.l1_cumulative}
        return next(((name, rate) for name, rate in rates.items() if rate), ("none", 0.0))

    @property
    def hides_input(self) -> bool:
        """Whether tokens or their values may be hidden."""
        return any(kind in self.dropout for kind in ("input", "values"))

    @cached_property
    def dropout_chances(self) -> Hidden:
        """What dropout hides, and how probably."""
        chances = {"input": 0.0, "values": 0.0, "hide-features": 0.0}
        for part, kind, hidden in named_numbers("dropout", self.dropout):
            if kind == _FORMERLY and 0.0 < hidden <= 1.0:
                raise SettingsError(
                    f"setting 'dropout': found '{part}', which kept features with this chance: now "
                    f"hide-features:{1.0 - hidden:g}, the chance of being hidden."
                )
            if kind not in chances or not 0.0 <= hidden < 1.0:
                raise SettingsError(
                    f"setting 'dropout': found '{part}', expected input:P, values:P or hide-features:P "
                    "(0 <= P < 1, the chance of being hidden)."
                )
            chances[kind] = hidden
        return Hidden(*chances.values())

    @classmethod
    def stored(cls: type[Own], values_by_name: Mapping[str, Any], needs: Sequence[str] = ()) -> Own:
        """The record of a model file; older ones have the chance that features are kept."""
        dropout = values_by_name.get("dropout")
        if isinstance(dropout, str) and _FORMERLY in dropout:
            values_by_name = {**values_by_name, "dropout": _renamed(dropout)}
        return super().stored(values_by_name, needs)


def _renamed(dropout: str) -> str:
    """A value of `dropout` as it is spelled now, with the very same chances."""
    parts = named_numbers("dropout", dropout)
    return ",".join(
        f"hide-features:{1.0 - value!r}" if kind == _FORMERLY else part for part, kind, value in parts
    )
