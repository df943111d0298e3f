"""What a description tells people, checked when a file is read: whoever shows it need not ask again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marginalia.corpus.streams import breaks_columns

_NUMBERS = ("error", "dev", "loss", "round", "confidence", "bound")


def check_labels(labels: Sequence[str]) -> None:
    """A ValueError if a label could not stand in a column."""
    for label in labels:
        if not label or breaks_columns(label):
            raise ValueError(f"there is the label {label!r}")


def check_history(history: Sequence[Mapping[str, Any]]) -> None:
    """A ValueError if something is wrong with the record of a pass."""
    for record in history:
        if type(record.get("number")) is not int or type(record.get("best")) is not bool:
            raise ValueError("a pass has no number, or is neither the best nor another")
        if "error" not in record:
            raise ValueError("a pass has no error")
        for name in _NUMBERS:
            value = record.get(name)
            if value is not None and type(value) not in (int, float):
                raise ValueError(f"a pass has {name} {value!r}")
