"""What the labels of a first model say, as columns that templates of a second one look at (docs/stages.md).

A *type* is the type of the span that a token is in, `O` outside of spans, or the label itself if labels spell
no spans. Words are compared in lower case. Of several types the most frequent counts, of equally frequent
ones the first in order of code points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from marginalia._core import from_columns
from marginalia.corpus.blocks import Block
from marginalia.corpus.schemes import spans_of
from marginalia.features.documents import FIRST_COLUMNS
from marginalia.features.program import LENGTHS, Template, TemplateProgram, Value

NONE, OUTSIDE = "_", "O"
_MOST = 3  # other tokens that `first-agreement` counts

Phrase = tuple[str, ...]


def without_first_labels(program: TemplateProgram) -> TemplateProgram:
    """The program of a first model: without the templates that look at its labels."""

    def attributes_of(template: Template) -> list[int]:
        values = [piece for piece in template.pieces if isinstance(piece, Value)]
        return [value.attribute for value in values if value.anchor not in LENGTHS]

    def of_first(template: Template) -> bool:
        return any(program.attributes[a].column in FIRST_COLUMNS for a in attributes_of(template))

    left = [template for template in program.templates if not of_first(template)]
    used = sorted({attribute for template in left for attribute in attributes_of(template)})
    numbers = {old: new for new, old in enumerate(used)}

    def moved(piece: str | Value) -> str | Value:
        if isinstance(piece, str) or piece.anchor in LENGTHS:
            return piece
        return replace(piece, attribute=numbers[piece.attribute])

    templates = tuple(replace(template, pieces=tuple(map(moved, template.pieces))) for template in left)
    return replace(program, attributes=tuple(program.attributes[a] for a in used), templates=templates)


class _Span(NamedTuple):
    first: int  # tokens of the document
    last: int  # exclusive
    label: str
    words: Phrase


def with_first_labels(block: Block, labels: Sequence[str], encoding: str | None, column: str) -> Block:
    """A block with the columns that follow from a first model's labels of its tokens."""
    table = block.table
    starts, documents = table.sentence_starts.tolist(), np.asarray(table.documents).tolist()
    words = [word.lower() for word in block.column(column)]
    upper = [word[:1].isupper() for word in block.column(column)]
    added: list[list[str]] = [[] for _ in FIRST_COLUMNS]
    for first, last in _documents(documents):
        bounds = starts[first : last + 1]
        part = slice(bounds[0], bounds[-1])
        document = _Document(words[part], labels[part], [at - bounds[0] for at in bounds], encoding)
        for values, new in zip(added, document.columns(upper[part]), strict=True):
            values += new
    kept = [table.column(c) for c in range(len(block.columns))]
    lengths = np.diff(table.sentence_starts).tolist()
    made = from_columns([*kept, *added], lengths, documents)
    return Block(made, (*block.columns, *FIRST_COLUMNS), block.file, sentence_lines=_lines(block))


def _documents(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The first sentence of each document, and the one behind its last."""
    first = 0
    for s in range(1, len(numbers) + 1):
        if s == len(numbers) or numbers[s] != numbers[first]:
            yield first, s
            first = s


def _lines(block: Block) -> tuple[int, ...]:
    if block.sentence_lines is not None:
        return block.sentence_lines
    lines, starts = block.table.lines, block.table.sentence_starts
    return tuple(int(lines[a]) if a < b else block.line for a, b in pairwise(starts))


@dataclass
class _Document:
    """The labels of a document, counted by words and by phrases."""

    words: Sequence[str]
    labels: Sequence[str]
    bounds: Sequence[int]  # where sentences begin, and the end
    encoding: str | None

    def __post_init__(self) -> None:
        self._spans = list(self._find_spans())
        self._types = [OUTSIDE] * len(self.words) if self.encoding else list(self.labels)
        self._same: dict[Phrase, Counter[str]] = {}
        self._longer: dict[Phrase, Counter[str]] = {}
        for span in self._spans:
            self._types[span.first : span.last] = [span.label] * (span.last - span.first)
            self._same.setdefault(span.words, Counter())[span.label] += 1
            for part in _shorter(span.words):
                self._longer.setdefault(part, Counter())[span.label] += 1
        self._by_word: dict[str, Counter[str]] = {}
        for word, type in zip(self.words, self._types, strict=True):
            self._by_word.setdefault(word, Counter())[type] += 1

    def _find_spans(self) -> Iterator[_Span]:
        if self.encoding is None:
            return
        for begin, end in pairwise(self.bounds):
            for found in spans_of(self.labels[begin:end], self.encoding):
                first, last = begin + found.start, begin + found.end
                yield _Span(first, last, found.label, tuple(self.words[first:last]))

    def columns(self, upper: Sequence[bool]) -> list[list[str]]:
        """The values of `FIRST_COLUMNS` at all tokens; `upper` ones begin with an upper-case letter."""
        size = len(self.words)
        elsewhere, agreement, same, longer = ([NONE] * size for _ in range(4))
        for t in (t for t in range(size) if upper[t]):
            others = _others(self._by_word[self.words[t]], self._types[t])
            elsewhere[t], agreement[t] = _most_frequent(others), _agreement(others)
        for span in self._spans:
            values = [_most_frequent(_others(self._same[span.words], span.label))]
            values.append(_most_frequent(self._longer.get(span.words, Counter())))
            for t in range(span.first, span.last):
                same[t], longer[t] = values
        return [list(self.labels), elsewhere, agreement, same, longer]


def _shorter(phrase: Phrase) -> Iterator[Phrase]:
    """All parts of a phrase but itself, each as often as it has it."""
    size = len(phrase)
    for first in range(size):
        for last in range(first + 1, size + 1):
            if last - first < size:
                yield phrase[first:last]


def _others(counts: Counter[str], own: str) -> Counter[str]:
    """The types of all but one."""
    left = counts.copy()
    left[own] -= 1
    return +left


def _most_frequent(counts: Counter[str]) -> str:
    return min(counts, key=lambda type: (-counts[type], type), default=NONE)


def _agreement(counts: Counter[str]) -> str:
    """The most frequent type, `!` if there is no other and `~` if there is, and how many they are."""
    if not counts:
        return NONE
    return f"{_most_frequent(counts)}{'!' if len(counts) == 1 else '~'}{min(counts.total(), _MOST)}"
