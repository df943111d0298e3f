"""`marginalia eval`: how good a model, or a file of predictions, is."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError, Verbs, add_reading, add_threads, natural, verb_parser
from marginalia.cli.demanded import add_constraints, constraints_of
from marginalia.cli.dictionaries import add_dictionary, with_dictionaries
from marginalia.cli.layouts import model_layout
from marginalia.cli.reading import (
    check_layout,
    format_name,
    given_options,
    must_exist,
    reader_arguments,
    seekable,
)

if TYPE_CHECKING:
    from marginalia.cli.labelled import Labelled, Numbering
    from marginalia.corpus.answers import BlockConfidence
    from marginalia.corpus.batches import Layout
    from marginalia.decode import Tagger
    from marginalia.decode.constraints import Constraints
    from marginalia.evaluate import Comparison, Reliability
    from marginalia.kinds import OutputKind

_DESCRIPTION = """\
Score a model on labelled data, or a file of predictions against a gold file with the same tokens.
Spans are scored as the CoNLL script conlleval does (labels that spell no spans: accuracy), or
strictly by a label scheme. Labels are in the last column unless --label says otherwise; those of
--pred and --compare always are."""

_EXAMPLES = """\
  marginalia eval model.mg test.txt
  marginalia eval model.mg test.txt --known train.txt --bootstrap 1000 --json
  marginalia eval calibrated.mg test.txt --reliability --reliability-plot reliability.svg
  marginalia eval --gold test.txt --pred old.txt --compare new.txt --mode strict
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "eval", "score a model or predictions", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model file")
    parser.add_argument("test", metavar="TEST", nargs="?", help="labelled data for the model; - is stdin")
    parser.add_argument("--gold", metavar="FILE", help="labelled data, instead of MODEL TEST")
    parser.add_argument("--pred", metavar="FILE", help="the same tokens, predicted labels in the last column")
    parser.add_argument("--compare", metavar="FILE", help="other predictions: is the difference significant?")
    parser.add_argument("--known", metavar="FILE", help="training data: also score the words not in it")
    parser.add_argument(
        "--mode",
        choices=("conlleval", "strict"),
        default="conlleval",
        help="how spans count (default: conlleval)",
    )
    parser.add_argument("--scheme", metavar="NAME", help="strict: the label scheme (default: detected)")
    parser.add_argument(
        "--bootstrap",
        metavar="N",
        type=natural,
        default=0,
        help="rounds for a 95%% interval of F1 (default: none)",
    )
    parser.add_argument(
        "--reliability", action="store_true", help="MODEL: can its probabilities be trusted? ECE, Brier, bins"
    )
    parser.add_argument(
        "--reliability-plot", metavar="FILE", help="the same as a picture, .svg or .png (needs matplotlib)"
    )
    parser.add_argument("--confusion", action="store_true", help="all confused label pairs, not just ten")
    add_constraints(parser)
    add_dictionary(parser)
    add_threads(parser, "threads that tag")
    add_reading(parser, "as the model's training data; with --gold by suffix")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run, take=take)


def take(args: argparse.Namespace, word: str) -> bool:
    """A file behind options is the model or the test data."""
    free: bool = args.test is None
    name = "test" if args.model else "model"
    setattr(args, name, word) if free else None
    return free


def run(args: argparse.Namespace) -> int:
    """The verb."""
    _check(args)
    files = [args.test or args.gold, *filter(None, (args.pred, args.compare, args.known))]
    must_exist(files)
    with seekable(files) as paths:
        places = dict(zip(files, paths, strict=True))
        result = evaluate_model(args, places) if args.model else evaluate_files(args, places)
    if args.reliability_plot:
        from marginalia.cli.plot import plot_reliability

        plot_reliability(result[2], args.reliability_plot, args.model)
    show(args, *result)
    return 0


Result = tuple[Any, "Comparison | None", "dict[str, Reliability]"]


