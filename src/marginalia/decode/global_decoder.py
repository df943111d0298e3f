"""Models with global features in use: the n best by local features, rescored; docs/nonlocal.md."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import (
    CompiledConstraints,
    ConstrainedOutputs,
    Contribution,
    Decoder,
    Ids,
    RankedOutputs,
    Term,
)
from marginalia.errors import DataError, MarginaliaError, ModelError
from marginalia.features.global_features import mention_labels
from marginalia.model import SavedModel
from marginalia.model.global_part import PREFIX, GlobalPart, weights_of_base
from marginalia.model.word_tables import tables_in


def check_memory(documents: Block, token_bytes: int, most: int, before: int = 0) -> None:
    """An error if the search in the longest document of a block may take more than so many MiB. Documents
    that are of no file are named by number; so many come before those of the block."""
    sizes = np.diff(documents.table.sentence_starts)
    tokens = int(sizes.max(initial=0))
    needed = -(-tokens * token_bytes >> 20)
    if needed <= most:
        return
    longest = int(sizes.argmax())
    which = f"document {before + longest + 1}: " if documents.line_of(longest) is None else ""
    with documents.naming_errors(longest):
        raise DataError(
            f"{which}found a document of {tokens:,} tokens, in which the search for the best outputs may "
            f"take {needed:,} MiB, expected at most {most:,}: divide it (with -DOCSTART- lines, or keys of "
            "documents), or train with a larger document-memory"
        )


def proposing(saved: SavedModel) -> SavedModel:
    """The base model whose hypotheses a model with global features scores."""
    arrays = tables_in(saved.arrays) | weights_of_base(saved.arrays)
    return replace(saved, arrays=arrays, global_features={}, calibration={})


class GlobalDecoder:
    """A decoder whose n best outputs by local features are scored again with global ones. The n best may be
    those of another decoder, the `proposer`."""

    def __init__(
        self,
        saved: SavedModel,
        base: Decoder[Any],
        token_bytes: int,
        proposer: Decoder[Any] | None = None,
    ) -> None:
        self._base, self._token_bytes = base, token_bytes
        self._proposer = base if proposer is None else proposer
        self.part = GlobalPart.of(saved.global_features, saved.arrays)
        try:
            self._global = _core.GlobalModel(
                self.part.features.native(saved.labels, saved.encoding),
                mention_labels(saved.labels, saved.encoding),
                saved.arrays[f"{PREFIX}keys"],
                saved.arrays[f"{PREFIX}weights"],
                self.part.scale,
            )
            if self.part.votes:
                ends, steps, changes = (
                    saved.arrays[f"{PREFIX}vote_{name}"] for name in ("end", "steps", "changes")
                )
                self._global.set_votes(ends, steps, changes, *self.part.votes)
        except (ValueError, TypeError, MarginaliaError) as error:
            raise ModelError(f"the model's global features cannot be used: {error}") from error
        self._local = threading.local()

    def best(self, block: Block) -> Ids:
        """The best label ids of all tokens of a block."""
        if not block.table.tokens:  # such a block may have no columns
            return np.zeros(0, np.int32)
        return np.ascontiguousarray(self._rescored(block, 1, vote=True).ids[0])

    def ranked(self, block: Block, k: int) -> RankedOutputs:
        """The k best outputs of all sentences of a block, of so many hypotheses as the model looks at; of a
        model whose versions vote, by its mean weights."""
        return self._rescored(block, k, vote=False)

    def _rescored(self, block: Block, k: int, *, vote: bool) -> RankedOutputs:
        n = max(self.part.hypotheses, k)
        self._check(block)
        found = self._proposer._model.rescored(*self._reading(block), n, k, vote, *self._models(block))
        return RankedOutputs(*found)

    def _reading(self, block: Block) -> tuple[Any, ...]:
        """What the model that proposes hypotheses reads, and what scores them again."""
        return self._proposer._extractor(block), block.table, self._rescorer(), self._column(block)

    def _models(self, block: Block) -> tuple[Any, ...]:
        """The space of that model, and the model that scores the outputs, if it is another one."""
        base, proposer = self._base, self._proposer
        if base is proposer:
            return (base._space(),)
        return proposer._space(), base._model, base._extractor(block), base._space()

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first; no more than the model looks at."""
        found = self.ranked(block, self.part.hypotheses if k is None else k)
        first, last = block.table.sentence_starts[sentence : sentence + 2].tolist()
        for ids, scores in zip(found.ids, found.scores, strict=True):
            if not np.isnan(scores[sentence]):
                yield ids[first:last].astype(np.uint32), float(scores[sentence])

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """The same of the chosen sentences, of outputs that satisfy constraints as well as can be."""
        starts = block.table.sentence_starts.tolist()
        free = self._proposer.best(block)
        listed = []
        for s in range(block.table.sentences):
            if constraints.chosen[s]:
                listed.append(self.constrained(block, s, constraints))
            else:
                listed.append(_Listed([(free[starts[s] : starts[s + 1]], float("nan"))], 0, True))
        ranks = max(1, *(min(k, len(one.outputs)) for one in listed)) if listed else 1
        ids, scores = np.zeros((ranks, len(free)), np.int32), np.full((ranks, len(listed)), np.nan)
        for s, one in enumerate(listed):
            for rank in range(ranks):
                ids[rank, starts[s] : starts[s + 1]] = one.outputs[rank if rank < len(one.outputs) else 0][0]
                if rank < len(one.outputs):
                    scores[rank, s] = one.outputs[rank][1]
        violations = np.array([one.violations for one in listed], np.uint32)
        return RankedOutputs(ids, scores, violations, np.array([one.exact for one in listed], np.uint8))

    def constrained(self, block: Block, sentence: int, constraints: CompiledConstraints) -> _Listed:
        """Outputs that satisfy constraints as well as can be, of so many hypotheses as the model looks at."""
        found: ConstrainedOutputs = self._proposer.constrained(block, sentence, constraints)
        listed = list(islice(found, self.part.hypotheses))
        if not listed:
            return _Listed([], found.violations, found.exact)
        scores = np.array([self._local_score(block, sentence, *one) for one in listed])
        outputs = np.stack([ids for ids, _ in listed]).astype(np.int32)
        if not outputs.size:
            return _Listed([(outputs[0], 0.0)], found.violations, found.exact)
        totals = self._read(block).totals(sentence, np.ascontiguousarray(outputs.ravel()), scores)
        order = np.argsort(-totals, kind="stable")
        return _Listed([(outputs[i], float(totals[i])) for i in order], found.violations, found.exact)

    def _local_score(self, block: Block, sentence: int, ids: npt.NDArray[Any], score: float) -> float:
        """That of an output which has this score by the model that proposes it."""
        return score if self._proposer is self._base else self._base.score(block, sentence, ids)

    def constrain(
        self, block: Block, ids: Ids, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> tuple[Ids, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Best label ids, changed where they break constraints; for each sentence how often they still do,
        and whether the best by local features is known to be among the hypotheses."""
        met, violations, exact = self._proposer.constrain(block, ids, constraints, sentences)
        changed, starts = ids.copy(), block.table.sentence_starts.tolist()
        for s, (first, last) in enumerate(pairwise(starts)):
            if (met[first:last] != ids[first:last]).any():
                changed[first:last] = self.constrained(block, s, constraints).outputs[0][0]
        return changed, violations, exact

    def features_of(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Contribution]:
        """The features of an output with their weights."""
        local = self._base.features_of(block, sentence, ids)
        scaled = [replace(one, weight=one.weight * self.part.scale) for one in local]
        return scaled + [
            Contribution(t.feature, (), t.weight, t.times) for t in self._terms(block, sentence, ids)
        ]

    def terms(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        """The terms of an output's score, which is their sum, and where each comes from."""
        return [*self._scaled(self._base.terms(block, sentence, ids)), *self._terms(block, sentence, ids)]

    def differing_terms(self, block: Block, ids: Ids, others: Ids) -> list[tuple[list[Term], list[Term]]]:
        """By sentence the terms of two outputs; what both have may be left out."""
        found = []
        starts = block.table.sentence_starts.tolist()
        for s, sides in enumerate(self._base.differing_terms(block, ids, others)):
            outputs = [y[starts[s] : starts[s + 1]] for y in (ids, others)]
            changed = np.flatnonzero(outputs[0] != outputs[1]).tolist()
            own, other = (
                [*self._scaled(side), *self._terms(block, s, y.tolist(), changed)]
                for side, y in zip(sides, outputs, strict=True)
            )
            found.append((own, other))
        return found

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """There are none."""
        raise ModelError(
            "a model with global features has no sums over all outputs: ask for the confidence of labels, "
            "which is over the hypotheses that it looks at."
        )

    def scores(self, block: Block, ids: Ids) -> npt.NDArray[np.float64]:
        """The scores of outputs of all sentences, given by the label ids of all tokens."""
        rescorer, local = self._read(block), self._base.scores(block, ids)
        outputs = np.split(ids.astype(np.int32), block.table.sentence_starts[1:-1])
        more = [rescorer.score(s, np.ascontiguousarray(y)) for s, y in enumerate(outputs)]
        return np.asarray(self.part.scale * local + np.array(more))

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output."""
        output = np.ascontiguousarray(ids, dtype=np.int32)
        local = self._base.score(block, sentence, output.astype(np.uint32))
        return self.part.scale * local + float(self._read(block).score(sentence, output))

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of given labels, of the spans that they spell and of outputs, if one of the
        hypotheses were right."""
        self._check(block)
        found: tuple[npt.NDArray[Any], ...] = self._proposer._model.rescored_confidences(
            *self._reading(block),
            self.part.hypotheses,
            ids,
            sentences,
            self._base._spelling,
            1.0 / temperature,
            *self._models(block),
        )
        return found

    def _scaled(self, terms: Sequence[Term]) -> list[Term]:
        scale = self.part.scale
        return list(terms) if scale == 1.0 else [t._replace(weight=t.weight * scale) for t in terms]

    def _terms(
        self, block: Block, sentence: int, ids: Sequence[int], changed: Sequence[int] = ()
    ) -> list[Term]:
        """The global features of an output. They are of all of it; where it is compared with another, what
        makes them differ is between the first and the last token that is `changed`."""
        output = np.ascontiguousarray(ids, dtype=np.int32)
        found = self._read(block).terms(sentence, output)
        first, last = (changed[0], changed[-1]) if changed else (0, max(len(ids) - 1, 0))
        return [Term("global", name, (), weight, first, last, times=times) for name, times, weight in found]

    def _read(self, block: Block) -> _core.Rescorer:
        """The global features of this thread, about to look at a block."""
        rescorer = self._rescorer()
        rescorer.read(block.table, self._column(block))
        return rescorer

    def _rescorer(self) -> _core.Rescorer:
        if not hasattr(self._local, "rescorer"):
            self._local.rescorer = _core.Rescorer(self._global)
        rescorer: _core.Rescorer = self._local.rescorer
        return rescorer

    def _column(self, block: Block) -> int:
        return block.index(self.part.column)

    def _check(self, block: Block) -> None:
        check_memory(block, self._token_bytes, self.part.memory)


class _Listed:
    """Outputs with their scores, best first."""

    def __init__(self, outputs: list[tuple[npt.NDArray[Any], float]], violations: int, exact: bool) -> None:
        self.outputs, self.violations, self.exact = outputs, violations, exact

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        return ((ids.astype(np.uint32), score) for ids, score in self.outputs)
