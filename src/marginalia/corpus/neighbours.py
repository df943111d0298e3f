"""How often words of a text stand beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .blocks import read_blocks
from .formats import format_of
from .streams import Source

_END = np.uint32(0xFFFFFFFF)  # of a sentence; a word that is too rare
_TOKENS = 1 << 22  # that are counted at once

Counts = npt.NDArray[np.uint64]
Words = npt.NDArray[np.uint32]


class Neighbours(NamedTuple):
    """Words, the most frequent first, with their counts, and each pair of them that follow each other."""

    words: list[str]
    counts: Counts
    left: Words
    right: Words
    times: Counts


def read_tokens(source: Source, format: str) -> Iterator[list[str]]:
    """The words of each sentence of a text; of column files the first column."""
    if format == "conll":
        for block in read_blocks(source):
            words, starts = block.table.column(0), block.table.sentence_starts.tolist()
            yield from (words[a:b] for a, b in pairwise(starts))
        return
    for sentence in format_of("", format).read(source):
        yield sentence.columns["word"]


class NeighbourCounts:
    """Counts words and their neighbours. Of the text it keeps four bytes a token: which words are too rare
    to count is known at the end."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}
        self._chunks: list[Words] = []
        self._open: list[int] = []
        self.tokens = 0

    def add(self, sentence: Iterable[str]) -> None:
        """One more sentence."""
        before, ids = len(self._open), self._ids
        self._open += [ids.setdefault(word, len(ids)) for word in sentence]
        self.tokens += len(self._open) - before
        self._open.append(int(_END))
        if len(self._open) > _TOKENS:
            self._close()

    def _close(self) -> None:
        self._chunks.append(np.array(self._open, np.uint32))
        self._open = []

    def neighbours(self, least: int) -> Neighbours:
        """Of words that were seen so often; those with the same count in order of their text."""
        self._close()
        counts = np.zeros(len(self._ids) + 1, np.uint64)
        for chunk in self._chunks:
            counts += np.bincount(np.minimum(chunk, len(self._ids)), minlength=counts.size).astype(np.uint64)
        kept = [word for word, i in self._ids.items() if counts[i] >= least]
        kept.sort(key=lambda word: (-int(counts[self._ids[word]]), word))
        old = np.array([self._ids[word] for word in kept], np.int64)
        rank = np.full(counts.size, _END, np.uint32)
        rank[old] = np.arange(old.size, dtype=np.uint32)
        pairs, times = self._pairs(rank)
        left, right = (pairs >> np.uint64(32)).astype(np.uint32), pairs.astype(np.uint32)
        return Neighbours(kept, counts[old], left, right, times)

    def _pairs(self, rank: Words) -> tuple[Counts, Counts]:
        """Pairs of ranks in one number, each once, with how often they were seen."""
        keys, times = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
        for chunk in self._chunks:
            ranks = rank[np.minimum(chunk, rank.size - 1)]
            both = (ranks[:-1] != _END) & (ranks[1:] != _END)
            seen = ranks[:-1][both].astype(np.uint64) << np.uint64(32) | ranks[1:][both].astype(np.uint64)
            new, often = np.unique(seen, return_counts=True)
            keys, where = np.unique(np.concatenate([keys, new]), return_inverse=True)
            summed = np.zeros(keys.size, np.uint64)
            np.add.at(summed, where, np.concatenate([times, often.astype(np.uint64)]))
            times = summed
        return keys, times
