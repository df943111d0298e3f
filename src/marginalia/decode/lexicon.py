"""Which labels a model gives to the words of much text: what lexicons are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from marginalia import _core
from marginalia.corpus.answers import Answer
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.corpus.lexicons import Lexicon
from marginalia.decode.tagger import Tagger
from marginalia.errors import SettingsError


class LabelCounts:
    """How often each word got each label; memory grows with the distinct words, not with the text."""

    def __init__(self, tagger: Tagger) -> None:
        self._labels, self._word = tagger.labels, tagger.feature_columns[0]
        self._counts: Counter[tuple[str, int]] = Counter()
        self.tokens = 0

    def add(self, batch: Batch, answer: Answer) -> None:
        """The words of a batch and what the model said of them."""
        self._counts.update(zip(batch.block.column(self._word), answer.ids.tolist(), strict=True))
        self.tokens += batch.block.table.tokens

    @property
    def lexicon(self) -> Lexicon:
        """The counts of labels by word."""
        found: Lexicon = {}
        for (word, label), count in self._counts.items():
            found.setdefault(word, {})[self._labels[label]] = count
        return found


def labelled_by(
    firsts: Sequence[Tagger], tagger: Tagger, batches: Iterable[Batch], threads: int
) -> Iterator[tuple[Batch, Answer]]:
    """What the last of several models says of batches, which get a column from each that goes before it."""
    for first, following in pairwise([*firsts, tagger]):
        batches = _with_labels(first, following, batches, threads)
    return tagger.tag_batches(batches, threads)


def _with_labels(first: Tagger, following: Tagger, batches: Iterable[Batch], threads: int) -> Iterator[Batch]:
    for batch, answer in first.tag_batches(batches, threads):
        yield Batch(
            _with_column(batch.block, [first.labels[i] for i in answer.ids.tolist()], first, following)
        )


def _with_column(block: Block, labels: list[str], first: Tagger, following: Tagger) -> Block:
    """The block with labels as a last column. It is called as the first model calls its labels, unless the
    next one lacks exactly one column, of another name; words are called as the next one calls them."""
    words = following.feature_columns[0]
    names = block.columns if words in block.columns else (words, *block.columns[1:])
    missing = [name for name in following.feature_columns if name not in names]
    name = missing[0] if len(missing) == 1 else first.saved.label
    if name in names:
        raise SettingsError(f"found the column '{name}' in the text already, which a first model shall give.")
    columns = [block.table.column(i) for i in range(len(names))]
    lengths = np.diff(block.table.sentence_starts).tolist()
    table = _core.from_columns([*columns, labels], lengths, block.table.documents.tolist())
    return Block(table, (*names, name), block.file, block.line)
