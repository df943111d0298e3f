"""`marginalia shrink`: a smaller model, and a table of what smaller ones cost."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from marginalia.cli.arguments import Verbs, add_reading, add_threads, verb_parser
from marginalia.cli.dispatch import opened, pipeline_of
from marginalia.cli.layouts import model_layout
from marginalia.cli.output import check_output
from marginalia.cli.progress import Notes
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import size

if TYPE_CHECKING:
    from marginalia.decode.pipeline import Pipeline
    from marginalia.deploy import Candidate, Shrunk

_DESCRIPTION = """\
Make a model smaller: drop small weights, keep the others in fewer bits, and leave out what only
training and inspect need (names, votes, learning state, history). With --dev a table shows what each
candidate costs, and the best one that meets the target is taken (without a target: the smallest that
loses at most --max-loss). The result is a model file like any other; it cannot be trained further."""

_EXAMPLES = """\
  marginalia shrink model.mg --target 1MB --dev dev.txt -o small.mg
  marginalia shrink model.mg --dev dev.txt --max-loss 0.05 -o small.mg
  marginalia shrink model.mg --bits 16 -o half.mg
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "shrink", "make a model file smaller", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where the smaller model goes")
    parser.add_argument("--target", metavar="SIZE", help="bytes of the file: 1MB, 800kB… (default: none)")
    parser.add_argument("--dev", metavar="FILE", help="labelled data that choose among candidates")
    parser.add_argument(
        "--max-loss",
        metavar="POINTS",
        type=float,
        help="with --dev: F1 (or accuracy) that may be lost (default: 0.1 without a target)",
    )
    parser.add_argument(
        "--bits", type=int, choices=(32, 16, 8, 6, 5), help="of each weight (default: what serves best)"
    )
    add_threads(parser, "threads that tag")
    add_reading(parser, "as the model's training data")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia shrink`; its exit code."""
    from marginalia.corpus.source import DataSource
    from marginalia.deploy import shrink_on, size_in_bytes

    target = size_in_bytes(args.target)
    must_exist([args.dev] if args.dev else [])
    check_output(args.output, args, model=True, may_replace=args.model)
    if (pipeline := pipeline_of(args.model)) is not None:
        return _shrink_pipeline(pipeline, target, args)
    tagger, _ = opened("shrink", args)
    notes = Notes(sys.stderr, not args.quiet and not args.json)
    with seekable([args.dev] if args.dev else []) as paths:
        dev = DataSource.of_file(paths[0], model_layout(tagger.saved, args, args.dev)) if paths else None
        found = shrink_on(
            tagger,
            target,
            dev,
            args.max_loss,
            args.bits,
            args.threads or 1,
            on_progress=lambda candidate: notes.say(f"tried {_line(candidate)}"),
        )
    found.model.save(args.output)
    show(args, found)
    return 0


def _shrink_pipeline(pipeline: Pipeline, target: int | None, args: argparse.Namespace) -> int:
    from marginalia.corpus.document_reader import read_conllu
    from marginalia.deploy.shrink_pipeline import shrink_pipeline

    notes = Notes(sys.stderr, not args.quiet and not args.json)
    shrunk = shrink_pipeline(
        pipeline,
        target,
        read_conllu(args.dev) if args.dev else None,
        args.max_loss,
        args.bits,
        args.threads or 1,
        on_progress=lambda candidate: notes.say(f"tried {_line(candidate)}"),
    )
    shrunk.model.save(args.output)
    show(args, shrunk)
    return 0


def show(args: argparse.Namespace, shrunk: Shrunk) -> None:
    """Print the outcome."""
    if args.json:
        table = [candidate.to_json() for candidate in shrunk.table]
        print(json.dumps({"model": args.model, "output": args.output, "table": table}, ensure_ascii=False))
        return
    print(f"{'':8} {'bits':>4} {'weights':>11} {'features':>10} {'size':>10} {'score':>7} {'loss':>6}")
    for number, candidate in enumerate(shrunk.table):
        name = "as it is" if number == 0 else "chosen" if candidate.chosen else ""
        print(f"{name:8} {_line(candidate)}".rstrip())
    chosen = next(candidate for candidate in shrunk.table if candidate.chosen)
    print(f"saved {args.output} ({size(chosen.size)}, {100 * chosen.size / shrunk.table[0].size:.0f}%)")


def _line(candidate: Candidate) -> str:
    score = "" if candidate.score is None else f"{candidate.score:.2f}"
    loss = "" if candidate.loss is None else f"{candidate.loss:.2f}"
    counts = f"{candidate.bits:4} {candidate.weights:11,} {candidate.features:10,}"
    return f"{counts} {size(candidate.size):>10} {score:>7} {loss:>6}"
