"""The learners by name. Whoever adds one gives its settings and its run; it names no structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from marginalia import _core
from marginalia.config import Setting
from marginalia.errors import SettingsError
from marginalia.learn.boosting import BOOST, Boosting
from marginalia.learn.costs import COSTS
from marginalia.learn.likelihood import OPTIMISER, PATIENCE, SUPPORT, LikelihoodRun
from marginalia.learn.online import AVERAGE, CANDIDATES, LOOP, PASSES, OnlineRun
from marginalia.learn.provenance import SETTINGS as PROVENANCE
from marginalia.learn.regularisers import SETTINGS as REGULARISERS
from marginalia.learn.regularisers import check_regularisers
from marginalia.learn.run import LearnerRun, Setup
from marginalia.learn.several import MakeRun, MeanStart, Mixing, ShuffleAverage


class Learner(NamedTuple):
    """A way to learn: what it is, how it is set and how it runs.

    `needs` are the tiers of the contract that a structure must have for it, as the core knows them. `check`
    refuses settings that do not go together. `fixed` settings are the learner's own choice: users do not see
    them, structures do. `goes_on`: it learns example by example, from any weights and any data on.
    """

    help: str
    settings: tuple[Setting, ...]
    run: Callable[[Setup], LearnerRun]
    needs: frozenset[str]
    check: Callable[[dict[str, Any]], None] = lambda settings: None
    fixed: Mapping[str, Any] = {}
    has_loss: bool = True
    goes_on: bool = False


def _online(setup: Setup, rule: _core.Rule, *, variances: bool = False) -> LearnerRun:
    """The run of a rule, with the regularisers that take several models, in rounds if it is boosted."""

    def make(member: int) -> OnlineRun:
        return OnlineRun(setup, rule, variances=variances, member=member)

    def make_all() -> LearnerRun:
        run: LearnerRun = _several(setup, make)
        return MeanStart(setup, make, run) if setup.settings["bpm-init"] else run

    return Boosting(setup, make_all) if setup.settings["boost"] else make_all()


def _several(setup: Setup, make: MakeRun) -> LearnerRun:
    if setup.settings["shuffle-average"] > 1:
        return ShuffleAverage(setup, make)
    if setup.settings["parallel"] == "mix" and setup.threads > 1:
        return Mixing(setup, make)
    return make(0)


def _perceptron(setup: Setup) -> LearnerRun:
    return _online(setup, _core.Rule.perceptron())


def _margin(setup: Setup) -> LearnerRun:
    return _online(setup, _core.Rule.margin(setup.settings["C"]))


def _passive_aggressive(setup: Setup) -> LearnerRun:
    return _online(setup, _core.Rule.passive_aggressive(setup.settings["variant"], setup.settings["C"]))


def _arow(setup: Setup) -> LearnerRun:
    return _online(setup, _core.Rule.arow(setup.settings["r"]), variances=True)


def _crf(setup: Setup) -> LearnerRun:
    settings = setup.settings
    if settings["algorithm"] == "lbfgs":
        return LikelihoodRun(setup)
    rule = _core.Rule.gradient(settings["rate"], settings["decay"], setup.sentences, False)
    kind = "l1-signed" if settings["l1"] else "l2"
    share = (settings["l1"] or settings["l2"]) / setup.sentences  # what of the prior falls on one example
    if kind == "l2" and max(settings["rate"], 1.0) * share >= 1.0:  # a step would turn all weights around
        raise SettingsError(
            f"setting 'l2': found {settings['l2']} for {setup.sentences} examples and the rate "
            f"{settings['rate']}, expected less: with algorithm=sgd, l2 and rate * l2 must be below the "
            "number of examples."
        )
    return OnlineRun(setup, rule, penalty=(kind, share))


def _maxent(setup: Setup) -> LearnerRun:
    return LikelihoodRun(setup, local=True)


def _check_crf(settings: dict[str, Any]) -> None:
    settings["passes"] = settings["passes"] or (500 if settings["algorithm"] == "lbfgs" else 30)
    if settings["algorithm"] == "sgd" and settings["l1"] and settings["l2"]:
        raise SettingsError(
            "algorithm=sgd takes l1 or l2, not both (l2 is 0.3 unless you set it): set one to 0."
        )


_ONLINE = (AVERAGE, CANDIDATES, *LOOP, *REGULARISERS, BOOST, *PROVENANCE)
_CRF = (
    Setting(
        "passes",
        0,
        "Evaluations of the likelihood, or passes of sgd, at most; 0: 500 for lbfgs, 30 for sgd.",
        0,
        100_000,
    ),
    Setting(
        "algorithm", "lbfgs", "lbfgs: all examples at once; sgd: one after another.", choices=("lbfgs", "sgd")
    ),
    *OPTIMISER,
    SUPPORT,
    Setting("rate", 0.1, "sgd: learning rate of the first pass.", 0.0, 1e6),
    Setting("decay", 0.85, "sgd: by what the rate is multiplied from pass to pass.", 0.0, 1.0),
    LOOP[0],
    PATIENCE,
)
LEARNERS: dict[str, Learner] = {
    "perceptron": Learner(
        "Collins' perceptron, averaged",
        (PASSES, *_ONLINE),
        _perceptron,
        _core.Rule.perceptron().needs,
        check_regularisers,
        has_loss=False,
        goes_on=True,
    ),
    "margin": Learner(
        "the perceptron, which also learns from close second bests",
        (
            Setting("passes", 100, "Passes over the training data, at most.", 1, 100_000),
            Setting("C", 100.0, "By how much the right output must beat the second best.", 0.0, 1e12),
            Setting(
                "tolerance",
                1e-4,
                "Stop when the training error changed by less than this share in each of three passes.",
                0.0,
                1.0,
            ),
            *_ONLINE,
        ),
        _margin,
        _core.Rule.margin(1.0).needs,
        check_regularisers,
        has_loss=False,
        goes_on=True,
    ),
    "pa": Learner(
        "passive-aggressive: the smallest change that makes the example right",
        (
            PASSES,
            Setting("C", 0.03, "How far one example may move the weights.", 1e-12, 1e12),
            Setting("variant", "I", "PA without C (0), PA-I or PA-II.", choices=("0", "I", "II")),
            COSTS,
            *_ONLINE,
        ),
        _passive_aggressive,
        _core.Rule.passive_aggressive("I", 1.0).needs,
        check_regularisers,
        goes_on=True,
    ),
    "arow": Learner(
        "adaptive: weights that were seen often move less",
        (
            PASSES,
            Setting("r", 1.0, "How much a weight's variance resists to one example.", 1e-12, 1e12),
            COSTS,
            *_ONLINE,
        ),
        _arow,
        _core.Rule.arow(1.0).needs,
        check_regularisers,
        goes_on=True,
    ),
    "maxent": Learner(
        "maximum entropy: each label a choice given those before it",
        (
            Setting("passes", 500, "Evaluations of the likelihood, at most.", 1, 100_000),
            *OPTIMISER,
            SUPPORT,
            Setting(
                "search", "exact", "How outputs are found: exactly or by beam.", choices=("exact", "beam")
            ),
            Setting("beam", 20, "Candidates of the beam.", 1, 100_000),
            PATIENCE,
        ),
        _maxent,
        _core.Rule.gradient(0.1, 1.0, 1, True).needs,
        fixed={"normalise": "steps"},
    ),
    "crf": Learner(
        "conditional random field: probabilities of whole outputs",
        _CRF,
        _crf,
        _core.Rule.gradient(0.1, 1.0, 1, False).needs,
        _check_crf,
    ),
}
