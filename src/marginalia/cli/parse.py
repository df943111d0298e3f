"""`marginalia parse`: raw text in, words, tags, lemmas and trees out."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError, Verbs, add_threads, added_to, at_least_one, verb_parser
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.reading import STDIN, must_exist
from marginalia.corpus.streams import partial_name
from marginalia.errors import ModelError
from marginalia.interrupts import uninterrupted

if TYPE_CHECKING:
    from marginalia.corpus.document import Document, ParsedSentence
    from marginalia.decode.pipeline import Pipeline

FORMATS = ("conllu", "tree", "json", "html", "svg")

_DESCRIPTION = """\
Turn raw text into CoNLL-U: sentences, words with their place in the text, tags, lemmas and trees, as
far as the model has parts for them. MODEL is a file that `train --task ud` made, or the name of a
built-in model (see marginalia models). Blank lines end paragraphs. With --given the input is CoNLL-U
whose sentences and words stay as they are, with comments, MISC, empty nodes and enhanced dependencies.
Memory does not grow with the input. After Ctrl-C what was parsed is in FILE.partial."""

_EXAMPLES = """\
  marginalia parse en.mg story.txt -o story.conllu
  marginalia parse en.mg test.conllu --given tokens,tags -o parsed.conllu
  marginalia parse en --text "She said that the house they bought was old." --to tree
  zcat news.txt.gz | marginalia parse en.mg --buffer --threads 2 | gzip > news.conllu.gz
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "parse", "raw text to words, tags and trees", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a model file, or the name of a built-in model")
    parser.add_argument("input", metavar="INPUT", nargs="*", help="text files; default: -, standard input")
    parser.add_argument("-o", "--output", metavar="FILE", default=STDIN, help="default: -, standard output")
    parser.add_argument("--text", metavar="TEXT", help="a text, instead of files")
    parser.add_argument(
        "--given",
        metavar="NAMES",
        help="the input is CoNLL-U: keep its tokens, or tokens,tags (also lemmas, trees), predict the rest",
    )
    parser.add_argument("--to", choices=FORMATS, default="conllu", help="what to write (default: conllu)")
    parser.add_argument("--nbest", metavar="K", type=at_least_one, help="the K best trees of each sentence")
    parser.add_argument("--ranges", action="store_true", help="conllu: TokenRange=start:end in MISC")
    parser.add_argument(
        "--confidence",
        action="store_true",
        help="how probable tags and arcs are, in MISC (needs a model that marginalia calibrate made)",
    )
    parser.add_argument(
        "--buffer",
        action="store_true",
        help="from a pipe: much at a time, which is faster in all (default: a paragraph or sentence at once)",
    )
    add_threads(parser, "threads; the output does not depend on them")
    parser.set_defaults(run=run, take=added_to("input"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia parse`; its exit code."""
    inputs = args.input or [STDIN]
    _check(args)
    must_exist([] if args.text is not None else inputs)
    check_output(args.output, args)
    if args.output != STDIN:
        check_output(partial_name(args.output), args)
    pipeline = load_pipeline(args.model)
    with opened_target(args.output, keep_partial=True) as target:
        for piece in pieces(args, pipeline, inputs):
            with uninterrupted():
                target.write(piece.encode())
                if args.output == STDIN:
                    target.flush()
    return 0


def load_pipeline(name: str) -> Pipeline:
    """The pipeline of a file or a name."""
    from marginalia.decode.pipeline import Pipeline
    from marginalia.kinds import load

    model = load(name)
    if not isinstance(model, Pipeline):
        raise ModelError(f"{name}: this model labels tokens: use marginalia tag. A pipeline is what "
                         "marginalia train --task ud makes.")  # fmt: skip
    return model


def pieces(args: argparse.Namespace, pipeline: Pipeline, inputs: Iterable[str]) -> Iterator[str]:
    """The output, piece by piece."""
    documents = _documents(args, pipeline, inputs)
    if args.to == "conllu":
        for document in documents:
            if not args.given and args.ranges:
                document.mark_spaces(ranges=True, start=getattr(document, "start", 0))
            yield document.to_conllu()
            _release(document)
        return
    from marginalia.corpus.rendering import render

    yield from render((sentence for document in documents for sentence in _placed(document)), args.to)


def _release(document: Document) -> None:
    """Words and sentences know each other: apart, they are gone at once, so that long streams need no more
    memory than short ones."""
    for sentence in document.sentences:
        sentence.words.clear()
        sentence.multiword.clear()


def _placed(document: Any) -> list[ParsedSentence]:
    """Sentences with their places in the whole text, of which the document may be a part."""
    start = getattr(document, "start", 0)
    for sentence in document.sentences if start else ():
        sentence.start += start
        for row in (*sentence.words, *sentence.multiword):
            row.start, row.end = row.start + start, row.end + start
    sentences: list[ParsedSentence] = document.sentences
    return sentences


def _documents(args: argparse.Namespace, pipeline: Pipeline, inputs: Iterable[str]) -> Iterator[Any]:
    """Documents, or parts of large ones, in their order."""
    from marginalia.corpus.raw_text import PART

    sources: Iterable[Any] = inputs if args.text is None else [io.StringIO(args.text)]
    for source in sources:
        at_once = _at_once(source, args)
        threads = 1 if at_once else args.threads or 1
        if args.given:
            found: Iterator[Document] = _given(pipeline, source, args, threads)
        else:
            part = 0 if at_once else PART
            found = pipeline.parse_parts(source, threads, part, confidence=args.confidence)
        for document in found:
            yield from _ranked(document, args.nbest) if args.nbest else [document]


def _given(pipeline: Pipeline, source: Any, args: argparse.Namespace, threads: int) -> Iterator[Document]:
    """CoNLL-U with all that was not given, a few sentences at a time."""
    from marginalia.corpus.document_reader import iterate_conllu
    from marginalia.decode.pipeline import ParsedDocument

    batch: list[ParsedSentence] = []
    given = [name.strip() for name in args.given.split(",")]
    sentences = iterate_conllu(source, strict="trees" in given)
    at_once = _at_once(source, args)
    groups = ([one] for one in sentences) if at_once else [sentences]
    annotated = (pipeline.annotate(group, given, threads, confidence=args.confidence) for group in groups)
    for sentence in chain.from_iterable(annotated):
        batch.append(sentence)
        if at_once or len(batch) == 100:
            yield ParsedDocument(batch, "", pipeline)
            batch = []
    if batch:
        yield ParsedDocument(batch, "", pipeline)


def _at_once(source: Any, args: argparse.Namespace) -> bool:
    """Whether somebody may wait for each answer."""
    from marginalia.corpus.streams import is_piped

    return not args.buffer and is_piped(source)


def _ranked(document: Any, k: int) -> Iterator[Document]:
    """Sentence by sentence its k best trees, one behind the other."""
    ranked = document.nbest(k)
    if ranked:
        sentences = [one for group in zip(*(list(r.sentences) for r in ranked), strict=True) for one in group]
        document.sentences[:] = sentences
    yield document


def _check(args: argparse.Namespace) -> None:
    if args.text is not None and (args.input or args.given):
        raise UsageError("--text is raw text: it does not go with INPUT and --given.")
    if args.ranges and (args.given or args.to != "conllu"):
        raise UsageError("--ranges is for CoNLL-U of raw text.")
