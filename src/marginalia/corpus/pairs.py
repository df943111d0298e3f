"""Labelled data that are given in Python, sentence records or (tokens, labels) pairs, as blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from marginalia.corpus.batches import Layout, in_groups
from marginalia.corpus.blocks import ATTRIBUTES, Block, is_attributes, pack
from marginalia.corpus.partial import has_regions, span_labels, spelled
from marginalia.corpus.records import Sentence
from marginalia.errors import DataError

_SENTENCES = 2000  # of a block


def pack_pairs(
    data: Iterable[Any], label: str | None, whole_documents: bool = False, partial: bool = False
) -> tuple[Layout, tuple[Block, ...]]:
    """The layout and the blocks of records or pairs; blocks may have to end as documents do.

    With `partial`, labels may be open.
    """
    records = [_record(item, label, number) for number, item in enumerate(data)]
    _check_counts(records, label or "label")
    records = _with_attributes(_with_labels(records, label or "label", partial), label or "label")
    if not records:
        raise DataError("found no sentences, expected at least one")
    columns = tuple(records[0].columns)
    chosen = label or columns[-1]
    if chosen not in columns or chosen == ATTRIBUTES:
        raise DataError(f"found columns {' '.join(columns)}, but no label column '{label or 'label'}'")
    records = [_spelled(record, chosen, partial) for record in records]
    explicit = any(is_attributes(record.columns.get(ATTRIBUTES, ())) for record in records)
    layout = Layout("crfsuite" if explicit else "conll", columns, chosen, partial=partial)
    groups = in_groups(iter(records), _SENTENCES, whole_documents)
    return layout, tuple(pack(part, columns) for part in groups)


def items_of(sequence: Any) -> list[Any] | None:
    """The attributes of the tokens of a sequence (also of one that python-crfsuite made); None if it is one
    of words."""
    if not isinstance(sequence, (Sequence, Mapping)) and hasattr(sequence, "items"):
        sequence = sequence.items()
    if isinstance(sequence, (str, Mapping)):
        return None
    items = list(sequence)
    return items if not items or is_attributes(items) else None


def _record(item: Any, label: str | None, number: int) -> Sentence:
    if isinstance(item, Sentence):
        return item
    if isinstance(item, str) or not isinstance(item, Sequence) or len(item) != 2:
        raise DataError(f"found {type(item).__name__}, expected a Sentence or a pair of tokens and labels")
    tokens, labels = item
    if items := items_of(tokens):
        return Sentence({ATTRIBUTES: items, label or "label": list(labels)}, document=number)
    given = dict(tokens) if isinstance(tokens, Mapping) else {"word": tokens}
    given[label or "label"] = labels
    if any(isinstance(values, str) for values in given.values()):
        raise DataError("found a string in a pair, expected a list of tokens and a list of labels")
    return Sentence({name: list(values) for name, values in given.items()}, document=number)


def _spelled(record: Sentence, label: str, partial: bool) -> Sentence:
    """The record with labels as they would stand in a file."""
    labels: Sequence[Any] = record.columns.get(label, [])
    if partial:
        return replace(record, columns=record.columns | {label: [spelled(one) for one in labels]})
    for one in labels:
        if one is None or isinstance(one, (set, frozenset, list, tuple)):
            raise DataError(
                f"found the label {one!r}, expected a string: others are for training with partial=on"
            )
    return record


def _check_counts(records: Sequence[Sentence], label: str) -> None:
    for number, record in enumerate(records, 1):
        found = len(record.columns.get(label, record))
        if found != len(record):
            raise DataError(
                f"example {number}: found {found} labels, expected {len(record)}, one for each token",
                line=record.line or None,
            )


def _with_attributes(records: list[Sentence], label: str) -> list[Sentence]:
    """If sequences are attributes of tokens, those without tokens are too."""
    if not any(is_attributes(record.columns.get(ATTRIBUTES, ())) for record in records):
        return records
    empty: dict[str, list[Any]] = {ATTRIBUTES: [], label: []}
    return [record if len(record) else replace(record, columns=empty) for record in records]


def _with_labels(records: list[Sentence], label: str, partial: bool) -> list[Sentence]:
    """Copies with a column of labels, if the sentences have spans and no such column."""
    if not any((record.spans or has_regions(record)) and label not in record.columns for record in records):
        return records
    return [
        record
        if label in record.columns
        else replace(record, columns=record.columns | {label: span_labels(record, partial=partial)})
        for record in records
    ]
