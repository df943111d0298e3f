"""What a corpus is made of: sentences and labelled spans of their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Span(NamedTuple):
    """Tokens `start` to `end` (exclusive) carry `label`; spans sort by place."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, slots=True)
class Certainty:
    """How sure a model is of its output for a sentence: of all, of each token, of each span."""

    sentence: float
    tokens: list[float]
    spans: dict[Span, float]

    def of_tokens(self) -> list[float | None]:
        """The certainty of the span of each token."""
        found: list[float | None] = [None] * len(self.tokens)
        for span, certainty in self.spans.items():
            found[span.start : span.end] = [certainty] * (span.end - span.start)
        return found


@dataclass(slots=True)
class Sentence:
    """One sentence: named columns of equal length, and where it came from.

    The column `attributes` holds not texts but the attributes of each token, as lists of strings or
    dictionaries. `offsets` are the character offsets of the tokens in `text`; `document` counts the document
    marks read so far; `origin` is what the reader kept to write the sentence back in the same shape. What a
    model says may come with its certainty, with spans that it took back because it was not sure of them, with
    constraints that it could not meet (`broken`), and with alternatives: labelled copies of the sentence,
    best first, and what is known of each.
    """

    columns: dict[str, list[Any]]
    text: str | None = None
    offsets: list[tuple[int, int]] | None = None
    comments: list[str] = field(default_factory=list)
    document: int = 0
    line: int = 0
    spans: list[Span] = field(default_factory=list)
    origin: Any = field(default=None, repr=False, compare=False)
    certainty: Certainty | None = None
    taken_back: list[Span] | None = None
    broken: tuple[str, ...] = ()
    alternatives: list[tuple[dict[str, Any], Sentence]] = field(default_factory=list)

    @property
    def tokens(self) -> list[Any]:
        """The column `word`, or the first one."""
        return self.columns["word"] if "word" in self.columns else next(iter(self.columns.values()))

    def __len__(self) -> int:
        return len(self.tokens)
