"""The outputs of a feature's row in words."""

from __future__ import annotations

from collections.abc import Sequence

_PLAIN = ("shift", "reduce", "swap")
_LABELLED = ("left", "right", "root")


def action_name(action: int, labels: Sequence[str]) -> str:
    """An action of a parser, by its number (core/search/trees/shape.hpp)."""
    if action < len(_PLAIN):
        return _PLAIN[action]
    label, move = divmod(action - len(_PLAIN), len(_LABELLED))
    return f"{_LABELLED[move]} {labels[label]}"
