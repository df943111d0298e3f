"""Which examples taught a weight: settings, and where examples come from. The sums are in
core/weights/provenance.hpp, the formulas in docs/provenance.md."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from marginalia.config import Settings, setting
from marginalia.corpus.blocks import Block
from marginalia.model.provenance import Arrays


@dataclass(frozen=True, kw_only=True)
class ProvenanceSettings(Settings):
    """Settings of provenance."""

    provenance: bool = setting(
        False, "Keep in the model which training examples taught each weight, and how much."
    )
    contributions: int = setting(
        10,
        "With provenance=on: how many examples of each weight, those that taught it most; 0: all.",
        0,
        2**31,
        formerly=("lessons",),
    )


class Origins:
    """The files and lines of examples, in the order of their numbers."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._ends: list[int] = []
        self._lines: list[int] = []

    def add(self, block: Block, units: Block) -> None:
        """The next examples: `units` are what is made of the block's sentences."""
        path = block.file or ""
        if not self._paths or self._paths[-1] != path:
            self._paths.append(path)
            self._ends.append(len(self._lines))
        starts = units.table.sentence_starts[:-1]
        if block.sentence_lines is None:
            by_token = block.table.lines
            self._lines += [int(by_token[t]) if t < len(by_token) else 0 for t in starts.tolist()]
        else:
            sentences = np.searchsorted(block.table.sentence_starts[:-1], starts, "left")
            self._lines += [block.sentence_lines[s] for s in sentences.tolist()]
        self._ends[-1] = len(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def files(self) -> list[str]:
        """Their names, without folders: a model tells nothing of the machine that it was trained on."""
        return [os.path.basename(path) for path in self._paths]

    def arrays(self) -> Arrays:
        """For the model file."""
        ends, lines = np.array(self._ends, np.uint32), np.array(self._lines, np.uint32)
        return {"file_end": ends, "example_lines": lines}
