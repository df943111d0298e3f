"""Items in memory: texts, dictionaries of fields, or attributes, as blocks of items (corpus/items.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._core import from_columns
from ..errors import DataError
from .batches import Layout
from .blocks import ATTRIBUTES, Block, column_names
from .items import ITEMS, TEXT, ItemRecord, class_of, fields_of, ordered, pack_items
from .records import Sentence


def item_of(item: Any, number: int = 1) -> Mapping[str, Any]:
    """The fields of an item that a program gives: a text, a dictionary of fields, or attributes."""
    if isinstance(item, str):
        return {TEXT: item}
    if isinstance(item, Sentence):
        return {name: values[0] for name, values in item.columns.items()}
    if isinstance(item, Mapping):
        return item
    if isinstance(item, (list, tuple, set, frozenset)):
        return {ATTRIBUTES: item}
    raise DataError(
        f"item {number}: found {type(item).__name__}, expected a text, a dictionary of fields, or a list of "
        "attributes"
    )


def pack_objects(items: Sequence[Any], layout: Layout, labelled: bool = False) -> Block:
    """A block of items in memory. If the layout has attributes, items are lists or dictionaries of those;
    labelled ones are fields, with the class among them."""
    if ATTRIBUTES not in layout.columns:
        fields = [item_of(item, number) for number, item in enumerate(items, 1)]
        records = [ItemRecord(one, number, "") for number, one in enumerate(fields, 1)]
        return pack_items(records, layout, labelled)
    plain = [item_of(one) if isinstance(one, Sentence) else one for one in items]
    attributes = [one[ATTRIBUTES] if isinstance(one, Mapping) and ATTRIBUTES in one else one for one in plain]
    columns, flat = [ATTRIBUTES], [[""] * len(items)]
    if labelled:
        columns.append(layout.label)
        flat.append([class_of(ItemRecord(one, 0, ""), layout, None) for one in items])
    try:
        table = from_columns(flat, [len(items)], [], attributes).as_items()
    except ValueError as error:
        raise DataError(str(error)) from None
    return Block(table, tuple(columns), sentence_lines=tuple(range(1, len(items) + 1)))


def pack_item_pairs(
    data: Iterable[Any], label: str | None, columns: str | Sequence[str] | None = None, partial: bool = False
) -> tuple[Layout, tuple[Block, ...]]:
    """The layout and the blocks of labelled items in memory: (item, class) pairs, or fields with the class
    among them."""
    chosen, fields = label or "label", []
    for number, one in enumerate(data, 1):
        if isinstance(one, (Mapping, Sentence)):
            fields.append(item_of(one))
        elif isinstance(one, (tuple, list)) and len(one) == 2:
            fields.append({**item_of(one[0], number), chosen: one[1]})
        else:
            raise DataError(
                f"item {number}: found {type(one).__name__}, expected a pair of an item and its class, or a "
                "dictionary of fields"
            )
    if not fields:
        raise DataError("found no items, expected at least one")
    layout = layout_of_objects(fields, chosen, partial)
    if named := column_names(columns):
        layout = replace(layout, columns=ordered(named, chosen))
    parts = (fields[i : i + ITEMS] for i in range(0, len(fields), ITEMS))
    return layout, tuple(pack_objects(part, layout, labelled=True) for part in parts)


def layout_of_objects(data: Sequence[Mapping[str, Any]], label: str, partial: bool) -> Layout:
    """The layout of items in memory."""
    if any(ATTRIBUTES in one and not isinstance(one[ATTRIBUTES], str) for one in data):
        return Layout("crfsuite", (ATTRIBUTES, label), label, partial=partial, items=True)
    return Layout("jsonl", ordered(fields_of(data), label), label, partial=partial, items=True)
