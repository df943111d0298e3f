"""The structures by name. Whoever adds one gives its settings, its side in training and its side in use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from marginalia import _core
from marginalia.config import Setting, Settings
from marginalia.corpus.blocks import ATTRIBUTES, Block
from marginalia.decode import candidates, chain, segments, single, trees, words
from marginalia.decode.decoder import (
    CompiledConstraints,
    ConstrainedOutputs,
    Contribution,
    Costs,
    RankedOutputs,
    Term,
)
from marginalia.decode.settings import StructureOptions
from marginalia.features.compiling import (
    compile_extractor,
    compile_item_extractor,
    compile_segment_extractor,
    compile_word_extractor,
)
from marginalia.features.list_templates import (
    CLUSTER_TEMPLATES,
    LEXICON_TEMPLATES,
    LIST_TEMPLATES,
    SEGMENT_CLUSTER_TEMPLATES,
    SEGMENT_LEXICON_TEMPLATES,
    SEGMENT_LIST_TEMPLATES,
)
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel
from marginalia.model.constants import ChainSettings
from marginalia.model.outputs import ACTIONS

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class StructureBatch(Protocol):
    """A batch of examples, seen as outputs of a structure: what core/learn asks (bind/structure.hpp)."""

    def learn(
        self,
        weights: _core.WeightTable,
        rule: _core.UpdateRule,
        order: npt.NDArray[np.uint32],
        step: int,
        sample_weights: npt.NDArray[np.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """Applies a rule to the examples in order; what was counted. `loss` is that of the pass so far."""

    def make_room(self, weights: _core.WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: _core.SparseRows,
        sample_weights: npt.NDArray[np.float64],
        counts: npt.NDArray[np.float64],
        expected: bool = False,
    ) -> None:
        """Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several."""

    def expectations(
        self,
        weights: _core.SparseRows,
        first: int,
        last: int,
        sample_weights: npt.NDArray[np.float64],
        local: bool,
        gradient: npt.NDArray[np.float64],
    ) -> float:
        """Adds expected feature counts, by weight; the sum of log Z."""

    def margins(
        self, weights: _core.SparseRows, first: int, last: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """By how much gold beats the best other output (infinity if there is none), and the norm of the
        difference of their features; for each example."""

    def voted(
        self, weights: _core.SparseRows, votes: _core.Votes, k: int, first: int, last: int
    ) -> npt.NDArray[np.int32]:
        """Of the k best outputs the one that most versions of the weights vote for."""

    def best(self, weights: _core.SparseRows, first: int, last: int) -> npt.NDArray[np.int32]:
        """The best outputs of the examples from `first` to `last` (exclusive), as numbers."""


class Extraction(Protocol):
    """How sentences become examples, before their labels are known; made of program, index and settings."""

    def examples(self, tokens: int = 0) -> Any:
        """A batch without sentences, with room for so many tokens."""

    def add(self, examples: Any, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences; with `grow` their features may get rows."""

    def count(self, table: _core.TokenTable) -> None:
        """Counts features of data that are read again in every pass."""


class TrainingStructure(Protocol):
    """What training and learners may know of a structure; made of labels, scheme, settings, program,
    extraction and what wrong labels cost."""

    constants: int
    row_width: int  # outputs of a feature's row; those of neighbouring outputs have the square of it

    @property
    def grows(self) -> bool:
        """Whether features may get rows while learning goes on."""

    def set_gold(self, examples: Any, ids: npt.NDArray[np.int32], sets: npt.NDArray[np.uint8]) -> None:
        """The right outputs of examples; -1 - k stands for any label of set k of [sets][labels], flat."""

    def choose_features(self, batches: Callable[[], Iterator[Any]], kept: list[Any]) -> None:
        """Which features may have weights; `kept` are the batches that stay in memory."""

    def batch(self, examples: Any) -> StructureBatch:
        """The examples as this structure sees them."""


class MakeTraining(Protocol):
    """Makes a structure to be trained."""

    def __call__(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[Any],
        program: TemplateProgram,
        extraction: Any,
        costs: Costs | None = None,
    ) -> TrainingStructure:
        """`costs` are those of each (right, given) pair of labels; None: 1 for each wrong label."""


