"""`marginalia train --task ud`: a treebank in, a pipeline from raw text to trees out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import INTERRUPTED, OK, UsageError
from marginalia.cli.output import check_output
from marginalia.cli.progress import Notes, TrainingProgress
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import count, seconds, size
from marginalia.interrupts import stopping, uninterrupted

if TYPE_CHECKING:
    from marginalia.cli.plan import Plan
    from marginalia.learn.pipeline import PartProgress, PipelineTraining
    from marginalia.model.bundle import Bundle

_REFUSED = ("columns", "label", "structure", "features", "global_features", "lowercase", "sample_weights")


def run(args: argparse.Namespace, plan: Plan) -> int:
    """Train a pipeline as planned; its exit code."""
    _check(plan)
    must_exist([*plan.train, *plan.dev])
    check_output(plan.output, args, plan, model=True, may_replace=plan.start)
    notes = Notes(sys.stderr, not args.quiet)
    with seekable([*plan.train, *plan.dev]) as paths, stopping() as stop:
        training = prepare(plan, args, paths[: len(plan.train)], paths[len(plan.train) :], stop)
        for note in training.notes:
            notes.say(f"note: {note}")
        follow(training, args.quiet)
        interrupted = stop()
    if interrupted:
        Notes(sys.stderr).say("marginalia: interrupted; the parts that are done are kept")
    with uninterrupted():
        bundle = training.bundle()
        bundle.save(plan.output)
    show = _json if args.json else _text
    show(training, bundle, plan.output, interrupted)
    return INTERRUPTED if interrupted else OK


def prepare(
    plan: Plan, args: argparse.Namespace, train: list[str], dev: list[str], stop: Any
) -> PipelineTraining:
    """The run of a plan, its treebanks read."""
    from marginalia.learn.pipeline import PipelineTraining
    from marginalia.learn.pipeline.api import read_treebank
    from marginalia.model.built_in import model_path
    from marginalia.model.bundle import Bundle

    spaces = {"on": True, "off": False, None: None}[args.spaces]
    return PipelineTraining(
        read_treebank(train, spaces),
        read_treebank(dev, spaces) if dev else None,
        parts=args.part or (),
        start=Bundle.load(model_path(plan.start)) if plan.start else None,
        add=_added(args.add or []),
        seed=plan.seed,
        threads=plan.threads,
        settings=_settings(plan),
        stop=stop,
    )


def _added(given: list[tuple[str, str]]) -> dict[str, Any]:
    from marginalia.model import load

    return {name: load(path) for name, path in given}


def follow(training: PipelineTraining, quiet: bool) -> None:
    """Train to the end, or to Ctrl-C, and show it."""
    shown = TrainingProgress(sys.stderr, quiet)
    notes, part = Notes(sys.stderr, not quiet), ""
    for record in training:
        if record.part != part:
            part = record.part
            shown.end()
            notes.say(f"{part}:")
        _show(record, shown, notes)
    shown.end()


def _show(record: PartProgress, shown: TrainingProgress, notes: Notes) -> None:
    if record.progress is not None:
        shown.show(record.progress)
    else:
        shown.end()
        notes.say(f"{record.note}  {seconds(record.seconds)}")


def _text(training: PipelineTraining, bundle: Bundle, path: str, interrupted: bool) -> None:
    parts = ", ".join(bundle.parts) or "none"
    print(f"parts: {parts} ({seconds(training.seconds)})")
    print(f"saved {path} ({size(os.path.getsize(path))}). Next:\n  marginalia parse {path} INPUT.txt")
    print(f"  marginalia eval {path} TEST.conllu")


def _json(training: PipelineTraining, bundle: Bundle, path: str, interrupted: bool) -> None:
    described = {
        "model": path,
        "size": os.path.getsize(path),
        "seconds": round(training.seconds, 3),
        "parts": {name: part_summary(part) for name, part in bundle.parts.items()},
        "notes": training.notes,
        "interrupted": interrupted,
    }
    print(json.dumps(described, ensure_ascii=False))


def part_summary(part: Any) -> dict[str, Any]:
    """What is said of a part."""
    return {
        "structure": part.structure,
        "learner": part.learner,
        "label": part.label,
        "label_count": len(part.labels),
        "features": part.features,
        "bytes": sum(array.nbytes for array in part.arrays.values()),
        "dev": max((record["dev"] for record in part.history if record.get("dev") is not None), default=None),
    }


def describe_part(name: str, part: Any) -> str:
    """The same in a line."""
    told = part_summary(part)
    dev = "" if told["dev"] is None else f", dev {told['dev']:.2f}"
    return (
        f"{name:10} {told['structure']}, {told['learner']}, {count(told['label_count'], 'label')}, "
        f"{count(told['features'], 'feature')}, {size(told['bytes'])}{dev}"
    )


def _settings(plan: Plan) -> dict[str, Any]:
    """Settings of parts, with the preset."""
    return {**({"preset": plan.preset} if plan.preset else {}), **plan.settings}


def _check(plan: Plan) -> None:
    given = [name for name in _REFUSED if getattr(plan, name) is not None]
    given += [
        name
        for name in ("lists", "clusters", "lexicons", "dictionary", "global_function", "also_unlabelled")
        if getattr(plan, name)
    ]
    given += ["learner"] if plan.learner else []
    given += ["format"] if plan.format not in (None, "conllu") else []
    if given:
        raise UsageError(
            f"--task ud trains several models: --{given[0].replace('_', '-')} is not for it. Settings of "
            "parts are set by --set PART.NAME=VALUE, such as --set tags.passes=5."
        )
