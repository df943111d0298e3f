"""
Native core of marginalia: tables of tokens, features, weights, search and learning.
"""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

def build() -> str:
    """The compiler that made the core, and how."""

class TokenTable:
    """Tokens of many sentences: rows of text fields."""

    @property
    def columns(self) -> int:
        """Fields per token."""

    @property
    def text(self) -> bytes:
        """The bytes that were read."""

    @property
    def tokens(self) -> int:
        """Number of tokens."""

    @property
    def sentences(self) -> int:
        """Number of sentences."""

    @property
    def line_breaks(self) -> int:
        """Number of lines that end in the text."""

    @property
    def comments(self) -> list[tuple[int, str]]:
        """Comment lines as (sentence, text)."""

    @property
    def sentence_starts(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """First token of each sentence, then the number of tokens."""

    @property
    def lines(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """Line number of each token."""

    @property
    def documents(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,), writable=False)]:
        """Document number of each sentence."""

    @property
    def marks(self) -> int:
        """Number of -DOCSTART- lines."""

    def column(self, column: int) -> list[str]:
        """All values of a column."""

    def column_slice(self, column: int, first: int, last: int) -> list[str]:
        """A column's values of some tokens."""

    def place(self, token: int, column: int) -> tuple[int, int]:
        """Line and character at which a field starts."""

    def distinct(self, column: int) -> tuple[list[str], NDArray[numpy.int32]]:
        """A column's values by first appearance, and their ids per token."""

    def intern_column(
        self, column: int, vocabulary: Sequence[str]
    ) -> Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)]:
        """Ids of a column's values; -1 if unknown."""

    def render(
        self,
        labels: Sequence[str],
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        separator: str | None = None,
        numbers: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ]
        | None = None,
        before: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> bytes:
        """
        The text with more fields per token line: numbers, labels[before], labels[ids].
        """

    def render_ranked(
        self,
        labels: Sequence[str],
        ids: Annotated[
            NDArray[numpy.int32], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        scores: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        probabilities: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ]
        | None,
        numbers: Annotated[
            NDArray[numpy.float64], dict(shape=(None, None, None), order="C", device="cpu", writable=False)
        ]
        | None,
        units: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        first_line: int,
    ) -> bytes:
        """
        The text with the lines of each unit as often as it has outputs: ids [ranks, tokens], scores and probabilities [ranks, units], numbers [ranks, tokens, width], first tokens of units.
        """

    def replace_column(
        self,
        column: int,
        labels: Sequence[str],
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> bytes:
        """The text with other values in a column."""

    def render_segmented(
        self,
        labels: SchemeLabels,
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        tags: Sequence[str],
    ) -> bytes:
        """
        The characters in the first column with blanks between the words that labels[ids] spell, and behind each what is the tag of its first label.
        """

    @property
    def has_attributes(self) -> bool:
        """Whether tokens have explicit attributes."""

    @property
    def attribute_bytes(self) -> bytes:
        """All explicit attributes, for a fingerprint."""

    def attributes(self, first: int, last: int) -> list[dict[str, float]]:
        """
        The explicit attributes of some tokens, as dictionaries from names to values.
        """

    def concatenate_documents(self) -> TokenTable:
        """A table with one sentence per document."""

    def as_items(self, lines: Sequence[int] = []) -> TokenTable:
        """
        The tokens of the table, each a sentence of its own, read in these lines.
        """

    def __getstate__(self) -> tuple[Any, ...]: ...
    def __setstate__(self, state: tuple[Any, ...], /) -> None: ...

def parse_columns(
    text: bytes,
    *,
    first_line: int = 1,
    first_document: int = 0,
    columns: int = 0,
    tabs_only: bool = False,
    comment: str = "#",
    comment_anywhere: bool = False,
) -> TokenTable:
    """Read a column file; raises ValueError(message, line, column)."""

def parse_items(text: bytes, *, first_line: int = 1) -> TokenTable:
    """
    Read an item file of CRFsuite; raises ValueError(message, line, column).
    """

def parse_segmented(
    text: bytes,
    *,
    first_line: int = 1,
    first_document: int = 0,
    blank_lines: bool = False,
    tag_separator: str = "",
) -> TokenTable:
    """
    Read words between blanks as characters with labels; raises ValueError(message, line, column).
    """

def from_columns(
    columns: Sequence[list[str]],
    lengths: Sequence[int],
    documents: Sequence[int] = [],
    items: list[Any] | None = None,
) -> TokenTable:
    """
    A table of lists of strings, one per column; `documents` says which one each sentence is of, `items` has the explicit attributes of each token.
    """

class SchemeLabels:
    """Labels that spell spans, by type and prefix."""

    def __init__(
        self,
        type: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        prefix: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        joined: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        legal: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...
    def illegal(
        self,
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        starts: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.uint32]:
        """
        Tokens whose label may not follow the one before it, or may not end a sentence.
        """

    def translated(
        self,
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        starts: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        targets: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.int32]:
        """
        The label of each token in another scheme, by a table [labels][3][3] of its relations to the labels before and after it.
        """

def pack_lists(sentences: list[Any], first: int, last: int, columns: tuple[str, ...]) -> TokenTable | None:
    """
    A table of some sentences, each a list of tokens or a dictionary of such lists by the names of columns, and each a document of its own; None if one of them is anything else.
    """

def label_tuples(
    names: tuple[str, ...], ids: NDArray[numpy.int32], starts: NDArray[numpy.uint32]
) -> list[tuple[str, ...]]:
    """The names of label ids as a tuple for each sentence."""

def check_attribute(function: str, argument: str) -> None:
    """Raise ValueError unless the function exists and takes this argument."""

@overload
def evaluate_attribute(function: str, argument: str, value: str) -> str | None:
    """The value of an attribute for one string, or None."""

@overload
def evaluate_attribute(function: str, argument: str, value: bytes) -> bytes | None:
    """An attribute of bytes, which need not be valid UTF-8."""

def unicode_tables() -> tuple[NDArray[numpy.uint32], NDArray[numpy.int32], NDArray[numpy.int32]]:
    """
    Ranges of kinds and scripts of characters, packed; and (first, last, step, distance) of lower case and of usual widths.
    """

class PhraseSet:
    """A list of phrases, as hashes."""

    def __init__(self, phrases: Sequence[str | Sequence[str]]) -> None:
        pass

    @staticmethod
    def from_states(
        states: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> PhraseSet: ...
    def matches(self, tokens: Sequence[str]) -> NDArray[numpy.uint8]:
        """
        Longest matches from left to right: 1 at the first token, 2 inside, 0 elsewhere.
        """

    def thinned(self, share: float, seed: int) -> PhraseSet:
        """Without about this share of the phrases."""

    @property
    def states(self) -> NDArray[numpy.uint64]: ...

class PhraseBook:
    """Phrases with numbers, to be found in text."""

    def __init__(self, phrases: Sequence[str | Sequence[str]], ignore_case: bool) -> None:
        pass

    @property
    def bytes(self) -> int:
        """Memory that it takes."""

    @property
    def numbers(self) -> NDArray[numpy.uint32]:
        """By phrase: the number of the first one that is the same."""

    def longest(
        self, table: TokenTable, column: int
    ) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint32]]:
        """
        First tokens, ends and numbers of the longest matches in a table; they do not overlap.
        """

class WordTable:
    """
    Words with the paths of their clusters or their entries in a lexicon; as hashes.
    """

    def __init__(
        self,
        texts: Sequence[str],
        words: Sequence[str],
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        any_case: bool,
    ) -> None: ...
    @staticmethod
    def from_entries(
        entries: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        texts: Sequence[str],
        any_case: bool,
    ) -> WordTable: ...
    def text(self, word: str) -> str | None:
        """The path or the entry of a word, or None."""

    @property
    def any_case(self) -> bool: ...
    @property
    def texts(self) -> list[str]:
        """Distinct texts, by their numbers in entries."""

    @property
    def entries(self) -> NDArray[numpy.uint64]:
        """Hashes of words in 48 bits, numbers of their texts in 16; sorted."""

def check_path_bits(argument: str) -> None:
    """Raise ValueError unless a prefix of a path can have so many bits."""

class FeatureExtractor:
    """Templates, ready to run over token tables."""

    def __init__(
        self,
        sources: Sequence[tuple[str, str, int, int]],
        templates: Sequence[tuple[bool, Sequence[tuple[str, int, int, bool, Sequence[str], Sequence[str]]]]],
        lists: Sequence[PhraseSet],
        columns: int,
        word_tables: Sequence[WordTable] = [],
    ) -> None: ...
    @staticmethod
    def of_items(columns: int) -> FeatureExtractor:
        """Features are the tables' explicit attributes."""

    @staticmethod
    def of_bags(templates: Sequence[Sequence[tuple[str, str, int]]], columns: int) -> FeatureExtractor:
        """
        Templates over items, as lists of (function, argument, column); a literal is ("", text, 0).
        """

    @property
    def has_edges(self) -> bool: ...
    def names(self, table: TokenTable) -> list[list[tuple[bool, str]]]:
        """(edge, name) of every feature of every token."""

def feature_keys(
    names: bytes,
    ends: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    edges: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> NDArray[numpy.uint64]:
    """The keys of features, by their names: name i ends at ends[i]."""

class FeatureIndex:
    """Features met in training, numbered."""

    def __init__(self, keep_names: bool) -> None: ...
    def __len__(self) -> int: ...
    def name(self, row: int) -> bytes: ...
    def seed(
        self,
        keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        edges: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        names: bytes,
        name_ends: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Adds features that are never cut, in this order."""

    @property
    def keys(self) -> NDArray[numpy.uint64]: ...
    @property
    def edges(self) -> NDArray[numpy.uint8]: ...
    @property
    def keeps_names(self) -> bool: ...
    def count(self, extractor: FeatureExtractor, table: TokenTable) -> None: ...
    def cut(self, least: int, examples: Sequence[ExampleRows]) -> None:
        """Drops features counted fewer than `least` times."""

class ExampleRows:
    """Sentences as feature rows."""

    def __init__(self, keep_templates: bool = False) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    def rows(self, token: int) -> list[tuple[int, float]]:
        """The rows of a token's node features, each with how often it has it."""

    @property
    def starts(self) -> NDArray[numpy.uint32]: ...
    @property
    def gold(self) -> NDArray[numpy.uint32]: ...
    def reserve(self, extractor: FeatureExtractor, tokens: int) -> None:
        """Room for so many tokens."""

    def add_growing(self, extractor: FeatureExtractor, table: TokenTable, index: FeatureIndex) -> None: ...
    def add_known(self, extractor: FeatureExtractor, table: TokenTable, index: FeatureIndex) -> None: ...
    @property
    def sets(self) -> NDArray[numpy.uint8]:
        """
        [sets, labels]: gold numbers from the number of labels on stand for these.
        """

    def set_gold(
        self,
        gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: int,
        sets: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> None:
        """
        Gold labels; -1 - k stands for set k of [sets][labels], any of which may be right.
        """

class SparseRows:
    """Weights to score with; row 0 holds the structure's constants."""

    def cells(self, row: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32]]:
        """Outputs and weights of a row."""

    def freeze(
        self,
        index: FeatureIndex,
        width: int,
        voters: WeightTable | None = None,
        versions: int = 0,
        provenance: Provenance | None = None,
        most: int = 0,
        examples: int = 0,
        known: int = 0,
    ) -> dict[str, Any]:
        """
        The arrays of a finished model, without what is zero (but for the first rows, so many, which stay); of the provenance at most so many of a weight (0: all), out of so many examples.
        """

    def flat(self) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32], NDArray[numpy.uint32]]:
        """Outputs and weights of all rows, and where each row ends."""

    def copy(self) -> SparseRows: ...
    def compact(self) -> SparseRows:
        """Rows without gaps."""

    def __len__(self) -> int: ...
    @property
    def weights(self) -> NDArray[numpy.float64]:
        """All weights, as one vector."""

    @weights.setter
    def weights(
        self,
        values: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @property
    def norm(self) -> float: ...
    @staticmethod
    def mean(all: Sequence[SparseRows], nonzero: bool) -> SparseRows:
        """The mean of each weight, or of those that are not zero."""

    @staticmethod
    def sum(all: Sequence[SparseRows], factors: Sequence[float]) -> SparseRows:
        """The sum of each weight, each set times its factor."""

class Votes:
    """All changes of weights, by weight."""

class Provenance:
    """What each example has of each weight."""

    def flat(
        self,
    ) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]:
        """Rows, outputs, examples and parts, by row, output and example."""

class WeightTable:
    """Weights to learn."""

    def __init__(
        self,
        rows: int,
        constants: int,
        penalty: str = "none",
        rate: float = 0.0,
        variances: bool = False,
        log: bool = False,
        provenance: bool = False,
    ) -> None: ...
    @property
    def current(self) -> SparseRows: ...
    def catch_up(self, steps: float) -> None:
        """Takes all penalties that fell due."""

    def averaged(self, steps: float) -> SparseRows: ...
    def forget_totals(self) -> None: ...
    def clone(self) -> WeightTable: ...
    @staticmethod
    def mixed(tables: Sequence[WeightTable], index: FeatureIndex, width: int) -> WeightTable:
        """A table with the means of these tables' weights."""

    def state(self) -> dict[str, NDArray[Any]]:
        """All that further learning depends on."""

    def provenance(self, steps: float) -> Provenance:
        """
        What each example has of each weight; of their mean after each of so many steps, if not 0.
        """

    def votes(self, versions: int) -> Votes:
        """The log of changes, by weight."""

    def restore_log(
        self,
        places: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        changes: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def restore(
        self,
        index: FeatureIndex,
        width: int,
        rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        outputs: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        totals: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        paid: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        variances: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        due: float,
    ) -> None:
        """Sets weights of a fresh table."""

def pack_rows(
    keys: NDArray[numpy.uint32],
    sizes: NDArray[numpy.uint32],
    edge: NDArray[numpy.uint8],
    outputs: NDArray[numpy.uint32],
    values: NDArray[numpy.uint32],
    width: int,
    levels: int,
    bits: int,
    has_edges: bool,
) -> NDArray[numpy.uint8]:
    """Rows of weights, by rising key, as few bytes."""

def unpack_rows(
    packed: NDArray[numpy.uint8], rows: int, cells: int, width: int, levels: int, bits: int, has_edges: bool
) -> tuple[
    NDArray[numpy.uint32],
    NDArray[numpy.uint32],
    NDArray[numpy.uint8],
    NDArray[numpy.uint32],
    NDArray[numpy.uint32],
]:
    """Keys, sizes, edges, outputs and values of rows that were packed."""

class ConstraintSet:
    """Constraints on outputs, as sets of contexts of tokens."""

    def __init__(
        self,
        labels: int,
        relation: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        sets: Annotated[
            NDArray[numpy.uint8], dict(shape=(None, None), order="C", device="cpu", writable=False)
        ],
        everywhere: Sequence[int],
        counts: Sequence[tuple[int, int, int | None]],
        orders: Sequence[tuple[int, int]],
        neighbours: Sequence[tuple[int, int]],
    ) -> None: ...
    def violations_of_one(
        self,
        tokens: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        spans: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.uint32]:
        """
        How often each label breaks them in an output of one token, with rows of token and set, and of first token, last token and set.
        """

class Spelling:
    """How labels spell spans."""

    def __init__(
        self,
        type: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        inside: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        relation: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        prefix: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...

class ChainShape:
    """Labels, order and legal transitions of a chain."""

    def __init__(
        self,
        labels: int,
        order: int,
        transitions: bool,
        start: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        transition: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        end: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ends: bool,
        local: bool = False,
        beam: int = 0,
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def transitions(self) -> bool: ...
    @property
    def row_width(self) -> int:
        """Outputs of a feature's row."""

    @property
    def constants(self) -> int:
        """Number of weights in row 0."""

class Lattice:
    """Scores of one sentence."""

    def __init__(
        self,
        shape: ChainShape,
        node: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        edge: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @property
    def node(self) -> NDArray[numpy.float64]: ...
    def best(self) -> tuple[NDArray[numpy.uint32], float]:
        """Best labels and their score."""

    def best_k(self, k: int) -> list[tuple[NDArray[numpy.uint32], float]]:
        """The k best at once, as learners ask for them."""

    def k_best(self) -> KBest:
        """
        Iterates over (labels, score), best first, without end but that of the legal outputs.
        """

    def constrained(
        self,
        constraint_set: ConstraintSet,
        tokens: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        spans: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> ConstrainedChains:
        """
        Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best first.
        """

    def score(
        self,
        labels: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float:
        """Score of an output; -inf if it is not legal."""

    def local_normalisers(
        self,
        labels: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.float64]:
        """
        The log of what the choice of each label of an output is divided by; 0 if the shape is not local.
        """

    def allow(
        self,
        token: int,
        allowed: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """From now on only some labels of a token are legal."""

    def marginals(self, edges: bool = False, method: str = "auto") -> dict[str, Any]: ...

class KBest:
    """Outputs, best first."""

    def __iter__(self) -> KBest: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class ConstrainedChains:
    """Outputs that satisfy constraints as well as can be, best first."""

    @property
    def violations(self) -> int:
        """How often each of them breaks constraints."""

    @property
    def exact(self) -> bool:
        """Whether the first is known to be the best."""

    def __iter__(self) -> ConstrainedChains: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class ChainSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class ChainModel:
    """A finished chain model."""

    def __init__(self, shape: ChainShape, arrays: dict[str, NDArray[Any]]) -> None: ...
    def best(self, extractor: FeatureExtractor, table: TokenTable, space: ChainSpace) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: FeatureExtractor, table: TokenTable, k: int, space: ChainSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def constrain(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: ChainSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The best labels of all tokens, changed where they break constraints on chosen sentences; by sentence how often they still do, and whether that is known to be the best.
        """

    def confidences(
        self,
        extractor: FeatureExtractor | SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: ChainSpace | SegmentSpace | SingleSpace | WordSpace,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        P(label) by token, P(span), first and last token of spans, P(output); scores times a factor.
        """

    def ranked(
        self, extractor: FeatureExtractor, table: TokenTable, k: int, space: ChainSpace
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of all sentences: labels [ranks, tokens] (the best ones where a sentence has no more), scores [ranks, sentences] (NaN there), and two empty arrays.
        """

    def ranked_constrained(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        k: int,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: ChainSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of chosen sentences under constraints, `labels` being the best ones without; by sentence how often the outputs break constraints, and whether that is known to be the best.
        """

    def rescored(
        self,
        extractor: Any,
        table: TokenTable,
        rescorer: Rescorer,
        column: int,
        n: int,
        k: int,
        vote: bool,
        space: Any,
        scorer: Any | None = None,
        scorer_extractor: Any | None = None,
        scorer_space: Any | None = None,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs by all features, of the n best by local ones, as `ranked` gives them; with `vote` the one that versions of the weights vote for comes first, if they do. With a `scorer`, local scores are those of that model.
        """

    def rescored_confidences(
        self,
        extractor: Any,
        table: TokenTable,
        rescorer: Rescorer,
        column: int,
        n: int,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: Any,
        scorer: Any | None = None,
        scorer_extractor: Any | None = None,
        scorer_space: Any | None = None,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        As `confidences`, over the n best outputs by local features, with their total scores.
        """

    def differing_features(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        others: NDArray[numpy.int32],
        space: ChainSpace,
    ) -> list[list[tuple[int, int, int, int, int, float, float, int | None, list[str]]]]:
        """
        By sentence (first token, last token, token in turn, row, output, how often, weight, template or None, texts of its pieces) of the features of outputs, without those that the others have too.
        """

    def scores(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        space: ChainSpace,
    ) -> NDArray[numpy.float64]:
        """The score of the output of each sentence; -inf if it is not legal."""

    def use_rules(
        self,
        keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ends: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        atoms: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: Sequence[str],
        neighbours: int,
        backwards: bool,
    ) -> None:
        """From now on scores are those of rules; to be called before all else."""

    def rules(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        sentence: int,
        labels: NDArray[numpy.uint32],
        space: ChainSpace,
    ) -> list[tuple[int, int]]:
        """(token, row of its confidences) of each rule of an output that holds."""

    def lattice(
        self, extractor: FeatureExtractor, table: TokenTable, sentence: int, space: ChainSpace
    ) -> Lattice:
        """Scores of one sentence."""

    def features(
        self, extractor: FeatureExtractor, table: TokenTable, sentence: int, space: ChainSpace
    ) -> list[tuple[int, bool, int, float, int | None, list[str]]]:
        """
        (token, edge, row, how often, template or None, texts of its pieces) of each known feature.
        """

class SegmentExtractor:
    """Templates over segments, ready to run over token tables."""

    def __init__(
        self,
        sources: Sequence[tuple[str, str, int, int]],
        templates: Sequence[Sequence[tuple[str, int, int, str, Sequence[str], Sequence[str]]]],
        lists: Sequence[PhraseSet],
        columns: int,
        word_tables: Sequence[WordTable] = [],
        before: Sequence[int] = [],
    ) -> None: ...
    @property
    def has_neighbours(self) -> bool:
        """Are there templates of neighbouring segments?"""

    @staticmethod
    def of_items(columns: int) -> SegmentExtractor:
        """Features are the tables' explicit attributes."""

    def names(self, table: TokenTable, sentence: int, begin: int, last: int) -> list[tuple[int | None, str]]:
        """(token or None, name) of every feature of a segment."""

class SegmentShape:
    """Types of segments, and the longest ones."""

    def __init__(
        self,
        inside: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        most: int,
        transitions: bool,
        ends: bool,
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def most(self) -> int: ...
    @property
    def types(self) -> int: ...
    @property
    def row_width(self) -> int:
        """Outputs of a feature's row."""

    @property
    def constants(self) -> int:
        """Number of weights in row 0."""

class SegmentExamples:
    """Sentences as values of tokens."""

    def __init__(self, keep_texts: bool) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def starts(self) -> NDArray[numpy.uint32]: ...
    @property
    def gold(self) -> NDArray[numpy.uint32]: ...
    def add(self, extractor: SegmentExtractor, table: TokenTable) -> None: ...
    @property
    def sets(self) -> NDArray[numpy.uint8]:
        """
        [sets, labels]: gold numbers from the number of labels on stand for these.
        """

    def set_gold(
        self,
        gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        shape: SegmentShape,
        sets: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> int:
        """
        Gold labels; -1 - k stands for set k of [sets][labels], any of which may be right. Returns how many segments were longer than the shape allows and had to be cut.
        """

class SegmentLattice:
    """Scores of all segments of one sentence."""

    def __init__(
        self,
        shape: SegmentShape,
        segments: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        length: int,
        constants: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    def best(self) -> tuple[NDArray[numpy.uint32], float]:
        """Best labels and their score."""

    def k_best(self, k: int | None = None) -> SegmentKBest:
        """Iterates over (labels, score), best first, at most k if it is given."""

    def constrained(
        self,
        constraint_set: ConstraintSet,
        tokens: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        spans: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> ConstrainedSegments:
        """
        Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best first.
        """

    def score(
        self,
        labels: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float:
        """Score of an output; -inf if it spells no segments."""

    def allow(
        self,
        token: int,
        allowed: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """From now on only some labels of a token are legal."""

    def marginals(self) -> dict[str, Any]: ...

class SegmentKBest:
    """Outputs, best first."""

    def __iter__(self) -> SegmentKBest: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class ConstrainedSegments:
    """Outputs that satisfy constraints as well as can be, best first."""

    @property
    def violations(self) -> int:
        """How often each of them breaks constraints."""

    @property
    def exact(self) -> bool:
        """Whether the first is known to be the best."""

    def __iter__(self) -> ConstrainedSegments: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class SegmentSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class SegmentModel:
    """A finished model of segments."""

    def __init__(self, shape: SegmentShape, arrays: dict[str, NDArray[Any]]) -> None: ...
    def best(
        self, extractor: SegmentExtractor, table: TokenTable, space: SegmentSpace
    ) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: SegmentExtractor, table: TokenTable, k: int, space: SegmentSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def constrain(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: SegmentSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The best labels of all tokens, changed where they break constraints on chosen sentences; by sentence how often they still do, and whether that is known to be the best.
        """

    def confidences(
        self,
        extractor: FeatureExtractor | SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: ChainSpace | SegmentSpace | SingleSpace | WordSpace,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        P(label) by token, P(span), first and last token of spans, P(output); scores times a factor.
        """

    def ranked(
        self, extractor: SegmentExtractor, table: TokenTable, k: int, space: SegmentSpace
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of all sentences: labels [ranks, tokens] (the best ones where a sentence has no more), scores [ranks, sentences] (NaN there), and two empty arrays.
        """

    def ranked_constrained(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        k: int,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: SegmentSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of chosen sentences under constraints, `labels` being the best ones without; by sentence how often the outputs break constraints, and whether that is known to be the best.
        """

    def rescored(
        self,
        extractor: Any,
        table: TokenTable,
        rescorer: Rescorer,
        column: int,
        n: int,
        k: int,
        vote: bool,
        space: Any,
        scorer: Any | None = None,
        scorer_extractor: Any | None = None,
        scorer_space: Any | None = None,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs by all features, of the n best by local ones, as `ranked` gives them; with `vote` the one that versions of the weights vote for comes first, if they do. With a `scorer`, local scores are those of that model.
        """

    def rescored_confidences(
        self,
        extractor: Any,
        table: TokenTable,
        rescorer: Rescorer,
        column: int,
        n: int,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: Any,
        scorer: Any | None = None,
        scorer_extractor: Any | None = None,
        scorer_space: Any | None = None,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        As `confidences`, over the n best outputs by local features, with their total scores.
        """

    def differing_features(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        others: NDArray[numpy.int32],
        space: SegmentSpace,
    ) -> list[list[tuple[int, int, int, int, int, float, float, int | None, list[str]]]]:
        """
        By sentence (first token, last token, token in turn, row, output, how often, weight, template or None, texts of its pieces) of the features of outputs, without those that the others have too.
        """

    def scores(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        space: SegmentSpace,
    ) -> NDArray[numpy.float64]:
        """The score of the output of each sentence; -inf if it is not legal."""

    def lattice(
        self, extractor: SegmentExtractor, table: TokenTable, sentence: int, space: SegmentSpace
    ) -> SegmentLattice:
        """Scores of one sentence."""

    def features_of(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        sentence: int,
        labels: NDArray[numpy.uint32],
        space: SegmentSpace,
    ) -> list[tuple[int, int, int, int, int, float, int | None, list[str]]]:
        """
        (first token, last token, token in turn, row, label, how often, template or None, texts of its pieces) of each known feature of an output.
        """

class SingleShape:
    """The classes of items."""

    def __init__(self, labels: int) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def row_width(self) -> int:
        """Outputs of a feature's row."""

    @property
    def constants(self) -> int:
        """Number of weights in row 0."""

class SingleSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class SingleModel:
    """A finished model of single classes."""

    def __init__(self, shape: SingleShape, arrays: dict[str, Any]) -> None: ...
    def best(
        self, extractor: FeatureExtractor, table: TokenTable, space: SingleSpace
    ) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: FeatureExtractor, table: TokenTable, k: int, space: SingleSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def constrain(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: SingleSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The best labels of all tokens, changed where they break constraints on chosen sentences; by sentence how often they still do, and whether that is known to be the best.
        """

    def confidences(
        self,
        extractor: FeatureExtractor | SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: ChainSpace | SegmentSpace | SingleSpace | WordSpace,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        P(label) by token, P(span), first and last token of spans, P(output); scores times a factor.
        """

    def ranked(
        self, extractor: FeatureExtractor, table: TokenTable, k: int, space: SingleSpace
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of all sentences: labels [ranks, tokens] (the best ones where a sentence has no more), scores [ranks, sentences] (NaN there), and two empty arrays.
        """

    def ranked_constrained(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        k: int,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: SingleSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of chosen sentences under constraints, `labels` being the best ones without; by sentence how often the outputs break constraints, and whether that is known to be the best.
        """

    def use_rules(
        self,
        keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        ends: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        atoms: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: Sequence[str],
        neighbours: int,
        backwards: bool,
    ) -> None:
        """From now on scores are those of rules; to be called before all else."""

    def rules(
        self,
        extractor: FeatureExtractor,
        table: TokenTable,
        sentence: int,
        labels: NDArray[numpy.uint32],
        space: SingleSpace,
    ) -> list[tuple[int, int]]:
        """(token, row of its confidences) of each rule of an output that holds."""

    def scores(
        self, extractor: FeatureExtractor, table: TokenTable, space: SingleSpace
    ) -> NDArray[numpy.float64]:
        """[items, classes]."""

    def features(
        self, extractor: FeatureExtractor, table: TokenTable, item: int, space: SingleSpace
    ) -> list[tuple[int, float, int | None, list[str]]]:
        """
        (row, how often, template or None, texts of its pieces) of each known feature.
        """

def permutation(n: int, seed: int) -> NDArray[numpy.uint32]:
    """A shuffled range, the same everywhere for the same seed."""

def dot(
    a: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    b: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> float:
    """A sum in a fixed order: equal on every machine."""

def tiers() -> dict[str, str]:
    """
    The tiers of the contract by name, and what a structure that has one offers.
    """

class UpdateRule:
    """What an online learner does at an example."""

    @property
    def needs(self) -> frozenset[str]:
        """The tiers of the contract that it needs of a structure."""

    @staticmethod
    def perceptron() -> UpdateRule: ...
    @staticmethod
    def margin(margin: float) -> UpdateRule: ...
    @staticmethod
    def passive_aggressive(kind: str, c: float) -> UpdateRule: ...
    @staticmethod
    def arow(r: float) -> UpdateRule: ...
    @staticmethod
    def correction(margin: float, local: bool = False) -> UpdateRule: ...
    @staticmethod
    def gradient(rate: float, decay: float, examples: float, local: bool) -> UpdateRule: ...

class ChainBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: ChainShape,
        examples: ExampleRows,
        costs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

class SingleBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: SingleShape,
        examples: ExampleRows,
        costs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

class SegmentBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: SegmentShape,
        extractor: SegmentExtractor,
        examples: SegmentExamples,
        index: FeatureIndex,
        open: bool,
        costs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

    def count_features(self) -> None:
        """
        Gives the features of the gold outputs rows of the index, and counts them.
        """

class Lbfgs:
    """Minimises a function plus l1 * |x|; the caller evaluates it."""

    def __init__(
        self,
        start: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        memory: int,
        l1: float,
    ) -> None: ...
    @staticmethod
    def resumed(
        point: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        gradient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        value: float,
        length: float,
        trials: float,
        steps: Sequence[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        ],
        changes: Sequence[
            Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
        ],
        memory: int,
        l1: float,
    ) -> Lbfgs: ...
    @property
    def x(self) -> NDArray[numpy.float64]: ...
    @property
    def best(self) -> NDArray[numpy.float64]: ...
    @property
    def value(self) -> float: ...
    @property
    def gradient_norm(self) -> float: ...
    def update(
        self,
        value: float,
        gradient: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> str:
        """The value and gradient at x: 'evaluate' again, 'stepped' or 'stuck'."""

    def state(self) -> dict[str, Any]: ...

class BrownClustering:
    """Words merged into clusters by the mutual information of neighbours."""

    def __init__(
        self,
        counts: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        left: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        right: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        times: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        clusters: int,
        threads: int,
    ) -> None: ...
    def advance(self, steps: int) -> bool:
        """
        Take in so many more words, or merge so many of the last clusters; False when one is left.
        """

    def take_no_more(self) -> None:
        """Leave the remaining words without a cluster."""

    @property
    def taken(self) -> int:
        """How many words were taken in."""

    @property
    def merges(self) -> NDArray[numpy.uint32]:
        """
        [merges, 2]: the first words of two clusters that were merged, the lower first.
        """

class GlobalSet:
    """A declared set of global features."""

    def __init__(self, lines: Sequence[str], lowercase: Sequence[str], functions: Sequence[Any]) -> None: ...

class MentionLabels:
    """How labels spell mentions."""

    def __init__(
        self,
        types: Sequence[str],
        type: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        joined: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> None: ...

class GlobalTexts:
    """The words of documents."""

    def __init__(self, set: GlobalSet) -> None: ...
    def add(self, table: TokenTable, column: int) -> None:
        """Appends the sentences of a table, each a document."""

    def __len__(self) -> int: ...

class GlobalExtractor:
    """The global features of given outputs."""

    def __init__(self, set: GlobalSet, labels: MentionLabels) -> None: ...
    def rows(
        self,
        texts: GlobalTexts,
        document: int,
        outputs: NDArray[numpy.int32],
        index: FeatureIndex,
        grow: bool,
    ) -> tuple[NDArray[numpy.uint64], NDArray[numpy.uint32], NDArray[numpy.float64]]:
        """
        Ends, rows and counts of the features of each output, given as label ids one after another.
        """

    def names(
        self, texts: GlobalTexts, document: int, outputs: NDArray[numpy.int32]
    ) -> list[dict[str, float]]:
        """The same by name, a dict for each output."""

class GlobalModel:
    """The weights of global features."""

    def __init__(
        self,
        set: GlobalSet,
        labels: MentionLabels,
        keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)],
        weights: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scale: float = 1.0,
    ) -> None: ...
    def set_votes(
        self,
        ends: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        steps: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        changes: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        versions: int,
        scale: float,
        candidates: int,
    ) -> None:
        """Versions of the weights that vote on so many of the best outputs."""

class Rescorer:
    """Global features at work in one thread."""

    def __init__(self, model: GlobalModel) -> None: ...
    def read(self, table: TokenTable, column: int) -> None:
        """The documents that are asked about from now on."""

    def score(
        self,
        document: int,
        ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> float:
        """What global features add to the score of an output."""

    def totals(
        self,
        document: int,
        outputs: Annotated[
            NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        scores: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> NDArray[numpy.float64]:
        """Scores by all features of outputs with these local scores."""

    def terms(self, document: int, ids: NDArray[numpy.int32]) -> list[tuple[str, float, float]]:
        """Names, counts and weights of an output's global features."""

def global_families() -> list[str]: ...
def global_key(name: str) -> int: ...
def global_weights(
    weights: SparseRows, index: FeatureIndex
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.float32], bytes, NDArray[numpy.uint32]]:
    """
    Keys, weights, joined names and their ends, of global features by rising key.
    """

class NonLocalOptions:
    """How the n best outputs are looked at."""

    def __init__(
        self, n: int, in_use: int, margin: float, local_margin: float, local_updates: bool
    ) -> None: ...

class HypothesisLists:
    """Outputs of examples that another model listed."""

    def __init__(self) -> None: ...
    def add(
        self,
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        tokens: int,
        known: int,
    ) -> None:
        """
        The outputs of one more example, of so many tokens, one after another, best first.
        """

class WholeChainBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: ChainShape,
        examples: ExampleRows,
        set: GlobalSet,
        labels: MentionLabels,
        texts: GlobalTexts,
        index: FeatureIndex,
        open: bool,
        options: NonLocalOptions,
        given: HypothesisLists | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

class WholeSegmentBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: SegmentShape,
        extractor: SegmentExtractor,
        open_local: bool,
        examples: SegmentExamples,
        set: GlobalSet,
        labels: MentionLabels,
        texts: GlobalTexts,
        index: FeatureIndex,
        open: bool,
        options: NonLocalOptions,
        given: HypothesisLists | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

BASE_SCORE: str = "base score"

BEST_CANDIDATE: str = "best"

OTHER_CANDIDATE: str = "other"

def right_candidates(
    lengths: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    losses: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)],
    scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)]
    | None,
    all: bool,
) -> NDArray[numpy.uint8]:
    """
    Which candidates are right: the one with the least loss of each item, or all of those.
    """

def candidate_table(
    lengths: NDArray[numpy.uint32],
    ends: NDArray[numpy.uint64],
    features: NDArray[numpy.uint32],
    names: list[str],
    values: NDArray[numpy.float32] | None = None,
    keys: NDArray[numpy.uint64] | None = None,
    scores: NDArray[numpy.float64] | None = None,
    losses: NDArray[numpy.float64] | None = None,
    all_right: bool = False,
) -> TokenTable:
    """
    The table of items with so many candidates each; the features of candidate c end at ends[c].
    """

def count_by_item(index: FeatureIndex, examples: ExampleRows, fresh: bool) -> None:
    """
    Counts each feature once for every item that has it; `fresh`: and forgets what was counted before.
    """

def base_row(index: FeatureIndex) -> int:
    """The row of the base score; 0 if it has none."""

def scale_values(examples: ExampleRows, row: int, factor: float, first: int) -> None:
    """Multiplies the values of a row, from a candidate on."""

class CandidateShape:
    """How base scores of candidates count."""

    def __init__(self, base_scale: float) -> None: ...
    @property
    def base_scale(self) -> float: ...
    @property
    def row_width(self) -> int:
        """Outputs of a feature's row."""

    @property
    def constants(self) -> int:
        """Number of weights in row 0."""

class CandidateSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class CandidateModel:
    """A finished model of candidates."""

    def __init__(self, shape: CandidateShape, arrays: dict[str, Any]) -> None: ...
    def best(
        self, extractor: FeatureExtractor, table: TokenTable, space: CandidateSpace
    ) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: FeatureExtractor, table: TokenTable, k: int, space: CandidateSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def scores(
        self, extractor: FeatureExtractor, table: TokenTable, space: CandidateSpace
    ) -> NDArray[numpy.float64]:
        """Of all candidates of all items."""

    def features(
        self, extractor: FeatureExtractor, table: TokenTable, item: int, candidate: int, space: CandidateSpace
    ) -> list[tuple[int, float, list[str]]]:
        """(row, value, texts of its name) of each known feature of a candidate."""

class CandidateExamples:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: CandidateShape,
        examples: ExampleRows,
        losses: Annotated[
            NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

class CandidatePairs:
    """Pairs of a right candidate and another one."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(
        self,
        batch: CandidateExamples,
        base_row: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        weights: SparseRows,
    ) -> None:
        """
        Adds the pairs of examples; of several right candidates the one that these weights like best.
        """

class RankBoost:
    """The boosting re-ranker: a weight at a time."""

    def __init__(self, pairs: CandidatePairs, rows: int, base_row: int, smoothing: float) -> None: ...
    @staticmethod
    def needs() -> frozenset[str]:
        """The tiers of the contract that it needs of a structure."""

    def find_base_weight(self) -> None:
        """The weight of the base score by a line search."""

    def begin_with(
        self,
        weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Goes on from these weights, by row."""

    def run(self, rounds: int) -> int:
        """Up to so many rounds; how many were made."""

    def refresh(self) -> None:
        """Computes all sums anew from the weights."""

    @property
    def weights(self) -> NDArray[numpy.float64]:
        """By row."""

    @property
    def chosen(self) -> NDArray[numpy.uint32]:
        """The row of each round."""

    @property
    def loss(self) -> float:
        """The exponential loss of all pairs."""

    @property
    def bound(self) -> float:
        """What the share of wrong examples cannot exceed."""

LABEL_CODE: int = 2147483648

class RuleSamples:
    """Tokens or items as sets of atoms."""

    def __init__(self, labels: int, neighbours: int, backwards: bool) -> None: ...
    @staticmethod
    def needs() -> frozenset[str]:
        """The tiers of the contract that rules need of a structure."""

    def add(
        self,
        examples: ExampleRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Adds examples with their gold labels."""

    def finish(self, least: int) -> None:
        """Numbers the atoms that at least so many samples have."""

    def __len__(self) -> int: ...
    @property
    def atoms(self) -> int:
        """How many there are."""

    @property
    def weight(self) -> float:
        """Of all samples."""

class RuleLearner:
    """Boosted rules of one label against the rest."""

    def __init__(
        self,
        samples: RuleSamples,
        label: int,
        rules_per_round: int = 10,
        width: int = 10,
        size: int = 2,
        buckets: int = 100,
        by_weight: bool = True,
        smoothing: float = 1.0,
        tolerance: float = 0.0,
    ) -> None: ...
    def run(self, rounds: int, most: int) -> int:
        """So many rounds, or until there are `most` rules; the number of rules."""

    def __len__(self) -> int: ...
    @property
    def done(self) -> bool:
        """Nothing is left to learn."""

    @property
    def default(self) -> float: ...
    @property
    def loss(self) -> float:
        """The sum of the weights of all samples."""

    @property
    def gains(self) -> list[float]:
        """By how much each rule made the loss smaller, in the order of learning."""

    @property
    def rules(self) -> list[tuple[list[int], float]]:
        """(codes of atoms, confidence), in the order of learning."""

class RuleTable:
    """Rules of all labels as rows of an index."""

    def __init__(self, samples: RuleSamples, index: FeatureIndex, labels: Sequence[str]) -> None: ...
    def take(self, learner: RuleLearner) -> None:
        """Adds the rules that are new."""

    @property
    def cells(self) -> dict[str, Any]:
        """Rows, outputs and weights of all confidences."""

    @property
    def arrays(self) -> dict[str, Any]:
        """Rules as a model file keeps them."""

class TrainedRules:
    """Rules in training, ready to be used."""

    def __init__(
        self, table: RuleTable, index: FeatureIndex, labels: Sequence[str], neighbours: int, backwards: bool
    ) -> None: ...
    @overload
    def best(
        self, shape: ChainShape, examples: ExampleRows, weights: SparseRows, first: int, last: int
    ) -> NDArray[numpy.int32]:
        """The best labels of the examples [first, last)."""

    @overload
    def best(
        self, shape: SingleShape, examples: ExampleRows, weights: SparseRows, first: int, last: int
    ) -> NDArray[numpy.int32]: ...

MOST_TREE_LABELS: int = 4096

class TreeExtractor:
    """Templates over configurations, ready to run over tables."""

    def __init__(
        self,
        sources: Sequence[tuple[str, str, int, int]],
        templates: Sequence[Sequence[tuple[str, int, str]]],
        lists: Sequence[PhraseSet],
        columns: int,
        word_tables: Sequence[WordTable] = [],
    ) -> None: ...

class TreeShape:
    """A transition system with its labels, and how search goes."""

    def __init__(
        self, labels: Sequence[str], system: str, beam: int, one_root: bool, merge: bool, update: str
    ) -> None: ...
    def allow(
        self,
        allowed: Annotated[
            NDArray[numpy.uint8], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> None:
        """Which actions may be taken, by number."""

    @property
    def allowed(self) -> NDArray[numpy.uint8]:
        """Which actions may be taken, by number."""

    @property
    def row_width(self) -> int:
        """Outputs of a feature's row: actions."""

    @property
    def constants(self) -> int:
        """Number of weights in row 0."""

    def oracle(
        self,
        heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> NDArray[numpy.uint32]:
        """The actions that make a tree."""

def projectivised(
    heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
) -> NDArray[numpy.int32]:
    """Heads with arcs lifted until none crosses another."""

class TreeExamples:
    """Sentences as values of tokens, with their trees."""

    def __init__(self, keep_texts: bool) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def starts(self) -> NDArray[numpy.uint32]: ...
    def add(self, extractor: TreeExtractor, table: TokenTable) -> None: ...
    def set_gold(
        self,
        shape: TreeShape,
        heads: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> int:
        """
        The right arcs, of which those below 0 are not known; returns how many had to be lifted.
        """

    def seen_actions(self, shape: TreeShape) -> NDArray[numpy.uint8]:
        """By number: 1 for actions that make right arcs."""

class TreeBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: TreeShape,
        extractor: TreeExtractor,
        examples: TreeExamples,
        index: FeatureIndex,
        open: bool,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

    def count_features(self) -> None:
        """
        Gives the features of the gold outputs rows of the index, and counts them.
        """

class TreeSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...
    @property
    def merged(self) -> tuple[int, int]:
        """
        How many states were one with another, and of how many that were to be kept.
        """

class TreeModel:
    """A finished model of dependency trees."""

    def __init__(self, shape: TreeShape, arrays: dict[str, NDArray[Any]]) -> None: ...
    def best(self, extractor: TreeExtractor, table: TokenTable, space: TreeSpace) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: TreeExtractor, table: TokenTable, k: int, space: TreeSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def ranked(
        self,
        extractor: TreeExtractor,
        table: TokenTable,
        sentence: int,
        k: int,
        heads: NDArray[numpy.int32],
        labels: NDArray[numpy.int32],
        spans: NDArray[numpy.int32],
        space: TreeSpace,
    ) -> list[tuple[NDArray[numpy.int32], NDArray[numpy.uint32], float]]:
        """
        (arcs, actions, score) of the trees of the final beam, best first, each once. Given heads and labels (below 0: not given; empty arrays: nothing is given) are kept, and of given spans (first and last tokens from 1 on, one behind the other) exactly one token has its head outside.
        """

    def terms(
        self,
        extractor: TreeExtractor,
        table: TokenTable,
        sentence: int,
        actions: NDArray[numpy.uint32],
        space: TreeSpace,
    ) -> list[tuple[int, int, int, int, float, list[str], int, int]]:
        """
        (step, row, action, template, weight, texts of its pieces, head, dependent) of each feature of actions that has a weight.
        """

class WordShape(SegmentShape):
    """Types of words, and how they are searched."""

    def __init__(
        self,
        inside: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        most: int,
        transitions: bool,
        ends: bool,
        beam: int,
        early: bool,
    ) -> None: ...

class WordBatch:
    """A batch of examples, seen as outputs of a structure."""

    def __init__(
        self,
        shape: WordShape,
        extractor: SegmentExtractor,
        examples: SegmentExamples,
        index: FeatureIndex,
        open: bool,
        costs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order="C", device="cpu", writable=False)]
        | None = None,
    ) -> None: ...
    @staticmethod
    def tiers() -> frozenset[str]:
        """The tiers of the contract that the structure has."""

    def learn(
        self,
        weights: WeightTable,
        rule: UpdateRule,
        order: NDArray[numpy.uint32],
        step: int,
        sample_weights: NDArray[numpy.float64],
        dropout_input: float = 0.0,
        dropout_values: float = 0.0,
        dropout_features: float = 0.0,
        dropout_seed: int = 0,
        first: int = 0,
        loss: float = 0.0,
    ) -> dict[str, Any]:
        """
        Applies a rule to the examples in order; what was counted. `first`: the number of example 0 in provenance; `loss`: that of the pass so far, to which losses are added one by one.
        """

    def make_room(self, weights: WeightTable, whole_rows: bool) -> None:
        """Makes room for the weights of the gold outputs' features."""

    def count_gold(
        self,
        weights: SparseRows,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
        expected: bool = False,
    ) -> None:
        """
        Adds the gold outputs' feature counts, by weight; `expected`: also of examples with several, as the weights expect them.
        """

    def expectations(
        self,
        weights: SparseRows,
        first: int,
        last: int,
        sample_weights: Annotated[
            NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        local: bool,
        gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order="C", device="cpu")],
    ) -> float:
        """
        Adds the expected feature counts of the examples [first, last), by weight; the sum of log Z.
        """

    def margins(
        self, weights: SparseRows, first: int, last: int
    ) -> tuple[NDArray[numpy.float64], NDArray[numpy.float64]]:
        """
        Margins of gold over the best other output (infinity if there is none), norms of differences.
        """

    def voted(self, weights: SparseRows, votes: Votes, k: int, first: int, last: int) -> NDArray[numpy.int32]:
        """Outputs by vote of all versions of the weights among the k best."""

    def best(self, weights: SparseRows, first: int, last: int) -> NDArray[numpy.int32]:
        """
        Best outputs of the examples [first, last), as numbers one after another.
        """

    def count_features(self) -> None:
        """
        Gives the features of the gold outputs rows of the index, and counts them.
        """

class WordLattice:
    """A sentence whose words were searched."""

    def k_best(self) -> WordKBest:
        """Iterates over (labels, score), best first."""

    def constrained(
        self,
        constraint_set: ConstraintSet,
        tokens: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
        spans: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)],
    ) -> ConstrainedWords:
        """
        Iterates over (labels, score) of the outputs that satisfy constraints as well as can be, best first.
        """

    def score(
        self,
        labels: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float:
        """Score of an output; -inf if it spells no words."""

    def marginals(self) -> dict[str, Any]: ...

class WordKBest:
    """Outputs, best first."""

    def __iter__(self) -> WordKBest: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class ConstrainedWords:
    """Outputs that satisfy constraints as well as can be, best first."""

    @property
    def violations(self) -> int:
        """How often each of them breaks constraints."""

    @property
    def exact(self) -> bool:
        """Whether the first is known to be the best."""

    def __iter__(self) -> ConstrainedWords: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class WordSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class WordModel:
    """A finished model of words."""

    def __init__(self, shape: WordShape, arrays: dict[str, NDArray[Any]]) -> None: ...
    def best(self, extractor: SegmentExtractor, table: TokenTable, space: WordSpace) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def voted(
        self, extractor: SegmentExtractor, table: TokenTable, k: int, space: WordSpace
    ) -> NDArray[numpy.int32]:
        """
        Labels by vote of all versions of the weights among the k best outputs.
        """

    def constrain(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: WordSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The best labels of all tokens, changed where they break constraints on chosen sentences; by sentence how often they still do, and whether that is known to be the best.
        """

    def confidences(
        self,
        extractor: FeatureExtractor | SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        sentences: NDArray[numpy.uint32],
        spelling: Spelling,
        factor: float,
        space: ChainSpace | SegmentSpace | SingleSpace | WordSpace,
    ) -> tuple[
        NDArray[numpy.float64],
        NDArray[numpy.float64],
        NDArray[numpy.uint32],
        NDArray[numpy.uint32],
        NDArray[numpy.float64],
    ]:
        """
        P(label) by token, P(span), first and last token of spans, P(output); scores times a factor.
        """

    def ranked(
        self, extractor: SegmentExtractor, table: TokenTable, k: int, space: WordSpace
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of all sentences: labels [ranks, tokens] (the best ones where a sentence has no more), scores [ranks, sentences] (NaN there), and two empty arrays.
        """

    def ranked_constrained(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        k: int,
        labels: NDArray[numpy.int32],
        chosen: NDArray[numpy.uint8],
        constraint_set: ConstraintSet,
        tokens: NDArray[numpy.uint32],
        spans: NDArray[numpy.uint32],
        sentences: NDArray[numpy.uint32],
        space: WordSpace,
    ) -> tuple[NDArray[numpy.int32], NDArray[numpy.float64], NDArray[numpy.uint32], NDArray[numpy.uint8]]:
        """
        The k best outputs of chosen sentences under constraints, `labels` being the best ones without; by sentence how often the outputs break constraints, and whether that is known to be the best.
        """

    def differing_features(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: NDArray[numpy.int32],
        others: NDArray[numpy.int32],
        space: WordSpace,
    ) -> list[list[tuple[int, int, int, int, int, float, float, int | None, list[str]]]]:
        """
        By sentence (first token, last token, token in turn, row, output, how often, weight, template or None, texts of its pieces) of the features of outputs, without those that the others have too.
        """

    def scores(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        space: WordSpace,
    ) -> NDArray[numpy.float64]:
        """The score of the output of each sentence; -inf if it is not legal."""

    def lattice(
        self, extractor: SegmentExtractor, table: TokenTable, sentence: int, space: WordSpace
    ) -> WordLattice:
        """One sentence, searched."""

    def features_of(
        self,
        extractor: SegmentExtractor,
        table: TokenTable,
        sentence: int,
        labels: NDArray[numpy.uint32],
        space: WordSpace,
    ) -> list[tuple[int, int, int, int, int, float, int | None, list[str]]]:
        """
        (first token, last token, token in turn, row, label, how often, template or None, texts of its pieces) of each known feature of an output.
        """
