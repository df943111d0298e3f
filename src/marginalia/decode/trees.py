"""The structure of dependency trees: in training it answers a learner about sentences, in use a user.

An output is an arc for each token, as one number: head * MOST_LABELS + label, heads counted from 1, 0 for the
root. The actions that make it are the core's; see docs/trees.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.corpus.blocks import Block
from marginalia.corpus.tree_answers import HEAD, MOST_LABELS
from marginalia.decode.decoder import Costs, Decoder, DecoderFactory, Ids
from marginalia.decode.settings import StructureOptions
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.features.compiling import compile_tree_extractor
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel
from marginalia.model.outputs import ACTIONS

UNKNOWN = "_"  # a head or a label that is not known
_NONE = np.zeros(0, np.int32)
_PLAIN = 3  # actions without a label; behind them are three for each label


@dataclass(frozen=True, kw_only=True)
class TreeSettings(Settings):
    """Settings of trees."""

    system: str = setting(
        "arc-standard",
        "The transition system; swap: arc-standard that also makes trees whose arcs cross.",
        choices=("arc-standard", "swap", "arc-eager", "arc-hybrid"),
    )
    tree_beam: int = setting(
        8, "How many states search keeps at each step; 1 is greedy.", 1, 10_000, changeable=True
    )
    merge: bool = setting(
        False, "Whether states that templates cannot tell apart are one (arc-standard only)."
    )
    update: str = setting(
        "max-violation",
        "Which part of a derivation an update compares: up to where the beam lost gold, or up to where it is "
        "worst.",
        choices=("max-violation", "early"),
        changeable=True,
    )
    one_root: bool = setting(True, "Whether exactly one token hangs on the root.")


def tree_shape(labels: Sequence[str], own: TreeSettings) -> _core.TreeShape:
    """Labels and settings as the core knows them."""
    if len(labels) > MOST_LABELS:
        raise DataError(
            f"found {len(labels)} distinct labels, expected at most {MOST_LABELS} for trees. "
            f"Is '{labels[0]}' from the column of labels?"
        )
    if own.merge and own.system != "arc-standard":
        raise SettingsError(f"merge=on goes with system=arc-standard, not with {own.system}.")
    return _core.TreeShape(list(labels), own.system, own.tree_beam, own.one_root, own.merge, own.update)


class TreeProgram(NamedTuple):
    """How values are taken from tables, and the column of heads, if they have one."""

    extractor: _core.TreeExtractor
    head: int | None


def compile_trees(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> TreeProgram:
    """The program for tables with these columns."""
    head = list(columns).index(HEAD) if HEAD in columns else None
    return TreeProgram(compile_tree_extractor(program, columns, phrases, word_tables), head)


class TreeSentences:
    """Sentences as values of tokens, with the heads that their data name."""

    def __init__(self, rows: _core.TreeExamples) -> None:
        self.rows = rows
        self.gold = _NONE  # the numbers of the right labels
        self._heads: list[Ids] = []

    def add_heads(self, heads: Ids) -> None:
        """Those of tokens that were added."""
        self._heads.append(heads)

    @property
    def heads(self) -> Ids:
        """Of all tokens; -1 where none is known."""
        return np.concatenate(self._heads) if self._heads else _NONE

    @property
    def sentences(self) -> int:
        """How many there are."""
        return self.rows.sentences

    @property
    def starts(self) -> npt.NDArray[np.uint32]:
        """The first token of each sentence, and the number of all."""
        return self.rows.starts


def heads_of(table: _core.TokenTable, column: int) -> Ids:
    """The heads in a column of a table; -1 for those that are not known."""
    names, ids = table.distinct(column)
    numbers: list[int] = []
    for name in names:
        if name != UNKNOWN and not (name.isascii() and name.isdigit() and len(name) < 10):
            line = table.place(int(np.argmax(ids == len(numbers))), column)[0]
            raise DataError(f"found the head {name!r}, expected a number or {UNKNOWN}", line=line or None)
        numbers.append(-1 if name == UNKNOWN else int(name))
    return np.array(numbers, np.int32)[ids] if numbers else _NONE


def unknown_label(labels: Sequence[str]) -> int | None:
    """The number of the label that says that none is known; None where no arc has another: then it is one."""
    return labels.index(UNKNOWN) if UNKNOWN in labels and len(labels) > 1 else None


class TreeExtraction:
    """Sentences as values of tokens; features are made when they are needed."""

    def __init__(
        self, program: TreeProgram, index: _core.FeatureIndex, options: StructureOptions[TreeSettings]
    ) -> None:
        self.extractor, self.index, self._head = program.extractor, index, program.head

    def examples(self, tokens: int = 0) -> TreeSentences:
        """A batch without sentences."""
        return TreeSentences(_core.TreeExamples(self.index.keeps_names))

    def add(self, examples: TreeSentences, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences."""
        if self._head is None:
            raise DataError(f"found no column {HEAD!r}, expected one with the heads of tokens")
        examples.rows.add(self.extractor, table)
        examples.add_heads(heads_of(table, self._head))

    def count(self, table: _core.TokenTable) -> None:
        """Nothing is known of features before there are trees."""


