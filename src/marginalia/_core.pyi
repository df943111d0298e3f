"""
Native core of marginalia: tables of tokens, features, weights, search and learning.
"""

from collections.abc import Sequence
from typing import Annotated, Any, overload

import numpy
from numpy.typing import NDArray

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
    ) -> bytes:
        """The text with one more field per token line."""

    def concatenate_documents(self) -> TokenTable:
        """A table with one sentence per document."""

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

def from_columns(columns: Sequence[list[str]], lengths: Sequence[int]) -> TokenTable:
    """A table of lists of strings, one per column."""

def check_attribute(function: str, argument: str) -> None:
    """Raise ValueError unless the function exists and takes this argument."""

@overload
def evaluate_attribute(function: str, argument: str, value: str) -> str | None:
    """The value of an attribute for one string, or None."""

@overload
def evaluate_attribute(function: str, argument: str, value: bytes) -> bytes | None:
    """The same for bytes, which need not be valid UTF-8."""

class PhraseSet:
    """A list of phrases, as hashes."""

    def __init__(self, phrases: Sequence[Sequence[str]]) -> None: ...
    @staticmethod
    def from_states(
        states: Annotated[
            NDArray[numpy.uint64], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> PhraseSet: ...
    @property
    def states(self) -> NDArray[numpy.uint64]: ...

class Program:
    """Templates, ready to run over token tables."""

    def __init__(
        self,
        sources: Sequence[tuple[str, str, int, int]],
        templates: Sequence[tuple[bool, Sequence[tuple[str, int, int, bool, Sequence[str], Sequence[str]]]]],
        lists: Sequence[PhraseSet],
        columns: int,
    ) -> None: ...
    @property
    def has_edges(self) -> bool: ...
    def names(self, table: TokenTable) -> list[list[tuple[bool, str]]]:
        """(edge, name) of every feature of every token."""

class FeatureIndex:
    """Features met in training, numbered."""

    def __init__(self, keep_names: bool) -> None: ...
    def __len__(self) -> int: ...
    def name(self, row: int) -> bytes: ...
    def count(self, program: Program, table: TokenTable) -> None: ...
    def cut(self, least: int, examples: Sequence[Examples]) -> None:
        """Drops features counted fewer than `least` times."""

class Examples:
    """Sentences as feature rows."""

    def __init__(self) -> None: ...
    @property
    def sentences(self) -> int: ...
    @property
    def tokens(self) -> int: ...
    @property
    def starts(self) -> NDArray[numpy.uint32]: ...
    def reserve(self, program: Program, tokens: int) -> None:
        """Room for so many tokens."""

    def add_growing(self, program: Program, table: TokenTable, index: FeatureIndex) -> None: ...
    def add_known(self, program: Program, table: TokenTable, index: FeatureIndex) -> None: ...
    def set_gold(
        self,
        gold: Annotated[NDArray[numpy.int32], dict(shape=(None,), order="C", device="cpu", writable=False)],
        labels: int,
    ) -> None: ...

class SparseRows:
    """Weights to score with; row 0 holds the structure's constants."""

    def cells(self, row: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.float32]]:
        """Outputs and weights of a row."""

    def freeze(self, index: FeatureIndex, labels: int) -> dict[str, Any]:
        """The arrays of a finished model, without what is zero."""

class WeightTable:
    """Weights to learn."""

    def __init__(self, rows: int, constants: int) -> None: ...
    @property
    def current(self) -> SparseRows: ...
    def averaged(self, steps: float) -> SparseRows: ...
    def copy(self) -> SparseRows: ...

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
    ) -> None: ...
    @property
    def labels(self) -> int: ...
    @property
    def order(self) -> int: ...
    @property
    def transitions(self) -> bool: ...
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

    def k_best(self) -> KBest:
        """
        Iterates over (labels, score), best first, without end but that of the legal outputs.
        """

    def score(
        self,
        labels: Annotated[
            NDArray[numpy.uint32], dict(shape=(None,), order="C", device="cpu", writable=False)
        ],
    ) -> float:
        """Score of an output; -inf if it is not legal."""

    def marginals(self, edges: bool = False, method: str = "auto") -> dict[str, Any]: ...

class KBest:
    """Outputs, best first."""

    def __iter__(self) -> KBest: ...
    def __next__(self) -> tuple[NDArray[numpy.uint32], float]: ...

class ChainSpace:
    """Scratch memory of one thread."""

    def __init__(self) -> None: ...

class ChainModel:
    """A finished chain model."""

    def __init__(self, shape: ChainShape, arrays: dict[str, NDArray[Any]]) -> None: ...
    def best(self, program: Program, table: TokenTable, space: ChainSpace) -> NDArray[numpy.int32]:
        """Labels of all tokens of the table."""

    def lattice(self, program: Program, table: TokenTable, sentence: int, space: ChainSpace) -> Lattice:
        """Scores of one sentence."""

    def rows(
        self, program: Program, table: TokenTable, sentence: int, space: ChainSpace
    ) -> list[tuple[int, bool, int]]:
        """(token, edge, row) of each known feature."""

def permutation(n: int, seed: int) -> NDArray[numpy.uint32]:
    """A shuffled range, the same everywhere for the same seed."""

def decode_chain(
    shape: ChainShape, examples: Examples, weights: SparseRows, first: int, last: int
) -> NDArray[numpy.int32]:
    """Best labels of the examples [first, last)."""

class ChainLearner:
    """A chain over a batch of examples, learning."""

    def __init__(self, shape: ChainShape, examples: Examples, weights: WeightTable) -> None: ...
    def perceptron(self, order: NDArray[numpy.uint32], step: int) -> tuple[int, int, int, int, int]:
        """
        Learns from the examples in order: (step, examples, mistakes, tokens, wrong tokens).
        """
