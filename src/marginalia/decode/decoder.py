"""What the decoders of all structures share: a saved model, its programs, a space for each thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.decode.confidence import spelling_of
from marginalia.decode.rules import log_sigmoid, rule_parts, use_rules
from marginalia.decode.settings import VoteSettings
from marginalia.errors import DataError, MarginaliaError, ModelError
from marginalia.features.compiling import extracted, looks_at_lists
from marginalia.model import SavedModel, phrases_of
from marginalia.model.constants import ChainSettings, constant_place
from marginalia.model.rules_part import RuleAtoms, has_rules
from marginalia.model.word_tables import word_tables_of

Ids = npt.NDArray[np.int32]
Costs = npt.NDArray[np.float32]  # of each (right, given) pair of labels, flat
Constant = tuple[str, int, tuple[int, ...], int, int]
"""Name, place in row 0, labels, first and last token of a constant."""


class AnyShape(Protocol):
    """What is known of every structure's shape."""

    @property
    def row_width(self) -> int:
        """How many outputs a feature's row has."""


Shape = TypeVar("Shape", bound=AnyShape)


@dataclass(frozen=True, slots=True)
class Contribution:
    """A feature of an output: the labels it fired with, its weight, how often it fired."""

    feature: str
    labels: tuple[str, ...]
    weight: float
    count: float


class Term(NamedTuple):
    """One term of an output's score, and where it comes from: tokens `first` to `last`, both included.

    The kind is one of `TERM_KINDS`. A feature has the number of its template (among those that are not the
    plain label bigram; None if it is an explicit attribute), the texts of the template's pieces, and the
    token that the template looks at in turn. `place` is where its weight is: the row (their number stands for
    the constants) and the output. `times` is how often the weight counts: any number for
    explicit attributes.
    """

    kind: str
    feature: str
    labels: tuple[str, ...]
    weight: float
    first: int
    last: int
    place: tuple[int, int] | None = None
    template: int | None = None
    texts: tuple[str, ...] = ()
    inner: int = 0
    times: float = 1

    @property
    def value(self) -> float:
        """What it adds to the score."""
        return self.weight * self.times


TERM_KINDS = ("feature", "transition", "dictionary", "normaliser", "global", "rule", "sigmoid")


class ActiveFeature(NamedTuple):
    """A feature of an output that the model has a row for, as in `Term`."""

    row: int
    output: int
    times: float
    first: int
    last: int
    inner: int
    template: int | None
    texts: Sequence[str]


class CompiledConstraints(NamedTuple):
    """Constraints on the chosen sentences of a block, for the core (decode/model_constraints.py)."""

    chosen: npt.NDArray[np.uint8]  # [sentences]
    constraint_set: _core.ConstraintSet
    tokens: npt.NDArray[np.uint32]  # rows of sentence, token, set
    spans: npt.NDArray[np.uint32]  # rows of sentence, first, last, set

    def tokens_of(self, sentence: int) -> npt.NDArray[np.uint32]:
        """Rows of token and set."""
        rows = self.tokens.reshape(-1, 3)
        return np.ascontiguousarray(rows[rows[:, 0] == sentence, 1:]).ravel()

    def spans_of(self, sentence: int) -> npt.NDArray[np.uint32]:
        """Rows of first token, last token and set."""
        rows = self.spans.reshape(-1, 4)
        return np.ascontiguousarray(rows[rows[:, 0] == sentence, 1:]).ravel()


