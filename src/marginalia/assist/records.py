"""What the loop finds, as plain records: difficulties with reasons, and offers with their derivation."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from marginalia.assist.difference import Segment

FORMAT = "marginalia-assist-1"
BANDS = ("easy", "fair", "hard", "very hard")


class Plain:
    """A record that can be written as plain values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


def plain(value: Any) -> Any:
    """A value of a record as JSON has it; numbers are rounded, so that they are the same everywhere."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value.to_dict() if hasattr(value, "to_dict") else value


@dataclass(frozen=True)
class Reason(Plain):
    """Why something is hard, in words for a teacher; `weight` is how much it counts, `words` where it is."""

    name: str
    text: str
    weight: float = 0.0
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class WordReport(Plain):
    """A word, characters `start` to `end` of its sentence. `band` is the number of its difficulty for the
    reader in `BANDS`, `zipf` its frequency, `level` that of a list of words for learners, if it is in one;
    `reading` is how Japanese is read."""

    start: int
    end: int
    form: str
    lemma: str
    pos: str
    band: int
    zipf: float
    level: str = ""
    reading: str = ""
    reason: str = ""


@dataclass(frozen=True)
class SentenceReport(Plain):
    """A sentence, characters `start` to `end` of its block: how difficult it is for the reader, 0 to 100,
    and why."""

    block: int
    start: int
    end: int
    text: str
    difficulty: float
    band: int
    reasons: tuple[Reason, ...] = ()
    words: tuple[WordReport, ...] = ()
    offers: tuple[Offer, ...] | None = None


@dataclass(frozen=True)
class OfferStep(Plain):
    """One paraphrase of a derivation: the rule, what it is for, the sentence before and after it."""

    rule: str
    family: str
    why: str
    before: str
    after: str
    bindings: dict[str, str]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class CheckReport(Plain):
    """What a check made of an offer: passed, repaired or lowered, and why."""

    name: str
    action: str
    reason: str


@dataclass(frozen=True)
class Offer(Plain):
    """Something easier to say. `gain` is how much easier it is for the reader, -1 to 1; `difficulty` that
    of its hardest sentence; `kind` is structural, lexical or both; `segments` mark the difference."""

    text: str
    kind: str
    gain: float
    difficulty: float
    reason: str
    steps: tuple[OfferStep, ...]
    checks: tuple[CheckReport, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Analysis(Plain):
    """A text as a reader finds it. `difficulty` is the mean of its sentences', `scores` are those of formulas
    by their names; `versions` name everything that scores depend on."""

    name: str
    language: str
    level: str
    difficulty: float
    blocks: tuple[dict[str, str], ...]
    sentences: tuple[SentenceReport, ...]
    scores: dict[str, Any]
    versions: dict[str, str]
    format: str = FORMAT

    @property
    def hard(self) -> list[SentenceReport]:
        """Sentences that are hard, the hardest first."""
        return sorted((one for one in self.sentences if one.band > 1), key=lambda one: -one.difficulty)
