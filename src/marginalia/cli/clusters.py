"""`marginalia clusters`: much text in, Brown clusters of its words out."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from marginalia.cli.arguments import (
    INTERRUPTED,
    OK,
    Verbs,
    add_threads,
    added_to,
    verb_parser,
    whole_number,
)
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.progress import Bar, Notes
from marginalia.cli.reading import STDIN, must_exist
from marginalia.cli.text import count
from marginalia.errors import DataError
from marginalia.interrupts import stopping

_DESCRIPTION = """\
Make Brown clusters of the words of a text: words that stand beside the same words get paths with
the same first bits. A line of the output is path, tab, word, tab, count, as wcluster writes it;
train --clusters NAME=FILE reads it (docs/clusters.md). The text is tokenised, a sentence a line, or
CoNLL-U, JSON lines or columns, of which the first has the words. After Ctrl-C the words that have
been looked at, the most frequent ones, have their clusters."""

_EXAMPLES = """\
  marginalia clusters news.txt.gz -k 1000 -o paths.txt --threads 2
  marginalia clusters train.conllu more.conllu -k 200 --min-count 3 -o paths.txt
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "clusters", "make word clusters of much text", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("text", nargs="*", metavar="TEXT", help="text files (-: standard input)")
    parser.add_argument("-o", "--output", metavar="FILE", default=STDIN, help="default: -, standard output")
    parser.add_argument(
        "-k", metavar="K", type=whole_number(1, 20_000), default=1000, help="how many (default: 1000)"
    )
    parser.add_argument(
        "--min-count",
        metavar="N",
        type=whole_number(1, 2**31),
        default=2,
        help="only words that the text has so often (default: 2)",
    )
    parser.add_argument(
        "--format", choices=("plain", "conll", "conllu", "jsonl"), help="default: by suffix, else plain"
    )
    add_threads(parser, "threads; the clusters do not depend on them")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=added_to("text"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia clusters`; its exit code."""
    from marginalia.learn.brown import brown_clusters

    files = args.text or [STDIN]
    must_exist(files)
    check_output(args.output, args)
    notes, bar = Notes(sys.stderr, not args.quiet), Bar(sys.stderr, not args.quiet)
    text = _read(files, args, notes)
    with stopping() as stop:

        def watch(taken: int) -> bool:
            bar.draw(taken / len(text.words), "clustering", f" of {count(len(text.words), 'word')}")
            return not stop()

        found = brown_clusters(text, args.k, args.threads or 1, watch)
    bar.clear()
    with opened_target(args.output) as target:
        for entry in found:
            target.write(f"{entry.path}\t{entry.word}\t{entry.seen}\n".encode())
    if stop():
        Notes(sys.stderr).say(f"marginalia: interrupted; {count(len(found), 'word')} have their clusters")
    return INTERRUPTED if stop() else OK


def _read(files: list[str], args: argparse.Namespace, notes: Notes) -> Any:
    from marginalia.corpus.formats import format_of
    from marginalia.corpus.neighbours import NeighbourCounts, read_tokens

    counts = NeighbourCounts()
    for path in files:
        guessed = format_of(path).name
        format = args.format or ("plain" if guessed == "conll" else guessed)
        for sentence in read_tokens(path, format):
            counts.add(sentence)
    text = counts.neighbours(args.min_count)
    if not text.words:
        raise DataError(
            f"found no word {args.min_count} times, expected some to make clusters of", file=files[0]
        )
    read = f"read {count(counts.tokens, 'token')}, {count(len(text.words), 'word')}"
    notes.say(f"{read} of at least {args.min_count}, {count(len(text.times), 'pair')} of neighbours")
    return text
