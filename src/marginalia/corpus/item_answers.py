"""Items written back in their own format with what a model answers: the class, and fields beside it.

All that was read stays as it was. The class goes to the field that the model was trained on; if an item has
one already, to `predicted`. In item lines it takes the place of the one that was there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from marginalia.corpus.answers import Answer, Ranked
from marginalia.corpus.batches import Batch, Layout
from marginalia.corpus.items import ItemBatch, ItemRecord, separator_of
from marginalia.corpus.partial import UNKNOWN
from marginalia.errors import SettingsError

PREDICTED = "predicted"
"""The field of the class where that of the model holds another one already."""

Fields = Mapping[str, Any]


class ClassWriter:
    """Writes batches of items back with a model's answers: `LabelWriter` for items."""

    def __init__(self, target: BinaryIO, layout: Layout, labels: Sequence[str]) -> None:
        self._writer, self._labels = ItemWriter(target, layout), labels

    def write(self, batch: Batch, answer: Answer) -> None:
        """The batch with `labels[ids[item]]`; without a class where the model abstains."""
        assert isinstance(batch, ItemBatch), "items are read as such"
        self._writer.write(batch, [self._fields(answer, i) for i in range(len(answer.ids))])

    def _fields(self, answer: Answer, i: int) -> dict[str, Any]:
        label, sure, taken = self._labels[answer.ids[i]], answer.confidence, answer.taken_back
        fields: dict[str, Any] = {"": label}
        if sure is not None:
            fields["confidence"] = _rounded(sure.token[i])
        if taken is not None:
            back = self._labels[taken[i]]
            fields |= {
                "": None if label == UNKNOWN else label,
                "abstained": None if back == UNKNOWN else back,
            }
        return fields | ({"broken": list(answer.broken[i])} if i in answer.broken else {})

    def write_best(self, batch: Batch, ranked: Sequence[Ranked]) -> None:
        """The batch with the best classes of each item, their scores and, if there are any, probabilities."""
        assert isinstance(batch, ItemBatch), "items are read as such"
        items = range(batch.block.table.sentences)
        self._writer.write_best(batch, [list(self._ranks(ranked, i)) for i in items])

    def _ranks(self, ranked: Sequence[Ranked], i: int) -> Iterator[dict[str, Any]]:
        for rank, one in enumerate(ranked, 1):
            if not np.isnan(one.scores[i]):
                sure = one.probabilities
                yield {
                    "": self._labels[one.ids[i]],
                    "rank": rank,
                    "score": _rounded(one.scores[i]),
                    **({} if sure is None else {"probability": _rounded(sure[i])}),
                }


def _rounded(number: float) -> float:
    return round(float(number), 4)


class ItemWriter:
    """Writes batches of items back, one after the other.

    Answers are fields, of each item or of each of its best classes; the first is that of the class, called
    "". In tables all items have the same ones.
    """

    def __init__(self, target: BinaryIO, layout: Layout) -> None:
        self._target, self._layout = target, layout

    def write(self, batch: ItemBatch, answers: Sequence[Fields]) -> None:
        """A batch with an answer for each item."""
        if batch.records is None:
            self._replace(batch, answers)
        elif self._layout.format == "jsonl":
            lines = map(self._object, batch.records, answers)
            self._put(batch, lines)
        else:
            self._put_rows(batch, [[answer] for answer in answers])

    def write_best(self, batch: ItemBatch, answers: Sequence[Sequence[Fields]]) -> None:
        """A batch with the best answers for each item: a list `alternatives`, or a line for each one."""
        if batch.records is None:
            raise SettingsError("item lines have no place for alternatives: use jsonl, csv or tsv.")
        if self._layout.format != "jsonl":
            self._put_rows(batch, answers)
            return
        name = self._layout.label
        listed = [[{k or name: v for k, v in one.items()} for one in best] for best in answers]
        first = [
            {"": best[0][""]} | {"alternatives": all_} for best, all_ in zip(answers, listed, strict=True)
        ]
        self._put(batch, map(self._object, batch.records, first))

    def _put(self, batch: ItemBatch, lines: Any) -> None:
        before = (record.before for record in batch.records or ())
        text = "".join(a + b for a, b in zip(before, lines, strict=True))
        self._target.write((batch.head + text + batch.tail).encode())

    def _object(self, record: ItemRecord, answer: Fields) -> str:
        """The line with more fields before its last bracket."""
        name = PREDICTED if self._layout.label in record.fields else self._layout.label
        fields = {key or name: value for key, value in answer.items()}
        line = record.raw.rstrip()
        rest = record.raw[len(line) :]
        if fields.keys() & record.fields.keys():
            return json.dumps({**record.fields, **fields}, ensure_ascii=False) + rest
        added = json.dumps(fields, ensure_ascii=False)[1:-1]
        return f"{line[:-1].rstrip()}{', ' if record.fields else ''}{added}}}{rest}"

    def _put_rows(self, batch: ItemBatch, answers: Sequence[Sequence[Fields]]) -> None:
        """Lines with more cells; those of an item as often as it has answers."""
        records = batch.records or []
        head = batch.head
        if head:
            names = next((tuple(best[0]) for best in answers if best), ("",))
            taken = next(csv.reader([head.strip()], delimiter=separator_of(self._layout)))
            cells = [
                name or (PREDICTED if self._layout.label in taken else self._layout.label) for name in names
            ]
            head = self._extended(head, cells)
        lines = []
        for record, best in zip(records, answers, strict=True):
            whole = [self._extended(record.raw, list(map(_cell, answer.values()))) for answer in best]
            missing = len(whole) > 1 and not whole[0].endswith(("\n", "\r"))
            lines.append(("\n" if missing else "").join(whole))
        self._put(ItemBatch(batch.block, None, records, head, batch.tail), lines)

    def _extended(self, raw: str, cells: Sequence[str]) -> str:
        """A line, or several with a quoted line break, with more cells at its end."""
        line = raw.rstrip("\r\n")
        out = io.StringIO()
        csv.writer(out, delimiter=separator_of(self._layout), lineterminator="").writerow(["", *cells])
        return line + out.getvalue() + raw[len(line) :]

    def _replace(self, batch: ItemBatch, answers: Sequence[Fields]) -> None:
        if any(len(answer) > 1 for answer in answers):
            raise SettingsError(
                "item lines have no place for confidences and what was taken back: use jsonl, csv or tsv."
            )
        numbers: dict[str, int] = {}
        ids = [numbers.setdefault(str(answer[""]), len(numbers)) for answer in answers]
        column = batch.block.index(self._layout.label)
        self._target.write(batch.block.table.replace_column(column, list(numbers), np.array(ids, np.int32)))


def _cell(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return "" if value is None else str(value)
