"""The list of settings that `train --settings` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from marginalia.config import Scalar, Setting, suggestion
from marginalia.errors import SettingsError

_INDENT = 12


def settings_text(structure: str, learner: str) -> str:
    """All settings of a combination with default, allowed values and help."""
    from marginalia.learn import recipe

    known_names = {"structure": recipe.STRUCTURES, "learner": recipe.LEARNERS}
    for (what, known), name in zip(known_names.items(), (structure, learner), strict=True):
        if name not in known:
            raise SettingsError(f"unknown {what} '{name}'. {suggestion(name, list(known))}")
    parts = {
        "data": recipe.DATA_SETTINGS,
        "features": recipe.FEATURE_SETTINGS,
        f"structure {structure}": recipe.STRUCTURES[structure],
        f"learner {learner}": recipe.LEARNERS[learner],
    }
    return "\n".join(line for title, settings in parts.items() for line in _part(title, settings)) + "\n"


def _part(title: str, settings: Iterable[Setting]) -> Iterator[str]:
    yield f"{title}:"
    for setting in settings:
        text = f"{setting.help} {setting.expected().capitalize()}; default {_spelled(setting.default)}."
        lines = textwrap.wrap(text, 100 - _INDENT)
        yield f"  {setting.name:{_INDENT - 3}} {lines[0]}"
        yield from (" " * _INDENT + line for line in lines[1:])


def _spelled(value: Scalar) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
