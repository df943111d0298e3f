"""`marginalia rerank`: a base model in, the same model with a re-ranker of its best outputs out."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import (
    INTERRUPTED,
    OK,
    UsageError,
    Verbs,
    add_threads,
    added_to,
    name_and_value,
    natural,
    verb_parser,
    whole_number,
)
from marginalia.cli.output import check_output
from marginalia.cli.progress import Bar, Notes
from marginalia.cli.reading import must_exist
from marginalia.cli.text import count, seconds, size
from marginalia.cli.train import follow
from marginalia.interrupts import stopping

if TYPE_CHECKING:
    from marginalia.corpus.candidates import CandidateArrays
    from marginalia.decode.model import TrainedModel
    from marginalia.learn.cross_decoding import FoldProgress, Hypotheses
    from marginalia.learn.recipe import Recipe
    from marginalia.learn.reranking import Reranking, RerankingOptions
    from marginalia.learn.training import Training

RETRAINING = "nonlocal"  # the learner that learns local features again
_DESCRIPTION = """\
Train a second model that chooses among the best outputs of a base model by global features: of
whole names, of what stands around them, of what else the output says. The training data are cut
into folds; for each, a model of the base model's recipe is trained on the others and gives its
best outputs (cross-decoding), so that they are as good and as bad as those of new text. These are
kept in the folder OUTPUT.hypotheses: a run that was stopped goes on there, and another learner
begins with them. The result is one model file, which tags like any other.

learners: rank-boost, perceptron, margin, pa, arow, maxent, crf (docs/candidates.md), which weigh
the base model's score and global features; and nonlocal, which learns weights of local features
again, together with those of global ones (docs/rerank.md)."""

_EXAMPLES = """\
  marginalia rerank train.txt --base base.mg --dev dev.txt --learner rank-boost -o reranked.mg
  marginalia rerank train.txt --base base.mg --dev dev.txt --learner perceptron \\
      --set average=vote --set base-scale=auto -o reranked.mg
  marginalia rerank train.txt --base base.mg --dev dev.txt --global-features nonlocal -o reranked.mg
  marginalia rerank train.txt --base base.mg --dev dev.txt --learner nonlocal -o reranked.mg
  marginalia tag reranked.mg new.txt --hypotheses 100