class TreeTraining:
    """Trees that are being learned: what a learner needs to know of them."""

    def __init__(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[TreeSettings],
        program: TemplateProgram,
        extraction: TreeExtraction,
        costs: Costs | None = None,
    ) -> None:
        if costs is not None:
            raise SettingsError("trees: each wrong arc costs 1; costs of labels are for labels of tokens.")
        self._shape, self._labels = tree_shape(labels, options.own), list(labels)
        self._extraction, self._cutoff = extraction, options.cutoff
        self.constants, self.row_width = self._shape.constants, self._shape.row_width
        self._seen = np.zeros(self.row_width, np.uint8)
        self._open = not options.supported_only and self._cutoff <= 1
        self.lifted = 0

    @property
    def grows(self) -> bool:
        """Whether features may get rows while learning goes on."""
        return self._open

    @property
    def actions(self) -> npt.NDArray[np.uint8]:
        """Which actions may be taken, by number."""
        return self._shape.allowed

    def allow(self, actions: npt.NDArray[np.uint8]) -> None:
        """More actions that may be taken."""
        self._seen[: len(actions)] |= actions
        self._shape.allow(self._seen)

    def set_gold(self, examples: TreeSentences, ids: Ids, sets: npt.NDArray[np.uint8]) -> None:
        """The right trees: labels, and the heads that came with the sentences."""
        examples.gold = ids
        labels = ids.astype(np.int32)
        unknown = unknown_label(self._labels)
        if unknown is not None:
            labels[ids == unknown] = -1
        try:
            self.lifted += examples.rows.set_gold(self._shape, examples.heads, labels)
        except ValueError as error:
            number, _, why = str(error).partition(" trees: ")
            raise DataError(f"sentence {int(number) + 1}: {why}, expected a tree") from None
        seen = examples.rows.seen_actions(self._shape)
        if unknown is not None:
            seen[_PLAIN + 3 * unknown :][:3] = 0  # no tree has it
        self.allow(seen)

    def choose_features(self, batches: Callable[[], Iterator[TreeSentences]], kept: list[Any]) -> None:
        """Unless features come as they are met: those of the right trees, seen often enough."""
        for examples in batches() if not kept or not self._open else ():
            if not self._open:  # of streamed data all actions must be seen
                self.batch(examples).count_features()
        if not self._open and self._cutoff > 1:
            self._extraction.index.cut(self._cutoff, [])

    def batch(self, examples: TreeSentences) -> _core.TreeBatch:
        """The sentences as outputs of this structure."""
        extraction = self._extraction
        return _core.TreeBatch(self._shape, extraction.extractor, examples.rows, extraction.index, self._open)


