"""Lists of candidates in, the same in a better order out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NoReturn, cast

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import ATTRIBUTES, OUTPUT, Block, pack
from marginalia.corpus.candidate_answers import CandidateAnswer
from marginalia.corpus.candidates import BEST, OTHER, pack_candidates, records_of
from marginalia.corpus.records import Sentence
from marginalia.decode.answering import LabelModel, check_k
from marginalia.decode.candidates import CandidateDecoder
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.explanation import Explanation, Reason
from marginalia.decode.plain_data import PlainData
from marginalia.decode.threads import in_order
from marginalia.errors import DataError, SettingsError

if TYPE_CHECKING:
    from marginalia.decode.explaining_batches import Explainer

_ITEMS = 500  # of a batch
_SHOWN = 60  # characters of a candidate that stand for all of it


@dataclass(frozen=True)
class Candidate(PlainData):
    """A candidate that was ranked: its number in the list that was given (from 1 on), the model's score, how
    probable it is, if that is known, and the dictionary that it was given as."""

    number: int
    score: float
    probability: float | None
    given: Mapping[str, Any]

    @property
    def output(self) -> Any:
        """What it stands for, as it was given."""
        return self.given.get(OUTPUT)


class Reranker(LabelModel):
    """A trained model that chooses one of the candidates of an item. Items are dictionaries as in the lines
    of a file (docs/candidates.md). It never changes and may be used from many threads at once."""

    kind = "candidates"

    def rerank(self, item: Mapping[str, Any], *, confidence: bool = False) -> list[Candidate]:
        """The candidates of an item, the best first."""
        return self.rerank_all([item], confidence=confidence)[0]

    def rerank_all(
        self, items: Iterable[Mapping[str, Any]], threads: int = 1, *, confidence: bool = False
    ) -> list[list[Candidate]]:
        """The candidates of items, the best first; the result does not depend on the number of threads.

        With `confidence` they say how probable they are, or there is an error; without, if the model knows.
        """
        listed = list(items)
        parts = [listed[i : i + _ITEMS] for i in range(0, len(listed), _ITEMS)]
        batches = (Batch(pack_candidates(records_of(part), labelled=False)) for part in parts)
        found: list[list[Candidate]] = []
        answers = self.tag_batches(batches, threads, confidence=confidence)
        for part, (batch, answer) in zip(parts, answers, strict=True):
            starts = batch.block.table.sentence_starts.tolist()
            for item, first, order in zip(part, starts, answer.orders(starts), strict=False):
                found.append([_candidate(item, place, first, answer) for place in order])
        return found

    def best(self, item: Mapping[str, Any]) -> Candidate:
        """The best candidate of an item."""
        return self.rerank(item)[0]

    def nbest(self, item: Mapping[str, Any], k: int) -> list[Candidate]:
        """The k best candidates of an item, best first."""
        check_k(k)
        return self.rerank(item)[:k]

    def tag_batches(  # type: ignore[override]
        self, batches: Iterable[Batch], threads: int = 1, *, confidence: bool = False, **others: Any
    ) -> Iterator[tuple[Batch, CandidateAnswer]]:
        """Scores for batch after batch, in order; only a few are in memory at a time."""
        return self._answered(batches, threads, confidence, None, others)

    def nbest_batches(  # type: ignore[override]
        self, batches: Iterable[Batch], k: int, threads: int = 1, *, confidence: bool = False, **others: Any
    ) -> Iterator[tuple[Batch, list[CandidateAnswer]]]:
        """The same, with the k best of each item only."""
        check_k(k)
        for batch, answer in self._answered(batches, threads, confidence, k, others):
            yield batch, [answer]

    def _answered(
        self,
        batches: Iterable[Batch],
        threads: int,
        confidence: bool,
        most: int | None,
        others: Mapping[str, Any],
    ) -> Iterator[tuple[Batch, CandidateAnswer]]:
        if refused := [name for name, value in others.items() if value]:
            raise SettingsError(f"{refused[0]}: candidates are chosen from lists, and have no labels.")
        temperature = needed_temperature(self.saved) if confidence else self.temperature
        decoder = self._decoder

        def answer(batch: Batch) -> tuple[Batch, CandidateAnswer]:
            block, ids, sure, p = batch.block, decoder.best(batch.block), None, None
            if temperature is not None:
                p = decoder.probabilities(block, temperature)
                sure = self.confidence_of(block, ids, temperature) if confidence else None
            return batch, CandidateAnswer(ids, decoder.candidate_scores(block), p, sure, most=most)

        return in_order(answer, batches, threads)

    def with_dictionary(self, *dictionaries: Any, **options: Any) -> NoReturn:
        """There are none for candidates."""
        raise SettingsError("dictionaries have labels of phrases, which candidates have not.")

    @property
    def _decoder(self) -> CandidateDecoder:
        assert isinstance(self.decoder, CandidateDecoder), "the decoder of the structure"
        return self.decoder

    def explain(  # type: ignore[override]
        self, sentence: Any, against: int | str | None = None, *, cite: int = 0, constraints: Any = ()
    ) -> Explanation:
        """Why the best candidate of an item is better than the runner-up, or than the one with the number
        `against` (from 1 on); the rest as of `Tagger.explain`."""
        return super().explain(sentence, cast(Any, against), cite=cite, constraints=constraints)

    def explain_batches(  # type: ignore[override]
        self,
        batches: Iterable[Batch],
        against: int | str | None = None,
        threads: int = 1,
        *,
        cite: int = 0,
        constraints: Any = (),
    ) -> Iterator[tuple[Batch, list[Explanation]]]:
        """The same of all items of batch after batch, in order, in so many processes."""
        return super().explain_batches(
            batches, cast(Any, against), threads, cite=cite, constraints=constraints
        )

    def explainer(self, against: Any, cite: int, constraints: Any) -> Explainer:
        """Explains batch after batch."""
        _refuse(constraints)
        return lambda batch, before: self._explained(batch.block, against, cite)

    def _explained(self, block: Block, against: int | str | None, cite: int) -> list[Explanation]:
        explaining, found = self._explaining(cite, ()), []
        for sentence in block.sentences():
            part = pack([sentence], tuple(sentence.columns))
            try:
                other = None if against is None else self.marked(len(sentence), against, "against")
                with part.naming_errors(0):
                    found += explaining(Batch(part), other)
            except DataError as error:
                raise _readable(error) from None
            outputs = sentence.columns.get(OUTPUT, [""] * len(sentence))
            found[-1] = _of_candidates(found[-1], outputs)
        return found

    def marked(self, size: int, number: int | str, what: str = "right") -> list[str]:
        """Labels of so many candidates, the one with this number (from 1 on) being the best."""
        try:
            place = int(number)
        except ValueError:
            place = 0
        if not 1 <= place <= size:
            raise DataError(f"{what}: found {number}, expected the number of a candidate, 1 to {size}")
        return [BEST if n == place else OTHER for n in range(1, size + 1)]

    def _block(self, given: Any) -> Block:
        if isinstance(given, Sentence):
            return pack([given], tuple(given.columns))
        if isinstance(given, Mapping) and ATTRIBUTES in given:  # columns, as the command line has them
            return pack([Sentence(dict(given))], tuple(given))
        return pack_candidates(records_of([given]), labelled=False)


def _candidate(item: Mapping[str, Any], place: int, first: int, answer: CandidateAnswer) -> Candidate:
    p = None if answer.probabilities is None else float(answer.probabilities[place])
    number = place - first
    return Candidate(number + 1, float(answer.scores[place]), p, item["candidates"][number])


def _refuse(constraints: Any) -> None:
    if constraints:
        raise SettingsError("constraints speak of labels of tokens, which candidates have not.")


def _readable(error: DataError) -> DataError:
    """What is said of labels, of candidates."""
    message = error.message
    if "very labels" in message:
        message = "against: found the very candidate that the model chose"
    if "only one legal output" in message:
        message = "there is nothing to compare with: the item has only one candidate"
    return DataError(message, file=error.file, line=error.line, column=error.column)


def _of_candidates(found: Explanation, outputs: Sequence[str]) -> Explanation:
    """The explanation with candidates in place of labels of tokens."""
    texts = tuple(
        shorten(text, _SHOWN, placeholder=" …") or f"candidate {n}" for n, text in enumerate(outputs, 1)
    )
    chosen, other = (side.labels.index(BEST) for side in (found.chosen, found.other))

    def placed(reason: Reason) -> Reason:
        at = chosen if reason.chosen is not None else other
        sides = [
            None if side is None else side._replace(labels=(f"candidate {place + 1}",))
            for side, place in ((reason.chosen, chosen), (reason.other, other))
        ]
        return reason._replace(start=at, end=at + 1, chosen=sides[0], other=sides[1])

    both = (replace(side, tokens=texts) for side in (found.chosen, found.other))
    return replace(found, chosen=next(both), other=next(both), reasons=tuple(map(placed, found.reasons)))
