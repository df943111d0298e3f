"""The chain structure: in training it answers a learner about examples, in use a user about sentences.

`best`, `k_best`, `features_of` and `expectations` are the questions; see docs/chain.md for the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.blocks import Block
from marginalia.corpus.schemes import legal_transitions
from marginalia.decode.decoder import (
    ActiveFeature,
    CompiledConstraints,
    ConstrainedOutputs,
    Costs,
    DecoderFactory,
    Ids,
    RankedOutputs,
    Term,
)
from marginalia.decode.settings import SearchSettings, StructureOptions
from marginalia.decode.terms import TermDecoder
from marginalia.errors import DataError, ModelError
from marginalia.features.compiling import compile_extractor, has_ends, has_label_bigram
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel
from marginalia.model.constants import MOST_LABELS, ChainSettings
from marginalia.model.rules_part import is_wide, neighbours_in

# Dense transition scores take 8 bytes per label pair (order 1) or triple (order 2): refuse what cannot fit.
_MOST_LABELS = {1: MOST_LABELS, 2: 256}


def chain_shape(
    labels: Sequence[str],
    encoding: str | None,
    own: ChainSettings,
    search: SearchSettings,
    program: TemplateProgram,
) -> _core.ChainShape:
    """The shape of a chain over these labels; too many of them are refused."""
    order = own.order
    if len(labels) > _MOST_LABELS[order]:
        raise DataError(
            f"found {len(labels)} distinct labels, expected at most {_MOST_LABELS[order]} for a chain of "
            f"order {order}. Is '{labels[0]}' from the column of labels?"
        )
    start, transition, end = legal_transitions(labels, encoding if own.legal else None)
    flat = np.ascontiguousarray(transition, dtype=np.uint8).reshape(-1)
    learned = has_label_bigram(program)
    ends = has_ends(program)
    return _core.ChainShape(
        len(labels), order, learned, start, flat, end, ends, search.stepwise, search.beam_width
    )


def token_bytes(labels: int, own: ChainSettings) -> int:
    """What the search for the k best outputs may keep for a token: its states, the ways into them, and the
    scores of label pairs."""
    return int(labels**own.order * (64 + 16 * labels) + 8 * labels * labels)


class ChainExtraction:
    """Sentences as rows of features."""

    def __init__(
        self,
        extractor: _core.FeatureExtractor,
        index: _core.FeatureIndex,
        options: StructureOptions[ChainSettings],
    ) -> None:
        self.extractor, self.index = extractor, index
        self._hides = options.hides_input  # which needs to know which template looks where

    def examples(self, tokens: int = 0) -> _core.ExampleRows:
        """A batch without sentences, with room for so many tokens."""
        examples = _core.ExampleRows(self._hides)
        if tokens:
            examples.reserve(self.extractor, tokens)
        return examples

    def add(self, examples: _core.ExampleRows, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences; new features get rows if `grow`, else they are left out."""
        (examples.add_growing if grow else examples.add_known)(self.extractor, table, self.index)

    def count(self, table: _core.TokenTable) -> None:
        """Give features rows without keeping the sentences."""
        self.index.count(self.extractor, table)


class ChainTraining:
    """A chain over labels that are being learned: what a learner needs to know of it."""

    grows = False

    def __init__(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[ChainSettings],
        program: TemplateProgram,
        extraction: ChainExtraction,
        costs: Costs | None = None,
    ) -> None:
        self.shape = self._shape_of(labels, encoding, options, program)
        self._index, self._cutoff, self._costs = extraction.index, options.cutoff, costs
        self.constants, self.row_width = self.shape.constants, self.shape.row_width

    def _shape_of(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[ChainSettings],
        program: TemplateProgram,
    ) -> Any:
        return chain_shape(labels, encoding, options.own, options.search, program)

    def set_gold(self, examples: _core.ExampleRows, ids: Ids, sets: npt.NDArray[np.uint8]) -> None:
        """The right outputs."""
        examples.set_gold(ids, self.shape.labels, sets)

    def choose_features(
        self, batches: Callable[[], Iterator[_core.ExampleRows]], kept: list[_core.ExampleRows]
    ) -> None:
        """Drop features that were seen too rarely."""
        if self._cutoff > 1:
            self._index.cut(self._cutoff, kept)

    def batch(self, examples: _core.ExampleRows) -> Any:
        """The examples as outputs of this chain."""
        return _core.ChainBatch(self.shape, examples, self._costs)

    def whole_batch(self, examples: _core.ExampleRows, *documents: Any) -> Any:
        """The examples as outputs with global features (decode/global_training.py)."""
        return _core.WholeChainBatch(self.shape, examples, *documents)


