"""How much each example counts: the user's weight of it times the mean weight of its labels' classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import named_numbers, suggestion
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.streams import read_numbered
from marginalia.errors import DataError, SettingsError

_MOST = 1e9  # what is larger would leave the range of the weights

Vector = npt.NDArray[np.float64]


class SampleWeights:
    """The weights of all examples of a training set, batch by batch."""

    def __init__(self, given: Sequence[float] | None, classes: Vector | None, examples: int) -> None:
        self._given = None if given is None else _checked(given, examples)
        self._classes = classes

    @property
    def are_even(self) -> bool:
        """Whether nobody asked for weights, so that all are 1."""
        return self._given is None and self._classes is None

    def of(self, examples: _core.ExampleRows, first: int) -> Vector:
        """The weights of a batch whose first example is number `first`; empty if all are 1."""
        if self.are_even:
            return np.zeros(0)
        weights = np.ones(examples.sentences)
        if self._given is not None:
            weights *= self._given[first : first + examples.sentences]
        if self._classes is not None and len(examples.gold):
            by_token = np.append(0.0, np.cumsum(self._by_gold(examples)[examples.gold]))
            starts = examples.starts.astype(np.int64)
            lengths = np.maximum(np.diff(starts), 1)
            weights *= np.where(np.diff(starts) > 0, np.diff(by_token[starts]) / lengths, 1.0)
        return weights

    def _by_gold(self, examples: _core.ExampleRows) -> Vector:
        """The weight of each label, then that of each set of labels that may be right: their mean."""
        assert self._classes is not None
        sets = examples.sets.astype(np.float64)
        return (
            np.append(self._classes, sets @ self._classes / sets.sum(axis=1)) if len(sets) else self._classes
        )


def _checked(given: Sequence[float], examples: int) -> Vector:
    try:
        weights = np.asarray(given, np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise DataError("found sample weights that are not numbers") from None
    if len(weights) != examples:
        raise DataError(f"found {len(weights)} sample weights, expected {examples}, one for each example")
    if bad := np.flatnonzero(~(np.isfinite(weights) & (weights >= 0) & (weights <= _MOST))).tolist():
        raise DataError(
            f"found the sample weight {weights[bad[0]]} (number {bad[0] + 1}), expected 0 to {_MOST:g}"
        )
    return weights


def read_sample_weights(path: str) -> list[float]:
    """A file with a number a line."""
    weights = []
    for number, line in read_numbered(path, "sample weights"):
        if not line.strip():
            continue
        try:
            weights.append(float(line))
        except ValueError:
            raise DataError(
                f"found {_short(line.strip())}, expected a sample weight, a number", file=path, line=number
            ) from None
    return weights


def _short(text: str) -> str:
    return f"'{text}'" if len(text) <= 60 else f"'{text[:57]}...'"


def parse_class_weights(settings: DataSettings) -> dict[str, float]:
    """Weights by label or class."""
    found: dict[str, float] = {}
    for part, name, weight in named_numbers("class-weights", settings.class_weights):
        if not name or not 0.0 <= weight <= _MOST:
            raise SettingsError(
                f"setting 'class-weights': found '{part}', expected LABEL:WEIGHT with a weight from 0 to "
                f"{_MOST:g}."
            )
        found[name] = weight
    return found


def class_weights_of(settings: DataSettings, labels: Sequence[str]) -> Vector | None:
    """The weight of each label, None if all are 1. A whole label's own weight goes before its class's."""
    named = parse_class_weights(settings)
    if not named:
        return None
    classes = [label.partition("-")[2] or label for label in labels]
    known = list(dict.fromkeys([*classes, *labels]))
    for name in named:
        if name not in known:
            raise SettingsError(
                f"setting 'class-weights': there is no label '{name}'. {suggestion(name, known)}"
            )
    return np.array(
        [named.get(label, named.get(class_, 1.0)) for label, class_ in zip(labels, classes, strict=True)]
    )
