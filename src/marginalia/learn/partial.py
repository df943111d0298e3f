"""Training data whose labels leave open what is right: sets of labels instead of labels."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from marginalia.config import Setting
from marginalia.corpus.blocks import Block
from marginalia.corpus.partial import Contradiction, Spans, Tags, is_open
from marginalia.corpus.schemes import repair, validate

Ids = npt.NDArray[np.int32]
Allowed = list[frozenset[str]]

PARTIAL = Setting(
    "partial",
    False,
    "Labels may leave open what is right: any (_), one of several, or known by type or by prefix only.",
)


class OpenLabels:
    """The labels of blocks in which some are open; `sets` are what tokens may be, each once."""

    def __init__(self, names: Iterable[str], scheme: str | None, encoding: str | None) -> None:
        self._scheme = scheme
        self._meaning = Tags(names) if scheme is None else Spans(names, scheme, str(encoding))
        self.sets: dict[frozenset[str], int] = {}
        self.repaired = 0

    @property
    def known(self) -> bool:
        """Whether the data name any label at all."""
        return bool(self._meaning.labels)

    @property
    def labels(self) -> list[str]:
        """All labels that some token may have, if one is open."""
        return self._meaning.labels if self.sets else []

    def allowed(self, block: Block, column: str, *, mend: bool) -> list[Allowed] | None:
        """What each token of each sentence may be; None if all labels of the block are complete."""
        names, ids = block.table.distinct(block.index(column))
        if not any(map(is_open, names)):
            return None
        for number, name in enumerate(names):
            if why := self._meaning.complaint(name):
                raise block.error(why, int((ids == number).argmax()), column)
        found = []
        for first, last in pairwise(block.table.sentence_starts.tolist()):
            labels = [names[i] for i in ids[first:last].tolist()]
            found.append(self._sentence(block, column, first, labels, mend))
        return found

    def _sentence(self, block: Block, column: str, first: int, labels: list[str], mend: bool) -> Allowed:
        complete = not any(map(is_open, labels))
        if complete and self._scheme and (problems := validate(labels, self._scheme)):
            if not mend:
                raise block.error(problems[0].why, first + problems[0].position, column)
            labels, repaired = repair(labels, self._scheme)
            self.repaired += repaired
        allowed = self._meaning.of(labels)
        if isinstance(allowed, Contradiction):
            t = allowed.token
            before = f"after {labels[t - 1]}" if t else "at the start of a sentence"
            raise block.error(
                f"found {labels[t]} {before}, which no labels of {self._scheme} fit together with the others",
                first + t,
                column,
            )
        for one in allowed:
            if len(one) > 1:
                self.sets.setdefault(one, len(self.sets))
        return allowed

    def numbered(self, allowed: list[Allowed], numbers: dict[str, int]) -> Ids:
        """Label numbers, -1 - k for set k."""
        known = {one: -1 - k for one, k in self.sets.items()}
        known |= {frozenset([label]): number for label, number in numbers.items()}
        return np.array([known[one] for sentence in allowed for one in sentence], np.int32)

    def masks(self, numbers: dict[str, int]) -> npt.NDArray[np.uint8]:
        """[sets][labels], flat: 1 for each label of a set."""
        masks = np.zeros((len(self.sets), len(numbers)), np.uint8)
        for one, k in self.sets.items():
            masks[k, [numbers[label] for label in one]] = 1
        return masks.reshape(-1)
