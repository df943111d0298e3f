"""Training: data and a recipe in, progress records on the way, a model out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.decode.structures import STRUCTURES, StructureInTraining
from marginalia.decode.tagger import Tagger, in_order
from marginalia.errors import DataError
from marginalia.evaluate import Report, score_ids
from marginalia.features.compiling import compile_program, load_phrases
from marginalia.features.loading import load_features
from marginalia.learn.data import Corpus, LabelCoder, TrainingSet
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import Recipe
from marginalia.learn.run import Counts
from marginalia.model import SavedModel


@dataclass(frozen=True)
class Progress:
    """How far training is: a pass under way, or (`finished`) a pass just done with its dev score."""

    number: int
    passes: int
    sentences: int
    total: int
    mistakes: int
    error: float
    seconds: float
    finished: bool = False
    dev: float | None = None
    best: bool = False

    def to_json(self) -> dict[str, Any]:
        """For the model's history and for `--json`."""
        return asdict(self)


class Training:
    """A training run. Iterate over it for progress; `model()` is the best model at any time after a pass.

    An interrupted run (Ctrl-C while iterating) can be asked for its model, too: without a finished
    pass it gives the weights as they are.
    """

    def __init__(self, corpus: Corpus, dev: Corpus | None, recipe: Recipe, threads: int = 1) -> None:
        self.recipe, self._threads = recipe, max(threads, 1)
        self._layout = corpus.layout
        self._started = time.perf_counter()
        self._program = load_features(
            recipe.features, corpus.layout.columns, corpus.layout.label, recipe.lists
        )
        self._phrases = load_phrases(self._program)
        compiled = compile_program(self._program, corpus.layout.columns, self._phrases)
        self.coder = LabelCoder(corpus, recipe.settings)
        self.data = TrainingSet(corpus, compiled, self.coder, recipe.settings)
        self._structure = STRUCTURES[recipe.structure].training(
            self.coder.labels, self.coder.encoding, recipe.settings, self._program
        )
        weights = _core.WeightTable(len(self.data.index) + 1, self._structure.constants)
        self._run = LEARNERS[recipe.learner].run(self._structure, weights, recipe.settings)
        self._dev = _DevSet(dev, compiled, self.coder, self.data.index) if dev is not None else None
        self._best: _core.SparseRows | None = None
        self.history: list[Progress] = []
        self.report: Report | None = None
        self.notes = [f"left out for want of columns: {line}" for line in self._program.left_out]
        if self.coder.repaired:
            self.notes.append(
                f"repaired {self.coder.repaired} labels that {self.coder.scheme} does not allow"
            )

    @property
    def seconds(self) -> float:
        """Time since the run began."""
        return time.perf_counter() - self._started

    def __iter__(self) -> Iterator[Progress]:
        settings = self.recipe.settings
        since_best = 0
        for number in range(1, settings["passes"] + 1):
            counts = Counts()
            for part, examples in enumerate(self.data.batches()):
                seed = _order_seed(self.recipe.seed, number, part) if settings["shuffle"] else None
                for _ in self._run.learn(examples, seed, counts):
                    yield self._progress(number, counts)
            record = self._finish(number, counts)
            yield record
            since_best = 0 if record.best else since_best + 1
            nothing_left = counts.mistakes == 0
            if nothing_left or (self._dev and settings["patience"] and since_best >= settings["patience"]):
                return

    def model(self) -> Tagger:
        """The best model so far: by dev score, else of the last pass."""
        rows = self._best if self._best is not None else self._run.finished()
        arrays = _arrays(rows, self.data.index, len(self.coder.labels)) | {
            f"list.{name}": phrases.states for name, phrases in self._phrases.items()
        }
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
                arrays=arrays,
            )
        )

    def _finish(self, number: int, counts: Counts) -> Progress:
        report = None
        best = True
        if self._dev is not None:
            rows = self._run.finished()
            report = self._dev.score(self._structure, rows, self._threads)
            best = self.report is None or report.f1 > self.report.f1
            if best:
                self._best, self.report = rows, report
        record = self._progress(number, counts, True, None if report is None else report.f1, best)
        self.history.append(record)
        return record

    def _progress(
        self,
        number: int,
        counts: Counts,
        finished: bool = False,
        dev: float | None = None,
        best: bool = False,
    ) -> Progress:
        error = 100.0 * counts.wrong_tokens / max(counts.tokens, 1)
        passes, total = self.recipe.settings["passes"], self.data.sentences
        return Progress(
            number, passes, counts.sentences, total, counts.mistakes, error, self.seconds, finished, dev, best
        )


class _DevSet:
    """Held-out sentences as examples, to be scored after each pass."""

    def __init__(
        self, corpus: Corpus, program: _core.Program, coder: LabelCoder, index: _core.FeatureIndex
    ) -> None:
        self._examples = _core.Examples()
        gold = []
        for block in corpus.blocks():
            gold.append(coder.encode(block, grow=False))
            self._examples.add_known(program, block.table, index)
        corpus.forget()
        flat = np.concatenate(gold) if gold else np.zeros(0, np.int32)
        if not flat.size:
            raise DataError("found no labelled sentences, expected some to hold out", file=corpus.name)
        self._labels = [*coder.labels, *coder.unseen]
        self._spans = coder.encoding is not None
        self._gold = flat

    def score(self, structure: StructureInTraining, rows: _core.SparseRows, threads: int) -> Report:
        """How well these weights do, decoding on so many threads."""
        bounds = np.linspace(0, self._examples.sentences, threads + 1).astype(int).tolist()

        def decode(part: tuple[int, int]) -> npt.NDArray[np.int32]:
            return structure.decode(self._examples, rows, *part)

        predicted = np.concatenate(list(in_order(decode, pairwise(bounds), threads)))
        return score_ids(self._gold, predicted, self._labels, self._examples.starts[:-1], spans=self._spans)


def _arrays(rows: _core.SparseRows, index: _core.FeatureIndex, labels: int) -> dict[str, npt.NDArray[Any]]:
    """The arrays of the model file; see docs/model-file.md."""
    arrays: dict[str, Any] = rows.freeze(index, labels)
    outputs = arrays.pop("outputs")
    narrow = not outputs.size or int(outputs.max()) < 1 << 16
    arrays["narrow" if narrow else "wide"] = outputs.astype(np.uint16 if narrow else np.uint32)
    at, constants = rows.cells(0)
    arrays["constant_at"], arrays["constants"] = at[constants != 0], constants[constants != 0]
    if "names" in arrays:
        arrays["names"] = np.frombuffer(arrays["names"], np.uint8)
    return arrays


def _order_seed(seed: int, number: int, part: int) -> int:
    return (seed * 1_000_003 + number) * 1_000_003 % 2**63 + part


def _stable(record: Progress) -> dict[str, Any]:
    """A record without its time, so that equal runs give equal files."""
    return {name: value for name, value in record.to_json().items() if name not in ("seconds", "finished")}
