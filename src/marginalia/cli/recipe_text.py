"""What a run was made of, as the text of a recipe that other data can be trained with."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia.cli.plan import Plan
    from marginalia.learn.recipe import Recipe

_OF_PLAN = ("task", "columns", "label", "format", "global_features", "lowercase")
_FILES = ("lists", "clusters", "lexicons")


def write_recipe(path: str, plan: Plan, recipe: Recipe) -> None:
    """Write a recipe file; its paths are absolute, so that it means the same from everywhere."""
    from marginalia.corpus.streams import replacing

    text = "".join(f"{line}\n" for line in recipe_lines(plan, recipe))
    with replacing(path) as target:
        target.write(text.encode())


def recipe_lines(plan: Plan, recipe: Recipe) -> Iterator[str]:
    """The lines of the recipe: names first, then tables."""
    if recipe.preset is not None:
        yield f"# preset {recipe.preset}"
    values: dict[str, Any] = {name: getattr(plan, name) for name in _OF_PLAN}
    values |= {"structure": recipe.structure, "features": recipe.features, "learner": recipe.learner}
    values |= {"seed": recipe.seed}
    values |= {"dictionary": [os.path.abspath(file) for file in plan.dictionary]}
    values |= {"global_function": plan.global_function}
    if os.path.exists(recipe.features):
        values["features"] = os.path.abspath(recipe.features)
    for name, value in {**values, **plan.options}.items():
        if value not in (None, []):
            yield f"{name} = {_toml(value)}"
    for name in _FILES:
        files = getattr(plan, name)
        yield from _table(name, {own: os.path.abspath(file) for own, file in files.items()})
    yield from _table("set", recipe.chosen)


def _table(name: str, values: Mapping[str, object]) -> Iterator[str]:
    if values:
        yield f"\n[{name}]"
    for key, value in values.items():
        yield f"{_toml(key)} = {_toml(value)}"


def _toml(value: object) -> str:
    """A value as TOML, whose strings, numbers and lists are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
