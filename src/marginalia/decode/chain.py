"""The chain structure: in training it answers a learner about examples, in use a user about sentences.

`best`, `k_best`, `features_of` and `expectations` are the questions; see docs/chain.md for the formulas.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Setting
from marginalia.corpus.blocks import Block
from marginalia.corpus.schemes import legal_transitions
from marginalia.errors import DataError, MarginaliaError, ModelError
from marginalia.features.compiling import compile_program, has_ends, has_label_bigram
from marginalia.features.program import Program
from marginalia.model import SavedModel, phrases_of

SETTINGS = (
    Setting("order", 1, "Labels an output feature looks back: 1 for label bigrams, 2 for trigrams.", 1, 2),
    Setting(
        "legal", True, "Forbid label transitions that the scheme does not allow, in training and tagging."
    ),
)

Ids = npt.NDArray[np.int32]

# Dense transition scores take 8 bytes per label pair (order 1) or triple (order 2): refuse what cannot fit.
_MOST_LABELS = {1: 4096, 2: 256}


@dataclass(frozen=True, slots=True)
class Contribution:
    """One term of an output's score: a feature, the labels it fired with, its weight, how often."""

    feature: str
    labels: tuple[str, ...]
    weight: float
    count: int


def chain_shape(
    labels: Sequence[str], encoding: str | None, settings: dict[str, Any], program: Program
) -> _core.ChainShape:
    """The shape of a chain over these labels; too many of them are refused."""
    order = settings["order"]
    if len(labels) > _MOST_LABELS[order]:
        raise DataError(
            f"found {len(labels)} distinct labels, expected at most {_MOST_LABELS[order]} for a chain of "
            f"order {order}. Is '{labels[0]}' from the column of labels?"
        )
    start, transition, end = legal_transitions(labels, encoding if settings["legal"] else None)
    flat = np.ascontiguousarray(transition, dtype=np.uint8).reshape(-1)
    learned = has_label_bigram(program)
    local = settings.get("normalise") == "steps"
    beam = settings["beam"] if settings.get("search") == "beam" else 0
    return _core.ChainShape(len(labels), order, learned, start, flat, end, has_ends(program), local, beam)


class ChainTraining:
    """A chain over labels that are being learned: what a learner needs to know of it."""

    def __init__(
        self, labels: Sequence[str], encoding: str | None, settings: dict[str, Any], program: Program
    ) -> None:
        self._shape = chain_shape(labels, encoding, settings, program)
        self.constants = self._shape.constants

    def batch(self, examples: _core.Examples) -> _core.ChainExamples:
        """The examples as outputs of this chain."""
        return _core.ChainExamples(self._shape, examples)

    def moved_constants(self, labels: int) -> npt.NDArray[np.int64]:
        """Where each constant of a chain over only the first `labels` labels is in this one."""
        old, new = labels, self._shape.labels
        label, pair = np.arange(old), (np.arange(old)[:, None] * new + np.arange(old)).reshape(-1)
        parts = [label, new + label, 2 * new + pair]
        if self._shape.order == 2:
            older = np.append(np.arange(old), new)  # the last: before the sentence
            first = 2 * new + new * new
            parts.append((first + older[:, None] * new * new + pair).reshape(-1))
        return np.concatenate(parts).astype(np.int64)


