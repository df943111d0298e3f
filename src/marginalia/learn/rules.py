"""Boosted rules of feature combinations (AdaBoost.SDF, Iwakura and Okamoto 2008), one label against the rest.

The kernel is core/learn/rules.hpp, the formulas are in docs/rules.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import setting
from marginalia.decode.settings import RuleSearchSettings
from marginalia.decode.threads import in_order
from marginalia.errors import ModelError, SettingsError
from marginalia.learn.run import Batches, Counts, LearnerSettings, Round, RunContext, State, TrainingBatch
from marginalia.model.provenance import Arrays
from marginalia.model.rules_part import CANNOT_CHANGE

_SLICE_SECONDS = 0.2  # between two looks at whether Ctrl-C was pressed
_MOST_RULES = 100_000_000
_SWEEPS, _MOST_BUCKETS = 10, 1000  # if nobody says how many buckets there are
MOST_ORDER = 2  # of a chain


@dataclass(frozen=True, kw_only=True)
class RuleSettings(RuleSearchSettings, LearnerSettings):
    """Settings of boosted rules."""

    rules: int = setting(20_000, "Rules of each label, at most.", 1, _MOST_RULES)
    rules_per_round: int = setting(10, "Rules that a round adds (ν of the paper).", 1, 100_000)
    width: int = setting(
        10, "Sets of atoms of each size that larger ones grow from (ω); 0: all of them.", 0, 100_000_000
    )
    size: int = setting(2, "Atoms of a rule, at most (ζ).", 1, 8)
    frequency: int = setting(1, "How many samples must have all atoms of a rule (ξ).", 1, 100_000_000)
    buckets: int = setting(
        0,
        "Parts that the atoms are dealt into; a round looks at one of them. 0: so many, up to 1000, that "
        "there are ten sweeps over them.",
        0,
        100_000_000,
    )
    distribution: str = setting(
        "weight",
        "How atoms are dealt: by their weight, again after each sweep over the buckets (W-dist), or by "
        "their frequency (F-dist).",
        choices=("weight", "frequency"),
    )
    smoothing: float = setting(1.0, "What is added to both sums of a confidence (ε).", 1e-12, 1e12)
    tolerance: float = setting(
        0.01,
        "A label has learned enough when no rule of a sweep over the buckets had more confidence.",
        0.0,
        1e6,
    )
    look: int = setting(
        0,
        "With dev data, how many rules of a label there are between two looks at the dev score (a pass); 0: "
        "a twentieth of all.",
        0,
        _MOST_RULES,
    )
    passes: int = setting(1, "Looks at the dev score.", 1, _MOST_RULES, hidden=True)
    patience: int = setting(
        0, "With dev data, stop after so many looks without a better score; 0 never stops.", 0, 100_000
    )


def resolve_rules(settings: RuleSettings) -> RuleSettings:
    """With the numbers of buckets, rules of a pass, and passes; what no order allows is found by beam."""
    if not settings.buckets:
        rounds = ceil(settings.rules / settings.rules_per_round)
        settings = replace(settings, buckets=min(ceil(rounds / _SWEEPS), _MOST_BUCKETS))
    if settings.neighbours > MOST_ORDER:
        settings = replace(settings, search="beam")
    look = min(settings.look or ceil(settings.rules / 20), settings.rules)
    return replace(settings, look=look, passes=ceil(settings.rules / look))


@dataclass(frozen=True)
class _RuleBatch:
    """Examples, seen as outputs that rules score."""

    structure: RuleTraining
    examples: Any

    def best(self, weights: _core.SparseRows, first: int, last: int) -> npt.NDArray[np.int32]:
        """The best outputs of the examples from `first` to `last` (exclusive), as numbers."""
        return self.structure.best(self.examples, weights, first, last)


class RuleTraining:
    """A structure of labels whose scores are those of rules that are being learned."""

    grows = True

    def __init__(
        self, base: Any, index: _core.FeatureIndex, labels: Sequence[str], settings: RuleSettings
    ) -> None:
        self._base, self.index, self.labels = base, index, list(labels)
        self.backwards, self.neighbours = settings.backwards, neighbours_of(base.shape, settings)
        self.constants, self.row_width = base.constants, base.row_width
        self.table: _core.RuleTable | None = None
        self._rules: _core.TrainedRules | None = None

    def set_gold(self, examples: Any, ids: npt.NDArray[np.int32], sets: npt.NDArray[np.uint8]) -> None:
        """The right outputs."""
        self._base.set_gold(examples, ids, sets)

    def choose_features(self, batches: Callable[[], Iterator[Any]], kept: list[Any]) -> None:
        """Which features may be atoms."""
        self._base.choose_features(batches, kept)

    def batch(self, examples: Any) -> Any:
        """The examples as outputs."""
        return _RuleBatch(self, examples)

    def update(self) -> None:
        """To be called when the table has changed."""
        assert self.table is not None, "there are rules"
        parts = self.labels, self.neighbours, self.backwards
        self._rules = _core.TrainedRules(self.table, self.index, *parts)

    def best(self, examples: Any, weights: _core.SparseRows, first: int, last: int) -> npt.NDArray[np.int32]:
        """The best outputs by the rules so far."""
        assert self._rules is not None, "rules were learned"
        return self._rules.best(self._base.shape, examples, weights, first, last)


def neighbours_of(shape: Any, settings: RuleSettings) -> int:
    """Of how many neighbours rules may ask for labels: none if the templates have no label bigram."""
    order = shape.order if isinstance(shape, _core.ChainShape) and shape.transitions else 0
    asked = settings.neighbours
    if asked and not order:
        raise SettingsError(
            f"setting 'neighbours': found {asked}, but rules ask for labels of neighbours only in a chain, "
            "and if the templates have the label bigram (edge:)."
        )
    if asked > order and not settings.beam_width:
        raise SettingsError(
            f"setting 'neighbours': found {asked}, but search is exact for no more than the order of the "
            f"chain, {order}: choose order={asked} or search=beam."
        )
    return asked or order


def rule_arrays_of(training: Any) -> Arrays:
    """The rules of a structure in training, as a model keeps them."""
    if not isinstance(training, RuleTraining) or training.table is None:
        return {}
    return training.table.arrays


class RuleRun:
    """A learner for each label; they share nothing but the samples. A pass is a number of rules."""

    extra_passes = 0
    has_mistakes = False

    def __init__(self, context: RunContext, settings: RuleSettings) -> None:
        assert isinstance(context.structure, RuleTraining), "prepare puts rules over the structure"
        self._setup, self._settings, self._structure = context, settings, context.structure
        self._learners: list[_core.RuleLearner] = []
        self._target, self._slice, self._unfinished = 0, 16, False
        self.converged = False

    @property
    def round(self) -> Round:
        """What the rules so far make sure of: a bound of the mean error of all decisions of one label."""
        decisions = self._samples.weight * len(self._learners)
        return Round(sum(map(len, self._learners)), True, None, self._loss / max(decisions, 1e-300))

    @property
    def _loss(self) -> float:
        return sum(learner.loss for learner in self._learners)

    def prepare(self, batches: Batches) -> None:
        """Collect the samples, and find the confidence of every label without any rule."""
        structure, own = self._structure, self._settings
        self._samples = _core.RuleSamples(len(structure.labels), structure.neighbours, structure.backwards)
        for batch in batches():
            self._samples.add(batch.examples, batch.sample_weights)
        self._samples.finish(own.frequency)
        self._learners = [
            _core.RuleLearner(
                self._samples,
                label,
                own.rules_per_round,
                own.width,
                own.size,
                own.buckets,
                own.distribution == "weight",
                own.smoothing,
                own.tolerance,
            )
            for label in range(len(structure.labels))
        ]
        structure.table = _core.RuleTable(self._samples, structure.index, structure.labels)
        self._collect()

    def _collect(self) -> None:
        table = self._structure.table
        assert table is not None, "prepare has made it"
        for learner in self._learners:
            table.take(learner)
        self._structure.update()
        self._unfinished = False

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """The rules of a pass, with the first of its batches: all samples are at hand."""
        if batch.first:
            return
        before = self._target
        self._target = min(before + self._settings.look, self._settings.rules)
        while waiting := self._waiting():
            self._unfinished = True
            started = time.perf_counter()
            list(in_order(self._advance, waiting, self._setup.threads))
            self._adapt(time.perf_counter() - started)
            made = [1.0 if one.done else (len(one) - before) / self._settings.look for one in self._learners]
            counts.sentences = int(self._setup.sentences * min(sum(made) / len(made), 1.0))
            yield counts

    def _waiting(self) -> list[_core.RuleLearner]:
        return [one for one in self._learners if not one.done and len(one) < self._target]

    def _advance(self, learner: _core.RuleLearner) -> int:
        return learner.run(self._slice, self._target)

    def _adapt(self, seconds: float) -> None:
        if seconds < _SLICE_SECONDS / 2:
            self._slice = min(self._slice * 2, 1 << 20)
        elif seconds > _SLICE_SECONDS:
            self._slice = max(self._slice // 2, 1)

    def end_pass(self, counts: Counts) -> None:
        """Makes features of the new rules."""
        self._collect()
        self.converged = all(learner.done for learner in self._learners)
        counts.loss = self._loss

    def finished(self) -> _core.SparseRows:
        """The confidences so far, by rule and label; of a pass that was cut short, too."""
        if self._unfinished:
            self._collect()
        index, structure = self._setup.index, self._structure
        assert structure.table is not None, "prepare has made it"
        cells = structure.table.cells
        table = _core.WeightTable(len(index) + 1, structure.constants)
        none = np.zeros(0)
        places = cells["rows"], cells["outputs"], cells["weights"]
        table.restore(index, structure.row_width, *places, none, none, none.astype(np.float32), 0.0)
        return table.current.copy()

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Rules begin from nothing."""
        raise ModelError(CANNOT_CHANGE)

    def state(self) -> State:
        """Nothing that a run could go on from."""
        raise ModelError(CANNOT_CHANGE)

    def resume(self, state: State) -> None:
        """Rules begin from nothing."""
        raise ModelError(CANNOT_CHANGE)
