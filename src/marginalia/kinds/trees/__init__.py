"""Dependency trees: what the structure `trees` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Layout
from marginalia.corpus.blocks import Block
from marginalia.corpus.tree_answers import TreeWriter
from marginalia.decode.parser import Parser
from marginalia.decode.trees import HEAD, MOST_LABELS, UNKNOWN, heads_of
from marginalia.kinds.kind import Answered, Difference, Ids, OutputKind
from marginalia.kinds.tree_reader import NOT_FOR_TREES, TREEBANKS

if TYPE_CHECKING:
    from marginalia.evaluate import TreeReport


class Trees(OutputKind[Parser]):
    """A head and a label for each word."""

    name = "trees"
    reader = TREEBANKS
    part, label = "words", "arc"
    refusals = NOT_FOR_TREES
    model = Parser

    def score(
        self, labels: Sequence[str], gold: Ids, predicted: Ids, starts: npt.ArrayLike, **rules: Any
    ) -> TreeReport:
        """Attachment scores; `heads` are those that are right."""
        from marginalia.evaluate import score_trees

        return score_trees(
            rules["heads"], gold, predicted // MOST_LABELS, predicted % MOST_LABELS, starts, labels
        )

    def beside(self, block: Block, answer: Any = None) -> dict[str, npt.NDArray[Any]]:
        """The heads of all words."""
        return {"heads": heads_of(block.table, block.index(HEAD))}

    def answered(self, model: Parser, block: Block, label: str) -> Answered:
        """Words, whose arcs are right or not."""
        return AnsweredTrees(model, block, label)

    def writer(
        self, target: BinaryIO, layout: Layout, model: Parser, min_confidence: float | None = None
    ) -> TreeWriter:
        """Writes sentences back with their trees."""
        return TreeWriter(target, layout, model.labels)

    def differences(self, before: Parser, after: Parser, block: Block, label: str) -> Iterator[Difference]:
        """The sentences that two models parse otherwise, arcs as label:head."""
        raise NotImplementedError


KIND = Trees()