class ChainDecoder:
    """A saved chain model, ready to use from any number of threads."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved = saved
        try:
            self._shape = chain_shape(saved.labels, saved.encoding, saved.settings, saved.program)
            self._model = _core.ChainModel(self._shape, saved.arrays)
            self._candidates = _candidates_of(saved)
            self._phrases = phrases_of(saved)
            program = compile_program(saved.program, saved.columns, self._phrases)
        except (ValueError, LookupError, TypeError, OverflowError, RuntimeError, MarginaliaError) as error:
            raise ModelError(f"the parts of the model do not fit each other: {error}") from error
        self._programs: dict[tuple[str, ...], _core.Program] = {saved.columns: program}
        self._local = threading.local()

    def best(self, block: Block) -> Ids:
        """The best label ids of all tokens of a block."""
        if not block.table.tokens:  # such a block may have no columns
            return np.zeros(0, np.int32)
        program, space = self._program(block), self._space()
        if self._candidates:
            return self._model.voted(program, block.table, self._candidates, space)
        return self._model.best(program, block.table, space)

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first, lazily; all of them if k is None."""
        return islice(self._lattice(block, sentence).k_best(), k)

    def expectations(self, block: Block, sentence: int, *, edges: bool = False) -> dict[str, Any]:
        """log Z and the probabilities of labels (`node`), label pairs (`edge`) and their expected counts."""
        return self._lattice(block, sentence).marginals(edges)

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output, -inf if it is not legal."""
        return self._lattice(block, sentence).score(np.ascontiguousarray(ids, dtype=np.uint32))

    def features_of(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Contribution]:
        """The features of an output with their weights; the sum of weight * count is its score."""
        counts: dict[tuple[int, int], int] = {}
        rows = self._model.rows(self._program(block), block.table, sentence, self._space())
        for t, edge, row in rows:
            if edge and t == 0:
                continue
            output = ids[t - 1] * len(self._saved.labels) + ids[t] if edge else ids[t]
            counts[row, output] = counts.get((row, output), 0) + 1
        found = [self._observed(row, output, n) for (row, output), n in counts.items()]
        return [c for c in found if c is not None] + self._constants(ids)

    def _observed(self, row: int, output: int, count: int) -> Contribution | None:
        saved = self._saved
        outputs, weights = saved.cells(row)
        place = np.flatnonzero(outputs == output)
        if not place.size or not weights[place[0]]:  # nearly full rows are kept with their zeros
            return None
        pair = divmod(output, len(saved.labels)) if saved.is_edge(row) else (output,)
        labels = tuple(saved.labels[i] for i in pair)
        return Contribution(saved.feature_name(row), labels, float(weights[place[0]]), count)

    def _constants(self, ids: Sequence[int]) -> list[Contribution]:
        weights = dict(
            zip(
                self._saved.arrays["constant_at"].tolist(),
                self._saved.arrays["constants"].tolist(),
                strict=True,
            )
        )
        counts: dict[tuple[str, int, tuple[int, ...]], int] = {}
        for item in constants_of(ids, len(self._saved.labels), self._shape.order):
            counts[item] = counts.get(item, 0) + 1
        return [
            Contribution(name, tuple(self._saved.labels[i] for i in labels), weights[at], n)
            for (name, at, labels), n in counts.items()
            if at in weights
        ]

    def _lattice(self, block: Block, sentence: int) -> _core.Lattice:
        return self._model.lattice(self._program(block), block.table, sentence, self._space())

    def _program(self, block: Block) -> _core.Program:
        program = self._programs.get(block.columns)
        if program is None:
            program = compile_program(self._saved.program, block.columns, self._phrases)
            self._programs[block.columns] = program
        return program

    def _space(self) -> _core.ChainSpace:
        if not hasattr(self._local, "space"):
            self._local.space = _core.ChainSpace()
        space: _core.ChainSpace = self._local.space
        return space


def _candidates_of(saved: SavedModel) -> int:
    """On how many outputs the versions of the weights vote; 0 if they do not."""
    if "vote_steps" not in saved.arrays:
        return 0
    candidates = saved.settings["candidates"]
    if not isinstance(candidates, int) or candidates < 1:
        raise ValueError(f"votes: found {candidates!r} candidates")
    if len(saved.arrays["vote_row_end"]) != len(saved.arrays["keys"]) + 1:
        raise ValueError("votes: the log does not fit the weights")
    return candidates


def constants_of(ids: Sequence[int], size: int, order: int) -> Iterator[tuple[str, int, tuple[int, ...]]]:
    """Name, place in row 0 and labels of an output's constants: the layout of core/search/lattice.hpp."""
    for t, label in enumerate(ids):
        if t == 0:
            yield "start", int(label), (label,)
        if t == len(ids) - 1:
            yield "end", int(size + label), (label,)
        if t > 0:
            yield "transition", int(2 * size + ids[t - 1] * size + label), (ids[t - 1], label)
        if t > 0 and order == 2:
            older = size if t == 1 else ids[t - 2]
            seen = (ids[t - 1], label) if t == 1 else (ids[t - 2], ids[t - 1], label)
            at = 2 * size + size * size + (older * size + ids[t - 1]) * size + label
            yield "trigram", int(at), seen
