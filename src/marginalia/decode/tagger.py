"""A model in use: sentences in, labels and spans out."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.batches import Batch, in_groups
from marginalia.corpus.blocks import ATTRIBUTES, Block, is_attributes, pack
from marginalia.corpus.records import Sentence, Span
from marginalia.corpus.schemes import convert, labels_of, spans_of
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.model import SavedModel, file

if TYPE_CHECKING:
    from concurrent.futures import Future

Ids = npt.NDArray[np.int32]
Input = Sentence | Sequence[Any] | Mapping[str, Sequence[Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Tagged:
    """A labelled sentence: its tokens (or their attributes, as they were given), a label for each, and the
    spans they spell (if they spell spans)."""

    tokens: tuple[Any, ...]
    labels: tuple[str, ...]
    scheme: str | None = None
    score: float | None = None

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """What the labels spell; nothing if they are plain tags."""
        return tuple(spans_of(self.labels, self.scheme)) if self.scheme else ()

    def __iter__(self) -> Iterator[tuple[Any, str]]:
        return iter(zip(self.tokens, self.labels, strict=True))


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
            self._spelling = _Spelling(saved)
        except (DataError, SettingsError) as error:
            raise ModelError(f"the model's labels do not fit its scheme: {error}") from error

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it gives, as users see them."""
        return tuple(self._spelling.labels)

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that an input must have."""
        if self.saved.program.explicit:
            return (ATTRIBUTES,)
        needed = self.saved.program.columns
        return tuple(name for name in self.saved.columns if name in needed) or self.saved.columns[:1]

    def tag(self, sentence: Input) -> Tagged:
        """Label one sentence: its tokens, or a mapping from column names to values if it needs several; of
        models of explicit attributes a list of strings or a dictionary for each token."""
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

    def marginals(self, sentence: Input) -> npt.NDArray[np.float64]:
        """P(label | sentence) of each token, [tokens, model labels], taking scores as log-probabilities.

        Columns follow `saved.labels`. For a model that was not trained to give probabilities (a
        perceptron) these order alternatives well but are far too sure of themselves.
        """
        block = pack([self._record(sentence)], self.feature_columns)
        node: npt.NDArray[np.float64] = self.decoder.expectations(block, 0)["node"]
        return node

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
        if self.saved.program.explicit:
            return self._record_of_attributes(sentence, number)
        if isinstance(sentence, Sentence):
            return sentence
        if isinstance(sentence, str):
            raise DataError("found a string, expected a list of tokens (or a mapping of columns)")
        columns = sentence if isinstance(sentence, Mapping) else {self.feature_columns[0]: sentence}
        if any(is_attributes(columns.get(name, ())) for name in self.feature_columns):
            needed = ", ".join(self.feature_columns)
            raise DataError(f"found attributes of tokens, but this model reads the columns {needed}")
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

    def _record_of_attributes(self, sentence: Input, number: int) -> Sentence:
        given: Any = sentence.columns if isinstance(sentence, Sentence) else sentence
        items = items_of(given.get(ATTRIBUTES, ()) if isinstance(given, Mapping) else given)
        if items is None or (isinstance(given, Mapping) and ATTRIBUTES not in given):
            raise DataError(
                "found tokens or columns, but this model was trained on explicit attributes: expected a list "
                "of strings or a dictionary for each token"
            )
        if isinstance(sentence, Sentence):
            return sentence
        return Sentence({ATTRIBUTES: items}, document=number)

    def _tagged(self, record: Sentence, labels: Sequence[str]) -> Tagged:
        return Tagged(tuple(record.columns[self.feature_columns[0]]), tuple(labels), self.saved.scheme)


def items_of(sequence: Any) -> list[Any] | None:
    """The attributes of the tokens of a sequence (also of one that python-crfsuite made); None if it is one
    of words."""
    if not isinstance(sequence, (Sequence, Mapping)) and hasattr(sequence, "items"):
        sequence = sequence.items()
    if isinstance(sequence, (str, Mapping)):
        return None
    items = list(sequence)
    return items if not items or is_attributes(items) else None


class _Spelling:
    """Model labels to the user's: the same, unless the model was trained in another scheme."""

    def __init__(self, saved: SavedModel) -> None:
        self._saved = saved
        # The spans of documents may go on from one sentence to the next: as labels of sentences they may not.
        crosses = saved.scheme is not None and saved.settings.get("unit") == "document"
        self._same = saved.scheme == saved.encoding and not crosses
        self.labels = list(saved.labels) if self._same else _all_labels(saved)
        self._numbers = {label: i for i, label in enumerate(self.labels)}

    def user_labels(self, ids: Sequence[int] | npt.NDArray[Any]) -> list[str]:
        labels = [self._saved.labels[i] for i in ids]
        if self._same or self._saved.encoding is None or self._saved.scheme is None:
            return labels
        return convert(labels, self._saved.encoding, self._saved.scheme)

    def user_ids(self, ids: Ids, block: Block) -> Ids:
        if self._same:
            return ids
        starts = block.table.sentence_starts.tolist()
        out: list[int] = []
        for first, last in pairwise(starts):
            out += [self._numbers[label] for label in self.user_labels(ids[first:last])]
        return np.array(out, np.int32)


def _all_labels(saved: SavedModel) -> list[str]:
    """Every label that the user's scheme can write for the model's types."""
    types = dict.fromkeys(label.partition("-")[2] for label in saved.labels if label != "O")
    scheme = str(saved.scheme)
    found = dict.fromkeys(["O"] if "O" in saved.labels else [])
    for type_ in types:
        for spans in ([(0, 1)], [(0, 3)], [(0, 2), (2, 4)], [(0, 1), (1, 2)]):
            found |= dict.fromkeys(labels_of([Span(b, e, type_) for b, e in spans], spans[-1][1], scheme))
    return list(found)


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
