"""What to train, from the command line and from a recipe file: one merged and checked plan."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from marginalia.cli.arguments import UsageError
from marginalia.cli.reading import (
    READER_OPTIONS,
    STDIN,
    check_layout,
    given_options,
    reader_arguments,
)
from marginalia.config import MOST_THREADS, read_toml, suggestion
from marginalia.errors import SettingsError

_TEXTS = (
    "output",
    "task",
    "columns",
    "label",
    "format",
    "structure",
    "features",
    "global_features",
    "lowercase",
    "learner",
    "preset",
    "start",
    "sample_weights",
    "parallel",
    "unlabelled_format",
    "added",
)
_NUMBERS = ("seed", "threads")
_PROBABILITIES = ("min_confidence",)
_PATHS = ("train", "dev", "dictionary", "also_unlabelled")
_LISTS = ("global_function",)  # texts, or lists of them
_TABLES = {
    "lists": "list",
    "clusters": "clusters",
    "lexicons": "lexicon",
    "set": "set",
}  # recipe key: command line option
_READERS = tuple(option.name for option in READER_OPTIONS)
KEYS = (*_PATHS, *_LISTS, *_TEXTS, *_NUMBERS, *_PROBABILITIES, *_TABLES, *_READERS)


@dataclass(frozen=True)
class Plan:
    """A training run as the user asked for it; what is None was left to the defaults."""

    train: list[str]
    dev: list[str]
    output: str
    task: str | None = None
    columns: str | None = None
    label: str | None = None
    format: str | None = None
    structure: str | None = None
    features: str | None = None
    global_features: str | None = None
    global_function: list[str] = field(default_factory=list)
    lowercase: str | None = None
    learner: str | None = None
    preset: str | None = None
    seed: int = 1
    threads: int = 1
    start: str | None = None
    sample_weights: str | None = None
    dictionary: list[str] = field(default_factory=list)
    also_unlabelled: list[str] = field(default_factory=list)
    min_confidence: float | None = None
    unlabelled_format: str | None = None
    added: str | None = None
    lists: dict[str, str] = field(default_factory=dict)
    clusters: dict[str, str] = field(default_factory=dict)
    lexicons: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


def make_plan(args: argparse.Namespace, *, saves: bool = True) -> Plan:
    """The plan of parsed arguments and of the recipe among them, if there is one; `saves`: a model."""
    recipes = [path for path in args.data if path.endswith(".toml")]
    if len(recipes) > 1:
        raise UsageError(f"found several recipes ({', '.join(recipes)}), expected one.")
    values = read_recipe(recipes[0]) if recipes else {}
    data = [path for path in args.data if path not in recipes]
    values = _overridden(values, args, data)
    if not values.get("train"):
        raise UsageError("there is no training data: name a file, or `train` in the recipe.")
    if not saves:
        values["output"] = ""
    elif not values.get("output"):
        raise UsageError("where to save the model? Add -o model.mg (or `output` to the recipe).")
    return _plan(values)


def read_recipe(path: str) -> dict[str, Any]:
    """The keys of a recipe file, checked; its relative paths are made relative to here."""
    values = read_toml(path, "recipe")
    for name, value in values.items():
        if name not in KEYS:
            raise SettingsError(f"{path}: unknown key '{name}'. {suggestion(name, KEYS)}")
        if not _fits(name, value):
            raise SettingsError(f"{path}: '{name}': found {value!r}, expected {_expected(name)}.")
    return _placed(values, os.path.dirname(path))


def _fits(name: str, value: object) -> bool:
    if name in (*_PATHS, *_LISTS) and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    if name == "columns" and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    if name in ("lists", "clusters", "lexicons"):
        return isinstance(value, dict) and all(isinstance(item, str) for item in value.values())
    if name == "set":
        return isinstance(value, dict) and not any(isinstance(item, (dict, list)) for item in value.values())
    if name in _PROBABILITIES:
        return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
    if name in _NUMBERS:
        most = MOST_THREADS if name == "threads" else 2**63 - 1
        return type(value) is int and (name == "threads") <= value <= most
    return isinstance(value, str)


def _expected(name: str) -> str:
    if name in _PATHS:
        return "a path or a list of paths"
    if name in _LISTS:
        return "a text or a list of texts"
    if name in _PROBABILITIES:
        return "a number from 0 to 1"
    if name in _NUMBERS:
        return f"a whole number from 1 to {MOST_THREADS}" if name == "threads" else "a whole number"
    return "a table" if name in _TABLES else "a text"


def _placed(values: dict[str, Any], folder: str) -> dict[str, Any]:
    def place(path: str) -> str:
        return path if path == STDIN else os.path.join(folder, path)

    placed = dict(values)
    for name in _PATHS:
        if name in values:
            listed = [values[name]] if isinstance(values[name], str) else values[name]
            placed[name] = [place(path) for path in listed]
    for name in _LISTS:
        if isinstance(values.get(name), str):
            placed[name] = [values[name]]
    for name in ("output", "start", "sample_weights", "lowercase", "added"):
        if name in values:
            placed[name] = place(values[name])
    if "columns" in values and isinstance(values["columns"], list):
        placed["columns"] = " ".join(values["columns"])
    for name in ("features", "global_features"):
        if name in values and not is_set(values[name]):
            placed[name] = place(values[name])
    if (costs := costs_file(values.get("set", {}))) is not None:
        placed["set"] = {**values["set"], "costs": place(costs)}
    for table in ("lists", "clusters", "lexicons"):
        placed[table] = {name: place(path) for name, path in values.get(table, {}).items()}
    return placed


def costs_file(settings: Mapping[str, Any]) -> str | None:
    """The file that the setting `costs` names, if it is one."""
    costs = settings.get("costs", "hamming")
    return costs if isinstance(costs, str) and costs.lower() != "hamming" else None


def is_set(name: str) -> bool:
    """Whether that is a ready-made set of features, not a file."""
    from marginalia.features.global_features import GLOBAL_SETS
    from marginalia.features.sets import SETS

    return name in SETS or name in GLOBAL_SETS


def _overridden(values: dict[str, Any], args: argparse.Namespace, data: list[str]) -> dict[str, Any]:
    given = vars(args)
    simple = [name for name in KEYS if name not in _TABLES and given.get(name) is not None]
    merged = values | {name: given[name] for name in simple}
    for table, option in _TABLES.items():
        merged[table] = {**values.get(table, {}), **dict(given[option] or ())}
    if data:
        merged["train"] = data
    return merged


def _with_parallel(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings; --parallel is a shorter way to one of them."""
    if "parallel" not in values:
        return dict(values["set"])
    return {**values["set"], "parallel": values["parallel"]}


