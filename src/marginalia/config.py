"""Settings, declared once with type, default, bounds and help: for the API, the command line, recipes and
model files. Their values are typed, immutable records."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from inspect import get_annotations
from typing import Any, TypeVar, cast

from marginalia.errors import ModelError, SettingsError

Scalar = bool | int | float | str
T = TypeVar("T")
S = TypeVar("S", bound="Settings")

MOST_THREADS = 1024
_MOST_TOML = 1 << 22  # bytes
_MOST_PARTS = 50  # of a key of TOML
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

    A number may also be one of `words`, such as auto. `formerly` are names of earlier versions. One that is
    `hidden` is not for users. `changeable`: a run that begins with a model may have another value.
    """

    name: str
    default: Scalar
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    hidden: bool = False
    changeable: bool = False

    @property
    def attribute(self) -> str:
        """The name of its field in a record, and of its keyword in Python."""
        return self.name.replace("-", "_")

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

    def stored(self, value: object) -> Scalar:
        """The value that a model file has; a ModelError if it is none of this setting's."""
        kinds = (int, float) if isinstance(self.default, float) else (type(self.default),)
        try:
            if type(value) in kinds or value in self.words:
                return self.read(value)
            raise self._refusal(value)
        except SettingsError as error:
            raise ModelError(f"the model's description is damaged: {error}") from None

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


def setting(
    default: T,
    help: str,
    low: float | None = None,
    high: float | None = None,
    *,
    choices: tuple[str, ...] = (),
    words: tuple[str, ...] = (),
    formerly: tuple[str, ...] = (),
    hidden: bool = False,
    changeable: bool = False,
) -> T:
    """Declares a field of a record as a setting: `max_length: int = setting(...)` is max-length."""
    value = cast(Scalar, default)
    declared = Setting("", value, help, low, high, choices, words, formerly, hidden, changeable)
    made: Any = field(default=default, metadata={"setting": declared})
    return cast(T, made)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A record of settings with their values, never changed. Its fields are declared by `setting`."""

    @classmethod
    def declared(cls) -> tuple[Setting, ...]:
        """What users can set: a class's own settings, then those of its bases."""
        return tuple(setting for setting in _settings_of(cls) if not setting.hidden)

    @classmethod
    def of(cls: type[S], given: Mapping[str, object]) -> S:
        """The record with given or default values; names of other records are left alone."""
        known = [setting for setting in cls.declared() if setting.name in given]
        values: dict[str, Any] = {setting.attribute: setting.read(given[setting.name]) for setting in known}
        return cls(**values)

    @classmethod
    def stored(cls: type[S], values_by_name: Mapping[str, Any], needs: Sequence[str] = ()) -> S:
        """The record of a model file; what the file does not have is as by default, unless it `needs` it."""
        values: dict[str, Any] = {}
        for setting in _settings_of(cls):
            name = next((name for name in (setting.name, *setting.formerly) if name in values_by_name), None)
            if name is not None:
                values[setting.attribute] = setting.stored(values_by_name[name])
            elif setting.name in needs:
                raise ModelError(f"the model's description is damaged: setting '{setting.name}' is missing")
        return cls(**values)

    def to_json(self) -> dict[str, Scalar]:
        """All values by the names of their settings, for the model file."""
        return {setting.name: getattr(self, setting.attribute) for setting in _settings_of(type(self))}


def _settings_of(record: type[Settings]) -> tuple[Setting, ...]:
    """All settings of a record: those that a class declares itself before those of its bases."""
    by_attribute = {one.name: one.metadata["setting"] for one in fields(record)}
    order = [name for owner in record.__mro__ for name in get_annotations(owner)]
    names = (name for name in dict.fromkeys(order) if name in by_attribute)
    return tuple(replace(by_attribute[name], name=name.replace("_", "-")) for name in names)


def resolve(
    records: Iterable[type[Settings]],
    given: Mapping[str, object],
    elsewhere: Callable[[str], str | None] = lambda name: None,
) -> list[Any]:
    """Records with given or default values. A name that none of them knows is an error, which says what
    `elsewhere` knows of it."""
    records = list(records)
    declared = [setting for record in records for setting in record.declared()]
    known = {name: setting.name for setting in declared for name in (setting.name, *setting.formerly)}
    found = {name.replace("_", "-"): value for name, value in given.items()}  # as in Python's keywords
    for name in found:
        if name not in known:
            hint = suggestion(name, list(dict.fromkeys(known.values())))
            raise SettingsError(elsewhere(name) or f"unknown setting '{name}'. {hint}")
        if known[name] != name and known[name] in found:
            raise SettingsError(f"setting '{name}' is now called '{known[name]}': found both.")
    by_name = {known[name]: value for name, value in found.items()}
    return [record.of(by_name) for record in records]


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


def read_toml(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """The keys of a TOML file; `what` it is goes into the errors."""
    try:
        with open(path, "rb") as file:
            text = file.read(_MOST_TOML + 1)
        _check_size(text, os.fspath(path))
        return parse_toml(text.decode(), os.fspath(path))
    except OSError as error:
        raise SettingsError(f"{os.fspath(path)}: cannot read the {what}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{os.fspath(path)}: this is not TOML: {error}.") from error


def _check_size(text: bytes | str, name: str) -> None:
    if len(text) > _MOST_TOML:
        raise SettingsError(f"{name}: found more than {_MOST_TOML >> 20} MiB, expected a smaller file.")


def _check_depth(text: str) -> None:
    """A ValueError for keys of so many parts that reading them would take long."""
    for line in text.splitlines():
        *keys, _ = line.split("=") if not line.lstrip().startswith("[") else (line, "")
        if any(key.count(".") > _MOST_PARTS for key in keys):
            raise ValueError(f"found a key of more than {_MOST_PARTS} parts")


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """The keys of a text in TOML; errors call it by the name."""
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    _check_size(text, name)
    try:
        _check_depth(text)
        values: dict[str, Any] = tomllib.loads(text.replace("\r\n", "\n"))
        if "\\u0000" in json.dumps(values, default=str):
            raise ValueError("found a NUL character, expected text")
        return values
    except (ValueError, RecursionError) as error:  # numbers may be too long, tables too deep
        raise SettingsError(f"{name}: this is not TOML: {error}.") from error
