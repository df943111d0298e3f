"""A model of two stages in use: a first model labels, and a second one looks at what those labels say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from marginalia.corpus.blocks import Block
from marginalia.features.first_labels import with_first_labels
from marginalia.model import SavedModel
from marginalia.model.global_part import global_column


class StagedDecoder:
    """The answers of the second model, each of a block that has the columns of the first one."""

    def __init__(self, first: SavedModel, decoder: Any, second: Any) -> None:
        self._first, self._decoder, self._second = first, decoder, second
        self._column = global_column(first.columns, first.label)
        self._last: tuple[Block, Block] | None = None

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        answer = getattr(self._second, name)
        return lambda block, *more, **named: answer(self._widened(block), *more, **named)

    def _widened(self, block: Block) -> Block:
        """The block with the columns. Those of the last one are kept: sentences are asked for one by one."""
        last = self._last  # read at once: other threads may change it
        if last is not None and last[0] is block:
            return last[1]
        labels = [self._first.labels[i] for i in self._decoder.best(block).tolist()]
        widened = with_first_labels(block, labels, self._first.encoding, self._column)
        self._last = (block, widened)
        return widened
