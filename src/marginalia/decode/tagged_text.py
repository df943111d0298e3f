"""A labelled text: tokens and spans with their places in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from marginalia.corpus.records import Span
from marginalia.corpus.tokenizers import Offsets, tokenizer_named, tokenizer_of
from marginalia.decode.plain_data import PlainData
from marginalia.decode.tagged import Tagged
from marginalia.errors import DataError
from marginalia.model import SavedModel

_COLUMNS = ("conll", "conllu")
_LINE = re.compile(r"[^\r\n]+")


class TextToken(NamedTuple):
    """A token, its characters `start` to `end` (exclusive), its label, and how probable that is."""

    text: str
    start: int
    end: int
    label: str
    confidence: float | None = None


class TextSpan(NamedTuple):
    """A labelled span, its characters `start` to `end` (exclusive), and how probable it is."""

    text: str
    start: int
    end: int
    label: str
    confidence: float | None = None


@dataclass(frozen=True)
class TaggedText(PlainData):
    """A labelled text: its tokens, and the spans that their labels spell (none if they are plain tags). Each
    line of the text is a sentence."""

    text: str
    tokens: tuple[TextToken, ...]
    spans: tuple[TextSpan, ...]


def text_tokenizer(saved: SavedModel) -> str:
    """What cuts text as the model's training text was cut; tokens of column files, of which nobody knows how
    they were cut, are taken for words."""
    return "words" if saved.format in _COLUMNS else tokenizer_of(saved.format, saved.options)


def cut_lines(text: str, tokenizer: str) -> list[Offsets]:
    """The places of the tokens of each line that has some."""
    tokenize = tokenizer_named(tokenizer)
    lines = ((line.start(), tokenize(line[0])) for line in _LINE.finditer(text))
    return [[(first + start, first + end) for start, end in found] for first, found in lines if found]


def check_text_only(columns: Sequence[str], explicit: bool) -> None:
    """An error unless a model needs nothing but words."""
    if explicit:
        raise DataError("a text has no attributes of tokens, which this model was trained on: call tag")
    if len(columns) > 1:
        raise DataError(
            f"a text has words only, but this model needs the columns {', '.join(columns)}: call tag with "
            "a mapping from column names to lists"
        )


def tagged_text(text: str, lines: Sequence[Offsets], tagged: Sequence[Tagged]) -> TaggedText:
    """The labelled text of its lines."""
    tokens: list[TextToken] = []
    spans: list[TextSpan] = []
    for offsets, line in zip(lines, tagged, strict=True):
        sure = line.label_confidence or (None,) * len(offsets)
        tokens += [
            TextToken(text[start:end], start, end, label, p)
            for (start, end), label, p in zip(offsets, line.labels, sure, strict=True)
        ]
        spans += _spans_of(text, offsets, line)
    return TaggedText(text, tuple(tokens), tuple(spans))


def _spans_of(text: str, offsets: Offsets, line: Tagged) -> list[TextSpan]:
    sure = line.span_confidence or (None,) * len(line.spans)
    return [_placed(text, offsets, span, p) for span, p in zip(line.spans, sure, strict=True)]


def _placed(text: str, offsets: Offsets, span: Span, confidence: float | None) -> TextSpan:
    start, end = offsets[span.start][0], offsets[span.end - 1][1]
    return TextSpan(text[start:end], start, end, span.label, confidence)
