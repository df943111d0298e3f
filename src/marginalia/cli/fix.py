"""`marginalia fix`: correct a model by example, see what that changes, and take it back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import (
    INTERRUPTED,
    OK,
    UsageError,
    Verbs,
    add_reading,
    add_threads,
    at_least_one,
    natural,
    verb_parser,
)
from marginalia.cli.dispatch import opened, pipeline_of
from marginalia.cli.explain import file_sentence, text_sentence
from marginalia.cli.fix_report import correction_title, ending, report_lines
from marginalia.cli.layouts import model_layout
from marginalia.cli.output import check_output
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import count
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.corpus.source import DataSource
    from marginalia.learn import CorrectionReport
    from marginalia.model.corrections import Correction
    from marginalia.trainable import ClassModel, Model

    AnyModel = Model | ClassModel

_DESCRIPTION = """\
Correct a model: change its weights, as little as possible, until it labels an example as it should,
and keep it right in later corrections. TEXT is one sentence, --labels says what is right; or --input
names a file of labelled examples, which shall all be right. The report says which weights changed,
and which sentences of --check are labelled otherwise now. Without -o nothing is written: a trial.
Every correction can be undone, the last one first, bit for bit. With --passes the examples are
learned as in training instead: on and on from where the model stopped, without a promise.
Of a pipeline (train --task ud) the examples are sentences of CoNLL-U, right in tags, trees or both."""

_EXAMPLES = """\
  marginalia fix model.mg "He/PRP reckons/VBZ so/RB" --labels "B-NP B-VP B-ADVP" --check dev.txt
  marginalia fix model.mg --input corrected.txt -o model.mg
  marginalia fix model.mg --undo -o model.mg
  marginalia fix en.mg --input right.conllu --sentence 2 -o en.mg
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "fix", "correct a model by example", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="a sentence (default: see --input)")
    parser.add_argument(
        "--labels",
        metavar="WHAT",
        help="what is right: all labels; or a label, 3=B-NP, or a span, 3-5=NP, and the best of the rest",
    )
    parser.add_argument("--input", metavar="FILE", help="labelled examples (-: standard input)")
    parser.add_argument("--sentence", metavar="N", type=natural, help="only this one of the file, from 1 on")
    parser.add_argument(
        "--part",
        metavar="NAME",
        action="append",
        help="pipelines: correct this part alone, tags or parser; may be repeated (default: all that the "
        "sentences are right for)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the model file to write (may be MODEL)")
    parser.add_argument("--check", metavar="FILE", help="labelled data: what of them is labelled otherwise?")
    parser.add_argument(
        "--margin",
        metavar="M",
        type=float,
        default=1.0,
        help="lead of the right output over all others, in typical weights (default: 1)",
    )
    parser.add_argument(
        "--passes", metavar="N", type=at_least_one, help="learn the examples in N passes, as in training"
    )
    parser.add_argument("--undo", action="store_true", help="take the last correction back")
    parser.add_argument("--log", action="store_true", help="list the corrections that the model has")
    parser.add_argument("--top", metavar="N", type=natural, default=10, help="changes to list (default: 10)")
    add_threads(parser, "threads that check")
    add_reading(parser, "as the model's training data")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.set_defaults(run=run, take=take)


def take(args: argparse.Namespace, word: str) -> bool:
    """What stands behind options is the text, if there was none."""
    free = args.text is None
    args.text = word if free else args.text
    return free


def run(args: argparse.Namespace) -> int:
    """Run `marginalia fix`; its exit code."""
    from marginalia.trainable import trainable

    _check(args)
    if (pipeline := pipeline_of(args.model)) is not None:
        from marginalia.cli.fix_pipeline import fix_pipeline
        from marginalia.trainable_pipeline import PipelineModel

        fix_pipeline(PipelineModel.of(pipeline), args)
        return 0
    if args.part:
        raise UsageError("--part is for pipelines.")
    tagger = trainable(lambda: opened("fix", args)[0])()
    if args.log:
        _show_log(args, tagger.corrections)
    elif args.undo:
        _undo(args, tagger)
    elif args.passes is not None:
        return _train(args, tagger)
    else:
        _correct(args, tagger)
    return 0


def _check(args: argparse.Namespace) -> None:
    given = (args.text, args.input, args.labels, args.sentence, args.check, args.passes, args.part)
    if args.log or args.undo:
        if (args.log and args.undo) or any(option is not None for option in given):
            raise UsageError("--log and --undo stand alone: they take no examples.")
        if args.log and args.output:
            raise UsageError("--log writes no model.")
    elif (args.text is None) == (args.input is None):
        raise UsageError("expected a TEXT to correct, or --input FILE.")
    elif args.passes is not None and (args.text or args.labels or args.sentence or args.check):
        raise UsageError("--passes learns all examples of --input FILE, and nothing else.")
    elif args.passes is not None and args.output is None:
        raise UsageError("--passes needs -o FILE.")
    elif args.text is not None and args.labels is None:
        raise UsageError("expected --labels: how shall TEXT be labelled?")
    elif args.text is not None and args.sentence is not None:
        raise UsageError("--sentence is for --input FILE.")
    elif args.labels is not None and args.input is not None and args.sentence is None:
        raise UsageError("--labels are those of one sentence: add --sentence N.")
    elif args.sentence == 0:
        raise UsageError("--sentence: found 0, expected a number from 1 on.")
    files = [path for path in (args.input, args.check) if path is not None]
    must_exist(files)
    if args.output is not None:
        check_output(args.output, args, model=True, may_replace=args.model)


