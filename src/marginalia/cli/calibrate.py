"""`marginalia calibrate`: make a model's scores probabilities that can be trusted."""

from __future__ import annotations

import argparse
import functools
import json
import sys
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import Verbs, add_reading, add_threads, taken_as, verb_parser
from marginalia.cli.dispatch import opened, pipeline_of
from marginalia.cli.layouts import model_layout
from marginalia.cli.output import check_output
from marginalia.cli.progress import Bar
from marginalia.cli.reading import STDIN, must_exist, seekable

if TYPE_CHECKING:
    from marginalia.decode import Tagger
    from marginalia.decode.pipeline import Pipeline

_DESCRIPTION = """\
Fit a temperature on labelled data and write the model with it. Scores divided by the temperature
are log-probabilities: `tag --confidence` and `eval --reliability` use them. The data must not be
those that the model was trained on, of which it is too sure. The labels that the model gives do
not change. Models of the learners crf and maxent give probabilities without, and better ones with."""

_EXAMPLES = """\
  marginalia calibrate model.mg dev.txt -o calibrated.mg
  marginalia calibrate model.mg dev.txt -o model.mg --threads 2
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "calibrate", "make scores probabilities", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("data", metavar="DATA", nargs="?", default=STDIN, help="labelled data; - is stdin")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the model file to write")
    add_threads(parser, "threads; the result does not depend on them")
    add_reading(parser, "as the model's training data")
    parser.add_argument("--json", action="store_true", help="end with one JSON object instead of text")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=taken_as("data", STDIN))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia calibrate`; its exit code."""
    from marginalia.kinds.labelled import labelled_batches
    from marginalia.learn import calibrated

    must_exist([args.data])
    check_output(args.output, args, model=True, may_replace=args.model)
    if (pipeline := pipeline_of(args.model)) is not None:
        return _calibrate_pipeline(pipeline, args)
    model, _ = opened("calibrate", args)
    layout = model_layout(model.saved, args, args.data)
    with seekable([args.data]) as [path]:
        blocks = (batch.block for batch in labelled_batches(path, layout, model))
        bar = Bar(sys.stderr, not args.quiet)
        draw = functools.partial(bar.draw, before="calibrating", after="")
        try:
            found = calibrated(model, blocks, layout.label, args.threads or 1, draw)
        finally:
            bar.clear()
    found.save(args.output)
    show(args, found)
    return 0


def _calibrate_pipeline(pipeline: Pipeline, args: argparse.Namespace) -> int:
    from marginalia.corpus.document_reader import read_conllu
    from marginalia.learn.pipeline.calibrating import calibrated_pipeline

    with seekable([args.data]) as [path]:
        calibrated = calibrated_pipeline(pipeline, read_conllu(path), args.threads or 1)
    calibrated.save(args.output)
    parts = {name: part.calibration for name, part in calibrated.bundle.parts.items() if part.calibration}
    if args.json:
        print(json.dumps(parts))
        return 0
    for name, calibration in parts.items():
        print(f"{name}: temperature {calibration['temperature']:.4g}{_errors(calibration)}")
    print(f"saved {args.output}. Next:\n  marginalia parse {args.output} INPUT --confidence")
    return 0


def _errors(calibration: dict[str, Any]) -> str:
    """How far the probabilities of a part can be trusted."""
    named = [(name, own) for name, own in calibration.items() if isinstance(own, dict)]
    return "".join(f"; {own['count']:,} {name}: ECE {own['ece']:.4f}" for name, own in named)


def show(args: argparse.Namespace, model: Tagger) -> None:
    """Print what was fitted."""
    from marginalia.learn.calibration import HOTTEST

    calibration = model.saved.calibration
    if args.json:
        print(json.dumps(calibration))
        return
    print(f"temperature {calibration['temperature']:.4g}")
    for name, result in reversed(calibration.items()):
        if isinstance(result, dict):
            print(f"  {result['count']:,} {name}: ECE {result['ece']:.4f}, Brier {result['brier']:.4f}")
    if calibration["temperature"] >= HOTTEST:
        print(
            "note: held-out labels are fitted best if all outputs that the model looks at are as probable "
            "as each other: its confidences tell little"
        )
    print(f"saved {args.output}. Next:\n  marginalia tag {args.output} INPUT --confidence")
    print(f"  marginalia eval {args.output} TEST --reliability")
