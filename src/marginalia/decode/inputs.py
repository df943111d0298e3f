"""Sentences as users give them to a model, and the records that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from marginalia.corpus.blocks import ATTRIBUTES, is_attributes
from marginalia.corpus.pairs import items_of
from marginalia.corpus.records import Sentence
from marginalia.errors import DataError

Input = Sentence | Sequence[Any] | Mapping[str, Sequence[Any]]


def record_of(sentence: Input, needed: Sequence[str], explicit: bool, number: int = 0) -> Sentence:
    """The record of a sentence for a model that needs these columns, or explicit attributes; checked."""
    if explicit:
        return _record_of_attributes(sentence, number)
    if isinstance(sentence, Sentence):
        return sentence
    if isinstance(sentence, str):
        raise DataError(
            "found a string, expected a list of tokens (or a mapping of columns); tag_text takes raw text"
        )
    columns = sentence if isinstance(sentence, Mapping) else {needed[0]: sentence}
    if any(is_attributes(columns.get(name, ())) for name in needed):
        raise DataError(f"found attributes of tokens, but this model reads the columns {', '.join(needed)}")
    if any(isinstance(values, str) for values in columns.values()):
        raise DataError("found a string as a column, expected a list of values, one per token")
    missing = [name for name in needed if name not in columns]
    if missing:
        raise DataError(
            f"found columns {', '.join(columns)}, but this model also needs {', '.join(missing)}: "
            "pass a mapping from column names to lists"
        )
    record = Sentence({name: list(columns[name]) for name in needed}, document=number)
    if len({len(values) for values in record.columns.values()}) > 1:
        raise DataError("found columns of different lengths, expected one value per token in each")
    return record


def _record_of_attributes(sentence: Input, number: int) -> Sentence:
    given: Any = sentence.columns if isinstance(sentence, Sentence) else sentence
    items = items_of(given.get(ATTRIBUTES, ()) if isinstance(given, Mapping) else given)
    if items is None or (isinstance(given, Mapping) and ATTRIBUTES not in given):
        raise DataError(
            "found tokens or columns, but this model was trained on explicit attributes: expected a list "
            "of strings or a dictionary for each token"
        )
    if isinstance(sentence, Sentence):
        return sentence
    return Sentence({ATTRIBUTES: items}, document=number)