class StructureDecoder(Protocol):
    """A saved model's answers: outputs, features, expectations, and the score of an output."""

    def best(self, block: Block) -> npt.NDArray[np.int32]:
        """The best label ids of all tokens of a block."""

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first, lazily."""

    def ranked(self, block: Block, k: int) -> RankedOutputs:
        """The k best outputs of all sentences of a block."""

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """The k best outputs of the chosen sentences that satisfy constraints as well as can be."""

    def constrained(
        self, block: Block, sentence: int, constraints: CompiledConstraints
    ) -> ConstrainedOutputs:
        """The outputs that satisfy constraints as well as can be, with their scores, best first, lazily."""

    def constrain(
        self,
        block: Block,
        ids: npt.NDArray[np.int32],
        constraints: CompiledConstraints,
        sentences: npt.NDArray[np.uint32],
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Best label ids, changed where they break constraints; for each sentence how often they still do,
        and whether that is known to be the best."""

    def features_of(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Contribution]:
        """The features of an output with their weights."""

    def terms(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        """The terms of an output's score, which is their sum, and where each comes from."""

    def differing_terms(
        self, block: Block, ids: npt.NDArray[np.int32], others: npt.NDArray[np.int32]
    ) -> list[tuple[list[Term], list[Term]]]:
        """By sentence the terms of two outputs; what both have may be left out."""

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z and the probabilities of the parts of outputs."""

    def scores(self, block: Block, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
        """The scores of outputs of all sentences, given by the label ids of all tokens."""

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output."""

    def confidence(
        self, block: Block, ids: npt.NDArray[np.int32], sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of given labels, of the spans that they spell and of outputs."""


class Structure(NamedTuple):
    """A search space: how it is set, how it answers a learner, how it answers a user.

    `record` has its settings. `features` is the set to use if none is named (else the task's),
    `list_templates`, `cluster_templates` and `lexicon_templates` are what `--list`, `--clusters` and
    `--lexicon` add. `encoding` is the scheme that it spells spans in, if it needs a certain one.
    `fit_settings` gives settings with what the data decide, by how many spans have which length, and notes
    for users. `tiers` are those of the contract that it has, as the core knows them. `kind` is the kind of
    output (`kinds/`): how examples are read, outputs written and scored, and the class that a user holds.
    `global_tiers` are the tiers that are left under global features, None if it cannot have them: those need
    labels of tokens and the exact k best outputs.
    `token_bytes` is what their search may take for each token, by the number of labels. `alternatives` are
    the settings that dev data are to choose from, most often those alone. `arrays` are what a model keeps
    beside its weights (`kept`: their names), and `resume` takes those of a model to begin with.
    """

    help: str
    record: type[Settings]
    compile: Callable[..., Any]  # features/compiling.py
    extraction: Callable[[Any, _core.FeatureIndex, StructureOptions[Any]], Extraction]
    training: MakeTraining
    decoder: Callable[[SavedModel], StructureDecoder]
    tiers: frozenset[str]
    features: str | None = None
    list_templates: str = LIST_TEMPLATES
    cluster_templates: str = CLUSTER_TEMPLATES
    lexicon_templates: str = LEXICON_TEMPLATES
    encoding: str | None = None
    fit_settings: Callable[[Any, Mapping[int, int]], tuple[Settings, list[str]]] = lambda own, _: (own, [])
    kind: str = "labels"
    global_tiers: frozenset[str] | None = None
    token_bytes: Callable[[int, Any], int] = lambda labels, own: 0
    alternatives: Callable[[Any], list[Settings]] = lambda own: [own]
    arrays: Callable[[Any], dict[str, npt.NDArray[Any]]] = lambda training: {}
    resume: Callable[[Any, SavedModel], None] = lambda training, saved: None
    kept: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """How it can be set."""
        return self.record.declared()


STRUCTURES: dict[str, Structure] = {
    "chain": Structure(
        "a label for each token",
        ChainSettings,
        compile_extractor,
        chain.ChainExtraction,
        chain.ChainTraining,
        chain.ChainDecoder,
        _core.ChainBatch.tiers(),
        global_tiers=_core.WholeChainBatch.tiers(),
        token_bytes=chain.token_bytes,
    ),
    "segments": Structure(
        "labelled segments of several tokens (semi-Markov)",
        segments.SegmentSettings,
        compile_segment_extractor,
        segments.SegmentExtraction,
        segments.SegmentTraining,
        segments.SegmentDecoder,
        _core.SegmentBatch.tiers(),
        "segments-rich",
        SEGMENT_LIST_TEMPLATES,
        SEGMENT_CLUSTER_TEMPLATES,
        SEGMENT_LEXICON_TEMPLATES,
        segments.ENCODING,
        segments.fit_settings,
        global_tiers=_core.WholeSegmentBatch.tiers(),
        token_bytes=segments.token_bytes,
    ),
    "words": Structure(
        "words of text without blanks, with or without tags (beam search)",
        words.WordSettings,
        compile_word_extractor,
        segments.SegmentExtraction,
        words.WordTraining,
        words.WordDecoder,
        _core.WordBatch.tiers(),
        "words",
        SEGMENT_LIST_TEMPLATES,
        SEGMENT_CLUSTER_TEMPLATES,
        SEGMENT_LEXICON_TEMPLATES,
        segments.ENCODING,
        segments.fit_settings,
        token_bytes=segments.token_bytes,
    ),
    "single": Structure(
        "one class for a whole item",
        Settings,
        compile_item_extractor,
        chain.ChainExtraction,
        single.SingleTraining,
        single.SingleDecoder,
        _core.SingleBatch.tiers(),
        "bag",
        kind="classes",
    ),
    "candidates": Structure(
        "the best of a list of candidates (re-ranking)",
        candidates.CandidateSettings,
        candidates.compile_candidates,
        candidates.CandidateExtraction,
        candidates.CandidateTraining,
        candidates.CandidateDecoder,
        _core.CandidateExamples.tiers(),
        ATTRIBUTES,
        kind="candidates",
        alternatives=candidates.alternatives,
    ),
    "trees": Structure(
        "dependency trees: a head and a label for each word",
        trees.TreeSettings,
        trees.compile_trees,
        trees.TreeExtraction,
        trees.TreeTraining,
        trees.TreeDecoder,
        _core.TreeBatch.tiers(),
        "trees",
        kind="trees",
        arrays=trees.arrays_of,
        resume=trees.resume,
        kept=(ACTIONS,),
    ),
}