class RankedOutputs(NamedTuple):
    """The k best outputs of the sentences of a block by rank: label ids (of the best output where a sentence
    has no more), scores (NaN there); under constraints how often each sentence breaks them, and whether that
    is known to be the best."""

    ids: Ids  # [ranks, tokens]
    scores: npt.NDArray[np.float64]  # [ranks, sentences]
    violations: npt.NDArray[np.uint32]
    exact: npt.NDArray[np.uint8]

    def where(
        self, chosen: npt.NDArray[np.uint8], other: RankedOutputs, starts: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """These outputs of chosen sentences, and others elsewhere."""
        ranks, here = max(len(self.ids), len(other.ids)), chosen != 0
        tokens = np.repeat(here, np.diff(starts))
        own, others = self._padded(ranks), other._padded(ranks)
        return RankedOutputs(
            np.where(tokens, own.ids, others.ids),
            np.where(here, own.scores, others.scores),
            np.where(here, own.violations, others.violations),
            np.where(here, own.exact, others.exact),
        )

    def _padded(self, ranks: int) -> RankedOutputs:
        more = ranks - len(self.ids)
        ids = np.concatenate([self.ids, np.repeat(self.ids[:1], more, axis=0)])
        nothing = np.full((more, self.scores.shape[1]), np.nan)
        return self._replace(ids=ids, scores=np.concatenate([self.scores, nothing]))


class ConstrainedOutputs(Protocol):
    """Outputs with their scores, best first."""

    @property
    def violations(self) -> int:
        """How often each of them breaks constraints."""

    @property
    def exact(self) -> bool:
        """Whether the first is known to be the best."""

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """Best first."""


@dataclass(frozen=True)
class DecoderFactory(Generic[Shape]):
    """What a structure makes a decoder of."""

    shape: Callable[[SavedModel], Shape]
    model: Callable[[Shape, dict[str, Any]], Any]
    compile: Callable[..., Any]
    space: Callable[[], Any]
    labels_are_whole: bool = True  # the probability of a label is not a sum over those of segments


class Decoder(Generic[Shape]):
    """A saved model, ready to use from any number of threads."""

    _factory: ClassVar[DecoderFactory[Any]]  # that of the structure

    def __init__(self, saved: SavedModel) -> None:
        self._saved, factory = saved, self._factory
        try:
            self._shape: Shape = factory.shape(saved)
            if self._shape.row_width != saved.width:
                raise ValueError(f"rows of {saved.width} outputs, expected {self._shape.row_width}")
            self._model = factory.model(self._shape, saved.arrays)
            use_rules(self._model, saved)
            self._candidates = _candidates_of(saved)
            self._phrases = phrases_of(saved)
            self._words = word_tables_of(saved)
            extractor = factory.compile(saved.program, saved.columns, self._phrases, self._words)
            self._listed = {
                i for i, t in enumerate(extracted(saved.program)) if looks_at_lists(saved.program, t)
            }
        except (ValueError, LookupError, TypeError, OverflowError, RuntimeError, MarginaliaError) as error:
            raise ModelError(f"the parts of the model do not fit each other: {error}") from error
        self._extractors: dict[tuple[str, ...], Any] = {saved.columns: extractor}
        self._local = threading.local()

    @cached_property
    def _spelling(self) -> _core.Spelling:
        return spelling_of(self._saved, self._factory.labels_are_whole and self._saved.shown_as_they_are)

    def best(self, block: Block) -> Ids:
        """The best label ids of all tokens of a block."""
        if not block.table.tokens:  # such a block may have no columns
            return np.zeros(0, np.int32)
        extractor, space = self._extractor(block), self._space()
        if self._candidates:
            voted: Ids = self._model.voted(extractor, block.table, self._candidates, space)
            return voted
        best: Ids = self._model.best(extractor, block.table, space)
        return best

    def k_best(
        self, block: Block, sentence: int, k: int | None = None
    ) -> Iterator[tuple[npt.NDArray[np.uint32], float]]:
        """The outputs of a sentence with their scores, best first, lazily; all of them if k is None."""
        return islice(self._lattice(block, sentence).k_best(), k)

    def ranked(self, block: Block, k: int) -> RankedOutputs:
        """The k best outputs of all sentences of a block."""
        return RankedOutputs(*self._model.ranked(self._extractor(block), block.table, k, self._space()))

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """The k best outputs of the chosen sentences that satisfy constraints as well as can be. Users see
        sentences that begin at the tokens `sentences`, of which those of the block may consist."""
        extractor, space = self._extractor(block), self._space()
        best = self._model.best(extractor, block.table, space)
        return RankedOutputs(
            *self._model.ranked_constrained(extractor, block.table, k, best, *constraints, sentences, space)
        )

    def constrained(
        self, block: Block, sentence: int, constraints: CompiledConstraints
    ) -> ConstrainedOutputs:
        """The outputs that satisfy constraints as well as can be, with their scores, best first, lazily."""
        found: ConstrainedOutputs = self._lattice(block, sentence).constrained(
            constraints.constraint_set, constraints.tokens_of(sentence), constraints.spans_of(sentence)
        )
        return found

    def constrain(
        self, block: Block, ids: Ids, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> tuple[Ids, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Best label ids, changed where they break constraints; for each sentence how often they still do,
        and whether that is known to be the best.

        Users see sentences that begin at the tokens `sentences`, of which those of the block may consist.
        """
        found: tuple[Ids, npt.NDArray[np.uint32], npt.NDArray[np.uint8]] = self._model.constrain(
            self._extractor(block), block.table, ids, *constraints, sentences, self._space()
        )
        return found

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of a given output, -inf if it is not legal."""
        score: float = self._lattice(block, sentence).score(np.ascontiguousarray(ids, dtype=np.uint32))
        return score

    def scores(self, block: Block, ids: Ids) -> npt.NDArray[np.float64]:
        """The scores of outputs of all sentences, given by the label ids of all tokens."""
        outputs = np.split(ids, block.table.sentence_starts[1:-1])
        return np.array([self.score(block, s, output) for s, output in enumerate(outputs)])

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of what label ids of a block say, scores divided by the temperature being
        log-probabilities: of tokens, of spans, first tokens of spans, their ends, of outputs.

        Users see sentences that begin at the tokens `sentences`, of which those of the block may consist.
        """
        found: tuple[npt.NDArray[Any], ...] = self._model.confidences(
            self._extractor(block),
            block.table,
            ids,
            sentences,
            self._spelling,
            1.0 / temperature,
            self._space(),
        )
        return found

    def terms(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        """The terms of an output's score, which is their sum."""
        if has_rules(self._saved):
            return self._rule_terms(block, sentence, ids)
        found = [self._observed(feature) for feature in self._active_features(block, sentence, ids)]
        return [*(term for term in found if term is not None), *self._constants(self._parts_of(ids))]

    def differing_terms(self, block: Block, ids: Ids, others: Ids) -> list[tuple[list[Term], list[Term]]]:
        """By sentence the terms of two outputs, given by the label ids of all tokens; what both have may be
        left out."""
        starts = block.table.sentence_starts[1:-1]
        pairs = zip(np.split(ids, starts), np.split(others, starts), strict=True)
        return [
            (self.terms(block, s, one.tolist()), self.terms(block, s, other.tolist()))
            for s, (one, other) in enumerate(pairs)
        ]

    def features_of(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Contribution]:
        """The features of an output with their weights; the sum of weight * count is its score, before it
        is normalised."""
        counts: dict[tuple[str, tuple[str, ...], float], float] = {}
        for term in Decoder.terms(self, block, sentence, ids):
            if term.kind == "sigmoid":
                continue
            item = term.feature, term.labels, term.weight
            counts[item] = counts.get(item, 0) + term.times
        return [Contribution(*item, n) for item, n in counts.items()]

    @cached_property
    def _rule_atoms(self) -> RuleAtoms:
        return RuleAtoms(self._saved)

    def rules_holding(
        self, block: Block, sentence: int, ids: npt.NDArray[np.uint32]
    ) -> list[tuple[int, int]]:
        """Token and row of the rules that hold in an output of a model of rules."""
        found: list[tuple[int, int]] = self._model.rules(
            self._extractor(block), block.table, sentence, ids, self._space()
        )
        return found

    def _rule_terms(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        """The rules that hold, and what makes the score of each label of their sum."""
        fired = self.rules_holding(block, sentence, np.ascontiguousarray(ids, dtype=np.uint32))
        found, sums = [], [0.0] * len(ids)
        for t, row, confidence in rule_parts(self._saved, fired, ids):
            place, name = (row, int(ids[t])), self._saved.feature_name(row)
            texts = tuple(self._rule_atoms.of(row))
            found.append(Term("rule", name, self._named([ids[t]]), confidence, t, t, place, texts=texts))
            sums[t] += confidence
        for t, total in enumerate(sums):
            found.append(Term("sigmoid", "sigmoid", self._named([ids[t]]), log_sigmoid(total) - total, t, t))
        return found

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        """The features of an output that have rows."""
        raise NotImplementedError

    def _parts_of(self, ids: Sequence[int]) -> list[tuple[int, int, int]]:
        """Label, first and last token of the parts that an output's transitions join."""
        return [(label, t, t) for t, label in enumerate(ids)]

    def _observed(self, feature: ActiveFeature) -> Term | None:
        saved = self._saved
        row, output = feature.row, feature.output
        outputs, weights = saved.cells(row)
        place = np.flatnonzero(outputs == output)
        if not place.size or not weights[place[0]]:  # nearly full rows are kept with their zeros
            return None
        labels = divmod(output, len(saved.labels)) if saved.is_edge(row) else (output,)
        return Term(
            "dictionary" if feature.template in self._listed else "feature",
            "".join(feature.texts),
            self._named(labels),
            float(weights[place[0]]),
            feature.first,
            feature.last,
            (row, output),
            feature.template,
            tuple(feature.texts),
            feature.inner,
            1 if feature.times == 1 else feature.times,
        )

    def _constants(self, parts: Sequence[tuple[int, int, int]]) -> Iterator[Term]:
        """Start, end and transitions."""
        return filter(None, map(self._constant, self._constants_of(parts)))

    def _constants_of(
        self, parts: Sequence[tuple[int, int, int]], first: int = 0, last: int | None = None
    ) -> Iterator[Constant]:
        """Those that end in the parts from `first` to `last` (exclusive)."""
        order = self._saved.settings_as(ChainSettings).order
        return constants_of(parts, len(self._saved.labels), order, first, last)

    def _constant(self, constant: Constant) -> Term | None:
        name, place, labels, first, last = constant
        if not (weight := self._constant_weights.get(place)):
            return None
        row = len(self._saved.arrays["keys"])
        return Term("transition", name, self._named(labels), weight, first, last, (row, place))

    @cached_property
    def _constant_weights(self) -> dict[int, float]:
        at, weights = (self._saved.arrays[name].tolist() for name in ("constant_at", "constants"))
        return dict(zip(at, weights, strict=True))

    def _named(self, labels: Sequence[int]) -> tuple[str, ...]:
        names = self._saved.labels
        return (names[labels[0]],) if len(labels) == 1 else tuple(names[label] for label in labels)

    def _lattice(self, block: Block, sentence: int) -> Any:
        return self._model.lattice(self._extractor(block), block.table, sentence, self._space())

    def _extractor(self, block: Block) -> Any:
        if self._saved.program.explicit and not block.table.has_attributes:
            raise DataError(
                f"found columns {' '.join(block.columns)}, but this model was trained on explicit attributes",
                file=block.file,
            )
        extractor = self._extractors.get(block.columns)
        if extractor is None:
            tables = self._phrases, self._words
            extractor = self._factory.compile(self._saved.program, block.columns, *tables)
            self._extractors[block.columns] = extractor
        return extractor

    def _space(self) -> Any:
        if not hasattr(self._local, "space"):
            self._local.space = self._factory.space()
        return self._local.space


def _candidates_of(saved: SavedModel) -> int:
    """On how many outputs the versions of the weights vote; 0 if they do not."""
    if "vote_steps" not in saved.arrays:
        return 0
    if len(saved.arrays["vote_row_end"]) != len(saved.arrays["keys"]) + 1:
        raise ValueError("votes: the log does not fit the weights")
    return saved.settings_as(VoteSettings, needs=("vote-candidates",)).vote_candidates


def constants_of(
    parts: Sequence[tuple[int, int, int]], size: int, order: int, begin: int = 0, end: int | None = None
) -> Iterator[Constant]:
    """Name, place in row 0, labels, first and last token of the constants of parts with their tokens, of
    those that end in the parts from `begin` to `end` (exclusive)."""

    def place(kind: str, *labels: int) -> int:
        return constant_place(kind, labels, size)

    ids = [label for label, _, _ in parts]
    for t, (label, first, last) in enumerate(parts[begin:end], begin):
        if t == 0:
            yield "start", place("start", label), (label,), first, first
        if t == len(ids) - 1:
            yield "end", place("end", label), (label,), last, last
        if t > 0:
            pair = (ids[t - 1], label)
            yield "transition", place("transition", *pair), pair, parts[t - 1][2], first
        if t > 0 and order == 2:
            older = size if t == 1 else ids[t - 2]
            at = place("trigram", older, ids[t - 1], label)
            yield "trigram", at, tuple(ids[max(t - 2, 0) : t + 1]), parts[max(t - 2, 0)][2], first
