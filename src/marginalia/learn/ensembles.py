"""Several models at once: shuffle-and-average, iterative parameter mixing, and a start from a mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from marginalia import _core
from marginalia.decode.threads import in_order
from marginalia.learn.online import OnlineRun
from marginalia.learn.run import Batches, Counts, LearnerRun, RunContext, State, TrainingBatch

MakeRun = Callable[[int], OnlineRun]


def _learn_together(
    runs: Sequence[LearnerRun], batches: Sequence[TrainingBatch], counts: Counts, threads: int, share: int
) -> Iterator[Counts]:
    """All runs through their batches, slice by slice side by side; counts are sums, sentences a share."""
    own = [Counts() for _ in runs]
    walks = [run.learn(batch, c) for run, batch, c in zip(runs, batches, own, strict=True)]
    before = replace(counts)
    going: list[Any] = list(walks)
    while going:
        still = list(in_order(lambda walk: next(walk, None) is not None, going, threads))
        going = [walk for walk, more in zip(going, still, strict=True) if more]
        vars(counts).update(vars(before))
        for c in own:
            counts.add(vars(c))
        counts.sentences = before.sentences + sum(c.sentences for c in own) // share
        yield counts


class ShuffleAverage:
    """n models on different orders; what is kept is their mean (Zhang et al. 2014, eqs. 7 and 8)."""

    extra_passes = 0
    round = None
    has_mistakes = True

    def __init__(self, context: RunContext, make: MakeRun, members: int, mean: str) -> None:
        self._setup, self._mean = context, mean
        self._runs = [make(member) for member in range(members)]

    @property
    def converged(self) -> bool:
        """When all are."""
        return all(run.converged for run in self._runs)

    def prepare(self, batches: Batches) -> None:
        """For each model."""
        for run in self._runs:
            run.prepare(batches)

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """Each model visits each example in its own order."""
        runs = self._runs
        yield from _learn_together(runs, [batch] * len(runs), counts, self._setup.threads, len(runs))

    def end_pass(self, counts: Counts) -> None:
        """For each model."""
        for run in self._runs:
            run.end_pass(counts)

    def finished(self) -> _core.SparseRows:
        """The mean of what each model would give."""
        rows = [run.finished() for run in self._runs]
        return _core.SparseRows.mean(rows, self._mean == "nonzero")

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """All begin there."""
        for run in self._runs:
            run.start_from(rows)

    def state(self) -> State:
        """Of all models."""
        states = [run.state() for run in self._runs]
        return {f"{m}.{name}": array for m, state in enumerate(states) for name, array in state.items()}

    def resume(self, state: State) -> None:
        """All of them."""
        for m, run in enumerate(self._runs):
            start = f"{m}."
            own = {name.removeprefix(start): a for name, a in state.items() if name.startswith(start)}
            run.resume(own or state)  # weights alone are for all of them


class Mixing:
    """Iterative parameter mixing (McDonald et al. 2010): a model per shard, averaged after every pass."""

    extra_passes = 0
    round = None
    has_mistakes = True

    def __init__(self, context: RunContext, make: MakeRun) -> None:
        self._setup = context
        self._runs = [make(0) for _ in range(context.threads)]
        self._apart = False  # in the middle of a pass?

    @property
    def converged(self) -> bool:
        """They see the same counts: any of them knows."""
        return self._runs[0].converged

    def prepare(self, batches: Batches) -> None:
        """For each model."""
        for run in self._runs:
            run.prepare(batches)

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """Each model visits the examples of its shard."""
        n, self._apart = len(self._runs), True
        batches = [replace(batch, order=_Shard(batch, k, n)) for k in range(n)]
        yield from _learn_together(self._runs, batches, counts, self._setup.threads, 1)

    def end_pass(self, counts: Counts) -> None:
        """All go on from the mean."""
        for run in self._runs:
            run.end_pass(counts)
        mean, steps = self._mean()
        for run in self._runs:
            run.weights, run.step = mean.clone(), steps
        self._apart = False

    def _mean(self) -> tuple[_core.WeightTable, int]:
        tables = [run.weights for run in self._runs]
        mean = _core.WeightTable.mixed(tables, self._setup.index, self._setup.structure.row_width)
        return mean, max(run.step for run in self._runs)

    def finished(self) -> _core.SparseRows:
        """The mean of the models."""
        return _core.SparseRows.mean([run.finished() for run in self._runs], False)

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """All begin there."""
        for run in self._runs:
            run.start_from(rows)

    def state(self) -> State:
        """Between passes all models are the same; after Ctrl-C it is that of their mean."""
        first = self._runs[0]
        if not self._apart:
            return first.state()
        for run in self._runs:
            run.weights.catch_up(run.step)
        own = first.weights, first.step
        first.weights, first.step = self._mean()
        state = first.state()
        first.weights, first.step = own
        return state

    def resume(self, state: State) -> None:
        """All from the same state."""
        for run in self._runs:
            run.resume(state)


class _Shard:
    """The part of a batch's order that is one shard's: every n-th sentence."""

    def __init__(self, batch: TrainingBatch, k: int, n: int) -> None:
        self._batch, self._k, self._n = batch, k, n

    def __call__(self, member: int) -> Any:
        order = self._batch.order(member)
        return order[order % self._n == self._k]


class MeanStart:
    """BPM initialisation (Kazama and Torisawa 2007): one extra pass of k models, whose mean is the start."""

    extra_passes = 1
    round = None
    has_mistakes = True

    def __init__(self, context: RunContext, make: MakeRun, starters: int, run: LearnerRun) -> None:
        self._setup, self._run = context, run
        # Orders of their own: the models of shuffle-average use the first numbers.
        self._starters = [make(1000 + k) for k in range(starters)]
        self._idle = False  # did the start leave nothing to learn?

    @property
    def converged(self) -> bool:
        """As the run that was started."""
        return self._idle or self._run.converged

    def prepare(self, batches: Batches) -> None:
        """For the models of the start and the run."""
        for run in (*self._starters, self._run):
            run.prepare(batches)

    def learn(self, batch: TrainingBatch, counts: Counts) -> Iterator[Counts]:
        """The first pass is for the start, the others for the run."""
        if not self._starters:
            yield from self._run.learn(batch, counts)
            return
        n = len(self._starters)
        yield from _learn_together(self._starters, [batch] * n, counts, self._setup.threads, n)

    def end_pass(self, counts: Counts) -> None:
        """After the first pass: the start of the run."""
        if not self._starters:
            self._run.end_pass(counts)
            return
        for run in self._starters:
            run.end_pass(counts)
        self._run.start_from(_core.SparseRows.mean([run.weights.current for run in self._starters], False))
        self._starters, self._idle = [], counts.updates == 0

    def finished(self) -> _core.SparseRows:
        """Of the run."""
        if self._starters:
            return _core.SparseRows.mean([run.finished() for run in self._starters], False)
        return self._run.finished()

    def voters(self) -> None:
        """Nobody votes."""

    def provenance(self) -> None:
        """Nobody keeps them."""

    def start_from(self, rows: _core.SparseRows) -> None:
        """Who is given weights needs no start."""
        self._starters, self.extra_passes = [], 0
        self._run.start_from(rows)

    def state(self) -> State:
        """Of the run."""
        return self._run.state()

    def resume(self, state: State) -> None:
        """It was started before."""
        self._starters, self.extra_passes = [], 0
        self._run.resume(state)
