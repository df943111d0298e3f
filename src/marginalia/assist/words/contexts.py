"""In which contexts English words stand: counts of words and of neighbours, and vectors made of such counts.

A line of the list (`tools/make_contexts.py`) is a word, its count, its vector (whole numbers, in base64) and
the numbers of words that follow it, each with its count. Vectors are singular vectors of counts within four
words, so that words of like use have like vectors: no network was trained.
"""

from __future__ import annotations

import math
from base64 import b64decode
from functools import cache

import numpy as np
import numpy.typing as npt

from ...errors import DataError
from .packed import SHIPPED, read_packed

Vector = npt.NDArray[np.float32]
NUMBER = "#"
"""What stands for all numbers."""


class Contexts:
    """Counts and vectors by word, in lower case; lines are read when they are first asked for."""

    def __init__(self, path: str) -> None:
        lines = read_packed(path, "contexts")
        try:
            self._total = int(lines[0])
            fields = [line.split("\t") for line in lines[1:]]
            self._rows = {row[0]: (number, int(row[1]), row[2], row[3]) for number, row in enumerate(fields)}
        except (ValueError, IndexError):
            raise DataError("the list is not laid out as one of contexts", file=path) from None
        self._vectors: dict[str, Vector | None] = {}
        self._followers: dict[str, dict[int, int]] = {}

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    def count(self, word: str) -> int:
        """How often a word was seen; 0 if it is not in the list."""
        row = self._rows.get(word)
        return row[1] if row else 0

    def vector(self, phrase: str) -> Vector | None:
        """The direction of a word, or of the words of a phrase; None if none of them is known."""
        if phrase not in self._vectors:
            found = [_decoded(self._rows[word][2]) for word in phrase.split() if word in self._rows]
            self._vectors[phrase] = unit(np.sum(found, axis=0, dtype=np.float32)) if found else None
        return self._vectors[phrase]

    def follows(self, left: str, right: str) -> tuple[float, float]:
        """Of two neighbours: the log of how often they were seen by how often chance brings them together,
        and the log of one more than their count; 0 and 0 if one of them is not in the list."""
        first, second = self._rows.get(left), self._rows.get(right)
        if first is None or second is None:
            return 0.0, 0.0
        seen = self._behind(left, first[3]).get(second[0], 0)
        expected = first[1] * second[1] / self._total
        return math.log((seen + 0.5) / (expected + 0.5)), math.log1p(seen)

    def _behind(self, word: str, text: str) -> dict[int, int]:
        if word not in self._followers:
            pairs = (pair.partition(":") for pair in text.split(" ")) if text else ()
            self._followers[word] = {int(number): int(count) for number, _, count in pairs}
        return self._followers[word]


def _decoded(text: str) -> Vector:
    return unit(np.frombuffer(b64decode(text), dtype=np.int8).astype(np.float32))


def unit(vector: Vector) -> Vector:
    """A vector of length 1 in the same direction; one of length 0 stays."""
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


@cache
def contexts() -> Contexts:
    """The built-in counts, read when first asked for."""
    return Contexts(str(SHIPPED / "en" / "contexts.words"))
