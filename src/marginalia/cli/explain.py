"""`marginalia explain`: why a sentence is labelled as it is."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import (
    UsageError,
    Verbs,
    add_reading,
    add_threads,
    natural,
    taken_as,
    verb_parser,
)
from marginalia.cli.constraints import add_constraints, constraints_of
from marginalia.cli.dictionaries import add_dictionary, with_dictionaries
from marginalia.cli.dispatch import opened, pipeline_of
from marginalia.cli.explain_words import add_words, check_no_words, explain_arc, explain_in_pipeline
from marginalia.cli.hypotheses import add_hypotheses, with_hypotheses
from marginalia.cli.layouts import input_layout, model_layout
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.reading import READER_OPTIONS, must_exist
from marginalia.cli.text import Paint
from marginalia.errors import DataError

_BLOCK_BYTES = 1 << 15  # some hundred sentences: explanations are long

if TYPE_CHECKING:
    from marginalia.corpus.batches import Layout
    from marginalia.corpus.blocks import Block
    from marginalia.corpus.records import Sentence
    from marginalia.decode import Explanation, Tagger
    from marginalia.decode.answering import LabelModel
    from marginalia.decode.constraints import Constraints
    from marginalia.kinds import OutputKind
    from marginalia.model.provenance import Citation

_DESCRIPTION = """\
Say why a model labels a sentence as it does: what its choice has in score over another output,
split over features, transitions and phrase lists, in words, the largest part first. The parts
sum to the difference. The other output is the runner-up, or what --against names. TEXT is one
sentence; if the model needs more columns than words, tokens are written word/pos. Of a pipeline
(train --task ud) or a parser, why words have their tags and heads: TEXT is raw text then."""

_EXAMPLES = """\
  marginalia explain model.mg "He/PRP reckons/VBZ so/RB"
  marginalia explain model.mg --input test.txt --sentence 3 --against 2-4=NP --html why.html
  marginalia explain model.mg --input test.txt --cite 3 --training train.txt
  marginalia explain en "She said that the house was old." --word 5 --part parser --against 3
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "explain", "say why a sentence is labelled so", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file")
    parser.add_argument("text", metavar="TEXT", nargs="?", help="a sentence (default: see --input)")
    parser.add_argument("--input", metavar="FILE", help="take the sentence from a file (-: standard input)")
    parser.add_argument(
        "--sentence", metavar="N", type=natural, help="which sentence of the file, from 1 on (default: 1)"
    )
    parser.add_argument("--all", action="store_true", help="all sentences of the file, one after another")
    add_words(parser)
    parser.add_argument(
        "--against",
        metavar="WHAT",
        help="another output: all its labels; or the best one with a label, 3=B-NP, or a span, 3-5=NP, "
        "or without, 3!=B-NP (default: the runner-up); with --word: a tag, or an arc 3:obj, 3 or :obj",
    )
    add_hypotheses(parser)
    add_constraints(parser)
    parser.add_argument("--top", metavar="N", type=natural, default=20, help="how many reasons (default: 20)")
    parser.add_argument(
        "--cite", metavar="N", type=natural, default=0, help="name N training examples that taught a reason"
    )
    parser.add_argument(
        "--training", metavar="FILE", action="append", default=[], help="with --cite: files to quote from"
    )
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object (a line for each sentence) instead of text"
    )
    parser.add_argument("--html", metavar="FILE", help="write a page instead of text (-: standard output)")
    parser.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")
    add_threads(parser, "with --all: how many processes; the output does not depend on them")
    add_dictionary(parser)
    add_reading(parser, "as the model's training data", unlabelled=True)
    parser.set_defaults(run=run, take=taken_as("text", None))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia explain`; its exit code."""
    _check(args)
    if (pipeline := pipeline_of(args.model)) is not None:
        explain_in_pipeline(pipeline, args)
        return 0
    tagger, kind = opened("explain", args)
    if kind.name == "trees":
        by_text = args.input is None
        sentence = text_sentence(kind, tagger, args) if by_text else file_sentence(tagger, args)
        explain_arc(tagger, sentence, args)
        return 0
    check_no_words(args)
    tagger = with_hypotheses(tagger, args)
    layout = input_layout(tagger.saved, args, args.input) if args.input is not None else None
    tagger = with_dictionaries(tagger, args, layout)
    if layout is not None and args.all:
        _explain_all(tagger, args, layout)
        return 0
    if layout is not None and _of_documents(tagger) and args.against is None:
        explanation = _in_document(tagger, args, layout)
    else:
        sentence = text_sentence(kind, tagger, args) if layout is None else file_sentence(tagger, args)
        if layout is not None and _of_documents(tagger):
            print("marginalia: note: with --against, without the rest of its document", file=sys.stderr)
        explanation = tagger.explain(sentence, args.against, cite=args.cite, constraints=_constraints(args))
    if args.training:
        explanation = _quoted(explanation, tagger, args)
    _show(explanation, args)
    return 0


def _of_documents(tagger: Tagger) -> bool:
    """Whether what the model says of a sentence depends on others of its document."""
    return tagger.saved.program.of_documents or bool(tagger.saved.first)


def _in_document(tagger: Tagger, args: argparse.Namespace, layout: Layout) -> Explanation:
    """A sentence of a file, with the rest of its document in view."""
    from marginalia.corpus.batches import Batch
    from marginalia.corpus.blocks import pack

    number, before = args.sentence or 1, 0
    for block in _blocks(tagger, args.input, layout):
        sentences = list(block.sentences())
        if number - before <= len(sentences):
            document = sentences[number - before - 1].document
            places = [i for i, one in enumerate(sentences, before + 1) if one.document == document]
            whole = pack([sentences[i - before - 1] for i in places], block.columns, block.file)
            options = {"cite": args.cite, "constraints": _constraints(args)}
            [(_, found)] = tagger.explain_batches([Batch(whole)], **options)
            return found[places.index(number)]
        before += len(sentences)
    raise DataError(f"found no sentence {number}", file=args.input)


def _explain_all(tagger: Tagger, args: argparse.Namespace, layout: Layout) -> None:
    """All that the model labels at once, one after another."""
    from marginalia.corpus.batches import Batch
    from marginalia.decode.explaining_batches import ExplainingTask, explain_in_order

    batches = (Batch(block) for block in _blocks(tagger, args.input, layout))
    task = ExplainingTask(args.against, args.cite, constraints_of(args), _rendering(args))
    first = True
    for _, found in explain_in_order(tagger, batches, task, args.threads or 1):
        for text in found:
            if not first and not args.json:
                print()
            print(text)
            first = False


def _constraints(args: argparse.Namespace) -> Constraints:
    """Those of the sentence, whatever its number in the file."""
    from marginalia.decode.constraints import Constraints

    given, number = constraints_of(args), args.sentence or 1
    return Constraints((*given.everywhere, *given.by_sentence.get(number, ())))


def _check(args: argparse.Namespace) -> None:
    if (args.text is None) == (args.input is None):
        raise UsageError("expected a TEXT to explain, or --input FILE.")
    if args.input is None and args.sentence is not None:
        raise UsageError("--sentence is for --input FILE.")
    if args.all and (args.input is None or args.sentence is not None):
        raise UsageError("--all is for --input FILE, without --sentence.")
    if args.all and (args.html is not None or args.training):
        raise UsageError("--all does not go with --html and --training.")
    if args.threads is not None and not args.all:
        raise UsageError("--threads is for --all.")
    if args.sentence == 0:
        raise UsageError("--sentence: found 0, expected a number from 1 on.")
    if args.training and not args.cite:
        raise UsageError("--training is for --cite N.")
    if args.html is not None and args.json:
        raise UsageError("found --html and --json, expected one of them.")
    must_exist([path for path in (args.input, *args.training) if path is not None])
    if args.html is not None:
        check_output(args.html, args)


def text_sentence(
    kind: OutputKind[Any], tagger: LabelModel, args: argparse.Namespace
) -> Mapping[str, Sequence[str]]:
    """The columns of an example that stands on the command line."""
    flags = ["--format", "--columns", "--label", *(o.flag for o in READER_OPTIONS if o.name != "tokenizer")]
    given = [f for f in flags if getattr(args, f.removeprefix("--").replace("-", "_")) is not None]
    if given:
        raise UsageError(f"{given[0]} is for --input FILE.")
    if tagger.saved.program.explicit:
        raise UsageError("the model was trained on explicit attributes: give an item file with --input FILE.")
    return kind.reader.text_input(tagger, args.text, args.tokenizer)


def file_sentence(tagger: LabelModel, args: argparse.Namespace) -> Sentence:
    """The sentence of a file that was asked for."""
    number = args.sentence or 1
    sentences = _sentences(tagger, args.input, input_layout(tagger.saved, args, args.input))
    found = next(islice(sentences, number - 1, None), None)
    if found is None:
        raise DataError(f"found no sentence {number}", file=args.input)
    return found


def _sentences(tagger: LabelModel, path: str, layout: Layout) -> Iterator[Sentence]:
    """What the model labels at once, one after another."""
    for block in _blocks(tagger, path, layout):
        yield from block.sentences()


def _blocks(tagger: LabelModel, path: str, layout: Layout) -> Iterator[Block]:
    """What the model labels at once, in blocks of many."""
    from marginalia.corpus.batches import read_batches
    from marginalia.corpus.settings import DataSettings
    from marginalia.kinds.labelled import named

    by_document = tagger.saved.settings_as(DataSettings).whole_documents
    for batch in read_batches(path, layout, block_bytes=_BLOCK_BYTES):
        if batch.block.table.tokens:
            block = named(batch, tagger).block
            yield block.by_document() if by_document else block


def _quoted(explanation: Explanation, tagger: Tagger, args: argparse.Namespace) -> Explanation:
    """With the texts of the cited examples that are in the training files at hand."""
    from marginalia.corpus.blocks import pack

    cited = {(c.file, c.number) for r in explanation.reasons[: args.top] for c in r.citations}
    texts: dict[tuple[str | None, int], str] = {}
    for path in args.training:
        name = os.path.basename(path)
        numbers = {number for file, number in cited if file == name}
        if not numbers:
            print(f"marginalia: note: {path}: no cited example is from a file of this name", file=sys.stderr)
            continue
        layout = model_layout(tagger.saved, args, path)
        for number, sentence in enumerate(islice(_sentences(tagger, path, layout), max(numbers)), 1):
            if number in numbers:
                texts[name, number] = " ".join(pack([sentence]).readable(tagger.feature_columns[0]))

    def text_of(citation: Citation) -> str | None:
        return texts.get((citation.file, citation.number))

    return explanation.quoting(text_of)


def _show(explanation: Explanation, args: argparse.Namespace) -> None:
    if args.html is not None:
        with opened_target(args.html) as target:
            target.write(explanation.to_html(args.top).encode())
    else:
        print(_rendering(args)(explanation))


def _rendering(args: argparse.Namespace) -> Callable[[Explanation], str]:
    """What makes a text of an explanation; other processes can do it, too."""
    if args.json:
        return partial(_as_json, model=args.model, top=args.top)
    return partial(_as_text, top=args.top, paint=Paint(sys.stdout, not args.no_color))


def _as_json(explanation: Explanation, model: str, top: int) -> str:
    return json.dumps({"model": model} | explanation.to_json(top), ensure_ascii=False)


def _as_text(explanation: Explanation, top: int, paint: Paint) -> str:
    from marginalia.decode.explanation_text import lines_of

    return "\n".join(lines_of(explanation, top, paint))
