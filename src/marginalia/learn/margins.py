"""By how much gold outputs beat the best wrong ones, for all training examples, on several cores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.decode.structures import StructureBatch, TrainingStructure
from marginalia.decode.threads import in_order
from marginalia.learn.run import TrainingBatch

Vector = npt.NDArray[np.float64]


def margins_of(
    structure: TrainingStructure, rows: _core.SparseRows, batches: Iterable[TrainingBatch], threads: int
) -> Iterator[tuple[TrainingBatch, Vector]]:
    """Each batch with the margins of its examples, infinite where there is no wrong output."""
    for batch in batches:
        yield batch, _in_parts(structure.batch(batch.examples), rows, batch.examples.sentences, threads)


def _in_parts(examples: StructureBatch, rows: _core.SparseRows, size: int, threads: int) -> Vector:
    """More parts than threads, so that one with long sentences keeps nobody waiting."""
    bounds = np.linspace(0, size, 4 * threads + 1).astype(int).tolist()

    def part(bounds: tuple[int, int]) -> Vector:
        return examples.margins(rows, *bounds)[0]

    return np.concatenate(list(in_order(part, pairwise(bounds), threads)))


def given_weights(batch: TrainingBatch) -> Vector:
    """How much each example of a batch counts, as the user said."""
    return batch.sample_weights if len(batch.sample_weights) else np.ones(batch.examples.sentences)
