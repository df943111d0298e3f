"""Labels that leave open what is right: sets of labels instead of labels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

from marginalia.corpus.blocks import Block
from marginalia.corpus.partial import Contradiction, Spans, Tags, is_open
from marginalia.corpus.schemes import repair, validate
from marginalia.corpus.streams import breaks_columns

Allowed = list[frozenset[str]]


class OpenBlock(NamedTuple):
    """What each token of each sentence of a block may be, and how many labels were repaired."""

    allowed: list[Allowed]
    repaired: int


class OpenLabels:
    """How the labels of blocks are read if some of them may be open."""

    def __init__(self, names: Iterable[str], scheme: str | None, encoding: str | None) -> None:
        self._scheme = scheme
        self._meaning = Tags(names) if scheme is None else Spans(names, scheme, str(encoding))

    @property
    def labels(self) -> list[str]:
        """All labels that a token may have whose label is open."""
        return self._meaning.labels

    def read(self, block: Block, column: str, *, mend: bool) -> OpenBlock | None:
        """What each token may be; None if all labels of the block are complete."""
        names, ids = block.table.distinct(block.index(column))
        if not any(map(is_open, names)):
            return None
        for number, name in enumerate(names):
            breaks = f"found label {name!r}, expected one without tabs and line breaks"
            if why := breaks if breaks_columns(name) else self._meaning.complaint(name):
                raise block.error(why, int((ids == number).argmax()), column)
        found, repaired = [], 0
        for first, last in pairwise(block.table.sentence_starts.tolist()):
            labels = [names[i] for i in ids[first:last].tolist()]
            allowed, changed = self._sentence(block, column, first, labels, mend)
            found.append(allowed)
            repaired += changed
        return OpenBlock(found, repaired)

    def _sentence(
        self, block: Block, column: str, first: int, labels: list[str], mend: bool
    ) -> tuple[Allowed, int]:
        complete, repaired = not any(map(is_open, labels)), 0
        if complete and self._scheme and (problems := validate(labels, self._scheme)):
            if not mend:
                raise block.error(problems[0].why, first + problems[0].position, column)
            labels, repaired = repair(labels, self._scheme)
        allowed = self._meaning.of(labels)
        if isinstance(allowed, Contradiction):
            t = allowed.token
            before = f"after {labels[t - 1]}" if t else "at the start of a sentence"
            raise block.error(
                f"found {labels[t]} {before}, which no labels of {self._scheme} fit together with the others",
                first + t,
                column,
            )
        return allowed, repaired
