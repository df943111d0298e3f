"""Training: data and a recipe in, progress records on the way, a model out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import ATTRIBUTES
from marginalia.corpus.tokenizers import tokenizer_of
from marginalia.decode.structures import STRUCTURES
from marginalia.decode.tagger import Tagger
from marginalia.errors import DataError, SettingsError
from marginalia.evaluate import Report
from marginalia.features.compiling import load_phrases
from marginalia.features.loading import load_features
from marginalia.features.program import EXPLICIT, Program
from marginalia.learn.data import Corpus, LabelCoder, TrainingSet, unit_of
from marginalia.learn.dev import DevSet
from marginalia.learn.diagnostics import boosting_of, bound_of, has_bound, margin_of, summary_of
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import Recipe
from marginalia.learn.run import Batch, Counts, Order, Round, Setup
from marginalia.learn.samples import SampleWeights, class_weights_of
from marginalia.learn.warm import WarmStart, state_arrays
from marginalia.model import SavedModel, phrases_of
from marginalia.model.freezing import frozen_arrays


@dataclass(frozen=True)
class Progress:
    """How far training is: a pass under way, or (`finished`) a pass just done with its dev score.

    `error` is the share of wrongly labelled tokens in percent, of learners that look for outputs; `loss` what
    others minimise. With boosting, `round` is the round of the pass; at its end there are its `confidence`
    and the `bound` that the share of wrong training examples cannot exceed.
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
    confidence: float | None = None
    bound: float | None = None

    def to_json(self) -> dict[str, Any]:
        """For the model's history and for `--json`."""
        return asdict(self)


