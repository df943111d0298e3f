"""The learners by name. Whoever adds one gives its settings and its run; it names no structure."""

from __future__ import annotations

from typing import NamedTuple

from marginalia.config import Setting
from marginalia.learn import perceptron


class Learner(NamedTuple):
    """A way to learn: how it is set, and how it runs."""

    settings: tuple[Setting, ...]
    run: type[perceptron.PerceptronRun]


LEARNERS: dict[str, Learner] = {"perceptron": Learner(perceptron.SETTINGS, perceptron.PerceptronRun)}
