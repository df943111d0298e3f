"""`marginalia lexicon`: much text in, the labels that a model gives to its words out."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import (
    INTERRUPTED,
    OK,
    UsageError,
    Verbs,
    add_reading,
    add_threads,
    added_to,
    verb_parser,
    whole_number,
)
from marginalia.cli.layouts import input_layout
from marginalia.cli.output import check_output
from marginalia.cli.progress import Bar, Notes
from marginalia.cli.reading import must_exist
from marginalia.cli.text import count
from marginalia.interrupts import stopping

if TYPE_CHECKING:
    from marginalia.decode.lexicon import LabelCounts

_DESCRIPTION = """\
Tag much text with a model and keep, for each word, the labels that it got more than a few times,
with how often. A model that is trained with such a lexicon (train --lexicon NAME=FILE) knows what
words may be that its labelled data never had (docs/lexicon.md). If the model needs more than words,
models given with --first label the text before it. Text is read as a stream: memory grows with the
number of distinct words. After Ctrl-C the file has what was counted until then.

With --merge the files are lexicons, and their counts are added up. Make the parts with
--min-count 1: what each of them drops is in no sum."""

_EXAMPLES = """\
  marginalia lexicon chunks.mg news.txt.gz --format plain --first tags.mg -o words.lex
  marginalia lexicon tags.mg more.conllu --threads 4 --min-count 1 -o part2.lex
  marginalia lexicon --merge part1.lex part2.lex -o words.lex
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "lexicon", "count the labels of words in much text", _DESCRIPTION, _EXAMPLES)
    parser.add_argument(
        "files", nargs="*", metavar="MODEL TEXT…", help="a model file and texts; with --merge: lexicons"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the lexicon to write (required)")
    parser.add_argument("--merge", action="store_true", help="add up the counts of lexicons")
    parser.add_argument(
        "--first",
        metavar="MODEL",
        action="append",
        default=[],
        help="a model whose labels are a column that the next one needs; may be repeated",
    )
    parser.add_argument(
        "--min-count",
        metavar="N",
        type=whole_number(1, 2**31),
        default=10,
        help="keep labels that a word had so often (default: 10)",
    )
    add_threads(parser, "threads; the lexicon does not depend on them")
    add_reading(parser, "as the training data of the model that comes first", unlabelled=True)
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=added_to("files"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia lexicon`; its exit code."""
    from marginalia.corpus.lexicons import write_lexicon

    if not args.output:
        raise UsageError("where to write the lexicon? Add -o words.lex.")
    if len(args.files) < 1 + (not args.merge):
        expected = "lexicons to merge" if args.merge else "a model and text"
        raise UsageError(f"found {len(args.files)} files, expected {expected}.")
    must_exist(args.files if args.merge else args.files[1:])
    check_output(args.output, args, stdout=False)
    notes = Notes(sys.stderr, not args.quiet)
    lexicon, said, stopped = _merge(args, notes) if args.merge else _count(args)
    words = write_lexicon(args.output, lexicon, args.min_count)
    notes.say(f"{said}: {count(words, 'word')} with labels seen at least {args.min_count} times")
    if stopped:
        Notes(sys.stderr).say(f"marginalia: interrupted; {args.output} has what was counted until then")
    return INTERRUPTED if stopped else OK


def _merge(args: argparse.Namespace, notes: Notes) -> tuple[Any, str, bool]:
    from marginalia.corpus.lexicons import least_of, merged

    if args.first:
        raise UsageError("--first is for text, not for --merge.")
    for path in args.files:
        if (least := least_of(path)) is not None and least > 1:
            notes.say(f"note: {path} has no labels seen fewer than {least} times, which are in no sum")
    return merged(args.files), f"merged {count(len(args.files), 'lexicon')}", False


def _count(args: argparse.Namespace) -> tuple[Any, str, bool]:
    from marginalia.decode.lexicon import LabelCounts

    firsts, tagger = list(map(_tagger, args.first)), _tagger(args.files[0])
    counts, bar = LabelCounts(tagger), Bar(sys.stderr, not args.quiet)
    with stopping() as stop:
        for number, path in enumerate(args.files[1:]):
            _count_file(path, firsts, tagger, args, counts, (bar, number, stop))
            if stop():
                break
    bar.clear()
    return counts.lexicon, f"tagged {count(counts.tokens, 'token')}", stop()


def _tagger(path: str) -> Any:
    from marginalia.decode.tagger import Tagger
    from marginalia.kinds import kind_of, load

    tagger = load(path)
    if (
        not isinstance(tagger, Tagger)
        or kind_of(tagger.saved.structure).known_labels
        or tagger.saved.program.explicit
    ):
        raise UsageError(f"{path}: expected a model that labels the words of sentences.")
    return tagger


def _count_file(
    path: str, firsts: list[Any], tagger: Any, args: argparse.Namespace, counts: LabelCounts, watch: Any
) -> None:
    from marginalia.corpus.batches import read_batches
    from marginalia.decode.lexicon import labelled_by
    from marginalia.kinds.labelled import named

    bar, number, stop = watch
    reader = firsts[0] if firsts else tagger
    layout = input_layout(reader.saved, args, path)
    batches = (named(batch, reader) for batch in read_batches(path, layout))
    for batch, answer in labelled_by(firsts, tagger, batches, args.threads or 1):
        counts.add(batch, answer)
        done = number / len(args.files[1:])
        bar.draw(done, "tagging", f" {counts.tokens:,} tokens")
        if stop():
            return
