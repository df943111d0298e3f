"""Items: things that get one class each, as records of named fields or as attributes.

Four formats: `jsonl` (an object a line), `csv` and `tsv` (a header line, quoting as Python's csv module reads
it) and `crfsuite` (item lines: the class, then attributes behind tabs). An item is a sentence of one token in
a block whose columns are the fields; what was read is kept, so that it can be written back with a class.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from .._core import from_columns, parse_items
from ..errors import DataError, SettingsError
from .batches import Batch, Layout
from .blocks import ATTRIBUTES, Block, column_names, line_chunks
from .partial import UNKNOWN, spelled
from .streams import Source, name_of, open_source, read_lines

ITEM_FORMATS: dict[str, tuple[str, ...]] = {
    "jsonl": (),
    "csv": ("separator", "header"),
    "tsv": ("header",),
    "crfsuite": (),
}
"""The formats of items, with the options that their readers take."""

TEXT = "text"
"""What the column is called if an item is nothing but a text."""

ITEMS = 2000
"""Of a batch."""

_SAMPLE = 2000  # records that show which fields there are
_BYTES = 1 << 20  # per batch of item lines
_SEPARATORS = {"csv": ",", "tsv": "\t"}


class ItemRecord(NamedTuple):
    """An item as it was read: its fields, its line, its text with what stood before it (blank lines)."""

    fields: Mapping[str, Any]
    line: int
    raw: str
    before: str = ""


@dataclass(frozen=True)
class ItemBatch(Batch):
    """Some items as a block; as records too, unless they are item lines. `head` and `tail` are what stands
    before the first and behind the last item of a file (a header, blank lines)."""

    records: list[ItemRecord] | None = None
    head: str = ""
    tail: str = ""


def separator_of(layout: Layout) -> str:
    """What separates the fields of a line."""
    return str(layout.options.get("separator", _SEPARATORS.get(layout.format, "\t")))


def known_suffix(path: str | os.PathLike[str]) -> str | None:
    """The format that a file's suffix (also before .gz) tells, if any: .csv, .tsv, .jsonl."""
    suffix = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1].lower().removeprefix(".")
    return suffix if suffix in (*_SEPARATORS, "jsonl") else None


def item_format(path: str | os.PathLike[str], name: str | None = None) -> str:
    """The format called `name`, else by suffix (also before .gz): .csv, .tsv; all others are JSONL."""
    if name is None:
        return known_suffix(path) or "jsonl"
    if name not in ITEM_FORMATS:
        raise SettingsError(f"found format {name!r}, but items are read from {', '.join(ITEM_FORMATS)}.")
    return name


def guess_item_layout(
    source: Source,
    format: str | None,
    columns: str | Sequence[str] | None,
    label: str | None,
    options: Mapping[str, Any],
) -> Layout:
    """The layout of a training file from what the user gave and what its first records show."""
    name, options = item_format(name_of(source), format), dict(options)
    if name not in _SEPARATORS:
        options.pop("header", None)  # that of other files beside these
    if unknown := [option for option in options if option not in ITEM_FORMATS[name]]:
        known = ", ".join(ITEM_FORMATS[name]) or "none"
        raise SettingsError(f"found the option '{unknown[0]}', but {name} files take: {known}.")
    chosen, named = label or "label", column_names(columns)
    if named and chosen not in named:
        raise SettingsError(f"label: found '{chosen}', expected one of the columns {' '.join(named)}.")
    if name == "crfsuite":
        return Layout(name, (ATTRIBUTES, chosen), chosen, items=True)
    if name in _SEPARATORS:  # as csv.DictReader has it: with names given, there is no header that has them
        plain = Layout(name, (), chosen, {**options, "header": False})
        first = next(_rows(source, plain), None) if named else None
        own = {column for column in named if column != chosen}
        options.setdefault("header", first is None or own <= set(first.fields.values()))
    layout = Layout(name, named, chosen, options, items=True)
    sample = [record for record in islice(_records(source, layout), _SAMPLE) if record.raw]
    sample = sample[_has_header(layout) :]
    if not sample:
        raise DataError("found no items, expected at least one", file=name_of(source))
    found = fields_of([record.fields for record in sample])
    if chosen not in found and not any(chosen in record.fields for record in sample):
        first = sample[0]
        raise DataError(
            f"found the fields {', '.join(first.fields)}, but no '{chosen}': name the one of the classes "
            "with --label",
            file=name_of(source),
            line=first.line,
        )
    wanted = named or tuple(found)
    return Layout(name, ordered(wanted, chosen, name_of(source)), chosen, options, items=True)


def ordered(columns: Sequence[str], label: str, file: str | None = None) -> tuple[str, ...]:
    """The columns with that of the classes last; there must be others."""
    others = [column for column in columns if column != label]
    if not others:
        raise DataError(f"found no fields beside '{label}', expected at least one", file=file)
    return (*others, label)


