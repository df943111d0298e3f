"""Marginalia learns structure in text with linear models: tag, chunk, segment, and know why.

The names below are loaded when first used, so that importing the package is quick and tagging never
loads training code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia.corpus import (
        Sentence,
        Span,
        read_conll,
        read_conllu,
        read_crfsuite,
        read_jsonl,
        read_plain,
        read_segmented,
    )
    from marginalia.decode import (
        At,
        Before,
        Constraints,
        Count,
        Never,
        Only,
        Tagged,
        Tagger,
        convert,
        given,
        load,
        read_constraints,
    )
    from marginalia.deploy import Shrunk, export, shrink
    from marginalia.errors import DataError, MarginaliaError, ModelError, SettingsError
    from marginalia.learn import Labeler, Progress, calibrate, train

__version__ = "0.1.0"

_HOMES = {
    "corpus": (
        "Sentence",
        "Span",
        "read_conll",
        "read_conllu",
        "read_crfsuite",
        "read_jsonl",
        "read_plain",
        "read_segmented",
    ),
    "decode": (
        "At",
        "Before",
        "Constraints",
        "Count",
        "Never",
        "Only",
        "Tagged",
        "Tagger",
        "convert",
        "given",
        "load",
        "read_constraints",
    ),
    "deploy": ("Shrunk", "export", "shrink"),
    "errors": ("DataError", "MarginaliaError", "ModelError", "SettingsError"),
    "learn": ("Labeler", "Progress", "calibrate", "train"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "At",
    "Before",
    "Constraints",
    "Count",
    "DataError",
    "Labeler",
    "MarginaliaError",
    "ModelError",
    "Never",
    "Only",
    "Progress",
    "Sentence",
    "SettingsError",
    "Shrunk",
    "Span",
    "Tagged",
    "Tagger",
    "calibrate",
    "convert",
    "export",
    "given",
    "load",
    "read_conll",
    "read_conllu",
    "read_constraints",
    "read_crfsuite",
    "read_jsonl",
    "read_plain",
    "read_segmented",
    "shrink",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
