"""Why a model prefers one output to another: the difference of their scores, term by term."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from marginalia.decode.tagged import Tagged
from marginalia.model.provenance import Citation

KINDS = ("feature", "transition", "dictionary", "constraint", "normaliser", "global", "rule", "sigmoid")
"""What a score is split over. Constraints forbid outputs and add nothing to scores; they come first."""


class Side(NamedTuple):
    """What one of the two outputs has of a reason: the labels that it is seen with, and its weight."""

    labels: tuple[str, ...]
    weight: float


class Reason(NamedTuple):
    """One part of the difference of two scores.

    It speaks of the tokens `start` to `end` (exclusive). A side is None if that output has no such term.
    `citations` are training examples that taught the weights, with their parts of the difference.
    """

    kind: str
    words: str
    feature: str
    template: str | None
    start: int
    end: int
    chosen: Side | None
    other: Side | None
    difference: float
    citations: tuple[Citation, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        sides = {
            name: None if side is None else {"labels": list(side.labels), "weight": side.weight}
            for name, side in (("chosen", self.chosen), ("other", self.other))
        }
        own = ("kind", "words", "feature", "template", "start", "end", "difference")
        found: dict[str, Any] = {name: getattr(self, name) for name in own}
        return found | sides | {"citations": [citation.to_json() for citation in self.citations]}


@dataclass(frozen=True)
class Explanation:
    """The chosen output, another one, and all reasons for the difference of their scores, largest first."""

    chosen: Tagged
    other: Tagged
    against: str
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...] = ()

    @property
    def tokens(self) -> tuple[str, ...]:
        """Those of the sentence."""
        return self.chosen.tokens

    @property
    def difference(self) -> float:
        """By how much the chosen output is preferred: the sum of the reasons."""
        return math.fsum(reason.difference for reason in self.reasons)

    @property
    def by_kind(self) -> dict[str, float]:
        """The difference by kind of reason."""
        return {kind: math.fsum(r.difference for r in self.reasons if r.kind == kind) for kind in KINDS}

    def rest(self, top: int | None) -> tuple[int, float]:
        """How many reasons there are besides the first ones, and what they sum to."""
        left = [] if top is None else self.reasons[top:]
        return len(left), math.fsum(reason.difference for reason in left)

    def to_json(self, top: int | None = None) -> dict[str, Any]:
        """Plain data, with the first reasons only if `top` is given; what is left out is summed up."""
        count, sum_ = self.rest(top)
        return {
            "tokens": list(self.tokens),
            "chosen": {"labels": list(self.chosen.labels), "score": self.chosen.score},
            "other": {"labels": list(self.other.labels), "score": self.other.score, "what": self.against},
            "difference": self.difference,
            "by_kind": self.by_kind,
            "reasons": [reason.to_json() for reason in self.reasons[:top]],
            "rest": {"reasons": count, "difference": sum_},
            "notes": list(self.notes),
        }

    def quoting(self, text_of: Callable[[Citation], str | None]) -> Explanation:
        """The explanation with the texts of cited examples, where they are known."""
        reasons = (
            r._replace(citations=tuple(replace(c, text=text_of(c)) for c in r.citations))
            for r in self.reasons
        )
        return replace(self, reasons=tuple(reasons))

    def to_text(self, top: int | None = None) -> str:
        """For people to read; the numbers add up as they are printed."""
        from marginalia.decode.explanation_text import lines_of

        return "".join(f"{line}\n" for line in lines_of(self, top))

    def __str__(self) -> str:
        return self.to_text()

    def to_html(self, top: int | None = None) -> str:
        """A page that needs nothing else."""
        from marginalia.decode.explanation_html import page_of

        return page_of(self, top)