def fields_of(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields of records that templates may look at, by first appearance: all that hold no objects."""
    found: dict[str, bool] = {}
    for record in records:
        for name, value in record.items():
            found[name] = found.get(name, True) and _is_plain(value)
    return [name for name, plain in found.items() if plain]


def read_items(
    source: Source, layout: Layout, *, labelled: bool = False, at_once: bool = False
) -> Iterator[ItemBatch]:
    """The items of a file in batches, or `at_once`, one by one. With `labelled`, each must have a class."""
    if layout.format == "crfsuite":
        yield from _item_lines(source, layout.label, labelled)
        return
    file, records = name_of(source), _records(source, layout)
    head = ""
    if _has_header(layout):
        first = next(records)
        head, layout = first.before + first.raw, _with_header(layout, first, file)
    first_batch = True
    while listed := list(islice(records, 1 if at_once else ITEMS)):
        if first_batch:
            _check_given(listed, layout, file)
        tail = "" if listed[-1].raw else listed.pop().before  # blank lines at the end
        if listed or tail or head:
            yield ItemBatch(pack_items(listed, layout, labelled, file), None, listed, head, tail)
        first_batch, head = False, ""
    if head:
        yield ItemBatch(pack_items([], layout, labelled, file), None, [], head)


def _check_given(records: Sequence[ItemRecord], layout: Layout, file: str) -> None:
    """An error if no item at all has the field of the classes that are to be kept."""
    given, items = layout.options.get("given", ""), [record for record in records if record.raw]
    if given and items and not any(given in record.fields for record in items):
        message = f"found no item with the field '{given}'; the first has {', '.join(items[0].fields)}"
        raise DataError(message, file=file, line=items[0].line)


def pack_items(
    records: Sequence[ItemRecord], layout: Layout, labelled: bool, file: str | None = None
) -> Block:
    """A block of records: the columns of the layout, the class last if there is one."""
    columns = [name for name in layout.columns if name != layout.label]
    if (given := layout.options.get("given", "")) and given not in columns and not labelled:
        columns.append(given)  # classes that are to be kept
    for record in records:  # an empty item is one; one of other fields is a mistake
        if record.fields.keys() - {layout.label} and not any(name in record.fields for name in columns):
            raise _foreign(record.fields, columns, layout.label, file, record.line)
    flat = [[_text(record, name, file) for record in records] for name in columns]
    if labelled:
        columns.append(layout.label)
        flat.append([class_of(record, layout, file) for record in records])
    lines = [record.line for record in records]
    table = from_columns(flat, [len(records)]).as_items(lines)
    return Block(table, tuple(columns), file, lines[0] if lines else 1, sentence_lines=tuple(lines))


def _foreign(
    found: Iterable[str], columns: Iterable[str], label: str, file: str | None, line: int
) -> DataError:
    """The error for an item, or a header, with nothing in it that templates could look at."""
    expected = " or ".join(f"'{name}'" for name in columns if name != label)
    names = ", ".join(f"'{name}'" for name in found)
    return _error(f"found the fields {names}, expected {expected}", file, line)


def _error(message: str, file: str | None, line: int) -> DataError:
    """An error where an item was read; in memory items have numbers instead of lines."""
    return DataError(f"item {line}: {message}") if file is None else DataError(message, file=file, line=line)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(one is None or isinstance(one, (str, int, float)) for one in value)
    return value is None or isinstance(value, (str, int, float))


def _text(record: ItemRecord, name: str, file: str | None) -> str:
    value = record.fields.get(name)
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if not _is_plain(value):
        message = f"found {type(value).__name__} in '{name}', expected a text, a number, or a list of them"
        raise _error(message, file, record.line)
    parts = value if isinstance(value, (list, tuple)) else (value,)
    if wrong := [one for one in parts if isinstance(one, float) and not math.isfinite(one)]:
        raise _error(f"found {wrong[0]} in '{name}', expected a finite number", file, record.line)
    return " ".join(one if isinstance(one, str) else json.dumps(one) for one in parts if one is not None)


def class_of(record: ItemRecord, layout: Layout, file: str | None) -> str:
    """The class of an item, as a text; an error if there is none and there must be."""
    value = record.fields.get(layout.label)
    if isinstance(value, (bool, int, float)):
        value = json.dumps(value)
    if layout.partial:
        return spelled(value) or UNKNOWN
    if isinstance(value, str) and value:
        return value
    found = "no class" if value in (None, "") else f"the class {value!r}"
    raise DataError(
        f"found {found} in '{layout.label}', expected one: others are for training with partial=on",
        file=file,
        line=record.line or None,
    )


def _has_header(layout: Layout) -> bool:
    return layout.format in _SEPARATORS and bool(layout.options.get("header", True))


def _records(source: Source, layout: Layout) -> Iterator[ItemRecord]:
    if layout.format == "jsonl":
        return json_objects(source)
    return _rows(source, layout)


def _check_surrogates(record: Any, file: str, line: int) -> None:
    """An error for halves of surrogate pairs, which JSON can spell but UTF-8 cannot."""
    try:
        json.dumps(record, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        message = "found half of a surrogate pair (\\ud800 to \\udfff), which is no character"
        raise DataError(message, file=file, line=line) from None


def json_objects(source: Source) -> Iterator[ItemRecord]:
    """The objects of JSON lines; the last record may be blank lines alone."""
    before = ""
    for number, line in read_lines(source):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if not text.strip():
            before += line
            continue
        try:
            record = json.loads(text.rstrip())
        except json.JSONDecodeError as error:
            message = f"found no JSON: {error.msg}"
            raise DataError(message, file=name_of(source), line=number, column=error.pos + 1) from None
        except RecursionError:
            raise DataError("found JSON nested too deep", file=name_of(source), line=number) from None
        if "\\ud" in text or "\\uD" in text:
            _check_surrogates(record, name_of(source), number)
        if not isinstance(record, dict):
            raise DataError(
                f"found {type(record).__name__}, expected an object with the fields of an item",
                file=name_of(source),
                line=number,
            )
        yield ItemRecord(record, number, line, before)
        before = ""
    if before:
        yield ItemRecord({}, 0, "", before)


class _Tape:
    """Lines for the csv module; remembers those of the current record."""

    def __init__(self, source: Source) -> None:
        self._lines, self.number = read_lines(source), 0
        self.taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.number = number
            self.taken.append(line)
            yield line.removeprefix("\ufeff") if number == 1 else line

    def take(self) -> str:
        """The lines since the last time."""
        text = "".join(self.taken)
        self.taken.clear()
        return text


def _rows(source: Source, layout: Layout) -> Iterator[ItemRecord]:
    """The lines of a table: first the header, if there is one, with the names of the columns as fields."""
    import csv  # slow to load, and most data are no tables

    file, tape = name_of(source), _Tape(source)
    if len(separator_of(layout)) != 1:
        raise SettingsError(f"separator: found {separator_of(layout)!r}, expected one character.")
    rows = csv.reader(tape, delimiter=separator_of(layout))
    header = _has_header(layout)
    names: list[str] = []
    before, line = "", 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            raise DataError(f"cannot be read as csv: {error}", file=file, line=tape.number) from None
        raw, first, line = tape.take(), line, tape.number + 1
        if row is None:
            break
        if not row:  # a blank line
            before += raw
            continue
        if header and not names:
            names = _checked_header(row, file)
            yield ItemRecord(dict.fromkeys(names, ""), first, raw, before)
        else:
            names = names or _without_label(row, layout)
            yield ItemRecord(_fields(row, names, file, first, raw), first, raw, before)
        before = ""
    if header and not names:
        raise DataError("found no header, expected a line with the names of the columns", file=file)
    if before:
        yield ItemRecord({}, 0, "", before)


def _checked_header(row: list[str], file: str) -> list[str]:
    for place, name in enumerate(row):
        if name in row[:place]:
            raise DataError(f"found the column {name!r} twice, expected distinct names", file=file, line=1)
    return row


def _without_label(row: list[str], layout: Layout) -> list[str]:
    """The names of the columns of a file without a header; that of the classes may be missing."""
    if not layout.columns:
        return [str(place) for place, _ in enumerate(row)]
    without = [name for name in layout.columns if name != layout.label]
    return without if len(row) == len(without) else list(layout.columns)


def _fields(row: list[str], names: list[str], file: str, line: int, raw: str) -> dict[str, str]:
    if len(row) == len(names):
        return dict(zip(names, row, strict=True))
    why = ""
    if raw.count('"') % 2 and "\n" in raw.strip():
        why = "; is a quotation mark never closed?"
    raise DataError(
        f"found {len(row)} fields, expected {len(names)} ({', '.join(names)}){why}", file=file, line=line
    )


def _with_header(layout: Layout, header: ItemRecord, file: str) -> Layout:
    """The layout of a file whose header names its columns: those of them that the layout has."""
    given = layout.options.get("given", "")
    if given and given not in header.fields:
        message = f"found no column '{given}'; there are {', '.join(header.fields)}"
        raise DataError(message, file=file, line=header.line)
    known = [name for name in layout.columns or header.fields if name in header.fields]
    if not set(known) - {layout.label}:
        raise _foreign(header.fields, layout.columns, layout.label, file, header.line)
    return replace(layout, columns=tuple(known))


def _item_lines(source: Source, label: str, labelled: bool) -> Iterator[ItemBatch]:
    """Item lines, about a megabyte at a time."""
    file, line = name_of(source), 1
    with open_source(source) as stream:
        for text in line_chunks(stream, _BYTES):
            try:
                table = parse_items(text, first_line=line)
            except ValueError as error:
                message, at, column = (*error.args, None, None)[:3]
                raise DataError(message, file=file, line=at, column=column) from None
            block = Block(table.as_items(), (ATTRIBUTES, label), file, line)
            if labelled:
                _check_labelled(block, label)
            yield ItemBatch(block)
            line += text.count(b"\n")


def _check_labelled(block: Block, label: str) -> None:
    values, ids = block.table.distinct(block.index(label))
    for number, value in enumerate(values):
        if not value.strip():
            token = int((ids == number).argmax())
            raise block.error("found no class before the first tab, expected one", token, label)
