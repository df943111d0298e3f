"""The terms in which outputs of tokens or segments differ, found by the core for whole blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import Constant, Decoder, Ids, Shape, Term
from marginalia.model.rules_part import has_rules


class TermDecoder(Decoder[Shape]):
    """A decoder whose native model compares outputs."""

    _reach = 2  # a constant looks at no more than so many parts before its own

    def scores(self, block: Block, ids: Ids) -> npt.NDArray[np.float64]:
        """The scores of outputs of all sentences, given by the label ids of all tokens."""
        found: npt.NDArray[np.float64] = self._model.scores(
            self._extractor(block), block.table, ids, self._space()
        )
        return found

    def differing_terms(self, block: Block, ids: Ids, others: Ids) -> list[tuple[list[Term], list[Term]]]:
        """By sentence the terms of two outputs, given by the label ids of all tokens, without most of those
        that both have."""
        if has_rules(self._saved):
            return Decoder.differing_terms(self, block, ids, others)
        extractor, space = self._extractor(block), self._space()
        sides = [
            self._model.differing_features(extractor, block.table, *pair, space)
            for pair in ((ids, others), (others, ids))
        ]
        starts = block.table.sentence_starts[1:-1]
        outputs = zip(np.split(ids, starts), np.split(others, starts), strict=True)
        found = []
        for s, (one, other) in enumerate(outputs):
            constants = self._differing_constants(one.tolist(), other.tolist())
            own = [
                [*map(self._term, side[s]), *filter(None, map(self._constant, listed))]
                for side, listed in zip(sides, constants, strict=True)
            ]
            found.append((own[0], own[1]))
        return found

    def _differing_constants(self, one: Sequence[int], other: Sequence[int]) -> list[list[Constant]]:
        """Those of each output that the other does not have."""
        parts = self._parts_of(one), self._parts_of(other)
        equal = (a == b for a, b in zip(*parts, strict=False))
        first = next((i for i, same in enumerate(equal) if not same), 0)  # where the outputs part, ...
        backwards = (a == b for a, b in zip(parts[0][::-1], parts[1][::-1], strict=False))
        joined = next(
            (i for i, same in enumerate(backwards) if not same), 0
        )  # ... and how long they agree again
        constants = [list(self._constants_of(own, first, len(own) - joined + self._reach)) for own in parts]
        shared = set(constants[0]) & set(constants[1])
        return [[constant for constant in listed if constant not in shared] for listed in constants]

    def _term(self, feature: tuple[Any, ...]) -> Term:
        first, last, inner, row, output, times, weight, template, texts = feature
        labels = divmod(output, len(self._saved.labels)) if self._saved.is_edge(row) else (output,)
        return Term(
            "dictionary" if template in self._listed else "feature",
            "".join(texts),
            self._named(labels),
            weight,
            first,
            last,
            (row, output),
            template,
            tuple(texts),
            inner,
            1 if times == 1 else times,
        )
