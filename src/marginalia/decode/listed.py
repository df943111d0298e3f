"""Sentences in lists as batches: lists of strings are packed by the core, all else becomes records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from marginalia import _core
from marginalia.corpus.batches import Batch, in_groups
from marginalia.corpus.blocks import Block, pack
from marginalia.corpus.records import Sentence
from marginalia.decode.inputs import Input

SENTENCES = 500
"""Of a batch, usually."""


class Listed(NamedTuple):
    """A batch of given sentences, and the tokens of each as they were given."""

    batch: Batch
    tokens: Sequence[Sequence[Any]]


def batches_of(
    sentences: list[Input],
    columns: tuple[str, ...],
    record: Callable[[Input, int], Sentence],
    *,
    explicit: bool,
    whole_documents: bool,
    size: int = SENTENCES,
) -> Iterator[Listed]:
    """The sentences for a model that needs these columns, or explicit attributes; `record(sentence, number)`
    checks one that is not a list of strings for each column."""
    if explicit or any(isinstance(sentence, Sentence) for sentence in sentences):
        records = [record(sentence, number) for number, sentence in enumerate(sentences)]
        for part in in_groups(iter(records), size, whole_documents):
            yield _of_records(part, columns)
        return
    for first in range(0, len(sentences), size):
        some = sentences[first : first + size]
        table = _core.pack_lists(sentences, first, first + len(some), columns)
        if table is None:
            yield _of_records([record(one, number) for number, one in enumerate(some, first)], columns)
            continue
        tokens: list[Any] = [one[columns[0]] if isinstance(one, dict) else one for one in some]
        yield Listed(Batch(Block(table, columns, sentence_lines=(0,) * len(some))), tokens)


def _of_records(records: list[Sentence], columns: tuple[str, ...]) -> Listed:
    return Listed(Batch(pack(records, columns), records), [one.columns[columns[0]] for one in records])
