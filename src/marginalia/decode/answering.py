"""Models whose outputs are label ids of tokens: answers for batch after batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import Answer, BlockConfidence, Ranked
from marginalia.corpus.batches import Batch, numbered
from marginalia.corpus.blocks import Block
from marginalia.corpus.settings import DataSettings
from marginalia.decode.confidence import Abstention, needed_temperature
from marginalia.decode.constraints import Constraints, ConstraintsLike
from marginalia.decode.inputs import Input
from marginalia.decode.model import TrainedModel
from marginalia.decode.model_constraints import ConstrainedLabels, ModelConstraints
from marginalia.decode.tagged import UserLabels
from marginalia.decode.threads import in_order
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.model import SavedModel

if TYPE_CHECKING:  # start-up time is part of every short run
    from marginalia.decode.explaining import Explaining
    from marginalia.decode.explaining_batches import Explainer
    from marginalia.decode.explanation import Explanation

Ids = npt.NDArray[np.int32]


class LabelModel(TrainedModel):
    """A model that gives labels to the tokens of blocks."""

    def __init__(self, saved: SavedModel) -> None:
        super().__init__(saved)
        self._by_document = saved.settings_as(DataSettings).whole_documents
        self._ends_with_documents = self._by_document or saved.program.of_documents
        try:
            self._shown = UserLabels(saved)
        except (DataError, SettingsError) as error:
            raise ModelError(f"the model's labels do not fit its scheme: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it gives, as users see them."""
        return tuple(self._shown.labels)

    def written_labels(self, min_confidence: float | None = None) -> tuple[str, ...]:
        """`labels`, and those that stand where a model abstains."""
        return self.labels if min_confidence is None else self._abstention(min_confidence).labels

    def tag_batches(
        self,
        batches: Iterable[Batch],
        threads: int = 1,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: ConstraintsLike = (),
        given: str | None = None,
    ) -> Iterator[tuple[Batch, Answer]]:
        """Answers for batch after batch, in order; only a few are in memory at a time.

        Their label ids are into `written_labels(min_confidence)`. `given`: a column of the batches with
        labels that are to be kept, or `spans` for those of records.
        """
        abstain = None if min_confidence is None else self._abstention(min_confidence)
        temperature = needed_temperature(self.saved) if confidence or abstain else None
        model_constraints = self._model_constraints(constraints, given)

        def answer(item: tuple[int, Batch]) -> tuple[Batch, Answer]:
            before, batch = item
            unit = self._unit(batch.block)
            with batch.block.naming_errors():
                constrained = ConstrainedLabels(self.decoder.best(unit))
            if model_constraints is not None:
                constrained = model_constraints.constrain(self.decoder, unit, batch, before, constrained.ids)
            ids = self._shown.user_ids(constrained.ids, batch.block)
            plain = Answer(ids, broken=constrained.broken, inexact=constrained.inexact)
            if temperature is None:
                return batch, plain
            sure = self.confidence_of(batch.block, constrained.ids, temperature)
            if abstain is None:
                return batch, plain._replace(confidence=sure)
            left, taken = abstain(ids, sure, batch.block.table.sentence_starts.tolist())
            shown = sure if confidence else None
            return batch, plain._replace(ids=left, confidence=shown, before_abstention=ids, taken_back=taken)

        yield from in_order(answer, numbered(batches), threads)

    def nbest_batches(
        self,
        batches: Iterable[Batch],
        k: int,
        threads: int = 1,
        *,
        confidence: bool = False,
        constraints: ConstraintsLike = (),
        given: str | None = None,
    ) -> Iterator[tuple[Batch, list[Ranked]]]:
        """The k best outputs of each sentence of batch after batch, or of each document if the model labels
        whole ones; with probabilities if the model has them, and with `confidence` those of what they say."""
        from marginalia.decode.ranking import Ranking

        check_k(k)
        ranking = Ranking(
            self.decoder,
            self._shown,
            self.confidence_of,
            temperature=needed_temperature(self.saved) if confidence else self.temperature,
            confidence=confidence,
            model_constraints=self._model_constraints(constraints, given),
            by_document=self._by_document,
        )

        def ranked(item: tuple[int, Batch]) -> tuple[Batch, list[Ranked]]:
            with item[1].block.naming_errors():
                return item[1], ranking(*item, k)

        yield from in_order(ranked, numbered(batches), threads)

    def explain(
        self,
        sentence: Input,
        against: str | Sequence[str] | None = None,
        *,
        cite: int = 0,
        constraints: ConstraintsLike = (),
    ) -> Explanation:
        """Why the model labels a sentence as it does: its choice against another output, term by term.

        `against`: None for the runner-up, a list of labels, or a target such as "3=B-NP" or "3-5=NP" (tokens
        count from 1), which stands for the best output that has this label or span. `cite`: how many of the
        training examples that taught a weight most are named with each reason (see docs/provenance.md).
        Under `constraints` that change the output, it is compared with the one it would be without them.
        """
        return self.explainer(against, cite, constraints)(Batch(self._block(sentence)), 0)[0]

    def explain_batches(
        self,
        batches: Iterable[Batch],
        against: str | Sequence[str] | None = None,
        threads: int = 1,
        *,
        cite: int = 0,
        constraints: ConstraintsLike = (),
    ) -> Iterator[tuple[Batch, list[Explanation]]]:
        """Explanations of all sentences, batch after batch, in order; only a few are in memory at a time.

        Several `threads` are processes here: explanations are words, which Python makes one at a time.
        """
        from marginalia.decode.explaining_batches import ExplainingTask, explain_in_order

        return explain_in_order(self, batches, ExplainingTask(against, cite, constraints), threads)

    def explainer(self, against: Any, cite: int, constraints: ConstraintsLike) -> Explainer:
        """Explains batch after batch, each with the number of sentences before it."""
        explaining = self._explaining(cite, constraints)
        return lambda batch, before: explaining(batch, against, before)

    def _explaining(self, cite: int, constraints: ConstraintsLike) -> Explaining:
        from marginalia.decode.explaining import Explaining

        model_constraints, column = self._model_constraints(constraints), self.feature_columns[0]
        return Explaining(
            self.saved, self.decoder, self._shown, column, cite=cite, model_constraints=model_constraints
        )

    def marginals(self, sentence: Input) -> npt.NDArray[np.float64]:
        """P(label | sentence) of each token, [tokens, model labels], taking scores as log-probabilities.

        Columns follow `saved.labels`. For a model that was not trained to give probabilities (a
        perceptron) these order alternatives well but are far too sure of themselves.
        """
        node: npt.NDArray[np.float64] = self.decoder.expectations(self._block(sentence), 0)["node"]
        return node

    def best_ids(self, block: Block) -> tuple[Ids, Ids]:
        """The best labels of a block, as ids of `saved.labels` and of `labels`."""
        ids = self.decoder.best(self._unit(block))
        return ids, self._shown.user_ids(ids, block)

    def confidence_of(self, block: Block, ids: Ids, temperature: float) -> BlockConfidence:
        """How probable labels of a block (ids of `saved.labels`), and what they say, are at a temperature."""
        if not block.table.tokens:  # such a block may have no columns
            nothing, nowhere = np.zeros(0), np.zeros(0, np.uint32)
            return BlockConfidence(nothing, nothing, nowhere, nowhere, np.ones(block.table.sentences))
        starts = block.table.sentence_starts
        token, span, begin, end, output = self.decoder.confidence(self._unit(block), ids, starts, temperature)
        if self._by_document:
            documents = block.table.documents
            output = output[np.cumsum(np.diff(documents, prepend=documents[:1]) != 0)]
        return BlockConfidence(token, span, begin, end, output)

    def _model_constraints(
        self, constraints: ConstraintsLike, given: str | None = None
    ) -> ModelConstraints | None:
        parsed = Constraints.of(constraints)
        if not parsed and given is None and self._hard is None:
            return None
        return ModelConstraints(self.saved, self._shown, parsed, given, self._hard)

    def _unit(self, block: Block) -> Block:
        return block.by_document() if self._by_document else block

    def _abstention(self, least: float) -> Abstention:
        return Abstention(self.labels, self.saved.scheme, least)


def check_k(k: int) -> None:
    """An error unless there can be so many outputs."""
    if k < 1:
        raise SettingsError(f"found k = {k}, expected at least 1.")