def _correct(args: argparse.Namespace, tagger: AnyModel) -> None:
    from marginalia.kinds import kind_of
    from marginalia.learn import fixed
    from marginalia.model import save

    with seekable([path for path in (args.input, args.check) if path is not None]) as paths:
        places = iter(paths)
        if args.input is not None:
            args.input = next(places)
        examples = _examples(args, tagger)
        check = None if args.check is None else _source(args, tagger, next(places))
        saved, report = fixed(tagger, examples, margin=args.margin, check=check, threads=args.threads or 1)
    if args.output is not None:
        save(saved, args.output)
    _show(args, report, kind_of(saved.structure).reader.noun)


def _examples(args: argparse.Namespace, tagger: AnyModel) -> DataSource:
    from marginalia.corpus.blocks import ATTRIBUTES, pack
    from marginalia.corpus.records import Sentence
    from marginalia.corpus.source import DataSource
    from marginalia.kinds import kind_of

    label, kind = tagger.saved.label, kind_of(tagger.saved.structure)
    if args.labels is not None:
        by_text = args.input is None
        given = text_sentence(kind, tagger, args) if by_text else file_sentence(tagger, args).columns
        columns: dict[str, list[Any]] = {name: list(given[name]) for name in tagger.feature_columns}
        if not any(columns.get(ATTRIBUTES, [True])):
            raise DataError(
                f"sentence {args.sentence}: found no attributes, expected some behind a tab: what stands "
                "before the first one is the label, which may be empty",
                file=args.input,
            )
        right, size = tagger.target_labels(columns, args.labels), len(columns[tagger.feature_columns[0]])
        if len(right) != size:
            raise DataError(f"--labels: found {len(right)} labels, expected {size}, one for each token")
        return DataSource([Sentence(columns | {label: list(right)})], label=label, items=kind.reader.items)
    source = _source(args, tagger, args.input)
    if args.sentence is None:
        return source
    found = next(islice(_sentences(source), args.sentence - 1, None), None)
    if found is None:
        raise DataError(f"found no sentence {args.sentence}", file=args.input)
    return replace(source, held=(pack([found], file=args.input),))


def _sentences(source: DataSource) -> Iterator[Any]:
    for block in source.blocks():
        yield from source.units(block).sentences()


def _source(args: argparse.Namespace, tagger: AnyModel, path: str) -> DataSource:
    """A labelled file, in memory."""
    from marginalia.corpus.source import DataSource
    from marginalia.kinds.labelled import labelled_batches

    layout = model_layout(tagger.saved, args, path)
    batches = labelled_batches(path, layout, tagger)
    blocks = [batch.block for batch in batches if batch.block.table.tokens]
    return DataSource.of_file(path, layout, blocks)


def _undo(args: argparse.Namespace, tagger: AnyModel) -> None:
    last = tagger.corrections[-1:]
    before = tagger.undo()
    if args.output is not None:
        before.save(args.output)
    if args.json:
        undone = [correction.to_json() for correction in last]
        print(json.dumps({"model": args.model, "output": args.output, "undone": undone}, ensure_ascii=False))
        return
    print(f"undone: {correction_title(last[0])}")
    print(f"{count(len(before.saved.corrections), 'correction')} left")
    print(ending(args, ""))


def _train(args: argparse.Namespace, tagger: AnyModel) -> int:
    from marginalia.cli.train import follow
    from marginalia.corpus.source import DataSource
    from marginalia.learn import continued

    layout = model_layout(tagger.saved, args, args.input)
    with seekable([args.input]) as [path]:
        training = continued(
            tagger.saved,
            DataSource.of_file(path, layout),
            passes=args.passes,
            threads=args.threads or 1,
        )
        interrupted = follow(training, args.quiet)
        training.model().save(args.output)
    records = [{"number": r.number, "mistakes": r.mistakes, "error": r.error} for r in training.history]
    if args.json:
        print(json.dumps({"model": args.model, "output": args.output, "passes": records}, ensure_ascii=False))
    else:
        print(f"went on for {len(records)} {'pass' if len(records) == 1 else 'passes'}")
        print(f"saved {args.output}")
    return INTERRUPTED if interrupted else OK


def _show_log(args: argparse.Namespace, corrections: Sequence[Correction]) -> None:
    if args.json:
        listed = [correction.to_json() for correction in corrections]
        print(json.dumps({"model": args.model, "corrections": listed}, ensure_ascii=False))
        return
    for correction in corrections:
        print(f"{correction.number}. {correction_title(correction)}")
    if not corrections:
        print("no corrections")


def _show(args: argparse.Namespace, report: CorrectionReport, example: str) -> None:
    """Print the report; `example`: what one is called."""
    if args.json:
        told = {"model": args.model, "output": args.output} | report.to_json()
        print(json.dumps(told, ensure_ascii=False))
        return
    print("\n".join(report_lines(report, args.top, example)))
    print(ending(args, f". Undo: marginalia fix {args.output} --undo -o {args.output}"))
