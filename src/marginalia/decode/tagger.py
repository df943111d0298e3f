"""A model in use: sentences in, labels and spans out."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch, in_groups
from marginalia.corpus.blocks import pack
from marginalia.corpus.records import Sentence
from marginalia.corpus.streams import Source, Target, open_target
from marginalia.decode.explanation import Explanation, explain
from marginalia.decode.spelling import Spelling
from marginalia.decode.structures import STRUCTURES
from marginalia.decode.tagged import Tagged
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.model import SavedModel, file
from marginalia.model.table import weight_lines, with_weights

if TYPE_CHECKING:
    from concurrent.futures import Future

Ids = npt.NDArray[np.int32]
Input = Sentence | Sequence[str] | Mapping[str, Sequence[str]]
T = TypeVar("T")


class Tagger:
    """A trained model. It never changes and may be used from many threads at once."""

    def __init__(self, saved: SavedModel) -> None:
        if saved.structure not in STRUCTURES:
            raise ModelError(
                f"the model has the structure '{saved.structure}', which this version does not know."
            )
        self.saved = saved
        self._by_document = saved.settings.get("unit") == "document"
        self.decoder = STRUCTURES[saved.structure].decoder(saved)
        try:
            self._spelling = Spelling(saved)
        except (DataError, SettingsError) as error:
            raise ModelError(f"the model's labels do not fit its scheme: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it gives, as users see them."""
        return tuple(self._spelling.labels)

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that an input must have."""
        needed = self.saved.program.columns
        return tuple(name for name in self.saved.columns if name in needed) or self.saved.columns[:1]

    def tag(self, sentence: Input) -> Tagged:
        """Label one sentence: its tokens, or a mapping from column names to values if it needs several."""
        return self.tag_all([sentence])[0]

    def tag_all(self, sentences: Iterable[Input], threads: int = 1) -> list[Tagged]:
        """Label sentences; the result does not depend on the number of threads."""
        records = [self._record(sentence, number) for number, sentence in enumerate(sentences)]
        parts = in_groups(iter(records), 500, self._by_document)
        batches = (Batch(pack(part, self.feature_columns), part) for part in parts)
        results: list[Tagged] = []
        for batch, ids in self.tag_batches(batches, threads):
            names = [self._spelling.labels[i] for i in ids.tolist()]
            starts = batch.block.table.sentence_starts.tolist()
            for record, first, last in zip(batch.sentences or (), starts, starts[1:], strict=False):
                results.append(self._tagged(record, names[first:last]))
        return results

    def tag_batches(self, batches: Iterable[Batch], threads: int = 1) -> Iterator[tuple[Batch, Ids]]:
        """Label ids (into `labels`) of batch after batch, in order; only a few are in memory at a time."""
        yield from in_order(lambda batch: (batch, self._best(batch)), batches, threads)

    def nbest(self, sentence: Input, k: int) -> list[Tagged]:
        """The k best outputs with their scores, best first; fewer if there are not so many legal ones."""
        if k < 1:
            raise SettingsError(f"found k = {k}, expected at least 1.")
        return list(islice(self.iter_nbest(sentence), k))

    def iter_nbest(self, sentence: Input) -> Iterator[Tagged]:
        """All legal outputs with their scores, best first, each made when it is asked for."""
        record = self._record(sentence)
        tokens = tuple(record.columns[self.feature_columns[0]])
        for ids, score in self.decoder.k_best(pack([record], self.feature_columns), 0):
            labels = tuple(self._spelling.user_labels(ids.tolist()))
            yield Tagged(tokens, labels, self.saved.scheme, score)

    def explain(
        self, sentence: Input, against: str | Sequence[str] | None = None, *, cite: int = 0
    ) -> Explanation:
        """Why the model labels a sentence as it does: its choice against another output, term by term.

        `against`: None for the runner-up, a list of labels, or a wish such as "3=B-NP" or "3-5=NP" (tokens
        count from 1), which stands for the best output that has this label or span. `cite`: how many of the
        training examples that taught a weight most are named with each reason (see docs/provenance.md).
        """
        record = self._record(sentence)
        block = pack([record], self.feature_columns)
        tokens = tuple(record.columns[self.feature_columns[0]])
        return explain(self.saved, self.decoder, self._spelling, block, tokens, against, cite)

    def marginals(self, sentence: Input) -> npt.NDArray[np.float64]:
        """P(label | sentence) of each token, [tokens, model labels], taking scores as log-probabilities.

        Columns follow `saved.labels`. For a model that was not trained to give probabilities (a
        perceptron) these order alternatives well but are far too sure of themselves.
        """
        block = pack([self._record(sentence)], self.feature_columns)
        node: npt.NDArray[np.float64] = self.decoder.expectations(block, 0)["node"]
        return node

    def export_weights(self, target: Target) -> None:
        """Write all weights as a table to be edited (docs/inspect.md)."""
        with open_target(target) as write:
            for line in weight_lines(self.saved):
                write(line)

    def with_weights(self, source: Source) -> Tagger:
        """The model with the weights of such a table."""
        return Tagger(with_weights(self.saved, source))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file of that name survives any failure."""
        file.save(self.saved, path)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return file.to_bytes(self.saved)

    @classmethod
    def from_bytes(cls, data: bytes) -> Tagger:
        """The model of `to_bytes`."""
        return cls(file.from_bytes(data))

    def __reduce__(self) -> tuple[Callable[[bytes], Tagger], tuple[bytes]]:
        return Tagger.from_bytes, (self.to_bytes(),)

    def _best(self, batch: Batch) -> Ids:
        block = batch.block.by_document() if self._by_document else batch.block
        return self._spelling.user_ids(self.decoder.best(block), batch.block)

    def _record(self, sentence: Input, number: int = 0) -> Sentence:
        if isinstance(sentence, Sentence):
            return sentence
        if isinstance(sentence, str):
            raise DataError("found a string, expected a list of tokens (or a mapping of columns)")
        columns = sentence if isinstance(sentence, Mapping) else {self.feature_columns[0]: sentence}
        if any(isinstance(values, str) for values in columns.values()):
            raise DataError("found a string as a column, expected a list of values, one per token")
        missing = [name for name in self.feature_columns if name not in columns]
        if missing:
            raise DataError(
                f"found columns {', '.join(columns)}, but this model also needs {', '.join(missing)}: "
                "pass a mapping from column names to lists"
            )
        record = Sentence({name: list(columns[name]) for name in self.feature_columns}, document=number)
        if len({len(values) for values in record.columns.values()}) > 1:
            raise DataError("found columns of different lengths, expected one value per token in each")
        return record

    def _tagged(self, record: Sentence, labels: Sequence[str]) -> Tagged:
        return Tagged(tuple(record.columns[self.feature_columns[0]]), tuple(labels), self.saved.scheme)


def in_order(work: Callable[[Any], T], items: Iterable[Any], threads: int) -> Iterator[T]:
    """work(item) for each item, in order, on several threads, reading only a little ahead."""
    if threads <= 1:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # slow to load, and one thread does without

    with ThreadPoolExecutor(threads) as pool:
        pending: deque[Future[T]] = deque()
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()


def load(path: str | os.PathLike[str]) -> Tagger:
    """The model of a file; a ModelError says why if it cannot be one."""
    saved = file.load(path)
    try:
        return Tagger(saved)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
