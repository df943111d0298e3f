"""By how much gold outputs beat the best wrong ones, for all training examples, on several cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.decode.structures import Examples, StructureInTraining
from marginalia.decode.threads import in_order
from marginalia.learn.run import Batch

Vector = npt.NDArray[np.float64]


def margins_of(
    structure: StructureInTraining, rows: _core.SparseRows, batches: Iterable[Batch], threads: int
) -> Iterator[tuple[Batch, Vector]]:
    """Each batch with the margins of its examples, infinite where there is no wrong output."""
    for batch in batches:
        yield batch, _in_parts(structure.batch(batch.examples), rows, batch.examples.sentences, threads)


def _in_parts(examples: Examples, rows: _core.SparseRows, size: int, threads: int) -> Vector:
    """More parts than threads, so that one with long sentences keeps nobody waiting."""
    bounds = np.linspace(0, size, 4 * threads + 1).astype(int).tolist()

    def part(bounds: tuple[int, int]) -> Vector:
        return examples.margins(rows, *bounds)[0]

    return np.concatenate(list(in_order(part, pairwise(bounds), threads)))


def given_weights(batch: Batch) -> Vector:
    """How much each example of a batch counts, as the user said."""
    return batch.sample_weights if len(batch.sample_weights) else np.ones(batch.examples.sentences)
