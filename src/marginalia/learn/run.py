"""What the training loop knows of a learner at work."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from marginalia import _core


@dataclass
class Counts:
    """What happened so far in a pass."""

    sentences: int = 0
    mistakes: int = 0
    tokens: int = 0
    wrong_tokens: int = 0


class LearnerRun(Protocol):
    """A learner with its structure, its weights and its settings."""

    def learn(self, examples: _core.Examples, order_seed: int | None, counts: Counts) -> Iterator[Counts]:
        """One visit to each example (in their order without a seed); yields the running counts."""

    def finished(self) -> _core.SparseRows:
        """The weights to use if training ended now."""
