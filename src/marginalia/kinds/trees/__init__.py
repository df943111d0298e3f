"""Dependency trees: what the structure `trees` gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.batches import Layout
from marginalia.corpus.blocks import Block
from marginalia.corpus.tree_answers import HEAD, MOST_LABELS, TreeWriter
from marginalia.decode.parser import Parser
from marginalia.decode.shares import beam_shares
from marginalia.decode.trees import UNKNOWN, TreeSettings, heads_of, unknown_label
from marginalia.errors import DataError
from marginalia.kinds.kind import Answered, Difference, Ids, Numbers, OutputKind
from marginalia.kinds.tree_sentences import NOT_FOR_TREES, TREEBANKS
from marginalia.model import SavedModel

if TYPE_CHECKING:
    from marginalia.evaluate import TreeReport


class Trees(OutputKind[Parser]):
    """A head and a label for each word."""

    name = "trees"
    reader = TREEBANKS
    part, label = "words", "arc"
    refusals = NOT_FOR_TREES
    shares = True
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

    def renumbered(self, ids: Ids, numbers: Ids) -> Ids:
        """Heads stay."""
        return ids // MOST_LABELS * MOST_LABELS + numbers[ids % MOST_LABELS]

    def right_outputs(self, saved: SavedModel, block: Block, ids: Ids, labels: Sequence[str]) -> Ids:
        """Arcs, all known, and such as the transition system can make."""
        heads = heads_of(block.table, block.index(HEAD))
        unknown = heads < 0
        if (label := unknown_label(labels)) is not None:
            unknown |= ids == label
        system = saved.settings_as(TreeSettings).system
        for number, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist()), 1):
            if unknown[first:last].any():
                why = f"found {UNKNOWN} for a head or a label, but a correction says what is right"
            elif system != "swap" and _crosses(heads[first:last]):
                why = f"found arcs that cross, which a parser with system={system} cannot give"
            else:
                continue
            raise DataError(f"sentence {number}: {why}", file=block.file)
        return (heads * MOST_LABELS + ids).astype(np.int32)

    def output_names(self, labels: Sequence[str], outputs: Ids) -> list[str]:
        """Arcs as label:head."""
        return [f"{labels[arc % MOST_LABELS]}:{arc // MOST_LABELS}" for arc in outputs.tolist()]

    def output_label(self, name: str) -> str:
        """What stands before the last colon."""
        return name.rpartition(":")[0]

    def output_columns(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The column of heads."""
        return {HEAD: [name.rpartition(":")[2] for name in names]}

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
        if not block.table.tokens:
            return
        heads, labels = heads_of(block.table, block.index(HEAD)).tolist(), block.column(label)
        right = [f"{name}:{head}" for name, head in zip(labels, heads, strict=True)]
        old, new = (_shown(model, block) for model in (before, after))
        tokens = block.readable(after.feature_columns[0])
        for number, (first, last) in enumerate(pairwise(block.table.sentence_starts.tolist()), 1):
            here = slice(first, last)
            if old[here] != new[here]:
                parts = (tokens[here], right[here], old[here], new[here])
                yield Difference(number, *(tuple(part) for part in parts))


def _crosses(heads: Ids) -> bool:
    try:
        return bool((_core.projectivised(heads) != heads).any())
    except ValueError:  # it is no tree, which whoever takes it as one will find
        return False


def _shown(model: Parser, block: Block) -> list[str]:
    return KIND.output_names(model.labels, model.decoder.best(block))


class AnsweredTrees:
    """A block with a model's trees, which arcs are right, and how sure they are."""

    def __init__(self, model: Parser, block: Block, label: str) -> None:
        ids = model.decoder.best(block)
        places = enumerate(pairwise(block.table.sentence_starts.tolist()))
        self._beams = [
            model.decoder.agreement(block, s, ids[first:last]) for s, (first, last) in places if first < last
        ]
        numbers = {name: number for number, name in enumerate(model.labels)}
        heads = heads_of(block.table, block.index(HEAD))
        gold = np.array([numbers.get(name, -1) for name in block.column(label)], np.int32)
        self._known = heads >= 0
        self.right = {"words": (heads * MOST_LABELS + gold == ids)[self._known]}

    def at(self, temperature: float) -> dict[str, Numbers]:
        """The shares of the arcs among the trees of the beam."""
        found = [beam_shares(*beam, temperature)[0] for beam in self._beams]
        return {"words": np.concatenate([np.zeros(0), *found])[self._known]}


KIND = Trees()