def _plan(values: Mapping[str, Any]) -> Plan:
    from marginalia.decode.structures import STRUCTURES
    from marginalia.kinds import kind_of
    from marginalia.learn.recipe import TASKS

    named = values["task"].lower() if "task" in values else None  # case does not matter
    task = TASKS.get(named or "")  # an unknown one is reported with all others
    format, options = values.get("format"), given_options(values)
    if task is not None:
        format, options = task.reading(values["train"][0], format, options)
    structure = values.get("structure", "chain")  # so is an unknown one
    reader = kind_of(structure if structure in STRUCTURES else "chain").reader
    check_layout(reader, reader.format_name(values["train"][0], format), values.get("columns"), options)
    chosen = {
        name: values[name] for name in ("structure", "learner", "preset", "seed", "threads") if name in values
    }
    return Plan(
        train=values["train"],
        dev=values.get("dev", []),
        output=values["output"],
        task=named,
        columns=values.get("columns"),
        label=values.get("label") or (task.label if task else None),
        format=format,
        features=values.get("features"),
        global_features=values.get("global_features"),
        global_function=values.get("global_function", []),
        lowercase=values.get("lowercase"),
        start=values.get("start"),
        sample_weights=values.get("sample_weights"),
        dictionary=values.get("dictionary", []),
        also_unlabelled=values.get("also_unlabelled", []),
        min_confidence=values.get("min_confidence"),
        unlabelled_format=values.get("unlabelled_format"),
        added=values.get("added"),
        lists=values["lists"],
        clusters=values["clusters"],
        lexicons=values["lexicons"],
        settings=_with_parallel(values),
        options=reader_arguments(options),
        **chosen,
    )
