"""Receipts: what a correction did, to the weights and to examples that should stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from marginalia.corpus.blocks import Block
from marginalia.corpus.coder import repairs_always
from marginalia.corpus.encode import encode_labels
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.decode.tagger import Tagger, in_order
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
class Receipt(Correction):
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


def receipt_of(
    before: Tagger, after: Tagger, replaced: int, check: Iterable[Block], label: str, threads: int = 1
) -> Receipt:
    """What the last correction of a model did; `check` are labelled blocks."""
    number = len(after.saved.corrections) - 1
    flips: list[Flip] = []
    checked = 0
    for size, found in in_order(lambda block: _flips(before, after, block, label), check, threads):
        flips += [Flip(checked + n, *rest) for n, *rest in found]
        checked += size
    told = vars(correction_of(after.saved, number))
    return Receipt(
        **told, lead=lead_of(after, number), replaced=replaced, checked=checked, flips=tuple(flips)
    )


def _flips(before: Tagger, after: Tagger, block: Block, label: str) -> tuple[int, list[tuple[Any, ...]]]:
    return block.table.sentences, list(_differences(before, after, block, label))


def _differences(before: Tagger, after: Tagger, block: Block, label: str) -> Iterator[tuple[Any, ...]]:
    """Number, tokens, right labels and both outputs of sentences that are labelled otherwise."""
    if not block.table.tokens:
        return
    old, new = (tagger.best_ids(block)[1] for tagger in (before, after))
    right, tokens = _right(before, block, label), block.readable(after.feature_columns[0])
    for number, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist()), 1):
        said = tuple(before.labels[i] for i in old[first:last].tolist())
        now = tuple(after.labels[i] for i in new[first:last].tolist())
        if said != now:
            yield number, tuple(tokens[first:last]), tuple(right[first:last]), said, now


def _right(tagger: Tagger, block: Block, label: str) -> list[str]:
    """The labels of a block, complete and legal as those that the model was trained on."""
    saved = tagger.saved
    if saved.settings.get("partial"):
        refuse_open(block, label, SCORED)
    mend = bool(saved.settings.get("repair")) or repairs_always(saved.scheme)
    names, ids, _ = encode_labels(block, label, saved.scheme, mend=mend)
    return [names[i] for i in ids.tolist()]
