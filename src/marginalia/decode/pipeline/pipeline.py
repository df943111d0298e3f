"""The pipeline that a bundle is: what users call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from marginalia.corpus.conllu import set_key
from marginalia.corpus.document import Document, ParsedSentence
from marginalia.corpus.raw_text import PART, check_text, cut_text, paragraph_spans, read_paragraphs, read_text
from marginalia.corpus.streams import Source
from marginalia.corpus.words import CONFIDENCE, Word, written_confidence
from marginalia.decode.pipeline.annotating import Annotator
from marginalia.decode.pipeline.multiword import MultiwordSplitter
from marginalia.decode.pipeline.parts import DROPPED, MULTIWORD, TOKENS
from marginalia.decode.pipeline.placed_words import words_of_paragraphs
from marginalia.decode.pipeline.tokens import TokenFinder
from marginalia.decode.threads import in_order
from marginalia.errors import ModelError, SettingsError
from marginalia.model.bundle import Bundle

GIVEN = ("tokens", "tags", "lemmas", "trees")
"""What of its input a pipeline may be asked to keep."""

_BATCH = 400  # sentences of given input that are worked on at once
_TEXTS = 1 << 14  # characters of small texts that are


class Pipeline:
    """Turns raw text into documents with words, tags, lemmas and trees. It never changes and may be used from
    many threads at once."""

    kind = "pipeline"

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        parts, tables = bundle.parts, bundle.tables
        breaks = bool(bundle.about.get("breaks"))
        self._tokens = TokenFinder(parts[TOKENS], breaks, tables.get(TOKENS, ())) if TOKENS in parts else None
        self._multiword = (
            MultiwordSplitter(parts[MULTIWORD], tables.get(MULTIWORD, ()), tables.get(DROPPED))
            if MULTIWORD in parts
            else None
        )
        self.annotator = Annotator(bundle)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of CoNLL-U that it predicts."""
        return self.annotator.columns

    def parse(self, text: str, *, confidence: bool = False) -> ParsedDocument:
        """The document of a text: sentences, words with offsets, and all that the parts say of them. With
        `confidence` words also know how probable their tags and arcs are, for which the pipeline must be
        calibrated."""
        if not isinstance(text, str):
            raise SettingsError(
                f"found {type(text).__name__}, expected a text; parse_all takes many at once."
            )
        return self.parse_all([text], confidence=confidence)[0]

    def parse_all(
        self, texts: Iterable[str], threads: int = 1, *, confidence: bool = False
    ) -> list[ParsedDocument]:
        """The documents of texts; the result does not depend on the number of threads."""
        if isinstance(texts, str):
            raise SettingsError("found str, expected several texts; parse takes one.")
        work = partial(self._documents, confidence=confidence)
        return [one for many in in_order(work, _groups(texts), threads) for one in many]

    def parse_parts(
        self, source: Source, threads: int = 1, part: int = PART, *, confidence: bool = False
    ) -> Iterator[ParsedDocument]:
        """A text of any size, part by part, each of whole paragraphs. Offsets go on from part to part. With a
        `part` of 0, a part is what a pipe has of them."""
        parts = read_text(source, part) if part else read_paragraphs(source)
        return self._numbered(parts, threads, confidence)

    def parse_long(self, text: str, threads: int = 1) -> Iterator[ParsedDocument]:
        """The same of a text in memory."""
        check_text(text)
        return self._numbered(cut_text([text]), threads)

    def _numbered(
        self, parts: Iterable[str], threads: int, confidence: bool = False
    ) -> Iterator[ParsedDocument]:
        numbered = enumerate(part for part in parts if part)
        start, sentences = 0, 0
        for document in in_order(partial(self._part, confidence=confidence), numbered, threads):
            document.start = start
            for sentence in document.sentences:
                sentences += 1
                sentence.set_comment("sent_id", str(sentences))
            start += len(document.text)
            yield document

    def annotate(
        self,
        sentences: Iterable[ParsedSentence],
        given: Sequence[str] = ("tokens",),
        threads: int = 1,
        *,
        confidence: bool = False,
    ) -> Iterator[ParsedSentence]:
        """Sentences with words, in order, the same objects: what is `given` stays as it is (`GIVEN`), all
        else is predicted. Columns that no part predicts are emptied."""
        kept = check_given(given)

        def annotated(batch: list[ParsedSentence]) -> list[ParsedSentence]:
            self.annotator.annotate(batch, kept, confidence)
            return batch

        for batch in in_order(annotated, _batches(sentences), threads):
            yield from batch

    def trees(self, sentences: Sequence[ParsedSentence], k: int) -> list[list[tuple[Any, float]]]:
        """The k best trees of sentences that have their tags, each as (heads, relations) with its score."""
        return self.annotator.k_best(sentences, k)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the bundle; an old file of that name survives any failure."""
        self.bundle.save(path)

    def to_bytes(self) -> bytes:
        """The bytes of the file."""
        return self.bundle.to_bytes()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Pipeline:
        """The pipeline of a file; a ModelError says why if it cannot be one."""
        try:
            return cls(Bundle.load(path))
        except ModelError as error:
            raise ModelError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> Pipeline:
        """The pipeline of `to_bytes`."""
        return cls(Bundle.from_bytes(data))

    def __reduce__(self) -> tuple[Callable[..., Pipeline], tuple[Any, ...]]:
        return type(self).from_bytes, (self.to_bytes(),)

    def _documents(self, texts: list[str], confidence: bool) -> list[ParsedDocument]:
        """Small texts at once: all of them together are one batch for each part."""
        for text in texts:
            check_text(text)
        documents = [ParsedDocument([], text, self) for text in texts]
        found = self._sentences(texts)
        for document, sentences in zip(documents, found, strict=True):
            document.sentences.extend(sentences)
        every = [sentence for own in found for sentence in own]
        self.annotator.annotate(every, frozenset(("tokens",)), confidence)
        for document in documents:
            for number, sentence in enumerate(document.sentences, 1):
                sentence.set_comment("sent_id", str(number))
                sentence.set_comment("text", sentence.text)
            if document.sentences:
                document.mark_spaces()
        return documents

    def _part(self, numbered: tuple[int, str], confidence: bool) -> ParsedDocument:
        number, text = numbered
        document = self._documents([text], confidence)[0]
        if number and document.sentences:
            document.sentences[0].comments.remove("# newdoc")
        return document

    def _sentences(self, texts: Sequence[str]) -> list[list[ParsedSentence]]:
        """The sentences of each text, with words that have a form and a place."""
        if self._tokens is None:
            raise ModelError("this pipeline has no part 'tokens': give it tokens (--given tokens).")
        paragraphs = [(i, *span) for i, text in enumerate(texts) for span in paragraph_spans(text)]
        found = self._tokens.sentences([texts[i][start:end] for i, start, end in paragraphs])
        placed = [(texts[i], start) for i, start, _ in paragraphs]
        sentences: list[list[ParsedSentence]] = [[] for _ in texts]
        for (i, _, _), made in zip(
            paragraphs, words_of_paragraphs(placed, found, self._multiword), strict=True
        ):
            made[0].comments[:0] = ["# newpar"] if sentences[i] else ["# newdoc", "# newpar"]
            sentences[i] += made
        return sentences


class ParsedDocument(Document):
    """A document that a pipeline made. `start` is where its text begins in a longer one."""

    def __init__(self, sentences: Iterable[ParsedSentence], text: str, pipeline: Pipeline) -> None:
        super().__init__(sentences, text)
        self.pipeline, self.start = pipeline, 0

    def nbest(self, k: int) -> list[ParsedDocument]:
        """The document with the best trees of its sentences, with their second best ones, and so on up to k;
        a sentence with fewer trees keeps its last one. Comments `# score = …` have their scores."""
        if type(k) is not int or k < 1:
            raise SettingsError(f"k: found {k!r}, expected a whole number from 1 on.")
        ranked = self.pipeline.trees(self.sentences, k)
        ranks = range(max(map(len, ranked), default=0))
        return [self._ranked([trees[min(rank, len(trees) - 1)] for trees in ranked]) for rank in ranks]

    def _ranked(self, trees: Sequence[tuple[Any, float]]) -> ParsedDocument:
        sentences = []
        for sentence, ((heads, relations), score) in zip(self.sentences, trees, strict=True):
            rows = zip(sentence.words, heads, relations, strict=True)
            words = [_with_arc(word, head, relation) for word, head, relation in rows]
            multiword = [replace(token) for token in sentence.multiword]
            copy = replace(sentence, words=words, multiword=multiword, comments=list(sentence.comments))
            copy.set_comment("score", f"{score:.4f}")
            sentences.append(copy)
        return ParsedDocument(sentences, self.text, self.pipeline)

    def explain(
        self, word: Word | int, part: str | None = None, against: str | None = None
    ) -> dict[str, Any]:
        """Why a word (or the one with this number, from 0 on) has its tags, its lemma and its head: an
        explanation by each part that says something of it, or by one of them alone; that one also against
        another tag, or another arc (`3:obj`, `3` or `:obj`)."""
        from marginalia.decode.pipeline.explaining import explain_word  # parsing goes without

        if isinstance(word, int) and 0 <= word < len(self.words):
            word = self.words[word]
        if not isinstance(word, Word):
            raise SettingsError(
                f"found {word!r}, expected one of the {len(self.words)} words of the document, or its number."
            )
        return explain_word(self.pipeline.annotator, word, part, against)


def _with_arc(word: Word, head: int, relation: str) -> Word:
    """A copy of a word with another arc, of which the old one's probability says nothing."""
    sure = {name: value for name, value in word.confidence.items() if name != "head"}
    misc = set_key(word.misc, CONFIDENCE, written_confidence(sure), "")
    return replace(word, head=head, deprel=relation, misc=misc)


def check_given(given: Iterable[str]) -> frozenset[str]:
    """What is given, checked; tokens always are."""
    listed = list(given)
    if unknown := [name for name in listed if name not in GIVEN]:
        raise SettingsError(f"given: found '{unknown[0]}', expected some of {', '.join(GIVEN)}.")
    return frozenset((*listed, "tokens"))


def _groups(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in groups that are worth a batch."""
    group: list[str] = []
    size = 0
    for text in texts:
        if not isinstance(text, str):
            raise SettingsError(f"found {type(text).__name__}, expected a text (str).")
        group.append(text)
        size += len(text)
        if size >= _TEXTS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _batches(sentences: Iterable[ParsedSentence]) -> Iterator[list[ParsedSentence]]:
    batch: list[ParsedSentence] = []
    for sentence in sentences:
        if not isinstance(sentence, ParsedSentence):
            raise SettingsError(f"found {type(sentence).__name__}, expected a sentence of a document.")
        batch.append(sentence)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
