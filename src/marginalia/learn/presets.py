"""Presets: how much work a model is worth. Each is a learner with settings for every structure, chosen on
held-out parts of several data sets (docs/recipes.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from marginalia.config import Scalar, suggestion
from marginalia.errors import SettingsError


@dataclass(frozen=True)
class Preset:
    """A learner with settings of its own; a structure and features instead of the usual ones, if there are
    better ones for a task."""

    learner: str
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    structure: str | None = None
    features: str | None = None


PRESETS = {
    "fast": "the averaged perceptron: seconds, for first looks and large data",
    "balanced": "the usual one: the best accuracy that takes at most three times as long as fast",
    "best": "the best accuracy that is known, in ten to a hundred times the time of fast",
}
USUAL = "balanced"

_FAST = Preset("perceptron")
_HIDDEN: dict[str, Scalar] = {"dropout": "values:0.1", "passes": 14}
_OF_LABELS = {
    "fast": _FAST,
    "balanced": Preset("arow", _HIDDEN),
    "best": Preset("arow", {**_HIDDEN, "shuffle-average": 5}),
}
_SHUFFLED: dict[str, Scalar] = {"dropout": "values:0.15", "passes": 14, "shuffle-average": 5}
_OF_WORDS = {
    "fast": _FAST,
    "balanced": Preset("arow", {"passes": 6}),
    "best": Preset("perceptron", {"shuffle-average": 5}),
}
_OF_TASKS = {
    "chunking": {**_OF_LABELS, "best": Preset("arow", _SHUFFLED, "segments", "segments-rich")},
    "segmentation": _OF_WORDS,
    "segmentation-tags": _OF_WORDS,
}


def preset_named(name: str, task: str) -> Preset:
    """What a preset means for a task."""
    if name not in PRESETS:
        raise SettingsError(f"preset: found '{name}'. {suggestion(name, tuple(PRESETS))}")
    return _OF_TASKS.get(task, _OF_LABELS)[name]
