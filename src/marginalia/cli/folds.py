"""`marginalia train --folds N`: cross-validation, with the mean and the deviation of all scores."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from marginalia.cli.arguments import INTERRUPTED, OK, UsageError
from marginalia.cli.plan import Plan, make_plan
from marginalia.cli.progress import Bar, Notes
from marginalia.cli.reading import must_exist, seekable
from marginalia.interrupts import stopping

if TYPE_CHECKING:
    from marginalia.learn.cross_validation import FoldScores

_REFUSED = ("output", "dev", "start", "sample_weights", "also_unlabelled")


def run(args: argparse.Namespace) -> int:
    """Cross-validate as `train` was asked to; the exit code."""
    plan = make_plan(args, saves=False)
    _check(args, plan)
    must_exist(plan.train)
    with seekable(plan.train) as paths, stopping() as stop:
        found = fold_scores(plan, paths, args.folds, args.quiet, stop)
        interrupted = stop()
    if found is None:
        raise KeyboardInterrupt
    if args.json:
        print(json.dumps({**found.to_json(), "interrupted": interrupted}, ensure_ascii=False))
    else:
        print("\n".join(lines(found)))
    return INTERRUPTED if interrupted else OK


def _check(args: argparse.Namespace, plan: Plan) -> None:
    if plan.task == "ud" or args.part or args.spaces or args.add:
        raise UsageError("--folds is for single models, not for --task ud.")
    given = [name for name in _REFUSED if getattr(args, name)]
    if given:
        flag = given[0].replace("_", "-")
        raise UsageError(
            f"--folds and --{flag}: cross-validation holds out folds of DATA, and writes no model."
        )


def fold_scores(plan: Plan, paths: list[str], folds: int, quiet: bool, stop: object) -> FoldScores | None:
    """The scores of all folds, or of those that were done before Ctrl-C; None: there are none."""
    from marginalia.cli.train import planned
    from marginalia.learn.cross_validation import FoldScores, cross_validate

    bar, notes = Bar(sys.stderr, not quiet), Notes(sys.stderr, not quiet)
    recipe, source = planned(plan, paths)

    def draw(fold: int, done: float) -> None:
        bar.draw((fold - 1 + done) / folds, f"fold {fold}/{folds}", "")

    done = []
    for fold in cross_validate(
        source,
        recipe,
        folds,
        threads=plan.threads,
        on_progress=draw,
        stop=stop,  # type: ignore[arg-type]
    ):
        bar.clear()
        notes.say(f"fold {fold.number}/{folds}: {fold.report.summary()}")
        done.append(fold)
    bar.clear()
    return FoldScores.of(done) if done else None


def lines(scores: FoldScores) -> Iterator[str]:
    """The table: a line for each number, its mean, deviation, least and greatest value."""
    width = max(map(len, scores.means))
    yield f"{'':{width}}     mean  deviation  lowest  highest   ({len(scores.folds)} folds)"
    for name, mean in scores.means.items():
        own = scores.values(name)
        yield f"{name:{width}}  {mean:7.2f}  {scores.deviations[name]:9.2f}  {min(own):6.2f}  {max(own):7.2f}"
