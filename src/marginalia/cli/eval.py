"""`marginalia eval`: how good a model, or a file of predictions, is."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError, Verbs, add_reading, add_threads, natural, verb_parser
from marginalia.cli.constraints import add_constraints, constraints_of
from marginalia.cli.dictionaries import add_dictionary, with_dictionaries
from marginalia.cli.dispatch import check_verb, opened, pipeline_of
from marginalia.cli.hypotheses import add_hypotheses, with_hypotheses
from marginalia.cli.layouts import model_layout
from marginalia.cli.reading import (
    STDIN,
    check_layout,
    given_options,
    must_exist,
    reader_arguments,
    seekable,
)
from marginalia.config import suggestion

if TYPE_CHECKING:
    from marginalia.corpus.batches import Layout
    from marginalia.kinds import OutputKind
    from marginalia.kinds.evaluation import Evaluated

_DESCRIPTION = """\
Score a model on labelled data, or a file of predictions against a gold file with the same tokens.
Two CoNLL-U files without --label get the table of CoNLL 2018: tokens, tags, lemmas and trees.
Spans are scored as the CoNLL script conlleval does (labels that spell no spans: accuracy), or
strictly by a label scheme. Labels are in the last column unless --label says otherwise; those of
--pred and --compare always are."""

_EXAMPLES = """\
  marginalia eval model.mg test.txt --known train.txt --bootstrap 1000 --json
  marginalia eval --gold test.txt --pred old.txt --compare new.txt --mode strict
  marginalia eval --gold test.conllu --pred parsed.conllu
  marginalia eval pipeline.mg test.conllu --given tokens
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "eval", "score a model or predictions", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model file")
    parser.add_argument("test", metavar="TEST", nargs="?", help="labelled data for the model; - is stdin")
    parser.add_argument("--gold", metavar="FILE", help="labelled data, instead of MODEL TEST")
    parser.add_argument("--pred", metavar="FILE", help="the same tokens, predicted labels in the last column")
    parser.add_argument(
        "--structure",
        metavar="NAME",
        help="with --gold: what an output is: chain, segments or single (default: by the format; csv and tsv "
        "files have items with a class each, all others sentences)",
    )
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
        help="rounds for a 95%% interval of F1, up to 100,000 (default: none)",
    )
    parser.add_argument(
        "--reliability", action="store_true", help="MODEL: can its probabilities be trusted? ECE, Brier, bins"
    )
    parser.add_argument(
        "--reliability-plot", metavar="FILE", help="the same as a picture, .svg or .png (needs matplotlib)"
    )
    parser.add_argument("--confusion", action="store_true", help="all confused label pairs, not just ten")
    parser.add_argument(
        "--errors",
        metavar="N",
        type=natural,
        nargs="?",
        const=10,
        help="MODEL: the N sentences (default: 10) that it is wrong about and surest of, with reasons",
    )
    parser.add_argument(
        "--given",
        metavar="NAMES",
        help="pipelines: what of TEST is given, tokens or tokens,tags (default: none, raw text is parsed)",
    )
    add_hypotheses(parser)
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
    """Run `marginalia eval`; its exit code."""
    _check(args)
    files = [args.test or args.gold, *filter(None, (args.pred, args.compare, args.known))]
    must_exist(files)
    with seekable(files) as paths:
        places = dict(zip(files, paths, strict=True))
        if (pipeline := pipeline_of(args.model)) is not None:
            from marginalia.cli.eval_pipeline import show_scores

            show_scores(pipeline, args, places[args.test])
            return 0
        if args.given is not None:
            raise UsageError("--given is for pipelines (train --task ud).")
        if _of_treebanks(args):
            _show_treebank(args, places)
            return 0
        found = evaluate(args, places)
    if args.reliability_plot:
        from marginalia.cli.plot import plot_reliability

        plot_reliability(found.reliabilities, args.reliability_plot, args.model)
    show(args, found)
    return 0


def evaluate(args: argparse.Namespace, places: dict[str, str]) -> Evaluated:
    """Score a model on test data, or a file of predictions."""
    from marginalia.kinds import evaluation

    asked = evaluation.Evaluation(
        args.mode,
        args.scheme,
        args.known,
        args.bootstrap,
        args.compare,
        _wants_reliability(args),
        threads=args.threads or 1,
        places=places,
        errors=args.errors or 0,
    )
    if not args.model:
        kind = _kind(args)
        check_verb(kind, "eval", args)
        return evaluation.evaluate_files(kind, args.gold, args.pred, _layout(kind, args, places), asked)
    model, kind = opened("eval", args)
    model = with_hypotheses(model, args)
    layout = model_layout(model.saved, args, args.test)
    model = with_dictionaries(model, args, layout)
    asked = replace(asked, constraints=constraints_of(args))
    return evaluation.evaluate_model(kind, model, args.test, layout, asked)


