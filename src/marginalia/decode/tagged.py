"""What a model makes of a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from marginalia.corpus.records import Span
from marginalia.corpus.schemes import spans_of


@dataclass(frozen=True)
class Tagged:
    """A labelled sentence: its tokens, a label for each, and the spans they spell (if they spell spans)."""

    tokens: tuple[str, ...]
    labels: tuple[str, ...]
    scheme: str | None = None
    score: float | None = None

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """What the labels spell; nothing if they are plain tags."""
        return tuple(spans_of(self.labels, self.scheme)) if self.scheme else ()

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(zip(self.tokens, self.labels, strict=True))
