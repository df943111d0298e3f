"""JSON lines: texts with character spans, or tokens with token spans or tags.

Shapes, one object a line: `{"text", "spans"}` by characters (Unicode code points), `{"tokens", "spans"}`
by tokens, `{"tokens", "tags"}`. A span is `[start, end, label]` or `{"start", "end", "label"}`, half-open.
Records in a row with the same value of `doc` are one document; one without it is a document of its own. All
other keys are kept and written back.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from ..errors import DataError, SettingsError
from .records import Sentence, Span
from .streams import Source, Target, encodable, name_of, open_target, read_lines
from .tokenizers import Offsets, Tokenizer, tokenizer_named

Record = dict[str, Any]


class Misaligned(NamedTuple):
    """A gold span that tokens cannot express, and the nearest offsets (in its own unit) that they can."""

    line: int
    start: int
    end: int
    label: str
    why: str
    nearest: tuple[int, int] | None

    def __str__(self) -> str:
        hint = "" if self.nearest is None else f"; the nearest token boundaries are {list(self.nearest)}"
        return f"line {self.line}: span [{self.start}, {self.end}, {self.label!r}] {self.why}{hint}"


class MisalignedError(DataError):
    """Some gold spans do not fit the tokens; `misaligned` lists all of them."""

    def __init__(self, misaligned: list[Misaligned], file: str) -> None:
        self.misaligned = misaligned
        lines = [f"found {len(misaligned)} spans that do not fit the tokens:", *map(str, misaligned)]
        super().__init__("\n  ".join(lines), file=file, line=misaligned[0].line)


def read_jsonl(
    source: Source,
    tokenizer: str = "words",
    *,
    misaligned: str = "error",
    problems: list[Misaligned] | None = None,
) -> Iterator[Sentence]:
    """Sentences of a JSON lines file, one per line.

    Spans whose ends are no token boundaries, or that overlap an earlier one, are all raised together
    as a `MisalignedError` after the last sentence ("error"), left out ("drop"), or widened to whole
    tokens as long as they do not overlap ("expand"). `problems` collects them in every case.
    """
    if misaligned not in ("error", "drop", "expand"):
        raise SettingsError(f"found misaligned={misaligned!r}, expected error, drop or expand")
    found = [] if problems is None else problems
    file, tokenize = name_of(source), tokenizer_named(tokenizer)
    document, key = -1, None
    for number, line in read_lines(source):
        text = line.removeprefix("\ufeff") if number == 1 else line
        if text.strip():
            record = _Line(_parse(text, file, number), file, number)
            sentence = record.sentence(tokenize, misaligned == "expand", found)
            before, key = key, record.record.get("doc")
            document += key is None or key != before
            sentence.document = document
            yield sentence
    if misaligned == "error" and found:
        raise MisalignedError(found, file)


def _parse(text: str, file: str, line: int) -> Record:
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(f"not JSON: {error.msg}", file=file, line=line, column=error.colno) from None
    except (ValueError, RecursionError) as error:  # numbers too long, nesting too deep
        raise DataError(f"not JSON: {error}", file=file, line=line, column=1) from None
    if not isinstance(record, dict):
        found = type(record).__name__
        raise DataError(f"found a JSON {found}, expected an object", file=file, line=line, column=1)
    return record


class _Line:
    """One record and its place, so that every complaint can name it."""

    def __init__(self, record: Record, file: str, number: int) -> None:
        self.record, self.file, self.number = record, file, number

    def fail(self, message: str) -> NoReturn:
        raise DataError(message, file=self.file, line=self.number)

    def sentence(self, tokenize: Tokenizer, expand: bool, problems: list[Misaligned]) -> Sentence:
        """The record as a sentence; spans that do not fit go to `problems`."""
        text, offsets = None, None
        if "tokens" in self.record:
            tokens = self.strings("tokens")
            bounds = [(i, i + 1) for i in range(len(tokens))]
        else:
            text = self.text()
            bounds = offsets = tokenize(text)
            tokens = [text[start:end] for start, end in offsets]
        columns = {"word": tokens}
        if text is None and "tags" in self.record:
            columns["label"] = self.strings("tags")
            if len(columns["label"]) != len(tokens):
                self.fail(f"found {len(columns['label'])} tags, expected {len(tokens)}, one per token")
        gold = self.spans(len(tokens) if text is None else len(text))
        spans = _aligned(gold, bounds, expand, self.number, problems)
        return Sentence(columns, text, offsets, line=self.number, spans=spans, origin=self.record)

    def text(self) -> str:
        text = self.record.get("text")
        if not isinstance(text, str) or not encodable(text):
            self.fail('found no valid "text" or "tokens", expected one of them')
        return text

    def strings(self, key: str) -> list[str]:
        values = self.record[key]
        if not isinstance(values, list) or not all(isinstance(v, str) and v and encodable(v) for v in values):
            self.fail(f'found something else in "{key}", expected a list of non-empty strings')
        return list(values)

    def spans(self, length: int) -> list[Span]:
        items = self.record.get("spans", [])
        if not isinstance(items, list):
            self.fail('found something else in "spans", expected a list')
        return [self.span(item, length) for item in items]

    def span(self, item: Any, length: int) -> Span:
        values = [item.get(key) for key in Span._fields] if isinstance(item, dict) else item
        if not (
            isinstance(values, list) and [type(v) for v in values] == [int, int, str] and encodable(values[2])
        ):
            self.fail(f"found span {item!r}, expected [start, end, label]")
        if not 0 <= values[0] < values[1] <= length:
            self.fail(f"found span {values!r}, expected 0 <= start < end <= {length}")
        return Span(*values)


def _aligned(
    gold: list[Span], bounds: Offsets, expand: bool, line: int, problems: list[Misaligned]
) -> list[Span]:
    """Token spans of the gold spans that fit, in order; of two that overlap, the earlier one stays."""
    starts, ends = [start for start, _ in bounds], [end for _, end in bounds]
    spans: list[Span] = []
    for start, end, label in sorted(gold, key=lambda span: (span.start, -span.end)):
        first, last = bisect_right(ends, start), bisect_left(starts, end)
        nearest = (starts[first], ends[last - 1]) if first < last else None
        overlaps = bool(spans) and first < spans[-1].end
        if nearest != (start, end):
            problems.append(Misaligned(line, start, end, label, "does not align with tokens", nearest))
        elif overlaps:
            problems.append(Misaligned(line, start, end, label, "overlaps an earlier span", None))
        if nearest is not None and not overlaps and (expand or nearest == (start, end)):
            spans.append(Span(first, last, label))
    return spans


def write_jsonl(sentences: Iterable[Sentence], target: Target) -> None:
    """Write each sentence in the shape it was read in, with its present spans (or `label` column as tags)."""
    with open_target(target) as write:
        for sentence in sentences:
            record = _record(sentence)
            line = json.dumps(record, ensure_ascii=False)
            write((line if encodable(line) else json.dumps(record)) + "\n")


def _record(sentence: Sentence) -> Record:
    record: Record = dict(sentence.origin) if isinstance(sentence.origin, dict) else {}
    by_characters = sentence.text is not None and sentence.offsets is not None
    if not record:
        record = {"text": sentence.text} if by_characters else {"tokens": sentence.tokens}
    if not by_characters and "label" in sentence.columns and (record.keys() & {"tags"} or not sentence.spans):
        record["tags"] = sentence.columns["label"]
    if "tags" not in record or "spans" in record:
        record["spans"] = _spans(sentence, record.get("spans", []))
    return record | _annotations(sentence, by_characters)


def _annotations(sentence: Sentence, by_characters: bool) -> Record:
    """How sure a model is, what it took back, and its other outputs."""
    found: Record = {}
    if sentence.certainty is not None:
        found["confidence"] = round(sentence.certainty.sentence, 4)
        if not by_characters:
            found["token_confidence"] = [round(p, 4) for p in sentence.certainty.tokens]
    if sentence.taken_back is not None:
        found["abstained"] = [_with_confidence(span, sentence) for span in sentence.taken_back]
    if sentence.broken:
        found["broken"] = list(sentence.broken)
    if sentence.alternatives:
        names = ("spans", "tags", "token_confidence")
        records = [
            (fields, _record(replace(other, alternatives=[]))) for fields, other in sentence.alternatives
        ]
        found["nbest"] = [fields | {k: r[k] for k in names if k in r} for fields, r in records]
    return found


def _with_confidence(span: Span, sentence: Sentence) -> Record:
    placed = _in_characters(span, sentence.offsets) if sentence.offsets else span
    found: Record = placed._asdict()
    if sentence.certainty is not None:
        found["confidence"] = round(sentence.certainty.spans[span], 4)
    return found


def _spans(sentence: Sentence, before: list[Any]) -> list[Any]:
    """Spans in the unit and the form of those before; a span that was there keeps its other keys."""
    if sentence.certainty is not None:
        return [_with_confidence(span, sentence) for span in sentence.spans]
    spans = [_in_characters(span, sentence.offsets) if sentence.offsets else span for span in sentence.spans]
    if not (before and isinstance(before[0], dict)):
        return [list(span) for span in spans]
    known = {tuple(item.get(key) for key in Span._fields): item for item in before if isinstance(item, dict)}
    return [known.get(tuple(span), span._asdict()) for span in spans]


def _in_characters(span: Span, offsets: Offsets) -> Span:
    return Span(offsets[span.start][0], offsets[span.end - 1][1], span.label)