class Training:
    """A training run. Iterate over it for progress; `model()` is the best model at any time after a pass.

    An interrupted run (Ctrl-C while iterating) can be asked for its model, too: without a finished
    pass it gives the weights as they are.
    """

    def __init__(
        self,
        corpus: Corpus,
        dev: Corpus | None,
        recipe: Recipe,
        threads: int = 1,
        *,
        sample_weights: Sequence[float] | None = None,
        start: SavedModel | None = None,
        labels: Sequence[str] = (),
    ) -> None:
        self.recipe, self._threads = recipe, max(threads, 1)
        self._layout = corpus.layout
        self._started = time.perf_counter()
        warm = None if start is None else WarmStart(start)
        self._program = start.program if start is not None else self._load_program(corpus)
        for data in (corpus, dev):
            _check_attributes(self._program, data)
        self._phrases = self._load_phrases() if start is None else phrases_of(start)
        kind, settings = STRUCTURES[recipe.structure], recipe.settings
        compiled = kind.compile(self._program, corpus.layout.columns, self._phrases | self._thinned())
        self.coder = LabelCoder(corpus, settings, start, labels)
        self.data = TrainingSet(
            corpus, lambda index: kind.extraction(compiled, index, settings), self.coder, settings, warm
        )
        told = kind.settle(settings, self.coder.lengths)
        self._structure = kind.training(
            self.coder.labels, self.coder.encoding, settings, self._program, self.data.extraction
        )
        self.data.set_structure(self._structure)
        self._samples = SampleWeights(
            sample_weights, class_weights_of(recipe.settings, self.coder.labels), self.data.units
        )
        self._run = LEARNERS[recipe.learner].run(self._setup())
        unit = unit_of(recipe.settings)
        whole = kind.compile(self._program, corpus.layout.columns, self._phrases)
        extraction = kind.extraction(whole, self.data.index, settings)
        self._dev = None if dev is None else DevSet(dev, extraction, self.coder, unit)
        self._best: _core.SparseRows | None = None
        self._best_voters: tuple[_core.WeightTable, int] | None = None
        self._best_lessons: _core.Lessons | None = None
        self._best_round: Round | None = None
        self._counted = Counts()
        self.history: list[Progress] = []
        self.report: Report | None = None
        self.notes = [f"left out for want of columns: {line}" for line in self._program.left_out]
        self.notes += told
        if recipe.settings.get("parallel") == "mix" and self._threads == 1:
            self.notes.append("parallel=mix needs --threads of at least 2: there is one model")
        if self.coder.repaired:
            self.notes.append(
                f"repaired {self.coder.repaired} labels that {self.coder.scheme} does not allow"
            )
        self._warm = warm is not None
        self._before = self._passes = 0 if warm is None else self._begin_with(warm)
        self._run.prepare(lambda: self._batches(0))

    def _load_program(self, corpus: Corpus) -> Program:
        layout = corpus.layout
        if layout.format == "crfsuite":
            return self._explicit()
        recipe, templates = self.recipe, STRUCTURES[self.recipe.structure].list_templates
        labels = recipe.dictionary.labels if recipe.dictionary is not None else ()
        return load_features(recipe.features, layout.columns, layout.label, recipe.lists, templates, labels)

    def _load_phrases(self) -> dict[str, _core.PhraseSet]:
        known, dictionary = load_phrases(self._program), self.recipe.dictionary
        if dictionary is None:
            return known
        return known | dictionary.lists(tokenizer_of(self._layout.format, self._layout.options))

    def _thinned(self) -> dict[str, _core.PhraseSet]:
        """The dictionary's lists as training sees them, if it does not see all phrases."""
        hidden = self.recipe.settings["dictionary-dropout"]
        lists = {name: self._phrases[name] for name in self._program.dictionary}
        return {name: phrases.thinned(hidden, self.recipe.seed) for name, phrases in lists.items()}

    def _explicit(self) -> Program:
        """The features are those of the data; others that were asked for are refused."""
        if self.recipe.own_features and (
            self.recipe.features != ATTRIBUTES or self.recipe.lists or self.recipe.dictionary
        ):
            raise SettingsError(
                f"features: found '{self.recipe.features}', but the data have explicit attributes, which are "
                "the features: choose no task, features, lists or dictionary."
            )
        return EXPLICIT

    def _setup(self) -> Setup:
        return Setup(
            self._structure,
            self.data.index,
            self.coder.labels,
            self.recipe.settings,
            self.recipe.seed,
            self._threads,
            self.data.units,
            self.data.fingerprint,
        )

    def _begin_with(self, warm: WarmStart) -> int:
        """Take over the weights of a model; the number of passes that are thereby continued."""
        labels = self.coder.labels
        passes = warm.start(self._run, len(labels), self.recipe)
        if added := len(labels) - len(warm.saved.labels):
            self.notes.append(f"labels that the model did not know: {', '.join(labels[-added:])}")
        return passes

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._started

    def __iter__(self) -> Iterator[Progress]:
        patience = self.recipe.settings["patience"]
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
        passes: int = self.recipe.settings["passes"]
        return self._before + self._run.extra_passes + passes

    def _batches(self, number: int) -> Iterator[Batch]:
        """The examples of a pass, with the orders in which models visit them."""
        first = 0
        for part, examples in enumerate(self.data.batches()):
            yield Batch(
                examples,
                self._samples.of(examples, first),
                self._order(examples.sentences, number, part),
                first,
            )
            first += examples.sentences

    def _order(self, size: int, number: int, part: int) -> Order:
        def order(member: int) -> npt.NDArray[np.uint32]:
            if not self.recipe.settings.get("shuffle", False):
                return np.arange(size, dtype=np.uint32)
            seed = _order_seed(self.recipe.seed, number, part) + member * 7_368_787
            return _core.permutation(size, seed % 2**63)

        return order

    def finish(self, on_progress: Callable[[Progress], object] | None = None) -> Tagger:
        """Makes all passes, tells of each, and gives the model."""
        for record in self:
            if on_progress is not None:
                on_progress(record)
        return self.model()

    def model(self) -> Tagger:
        """The best model so far: by dev score, else of the last pass."""
        rows = self._best if self._best is not None else self._run.finished()
        arrays = self._arrays(rows) | {
            f"list.{name}": phrases.states for name, phrases in self._phrases.items()
        }
        if self.recipe.settings["state"]:
            arrays |= state_arrays(self._run, self.data.index, self._passes, self._structure.grows)
        return Tagger(
            SavedModel(
                labels=tuple(self.coder.labels),
                program=self._program,
                columns=self._layout.columns,
                label=self._layout.label,
                scheme=self.coder.scheme,
                encoding=self.coder.encoding,
                structure=self.recipe.structure,
                learner=self.recipe.learner,
                settings=self.recipe.settings,
                seed=self.recipe.seed,
                format=self._layout.format,
                options=self._layout.options,
                fingerprint=self.data.fingerprint,
                history=[_stable(record) for record in self.history],
                diagnostics=self._diagnostics(rows),
                files=self.data.origins.files,
                arrays=arrays,
            )
        )

    def _arrays(self, rows: _core.SparseRows) -> dict[str, npt.NDArray[Any]]:
        """The arrays of the model file; see docs/model-file.md."""
        voters = self._run.voters() if self._best is None else self._best_voters
        lessons = self._run.lessons() if self._best is None else self._best_lessons
        more: dict[str, Any] = {} if voters is None else {"voters": voters[0], "versions": voters[1]}
        if lessons is not None:
            examples, most = len(self.data.origins), self.recipe.settings["lessons"]
            more |= {"lessons": lessons, "most": most, "examples": examples}
        arrays = frozen_arrays(rows, self.data.index, len(self.coder.labels), **more)
        return arrays if lessons is None else arrays | self.data.origins.arrays()

    def _diagnostics(self, rows: _core.SparseRows) -> dict[str, Any]:
        found = summary_of(self._counted) if self._run.has_mistakes else {}
        if self.recipe.settings["diagnostics"]:
            found |= margin_of(self._structure, rows, self._batches(0), self._threads)
            if has_bound(self.recipe, self._threads) and self._samples.are_even and not self._warm:
                found |= bound_of(found)
        if self._best_round is not None:
            found |= boosting_of(self._best_round, found)
        return found

    def _finish(self, counts: Counts) -> Progress:
        report = None
        best = self._has_model
        if self._dev is not None and self._has_model:
            rows = self._run.finished()
            report = self._dev.score(self._structure, rows, self._threads, self._votes())
            best = self.report is None or report.f1 > self.report.f1
            if best:
                self._best, self.report = rows, report
                if voters := self._run.voters():  # the run goes on to change them
                    self._best_voters = (voters[0].clone(), voters[1])
                self._best_lessons = self._run.lessons()
        if best:
            self._best_round = self._run.round
        record = self._progress(counts, True, None if report is None else report.f1, best)
        self.history.append(record)
        return record

    def _votes(self) -> tuple[_core.Votes, int] | None:
        voters = self._run.voters()
        if voters is None:
            return None
        weights, versions = voters
        return weights.votes(versions), self.recipe.settings["candidates"]

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
            round.confidence,
            round.bound,
        )


def _check_attributes(program: Program, corpus: Corpus | None) -> None:
    """Data and features are both of explicit attributes, or both of columns."""
    if corpus is None or program.explicit == (corpus.layout.format == "crfsuite"):
        return
    found, expected = "columns of text", "explicit attributes"
    if not program.explicit:
        found, expected = expected, found
    raise DataError(f"found data with {found}, expected {expected}, as the features need", file=corpus.name)


def _order_seed(seed: int, number: int, part: int) -> int:
    return (seed * 1_000_003 + number) * 1_000_003 % 2**63 + part


def _stable(record: Progress) -> dict[str, Any]:
    """A record without its time, so that equal runs give equal files."""
    return {name: value for name, value in record.to_json().items() if name not in ("seconds", "finished")}
