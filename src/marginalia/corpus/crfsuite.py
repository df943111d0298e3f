"""CRFsuite's item files: a token a line, its label and its attributes behind tabs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._core import from_columns, parse_items
from ..errors import DataError
from .blocks import ATTRIBUTES, Block, parsed, sentence_chunks
from .records import Sentence
from .streams import Source, Target, name_of, open_source, open_target

LABEL = "label"
COLUMNS = (ATTRIBUTES, LABEL)
_FORBIDDEN = re.compile(r"[\t\r\n\0]")


def read_item_blocks(source: Source, *, block_bytes: int = 1 << 20) -> Iterator[Block]:
    """Read an item file in blocks of whole sequences; memory stays flat however long the file is."""
    file, line = name_of(source), 1
    with open_source(source) as stream:
        for text, _ in sentence_chunks(stream, block_bytes, False):
            if text:
                yield Block(parsed(parse_items, text, file, first_line=line), COLUMNS, file, line)
            line += text.count(b"\n")


def read_crfsuite(source: Source) -> Iterator[Sentence]:
    """The sequences of an item file, with the columns `attributes` (dictionaries) and `label`."""
    for block in read_item_blocks(source):
        yield from block.sentences()


def write_crfsuite(sentences: Iterable[Sentence], target: Target) -> None:
    """Write the columns `attributes` and `label` so that `read_crfsuite` gives the same sequences back."""
    with open_target(target) as write:
        for sentence in sentences:
            if ATTRIBUTES not in sentence.columns:
                found = " ".join(sentence.columns)
                raise DataError(f"found columns {found}, expected {ATTRIBUTES}: item files hold no words")
            items = _flattened(sentence.columns[ATTRIBUTES])
            labels = sentence.columns.get(LABEL, [""] * len(items))
            write("".join(_line(label, item) for label, item in zip(labels, items, strict=True)) + "\n")


def check_labels(block: Block) -> None:
    """An error that points at the first token without a label."""
    values, ids = block.table.distinct(block.index(LABEL))
    for number, value in enumerate(values):
        if not value.strip():
            token = int((ids == number).argmax())
            raise block.error("found no label before the first tab, expected one", token, LABEL)


def _flattened(items: list[Any]) -> list[dict[str, float]]:
    try:
        table = from_columns([[""] * len(items)], [len(items)], [], items)
    except ValueError as error:
        raise DataError(str(error)) from None
    return table.attributes(0, len(items))


def _line(label: str, item: Mapping[str, float]) -> str:
    for text in (label, *item):
        if _FORBIDDEN.search(text):
            raise DataError(f"{text!r} cannot be written to an item file")
    return "\t".join([label, *map(_attribute, item, item.values())]) + "\n"


def _attribute(name: str, value: float) -> str:
    escaped = name.replace("\\", "\\\\").replace(":", "\\:")
    return escaped if value == 1 and escaped else f"{escaped}:{value!r}"
