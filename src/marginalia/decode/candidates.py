"""The structure of lists of candidates: an item is a sentence whose tokens are its candidates, and an output
says of each whether it is the best. See docs/candidates.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.corpus.blocks import Block
from marginalia.corpus.candidates import BEST, LOSS, OTHER
from marginalia.decode.chain import ChainExtraction
from marginalia.decode.decoder import (
    ActiveFeature,
    CompiledConstraints,
    Costs,
    Decoder,
    DecoderFactory,
    Ids,
    RankedOutputs,
)
from marginalia.decode.settings import StructureOptions
from marginalia.errors import SettingsError
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel

LABELS = (BEST, OTHER)
_CHOSEN, _OTHER = 0, 1
_AUTO = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class CandidateSettings(Settings):
    """Settings of lists of candidates."""

    base_scale: str = setting(
        "1",
        "What base scores are multiplied by. Several numbers with commas, or auto, are tried one after "
        "another, and the one that is best on dev is kept.",
    )

    @property
    def scales(self) -> tuple[float, ...]:
        """All that are to be tried."""
        if self.base_scale.strip().lower() == "auto":
            return _AUTO
        found = tuple(map(self._scale, self.base_scale.split(",")))
        return tuple(dict.fromkeys(found))

    @property
    def scale(self) -> float:
        """The one that there is."""
        if len(self.scales) > 1:
            raise SettingsError("setting 'base-scale': found several numbers, expected one.")
        return self.scales[0]

    def _scale(self, text: str) -> float:
        try:
            number = float(text)
        except ValueError:
            number = -1.0
        if not 0.0 <= number <= 1e6:
            raise SettingsError(
                f"setting 'base-scale': found '{text.strip()}', expected numbers from 0 to 1e6, or auto."
            )
        return number


def alternatives(own: CandidateSettings) -> list[Settings]:
    """One record for each scale."""
    scales = own.scales
    return [own] if len(scales) == 1 else [replace(own, base_scale=repr(scale)) for scale in scales]


class CandidateProgram(NamedTuple):
    """How features are taken from tables, and the column of losses, if they have one."""

    program: _core.FeatureExtractor
    loss: int | None


def compile_candidates(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> CandidateProgram:
    """The program for tables with these columns: features are those of the data."""
    if not program.explicit:
        raise SettingsError("features: candidates have their own features, which no templates make.")
    loss = list(columns).index(LOSS) if LOSS in columns else None
    return CandidateProgram(_core.FeatureExtractor.of_items(len(columns)), loss)


class CandidateLists:
    """Items as rows of features, with the losses of their candidates."""

    def __init__(self, rows: _core.ExampleRows) -> None:
        self.rows = rows
        self._losses: list[npt.NDArray[np.float32]] = []

    def add_losses(self, losses: npt.NDArray[np.float32]) -> None:
        """Those of candidates that were added."""
        self._losses.append(losses)

    @property
    def losses(self) -> npt.NDArray[np.float32]:
        """Of all candidates; empty if they are not known."""
        known = np.concatenate(self._losses) if self._losses else np.zeros(0, np.float32)
        return known if len(known) == self.rows.tokens else np.zeros(0, np.float32)

    @property
    def sentences(self) -> int:
        """How many items there are."""
        return self.rows.sentences

    @property
    def starts(self) -> npt.NDArray[np.uint32]:
        """The first candidate of each item, and the number of all."""
        return self.rows.starts

    @property
    def gold(self) -> npt.NDArray[np.uint32]:
        """Which candidates are right."""
        return self.rows.gold


class CandidateExtraction(ChainExtraction):
    """Candidates as rows of features; base scores are scaled."""

    def __init__(
        self,
        program: CandidateProgram,
        index: _core.FeatureIndex,
        options: StructureOptions[CandidateSettings],
    ) -> None:
        super().__init__(program.program, index, options)  # type: ignore[arg-type]
        self._loss, self._scale = program.loss, options.own.scale

    def examples(self, tokens: int = 0) -> CandidateLists:  # type: ignore[override]
        """A batch without items, with room for so many candidates."""
        return CandidateLists(super().examples(tokens))

    def add(self, examples: Any, table: _core.TokenTable, *, grow: bool) -> None:
        """Append items; new features get rows if `grow`, else they are left out."""
        rows, first = examples.rows, examples.rows.tokens
        super().add(rows, table, grow=grow)
        if self._scale != 1.0 and (base := _core.base_row(self.index)):
            _core.scale_values(rows, base, self._scale, first)
        if self._loss is not None:
            examples.add_losses(np.array(table.column(self._loss)).astype(np.float32))


class CandidateBatch(_core.CandidateExamples):
    """Items as a learner sees them; outputs are labels of candidates."""

    def __init__(self, shape: _core.CandidateShape, lists: CandidateLists) -> None:
        super().__init__(shape, lists.rows, lists.losses)
        self._starts = lists.starts

    def best(self, weights: _core.SparseRows, first: int, last: int) -> Ids:
        """The best outputs of the examples from `first` to `last` (exclusive)."""
        return labels_of(super().best(weights, first, last), self._starts[first : last + 1])

    def voted(
        self, weights: _core.SparseRows, votes: _core.Votes, k: int, first: int, last: int
    ) -> npt.NDArray[np.int32]:
        """The same by vote of all versions of the weights among the k best."""
        chosen = super().voted(weights, votes, k, first, last)
        return labels_of(chosen, self._starts[first : last + 1])


def labels_of(chosen: npt.NDArray[Any], starts: npt.NDArray[Any]) -> Ids:
    """Labels of all candidates, if item i has its candidate chosen[i]."""
    if not len(starts):
        return np.zeros(0, np.int32)
    ids = np.full(int(starts[-1]) - int(starts[0]), _OTHER, np.int32)
    ids[starts[:-1].astype(np.int64) - int(starts[0]) + chosen] = _CHOSEN
    return ids


class CandidateTraining:
    """Candidates that are being learned to tell apart: what a learner needs to know of them."""

    grows = False

    def __init__(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[CandidateSettings],
        program: TemplateProgram,
        extraction: CandidateExtraction,
        costs: Costs | None = None,
    ) -> None:
        if tuple(labels) != LABELS:
            raise SettingsError(f"labels: found {', '.join(labels)}, expected {', '.join(LABELS)}.")
        if costs is not None:
            raise SettingsError("setting 'costs': candidates have a loss each, in the data.")
        self._shape = _core.CandidateShape(options.own.scale)
        self._index, self._cutoff = extraction.index, options.cutoff
        self.constants, self.row_width = self._shape.constants, self._shape.row_width

    def set_gold(self, examples: CandidateLists, ids: Ids, sets: npt.NDArray[np.uint8]) -> None:
        """The right outputs."""
        examples.rows.set_gold(ids, len(LABELS), sets)

    def choose_features(
        self, batches: Callable[[], Iterator[CandidateLists]], kept: list[CandidateLists]
    ) -> None:
        """Drop features that too few items have."""
        if self._cutoff > 1:
            for number, batch in enumerate(batches()):
                _core.count_by_item(self._index, batch.rows, number == 0)
            self._index.cut(self._cutoff, [one.rows for one in kept])

    def batch(self, examples: CandidateLists) -> CandidateBatch:
        """The examples as items with candidates."""
        return CandidateBatch(self._shape, examples)


class CandidateDecoder(Decoder[_core.CandidateShape]):
    """A saved model of candidates, ready to use from any number of threads."""

    _factory = DecoderFactory(
        lambda saved: _core.CandidateShape(saved.settings_as(CandidateSettings).scale),
        _core.CandidateModel,
        compile_candidates,
        _core.CandidateSpace,
    )

    def __init__(self, saved: SavedModel) -> None:
        if tuple(saved.labels) != LABELS:
            raise SettingsError(f"found the labels {', '.join(saved.labels)}, expected {', '.join(LABELS)}")
        super().__init__(saved)

    def _extractor(self, block: Block) -> Any:
        return super()._extractor(block).program

    def best(self, block: Block) -> Ids:
        """The label ids of all candidates of a block."""
        return labels_of(super().best(block), block.table.sentence_starts)

    def candidate_scores(self, block: Block) -> Floats:
        """The scores of all candidates of a block."""
        if not block.table.tokens:
            return np.zeros(0)
        return np.asarray(self._model.scores(self._extractor(block), block.table, self._space()))

    def probabilities(self, block: Block, temperature: float) -> Floats:
        """Of each candidate among those of its item; scores divided by the temperature are their logs."""
        starts, scores = block.table.sentence_starts, self.candidate_scores(block) / temperature
        if not len(scores):
            return scores
        lengths, first = np.diff(starts), starts[:-1].astype(np.intp)
        powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, first), lengths))
        return np.asarray(powers / np.repeat(np.add.reduceat(powers, first), lengths))

    def ranked(self, block: Block, k: int) -> RankedOutputs:
        """The k best outputs of all items."""
        starts, scores = block.table.sentence_starts, self.candidate_scores(block)
        orders = [np.argsort(-part, kind="stable") for part in np.split(scores, starts[1:-1])]
        ranks = range(min(k, max(map(len, orders))))
        chosen = [[int(order[r if r < len(order) else 0]) for order in orders] for r in ranks]
        first = starts[:-1].astype(np.intp)
        real = np.array([[r < len(order) for order in orders] for r in ranks])
        found = np.where(real, np.stack([scores[first + one] for one in chosen]), np.nan)
        ids = np.stack([labels_of(np.array(one), starts) for one in chosen])
        return RankedOutputs(ids, found, np.zeros(len(first), np.uint32), np.ones(len(first), np.uint8))

    def k_best(self, block: Block, sentence: int, k: int | None = None) -> Iterator[Any]:
        """The outputs of an item with their scores, best first."""
        starts, scores = block.table.sentence_starts, self.candidate_scores(block)
        own = scores[starts[sentence] : starts[sentence + 1]]
        whole = np.array([0, len(own)])
        for y in np.argsort(-own, kind="stable")[:k]:
            yield labels_of(np.array([y]), whole).astype(np.uint32), float(own[y])

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """There are no constraints on candidates."""
        _no_constraints()

    def constrained(self, block: Block, sentence: int, constraints: CompiledConstraints) -> Any:
        """There are no constraints on candidates."""
        _no_constraints()

    def constrain(
        self, block: Block, ids: Ids, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> Any:
        """There are no constraints on candidates."""
        _no_constraints()

    def score(self, block: Block, sentence: int, ids: npt.ArrayLike) -> float:
        """The score of an output; one that chooses no candidate, or several, has none."""
        first, last = block.table.sentence_starts[sentence : sentence + 2]
        chosen = np.flatnonzero(np.asarray(ids) == _CHOSEN)
        return float(self.candidate_scores(block)[first:last][chosen[0]]) if len(chosen) == 1 else -np.inf

    def scores(self, block: Block, ids: Ids) -> Floats:
        """The scores of outputs of all items."""
        return np.asarray(self.candidate_scores(block)[ids == _CHOSEN])

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z and the probabilities of the labels of candidates (`node`)."""
        first, last = block.table.sentence_starts[sentence : sentence + 2]
        own = self.candidate_scores(block)[first:last]
        log_z = float(np.logaddexp.reduce(own))
        p = np.exp(own - log_z)
        return {"log_z": log_z, "node": np.stack([p, 1.0 - p], axis=1)}

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of the labels of candidates and of outputs; there are no spans."""
        p = self.probabilities(block, temperature)
        nothing = np.zeros(0), np.zeros(0, np.uint32), np.zeros(0, np.uint32)
        return np.where(ids == _CHOSEN, p, 1.0 - p), *nothing, p[ids == _CHOSEN]

    def _parts_of(self, ids: Sequence[int]) -> list[tuple[int, int, int]]:
        return []

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        chosen = list(ids).index(_CHOSEN)
        found = self._model.features(self._extractor(block), block.table, sentence, chosen, self._space())
        for row, value, texts in found:
            yield ActiveFeature(row, 0, value, 0, 0, 0, None, texts)


def _no_constraints() -> NoReturn:
    raise SettingsError("constraints speak of labels of tokens, which candidates have not.")
