"""Who reads: the level, words that are known, terms that nobody may touch, rules that are not wanted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from marginalia.assist.languages import LANGUAGES
from marginalia.config import parse_toml, read_toml, suggestion
from marginalia.errors import SettingsError

LEVELS = ("beginner", "intermediate", "advanced")
MOST_TERMS = 5_000  # words of a list: a profile also comes from a page, which may send anything
LONGEST_TERM = 200


@dataclass(frozen=True)
class Profile:
    """A reader.

    `known` words are never hard; `protected` terms are never touched; `off` names rules, families of rules,
    or `lexical` and `structural`, for all of a kind; `picky` is how much easier an offer must be, from 0 (not
    harder) to 1; `offers` is how many are made for a sentence; `reader` is a file that
    `marginalia readability --train` made, instead of the model of the level."""

    level: str = "intermediate"
    language: str = ""
    known: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    picky: float = 0.1
    offers: int = 5
    reader: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `profile_of` takes them."""
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }

    def to_toml(self) -> str:
        """The profile as a file that `load_profile` reads."""
        return "".join(f"{name} = {_toml(value)}\n" for name, value in self.to_dict().items())


_KEYS = tuple(field.name for field in fields(Profile))


def load_profile(path: str | os.PathLike[str]) -> Profile:
    """The profile of a TOML file; a SettingsError names the key that is wrong."""
    profile = profile_of(read_toml(path, "profile"), f"{os.fspath(path)}: ")
    if profile.reader:
        beside = os.path.join(os.path.dirname(os.fspath(path)), profile.reader)
        profile = replace(profile, reader=beside)
    return profile


def read_profile(text: str, name: str) -> Profile:
    """The profile of a text in TOML; errors call it by the name."""
    return profile_of(parse_toml(text, name), f"{name}: ")


def level_or_profile(name: str) -> Profile:
    """What `--level` means: the name of a level, or the path of a profile."""
    if name in LEVELS:
        return Profile(level=name)
    if os.path.exists(name) or name.endswith(".toml"):
        return load_profile(name)
    expected = f"{', '.join(LEVELS)}, or the file of a profile"
    raise SettingsError(f"level: found '{name}', expected {expected}. {suggestion(name, LEVELS)}")


def profile_of(values: Mapping[str, Any], place: str = "") -> Profile:
    """The profile of plain values, checked."""
    for name, value in values.items():
        if name not in _KEYS:
            raise SettingsError(f"{place}unknown key '{name}'. {suggestion(name, _KEYS)}")
        if expected := _misfit(name, value):
            raise SettingsError(f"{place}'{name}': found {_short(value)}, expected {expected}.")
    lists = {name: tuple(dict.fromkeys(value)) for name, value in values.items() if isinstance(value, list)}
    return Profile(**{**values, **lists})


def _misfit(name: str, value: object) -> str:
    """What was expected of a key; "" if the value is just that."""
    if name in ("known", "protected", "off"):
        return "" if _is_list_of_terms(value) else f"a list of at most {MOST_TERMS} words or phrases"
    if name in ("level", "language"):
        choices = LEVELS if name == "level" else ("", *LANGUAGES)
        return "" if value in choices else " or ".join(filter(None, choices))
    if name == "reader":
        return "" if isinstance(value, str) else "the path of a file"
    low, high = (0, 1) if name == "picky" else (1, 50)
    kind = int if name == "offers" else (int, float)
    fits = isinstance(value, kind) and not isinstance(value, bool) and low <= value <= high
    return "" if fits else f"a {'whole ' if name == 'offers' else ''}number from {low} to {high}"


def _is_list_of_terms(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MOST_TERMS
        and all(isinstance(term, str) and 0 < len(term.strip()) <= LONGEST_TERM for term in value)
    )


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _toml(value: object) -> str:
    """A value of a profile as TOML, whose strings are those of JSON."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x7f", "\\u007f")
