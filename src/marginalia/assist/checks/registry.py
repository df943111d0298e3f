"""The checks of each language, in the order in which they are asked: repairs first, then cheap ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module

from marginalia.errors import SettingsError

from .check import Check

# The module of a language has its checks as CHECKS; it is imported when the first paraphrase is checked.
MODULES = {"en": ("english", "order", "kept", "structure", "complements"), "ja": ("japanese", "kept")}


@cache
def checks_of(language: str) -> tuple[Check, ...]:
    """The checks of a language."""
    if language not in MODULES:
        raise SettingsError(f"found language {language!r}, expected one of {', '.join(sorted(MODULES))}")
    checks: list[Check] = []
    for module in MODULES[language]:
        found: Sequence[Check] = import_module(f"{__package__}.{module}").CHECKS
        checks += found
    return tuple(checks)
