"""What it costs to give one label for another: Hamming, or a user's matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from marginalia.config import Settings, setting
from marginalia.corpus.streams import read_numbered
from marginalia.errors import DataError
from marginalia.learn.run import LearnerSettings


@dataclass(frozen=True, kw_only=True)
class CostSettings(Settings):
    """Settings of learners that ask for costs."""

    costs: str = setting(
        "hamming",
        "hamming: 1 for each wrong token; or a file with lines RIGHT GIVEN COST, * for all other labels.",
    )


def costs_of(settings: LearnerSettings, labels: Sequence[str]) -> npt.NDArray[np.float32] | None:
    """The cost of each (right, given) pair of labels, flat; None if each wrong label costs 1."""
    if not isinstance(settings, CostSettings) or settings.costs.lower() == "hamming":
        return None
    costs = 1.0 - np.eye(len(labels), dtype=np.float32)
    _read(settings.costs, labels, costs)
    return np.ascontiguousarray(costs.reshape(-1))


def _read(path: str, labels: Sequence[str], costs: npt.NDArray[np.float32]) -> None:
    """Set the costs that the file names; a later line overrides an earlier one."""
    numbers = {label: i for i, label in enumerate(labels)}
    for number, line in read_numbered(path, "costs"):
        fields = line.split()
        if not fields or line.lstrip().startswith("#"):
            continue
        if len(fields) != 3:
            raise DataError(
                f"found {len(fields)} fields, expected three: RIGHT GIVEN COST", file=path, line=number
            )
        places = []
        for name in fields[:2]:
            if name != "*" and name not in numbers:
                raise DataError(
                    f"found '{name}', expected * or a label of the model ({', '.join(labels)})",
                    file=path,
                    line=number,
                )
            places.append(slice(None) if name == "*" else numbers[name])
        costs[places[0], places[1]] = _cost(fields[2], path, number)
    np.fill_diagonal(costs, 0.0)


def _cost(text: str, path: str, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < 1e9:
        raise DataError(f"found '{text}', expected a cost, a number of at least 0", file=path, line=line)
    return value
