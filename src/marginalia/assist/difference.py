"""What is different between two wordings: segments that are the same, and those that were changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from marginalia.assist.sources import Edit

_WORDS = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+(?:['’-]\w+)*|\s+|.", re.DOTALL)


@dataclass(frozen=True)
class Segment:
    """Text before and after; `same` if both are one."""

    before: str
    after: str

    @property
    def same(self) -> bool:
        """Whether nothing changed here."""
        return self.before == self.after

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"before": self.before, "after": self.after}


def difference(before: str, after: str) -> tuple[Segment, ...]:
    """Segments whose texts, put together, are the two wordings; words are never cut."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    found: list[Segment] = []
    for same, left, right in _runs(old, new):
        # A blank between two changes is part of them: words that change together are shown together.
        if same and (left.strip() or not found or found[-1].same):
            found.append(Segment(left, right))
        elif found and not found[-1].same:
            found[-1] = Segment(found[-1].before + left, found[-1].after + right)
        else:
            found.append(Segment(left, right))
    return tuple(found)


def _runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[bool, str, str]]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        yield kind == "equal", "".join(old[a:b]), "".join(new[c:d])


def edits_of(segments: Sequence[Segment], start: int = 0) -> list[Edit]:
    """The edits that make the second wording of the first, which begins at `start`. An edit has at least one
    character: what is only inserted takes the character before it along, or the one behind it."""
    edits: list[Edit] = []
    at, pending = start, ""
    for number, segment in enumerate(segments):
        end = at + len(segment.before)
        if segment.same:
            if pending:
                edits.append(Edit(at, at + 1, pending + segment.before[0]))
            pending = ""
        elif end > at:
            edits.append(Edit(at, end, segment.after))
        elif edits and edits[-1].end == at:
            edits[-1] = Edit(edits[-1].start, at, edits[-1].text + segment.after)
        elif number:
            edits.append(Edit(at - 1, at, segments[number - 1].before[-1] + segment.after))
        else:
            pending = segment.after
        at = end
    return edits
