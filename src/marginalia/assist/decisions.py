"""What somebody decided about a text: which sentences read differently now, and how that came about.

The page writes decisions, this module reads them, applies them and writes them again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from marginalia.assist.profile import Profile, profile_of
from marginalia.assist.records import Plain
from marginalia.assist.sources import Edit, PlainText
from marginalia.errors import DataError

FORMAT = "marginalia-decisions-1"


@dataclass(frozen=True)
class DecisionStep(Plain):
    """One change of a sentence: an offer that was accepted, with all that was shown of it; None: an edit."""

    before: str
    after: str
    offer: dict[str, Any] | None = None


@dataclass(frozen=True)
class Decision(Plain):
    """Characters `start` to `end` of a block, which were `before`, are `after` now, by these steps."""

    block: int
    start: int
    end: int
    before: str
    after: str
    steps: tuple[DecisionStep, ...] = ()


@dataclass(frozen=True)
class Decisions(Plain):
    """All decisions about a text, the reader that they were made for and the versions of what was used."""

    text: str
    language: str
    profile: Profile
    decisions: tuple[Decision, ...]
    versions: dict[str, str]
    format: str = FORMAT

    @property
    def result(self) -> str:
        """The text as it reads now."""
        source = PlainText(self.text)
        edits: dict[int, list[Edit]] = {}
        for one in self.decisions:
            if not self._fits(source, one):
                raise DataError(
                    f"a decision is of another text: there is no {one.before[:60]!r} at its place"
                )
            edits.setdefault(one.block, []).append(Edit(one.start, one.end, one.after))
        return source.edited(edits).decode("utf-8", "surrogatepass")

    @staticmethod
    def _fits(source: PlainText, one: Decision) -> bool:
        inside = 0 <= one.block < len(source.blocks) and 0 <= one.start < one.end
        return inside and source.blocks[one.block].text[one.start : one.end] == one.before

    def to_dict(self) -> dict[str, Any]:
        """Plain values, with the result."""
        return super().to_dict() | {"result": self.result}

    @classmethod
    def from_dict(cls, values: Any) -> Decisions:
        """Decisions of plain values; a DataError if they are none."""
        if not isinstance(values, Mapping) or values.get("format") != FORMAT:
            raise DataError(f"found no decisions, expected the format {FORMAT}")
        try:
            decisions = tuple(map(_decision, values["decisions"]))
            profile = profile_of(values["profile"])
            versions = {str(name): str(value) for name, value in values["versions"].items()}
            made = cls(_text(values["text"]), _text(values["language"]), profile, decisions, versions)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(f"found damaged decisions: {error!r}") from None
        made.result  # noqa: B018  the decisions must be of this text
        return made


def _decision(values: Any) -> Decision:
    block, start, end = (values[name] for name in ("block", "start", "end"))
    if not all(type(number) is int for number in (block, start, end)):
        raise TypeError("places must be whole numbers")
    steps = [
        DecisionStep(_text(step["before"]), _text(step["after"]), _offer(step)) for step in values["steps"]
    ]
    return Decision(block, start, end, _text(values["before"]), _text(values["after"]), tuple(steps))


def _offer(step: Any) -> dict[str, Any] | None:
    offer = step["offer"]
    if offer is not None and not isinstance(offer, dict):
        raise TypeError("an offer must be an object or null")
    return offer


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {type(value).__name__}, expected a text")
    return value
