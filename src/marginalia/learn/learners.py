"""The learners by name. Whoever adds one gives its settings and its run; it names no structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from marginalia import _core
from marginalia.config import Setting
from marginalia.decode.structures import StructureInTraining
from marginalia.learn import perceptron
from marginalia.learn.run import LearnerRun


class Learner(NamedTuple):
    """A way to learn: how it is set, and how it runs."""

    settings: tuple[Setting, ...]
    run: Callable[[StructureInTraining, _core.WeightTable, Mapping[str, Any]], LearnerRun]


LEARNERS: dict[str, Learner] = {"perceptron": Learner(perceptron.SETTINGS, perceptron.PerceptronRun)}