def evaluate_model(args: argparse.Namespace, places: dict[str, str]) -> Result:
    """Tag the test data and score it."""
    from marginalia.cli.labelled import Numbering
    from marginalia.kinds import kind_of, load

    tagger, numbering = load(args.model), Numbering()
    kind = kind_of(tagger.saved.structure)
    _check_options(args, kind)
    layout = model_layout(tagger.saved, args)
    tagger = with_dictionaries(tagger, args, layout)
    sure: list[BlockConfidence] | None = [] if _wants_reliability(args) else None
    source, said = places[args.test], constraints_of(args)
    columns = tagged(tagger, source, layout, numbering, args.threads or 1, sure, said)
    columns[0].file = args.test
    spans = tagger.saved.scheme is not None
    report, comparison = _scored(args, places, layout, columns, numbering, spans, kind)
    return report, comparison, _reliabilities(columns, numbering, sure, kind.part) if sure else {}


def _check_options(args: argparse.Namespace, kind: OutputKind[Any]) -> None:
    """An error for options that have no meaning for the outputs of a model."""
    usual = {"mode": "conlleval", "scheme": None, "known": None, "bootstrap": 0, "compare": None}
    for name, value in usual.items():
        if name not in kind.eval_options and getattr(args, name) != value:
            raise UsageError(
                f"--{name} is for labels of tokens, but this model gives {kind.name} of {kind.part}."
            )


def _reliabilities(
    columns: tuple[Labelled, Labelled], numbering: Numbering, sure: list[BlockConfidence], part: str
) -> dict[str, Reliability]:
    """Of tokens (or items) and, if the model gave any, of spans."""
    import numpy as np

    from marginalia.evaluate import reliability, right_spans

    gold, predicted = (column.ids for column in columns)
    found = {part: reliability(np.concatenate([one.token for one in sure]), gold == predicted)}
    before = np.cumsum([0, *(len(one.token) for one in sure)])
    begin = np.concatenate([one.span_begin + at for one, at in zip(sure, before, strict=False)])
    end = np.concatenate([one.span_end + at for one, at in zip(sure, before, strict=False)])
    if begin.size:
        right = right_spans(gold, predicted, numbering.labels, columns[0].starts[:-1], begin, end)
        found["spans"] = reliability(np.concatenate([one.span for one in sure]), right)
    return found


def tagged(
    tagger: Tagger,
    source: str,
    layout: Layout,
    numbering: Numbering,
    threads: int = 1,
    sure: list[BlockConfidence] | None = None,
    constraints: Constraints | None = None,
) -> tuple[Labelled, Labelled]:
    """The gold labels of a file, and those that a model gives it; `sure`: gets how sure it is of them."""
    from marginalia.cli.labelled import Labelled, gold_ids, labelled_batches
    from marginalia.cli.tag import named
    from marginalia.corpus.partial import SCORED, refuse_open

    gold, predicted = Labelled(source), Labelled(source)
    batches = (named(batch, tagger) for batch in labelled_batches(source, layout))
    options: dict[str, Any] = {"confidence": sure is not None, "constraints": constraints}
    for batch, answer in tagger.tag_batches(batches, threads, **options):
        if sure is not None and answer.confidence is not None:
            sure.append(answer.confidence)
        if layout.partial:
            refuse_open(batch.block, layout.label, SCORED)
        gold.add(batch.block, 0, gold_ids(batch, layout.label, numbering))
        predicted.parts.append(numbering.of(tagger.labels)[answer.ids])
    return gold, predicted


def evaluate_files(args: argparse.Namespace, places: dict[str, str]) -> Result:
    """Score a file of predictions."""
    from marginalia.cli.labelled import Numbering, check_same_tokens, read_labelled
    from marginalia.corpus.batches import guess_layout
    from marginalia.kinds import kind_of

    options = given_options(vars(args))
    check_layout(format_name([args.gold], args.format), args.columns, options)
    format = format_name([args.gold], args.format)
    layout = guess_layout(places[args.gold], format, args.columns, args.label, reader_arguments(options))
    numbering = Numbering()
    gold = read_labelled(places[args.gold], layout, numbering)
    predicted = _read_predicted(args, args.pred, places, layout, numbering)
    gold.file = args.gold
    check_same_tokens(gold, predicted)
    return *_scored(args, places, layout, (gold, predicted), numbering, None, kind_of("chain")), {}


