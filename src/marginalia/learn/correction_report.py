"""Reports: what a correction did, to the weights and to examples that should stay as they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from marginalia.corpus.blocks import Block
from marginalia.decode.model import TrainedModel
from marginalia.decode.threads import in_order
from marginalia.kinds import kind_of
from marginalia.kinds.kind import Difference
from marginalia.learn.correcting import lead_of
from marginalia.model.corrections import Correction, correction_of


@dataclass(frozen=True, slots=True)
class Flip:
    """A checked sentence that a correction made the model label otherwise; `number` counts from 1."""

    number: int
    tokens: tuple[str, ...]
    right: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def kind(self) -> str:
        """`broken` (it was right), `mended` (it is right now) or `changed` (it is neither)."""
        if self.before == self.right:
            return "broken"
        return "mended" if self.after == self.right else "changed"

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {n: list(v) if isinstance(v, tuple) else v for n, v in fields.items()} | {"kind": self.kind}


@dataclass(frozen=True)
class CorrectionReport(Correction):
    """A correction, and what came of it.

    `lead`: by how much the right outputs now exceed all others in score, at least. `replaced`: how many
    examples of earlier corrections have other labels now. `checked`: how many sentences were looked at for
    `flips`.
    """

    lead: float
    replaced: int
    checked: int
    flips: tuple[Flip, ...]

    def flipped(self, kind: str) -> list[Flip]:
        """The flips of one kind."""
        return [flip for flip in self.flips if flip.kind == kind]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        # A lead over nothing is infinite, which JSON does not know.
        lead = self.lead if self.lead < float("inf") else None
        return super().to_json() | {"lead": lead, "flips": [flip.to_json() for flip in self.flips]}


def report_correction(
    before: TrainedModel,
    after: TrainedModel,
    replaced: int,
    check: Iterable[Block],
    label: str,
    threads: int = 1,
) -> CorrectionReport:
    """What the last correction of a model did; `check` are labelled blocks."""
    number = len(after.saved.corrections) - 1
    flips: list[Flip] = []
    checked = 0
    for size, found in in_order(lambda block: _flips(before, after, block, label), check, threads):
        flips += [Flip(checked + one.number, *one[1:]) for one in found]
        checked += size
    told = vars(correction_of(after.saved, number))
    return CorrectionReport(
        **told, lead=lead_of(after, number), replaced=replaced, checked=checked, flips=tuple(flips)
    )


def _flips(
    before: TrainedModel, after: TrainedModel, block: Block, label: str
) -> tuple[int, list[Difference]]:
    kind = kind_of(before.saved.structure)
    return block.table.sentences, list(kind.differences(before, after, block, label))
