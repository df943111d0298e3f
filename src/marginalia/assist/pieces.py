"""Text that is spread over pieces of a file: runs of a document, or what is between the tags of a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from marginalia.assist.sources import Edit


@dataclass(frozen=True)
class Piece:
    """Characters `start` to `end` of a block's text; `at` says where they come from. A piece that is `whole`
    (an entity, a run of white space) is replaced whole or not at all."""

    start: int
    end: int
    at: int
    whole: bool = False


@dataclass(frozen=True)
class Change:
    """Characters `start` to `end` of a piece's own text become `text`."""

    piece: Piece
    start: int
    end: int
    text: str


def changes_of(pieces: Sequence[Piece], edits: Iterable[Edit]) -> Iterator[Change]:
    """What edits change in pieces.

    New text goes into the first piece that an edit touches, the rest of what it replaces is taken out of the
    others. Blanks that stand for line breaks are in no piece: what should replace one goes before it."""
    for edit in edits:
        text = edit.text
        touched = [piece for piece in pieces if piece.start < edit.end and edit.start < piece.end]
        for piece in touched:
            start, end = max(edit.start, piece.start), min(edit.end, piece.end)
            if piece.whole:
                start, end = piece.start, piece.end
            yield Change(piece, start - piece.start, end - piece.start, text)
            text = ""
        if not touched and text.strip():
            before = [piece for piece in pieces if piece.end <= edit.start and not piece.whole]
            if before:
                end = before[-1].end - before[-1].start
                yield Change(before[-1], end, end, f" {text.strip()}")
