"""`marginalia export`: a model as one program without dependencies."""

from __future__ import annotations

import argparse
import json
import os

from marginalia.cli.arguments import Verbs, verb_parser
from marginalia.cli.dispatch import opened
from marginalia.cli.output import check_output
from marginalia.cli.text import size
from marginalia.corpus.streams import replacing

_DESCRIPTION = """\
Write a model as one file that needs neither Marginalia nor anything else: a Python module, which is
also a command, or a JavaScript module for browsers and node. Both have a function `tag` and give the
labels that the model gives. Shrink the model first to get a small file."""

_EXAMPLES = """\
  marginalia export model.mg --to python -o chunker.py
  python chunker.py input.txt > output.txt
  marginalia export model.mg --to javascript -o chunker.mjs
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "export", "write a model as a program", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("--to", choices=("python", "javascript"), required=True, help="the language")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where the program goes")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia export`; its exit code."""
    from marginalia.deploy import export

    check_output(args.output, args, stdout=False)
    model, _ = opened("export", args)
    text = export(model, args.to)
    with replacing(args.output) as stream:
        stream.write(text.encode())
    written = os.path.getsize(args.output) if os.path.isfile(args.output) else len(text)
    if args.json:
        print(json.dumps({"model": args.model, "output": args.output, "to": args.to, "size": written}))
    elif not args.quiet:
        print(f"wrote {args.output} ({size(written)})")
    return 0
