"""`marginalia casing`: which words of a big text are more often in lower case than not."""

from __future__ import annotations

import argparse
import sys

from marginalia.cli.arguments import Verbs, added_to, natural, verb_parser
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.progress import Notes
from marginalia.cli.reading import STDIN, must_exist
from marginalia.cli.text import count

_DESCRIPTION = """\
Make a list of the words that a text has more often in lower case than with a capital, one a line:
what the flag of Collins' global features looks at (docs/global-features.md). The text is plain, or
JSON lines with a `text` key (.jsonl); both may be compressed (.gz). It is read as a stream: memory
grows with the number of distinct words, not with the text."""

_EXAMPLES = """\
  marginalia casing news.txt.gz wiki.jsonl -o words.txt
  zcat big.gz | marginalia casing - --least 5 > words.txt
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "casing", "list words that are mostly in lower case", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("text", nargs="*", metavar="TEXT", help="text files (-: standard input)")
    parser.add_argument("-o", "--output", metavar="FILE", default=STDIN, help="default: -, standard output")
    parser.add_argument(
        "--least", metavar="N", type=natural, default=1, help="only words in lower case so often (default: 1)"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no note on standard error")
    parser.set_defaults(run=run, take=added_to("text"))


def run(args: argparse.Namespace) -> int:
    """The verb."""
    from marginalia.corpus.casing import lowercase_words

    files = args.text or [STDIN]
    must_exist(files)
    check_output(args.output, args)
    found = lowercase_words(files, args.least)
    with opened_target(args.output) as target:
        target.write("".join(f"{word}\n" for word in found.words).encode())
    if not args.quiet:
        counted = f"{count(found.tokens, 'word')}, {found.distinct:,} distinct"
        Notes(sys.stderr).say(f"{counted}: {len(found.words):,} are mostly in lower case")
    return 0
