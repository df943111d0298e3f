"""Calibration: the temperature at which a model's probabilities fit what it gets right on held-out data.

Probabilities are those of outputs in proportion to exp(score / temperature). The temperature is the one with
the least mean log loss of the model's own spans (of its labels, if they spell no spans): - log p of a right
one, - log(1 - p) of a wrong one. Where search keeps few outputs, shares of these are mapped besides, by
the map with the least log loss at each temperature. See docs/calibrate.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block
from marginalia.decode.model import TrainedModel
from marginalia.decode.shares import ShareMap, log_odds
from marginalia.decode.threads import in_order
from marginalia.errors import DataError
from marginalia.evaluate import Reliability, reliability
from marginalia.kinds import kind_of

Own = TypeVar("Own", bound=TrainedModel)
_GRID = [4.0**power for power in range(15, -6, -1)]
HOTTEST = 0.9 * _GRID[0]
"""From here on all outputs are about as probable as each other."""
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_STEPS = 12  # the factor 16 between the neighbours of a grid point becomes less than 1.01
_NEWTON = 60  # steps
_LONGEST = 1.0  # of a step, which may otherwise go too far
_RIDGE = 0.1  # how much a map is drawn to the shares as they are
_SURE = 1e-6  # a probability of 0 or 1 that is wrong must not cost infinitely much


class HeldOutAnswers:
    """Held-out data with a model's outputs."""

    def __init__(self, model: TrainedModel, blocks: Iterable[Block], label: str, threads: int = 1) -> None:
        kind = kind_of(model.saved.structure)
        self._threads, self._shares = threads, kind.shares
        self._blocks = list(in_order(lambda block: kind.answered(model, block, label), blocks, threads))
        right = _joined([one.right for one in self._blocks])
        self.right = {name: flags for name, flags in right.items() if flags.size}
        if not self.right:
            raise DataError(f"found no labelled {kind.reader.noun}s, expected some to calibrate with")

    def confidences(self, temperature: float) -> dict[str, npt.NDArray[np.float64]]:
        """How sure the model is of the parts of its outputs, by name."""
        found = _joined(list(in_order(lambda one: one.at(temperature), self._blocks, self._threads)))
        if self._shares:
            return {name: fit_map(own, self.right[name])(own) for name, own in found.items()}
        return found

    def share_map(self, temperature: float) -> ShareMap | None:
        """The map of shares at a temperature, if confidences are shares."""
        if not self._shares:
            return None
        name, right = list(self.right.items())[-1]
        found = _joined(list(in_order(lambda one: one.at(temperature), self._blocks, self._threads)))
        return fit_map(found[name], right)

    def reliabilities(self, temperature: float) -> dict[str, Reliability]:
        """How far those can be trusted."""
        sure = self.confidences(temperature)
        return {name: reliability(sure[name], right) for name, right in self.right.items()}

    def log_loss(self, temperature: float) -> float:
        """What is to be made small."""
        name, right = list(self.right.items())[-1]
        sure = np.clip(self.confidences(temperature)[name], _SURE, 1.0 - _SURE)
        return float(-np.log(np.where(right, sure, 1.0 - sure)).mean())


def _joined(parts: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of all blocks by name, one after another."""
    return {name: np.concatenate([one[name] for one in parts]) for name in (parts[0] if parts else ())}


def fit_map(shares: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> ShareMap:
    """The rising map with the least log loss (Platt 1999): Newton's method, drawn to the shares as they are
    by a small penalty, without which answers that are all right would have no finite map."""
    slope, offset = 1.0, 0.0
    x, y = log_odds(shares), right.astype(np.float64)
    for _ in range(_NEWTON):
        p = 1.0 / (1.0 + np.exp(-(slope * x + offset)))
        weight = p * (1.0 - p)
        gradient = np.array([x @ (p - y) + _RIDGE * (slope - 1.0), (p - y).sum() + _RIDGE * offset])
        mixed = weight @ x
        second = np.array([[weight @ x**2 + _RIDGE, mixed], [mixed, weight.sum() + _RIDGE]])
        step = np.linalg.solve(second, gradient)
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), _SURE))
        slope, offset = slope - float(step[0]), offset - float(step[1])
    if slope >= 0.0:
        return ShareMap(slope, offset)
    mean = (float(y.sum()) + 0.5) / (len(y) + 1.0)
    return ShareMap(0.0, math.log(mean / (1.0 - mean)))


def fit_temperature(loss: Callable[[float], float]) -> float:
    """The temperature with the least loss: the best of a coarse grid, then golden sections around it."""
    low, high = _bracket(loss)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = loss(math.exp(left)), loss(math.exp(right))
    for _ in range(_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = loss(math.exp(left))
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = loss(math.exp(right))
    return math.exp((low + high) / 2)


def _bracket(loss: Callable[[float], float]) -> tuple[float, float]:
    """Logarithms of the temperatures beside the best of the grid.

    From the hottest on, where all outputs are alike, the loss falls, then rises: what is colder need not be
    looked at, and would take long, because small probabilities need logarithms.
    """
    losses: list[float] = []
    for temperature in _GRID:
        losses.append(loss(temperature))
        if len(losses) > 2 and losses[-1] > losses[-2] > losses[-3]:
            break
    best = int(np.argmin(losses))
    return math.log(_GRID[min(best + 1, len(_GRID) - 1)]), math.log(_GRID[max(best - 1, 0)])


def calibrated(
    model: Own,
    blocks: Iterable[Block],
    label: str,
    threads: int = 1,
    on_step: Callable[[float], object] = lambda done: None,
) -> Own:
    """The model with a temperature that fits labelled blocks; `on_step` hears what share is done, at most."""
    held_out = HeldOutAnswers(model, blocks, label, threads)
    tried: list[float] = []

    def loss(temperature: float) -> float:
        tried.append(temperature)
        on_step(len(tried) / (len(_GRID) + _STEPS + 2))
        return held_out.log_loss(temperature)

    temperature = fit_temperature(loss)
    found = held_out.reliabilities(temperature)
    mapped = held_out.share_map(temperature)
    calibration: dict[str, Any] = {
        "temperature": temperature,
        "method": "exact" if mapped is None else "beam",
    }
    calibration |= {} if mapped is None else mapped._asdict()
    for name, result in found.items():
        calibration[name] = {"count": result.count, "ece": result.ece, "brier": result.brier}
    return type(model)(replace(model.saved, calibration=calibration))
