"""What `marginalia eval` shows of a pipeline: the table of CoNLL 2018."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

from marginalia.cli.arguments import UsageError

if TYPE_CHECKING:
    from marginalia.decode.pipeline import Pipeline

_OTHERS = (
    "known",
    "compare",
    "reliability",
    "reliability_plot",
    "confusion",
    "errors",
    "hypotheses",
    "constrain",
    "constraints",
    "dictionary",
    "columns",
    "label",
    "scheme",
)


def show_scores(pipeline: Pipeline, args: argparse.Namespace, path: str) -> None:
    """Parse a treebank and print how right that is."""
    from marginalia.corpus.document_reader import read_conllu
    from marginalia.kinds.pipelines import evaluate_pipeline

    if given := [name for name in _OTHERS if getattr(args, name, None)]:
        raise UsageError(f"--{given[0].replace('_', '-')} is not for pipelines.")
    kept = [name.strip() for name in args.given.split(",")] if args.given else []
    options = {"bootstrap": args.bootstrap, "file": args.test}
    report = evaluate_pipeline(pipeline, read_conllu(path), kept, args.threads or 1, **options)
    print(json.dumps(report.to_json(), ensure_ascii=False) if args.json else report.to_text(), end="")
    print() if args.json else None
