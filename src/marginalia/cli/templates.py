"""`marginalia templates`: labelled data in, a template file out, with the combinations that rules live on."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from marginalia.cli.arguments import (
    INTERRUPTED,
    OK,
    UsageError,
    Verbs,
    add_reading,
    add_tables,
    add_threads,
    added_to,
    name_and_value,
    natural,
    percentage,
    verb_parser,
)
from marginalia.cli.output import check_output, opened_target
from marginalia.cli.plan import make_plan
from marginalia.cli.progress import Notes
from marginalia.cli.reading import STDIN, must_exist, seekable
from marginalia.cli.text import count

if TYPE_CHECKING:
    from marginalia.model import SavedModel
    from marginalia.model.proposed_templates import Proposal

_DESCRIPTION = """\
Which features shall I use? Learn boosted rules (docs/rules.md) over single attributes, and see which
combinations of attributes they live on. The output is a template file for any other learner: the
templates that were given, and the combinations with the largest share of the gain (of what the rules
took from the loss). After Ctrl-C it tells what the rules so far say."""

_EXAMPLES = """\
  marginalia templates train.txt --from rules --features iwakura-chunking -o set.txt
  marginalia train train.txt --features set.txt --learner crf -o model.mg
  marginalia templates train.txt --from rules --set size=3 --top 40 --min-share 0.2
  marginalia templates --from rules.mg -o set.txt
"""

_RULES = 2000  # of a label: shares are steady long before a model is


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "templates", "propose feature templates from rules", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("data", nargs="*", metavar="DATA", help="training files or a recipe; - is stdin")
    parser.add_argument(
        "--from",
        metavar="rules|MODEL",
        dest="source",
        default="rules",
        help="learn rules, or take those of a model (default: rules)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", default=STDIN, help="default: -, standard output")
    parser.add_argument(
        "--top", metavar="N", type=natural, default=20, help="combinations, at most (default: 20)"
    )
    parser.add_argument(
        "--min-share",
        metavar="PERCENT",
        type=percentage,
        default=0.1,
        help="only combinations with so much of the gain (default: 0.1)",
    )
    parser.add_argument("--task", metavar="NAME", help="defaults for a kind of work (default: fields)")
    parser.add_argument("--structure", metavar="NAME", help="chain or single (default: the task's)")
    parser.add_argument(
        "--features",
        metavar="NAME|FILE",
        help="the attributes: a set or a template file (default: the task's)",
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=name_and_value,
        action="append",
        help=f"a setting of rules (train --learner rules --settings); here rules={_RULES}",
    )
    add_tables(parser)
    parser.add_argument("--seed", metavar="N", type=natural, help="seed of all that is random (default: 1)")
    add_threads(parser, "threads; the templates do not depend on them")
    add_reading(parser, "by suffix, .conllu and .jsonl; else columns, the last one is the label")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=added_to("data"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia templates`; its exit code."""
    saved, interrupted = _learned(args) if args.source == "rules" else (_loaded(args), False)
    text = "".join(f"{line}\n" for line in template_lines(saved, args.top, args.min_share / 100))
    with opened_target(args.output) as target:
        target.write(text.encode())
    if args.output != STDIN:
        Notes(sys.stderr, not args.quiet).say(f"{args.output}: use it with train --features {args.output}")
    return INTERRUPTED if interrupted else OK


def _loaded(args: argparse.Namespace) -> SavedModel:
    from marginalia.kinds import load

    if args.data:
        raise UsageError("found data and a model: expected DATA with --from rules, or --from MODEL alone.")
    must_exist([args.source])
    check_output(args.output, args)
    saved: SavedModel = load(args.source).saved
    return saved


def _learned(args: argparse.Namespace) -> tuple[SavedModel, bool]:
    """A model of rules, and whether Ctrl-C cut it short."""
    from marginalia.cli.train import follow, prepare

    args.learner = "rules"
    plan = make_plan(args)
    if plan.task == "ud":
        raise UsageError("--task ud trains a pipeline: expected a task of one model.")
    plan.settings.setdefault("rules", _RULES)
    must_exist([*plan.train, *plan.dev])
    check_output(args.output, args, plan)
    with seekable([*plan.train, *plan.dev]) as paths:
        say = Notes(sys.stderr, not args.quiet).say
        training = prepare(plan, paths[: len(plan.train)], paths[len(plan.train) :], say)
        interrupted = follow(training, args.quiet)
    saved: SavedModel = training.model().saved
    return saved, interrupted


def template_lines(saved: SavedModel, top: int, least: float) -> Iterator[str]:
    """The template file: `top` new combinations at most, with at least this share of the gain."""
    from marginalia.model.proposed_templates import needed_tables, proposed_templates
    from marginalia.model.rules_part import PREFIX

    found = proposed_templates(saved)
    chosen = [one for one in found.new if one.share >= least][:top]
    rules = count(len(saved.arrays[PREFIX + "keys"]) - 1, "combination")
    yield f"# Templates from rules: of {rules} of atoms, the share of the gain of each template."
    if tables := needed_tables(saved):
        yield f"# It needs {' '.join(tables)}."
    yield from _section("the templates that were given", found.given)
    yield from _section("combinations of them", chosen)
    if rest := sum(one.share for one in found.new) - sum(one.share for one in chosen):
        yield f"# combinations that were left out: {rest:.2%}"
    for one in [one for one in found.unwritten if one.share >= least][:top]:
        yield f"# no template says: {one.template} ({one.share:.2%})"


def _section(title: str, proposals: Iterable[Proposal]) -> Iterator[str]:
    listed = list(proposals)
    if listed:
        yield f"# {title}: {sum(one.share for one in listed):.2%}"
    for one in listed:
        yield f"{one.template}  # {one.share:.2%}"
