"""Explanations made: the outputs of sentences compared, term by term, for whole blocks at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import Block, pack
from marginalia.decode.alternative import Alternative, alternative_output
from marginalia.decode.constraints import At, Constraint
from marginalia.decode.decoder import Term
from marginalia.decode.explanation import KINDS, Explanation, Reason, Side
from marginalia.decode.feature_phrases import Seen, SeenBlock, words_of
from marginalia.decode.model_constraints import ConstrainedLabels, ModelConstraints
from marginalia.decode.settings import SearchSettings
from marginalia.decode.structures import StructureDecoder
from marginalia.decode.tagged import Tagged, UserLabels
from marginalia.errors import DataError, ModelError
from marginalia.model import SavedModel
from marginalia.model.global_part import PREFIX
from marginalia.model.provenance import Citation, Provenance

MOST_TOKENS = 10_000
"""Of a sentence that is explained; people read no more."""
Ids = npt.NDArray[np.int32]


class Explaining:
    """Explains the outputs of a model. It may be used from many threads at once.

    Under constraints that the best output breaks, the one that meets them is compared with that one.
    """

    def __init__(
        self,
        saved: SavedModel,
        decoder: StructureDecoder,
        labels: UserLabels,
        column: str,
        *,
        cite: int = 0,
        model_constraints: ModelConstraints | None = None,
    ) -> None:
        self._saved, self._decoder, self._labels = saved, decoder, labels
        self._column, self._cite, self._model_constraints = column, cite, model_constraints
        self._provenance = Provenance(saved) if cite else None
        if self._provenance is not None and not self._provenance.is_known:
            raise ModelError(
                "the model does not know which examples taught it: train it with provenance=on to cite them."
            )

    def __call__(
        self, batch: Batch, against: str | Sequence[str] | None = None, before: int = 0
    ) -> list[Explanation]:
        """Of all sentences of a batch, which stands behind so many others."""
        block, decoder = batch.block, self._decoder
        starts = block.table.sentence_starts.tolist()
        for s, (first, last) in enumerate(pairwise(starts)):
            if not 0 < last - first <= MOST_TOKENS:
                with block.naming_errors(s):
                    found = f"{last - first:,}" if last > first else "no"
                    raise DataError(f"found {found} tokens to explain, expected 1 to {MOST_TOKENS:,}")
        free = decoder.best(block)
        constrained = None
        if self._model_constraints is not None:
            constrained = self._model_constraints.constrain(decoder, block, batch, before, free)
        chosen = free if constrained is None else constrained.ids
        others = self._others(block, starts, free, chosen, against)
        other_ids = np.array([label for other in others for label in other.ids], np.int32)
        scores = decoder.scores(block, chosen).tolist()
        terms = decoder.differing_terms(block, chosen, other_ids)
        applied = (
            None if self._model_constraints is None else self._model_constraints.of_sentences(batch, before)
        )
        tokens, seen = block.readable(self._column), SeenBlock(self._saved, block)
        return [
            self._explanation(
                _Compared(
                    s, tuple(tokens[first:last]), chosen[first:last].tolist(), scores[s], others[s], *terms[s]
                ),
                Seen(seen, first, last),
                constrained,
                () if applied is None else applied[s],
            )
            for s, (first, last) in enumerate(pairwise(starts))
        ]

    def _others(
        self,
        block: Block,
        starts: Sequence[int],
        free: Ids,
        chosen: Ids,
        against: str | Sequence[str] | None,
    ) -> list[Alternative]:
        """By sentence what the chosen output is compared with."""
        bounds = list(pairwise(starts))
        own = [chosen[first:last].tolist() for first, last in bounds]
        found: list[Alternative] = []
        if against is not None:
            parts = [block] if len(bounds) == 1 else [pack([one]) for one in block.sentences()]
            for s, (part, ids) in enumerate(zip(parts, own, strict=True)):
                with block.naming_errors(s):
                    given = alternative_output(self._saved, self._decoder, self._labels, part, ids, against)
                found.append(given)
            return found
        best = self._decoder.ranked(block, 2)
        outputs = list(zip(best.ids, best.scores, strict=True))
        score_of_free = self._decoder.scores(block, free) if free is not chosen else best.scores[0]
        for s, (first, last) in enumerate(bounds):
            best_free = free[first:last].tolist()
            if best_free != own[s]:
                found.append(Alternative(best_free, float(score_of_free[s]), "best without constraints"))
                continue
            listed = [(ids[first:last].tolist(), float(scores[s])) for ids, scores in outputs]
            runners = [(ids, score) for ids, score in listed if ids != own[s] and not math.isnan(score)]
            if not runners:
                with block.naming_errors(s):
                    raise DataError(
                        "there is nothing to compare with: the sentence has only one legal output"
                    )
            found.append(Alternative(*runners[0], "runner-up"))
        return found

    def _explanation(
        self,
        compared: _Compared,
        seen: Seen,
        constrained: ConstrainedLabels | None,
        applied: Sequence[Constraint],
    ) -> Explanation:
        saved = self._saved
        pairs = _paired(compared.terms, compared.other_terms)
        reasons = [_reason(saved, pair, seen, self._provenance, self._cite) for pair in pairs]
        reasons.sort(key=lambda r: (-abs(r.difference), r.start, r.end, KINDS.index(r.kind), r.feature))
        other = compared.other
        labels = [tuple(self._labels.user_labels(ids)) for ids in (compared.ids, other.ids)]
        if self._model_constraints is not None:
            reasons = [*_forbidding(self._model_constraints, applied, *labels), *reasons]
        notes = _notes_of_constraints(constrained, compared.sentence) if constrained is not None else ()
        return Explanation(
            Tagged(compared.tokens, labels[0], saved.scheme, compared.score),
            Tagged(compared.tokens, labels[1], saved.scheme, other.score),
            other.what,
            tuple(reasons),
            (*_notes(saved), *notes),
        )


class _Compared(NamedTuple):
    """A sentence with its chosen output and another one, and the terms in which they differ."""

    sentence: int
    tokens: tuple[str, ...]
    ids: list[int]
    score: float
    other: Alternative
    terms: list[Term]
    other_terms: list[Term]


def _forbidding(
    model_constraints: ModelConstraints,
    applied: Sequence[Constraint],
    chosen: tuple[str, ...],
    other: tuple[str, ...],
) -> Iterator[Reason]:
    """The constraints that only the chosen output satisfies; they add nothing to scores."""
    for constraint in applied:
        if model_constraints.broken(other, [constraint]) and not model_constraints.broken(
            chosen, [constraint]
        ):
            start, end = (
                (constraint.first - 1, constraint.last) if isinstance(constraint, At) else (0, len(chosen))
            )
            words = f"the constraint '{constraint}' forbids the other output"
            if isinstance(constraint, At) and constraint.phrase is not None:
                words = f"the dictionary has '{constraint.phrase}' as {' or '.join(constraint.names)}"
            yield Reason("constraint", words, str(constraint), None, start, end, None, None, 0.0)


def _notes_of_constraints(constrained: ConstrainedLabels, sentence: int) -> Iterator[str]:
    if sentence in constrained.broken:
        broken = ", ".join(constrained.broken[sentence])
        yield f"no output satisfies all constraints; the chosen one breaks: {broken}"
    if sentence in constrained.inexact:
        yield "there may be better outputs that satisfy the constraints: not all could be looked at"


def _notes(saved: SavedModel) -> Iterable[str]:
    if "vote_steps" in saved.arrays or f"{PREFIX}vote_steps" in saved.arrays:
        yield "the versions of the weights voted for the output; the numbers are those of their mean"
    if saved.settings_as(SearchSettings).beam_width:
        yield "outputs are found by beam search: there may be better ones than those that are compared"
    if saved.encoding != saved.scheme:
        yield f"weights are of labels in {saved.encoding}, which the model was trained in"


class _Pair(NamedTuple):
    """Terms of the two outputs that say the same of the same place; equal ones of one side are counted."""

    sides: tuple[list[Term], list[Term]]


def _paired(chosen: Sequence[Term], other: Sequence[Term]) -> list[_Pair]:
    """The terms of both outputs by feature and place, without those that they share."""
    pairs: dict[Any, tuple[list[Term], list[Term]]] = {}
    for side, terms in enumerate((chosen, other)):
        for term in terms:
            key = (term.kind, term.feature, term.template, term.first, term.last, term.inner)
            pair = pairs.get(key)
            if pair is None:
                pairs[key] = pair = ([], [])
            pair[side].append(term)
    return [_Pair(sides) for sides in pairs.values() if _differ(*sides)]


def _differ(one: Sequence[Term], other: Sequence[Term]) -> bool:
    return len(one) != len(other) or _seen(one) != _seen(other)


def _seen(terms: Iterable[Term]) -> list[tuple[tuple[str, ...], float]]:
    return sorted((term.labels, term.value) for term in terms)


def _reason(saved: SavedModel, pair: _Pair, seen: Seen, provenance: Provenance | None, cite: int) -> Reason:
    chosen, other = (terms[0] if terms else None for terms in pair.sides)
    term = chosen or other
    assert term is not None, "a pair has a term"
    value, other_value = map(_sum, pair.sides)
    return Reason(
        term.kind,
        words_of(saved.program, chosen, other, seen),
        term.feature,
        None if term.template is None else seen.shown(term.template),
        term.first,
        term.last + 1,
        None if chosen is None else Side(chosen.labels, value),
        None if other is None else Side(other.labels, other_value),
        value - other_value,
        tuple(_citations(pair, provenance, cite)) if provenance is not None else (),
    )


def _sum(terms: Sequence[Term]) -> float:
    return terms[0].value if len(terms) == 1 else math.fsum(term.value for term in terms)


def _citations(pair: _Pair, provenance: Provenance, cite: int) -> list[Citation]:
    found: list[Citation] = []
    for sign, terms in zip((1, -1), pair.sides, strict=True):
        for term in terms:
            if term.place is not None:
                found += provenance.citations(*term.place, term.labels, sign)
    size: Callable[[Citation], tuple[float, int]] = lambda c: (-abs(c.part), c.number)  # noqa: E731
    return sorted(found, key=size)[:cite]
