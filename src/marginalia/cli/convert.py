"""`marginalia convert`: a model of another program in, a model file of ours out."""

from __future__ import annotations

import argparse
import json
import os

from marginalia.cli.arguments import Verbs, verb_parser
from marginalia.cli.output import check_output
from marginalia.cli.reading import must_exist
from marginalia.cli.text import count, size

_DESCRIPTION = """\
Turn a model of CRFsuite (also of python-crfsuite and sklearn-crfsuite) or a text model of CRF++
(crf_learn -t) into one of ours, which labels text as the original does. Nothing is trained.
Models of CRFsuite then read its item files (or, in Python, the same attributes); those of CRF++
read its column files."""

_EXAMPLES = """\
  marginalia convert chunks.crfsuite -o chunks.mg
  marginalia tag chunks.mg items.txt
  marginalia convert model.txt -o model.mg --columns "word pos chunk"
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "convert", "take over a model of CRFsuite or CRF++", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model of CRFsuite, or a text model of CRF++")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the model file to write")
    parser.add_argument(
        "--scheme", metavar="NAME", default="auto", help="scheme of the labels, or none (default: auto)"
    )
    parser.add_argument(
        "--columns", metavar="NAMES", help='CRF++: names of the columns, such as "word pos chunk"'
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run `marginalia convert`; its exit code."""
    from marginalia.decode import convert

    must_exist([args.model])
    check_output(args.output, args, model=True)
    tagger = convert(args.model, scheme=args.scheme, columns=args.columns)
    tagger.save(args.output)
    saved = tagger.saved
    found = {
        "model": args.output,
        "size": os.path.getsize(args.output),
        "features": saved.features,
        "weights": int(saved.arrays["weights"].size + saved.arrays["constants"].size),
        "labels": list(saved.labels),
        "scheme": saved.scheme,
        "columns": list(saved.columns),
    }
    if args.json:
        print(json.dumps(found, ensure_ascii=False))
        return 0
    sizes = f"{count(found['features'], 'feature')}, {count(found['weights'], 'weight')}"
    print(f"{sizes}, {count(len(saved.labels), 'label')}, scheme {saved.scheme or 'none (plain tags)'}")
    print(f"saved {args.output} ({size(found['size'])}). Next:")
    print(f"  marginalia tag {args.output} INPUT -o OUTPUT")
    return 0
