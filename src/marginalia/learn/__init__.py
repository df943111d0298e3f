"""Training: recipes, data, learners and the loop that runs them. Never imported by tagging."""

from marginalia.learn.api import calibrate, continued, fixed, source_for, train
from marginalia.learn.calibration import calibrated
from marginalia.learn.correction_report import CorrectionReport, Flip
from marginalia.learn.labeler import Labeler
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import TASKS, Recipe, make_recipe, recipe_with
from marginalia.learn.training import Progress, Training

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
