"""`marginalia readability`: how hard texts are, which of two is easier, and models of what teachers say."""

from __future__ import annotations

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import FAILED, OK, UsageError, Verbs, added_to, verb_parser
from marginalia.cli.output import check_output
from marginalia.cli.plot import check_plot, plot_curve
from marginalia.cli.reading import STDIN, must_exist

if TYPE_CHECKING:
    from marginalia.assist.readability import Comparison, ReadabilityModel, TextScore
    from marginalia.assist.readability.answers import Evaluation

_HARD = 30  # sentences from here on are explained
LANGUAGES, LEVELS = ("en", "ja"), ("beginner", "intermediate", "advanced")
LEARNERS = ("arow", "margin", "pa", "perceptron", "maxent", "rank-boost")
_DESCRIPTION = """\
How difficult texts are, from 0 (easy) to 100 (hard), with a school grade, the classic formulas, and
the hardest sentences with reasons. --compare says which of two texts or paraphrases is easier.
--train makes a model of the answers that teachers gave to a questionnaire, and evaluates it by
ten-fold cross-validation; --reader uses it instead of the model that ships.

Texts are .txt, .html and .docx files, folders of them, or standard input (-)."""

_EXAMPLES = """\
  marginalia readability story.txt
  marginalia readability --compare before.txt after.txt --json
  marginalia readability - --level beginner --at-most 40 < story.txt
  marginalia readability --train ratings.jsonl -o reader.mg --plot curve.svg
  marginalia readability story.txt --reader reader.mg

exit codes: 0; 1 a text is more difficult than --at-most says, or an error; 2 a wrong command line
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "readability", "say how hard texts are, and why", _DESCRIPTION, _EXAMPLES)
    parser.set_defaults(take=added_to("text"), run=run)
    parser.add_argument(
        "text", metavar="TEXT", nargs="*", default=[], help="files or folders; - is standard input"
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--compare", metavar="TEXT", nargs=2, help="which of two texts is easier")
    what.add_argument("--train", metavar="RATINGS", help="learn a model from a file of teachers' answers")
    parser.add_argument("-o", "--output", metavar="MODEL", help="of --train: the file of the model")
    parser.add_argument("--learner", choices=LEARNERS, default="arow", help="of --train (default: arow)")
    parser.add_argument(
        "--precision", metavar="SHARE", type=_share, default=0.95,
        help="of --train: what θ is chosen for (default: 0.95)",
    )  # fmt: skip
    parser.add_argument("--plot", metavar="FILE", help="of --train: the curve of precision and recall")
    parser.add_argument("--reader", metavar="MODEL", help="a model of --train in place of the one that ships")
    parser.add_argument("--lang", choices=LANGUAGES, default="", help="default: by the script")
    parser.add_argument(
        "--level", choices=LEVELS, help="kind of readers (default: intermediate; of --train: all answers)"
    )
    parser.add_argument(
        "--at-most", metavar="N", type=_number, help="exit code 1 if a text is more difficult"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object instead of text")


def _share(text: str) -> float:
    number = float(text)
    if not 0 < number <= 1:
        raise argparse.ArgumentTypeError(f"found {text}, expected a number above 0, at most 1")
    return number


def _number(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 100:
        raise argparse.ArgumentTypeError(f"found {text}, expected a number from 0 to 100")
    return number


def run(args: argparse.Namespace) -> int:
    """The verb."""
    _check(args)
    if args.train:
        return train(args)
    return compare(args) if args.compare else score(args)


def _check(args: argparse.Namespace) -> None:
    """An error for options that go with another task."""
    of_train = [name for name in ("output", "plot") if getattr(args, name)]
    if not args.train and of_train:
        raise UsageError(f"--{of_train[0]} goes with --train.")
    if (args.train or args.compare) and (args.text or args.at_most is not None):
        raise UsageError(f"found {args.text[0] if args.text else '--at-most'} with --train or --compare.")
    if args.train and (not args.output or args.reader):
        raise UsageError("--train needs -o MODEL, and takes no --reader.")
    files = [name for name in (*args.text, args.reader) if name and not os.path.isdir(name)]
    must_exist([*files, *(args.compare or ()), *filter(None, [args.train])])
    if args.train:
        check_output(args.output, args, model=True)
    if args.plot:
        check_plot(args.plot, args, "--plot")


def _model(args: argparse.Namespace) -> ReadabilityModel | None:
    from marginalia.assist.readability import load_model

    return load_model(args.reader) if args.reader else None


def score(args: argparse.Namespace) -> int:
    """Texts one by one."""
    from marginalia.assist.readability import score as scored
    from marginalia.assist.sources import read_sources

    model, found = _model(args), []
    for source in read_sources(args.text or [STDIN]):
        text = "\n\n".join(block.text for block in source.blocks)
        one = scored(text, language=args.lang, level=args.level or "intermediate", model=model)
        found.append((source.name, one))
    if args.json:
        rows = [{"name": name, **one.to_dict()} for name, one in found]
        print(json.dumps({"texts": rows}, ensure_ascii=False))
    else:
        print("\n".join(_text_of(name, one) for name, one in found))
    too_hard = args.at_most is not None and any(one.difficulty > args.at_most for _, one in found)
    return FAILED if too_hard else OK


def _text_of(name: str, found: TextScore) -> str:
    lines = [
        f"{name}: difficulty {found.difficulty:.0f} of 100, school grade {found.grade:.1f}, "
        f"{found.sentences} sentences",
        "  formulas: " + ", ".join(_formula(which, value) for which, value in found.formulas.items()),
        "  text: " + ", ".join(f"{which} {value:.2f}" for which, value in found.signals.items()),
        f"  hardest sentences for {found.level} readers:",
    ]
    for one in found.hardest:
        lines.append(f"    {one.difficulty:3.0f}  {one.number}. {one.text}")
        lines += [
            f"           {reason.text}" for reason in one.reasons[: 3 if one.difficulty >= _HARD else 0]
        ]
    return "\n".join(lines)


def _formula(name: str, value: float) -> str:
    from marginalia.assist.readability.formulas import jreadability_level

    meaning = f" ({jreadability_level(value)})" if name == "jreadability" else ""
    return f"{name} {value:.1f}{meaning}"


def compare(args: argparse.Namespace) -> int:
    """Two texts."""
    from marginalia.assist.readability import compare as compared
    from marginalia.assist.sources import read_source

    sources = [read_source(path) for path in args.compare]
    left, right = ("\n\n".join(block.text for block in source.blocks) for source in sources)
    found = compared(left, right, language=args.lang, model=_model(args))
    if args.json:
        print(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        print(_comparison_of(found, [source.name for source in sources]))
    return OK


def _comparison_of(found: Comparison, names: list[str]) -> str:
    easier = {"left": names[0], "right": names[1]}.get(found.verdict)
    verdict = "comparable" if easier is None else f"{easier} is easier"
    lines = [f"{verdict} (score {found.score:+.2f}, comparable below {found.threshold:.2f})"]
    for one in found.reasons:
        easier = names[0] if one.weight > 0 else names[1]
        lines.append(f"  {abs(one.weight):.2f} for {easier}: {names[one.side == 'right']} has: {one.text}")
    return "\n".join(lines)


def train(args: argparse.Namespace) -> int:
    """A model of answers."""
    from marginalia.assist.readability import read_answers
    from marginalia.assist.readability.answers import train_from_answers

    model, found = train_from_answers(
        read_answers(args.train),
        language=args.lang,
        level=args.level or "",
        learner=args.learner,
        precision=args.precision,
    )
    model.save(args.output)
    if args.plot:
        plot_curve(found.curve, args.plot, args.train)
    print(
        json.dumps(found.to_dict(), ensure_ascii=False) if args.json else _evaluation_of(found, args.output)
    )
    return OK


def _evaluation_of(found: Evaluation, path: str) -> str:
    lines = [
        f"{path}: {found.answers} answers of {found.raters} raters, {found.pairs} pairs that differ, "
        f"mean agreement {found.agreement:.2f}",
        f"ten folds by question, {found.counted} pairs with |D| of 0.5 or more and agreement of 0.9 or more:",
        f"  precision {found.precision:.3f}, recall {found.recall:.3f} at θ {found.threshold:.3f}; "
        f"accuracy {found.accuracy:.3f} at θ 0",
    ]
    if found.curve:
        lines += ["  θ      precision  recall", *(_point(one) for one in found.curve)]
    lines.append(f"ask next, where the model is least sure: {', '.join(found.ask_next)}")
    return "\n".join(lines)


def _point(point: Any) -> str:
    return f"  {point.threshold:.3f}  {point.precision:9.3f}  {point.recall:6.3f}"
