"""Models of rules in use: the rules that hold in an output, and what they add up to. See docs/rules.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from marginalia.decode.settings import RuleSearchSettings
from marginalia.model import SavedModel
from marginalia.model.rules_part import has_rules, neighbours_in, rule_arrays

Made = Callable[..., Any]
_STEEPNESS = 5.0  # as score_of_rules in core/search/rule_trie.hpp


def use_rules(model: Any, saved: SavedModel) -> None:
    """Let a native model score by the rules of a saved one, if it has some; a ValueError if they do not."""
    if not has_rules(saved):
        return
    if not hasattr(model, "use_rules"):
        raise ValueError(f"models of the structure {saved.structure} cannot have rules")
    backwards = saved.settings_as(RuleSearchSettings, ("direction",)).backwards
    model.use_rules(*rule_arrays(saved.arrays), list(saved.labels), neighbours_in(saved), backwards)


def rule_parts(
    saved: SavedModel, fired: Iterable[tuple[int, int]], ids: Sequence[int]
) -> Iterator[tuple[int, int, float]]:
    """Token, row and confidence of the rules of an output that say something of its labels."""
    for t, row in fired:
        outputs, weights = saved.cells(row)
        place = np.flatnonzero(outputs == ids[t])
        if place.size and weights[place[0]]:
            yield t, row, float(weights[place[0]])


def log_sigmoid(total: float) -> float:
    """The score of a label whose rules add up to this."""
    x = _STEEPNESS * total
    return -math.log1p(math.exp(-x)) if x >= 0 else x - math.log1p(math.exp(x))