def _of_treebanks(args: argparse.Namespace) -> bool:
    """Whether whole analyses are compared: two CoNLL-U files (standard input is like the other one), and
    nothing says which labels are meant."""
    if not args.gold or args.label or args.columns or args.structure:
        return False
    if args.format:
        return bool(args.format == "conllu")
    from marginalia.corpus.formats import format_of

    named = [name for name in (args.gold, args.pred) if name != STDIN]
    return all(format_of(name).name == "conllu" for name in named)


def _check_treebanks(args: argparse.Namespace) -> None:
    """Options that are about labels need to know which."""
    given = {"--compare": args.compare, "--known": args.known, "--scheme": args.scheme}
    given |= {"--confusion": args.confusion, "--mode": args.mode != "conlleval"}
    if wrong := [flag for flag, value in given.items() if value]:
        raise UsageError(
            f"{wrong[0]} is about labels: with CoNLL-U files say which by --label, such as upos."
        )


def _show_treebank(args: argparse.Namespace, places: dict[str, str]) -> None:
    from marginalia.kinds.treebanks import evaluate_treebanks

    report = evaluate_treebanks(args.gold, args.pred, bootstrap=args.bootstrap, places=places)
    print(json.dumps(report.to_json(), ensure_ascii=False) if args.json else report.to_text().rstrip("\n"))


def _kind(args: argparse.Namespace) -> OutputKind[Any]:
    """What the outputs of files are without a model: the first that there is such a format for."""
    from marginalia.corpus.items import known_suffix
    from marginalia.decode.structures import STRUCTURES
    from marginalia.kinds import kind_of

    if args.structure is not None:
        if args.structure not in STRUCTURES:
            hint = suggestion(args.structure, list(STRUCTURES))
            raise UsageError(f"--structure: found '{args.structure}'. {hint}")
        return kind_of(args.structure)
    format = args.format or known_suffix(args.gold)
    kinds = [kind_of(structure) for structure in STRUCTURES]
    return next((kind for kind in kinds if format in kind.reader.formats), kinds[0])


def _layout(kind: OutputKind[Any], args: argparse.Namespace, places: dict[str, str]) -> Layout:
    """How to read a gold file without a model."""
    from marginalia.corpus.items import guess_item_layout
    from marginalia.corpus.source import guess_layout

    options, format = given_options(vars(args)), kind.reader.format_name(args.gold, args.format)
    check_layout(kind.reader, format, args.columns, options)
    guess = guess_item_layout if kind.reader.items else guess_layout
    return guess(places[args.gold], format, args.columns, args.label, reader_arguments(options))


def show(args: argparse.Namespace, evaluated: Evaluated) -> None:
    """Print the outcome."""
    report, comparison, reliabilities, mistakes = evaluated
    pairs = [{"gold": c.gold, "predicted": c.predicted, "count": c.count} for c in report.confusion]
    if args.json:
        shown = report.to_json() | ({"confusion": pairs} if args.confusion else {})
        if comparison is not None:
            shown["comparison"] = comparison.to_json()
        if reliabilities:
            shown["reliability"] = {name: one.to_json() for name, one in reliabilities.items()}
        if mistakes is not None:
            shown["errors"] = mistakes.to_json()
        print(json.dumps(shown, ensure_ascii=False))
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
    if mistakes is not None:
        print(mistakes.to_text(args.test), end="")


def _check(args: argparse.Namespace) -> None:
    by_model, by_files = bool(args.model and args.test), bool(args.gold and args.pred)
    if by_model == by_files or (args.model and not by_model) or (by_model and (args.gold or args.pred)):
        raise UsageError("expected MODEL TEST, or --gold FILE --pred FILE. See marginalia eval --help.")
    if by_model and args.structure is not None:
        raise UsageError("--structure is for --gold FILE: a model knows what its outputs are.")
    if by_files and _wants_reliability(args):
        raise UsageError(
            "--reliability is for MODEL TEST: a file of predictions does not say how sure they are."
        )
    if by_files and args.errors:
        raise UsageError("--errors is for MODEL TEST: a file of predictions gives no reasons.")
    if by_files and (args.dictionary or args.constrain or args.constraints or args.hypotheses):
        raise UsageError("--dictionary, --constrain, --constraints and --hypotheses are for MODEL TEST.")
    if args.reliability_plot:
        from marginalia.cli.plot import check_plot

        check_plot(args.reliability_plot, args)
    if _of_treebanks(args):
        _check_treebanks(args)
    elif by_files and _same(args.gold, args.pred) and not args.label:
        raise UsageError("gold and predictions are the same file: say with --label which column is gold.")


def _wants_reliability(args: argparse.Namespace) -> bool:
    return bool(args.reliability or args.reliability_plot)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)
