"""Recipes written: all that decided what was trained, to be read by `marginalia train`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from marginalia.cli.plan import Plan, costs_file, is_set
from marginalia.cli.reading import STDIN

if TYPE_CHECKING:
    from marginalia.learn.recipe import Recipe

_TEXTS = ("task", "columns", "label", "format", "unlabelled_format", "threads", "min_confidence")
_FILES = ("train", "dev", "dictionary", "also_unlabelled")
_FILE = ("output", "start", "sample_weights", "lowercase", "added")
_TABLES = ("lists", "clusters", "lexicons")
_SPELLED: dict[str, dict[Any, str]] = {"separator": {None: "blanks", "\t": "tab"}, "comments": {None: "none"}}


def recipe_text(plan: Plan, recipe: Recipe, path: str) -> str:
    """The recipe of a run as the text of a file at this path: whatever was left to defaults has its value."""
    folder = os.path.dirname(path) or "."

    def near(name: str) -> str:
        return name if name == STDIN else os.path.relpath(name, folder)

    values: dict[str, Any] = {name: [near(one) for one in getattr(plan, name)] for name in _FILES}
    values |= {name: near(file) for name in _FILE if (file := getattr(plan, name))}
    values |= {name: getattr(plan, name) for name in _TEXTS}
    values |= {"structure": recipe.structure, "learner": recipe.learner, "seed": recipe.seed}
    values |= {name: _SPELLED.get(name, {}).get(value, value) for name, value in plan.options.items()}
    values |= {"global_function": plan.global_function} | _feature_files(plan, recipe, near)
    tables = {name: {key: near(one) for key, one in getattr(plan, name).items()} for name in _TABLES}
    lines = [_line(name, value) for name, value in values.items() if value not in (None, [])]
    return "\n".join([*lines, *_tables(tables | {"set": _settings(recipe, near)})]) + "\n"


def _feature_files(plan: Plan, recipe: Recipe, near: Callable[[str], str]) -> dict[str, str]:
    """Sets by their names, files by their places."""
    features = plan.features or (recipe.features if plan.task and not plan.start else None)
    named = {"features": features, "global_features": plan.global_features}
    return {name: one if is_set(one) else near(one) for name, one in named.items() if one}


def _settings(recipe: Recipe, near: Callable[[str], str]) -> dict[str, Any]:
    """All settings that users can set, and what they are."""
    from marginalia.learn.recipe import declared

    values = recipe.settings.to_json()
    settings = {one.name: values[one.name] for one in declared(recipe.structure, recipe.learner)}
    costs = costs_file(settings)
    return settings if costs is None else settings | {"costs": near(costs)}


def _tables(tables: dict[str, dict[str, Any]]) -> Iterator[str]:
    for name, table in tables.items():
        if table:
            yield f"\n[{name}]"
            yield from (_line(json.dumps(key), value) for key, value in table.items())


def _line(name: str, value: object) -> str:
    return f"{name} = {json.dumps(value, ensure_ascii=False)}"
