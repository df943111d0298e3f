"""`marginalia tag`: text in, the same text with predicted labels out."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from marginalia.cli.arguments import (
    UsageError,
    Verbs,
    add_reading,
    add_threads,
    at_least_one,
    probability,
    taken_as,
    verb_parser,
)
from marginalia.cli.constraints import ConstrainedTagging, add_constraints, constraints_of
from marginalia.cli.dictionaries import add_dictionary, reloading, with_dictionaries
from marginalia.cli.dispatch import opened
from marginalia.cli.hypotheses import add_hypotheses, with_hypotheses
from marginalia.cli.layouts import input_layout, kept_layout, written_layout
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.progress import Bar
from marginalia.cli.reading import STDIN, must_exist
from marginalia.cli.text import size
from marginalia.corpus.formats import TREEBANK_TEXT
from marginalia.corpus.streams import is_piped, partial_name
from marginalia.errors import SettingsError
from marginalia.interrupts import uninterrupted

if TYPE_CHECKING:
    from marginalia.corpus.batches import Batch, Layout
    from marginalia.corpus.streams import Source
    from marginalia.decode import Tagger

BLOCK_BYTES = 1 << 18  # of column files: small enough to keep several threads busy on short files

_DESCRIPTION = """\
Label text with a model. Column files come out as they went in, with one more column, the
predicted label; the input may have the gold column or not. Other formats get the labels where
they belong: in CRFsuite's item files, in place of those that were there. Plain text becomes
lines of token, tab, label. Memory does not grow with the input. After Ctrl-C what was tagged is
in FILE.partial.

With --confidence three more columns stand before the label: how probable the label is, the span
of the token (_: it has none), and the labels of the whole sentence.

