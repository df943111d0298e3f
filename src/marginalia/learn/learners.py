"""The learners by name. Whoever adds one gives its settings and its run; it names no structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from marginalia import _core
from marginalia.config import Setting, Settings, setting
from marginalia.decode.settings import SearchSettings
from marginalia.errors import SettingsError
from marginalia.learn.boosting import Boosting
from marginalia.learn.costs import CostSettings
from marginalia.learn.ensembles import MakeRun, MeanStart, Mixing, ShuffleAverage
from marginalia.learn.likelihood import LikelihoodPatience, LikelihoodRun, PriorSettings
from marginalia.learn.non_local import NonLocalSettings, resolve_non_local
from marginalia.learn.online import OnlineOptions, OnlineRun, OnlineSettings, checked
from marginalia.learn.rank_boost import RankBoostRun, RankBoostSettings, resolve_rounds
from marginalia.learn.rules import RuleRun, RuleSettings, resolve_rules
from marginalia.learn.run import LearnerRun, LearnerSettings, RunContext

L = TypeVar("L", bound=LearnerSettings)
_PASSES, _MOST_PASSES = "Passes over the training data.", 100_000


@dataclass(frozen=True)
class Learner(Generic[L]):
    """A way to learn: what it is, the record of its settings, and how it runs.

    `needs` are the tiers of the contract that a structure must have for it, as the core knows them. `resolve`
    refuses settings that do not go together, and gives them with what they leave to the learner. `goes_on`:
    it learns example by example, from any weights and any data on. `has_globals`: its outputs have global
    features. `ends`: its models cannot be learned further or corrected, and it needs complete labels.
    """

    help: str
    record: type[L]
    run: Callable[[RunContext, L], LearnerRun]
    needs: frozenset[str]
    resolve: Callable[[L], L] = lambda settings: settings
    has_loss: bool = True
    goes_on: bool = False
    has_globals: bool = False
    ends: bool = False

    @property
    def settings(self) -> tuple[Setting, ...]:
        """How it can be set."""
        return self.record.declared()


def _online(
    context: RunContext,
    rule: _core.UpdateRule,
    settings: OnlineSettings,
    *,
    tolerance: float = 0.0,
    variances: bool = False,
) -> LearnerRun:
    """The run of a rule, with the regularisers that take several models, in rounds if it is boosted."""

    def make(member: int) -> OnlineRun:
        options = OnlineOptions.of(settings, tolerance=tolerance, variances=variances)
        return OnlineRun(context, rule, options, member=member)

    def make_all() -> LearnerRun:
        run = _ensemble(context, settings, make)
        return MeanStart(context, make, settings.bpm_init, run) if settings.bpm_init else run

    return Boosting(context, settings.boost, make_all) if settings.boost else make_all()


def _ensemble(context: RunContext, settings: OnlineSettings, make: MakeRun) -> LearnerRun:
    if settings.shuffle_average > 1:
        return ShuffleAverage(context, make, settings.shuffle_average, settings.shuffle_mean)
    if settings.parallel == "mix" and context.threads > 1:
        return Mixing(context, make)
    return make(0)


def _perceptron(context: RunContext, settings: OnlineSettings) -> LearnerRun:
    return _online(context, _core.UpdateRule.perceptron(), settings)


@dataclass(frozen=True, kw_only=True)
class MarginSettings(OnlineSettings):
    """Settings of the perceptron with margin."""

    passes: int = setting(100, "Passes over the training data, at most.", 1, _MOST_PASSES)
    C: float = setting(100.0, "By how much the right output must beat the second best.", 0.0, 1e12)
    tolerance: float = setting(
        1e-4,
        "Stop when the training error changed by less than this share in each of three passes.",
        0.0,
        1.0,
    )


def _margin(context: RunContext, settings: MarginSettings) -> LearnerRun:
    return _online(context, _core.UpdateRule.margin(settings.C), settings, tolerance=settings.tolerance)


def _non_local(context: RunContext, settings: NonLocalSettings) -> LearnerRun:
    return _online(context, _core.UpdateRule.margin(settings.C), settings, tolerance=settings.tolerance)


@dataclass(frozen=True, kw_only=True)
class PassiveAggressiveSettings(CostSettings, OnlineSettings):
    """Settings of passive-aggressive learning."""

    passes: int = setting(10, _PASSES, 1, _MOST_PASSES)
    C: float = setting(0.03, "How far one example may move the weights.", 1e-12, 1e12)
    variant: str = setting("I", "PA without C (0), PA-I or PA-II.", choices=("0", "I", "II"))


def _passive_aggressive(context: RunContext, settings: PassiveAggressiveSettings) -> LearnerRun:
    return _online(context, _core.UpdateRule.passive_aggressive(settings.variant, settings.C), settings)


@dataclass(frozen=True, kw_only=True)
class ArowSettings(CostSettings, OnlineSettings):
    """Settings of AROW."""

    passes: int = setting(10, _PASSES, 1, _MOST_PASSES)
    r: float = setting(1.0, "How much a weight's variance resists to one example.", 1e-12, 1e12)


def _arow(context: RunContext, settings: ArowSettings) -> LearnerRun:
    return _online(context, _core.UpdateRule.arow(settings.r), settings, variances=True)


@dataclass(frozen=True, kw_only=True)
class _SgdSettings(Settings):
    rate: float = setting(0.1, "sgd: learning rate of the first pass.", 0.0, 1e6)
    decay: float = setting(0.85, "sgd: by what the rate is multiplied from pass to pass.", 0.0, 1.0)
    shuffle: bool = setting(True, "Visit the sentences in a new order in every pass (by seed).")


@dataclass(frozen=True, kw_only=True)
class CrfSettings(PriorSettings, _SgdSettings, LikelihoodPatience):
    """Settings of conditional random fields."""

    passes: int = setting(
        0,
        "Evaluations of the likelihood, or passes of sgd, at most; 0: 500 for lbfgs, 30 for sgd.",
        0,
        _MOST_PASSES,
    )
    algorithm: str = setting(
        "lbfgs", "lbfgs: all examples at once; sgd: one after another.", choices=("lbfgs", "sgd")
    )

    @property
    def shuffles(self) -> bool:
        """Whether examples are visited in a new order in every pass."""
        return self.shuffle

    @property
    def regularisers(self) -> list[str]:
        """The priors of sgd are paid late; L-BFGS has them in the function that it minimises."""
        chosen = {"l2": self.l2, "l1": self.l1} if self.algorithm == "sgd" else {}
        return [name for name, strength in chosen.items() if strength]

    @property
    def state_kind(self) -> tuple[object, ...]:
        """What the parts of a state depend on."""
        return self.algorithm, self.prior


def _resolve_crf(settings: CrfSettings) -> CrfSettings:
    """With the number of passes; sgd has one prior at most."""
    if settings.algorithm == "sgd" and settings.l1 and settings.l2:
        raise SettingsError(
            "algorithm=sgd takes l1 or l2, not both (l2 is 0.3 unless you set it): set one to 0."
        )
    usual = 500 if settings.algorithm == "lbfgs" else 30
    return replace(settings, passes=settings.passes or usual)


def _crf(context: RunContext, settings: CrfSettings) -> LearnerRun:
    if settings.algorithm == "lbfgs":
        return LikelihoodRun(context, settings)
    rule = _core.UpdateRule.gradient(settings.rate, settings.decay, context.sentences, False)
    kind = "l1-signed" if settings.l1 else "l2"
    share = (settings.l1 or settings.l2) / context.sentences  # what of the prior falls on one example
    if kind == "l2" and max(settings.rate, 1.0) * share >= 1.0:  # a step would turn all weights around
        raise SettingsError(
            f"setting 'l2': found {settings.l2} for {context.sentences} examples and the rate "
            f"{settings.rate}, expected less: with algorithm=sgd, l2 and rate * l2 must be below the "
            "number of examples."
        )
    return OnlineRun(context, rule, OnlineOptions(penalty=(kind, share), support=settings.support))


@dataclass(frozen=True, kw_only=True)
class MaxentSettings(PriorSettings, SearchSettings, LikelihoodPatience):
    """Settings of maximum entropy models: each label is a choice given those before it."""

    passes: int = setting(500, "Evaluations of the likelihood, at most.", 1, _MOST_PASSES)
    normalise: str = setting("steps", "What probabilities are of: each choice.", hidden=True)

    @property
    def state_kind(self) -> tuple[object, ...]:
        """What the parts of a state depend on."""
        return (self.prior,)


def _maxent(context: RunContext, settings: MaxentSettings) -> LearnerRun:
    return LikelihoodRun(context, settings, local=True)


LEARNERS: dict[str, Learner[Any]] = {
    "perceptron": Learner(
        "Collins' perceptron, averaged",
        OnlineSettings,
        _perceptron,
        _core.UpdateRule.perceptron().needs,
        checked,
        has_loss=False,
        goes_on=True,
    ),
    "margin": Learner(
        "the perceptron, which also learns from close second bests",
        MarginSettings,
        _margin,
        _core.UpdateRule.margin(1.0).needs,
        checked,
        has_loss=False,
        goes_on=True,
    ),
    "nonlocal": Learner(
        "the same among the best outputs, with global features of whole documents",
        NonLocalSettings,
        _non_local,
        _core.UpdateRule.margin(1.0).needs,
        resolve_non_local,
        has_loss=False,
        has_globals=True,
    ),
    "pa": Learner(
        "passive-aggressive: the smallest change that makes the example right",
        PassiveAggressiveSettings,
        _passive_aggressive,
        _core.UpdateRule.passive_aggressive("I", 1.0).needs,
        checked,
        goes_on=True,
    ),
    "arow": Learner(
        "adaptive: weights that were seen often move less",
        ArowSettings,
        _arow,
        _core.UpdateRule.arow(1.0).needs,
        checked,
        goes_on=True,
    ),
    "maxent": Learner(
        "maximum entropy: each label a choice given those before it",
        MaxentSettings,
        _maxent,
        _core.UpdateRule.gradient(0.1, 1.0, 1, True).needs,
    ),
    "crf": Learner(
        "conditional random field: probabilities of whole outputs",
        CrfSettings,
        _crf,
        _core.UpdateRule.gradient(0.1, 1.0, 1, False).needs,
        _resolve_crf,
    ),
    "rank-boost": Learner(
        "boosting re-ranker: the exponential loss over pairs of candidates, a weight at a time",
        RankBoostSettings,
        RankBoostRun,
        _core.RankBoost.needs(),
        resolve_rounds,
    ),
    "rules": Learner(
        "boosted rules: combinations of features that it finds itself, one label against the rest",
        RuleSettings,
        RuleRun,
        _core.RuleSamples.needs(),
        resolve_rules,
        ends=True,
    ),
}