def show(
    args: argparse.Namespace,
    report: Any,
    comparison: Comparison | None,
    reliabilities: dict[str, Reliability],
) -> None:
    """Print the outcome."""
    pairs = [{"gold": c.gold, "predicted": c.predicted, "count": c.count} for c in report.confusion]
    if args.json:
        found = report.to_json() | ({"confusion": pairs} if args.confusion else {})
        if comparison is not None:
            found["comparison"] = comparison.to_json()
        if reliabilities:
            found["reliability"] = {name: one.to_json() for name, one in reliabilities.items()}
        print(json.dumps(found, ensure_ascii=False))
        return
    print(report.to_text(), end="")
    if args.confusion:
        print("all confusions:")
        for pair in pairs:
            print(f"  {pair['gold']}\t{pair['predicted']}\t{pair['count']}")
    for name, one in reliabilities.items():
        print(one.to_text(name), end="")
    if comparison is not None:
        print(f"a = {args.pred or args.model}, b = {args.compare}")
        print(comparison.to_text(), end="")


def _check(args: argparse.Namespace) -> None:
    by_model, by_files = bool(args.model and args.test), bool(args.gold and args.pred)
    if by_model == by_files or (args.model and not by_model) or (by_model and (args.gold or args.pred)):
        raise UsageError("expected MODEL TEST, or --gold FILE --pred FILE. See marginalia eval --help.")
    if by_files and _wants_reliability(args):
        raise UsageError(
            "--reliability is for MODEL TEST: a file of predictions does not say how sure they are."
        )
    if by_files and (args.dictionary or args.constrain or args.constraints):
        raise UsageError("--dictionary, --constrain and --constraints are for MODEL TEST.")
    if args.reliability_plot:
        from marginalia.cli.plot import check_plot

        check_plot(args.reliability_plot, [args.model, args.test])
    if by_files and _same(args.gold, args.pred) and not args.label:
        raise UsageError("gold and predictions are the same file: say with --label which column is gold.")


def _wants_reliability(args: argparse.Namespace) -> bool:
    return bool(args.reliability or args.reliability_plot)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _read_predicted(
    args: argparse.Namespace, path: str, places: dict[str, str], layout: Layout, numbering: Numbering
) -> Labelled:
    from marginalia.cli.labelled import read_labelled
    from marginalia.corpus.batches import guess_layout

    label = None if layout.format == "conll" else layout.label
    predicted = read_labelled(
        places[path], guess_layout(places[path], layout.format, None, label, layout.options), numbering
    )
    predicted.file = path
    return predicted


def _scored(
    args: argparse.Namespace,
    places: dict[str, str],
    layout: Layout,
    columns: tuple[Labelled, Labelled],
    numbering: Numbering,
    spans: bool | None,
    kind: OutputKind[Any],
) -> tuple[Any, Comparison | None]:
    from marginalia.evaluate.encode import unseen_mask

    gold, predicted = columns
    rules: dict[str, Any] = {"mode": args.mode, "scheme": args.scheme, "spans": spans}
    unseen = None
    if args.known:
        unseen = unseen_mask([gold.words], _words(places[args.known], layout), len(gold.words))
    more = {"unseen": unseen, "bootstrap": args.bootstrap}
    report = kind.score(numbering.labels, gold.ids, predicted.ids, gold.starts[:-1], **rules, **more)
    return report, _compared(args, places, layout, columns, numbering, rules) if args.compare else None


def _compared(
    args: argparse.Namespace,
    places: dict[str, str],
    layout: Layout,
    columns: tuple[Labelled, Labelled],
    numbering: Numbering,
    rules: dict[str, Any],
) -> Comparison:
    from marginalia.cli.labelled import check_same_tokens
    from marginalia.evaluate import compare

    gold, predicted = columns
    other = _read_predicted(args, args.compare, places, layout, numbering)
    check_same_tokens(gold, other)
    predicted.starts = gold.starts
    labels = numbering.labels
    return compare(*(column.sentences(labels) for column in (gold, predicted, other)), **rules)


def _words(path: str, layout: Layout) -> set[str]:
    from marginalia.corpus.batches import guess_layout, read_batches

    known: set[str] = set()
    for batch in read_batches(path, guess_layout(path, layout.format, None, None, layout.options)):
        known.update(batch.block.table.distinct(0)[0])
    return known
