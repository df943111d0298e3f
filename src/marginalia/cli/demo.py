"""`marginalia demo`: learn to label recipe ingredients in a few seconds, and show it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import resources
from typing import TYPE_CHECKING, cast

from marginalia.cli.arguments import Verbs, added_to, natural, verb_parser
from marginalia.cli.output import check_output
from marginalia.cli.text import BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, RED, YELLOW, Paint
from marginalia.cli.train import follow

if TYPE_CHECKING:
    from marginalia.decode import Tagged, Tagger
    from marginalia.kinds.kind import Scores
    from marginalia.learn import Training

_DESCRIPTION = """\
Train on the built-in corpus of recipe ingredients (what is quantity, unit, size, name, preparation,
comment?), print the score on its test part, and label lines that were never seen."""

_EXAMPLES = """\
  marginalia demo
  marginalia demo --save ingredients.mg
  marginalia demo "2 handfuls of rocket" "1 lemon, halved"
"""

COLOURS = {"QTY": CYAN, "UNIT": BLUE, "SIZE": MAGENTA, "NAME": GREEN, "PREP": YELLOW, "COMMENT": RED}
LINES = (
    "500g floury potatoes (about 4 medium), peeled and cut into wedges",
    "2 x 400g tins chickpeas, drained",
    "a good handful of fresh mint leaves, roughly torn",
    "½ tsp freshly grated nutmeg",
    "4 thick slices sourdough bread, toasted",
    "Flaky salt and black pepper, to taste",
)


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "demo", "see it work in a few seconds", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("lines", metavar="LINE", nargs="*", help="lines to label (default: six of ours)")
    parser.add_argument("--save", metavar="FILE", help="keep the model (default: it is thrown away)")
    parser.add_argument(
        "--seed", metavar="N", type=natural, default=1, help="seed of the shuffling (default: 1)"
    )
    parser.add_argument("--no-color", action="store_true", help="no colours (also: NO_COLOR=1)")
    parser.set_defaults(run=run, take=added_to("lines"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia demo`; its exit code."""
    if args.save:
        check_output(args.save, args, model=True)
    with corpus_parts() as (train, dev, test):
        print("Learning to label recipe ingredients from a built-in corpus of our own.", flush=True)
        training = prepare(train, dev, args.seed)
        interrupted = follow(training, quiet=False)
        tagger = cast("Tagger", training.model())
        print("\nOn the test part, lines it never saw:")
        print(score(tagger, test).to_text().partition("most frequent confusions")[0])
    paint = Paint(sys.stdout, not args.no_color)
    print("\n".join(_shown(label_lines(tagger, args.lines or LINES), paint)))
    if args.save:
        tagger.save(args.save)
    print("\n" + "\n".join(_next(args.save)))
    return 130 if interrupted else 0


@contextmanager
def corpus_parts() -> Iterator[list[str]]:
    """Paths of the built-in corpus: train, dev, test."""
    folder = resources.files("marginalia") / "data" / "ingredients"
    with ExitStack() as stack:
        parts = (folder / f"{name}.txt" for name in ("train", "dev", "test"))
        yield [str(stack.enter_context(resources.as_file(part))) for part in parts]


def prepare(train: str, dev: str, seed: int) -> Training:
    """The training run of the demo."""
    from marginalia import learn
    from marginalia.corpus.source import DataSource

    source = DataSource(train, "word label", options={"separator": "\t"})
    return learn.prepare(source, dev, learn.make_recipe("fields", preset="fast", seed=seed))


def score(tagger: Tagger, path: str) -> Scores:
    """How good the model is on a file of the corpus."""
    from marginalia.corpus.batches import Layout
    from marginalia.kinds import evaluation, kind_of

    saved = tagger.saved
    layout = Layout(saved.format, saved.columns, saved.label, saved.options)
    kind = kind_of(saved.structure)
    return evaluation.evaluate_model(kind, tagger, path, layout, evaluation.Evaluation()).report


def label_lines(tagger: Tagger, lines: Sequence[str]) -> list[Tagged]:
    """Raw lines, cut into tokens and labelled."""
    from marginalia.corpus.tokenizers import fields

    tokens = ([line[start:end] for start, end in fields(line)] for line in lines)
    return tagger.tag_all([words for words in tokens if words])


def _shown(sentences: Sequence[Tagged], paint: Paint) -> Iterator[str]:
    yield "Labelled: " + "  ".join(paint(name, colour, BOLD) for name, colour in COLOURS.items())
    for sentence in sentences:
        yield "  " + _spans(sentence, paint)


def _spans(sentence: Tagged, paint: Paint) -> str:
    parts, done = [], 0
    for span in sentence.spans:
        parts += [paint(token, DIM) for token in sentence.tokens[done : span.start]]
        words = " ".join(sentence.tokens[span.start : span.end])
        parts.append(paint(words, COLOURS[span.label]) if paint.on else f"[{words} {span.label}]")
        done = span.end
    return " ".join(parts + [paint(token, DIM) for token in sentence.tokens[done:]])


def _next(saved: str | None) -> Iterator[str]:
    yield "What to try next:"
    if saved is None:
        yield "  marginalia demo --save ingredients.mg"
        saved = "ingredients.mg"
    yield f"  echo '2 cups finely chopped onions' | marginalia tag {saved} --format plain --tokenizer fields"
    yield f"  marginalia inspect {saved} --top 5"
    yield "  marginalia train YOUR-DATA.txt -o model.mg     # a token and its label a line"
