"""`marginalia train`: labelled data in, a model file out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    probability,
    verb_parser,
    whole_number,
)
from marginalia.cli.output import check_output
from marginalia.cli.plan import Plan, make_plan
from marginalia.cli.progress import Notes, TrainingProgress
from marginalia.cli.reading import must_exist, seekable
from marginalia.cli.text import count, seconds, size
from marginalia.interrupts import stopping, uninterrupted

if TYPE_CHECKING:
    from marginalia.corpus.source import DataSource
    from marginalia.decode import TrainedModel
    from marginalia.learn.recipe import Recipe
    from marginalia.learn.training import TrainingRun
    from marginalia.model import SavedModel

_DESCRIPTION = """\
Train a model on labelled text. Data are column files (a token a line, blank lines between
sentences), CoNLL-U, JSON lines with spans, segmented text, or CRFsuite's item files with
attributes of your own; the label scheme (IOB2, IOBES…) is detected. A DATA argument that ends
in .toml is a recipe, a file with the same options; those given here override it. Ctrl-C stops
training and keeps the best model so far.

tasks: chunking, np, ner, pos, segmentation, segmentation-tags, fields (short strings, also the
default), and ud: a pipeline from raw text to words, tags, lemmas and trees, from a treebank in
CoNLL-U (docs/ud.md)."""

_EXAMPLES = """\
  marginalia train train.txt -o model.mg --task chunking --columns "word pos chunk" --dev dev.txt
  marginalia train train.jsonl -o names.mg --task ner --list places=places.txt
  marginalia train recipe.toml --seed 2
  marginalia train train.conllu --dev dev.conllu --task ud -o pipeline.mg
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "train", "learn a model from labelled text", _DESCRIPTION, _EXAMPLES)
    parser.add_argument(
        "data", nargs="*", metavar="DATA", help="training files or a recipe (.toml); - is stdin"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the model file to write (required)")
    parser.add_argument(
        "--dev", metavar="FILE", action="append", help="held-out data, to keep the best pass and stop early"
    )
    parser.add_argument("--task", metavar="NAME", help="defaults for a kind of work (default: fields)")
    parser.add_argument(
        "--structure",
        metavar="NAME",
        help="what an output is: chain, segments, single or candidates (default: chain, or as --start)",
    )
    parser.add_argument(
        "--features", metavar="NAME|FILE", help="a set or a template file (default: the task's)"
    )
    parser.add_argument(
        "--preset",
        metavar="NAME",
        help="fast, balanced (the default of tasks) or best: how much work the model is worth",
    )
    parser.add_argument(
        "--learner",
        metavar="NAME",
        help="perceptron, margin, nonlocal, pa, arow, maxent, crf, rules or rank-boost (default: as preset)",
    )
    parser.add_argument(
        "--global-features", metavar="NAME|FILE", help="nonlocal: a set or a file (default: nonlocal)"
    )
    parser.add_argument(
        "--global-function",
        metavar="MODULE:FUNCTION",
        action="append",
        help="nonlocal: a Python function of tokens and spans that names features; slow; may be repeated",
    )
    parser.add_argument(
        "--lowercase", metavar="FILE", help="nonlocal: words more often in lower case (marginalia casing)"
    )
    parser.add_argument(
        "--set",
        metavar="NAME=VALUE",
        type=name_and_value,
        action="append",
        help="a setting; --settings lists them",
    )
    add_tables(parser)
    parser.add_argument(
        "--start",
        metavar="MODEL",
        help="begin with a model's weights (with state=on: go on where it stopped)",
    )
    parser.add_argument(
        "--sample-weights", metavar="FILE", help="how much each example counts, a number a line"
    )
    _add_unlabelled(parser)
    parser.add_argument(
        "--folds",
        metavar="N",
        type=whole_number(2, 1000),
        help="cross-validate: train on all folds but one, N times; prints scores, writes no model",
    )
    parser.add_argument(
        "--parallel", metavar="HOW", help="mix: split the data over --threads models, average after each pass"
    )
    _add_pipeline_options(parser)
    parser.add_argument(
        "--write-recipe", metavar="FILE", help="write all that is set, also by default, as a recipe"
    )
    parser.add_argument("--seed", metavar="N", type=natural, help="seed of all that is random (default: 1)")
    add_threads(parser, "threads for whatever can be done side by side")
    add_reading(parser, "by suffix, .conllu and .jsonl; else columns, the last one is the label")
    parser.add_argument("--json", action="store_true", help="end with one JSON object instead of text")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.add_argument("--settings", action="store_true", help="list all settings of the --learner and exit")
    parser.set_defaults(run=run, take=added_to("data"))


def _add_unlabelled(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "to learn from unlabelled text, too (docs/self-training.md; needs --dev)"
    )
    group.add_argument(
        "--also-unlabelled", metavar="FILE", action="append", help="text; may be repeated, - is not for it"
    )
    group.add_argument(
        "--min-confidence",
        metavar="P",
        type=probability,
        help="take sentences whose labels are right with this probability (default: 0.99)",
    )
    group.add_argument("--unlabelled-format", metavar="NAME", help="of the text (default: as the data)")
    group.add_argument("--added", metavar="FILE", help="write the sentences that were taken")


def _add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for --task ud")
    group.add_argument(
        "--part", metavar="NAME", action="append", help="train only tokens, multiword, tags, lemmas or parser"
    )
    group.add_argument("--spaces", choices=("on", "off"), help="does the language put blanks between words?")
    group.add_argument(
        "--add",
        metavar="NAME=MODEL",
        type=name_and_value,
        action="append",
        help="add a model that labels words",
    )


def run(args: argparse.Namespace) -> int:
    """Run `marginalia train`; its exit code."""
    if args.settings:
        from marginalia.cli.settings import settings_text

        structure = args.structure or (_structure_of(args.start) if args.start else "chain")
        print(settings_text(structure, args.learner or "perceptron"), end="")
        return 0
    if args.folds:
        from marginalia.cli import folds

        return folds.run(args)
    plan = make_plan(args)
    if plan.task == "ud":
        from marginalia.cli import train_pipeline

        return train_pipeline.run(args, plan)
    if args.part or args.spaces or args.add:
        raise UsageError("--part, --spaces and --add are for --task ud.")
    _check_unlabelled(plan)
    must_exist([*plan.train, *plan.dev, *plan.also_unlabelled])
    check_output(plan.output, args, plan, model=True, may_replace=plan.start)
    if plan.added:
        check_output(plan.added, args, plan, stdout=False)
        if os.path.realpath(plan.added) == os.path.realpath(plan.output):
            raise UsageError("--added and --output name the same file.")
    if args.write_recipe:
        check_output(args.write_recipe, args, plan, stdout=False)
    ends = len(plan.train), len(plan.train) + len(plan.dev)
    asked = plan
    with seekable([*plan.train, *plan.dev, *plan.also_unlabelled]) as paths:
        say = Notes(sys.stderr, not args.quiet).say
        plan = replace(plan, also_unlabelled=paths[ends[1] :])
        training = prepare(plan, paths[: ends[0]], paths[ends[0] : ends[1]], say)
        interrupted = follow(training, args.quiet)
    with uninterrupted():
        model = training.model()
        model.save(plan.output)
    if args.write_recipe:
        _write_recipe(asked, training, args.write_recipe)
    if plan.added:
        from marginalia.learn.self_training import write_added

        assert training.self_training is not None, "--added goes with --also-unlabelled"
        write_added(plan.added, training.self_training)
    show = _json if args.json else _text
    show(training, model, plan.output, interrupted)
    return INTERRUPTED if interrupted else OK


def _write_recipe(plan: Plan, training: TrainingRun, path: str) -> None:
    from marginalia.cli.recipe_file import recipe_text
    from marginalia.corpus.streams import replacing

    with replacing(path) as file:
        file.write(recipe_text(plan, training.recipe, path).encode())


def _structure_of(model: str) -> str:
    from marginalia.kinds import load

    structure: str = load(model).saved.structure
    return structure


def _check_unlabelled(plan: Plan) -> None:
    if not plan.also_unlabelled:
        names = ("min_confidence", "unlabelled_format", "added")
        if given := [name for name in names if getattr(plan, name) is not None]:
            flag = given[0].replace("_", "-")
            raise UsageError(f"--{flag} goes with --also-unlabelled.")


def prepare(
    plan: Plan, train: list[str], dev: list[str], say: Callable[[str], object] = lambda line: None
) -> TrainingRun:
    """The run of a plan, data read and features extracted; `say` hears of first stages."""
    from marginalia import learn
    from marginalia.kinds import load
    from marginalia.learn.samples import read_sample_weights

    start = load(plan.start).saved if plan.start else None
    recipe, source = planned(plan, train, start)
    more: dict[str, Any] = {"threads": plan.threads, "start": start, "say": say}
    more["sample_weights"] = read_sample_weights(plan.sample_weights) if plan.sample_weights else None
    if plan.also_unlabelled:
        from marginalia.learn.self_training import Unlabelled, prepare_self_training

        least = 0.99 if plan.min_confidence is None else plan.min_confidence
        text = Unlabelled(plan.also_unlabelled, least, plan.unlabelled_format)
        return prepare_self_training(source, dev or None, recipe, text, **more)
    return learn.prepare(source, dev or None, recipe, **more)


def planned(plan: Plan, train: list[str], start: SavedModel | None = None) -> tuple[Recipe, DataSource]:
    """The recipe of a plan, and its data."""
    from marginalia import learn
    from marginalia.corpus.source import DataSource
    from marginalia.features.dictionary import Dictionary
    from marginalia.learn.recipe import GlobalChoice

    recipe = learn.recipe_with(
        start,
        plan.task,
        structure=plan.structure,
        features=plan.features,
        learner=plan.learner,
        preset=plan.preset,
        seed=plan.seed,
        lists=plan.lists,
        clusters=plan.clusters,
        lexicons=plan.lexicons,
        dictionary=Dictionary.read(*plan.dictionary) if plan.dictionary else None,
        global_choice=GlobalChoice(plan.global_features, tuple(plan.global_function), plan.lowercase),
        settings=plan.settings,
    )
    return recipe, DataSource(train, plan.columns, plan.label, plan.format, plan.options)


def follow(training: TrainingRun, quiet: bool) -> bool:
    """Train to the end and show it; whether Ctrl-C cut it short."""
    progress = TrainingProgress(sys.stderr, quiet)
    progress.begin(_reading(training))
    known = list(training.notes)
    with stopping() as stop:
        for record in training:
            progress.show(record)
            if stop():
                break
    progress.end()
    progress.begin(f"note: {note}" for note in training.notes if note not in known)
    if stop():
        Notes(sys.stderr).say("marginalia: interrupted; the best model so far is kept")
    return stop()


def _reading(training: TrainingRun) -> Iterator[str]:
    data, coder, kind = training.data, training.coder, training.kind
    parts = {kind.reader.noun: data.sentences, kind.reader.part_noun: data.tokens}
    read = [(number, noun) for noun, number in parts.items() if noun]
    read += [] if kind.known_labels else [(len(coder.labels), kind.label)]
    scheme = f"scheme {coder.scheme}" if coder.scheme else "plain tags"
    if coder.encoding != coder.scheme:
        scheme += f", trained as {coder.encoding}"
    yield (
        f"read {', '.join(count(*one) for one in read)}{f' ({scheme})' if kind.schemes else ''}, "
        f"{count(len(data.index), 'feature')} in {seconds(training.seconds)}"
    )
    yield from (f"note: {note}" for note in training.notes)


def summary(training: TrainingRun, model: TrainedModel, path: str, interrupted: bool) -> dict[str, Any]:
    """What `--json` prints."""
    arrays = model.saved.arrays
    passes = training.history
    found: dict[str, Any] = {
        "model": path,
        "size": os.path.getsize(path),
        "passes": len(passes),
        "seconds": round(training.seconds, 3),
        "sentences": training.data.sentences,
        "tokens": training.data.tokens,
        "features": len(training.data.index),
        "used_features": model.saved.features,
        "weights": int(arrays["weights"].size + arrays["constants"].size),
        "labels": list(model.labels),
        "label_count": len(model.labels),
        "scheme": training.coder.scheme,
        "nonzero_weights": int((arrays["weights"] != 0).sum() + (arrays["constants"] != 0).sum()),
        "training_error": passes[-1].error if passes else None,
        "loss": passes[-1].loss if passes else None,
        "rounds": _rounds(training),
        "diagnostics": model.saved.diagnostics,
        "interrupted": interrupted,
        "notes": training.notes,
    }
    if training.self_training is not None:
        found["self_training"] = training.self_training.to_json()
    if training.report is not None:
        found["dev"] = training.report.headline()
        found["dev"]["best_pass"] = max((r.number for r in passes if r.best), default=None)
    return found


def _rounds(training: TrainingRun) -> list[dict[str, Any]]:
    """What each round of boosting came to; nothing without boosting."""
    names = ("round", "confidence", "bound", "dev", "best")
    over = (record.to_json() for record in training.history if record.round_weight is not None)
    return [{name: record[name] for name in names} for record in over]


def _json(training: TrainingRun, model: TrainedModel, path: str, interrupted: bool) -> None:
    print(json.dumps(summary(training, model, path, interrupted), ensure_ascii=False))


def _text(training: TrainingRun, model: TrainedModel, path: str, interrupted: bool) -> None:
    found = summary(training, model, path, interrupted)
    if training.report is not None:
        dev = found["dev"]
        print(f"best on dev: {training.report.summary()} (pass {dev['best_pass']})")
    passes = "1 pass" if found["passes"] == 1 else f"{found['passes']} passes"
    if rounds := found["rounds"]:
        bound = next(r["bound"] for r in reversed(rounds) if r["best"])
        passes += f" ({count(len(rounds), 'round')}; wrong in training at most {100 * bound:.3g}%)"
    print(f"trained {passes} in {seconds(found['seconds'])}: {count(found['weights'], 'weight')}")
    print(f"saved {path} ({size(found['size'])}). Next:")
    print(f"  marginalia tag {path} INPUT -o OUTPUT")
    print(f"  marginalia eval {path} TEST")