def arrays_of(training: TreeTraining) -> dict[str, npt.NDArray[Any]]:
    """What a model keeps beside its weights."""
    return {ACTIONS: training.actions}


def resume(training: TreeTraining, saved: SavedModel) -> None:
    """Actions that a model to begin with may take may be taken still."""
    training.allow(saved.arrays[ACTIONS])


class GivenTree(NamedTuple):
    """Heads and labels of a sentence's tokens that are given, -1 where none is; and the first and last tokens
    of spans, counted from 1, of which exactly one token has its head outside."""

    heads: Ids
    labels: Ids
    spans: Ids = _NONE

    @classmethod
    def of(
        cls,
        length: int,
        heads: Mapping[int, int],
        labels: Mapping[int, int],
        spans: Sequence[tuple[int, int]] = (),
    ) -> GivenTree:
        """Heads and labels by token, counted from 0."""
        ends = np.array([end for span in spans for end in span], np.int32)
        made = cls(np.full(length, -1, np.int32), np.full(length, -1, np.int32), ends)
        for array, given in zip(made[:2], (heads, labels), strict=True):
            for token, value in given.items():
                array[token] = value
        return made


class ActionTerm(NamedTuple):
    """A feature of a state, with the action taken there: its weight, the texts that its name is made of, and
    the arc that the action makes (-1: none)."""

    step: int
    row: int
    action: int
    template: int
    weight: float
    texts: list[str]
    head: int
    dependent: int


def _shape_of(saved: SavedModel) -> _core.TreeShape:
    shape = tree_shape(saved.labels, saved.settings_as(TreeSettings, needs=("system", "tree-beam")))
    shape.allow(np.ascontiguousarray(saved.arrays[ACTIONS]))
    return shape


class TreeDecoder(Decoder[_core.TreeShape]):
    """A saved model of trees, ready to use from any number of threads."""

    _factory = DecoderFactory(_shape_of, _core.TreeModel, compile_tree_extractor, _core.TreeSpace)

    def trees(
        self, block: Block, sentence: int, given: GivenTree | None = None
    ) -> list[tuple[Ids, npt.NDArray[np.uint32], float]]:
        """(arcs, actions, score) of the trees that the beam ends with, best first, each once; arcs that are
        given are kept."""
        wanted = GivenTree(_NONE, _NONE) if given is None else given
        found: list[tuple[Ids, npt.NDArray[np.uint32], float]] = self._model.ranked(
            self._extractor(block), block.table, sentence, 2**32, *wanted, self._space()
        )
        return found

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The trees that the beam ends with and their scores, best first."""
        for arcs, _, score in self.trees(block, sentence)[:k]:
            yield arcs.astype(np.uint32), score

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a tree, of its best derivation that the beam finds; -inf if it finds none."""
        arcs = np.asarray(ids, np.int32)
        found = self.trees(block, sentence, GivenTree(arcs // MOST_LABELS, arcs % MOST_LABELS))
        return found[0][2] if found else -np.inf

    def agreement(
        self, block: Block, sentence: int, arcs: Ids, given: GivenTree | None = None
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Which of these arcs the trees have that the beam ends with (a row each), and their scores."""
        trees = self.trees(block, sentence, given)
        return np.stack([own for own, _, _ in trees]) == arcs, np.array([score for _, _, score in trees])

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """There are none: search sees some trees only."""
        raise ModelError("trees are found by beam search, which has no sum over all of them.")

    def action_terms(self, block: Block, sentence: int, actions: npt.NDArray[np.uint32]) -> list[ActionTerm]:
        """The features of actions that have weights."""
        found = self._model.terms(self._extractor(block), block.table, sentence, actions, self._space())
        return [ActionTerm(*fields) for fields in found]

    @property
    def merged(self) -> tuple[int, int]:
        """How many states were one with another in this thread, and of how many that were to be kept."""
        counts: tuple[int, int] = self._space().merged
        return counts
