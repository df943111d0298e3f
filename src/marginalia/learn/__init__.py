"""Training: recipes, data, learners and the loop that runs them. Never imported by tagging.

The names below are loaded when first used: a training run needs no corrections and no calibration.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia.learn.api import calibrate, continued, fixed, source_for, train
    from marginalia.learn.calibration import calibrated
    from marginalia.learn.correction_report import CorrectionReport, Flip
    from marginalia.learn.labeler import Labeler
    from marginalia.learn.preparing import prepare
    from marginalia.learn.recipe import TASKS, Recipe, make_recipe, recipe_with
    from marginalia.learn.training import Progress, Training

_HOMES = {
    "api": "calibrate continued fixed source_for train",
    "calibration": "calibrated",
    "correction_report": "CorrectionReport Flip",
    "labeler": "Labeler",
    "preparing": "prepare",
    "recipe": "TASKS Recipe make_recipe recipe_with",
    "training": "Progress Training",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "TASKS",
    "CorrectionReport",
    "Flip",
    "Labeler",
    "Progress",
    "Recipe",
    "Training",
    "calibrate",
    "calibrated",
    "continued",
    "fixed",
    "make_recipe",
    "prepare",
    "recipe_with",
    "source_for",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia.learn' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.learn.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