def _shape_of(saved: SavedModel) -> _core.ChainShape:
    own, search = saved.settings_as(ChainSettings, ("order", "legal")), saved.settings_as(SearchSettings)
    if search.beam_width:
        search = saved.settings_as(SearchSettings, ("beam",))
    return chain_shape(saved.labels, saved.encoding, own, search, saved.program)


class ChainDecoder(TermDecoder[_core.ChainShape]):
    """A saved chain model, ready to use from any number of threads."""

    _factory = DecoderFactory(
        _shape_of,
        _core.ChainModel,
        compile_extractor,
        _core.ChainSpace,
    )

    def expectations(self, block: Block, sentence: int, *, edges: bool = False) -> dict[str, Any]:
        """log Z and the probabilities of labels (`node`), label pairs (`edge`) and their expected counts."""
        self._check_states("probabilities")
        found: dict[str, Any] = self._lattice(block, sentence).marginals(edges)
        return found

    def confidence(
        self, block: Block, ids: Ids, sentences: npt.NDArray[np.uint32], temperature: float
    ) -> tuple[npt.NDArray[Any], ...]:
        """The probabilities of what label ids of a block say."""
        self._check_states("confidence")
        return super().confidence(block, ids, sentences, temperature)

    def ranked_constrained(
        self, block: Block, k: int, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> RankedOutputs:
        """The k best outputs of the chosen sentences that satisfy constraints as well as can be."""
        self._check_states("constraints")
        return super().ranked_constrained(block, k, constraints, sentences)

    def constrained(
        self, block: Block, sentence: int, constraints: CompiledConstraints
    ) -> ConstrainedOutputs:
        """The outputs that satisfy constraints as well as can be, with their scores, best first, lazily."""
        self._check_states("constraints")
        return super().constrained(block, sentence, constraints)

    def constrain(
        self, block: Block, ids: Ids, constraints: CompiledConstraints, sentences: npt.NDArray[np.uint32]
    ) -> tuple[Ids, npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Best label ids, changed where they break constraints."""
        self._check_states("constraints")
        return super().constrain(block, ids, constraints, sentences)

    def _check_states(self, what: str) -> None:
        """An error if scores look at more labels than the states of the chain have."""
        if is_wide(self._saved):
            order = self._saved.settings_as(ChainSettings).order
            raise ModelError(
                f"the rules of this model ask for the labels of {neighbours_in(self._saved)} neighbours, "
                f"more than its order of {order}: outputs are found by beam, without {what}. Train it with "
                f"neighbours={order}."
            )

    def terms(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        """The terms of an output's score; of a model that is normalised step by step, the normalisers too."""
        return [*super().terms(block, sentence, ids), *self._normalisers(block, sentence, ids)]

    def differing_terms(self, block: Block, ids: Ids, others: Ids) -> list[tuple[list[Term], list[Term]]]:
        """The terms of two outputs of each sentence, without most of those that both have."""
        found = super().differing_terms(block, ids, others)
        starts = block.table.sentence_starts.tolist()
        for s, sides in enumerate(found):
            for terms, labels in zip(sides, (ids, others), strict=True):
                terms += self._normalisers(block, s, labels[starts[s] : starts[s + 1]].tolist())
        return found

    def _normalisers(self, block: Block, sentence: int, ids: Sequence[int]) -> list[Term]:
        if not self._saved.settings_as(SearchSettings).stepwise:
            return []
        local_normalisers = self._lattice(block, sentence).local_normalisers(
            np.ascontiguousarray(ids, dtype=np.uint32)
        )
        order, found = self._saved.settings_as(ChainSettings).order, []
        for t, normaliser in enumerate(local_normalisers.tolist()):
            before = self._named(ids[max(t - order, 0) : t])
            found.append(Term("normaliser", "normaliser", before, -normaliser, t, t))
        return found

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        size = len(self._saved.labels)
        found = self._model.features(self._extractor(block), block.table, sentence, self._space())
        for t, edge, row, times, template, texts in found:
            if t or not edge:
                output = ids[t - 1] * size + ids[t] if edge else ids[t]
                yield ActiveFeature(row, output, times, t - edge, t, t, template, texts)