"""


def add_parser(verbs: Verbs) -> None:
    """Declare the verb."""
    parser = verb_parser(verbs, "rerank", "choose among a model's best outputs", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("data", nargs="+", metavar="DATA", help="the training files of the base model")
    parser.add_argument("--base", metavar="MODEL", required=True, help="the base model")
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the model file to write")
    parser.add_argument(
        "--dev", metavar="FILE", action="append", help="held-out data, to choose the best pass or round"
    )
    parser.add_argument("--learner", metavar="NAME", default="rank-boost", help="default: rank-boost")
    parser.add_argument(
        "--set", metavar="NAME=VALUE", type=name_and_value, action="append", help="a setting of the learner"
    )
    parser.add_argument(
        "--hypotheses",
        metavar="N",
        type=whole_number(2, 10_000),
        default=20,
        help="outputs a unit (default: 20)",
    )
    parser.add_argument(
        "--folds", metavar="N", type=whole_number(2, 1000), default=5, help="parts of the data (default: 5)"
    )
    parser.add_argument(
        "--global-features",
        metavar="NAME|FILE",
        help="a set or a file (default: collins-reranking, of segmented text words-reranking; of nonlocal: "
        "nonlocal)",
    )
    parser.add_argument(
        "--global-function",
        metavar="MODULE:FUNCTION",
        action="append",
        default=[],
        help="a Python function of tokens and spans that names features; slow; may be repeated",
    )
    parser.add_argument(
        "--lowercase", metavar="FILE", help="words more often in lower case (marginalia casing)"
    )
    parser.add_argument(
        "--loss",
        metavar="WHAT",
        help="what a candidate loses: wrong tags or spans (default: tags); not of nonlocal",
    )
    parser.add_argument("--seed", metavar="N", type=natural, default=1, help="seed of all that is random")
    add_threads(parser, "folds at once; the result does not depend on them", "all cores")
    parser.add_argument("--json", action="store_true", help="end with one JSON object instead of text")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    parser.set_defaults(run=run, take=added_to("data"))


def run(args: argparse.Namespace) -> int:
    """Re-rank: cross-decode, extract features, train, save."""
    from marginalia.kinds import load
    from marginalia.learn.cross_decoding import Stopped
    from marginalia.learn.reranking import Reranking

    dev = args.dev or []
    must_exist([*args.data, *dev, args.base])
    check_output(args.output, args, model=True)
    base = load(args.base)
    way = (OfLocalFeatures if args.learner == RETRAINING else OfCandidates)(args, base)
    options = way.options()
    reranking, recipe = Reranking(base, options), way.recipe(options)
    if unknown := reranking.check(dev):
        Notes(sys.stderr).say(f"marginalia: {unknown}: it counts as wrong whatever is chosen")
    try:
        found = _cross_decoded(reranking, args)
        training = way.prepared(reranking, recipe, found)
    except (Stopped, KeyboardInterrupt):
        Notes(sys.stderr).say(
            f"marginalia: interrupted; finished folds are kept in {_cache(args)}, where the same command "
            "goes on"
        )
        return INTERRUPTED
    interrupted = follow(training, args.quiet)
    model = way.model(reranking, training)
    model.save(args.output)
    _show(args, training, _dev_scores(base, model, dev), way.choice(training), interrupted)
    return INTERRUPTED if interrupted else OK


class OfCandidates:
    """Learners that weigh the base model's score and global features of its outputs."""

    def __init__(self, args: argparse.Namespace, base: TrainedModel) -> None:
        self._args, self._base = args, base

    @property
    def features(self) -> str:
        """The usual set: of names, or of words if those are what the base model finds."""
        from marginalia.kinds.sentences import finds_words

        return "words-reranking" if finds_words(self._base.saved) else "collins-reranking"

    def options(self) -> RerankingOptions:
        """What hypotheses and global features are to be."""
        from marginalia.learn.reranking import RerankingOptions

        args = self._args
        more = (
            args.global_features or self.features,
            args.global_function,
            args.lowercase,
            args.loss or "tags",
        )
        return RerankingOptions(args.hypotheses, args.folds, *more)

    def recipe(self, options: RerankingOptions) -> Recipe:
        """How the second model is trained."""
        from marginalia.learn.reranking import SCALED, reranking_recipe

        args = self._args
        settings = dict(args.set or ())
        if args.dev and args.learner in SCALED:
            settings.setdefault("base-scale", "auto")
        return reranking_recipe(args.learner, args.seed, settings)

    def prepared(self, reranking: Reranking, recipe: Recipe, hypotheses: list[Hypotheses]) -> Training:
        """The run over hypotheses of the training data, about to begin."""
        args = self._args
        train, held_out = _candidates(
            reranking, hypotheses, args.dev or [], Notes(sys.stderr, not args.quiet)
        )
        return reranking.prepared(train, held_out, recipe, args.threads or 1)

    def model(self, reranking: Reranking, training: Training) -> TrainedModel:
        """The base model with what the run learned."""
        return reranking.model(training)

    def choice(self, training: Training) -> dict[str, Any] | None:
        """How well candidates of held-out data are chosen, if there are any."""
        return None if training.report is None else dict(training.report.to_json())


class OfLocalFeatures(OfCandidates):
    """The learner that learns weights of local features again, with those of global ones."""

    @property
    def features(self) -> str:
        """Those of documents."""
        return "nonlocal"

    def options(self) -> RerankingOptions:
        """There is no other loss than gold."""
        if self._args.loss is not None:
            raise UsageError(
                f"--loss is for learners of candidates: {RETRAINING} compares outputs with gold."
            )
        return super().options()

    def recipe(self, options: RerankingOptions) -> Recipe:
        """That of the base model, with another learner."""
        from marginalia.learn.recipe import GlobalChoice
        from marginalia.learn.retraining import retraining_recipe

        args = self._args
        choice = GlobalChoice(options.features, options.functions, options.lowercase)
        settings = dict(args.set or ())
        return retraining_recipe(self._base.saved, choice, options.hypotheses, args.seed, settings)

    def prepared(self, reranking: Reranking, recipe: Recipe, hypotheses: list[Hypotheses]) -> Training:
        """The run over hypotheses, with the data that they are of."""
        from marginalia.learn.retraining import prepared

        args = self._args
        listed = (args.dev, reranking.dev_hypotheses(args.dev)) if args.dev else None
        return prepared(self._base, args.data, hypotheses, listed, recipe, args.threads or 1)

    def model(self, reranking: Reranking, training: Training) -> TrainedModel:
        """Both sets of weights in one model."""
        from marginalia.learn.retraining import retrained

        return retrained(self._base, training)

    def choice(self, training: Training) -> dict[str, Any] | None:
        """There are no candidates."""
        return None


