"""What `marginalia inspect` shows of a pipeline: its parts, its tables, where it comes from."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from marginalia.cli.text import count, size
from marginalia.cli.train_pipeline import describe_part, part_summary
from marginalia.config import suggestion
from marginalia.errors import ModelError, SettingsError

if TYPE_CHECKING:
    from marginalia.model import SavedModel
    from marginalia.model.bundle import Bundle


def print_parts(bundle: Bundle, args: argparse.Namespace) -> None:
    """Print what is in a pipeline."""
    if args.label is not None or args.find is not None:
        raise SettingsError(f"--label and --find are for one part: say which with --part ({_names(bundle)}).")
    bytes_ = os.path.getsize(args.model)
    if args.json:
        print(json.dumps({"model": args.model, "size": bytes_} | described(bundle), ensure_ascii=False))
        return
    print("\n".join(_lines(bundle, args.model, bytes_)))


def described(bundle: Bundle) -> dict[str, Any]:
    """All that is shown, ready for JSON."""
    return {
        "about": bundle.about,
        "parts": {name: part_summary(part) for name, part in bundle.parts.items()},
        "tables": {name: len(lines) for name, lines in bundle.tables.items()},
    }


def bundle_of(model: Any) -> Bundle | None:
    """The parts of a pipeline; None of any other model."""
    from marginalia.decode.pipeline import Pipeline

    return model.bundle if isinstance(model, Pipeline) else None


def saved_part(bundle: Bundle | None, args: argparse.Namespace) -> SavedModel:
    """The part of a pipeline that was asked for."""
    if bundle is None:
        raise ModelError(f"{args.model}: --part: this is one model, it has no parts.")
    parts = bundle.parts
    if args.part not in parts:
        raise SettingsError(f"--part: there is no part '{args.part}'. {suggestion(args.part, list(parts))}")
    return parts[args.part]


def _lines(bundle: Bundle, path: str, bytes_: int) -> Iterator[str]:
    yield f"{path}: a pipeline of {count(len(bundle.parts), 'part')}, {size(bytes_)}"
    for name, part in bundle.parts.items():
        yield f"  {describe_part(name, part)}"
    for name, lines in bundle.tables.items():
        yield f"  table {name}: {count(len(lines), 'line')}"
    for name, value in bundle.about.items():
        yield f"  {name}: {value}"


def _names(bundle: Bundle) -> str:
    return ", ".join(bundle.parts)
