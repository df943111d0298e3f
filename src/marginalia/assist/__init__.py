"""Reading assistance: what is hard in a text for a kind of reader, what could be said instead, and why.

The names below are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia.assist import paraphrase, readability
    from marginalia.assist.analysing import analyse, offers
    from marginalia.assist.decisions import Decisions
    from marginalia.assist.profile import Profile, load_profile
    from marginalia.assist.records import Analysis, Offer, Reason, SentenceReport, WordReport

_HOMES = {
    "analysing": ("analyse", "offers"),
    "decisions": ("Decisions",),
    "profile": ("Profile", "load_profile"),
    "records": ("Analysis", "Offer", "Reason", "SentenceReport", "WordReport"),
}
_ROOMS = ("paraphrase", "readability")
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Analysis",
    "Decisions",
    "Offer",
    "Profile",
    "Reason",
    "SentenceReport",
    "WordReport",
    "analyse",
    "load_profile",
    "offers",
    "paraphrase",
    "readability",
]


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"marginalia.assist.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia.assist' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.assist.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
