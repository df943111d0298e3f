"""The outputs of a feature's row in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from marginalia.model.saved import SavedModel

ACTIONS = "tree.actions"  # the array of a parser: which actions may be taken
_PLAIN = ("shift", "reduce", "swap")
_LABELLED = ("left", "right", "root")


def action_name(action: int, labels: Sequence[str]) -> str:
    """An action of a parser, by its number (core/search/trees/shape.hpp)."""
    if action < len(_PLAIN):
        return _PLAIN[action]
    label, move = divmod(action - len(_PLAIN), len(_LABELLED))
    return f"{_LABELLED[move]} {labels[label]}"


def output_names(saved: SavedModel) -> tuple[str, ...]:
    """What the outputs of a model's rows are called: labels, or the actions of a parser."""
    if ACTIONS not in saved.arrays:
        return saved.labels
    return tuple(action_name(action, saved.labels) for action in range(saved.width))