def _cache(args: argparse.Namespace) -> str:
    return f"{args.output}.hypotheses"


def _cross_decoded(reranking: Reranking, args: argparse.Namespace) -> list[Hypotheses]:
    with stopping() as stop:
        progress = FoldBar(args.folds, args.quiet)
        try:
            return reranking.hypotheses(
                args.data,
                cache=_cache(args),
                threads=args.threads or os.cpu_count() or 1,
                on_progress=progress.show,
                stop=stop,
            )
        finally:
            progress.end()


class FoldBar:
    """One bar for all folds, and a line for each that is done."""

    def __init__(self, folds: int, quiet: bool) -> None:
        self._bar, self._notes = Bar(sys.stderr, not quiet), Notes(sys.stderr, not quiet)
        self._done = [0.0] * folds

    def show(self, progress: FoldProgress) -> None:
        """Draw one record."""
        before, now = self._done[progress.fold], 1.0 if progress.done is None else progress.done
        self._done[progress.fold] = now
        self._bar.draw(sum(self._done) / len(self._done), "cross-decoding", "")
        if now == 1.0 and before < 1.0:
            kept = " (kept from before)" if progress.done is None else ""
            self._bar.clear()
            self._notes.say(f"fold {progress.fold + 1}/{progress.folds}{kept}")

    def end(self) -> None:
        """Take the bar away."""
        self._bar.clear()


def _candidates(
    reranking: Reranking, found: list[Hypotheses], dev: list[str], notes: Notes
) -> tuple[CandidateArrays, CandidateArrays | None]:
    train = reranking.candidates(found, grow=True)
    notes.say(
        f"{count(len(train.lengths), 'unit')} with {count(len(train.ends), 'candidate')}, "
        f"{count(len(train.names), 'global feature')}"
    )
    if not dev:
        return train, None
    return train, reranking.candidates(reranking.dev_hypotheses(dev), grow=False)


def _dev_scores(base: Any, model: Any, dev: list[str]) -> dict[str, Any]:
    """What base model and re-ranked model score on held-out data."""
    if not dev:
        return {}
    from marginalia.corpus.batches import Batch
    from marginalia.corpus.source import DataSource
    from marginalia.kinds import kind_of
    from marginalia.learn import source_for

    source = source_for(base.saved, DataSource(dev))
    batches = [Batch(block) for block in source.blocks()]
    kind = kind_of(base.saved.structure)
    models = {"base": base, "reranked": model}
    return {name: kind.evaluate(one, batches, source.layout.label) for name, one in models.items()}


def _show(
    args: argparse.Namespace,
    training: Training,
    dev: dict[str, Any],
    choice: dict[str, Any] | None,
    interrupted: bool,
) -> None:
    if args.json:
        found = {
            "model": args.output,
            "size": os.path.getsize(args.output),
            "learner": args.learner,
            "seconds": round(training.seconds, 3),
            "hypotheses": args.hypotheses,
            "folds": args.folds,
            "passes": len(training.history),
            "features": len(training.data.index),
            "dev": {name: report.headline() for name, report in dev.items()},
            "candidates": choice,
            "interrupted": interrupted,
            "notes": training.notes,
        }
        print(json.dumps(found, ensure_ascii=False))
        return
    for name, report in dev.items():
        print(f"{name} on dev: {report.summary()}")
    print(f"trained in {seconds(training.seconds)}")
    print(f"saved {args.output} ({size(os.path.getsize(args.output))}). Next:")
    print(f"  marginalia tag {args.output} INPUT -o OUTPUT")
    print(f"  marginalia eval {args.output} TEST")
