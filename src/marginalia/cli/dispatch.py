"""The model of a verb, its kind of output, and what verbs and options that kind has."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError

if TYPE_CHECKING:
    from marginalia.kinds import OutputKind


def opened(verb: str, args: argparse.Namespace) -> tuple[Any, OutputKind[Any]]:
    """The model that a verb is for, and its kind; an error if the kind has no such verb or option."""
    from marginalia.kinds import kind_of, load

    model = load(args.model)
    if model.kind == "pipeline":
        raise UsageError(
            f"{verb}: {args.model} is a pipeline of several models. It goes with parse, eval, explain, fix, "
            "inspect, shrink, calibrate and train --start."
        )
    kind = kind_of(model.saved.structure)
    check_verb(kind, verb, args)
    return model, kind


def pipeline_of(model: str | None) -> Any:
    """The model of a verb if it is a pipeline, else None."""
    from marginalia.kinds import load
    from marginalia.model.built_in import model_path
    from marginalia.model.file import is_bundle

    return load(model) if model and is_bundle(model_path(model)) else None


def check_verb(kind: OutputKind[Any], verb: str, args: argparse.Namespace) -> None:
    """An error with the reason if a kind of output has no such verb, or not an option that was given."""
    for refused, reason in kind.refusals.items():
        name, _, flag = refused.partition(" ")
        given = flag.removeprefix("--").replace("-", "_")
        if name == verb and (not flag or getattr(args, given) != args.parser.get_default(given)):
            raise UsageError(f"{flag or verb}: {reason}.")
