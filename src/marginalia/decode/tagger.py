"""A model in use: sentences in, labels and spans out."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from marginalia.corpus.answers import Answer, BlockConfidence, Ranked
from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import ATTRIBUTES, Block, pack
from marginalia.corpus.records import Sentence
from marginalia.corpus.streams import Source, Target, open_target
from marginalia.decode.confidence import Abstention, needed_temperature, temperature_of
from marginalia.decode.constraints import Constraint, Constraints, Said
from marginalia.decode.demands import Demands, Met
from marginalia.decode.dictionaries import HardDictionary, InUse, Used, used
from marginalia.decode.explanation import Explanation, explain
from marginalia.decode.inputs import Input, record_of
from marginalia.decode.listed import batches_of
from marginalia.decode.structures import STRUCTURES
from marginalia.decode.tagged import Tagged, UserLabels, tagged
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.model import SavedModel, file
from marginalia.model.table import weight_lines, with_weights

if TYPE_CHECKING:
    from concurrent.futures import Future

    from marginalia.features.dictionary import Dictionary

Ids = npt.NDArray[np.int32]
T = TypeVar("T")
Own = TypeVar("Own", bound="Tagger")


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
            self._shown = UserLabels(saved)
        except (DataError, SettingsError) as error:
            raise ModelError(f"the model's labels do not fit its scheme: {error}") from error
        self._in_use = InUse(saved)
        self._hard: HardDictionary | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it gives, as users see them."""
        return tuple(self._shown.labels)

    @property
    def feature_columns(self) -> tuple[str, ...]:
        """The columns that an input must have."""
        if self.saved.program.explicit:
            return (ATTRIBUTES,)
        needed = self.saved.program.columns
        return tuple(name for name in self.saved.columns if name in needed) or self.saved.columns[:1]

    @property
    def temperature(self) -> float | None:
        """What scores are divided by to be log-probabilities; None if the model gives no probabilities."""
        return temperature_of(self.saved)

    def tag(
        self,
        sentence: Input,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: Said = (),
    ) -> Tagged:
        """Label one sentence: its tokens, or a mapping from column names to values if it needs several; of
        models of explicit attributes a list of strings or a dictionary for each token.

        With `confidence` the result says how probable it is, and its labels and spans. With
        `min_confidence`, spans of less become O and tags of less `_`; `abstained` of the result lists them.

        `constraints` (docs/constraints.md) are met by the labels before any are taken back: the best ones of
        all that do, or that break as few as possible, which `broken` of the result lists.
        """
        options = {"confidence": confidence, "min_confidence": min_confidence}
        return self.tag_all([sentence], constraints=constraints, **options)[0]  # type: ignore[arg-type]

    def tag_all(
        self,
        sentences: Iterable[Input],
        threads: int = 1,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: Said = (),
    ) -> list[Tagged]:
        """Label sentences, as `tag` does; the result does not depend on the number of threads."""
        listed = list(sentences)
        demanded = Constraints.of(constraints)
        demanded.check_numbers(len(listed))
        names, scheme = self.written_labels(min_confidence), self.saved.scheme
        tokens: deque[Sequence[Sequence[Any]]] = deque()

        def batches() -> Iterator[Batch]:
            options = {"explicit": self.saved.program.explicit, "whole_documents": self._by_document}
            for part in batches_of(listed, self.feature_columns, self._record, **options):
                tokens.append(part.tokens)
                yield part.batch

        answers = self.tag_batches(
            batches(),
            threads,
            confidence=confidence or min_confidence is not None,
            min_confidence=min_confidence,
            constraints=demanded,
        )
        found: list[Tagged] = []
        for batch, answer in answers:
            found += tagged(tokens.popleft(), batch.block, answer, names, scheme)
        return found

    def tag_batches(
        self,
        batches: Iterable[Batch],
        threads: int = 1,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: Said = (),
        given: str | None = None,
    ) -> Iterator[tuple[Batch, Answer]]:
        """Answers for batch after batch, in order; only a few are in memory at a time.

        Their label ids are into `written_labels(min_confidence)`. `given`: a column of the batches with
        labels that are to be kept, or `spans` for those of records.
        """
        abstain = None if min_confidence is None else self._abstention(min_confidence)
        temperature = needed_temperature(self.saved) if confidence or abstain else None
        demands = self._demands(constraints, given)

        def answer(numbered: tuple[int, Batch]) -> tuple[Batch, Answer]:
            before, batch = numbered
            unit = self._unit(batch.block)
            met = Met(self.decoder.best(unit))
            if demands is not None:
                met = demands.meet(self.decoder, unit, batch, before, met.ids)
            said = self._shown.user_ids(met.ids, batch.block)
            plain = Answer(said, broken=met.broken, inexact=met.inexact)
            if temperature is None:
                return batch, plain
            sure = self.confidence_of(batch.block, met.ids, temperature)
            if abstain is None:
                return batch, plain._replace(confidence=sure)
            left, taken = abstain(said, sure, batch.block.table.sentence_starts.tolist())
            shown = sure if confidence else None
            return batch, plain._replace(ids=left, confidence=shown, first_said=said, taken_back=taken)

        yield from in_order(answer, _numbered(batches), threads)

    def _demands(self, constraints: Said, given: str | None = None) -> Demands | None:
        said = Constraints.of(constraints)
        if not said and given is None and self._hard is None:
            return None
        return Demands(self.saved, self._shown, said, given, self._hard)

    def written_labels(self, min_confidence: float | None = None) -> tuple[str, ...]:
        """`labels`, and those that stand where a model abstains."""
        return self.labels if min_confidence is None else self._abstention(min_confidence).labels

    def nbest_batches(
        self,
        batches: Iterable[Batch],
        k: int,
        threads: int = 1,
        *,
        constraints: Said = (),
        given: str | None = None,
    ) -> Iterator[tuple[Batch, list[Ranked]]]:
        """The k best outputs of each sentence of batch after batch; with confidence if the model has it."""
        _check_k(k)
        self.check_nbest()
        demands = self._demands(constraints, given)

        def ranked(numbered: tuple[int, Batch]) -> tuple[Batch, list[Ranked]]:
            return numbered[1], self._ranked(*numbered, k, demands)

        yield from in_order(ranked, _numbered(batches), threads)

    def check_nbest(self) -> None:
        """An error if the model does not label sentence by sentence."""
        if self._by_document:
            raise SettingsError(
                "k-best outputs are those of sentences, but this model labels whole documents."
            )

    def nbest(
        self, sentence: Input, k: int, *, confidence: bool = False, constraints: Said = ()
    ) -> list[Tagged]:
        """The k best outputs with their scores, best first; fewer if there are not so many legal ones.

        With `constraints`, of all that break as few of them as possible.

        If the model gives probabilities, each has its own as `confidence`; with `confidence`, its labels
        and spans have theirs too.
        """
        _check_k(k)
        if confidence:
            needed_temperature(self.saved)
        found = list(islice(self._outputs(sentence, constraints), k))
        return [self._with_certainty(sentence, *one) if confidence else one[0] for one in found]

    def iter_nbest(self, sentence: Input, *, constraints: Said = ()) -> Iterator[Tagged]:
        """All legal outputs with their scores, best first, each made when it is asked for."""
        return (tagged for tagged, _ in self._outputs(sentence, constraints))

    def _outputs(self, sentence: Input, constraints: Said) -> Iterator[tuple[Tagged, Ids]]:
        record = self._record(sentence)
        tokens = tuple(record.columns[self.feature_columns[0]])
        block = pack([record], self.feature_columns)
        first: tuple[float, float] | None = None  # score and probability of the best
        demands, exact = self._demands(constraints), True
        demanded: tuple[Constraint, ...] = ()
        if demands is None:
            outputs = self.decoder.k_best(block, 0)
        else:
            [(found, demanded)] = demands.outputs(self.decoder, Batch(block, [record]))
            outputs, exact = iter(found), found.exact
        for ids, score in outputs:
            labels = tuple(self._shown.user_labels(ids.tolist()))
            own = np.ascontiguousarray(ids, np.int32)
            if self.temperature is not None and first is None:
                first = score, float(self.confidence_of(block, own, self.temperature).sentence[0])
            whole = None
            if self.temperature is not None and first is not None:
                whole = first[1] * math.exp((score - first[0]) / self.temperature)
            broken = () if demands is None else demands.broken(labels, demanded)
            yield Tagged(tokens, labels, self.saved.scheme, score, whole, broken=broken, exact=exact), own

    def _with_certainty(self, sentence: Input, tagged: Tagged, ids: Ids) -> Tagged:
        block = pack([self._record(sentence)], self.feature_columns)
        sure = self.confidence_of(block, ids, needed_temperature(self.saved))
        token, span = tuple(sure.token.tolist()), tuple(sure.span.tolist())
        return replace(tagged, label_confidence=token, span_confidence=span)

    def _ranked(self, before: int, batch: Batch, k: int, demands: Demands | None) -> list[Ranked]:
        """The outputs of all sentences, by rank; where one has no more, its best stands in."""
        block = batch.block
        broken, inexact = {}, set()
        if demands is None:
            outputs = [list(self.decoder.k_best(block, s, k)) for s in range(block.table.sentences)]
        else:
            outputs = []
            for s, (found, demanded) in enumerate(demands.outputs(self.decoder, batch, before)):
                outputs.append(list(islice(iter(found), k)))
                if found.violations:
                    broken[s] = demands.broken(self._shown.user_labels(outputs[s][0][0]), demanded)
                if not found.exact:
                    inexact.add(s)
        ranked = []
        for rank in range(max([len(listed) for listed in outputs], default=1)):
            chosen = [listed[rank if rank < len(listed) else 0] for listed in outputs]
            ids = np.concatenate([np.zeros(0, np.int32), *[ids.astype(np.int32) for ids, _ in chosen]])
            scores = [
                one[1] if rank < len(listed) else math.nan
                for one, listed in zip(chosen, outputs, strict=True)
            ]
            sure = None if self.temperature is None else self.confidence_of(block, ids, self.temperature)
            shown = self._shown.user_ids(ids, block)
            ranked.append(Ranked(shown, np.array(scores), sure, broken, frozenset(inexact)))
        return ranked

    def explain(
        self,
        sentence: Input,
        against: str | Sequence[str] | None = None,
        *,
        cite: int = 0,
        constraints: Said = (),
    ) -> Explanation:
        """Why the model labels a sentence as it does: its choice against another output, term by term.

        `against`: None for the runner-up, a list of labels, or a wish such as "3=B-NP" or "3-5=NP" (tokens
        count from 1), which stands for the best output that has this label or span. `cite`: how many of the
        training examples that taught a weight most are named with each reason (see docs/provenance.md).
        Under `constraints` that change the output, it is compared with the one it would be without them.
        """
        record = self._record(sentence)
        block = pack([record], self.feature_columns)
        tokens = tuple(block.readable(self.feature_columns[0]))
        return explain(
            self.saved, self.decoder, self._shown, block, tokens, against, cite, self._demands(constraints)
        )

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

    def with_weights(self: Own, source: Source) -> Own:
        """The model with the weights of such a table."""
        return self._using(replace(self._in_use, base=with_weights(self._in_use.base, source)))

    def with_dictionary(
        self: Own,
        *dictionaries: Dictionary | str | os.PathLike[str] | Mapping[Any, Any],
        mode: str = "hard",
        column: str | None = None,
        ignore_case: bool = False,
        tokenizer: str | None = None,
    ) -> Own:
        """The model with dictionaries (or files, or phrases with labels) in place of others of that mode.

        `hard`: the longest phrases in a sentence get their labels, and the rest is the best output that there
        is with them. `soft`: matches are features, which the model must have been trained with. `column` is
        where a hard dictionary's phrases are sought (the first that the model needs), `tokenizer` what cuts
        them into tokens (as the training text was cut). Weights are shared; no dictionaries: as before.
        """
        from marginalia.features.dictionary import dictionary_of

        given = [dictionary_of(dictionary) for dictionary in dictionaries]
        options = (mode, column, ignore_case, tokenizer)
        new = used(self.saved, self.feature_columns, given, *options)
        in_use = self._in_use
        return self._using(replace(in_use, soft=new) if mode == "soft" else replace(in_use, hard=new))

    def reloaded(self: Own) -> Own:
        """The model with its dictionaries as their files are now: itself if none has changed. A DataError for
        a file that is not good; this one can go on with what it has."""
        newer = self._in_use.reloaded()
        return self if newer is self._in_use else self._using(newer)

    @classmethod
    def _using(cls: type[Own], in_use: InUse) -> Own:
        made = cls(in_use.model())
        made._in_use = in_use
        if in_use.hard is not None:
            made._hard = HardDictionary(in_use.hard, made.labels, made.saved.scheme)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file; an old file of that name survives any failure."""
        file.save(self.saved, path)

    def to_bytes(self) -> bytes:
        """The bytes of the model file."""
        return file.to_bytes(self.saved)

    @classmethod
    def from_bytes(cls: type[Own], data: bytes) -> Own:
        """The model of `to_bytes`."""
        return cls(file.from_bytes(data))

    def __reduce__(self: Own) -> tuple[Callable[..., Own], tuple[Any, ...]]:
        in_use = self._in_use
        return _unpickled, (type(self), file.to_bytes(in_use.base), in_use.soft, in_use.hard)

    def best_ids(self, block: Block) -> tuple[Ids, Ids]:
        """The best labels of a block, as ids of `saved.labels` and of `labels`."""
        ids = self.decoder.best(self._unit(block))
        return ids, self._shown.user_ids(ids, block)

    def _unit(self, block: Block) -> Block:
        return block.by_document() if self._by_document else block

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

    def _abstention(self, least: float) -> Abstention:
        return Abstention(self.labels, self.saved.scheme, least)

    def _record(self, sentence: Input, number: int = 0) -> Sentence:
        return record_of(sentence, self.feature_columns, self.saved.program.explicit, number)


def _unpickled(kind: type[Own], data: bytes, soft: Used | None, hard: Used | None) -> Own:
    return kind._using(InUse(file.from_bytes(data), soft, hard))


def _check_k(k: int) -> None:
    if k < 1:
        raise SettingsError(f"found k = {k}, expected at least 1.")


def _numbered(batches: Iterable[Batch]) -> Iterator[tuple[int, Batch]]:
    """Batches with the number of sentences before each."""
    before = 0
    for batch in batches:
        yield before, batch
        before += batch.block.table.sentences


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
