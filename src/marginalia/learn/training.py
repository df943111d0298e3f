"""Training: data and a recipe in, progress records on the way, a model out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings
from marginalia.corpus.batches import Layout
from marginalia.corpus.coder import LabelCoder
from marginalia.decode.model import TrainedModel
from marginalia.decode.settings import VoteSettings
from marginalia.decode.structures import STRUCTURES
from marginalia.features.program import TemplateProgram
from marginalia.kinds import kind_of
from marginalia.kinds.kind import Scores
from marginalia.learn.data import DevSet, TrainingSet
from marginalia.learn.diagnostics import boosting_of, bound_of, has_bound, margin_of
from marginalia.learn.learners import LEARNERS
from marginalia.learn.provenance import ProvenanceSettings
from marginalia.learn.recipe import Recipe
from marginalia.learn.rules import rule_arrays_of
from marginalia.learn.run import Counts, LearnerRun, Order, Round, RunContext, TrainingBatch
from marginalia.learn.samples import SampleWeights
from marginalia.learn.warm import state_arrays
from marginalia.model import SavedModel
from marginalia.model.first_part import with_first
from marginalia.model.freezing import frozen_arrays
from marginalia.model.global_part import GlobalPart, global_arrays
from marginalia.model.word_tables import word_table_arrays

if TYPE_CHECKING:
    from marginalia.kinds.kind import OutputKind
    from marginalia.learn.self_training import SelfTrainingReport

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Progress:
    """How far training is: a pass under way, or (`finished`) a pass just done with its dev score.

    `error` is the share of wrongly labelled tokens in percent, of learners that look for outputs; `loss` what
    others minimise. With boosting, `round` is the round of the pass; at its end there are its
    `round_weight` and the `bound` that the share of wrong training examples cannot exceed.
    """

    number: int
    passes: int
    sentences: int
    total: int
    mistakes: int
    error: float | None
    seconds: float
    finished: bool = False
    dev: float | None = None
    best: bool = False
    loss: float | None = None
    round: int | None = None
    round_weight: float | None = None
    bound: float | None = None

    def to_json(self) -> dict[str, Any]:
        """For the model's history and for `--json`, whose files know `round_weight` as `confidence`."""
        return {"confidence" if name == "round_weight" else name: x for name, x in asdict(self).items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class TrainingParts:
    """What a run is made of, each part complete; `passes_before` were made by a run that it goes on from."""

    recipe: Recipe
    layout: Layout
    program: TemplateProgram
    phrases: Mapping[str, _core.PhraseSet]
    global_part: GlobalPart | None
    word_tables: Mapping[str, _core.WordTable]
    coder: LabelCoder
    examples: TrainingSet
    samples: SampleWeights
    context: RunContext
    run: LearnerRun
    dev: DevSet | None
    start: SavedModel | None
    first: SavedModel | None
    passes_before: int
    notes: list[str]


class TrainingRun(Protocol):
    """What users know of a run, `Training` or several of them (learn/self_training.py)."""

    @property
    def self_training(self) -> SelfTrainingReport | None:
        """What unlabelled text has brought, if it was learned from."""

    @property
    def recipe(self) -> Recipe:
        """What is trained."""

    @property
    def data(self) -> TrainingSet:
        """What is learned from."""

    @property
    def coder(self) -> LabelCoder:
        """Labels and their scheme."""

    @property
    def kind(self) -> OutputKind[Any]:
        """The kind of output."""

    @property
    def notes(self) -> list[str]:
        """What a user should know of it."""

    @property
    def history(self) -> list[Progress]:
        """The passes of the model."""

    @property
    def report(self) -> Scores | None:
        """How good the model is on dev data."""

    @property
    def seconds(self) -> float:
        """Time since the run began."""

    def __iter__(self) -> Iterator[Progress]:
        """Make all passes."""

    def model(self) -> TrainedModel:
        """The best model so far."""

    def finish(self, on_progress: Callable[[Progress], object] | None = None) -> TrainedModel:
        """Makes all passes, tells of each, and gives the model."""


def finish(run: TrainingRun, on_progress: Callable[[Progress], object] | None = None) -> TrainedModel:
    """What `finish` of any run does."""
    for record in run:
        if on_progress is not None:
            on_progress(record)
    return run.model()


class Training:
    """A training run. Iterate over it for progress; `model()` is the best model at any time after a pass.

    An interrupted run (Ctrl-C while iterating) can be asked for its model, too: without a finished
    pass it gives the weights as they are.
    """

    self_training: SelfTrainingReport | None = None

    def __init__(self, parts: TrainingParts, started: float) -> None:
        self._parts, self._started = parts, started
        self.recipe, self.coder, self.data = parts.recipe, parts.coder, parts.examples
        self.notes, self.kind = parts.notes, kind_of(parts.recipe.structure)
        self._run, self._dev, self._setup = parts.run, parts.dev, parts.context
        self._best: _core.SparseRows | None = None
        self._best_voters: tuple[_core.WeightTable, int] | None = None
        self._best_provenance: _core.Provenance | None = None
        self._best_round: Round | None = None
        self._counted = Counts()
        self.history: list[Progress] = []
        self.report: Scores | None = None
        self._passes = parts.passes_before
        self._run.prepare(lambda: self._batches(0))

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._started

    def __iter__(self) -> Iterator[Progress]:
        patience = self.recipe.settings.learner.patience
        since_best = 0
        while self._passes < self._last_pass:
            self._passes += 1
            counts = Counts()
            for batch in self._batches(self._passes):
                for _ in self._run.learn(batch, counts):
                    yield self._progress(counts)
            self._run.end_pass(counts)
            self._counted.add(vars(counts))
            record = self._finish(counts)
            yield record
            if self._has_model:
                since_best = 0 if record.best else since_best + 1
            tired = self._dev is not None and 0 < patience <= since_best
            if tired or self._run.converged:
                return

    @property
    def _has_model(self) -> bool:
        """Whether the last pass made a model to be looked at: one within a round of boosting does not."""
        return self._run.round is None or self._run.round.over

    @property
    def _last_pass(self) -> int:
        passes = self.recipe.settings.learner.passes
        return self._parts.passes_before + self._run.extra_passes + passes

    def _batches(self, number: int) -> Iterator[TrainingBatch]:
        """The examples of a pass, with the orders in which models visit them."""
        first = 0
        for part, examples in enumerate(self.data.batches()):
            yield TrainingBatch(
                examples,
                self._parts.samples.of(examples, first),
                self._order(examples.sentences, number, part),
                first,
            )
            first += examples.sentences

    def _order(self, size: int, number: int, part: int) -> Order:
        def order(member: int) -> npt.NDArray[np.uint32]:
            if not self.recipe.settings.learner.shuffles:
                return np.arange(size, dtype=np.uint32)
            seed = _order_seed(self.recipe.seed, number, part) + member * 7_368_787
            return _core.permutation(size, seed % 2**63)

        return order

    def finish(self, on_progress: Callable[[Progress], object] | None = None) -> TrainedModel:
        """Makes all passes, tells of each, and gives the model."""
        return finish(self, on_progress)

    def model(self) -> TrainedModel:
        """The best model so far: by dev score, else of the last pass."""
        rows = self._best if self._best is not None else self._run.finished()
        arrays = self._arrays(rows) | {
            f"list.{name}": phrases.states for name, phrases in self._parts.phrases.items()
        }
        part = self._parts.global_part
        if part is not None:
            arrays |= global_arrays(rows, self.data.index, part)
        arrays |= word_table_arrays(self._parts.word_tables)
        arrays |= STRUCTURES[self.recipe.structure].arrays(self._setup.structure)
        arrays |= rule_arrays_of(self._setup.structure)
        if self.recipe.settings.data.state:
            arrays |= state_arrays(self._run, self.data.index, self._passes, self._setup.structure.grows)
        width = self._setup.structure.row_width
        first = self._parts.first
        saved = SavedModel(
            labels=self.coder.labels,
            program=self._parts.program,
            columns=self._parts.layout.columns if first is None else first.columns,
            label=self._parts.layout.label,
            scheme=self.coder.scheme,
            encoding=self.coder.encoding,
            structure=self.recipe.structure,
            learner=self.recipe.learner,
            settings=self.recipe.settings.to_json(),
            seed=self.recipe.seed,
            format=self._parts.layout.format,
            options=self._parts.layout.options,
            fingerprint=self.data.fingerprint,
            history=[_stable(record) for record in self.history],
            diagnostics=self._diagnostics(rows),
            files=self.data.origins.files,
            arrays=arrays,
            global_features={} if part is None else part.to_json(),
            row_width=None if width == len(self.coder.labels) else width,
        )
        made: TrainedModel = self.kind.model(saved if first is None else with_first(saved, first))
        return made

    def _arrays(self, rows: _core.SparseRows) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the model file; see docs/model-file.md."""
        voters = self._run.voters() if self._best is None else self._best_voters
        provenance = self._run.provenance() if self._best is None else self._best_provenance
        more: dict[str, Any] = {} if voters is None else {"voters": voters[0], "versions": voters[1]}
        if provenance is not None:
            kept = _one_of(ProvenanceSettings, self.recipe)
            more |= {"provenance": provenance, "most": kept.contributions, "examples": len(self.data.origins)}
        arrays = frozen_arrays(rows, self.data.index, self._setup.structure.row_width, **more)
        return arrays if provenance is None else arrays | self.data.origins.arrays()

    def _diagnostics(self, rows: _core.SparseRows) -> dict[str, Any]:
        found = self._counted.summary if self._run.has_mistakes else {}
        if self.recipe.settings.data.diagnostics:
            found |= margin_of(self._setup.structure, rows, self._batches(0), self._setup.threads)
            plain = self._parts.samples.are_even and self._parts.start is None
            if plain and has_bound(self.recipe, self._setup.threads):
                found |= bound_of(found)
        if self._best_round is not None:
            found |= boosting_of(self._best_round, found)
        return found

    def _finish(self, counts: Counts) -> Progress:
        report = None
        best = self._has_model
        if self._dev is not None and self._has_model:
            rows, voters = self._run.finished(), self._run.voters()
            votes = None if voters is None else self._votes(*voters)
            report = self._dev.score(self._setup.structure, rows, self._setup.threads, votes)
            best = self.report is None or report.score > self.report.score
            if best:
                self._best, self.report = rows, report
                if voters is not None:  # the run goes on to change them
                    self._best_voters = (voters[0].clone(), voters[1])
                self._best_provenance = self._run.provenance()
        if best:
            self._best_round = self._run.round
        record = self._progress(counts, True, None if report is None else report.score, best)
        self.history.append(record)
        return record

    def _votes(self, weights: _core.WeightTable, versions: int) -> tuple[_core.Votes, int]:
        return weights.votes(versions), _one_of(VoteSettings, self.recipe).vote_candidates

    def _progress(
        self, counts: Counts, finished: bool = False, dev: float | None = None, best: bool = False
    ) -> Progress:
        error = 100.0 * counts.wrong_tokens / max(counts.tokens, 1) if self._run.has_mistakes else None
        round = self._run.round or Round(0)
        return Progress(
            self._passes,
            self._last_pass,
            counts.sentences,
            self.data.units,
            counts.mistakes,
            error,
            self.seconds,
            finished,
            dev,
            best,
            counts.loss if LEARNERS[self.recipe.learner].has_loss else None,
            round.number or None,
            round.round_weight,
            round.bound,
        )


def _one_of(record: type[S], recipe: Recipe) -> S:
    """The learner's settings as those of a kind that it has."""
    found = recipe.settings.learner
    assert isinstance(found, record), f"the learner {recipe.learner} has no such settings"
    return found


def _order_seed(seed: int, number: int, part: int) -> int:
    return (seed * 1_000_003 + number) * 1_000_003 % 2**63 + part


def _stable(record: Progress) -> dict[str, Any]:
    """A record without its time, so that equal runs give equal files."""
    return {name: value for name, value in record.to_json().items() if name not in ("seconds", "finished")}
