"""The list of settings that `train --settings` prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from marginalia.config import Scalar, Setting

_INDENT = 20


def settings_text(structure: str, learner: str) -> str:
    """All settings of a combination with default, allowed values and help."""
    from marginalia.learn.recipe import declared_by_part

    parts = declared_by_part(structure, learner)
    return "\n".join(line for title, settings in parts.items() for line in _part(title, settings)) + "\n"


def _part(title: str, settings: Iterable[Setting]) -> Iterator[str]:
    yield f"{title}:"
    for setting in settings:
        text = f"{setting.help} ({setting.expected()}; default {_spelled(setting.default)})"
        lines = textwrap.wrap(text, 100 - _INDENT)
        yield f"  {setting.name:{_INDENT - 3}} {lines[0]}"
        yield from (" " * _INDENT + line for line in lines[1:])


def _spelled(value: Scalar) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
