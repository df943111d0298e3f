"""What `marginalia explain` shows of pipelines and parsers: why words have their tags and heads."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError, natural
from marginalia.cli.text import BOLD, Paint
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence
    from marginalia.corpus.words import Word
    from marginalia.decode import Parser
    from marginalia.decode.inputs import Input
    from marginalia.decode.pipeline import Pipeline
    from marginalia.decode.tree_explaining import ArcExplanation

_OTHERS = (
    *("all", "html", "cite", "training", "hypotheses", "constrain", "constraints", "dictionary"),
    *("format", "columns", "label", "separator", "comments", "tokenizer", "misaligned"),
    *("tag_separator", "tag_column"),
)
_WORD = "--word", "--part", "--given"


def add_words(parser: argparse.ArgumentParser) -> None:
    """Options that say which word is explained, and by what."""
    parser.add_argument(
        "--word",
        metavar="N",
        type=natural,
        help="pipelines and parsers: why this word has what it has, from 1 on (default: all words)",
    )
    parser.add_argument(
        "--part", metavar="NAME", help="pipelines: what this part says of it (default: what all parts do)"
    )
    parser.add_argument(
        "--given",
        metavar="NAMES",
        help="pipelines: --input is CoNLL-U of which tokens, or tokens,tags, stay (default: it is raw text)",
    )


def check_no_words(args: argparse.Namespace) -> None:
    """An error for options of pipelines and parsers."""
    for flag in _WORD:
        if getattr(args, flag.removeprefix("--")) is not None:
            raise UsageError(f"{flag} is for pipelines{' and parsers' * (flag == '--word')}.")


def explain_in_pipeline(pipeline: Pipeline, args: argparse.Namespace) -> None:
    """Parse a sentence and print why its words have what they have."""
    if refused := [name for name in _OTHERS if getattr(args, name, None)]:
        raise UsageError(f"--{refused[0].replace('_', '-')} is not for pipelines.")
    if args.given is not None and args.input is None:
        raise UsageError("--given is for CoNLL-U: --input FILE.")
    if args.against is not None and (args.word is None or args.part is None):
        raise UsageError("--against: say of which word and part: --word N --part NAME.")
    number = args.sentence or 1
    found = next(islice(_sentences(pipeline, args, number), number - 1, None), None)
    if found is None:
        raise DataError(f"found no sentence {number}", file=args.input)
    explained = list(_explained(pipeline, found, args))
    if args.json:
        words = [_word_json(word, parts, args.top) for word, parts in explained]
        told = {"model": args.model, "sentence": found.text, "words": words}
        print(json.dumps(told, ensure_ascii=False))
        return
    print("\n".join(_lines(explained, args.top, Paint(sys.stdout, not args.no_color))))


def explain_arc(parser: Parser, sentence: Input, args: argparse.Namespace) -> None:
    """Print why a word of a sentence has its head, or all of them have theirs."""
    if args.part is not None or args.given is not None:
        raise UsageError(f"{'--given' if args.part is None else '--part'} is for pipelines.")
    if args.against is not None and args.word is None:
        raise UsageError("--against: say of which word: --word N.")
    from marginalia.decode.pipeline.explaining import arc_of

    head, label = arc_of(args.against)
    size = len(parser.parse(sentence).tokens)
    numbers = range(1, size + 1) if args.word is None else [_checked(args.word, size)]
    if size == 1:
        raise DataError("a single word has one head only: there is nothing to compare with")
    for number in numbers:
        found = parser.explain(sentence, number, head=head, label=label)
        print(_arc_json(found, args) if args.json else found.to_text(args.top), end="\n" * args.json)


def _arc_json(found: ArcExplanation, args: argparse.Namespace) -> str:
    return json.dumps({"model": args.model} | found.to_json(args.top), ensure_ascii=False)


def _sentences(pipeline: Pipeline, args: argparse.Namespace, number: int) -> Iterator[ParsedSentence]:
    """Parsed sentences; of CoNLL-U only the one with this number is parsed."""
    if args.given is None:
        source = io.StringIO(args.text) if args.input is None else args.input
        for document in pipeline.parse_parts(source):
            yield from document.sentences
        return
    from marginalia.corpus.document_reader import iterate_conllu
    from marginalia.decode.pipeline.pipeline import check_given

    given = [name.strip() for name in args.given.split(",")]
    check_given(given)
    for count, sentence in enumerate(iterate_conllu(args.input), 1):
        yield from pipeline.annotate([sentence], given) if count == number else [sentence]


def _explained(
    pipeline: Pipeline, sentence: ParsedSentence, args: argparse.Namespace
) -> Iterator[tuple[Word, dict[str, Any]]]:
    from marginalia.decode.pipeline.explaining import explain_word

    words: Sequence[Word] = sentence.words
    if args.word is not None:
        words = [words[_checked(args.word, len(words)) - 1]]
    for word in words:
        yield word, explain_word(pipeline.annotator, word, args.part, args.against)


def _checked(word: int, size: int) -> int:
    if not 1 <= word <= size:
        raise DataError(f"--word: found {word}, expected a word of the sentence, from 1 to {size}")
    return word


def _word_json(word: Word, parts: dict[str, Any], top: int) -> dict[str, Any]:
    told = {name: one.to_json(top) for name, one in parts.items()}
    return {"number": word.id, "form": word.form, "parts": told}


def _lines(explained: list[tuple[Word, dict[str, Any]]], top: int, paint: Paint) -> Iterator[str]:
    for place, (word, parts) in enumerate(explained):
        yield from ["", ""] if place else []
        yield paint(f"word {word.id}, {word.form}: {word.upos} {word.deprel} of {word.head}", BOLD)
        for name, one in parts.items():
            yield from ("", paint(f"part {name}", BOLD), one.to_text(top).rstrip("\n"))
