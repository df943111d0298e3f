"""The part of a pipeline that gives trees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from marginalia._core import from_columns
from marginalia.corpus.blocks import Block
from marginalia.corpus.tree_answers import MOST_LABELS
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.parser import Parser
from marginalia.decode.pipeline.parts import EMPTY, PARSER
from marginalia.decode.tree_explaining import ArcExplanation
from marginalia.errors import ModelError
from marginalia.model import SavedModel

Tree = tuple[list[int], list[str]]


class TreePart:
    """A parser as a part of a pipeline: columns of words in, heads and relations out."""

    def __init__(self, saved: SavedModel) -> None:
        try:
            self.model = Parser(saved)
        except ModelError as error:
            raise ModelError(f"the part '{PARSER}': {error}") from None
        self._columns = self.model.feature_columns

    def block(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> Block:
        """Sentences of these lengths; columns that there are not are empty."""
        none = [EMPTY] * len(columns["word"])
        table = from_columns([columns.get(name, none) for name in self._columns], list(lengths))
        return Block(table, self._columns)

    def best(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> Tree:
        """The heads and relations of all words."""
        heads, labels = self.model.arcs(self.block(columns, lengths))
        names = self.model.labels
        return heads.tolist(), [names[label] for label in labels.tolist()]

    def confidence(self, columns: Mapping[str, list[str]], lengths: Sequence[int]) -> list[float]:
        """How probable the arc of each word is, if a temperature is known."""
        needed_temperature(self.model.saved)
        block = self.block(columns, lengths)
        return [float(one) for one in self.model.arc_confidence(block, self.model.decoder.best(block))]

    def k_best(
        self, columns: Mapping[str, list[str]], lengths: Sequence[int], k: int
    ) -> list[list[tuple[Tree, float]]]:
        """By sentence its k best trees with their scores, best first; fewer if the search has no more."""
        block = self.block(columns, lengths)
        return [
            [(self._tree(arcs), score) for arcs, score in self.model.decoder.k_best(block, number, k)]
            for number in range(len(lengths))
        ]

    def _tree(self, arcs: Any) -> Tree:
        ids, names = np.asarray(arcs), self.model.labels
        return (ids // MOST_LABELS).tolist(), [names[label] for label in (ids % MOST_LABELS).tolist()]

    def explain(
        self,
        columns: Mapping[str, list[str]],
        word: int,
        head: int | None = None,
        label: str | None = None,
    ) -> ArcExplanation:
        """Why a word of a sentence has its head and not another, or this one."""
        sentence = {name: columns.get(name, [EMPTY] * len(columns["word"])) for name in self._columns}
        return self.model.explain(sentence, word, head=head, label=label)
