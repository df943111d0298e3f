"""The terms in which outputs of tokens or segments differ, found by the core for whole blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import Decoder, Ids, Shape, Term


class TermDecoder(Decoder[Shape]):
    """A decoder whose native model compares outputs."""

    def scores(self, block: Block, ids: Ids) -> npt.NDArray[np.float64]:
        """The scores of outputs of all sentences, given by the label ids of all tokens."""
        found: npt.NDArray[np.float64] = self._model.scores(
            self._extractor(block), block.table, ids, self._space()
        )
        return found

    def differing_terms(self, block: Block, ids: Ids, others: Ids) -> list[tuple[list[Term], list[Term]]]:
        """By sentence the terms of two outputs, given by the label ids of all tokens, without most of those
        that both have."""
        extractor, space = self._extractor(block), self._space()
        sides = [
            self._model.differing_features(extractor, block.table, *pair, space)
            for pair in ((ids, others), (others, ids))
        ]
        starts = block.table.sentence_starts[1:-1]
        outputs = zip(np.split(ids, starts), np.split(others, starts), strict=True)
        found = []
        for s, (one, other) in enumerate(outputs):
            constants = [list(self._constants_of(self._parts_of(y.tolist()))) for y in (one, other)]
            shared = set(constants[0]) & set(constants[1])
            own = [
                [
                    *map(self._term, side[s]),
                    *filter(None, (self._constant(c) for c in listed if c not in shared)),
                ]
                for side, listed in zip(sides, constants, strict=True)
            ]
            found.append((own[0], own[1]))
        return found

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
