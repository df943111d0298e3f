"""`marginalia models`: the models that come with the package."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import Verbs, verb_parser
from marginalia.cli.text import size

if TYPE_CHECKING:
    from marginalia.model.built_in import BuiltInModel

_DESCRIPTION = """\
List the built-in models: names that `parse` and `mg.load` take, what they were made from, their
licence (they derive from treebanks and have the treebanks' licence, not that of the code), and their
scores on the treebank's test data."""

_NO_CHINESE = """\
There is no Chinese model: Chinese GSD is for non-commercial use, the People's Daily for research, so
that models made from them may not be shipped. `marginalia train --task segmentation` makes your own."""

_EXAMPLES = """\
  marginalia models
  marginalia models --json
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "models", "list the built-in models", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia models`; its exit code."""
    from marginalia.model.built_in import built_in_models

    models = built_in_models()
    if args.json:
        print(json.dumps({"models": [_described(model) for model in models]}, ensure_ascii=False))
        return 0
    for model in models:
        print("\n".join(_lines(model)))
    if not models:
        print("there are no built-in models in this installation (tools/make_models.py makes them)")
    print(_NO_CHINESE)
    return 0


def _described(model: BuiltInModel) -> dict[str, Any]:
    return {"name": model.name, "size": model.size, "file": str(model.path), **model.about}


def _lines(model: BuiltInModel) -> Iterator[str]:
    about = model.about
    yield f"{model.name}  {size(model.size)}  {about.get('language', '')}: {about.get('treebank', '')}"
    yield f"    licence: {about.get('licence', 'unknown')}"
    for title, scores in about.get("scores", {}).items():
        shown = "  ".join(f"{name} {value:.1f}" for name, value in scores.items())
        yield f"    {title}: {shown}"
