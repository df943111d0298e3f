"""`marginalia check`: what labelled data are like, before anybody trains on them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

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
    verb_parser,
)
from marginalia.cli.plan import Plan, make_plan
from marginalia.cli.progress import Bar
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import count
from marginalia.interrupts import stopping

if TYPE_CHECKING:
    from marginalia.learn.data_check import DataCheck, FileCheck, Named, Place, Suspect

_DESCRIPTION = """\
What is a labelled data set like? Sizes and lengths of each file, words that the first file does not
have, sentences that are there twice or in two files, labels, rare ones, labels that the scheme does
not allow, tokens with the same neighbours and different labels, and, by cross-validation, sentences
whose labels models of the rest of the data do not believe: likely mistakes, the likeliest first."""

_EXAMPLES = """\
  marginalia check train.txt dev.txt test.txt --columns "word pos chunk" --task chunking
  marginalia check train.jsonl --task ner --folds 10 --top 50
  marginalia check train.txt --folds 0 --json
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(
        verbs, "check", "what a data set is like, and its likely mistakes", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument(
        "data", nargs="*", metavar="DATA", help="labelled files, the training data first; - is stdin"
    )
    parser.add_argument(
        "--folds", metavar="N", type=natural, default=5, help="of cross-validation; 0: none (default: 5)"
    )
    parser.add_argument(
        "--top", metavar="N", type=natural, default=10, help="items of each list (default: 10)"
    )
    parser.add_argument(
        "--task", metavar="NAME", help="the models of cross-validation: defaults of a task (default: fields)"
    )
    parser.add_argument("--structure", metavar="NAME", help="their structure (default: the task's)")
    parser.add_argument("--features", metavar="NAME|FILE", help="their features (default: the task's)")
    parser.add_argument("--learner", metavar="NAME", help="their learner (default: perceptron)")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", type=name_and_value, action="append", help="a setting of theirs"
    )
    add_tables(parser)
    parser.add_argument("--seed", metavar="N", type=natural, help="seed of all that is random (default: 1)")
    add_threads(parser, "threads for whatever can be done side by side")
    add_reading(parser, "by suffix, .conllu and .jsonl; else columns, the last one is the label")
    parser.add_argument("--json", action="store_true", help="print one JSON object with complete lists")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=added_to("data"))


def run(args: argparse.Namespace) -> int:
    """Run `marginalia check`; its exit code."""
    from marginalia.learn.data_check import check_data

    plan = make_plan(args, saves=False)
    if plan.task == "ud":
        raise UsageError(
            "--task ud: expected a task of one model; name the column with --label, such as upos."
        )
    if args.folds == 1:
        raise UsageError("--folds: found 1, expected 0 or at least 2.")
    must_exist(plan.train)
    with seekable(plan.train) as paths, stopping() as stop:
        sources = _sources(plan, paths)
        found = check_data(sources)
        doubted = _doubted(args, plan, sources, stop) if args.folds else []
        interrupted = stop()
    if args.json:
        print(json.dumps(_values(found, doubted), ensure_ascii=False))
    else:
        print("\n".join(_lines(found, doubted, args)))
    return INTERRUPTED if interrupted else OK


def _sources(plan: Plan, paths: Sequence[str]) -> list[Named]:
    from marginalia.cli.train import planned
    from marginalia.learn.preparing import training_source

    recipe, source = planned(plan, list(paths))
    source = training_source(source, recipe, None)
    files = zip(plan.train, paths, strict=True)
    return [(name, replace(source.like([path]), format=source.format)) for name, path in files]


def _doubted(args: argparse.Namespace, plan: Plan, sources: list[Named], stop: Any) -> list[Suspect]:
    from marginalia.cli.train import planned
    from marginalia.learn.data_check import suspects

    bar = Bar(sys.stderr, not args.quiet)

    def draw(fold: int, done: float) -> None:
        bar.draw((fold - 1 + done) / args.folds, f"fold {fold}/{args.folds}", "")

    recipe = planned(plan, [])[0]
    found = suspects(sources, recipe, args.folds, threads=plan.threads, on_progress=draw, stop=stop)
    bar.clear()
    return found


def _values(found: DataCheck, doubted: Sequence[Suspect]) -> dict[str, Any]:
    values: dict[str, Any] = _plain(found)
    return values | {"rare": found.rare, "suspects": _plain(doubted)}


def _plain(value: Any) -> Any:
    """Records as JSON has them, each with the names of its fields."""
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if hasattr(value, "_asdict"):
        return value._asdict()
    return [_plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def _lines(found: DataCheck, doubted: Sequence[Suspect], args: argparse.Namespace) -> Iterator[str]:
    yield from map(_file_line, found.files)
    scheme = f"scheme {found.scheme}" if found.scheme else "plain tags"
    yield f"{count(len(found.labels), 'label')} ({scheme}): {_counts(found.spans or found.labels, args.top)}"
    if found.rare:
        yield f"rare labels, seen less than 5 times: {_counts(found.rare, args.top)}"
    yield from _section(f"labels that {found.scheme} does not allow", len(found.illegal), args.top)
    for one in found.illegal[: args.top]:
        yield f"  {_place(one.place)}: {one.why}"
    torn = found.contradictions
    yield from _section("tokens with the same neighbours and different labels", len(torn), args.top)
    for contradiction in torn[: args.top]:
        yield f"  {' '.join(filter(None, contradiction.context))}"
        for label, number in contradiction.labels.items():
            yield f"    {label} {number}x, first at {_place(contradiction.places[label])}"
    if args.folds:
        yield from _section("sentences whose labels are doubted", len(doubted), args.top)
        for suspect in doubted[: args.top]:
            yield from _suspect_lines(suspect)


def _section(title: str, number: int, top: int) -> Iterator[str]:
    some = f", the first {top}" if number > top else ""
    yield f"{title}: {number or 'none'}{some}"


def _file_line(file: FileCheck) -> str:
    least, median, most, greatest = file.lengths
    parts = [f"{count(file.sentences, 'sentence')}, {count(file.tokens, 'token')}"]
    parts += [count(file.documents, "document")] if file.documents > 1 else []
    parts.append(f"lengths {least} to {greatest} (median {median}, 95% up to {most})")
    if file.unseen is not None:
        parts.append(f"{file.unseen / max(file.tokens, 1):.1%} of its words are not in the first file")
    parts += [f"{count(file.repeated, 'sentence')} repeated"] if file.repeated else []
    parts += [f"{count(file.shared, 'sentence')} also in files before"] if file.shared else []
    return f"{file.file}: {'; '.join(parts)}"


def _counts(counts: dict[str, int], top: int) -> str:
    listed = [f"{name} {number:,}" for name, number in list(counts.items())[:top]]
    return ", ".join(listed) + (f", and {len(counts) - top} more" if len(counts) > top else "")


def _place(place: Place) -> str:
    line = f":{place.line}" if place.line else ""
    return f"{place.file}{line}, token {place.token}"


def _suspect_lines(suspect: Suspect) -> Iterator[str]:
    least = "at least " if suspect.at_least else ""
    yield f"  {_place(suspect.place)}: {suspect.place.text} (difference {least}{suspect.difference:.1f})"
    for token in suspect.tokens:
        yield f"    {token.number} {token.word}: {token.gold}, a model says {token.predicted}"
