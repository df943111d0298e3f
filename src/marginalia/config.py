"""Settings, declared once with type, default, bounds and help: for the API, the command line and recipes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marginalia.errors import SettingsError

Scalar = bool | int | float | str

_TRUTH = {
    "on": True,
    "true": True,
    "yes": True,
    "1": True,
    "off": False,
    "false": False,
    "no": False,
    "0": False,
}


@dataclass(frozen=True)
class Setting:
    """One knob. The type is that of the default; `choices` or `low`..`high` (inclusive) bound it.

    A number may also be one of `words`, such as auto.
    """

    name: str
    default: Scalar
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def read(self, value: object) -> Scalar:
        """The value, converted from text if need be; a SettingsError if it does not fit."""
        if str(value).lower() in self.words:
            return str(value).lower()
        converted = self._converted(value)
        if not isinstance(converted, str):
            enough = self.low is None or converted >= self.low  # nan is neither enough nor too much
            if not (enough and (self.high is None or converted <= self.high)):
                raise self._refusal(value)
        return self._chosen(converted) if self.choices else converted

    def expected(self) -> str:
        """What values are allowed, in words."""
        if self.choices:
            return " or ".join(filter(None, (", ".join(self.choices[:-1]), self.choices[-1])))
        if isinstance(self.default, bool):
            return "on or off"
        kind = {int: "a whole number", float: "a number", str: "a text"}[type(self.default)]
        if self.low is not None and self.high is not None:
            return " or ".join((f"{kind} from {self.low} to {self.high}", *self.words))
        return kind if self.low is None else f"{kind} of at least {self.low}"

    def _converted(self, value: object) -> Scalar:
        kind = type(self.default)
        try:
            if kind is bool:
                return value if isinstance(value, bool) else _TRUTH[str(value).lower()]
            if kind is int and (isinstance(value, bool) or (isinstance(value, float) and value % 1 != 0)):
                raise ValueError
            converter: Callable[[Any], Scalar] = kind
            return converter(value)
        except (ValueError, KeyError, TypeError, OverflowError):
            raise self._refusal(value) from None

    def _chosen(self, value: Scalar) -> str:
        """The choice that was meant, in any case, as it is declared."""
        for choice in self.choices:
            if str(value).lower() == choice.lower():
                return choice
        raise self._refusal(value)

    def _refusal(self, value: object) -> SettingsError:
        return SettingsError(f"setting '{self.name}': found {value!r}, expected {self.expected()}.")


def resolve(declared: Iterable[Setting], given: Mapping[str, object]) -> dict[str, Scalar]:
    """All declared settings with their given or default values; unknown names are errors."""
    known = {setting.name: setting for setting in declared}
    given = {name.replace("_", "-"): value for name, value in given.items()}  # as in Python's keywords
    for name in given:
        if name not in known:
            raise SettingsError(f"unknown setting '{name}'. {suggestion(name, list(known))}")
    return {name: s.read(given[name]) if name in given else s.default for name, s in known.items()}


def named_numbers(setting: str, text: str) -> Iterator[tuple[str, str, float]]:
    """The parts NAME:NUMBER of a text, as (part, name, number), NaN if there is no number; none: no parts."""
    seen = set()
    for part in text.split(",") if text.lower() not in ("none", "off", "") else ():
        name, _, number = part.strip().rpartition(":")
        if name in seen:
            raise SettingsError(f"setting '{setting}': found '{name}' twice, expected it once.")
        seen.add(name)
        try:
            yield part, name, float(number)
        except ValueError:
            yield part, name, float("nan")


def suggestion(name: str, known: Sequence[str]) -> str:
    """What to say beside an unknown name."""
    import difflib  # slow to load, and most names are known

    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean '{near[0]}'?" if near else f"Expected one of: {', '.join(sorted(known))}."
