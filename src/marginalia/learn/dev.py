"""Held-out data: what tells a better pass from a worse one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.coder import LabelCoder, number_labels
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.corpus.source import DataSource
from marginalia.decode.structures import Extraction, TrainingStructure
from marginalia.decode.threads import in_order
from marginalia.errors import DataError
from marginalia.kinds import OutputKind
from marginalia.kinds.kind import Scores, joined


class DevSet:
    """Held-out sentences as examples, to be scored after each pass."""

    def __init__(
        self, kind: OutputKind[Any], source: DataSource, extraction: Extraction, coder: LabelCoder
    ) -> None:
        self._kind, self._coder = kind, coder
        self._examples = extraction.examples()
        gold: list[npt.NDArray[np.int32]] = []
        beside: list[dict[str, npt.NDArray[Any]]] = []
        starts: list[npt.NDArray[np.uint32]] = []
        numbers = dict(coder.numbers)  # labels that only these data have come after all others
        for block in source.blocks():
            if source.partial:
                refuse_open(block, source.layout.label, SCORED)
            gold.append(number_labels(coder.reader.complete(block), numbers))
            starts.append(block.table.sentence_starts[:-1] + sum(map(len, gold[:-1])))
            beside.append(kind.beside(block))
            with block.naming_errors():
                extraction.add(self._examples, source.units(block).table, grow=False)
        flat = np.concatenate(gold) if gold else np.zeros(0, np.int32)
        if not flat.size:
            raise DataError("found no labelled sentences, expected some to hold out", file=source.name)
        self._labels, self._beside = list(numbers), joined(beside)
        self._gold, self._starts = flat, np.concatenate(starts).astype(np.uint32)

    def score(
        self,
        structure: TrainingStructure,
        rows: _core.SparseRows,
        threads: int,
        voters: tuple[_core.Votes, int] | None = None,
    ) -> Scores:
        """How well these weights (or these voters, among so many candidates) do, on so many threads."""
        bounds = np.linspace(0, self._examples.sentences, threads + 1).astype(int).tolist()
        examples = structure.batch(self._examples)

        def decode(part: tuple[int, int]) -> npt.NDArray[np.int32]:
            return examples.best(rows, *part) if voters is None else examples.voted(rows, *voters, *part)

        predicted = np.concatenate(list(in_order(decode, pairwise(bounds), threads)))
        spans = self._coder.encoding is not None
        return self._kind.score(
            self._labels, self._gold, predicted, self._starts, spans=spans, **self._beside
        )
