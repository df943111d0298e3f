"""Why a model prefers one output to another: the difference of their scores, term by term."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block
from marginalia.decode.against import Other, other_output
from marginalia.decode.constraints import At
from marginalia.decode.decoder import Term
from marginalia.decode.demands import Demands, Met
from marginalia.decode.settings import SearchSettings
from marginalia.decode.structures import StructureInUse
from marginalia.decode.tagged import Tagged, UserLabels
from marginalia.decode.wording import Seen, words_of
from marginalia.errors import DataError, ModelError
from marginalia.features.compiling import extracted, shown
from marginalia.model import SavedModel
from marginalia.model.provenance import Citation, Provenance

KINDS = ("feature", "transition", "dictionary", "constraint", "normaliser")
"""What a score is split over. Constraints forbid outputs and add nothing to scores; they come first."""


@dataclass(frozen=True, slots=True)
class Side:
    """What one of the two outputs has of a reason: the labels that it is seen with, and its weight."""

    labels: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Reason:
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
        """The same with the texts of cited examples, where they are known."""
        reasons = (
            replace(r, citations=tuple(replace(c, text=text_of(c)) for c in r.citations))
            for r in self.reasons
        )
        return replace(self, reasons=tuple(reasons))

    def to_text(self, top: int | None = None) -> str:
        """For people to read; the numbers add up as they are printed."""
        from marginalia.decode.telling import lines_of

        return "".join(f"{line}\n" for line in lines_of(self, top))

    def to_html(self, top: int | None = None) -> str:
        """A page that needs nothing else."""
        from marginalia.decode.page import page_of

        return page_of(self, top)


def explain(
    saved: SavedModel,
    decoder: StructureInUse,
    user_labels: UserLabels,
    block: Block,
    tokens: tuple[str, ...],
    against: str | Sequence[str] | None,
    cite: int = 0,
    demands: Demands | None = None,
) -> Explanation:
    """The explanation of the only sentence of a block.

    Under demands that the best output breaks, the one that meets them is compared with that one.
    """
    if not tokens:
        raise DataError("found no tokens, expected at least one")
    provenance = Provenance(saved) if cite else None
    if provenance is not None and not provenance.is_known:
        raise ModelError(
            "the model does not know which examples taught it: train it with provenance=on to cite them."
        )
    free = decoder.best(block)
    met = None if demands is None else demands.meet(decoder, block, Batch(block), 0, free)
    chosen = (free if met is None else met.ids).tolist()
    if against is None and chosen != free.tolist():
        other = Other(free.tolist(), decoder.score(block, 0, free), "best without constraints")
    else:
        other = other_output(saved, decoder, user_labels, block, chosen, against)
    score = decoder.score(block, 0, chosen)
    pairs = _paired(decoder.terms(block, 0, chosen), decoder.terms(block, 0, other.ids))
    seen = Seen(saved, block)
    reasons = [_reason(saved, pair, seen, provenance, cite) for pair in pairs]
    reasons.sort(key=lambda r: (-abs(r.difference), r.start, r.end, KINDS.index(r.kind), r.feature))
    labels = [tuple(user_labels.user_labels(ids)) for ids in (chosen, other.ids)]
    if demands is not None:
        reasons = [*_forbidding(demands, block, *labels), *reasons]
    return Explanation(
        Tagged(tokens, labels[0], saved.scheme, score),
        Tagged(tokens, labels[1], saved.scheme, other.score),
        other.what,
        tuple(reasons),
        (*_notes(saved), *(_notes_of_constraints(met) if met is not None else ())),
    )


def _forbidding(
    demands: Demands, block: Block, chosen: tuple[str, ...], other: tuple[str, ...]
) -> Iterator[Reason]:
    """The constraints that only the chosen output meets; they add nothing to scores."""
    for said in demands.of_sentences(Batch(block), 0)[0]:
        if demands.broken(other, [said]) and not demands.broken(chosen, [said]):
            start, end = (said.first - 1, said.last) if isinstance(said, At) else (0, len(chosen))
            words = f"the constraint '{said}' forbids the other output"
            if isinstance(said, At) and said.phrase is not None:
                words = f"the dictionary has '{said.phrase}' as {' or '.join(said.names)}"
            yield Reason("constraint", words, str(said), None, start, end, None, None, 0.0)


def _notes_of_constraints(met: Met) -> Iterator[str]:
    if 0 in met.broken:
        yield f"no output meets all constraints; the chosen one breaks: {', '.join(met.broken[0])}"
    if 0 in met.inexact:
        yield "there may be better outputs that meet the constraints: not all could be looked at"


def _notes(saved: SavedModel) -> Iterable[str]:
    if "vote_steps" in saved.arrays:
        yield "the versions of the weights voted for the output; the numbers are those of their mean"
    if saved.settings_as(SearchSettings).width:
        yield "outputs are found by beam search: there may be better ones than those that are compared"
    if saved.encoding != saved.scheme:
        yield f"weights are of labels in {saved.encoding}, which the model was trained in"


class _Pair:
    """Terms of the two outputs that say the same of the same place; equal ones of one side are counted."""

    def __init__(self) -> None:
        self.sides: tuple[list[Term], list[Term]] = ([], [])

    def value(self, side: int) -> float:
        return math.fsum(term.value for term in self.sides[side])


def _paired(chosen: Sequence[Term], other: Sequence[Term]) -> list[_Pair]:
    """The terms of both outputs by feature and place, without those that they share."""
    pairs: dict[Any, _Pair] = {}
    for side, terms in enumerate((chosen, other)):
        for term in terms:
            key = (term.kind, term.feature, term.template, term.first, term.last, term.inner)
            pairs.setdefault(key, _Pair()).sides[side].append(term)
    return [pair for pair in pairs.values() if _seen(pair.sides[0]) != _seen(pair.sides[1])]


def _seen(terms: Iterable[Term]) -> list[tuple[tuple[str, ...], float]]:
    return sorted((term.labels, term.value) for term in terms)


def _reason(saved: SavedModel, pair: _Pair, seen: Seen, provenance: Provenance | None, cite: int) -> Reason:
    first = [terms[0] if terms else None for terms in pair.sides]
    term = first[0] or first[1]
    assert term is not None, "a pair has a term"
    sides = [None if one is None else Side(one.labels, pair.value(side)) for side, one in enumerate(first)]
    template = None if term.template is None else shown(extracted(saved.program)[term.template])
    return Reason(
        term.kind,
        words_of(saved.program, first[0], first[1], seen),
        term.feature,
        template,
        term.first,
        term.last + 1,
        sides[0],
        sides[1],
        pair.value(0) - pair.value(1),
        tuple(_citations(pair, provenance, cite)) if provenance is not None else (),
    )


def _citations(pair: _Pair, provenance: Provenance, cite: int) -> list[Citation]:
    found: list[Citation] = []
    for sign, terms in zip((1, -1), pair.sides, strict=True):
        for term in terms:
            if term.place is not None:
                found += provenance.citations(*term.place, term.labels, sign)
    size: Callable[[Citation], tuple[float, int]] = lambda c: (-abs(c.part), c.number)  # noqa: E731
    return sorted(found, key=size)[:cite]