Constraints are always met by the best labels that meet them; where no labels do, by those that
break the fewest, and standard error says which (docs/constraints.md)."""

_EXAMPLES = """\
  marginalia tag model.mg input.txt -o output.txt
  zcat big.txt.gz | marginalia tag model.mg --buffer --threads 2 | gzip > big.tagged.gz
  marginalia tag model.mg input.txt --confidence --nbest 5 --constrain "at most 1 TITLE"
  marginalia tag model.mg half-labelled.txt --given label --dictionary names.tsv
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "tag", "label text with a model", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("input", metavar="INPUT", nargs="?", default=STDIN, help="default: -, standard input")
    parser.add_argument("-o", "--output", metavar="FILE", default=STDIN, help="default: -, standard output")
    parser.add_argument(
        "--confidence", action="store_true", help="also how probable labels, spans, sentences are"
    )
    parser.add_argument(
        "--min-confidence",
        metavar="P",
        type=probability,
        help="abstain: spans less probable than P become O, tags _; they stand in a column of their own",
    )
    parser.add_argument(
        "--nbest", metavar="K", type=at_least_one, help="the K best outputs of each sentence, with scores"
    )
    add_hypotheses(parser)
    add_constraints(parser)
    parser.add_argument(
        "--given",
        metavar="COLUMN",
        help="keep the labels of this column of the input (_: not known, A|B: one of these); in JSONL: spans;"
        " in raw text: blanks, over which no word goes",
    )
    add_dictionary(parser, reload=True)
    add_threads(parser, "threads; the output does not depend on them")
    add_reading(parser, "as the model's training data", unlabelled=True)
    parser.add_argument(
        "--to",
        choices=("segmented", "kytea", "jsonl", "conllu"),
        help="write words of text without blanks in this format (default: as the input)",
    )
    parser.add_argument(
        "--buffer",
        action="store_true",
        help="from a pipe: many lines at a time, which is faster in all (default: an answer to each at once)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=taken_as("input", STDIN))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia tag`; its exit code."""
    must_exist([args.input])
    check_output(args.output, args)
    if args.output != STDIN:
        check_output(partial_name(args.output), args)
    tagger, _ = opened("tag", args)
    tagger = with_hypotheses(tagger, args)
    layout = input_layout(tagger.saved, args, args.input)
    tagger = with_dictionaries(tagger, args, layout)
    wanted = Wanted(args.confidence, args.min_confidence, args.nbest, args.reload)
    written = written_layout(tagger.saved, args, layout)
    check(wanted, tagger, written)
    constrained = ConstrainedTagging(constraints_of(args), args.given)
    if args.reload and constrained.constraints.by_sentence:
        raise UsageError("--reload does not go with constraints for single sentences.")
    layout = _line_by_line(kept_layout(tagger.saved, args, layout), args)
    with opened_target(args.output, keep_partial=True) as target, watched(args) as (source, draw):
        # Someone may wait for what is done: a document, if they come one after the other.
        after_batch = target.flush if args.output == STDIN else draw
        at_once = not args.buffer
        threads = 1 if at_once and is_piped(source) else args.threads or 1
        tag(
            tagger,
            source,
            layout,
            target,
            threads,
            after_batch,
            wanted,
            constrained,
            written,
            at_once=at_once,
        )
    constrained.report()
    return 0


def _line_by_line(layout: Layout, args: argparse.Namespace) -> Layout:
    """Segmented text comes out with as many lines as it had, so that files can be put side by side."""
    if layout.format not in ("segmented", "kytea") and not (layout.format == "plain" and args.to):
        return layout
    return replace(layout, options={**layout.options, "blank_lines": True})


class Wanted(NamedTuple):
    """What is wanted beside the best labels."""

    confidence: bool = False
    min_confidence: float | None = None
    nbest: int | None = None
    reload: bool = False

    @property
    def more(self) -> bool:
        """Whether anything is wanted that needs a place in the output."""
        return self._replace(reload=False) != Wanted()


def check(wanted: Wanted, tagger: Tagger, layout: Layout) -> None:
    """An error, before any work is done, for what makes no sense or what the model cannot give."""
    from marginalia.decode.confidence import needed_temperature

    if wanted.nbest is not None and wanted.min_confidence is not None:
        raise UsageError("--nbest gives all of each output: it does not go with --min-confidence.")
    if layout.format in ("segmented", "kytea") and wanted.more:
        raise SettingsError(
            "segmented text has no place for confidences and alternatives: --to jsonl and --to conllu have "
            "(or --format plain, where each character gets a line)."
        )
    if layout.format == TREEBANK_TEXT and wanted.min_confidence is not None:
        raise SettingsError("--min-confidence: in CoNLL-U every character is in a word; --to jsonl has gaps.")
    if layout.format == "crfsuite" and wanted.more:
        raise SettingsError(
            "item files have no place for confidences and alternatives: ask for them in Python, with "
            "Tagger.tag and Tagger.nbest."
        )
    if wanted.confidence or wanted.min_confidence is not None:
        needed_temperature(tagger.saved)
    tagger.written_labels(wanted.min_confidence)


def tag(
    tagger: Tagger,
    source: Source,
    layout: Layout,
    target: BinaryIO,
    threads: int = 1,
    after_batch: Callable[[], None] = lambda: None,
    wanted: Wanted | None = None,
    constrained: ConstrainedTagging | None = None,
    written: Layout | None = None,
    *,
    at_once: bool = False,
) -> None:
    """Label all of a source, batch after batch; `written`: the layout of the output, if it is another one.
    `at_once`: what comes from a pipe is answered line by line."""
    from marginalia.corpus.batches import read_batches
    from marginalia.kinds import kind_of
    from marginalia.kinds.labelled import named

    wanted, saved = wanted or Wanted(), tagger.saved
    writer = kind_of(saved.structure).writer(target, written or layout, tagger, wanted.min_confidence)
    found = read_batches(source, layout, block_bytes=BLOCK_BYTES, at_once=at_once)
    batches = (named(batch, tagger) for batch in found)
    count = constrained.count if constrained is not None else lambda *counted: None
    for batch, answer in _answers(tagger, batches, threads, wanted, constrained):
        with uninterrupted():
            if isinstance(answer, list):
                writer.write_best(batch, answer)
            else:
                writer.write(batch, answer)
        first = answer[0] if isinstance(answer, list) else answer
        count(batch.block.table.sentences, first.broken, first.inexact)
        after_batch()


def _answers(
    tagger: Tagger,
    batches: Iterable[Batch],
    threads: int,
    wanted: Wanted,
    constrained: ConstrainedTagging | None,
) -> Iterator[Any]:
    """Batches with what the model says of them."""
    options = constrained.options if constrained is not None else {}

    def answers(model: Tagger, batches: Iterable[Batch], threads: int = 1) -> Iterator[Any]:
        if wanted.nbest is not None:
            sure: dict[str, Any] = {"confidence": wanted.confidence}
            return model.nbest_batches(batches, wanted.nbest, threads, **sure, **options)
        sure = {"confidence": wanted.confidence, "min_confidence": wanted.min_confidence}
        return model.tag_batches(batches, threads, **sure, **options)

    if not wanted.reload:
        return answers(tagger, batches, threads)
    return reloading(tagger, batches, threads, answers)


@contextmanager
def watched(args: argparse.Namespace) -> Iterator[tuple[Source, Callable[[], None]]]:
    """The input and what to call now and then: a bar on a terminal, if output goes elsewhere."""
    bar = Bar(sys.stderr, args.output != STDIN and not args.quiet)
    if not bar.live or not os.path.isfile(args.input) or args.input.endswith(".gz"):
        yield args.input, lambda: None
        return
    total = max(os.path.getsize(args.input), 1)
    with open(args.input, "rb") as stream:
        try:
            yield stream, lambda: bar.draw(stream.tell() / total, "tagging", f" of {size(total)}")
        finally:
            bar.clear()
