"""Sentences in, labels and spans out."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from marginalia.corpus.batches import Batch
from marginalia.corpus.blocks import pack
from marginalia.corpus.raw_text import check_text
from marginalia.decode.answering import Ids, LabelModel, check_k
from marginalia.decode.confidence import needed_temperature
from marginalia.decode.constraints import Constraint, Constraints, ConstraintsLike
from marginalia.decode.inputs import Input
from marginalia.decode.listed import SENTENCES, batches_of
from marginalia.decode.tagged import Tagged, ranked_sentences, tagged
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.decode.explanation import Explanation
    from marginalia.decode.tagged_text import TaggedText

_EXPLAINED = 100  # sentences of a batch of explanations, which are long


class Tagger(LabelModel):
    """A trained model that labels the tokens of sentences. It never changes and may be used from many
    threads at once."""

    kind = "labels"

    def tag(
        self,
        sentence: Input,
        *,
        confidence: bool = False,
        min_confidence: float | None = None,
        constraints: ConstraintsLike = (),
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
        constraints: ConstraintsLike = (),
    ) -> list[Tagged]:
        """Label sentences, as `tag` does; the result does not depend on the number of threads."""
        parsed = Constraints.of(constraints)
        listed, tokens = self._listed(sentences, parsed)
        answers = self.tag_batches(
            listed,
            threads,
            confidence=confidence or min_confidence is not None,
            min_confidence=min_confidence,
            constraints=parsed,
        )
        names, found = self.written_labels(min_confidence), []
        for batch, answer in answers:
            found += tagged(tokens.popleft(), batch.block, answer, names, self.saved.scheme)
        return found

    def tag_text(
        self,
        text: str,
        *,
        tokenizer: str | None = None,
        confidence: bool = False,
        min_confidence: float | None = None,
    ) -> TaggedText:
        """Label a raw text, each of its lines as a sentence: tokens and spans with their places in the text.

        `tokenizer` cuts it (whitespace, words, characters, fields); by default as the training text was cut.
        `confidence` and `min_confidence` are those of `tag`.
        """
        from marginalia.decode.tagged_text import check_text_only, cut_lines, tagged_text, text_tokenizer

        if not isinstance(text, str):
            raise DataError(f"found {type(text).__name__}, expected a text; tag takes tokens")
        check_text_only(self.feature_columns, self.saved.program.explicit)
        check_text(text)
        lines = cut_lines(text, tokenizer or text_tokenizer(self.saved))
        sentences = [[text[start:end] for start, end in offsets] for offsets in lines]
        found = self.tag_all(sentences, confidence=confidence, min_confidence=min_confidence)
        return tagged_text(text, lines, found)

    def nbest_all(
        self,
        sentences: Iterable[Input],
        k: int,
        threads: int = 1,
        *,
        confidence: bool = False,
        constraints: ConstraintsLike = (),
    ) -> list[list[Tagged]]:
        """The k best outputs of each sentence, as `nbest` has them; the result does not depend on the number
        of threads.

        If the model labels whole documents, outputs are those of documents: number r of all sentences of a
        document belong together, and `score` and `confidence` are those of the document. Records of one
        document have the same `document`; all other sentences are documents of their own.
        """
        parsed = Constraints.of(constraints)
        listed, tokens = self._listed(sentences, parsed)
        answers = self.nbest_batches(listed, k, threads, confidence=confidence, constraints=parsed)
        found: list[list[Tagged]] = []
        for batch, ranked in answers:
            own = tokens.popleft()
            found += ranked_sentences(own, batch.block, ranked, self.labels, self.saved.scheme)
        return found

    def explain_all(
        self,
        sentences: Iterable[Input],
        against: str | Sequence[str] | None = None,
        threads: int = 1,
        *,
        cite: int = 0,
        constraints: ConstraintsLike = (),
    ) -> list[Explanation]:
        """Why the model labels sentences as it does, as `explain` tells of one of them; the result does not
        depend on the number of threads, which are processes as of `explain_batches`."""
        parsed = Constraints.of(constraints)
        listed, _ = self._listed(sentences, parsed, size=_EXPLAINED)
        explained = self.explain_batches(listed, against, threads, cite=cite, constraints=parsed)
        return [one for _, found in explained for one in found]

    def _listed(
        self, sentences: Iterable[Input], constraints: Constraints, size: int = SENTENCES
    ) -> tuple[Iterator[Batch], deque[Sequence[Sequence[Any]]]]:
        """The sentences as batches, and the tokens of those that were given out."""
        listed = list(sentences)
        constraints.check_numbers(len(listed))
        tokens: deque[Sequence[Sequence[Any]]] = deque()

        def batches() -> Iterator[Batch]:
            options = {"explicit": self.saved.program.explicit, "whole_documents": self._ends_with_documents}
            for part in batches_of(listed, self.feature_columns, self._record, **options, size=size):
                tokens.append(part.tokens)
                yield part.batch

        return batches(), tokens

    def nbest(
        self, sentence: Input, k: int, *, confidence: bool = False, constraints: ConstraintsLike = ()
    ) -> list[Tagged]:
        """The k best outputs with their scores, best first; fewer if there are not so many legal ones.

        With `constraints`, of all that break as few of them as possible.

        If the model gives probabilities, each has its own as `confidence`; with `confidence`, its labels
        and spans have theirs too.
        """
        check_k(k)
        if confidence:
            needed_temperature(self.saved)
        found = list(islice(self._outputs(sentence, constraints), k))
        return [self._with_certainty(sentence, *one) if confidence else one[0] for one in found]

    def iter_nbest(self, sentence: Input, *, constraints: ConstraintsLike = ()) -> Iterator[Tagged]:
        """All legal outputs with their scores, best first, each made when it is asked for."""
        return (tagged for tagged, _ in self._outputs(sentence, constraints))

    def _outputs(self, sentence: Input, constraints: ConstraintsLike) -> Iterator[tuple[Tagged, Ids]]:
        record = self._record(sentence)
        tokens = tuple(record.columns[self.feature_columns[0]])
        block = pack([record], self.feature_columns)
        first: tuple[float, float] | None = None  # score and probability of the best
        model_constraints, exact = self._model_constraints(constraints), True
        parsed: tuple[Constraint, ...] = ()
        if model_constraints is None:
            outputs = self.decoder.k_best(block, 0)
        else:
            [(found, parsed)] = model_constraints.outputs(self.decoder, Batch(block, [record]))
            outputs, exact = iter(found), found.exact
        for ids, score in outputs:
            labels = tuple(self._shown.user_labels(ids.tolist()))
            own = np.ascontiguousarray(ids, np.int32)
            if self.temperature is not None and first is None:
                first = score, float(self.confidence_of(block, own, self.temperature).sentence[0])
            whole = None
            if self.temperature is not None and first is not None:
                whole = first[1] * math.exp((score - first[0]) / self.temperature)
            broken = () if model_constraints is None else model_constraints.broken(labels, parsed)
            yield Tagged(tokens, labels, self.saved.scheme, score, whole, broken=broken, exact=exact), own

    def _with_certainty(self, sentence: Input, tagged: Tagged, ids: Ids) -> Tagged:
        sure = self.confidence_of(self._block(sentence), ids, needed_temperature(self.saved))
        token, span = tuple(sure.token.tolist()), tuple(sure.span.tolist())
        return replace(tagged, label_confidence=token, span_confidence=span)
