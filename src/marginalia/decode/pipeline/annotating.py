"""Tags, lemmas and trees of words: the parts behind the tokens, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marginalia.corpus.conllu import set_key
from marginalia.corpus.document import ParsedSentence
from marginalia.corpus.words import CONFIDENCE, Word, written_confidence
from marginalia.decode.pipeline.lemmas import Lemmatizer
from marginalia.decode.pipeline.parts import (
    EMPTY,
    LEMMAS,
    MULTIWORD,
    PARSER,
    SUPERTAGS,
    TAG_COLUMNS,
    TAGS,
    TOKENS,
    LabelPart,
)
from marginalia.errors import ModelError
from marginalia.features.lexicon import TagLexicon
from marginalia.model.bundle import Bundle

LEXICON = "lexicon"
_KNOWN = (TOKENS, MULTIWORD, LEMMAS, SUPERTAGS, PARSER)
Columns = dict[str, list[str]]


class Annotator:
    """Gives words of sentences what they do not have yet."""

    def __init__(self, bundle: Bundle) -> None:
        parts, tables = bundle.parts, bundle.tables
        names = [name for name in parts if name == TAGS or name.startswith(f"{TAGS}-")]
        self.tags = [LabelPart(name, parts[name]) for name in names]
        self.lexicon = lexicon_of(tables.get(LEXICON, ()))
        self.lemmas = Lemmatizer(parts[LEMMAS], tables.get(LEMMAS, ())) if LEMMAS in parts else None
        self.added = [LabelPart(name, parts[name]) for name in parts if name not in (*names, *_KNOWN)]
        self.supertags = LabelPart(SUPERTAGS, parts[SUPERTAGS]) if SUPERTAGS in parts else None
        self.parser: Any = None
        if PARSER in parts:
            from marginalia.decode.pipeline.trees import TreePart  # many pipelines stop before

            self.parser = TreePart(parts[PARSER])

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of CoNLL-U that it predicts."""
        tags = {column for part in self.tags for column in part.columns}
        found = ["lemma"] if self.lemmas is not None else []
        found += [name for name in TAG_COLUMNS if name in tags]
        if self.parser is not None:
            found += ["head"] if self.parser.model.labels == (EMPTY,) else ["head", "deprel"]
        return tuple(found)

    def annotate(
        self, sentences: Sequence[ParsedSentence], given: frozenset[str], confidence: bool = False
    ) -> None:
        """Give the words all that is not given; with `confidence` also how probable tags and arcs are."""
        if not sentences:
            return
        words = [word for sentence in sentences for word in sentence.words]
        lengths = [len(sentence.words) for sentence in sentences]
        columns = self.tagged(words, lengths, "tags" in given)
        if "lemmas" in given:
            columns["lemma"] = [word.lemma for word in words]
        elif self.lemmas is not None:
            columns["lemma"] = self.lemmas.lemmas(columns)
        _write_columns(words, columns)
        for part in self.added:
            self._write_added(part, words, columns, lengths)
        if "trees" not in given:
            self._write_trees(words, columns, lengths)
        if confidence:
            self._write_confidence(words, columns, lengths, given)

    def tagged(self, words: Sequence[Word], lengths: Sequence[int], given: bool) -> Columns:
        """The columns of words up to their tags: predicted, or as they are."""
        columns: Columns = {"word": [word.form for word in words]}
        columns[LEXICON] = self.lexicon.column(columns["word"])
        if given:
            return columns | {name: [getattr(word, name) for word in words] for name in TAG_COLUMNS}
        for part in self.tags:
            columns |= part.values(columns, lengths)
        return columns

    def for_parser(self, columns: Columns, lengths: Sequence[int]) -> Columns:
        """The columns of words with tags, and what the parser sees besides."""
        if self.supertags is None:
            return columns
        return columns | self.supertags.values(columns, lengths)

    def k_best(self, sentences: Sequence[ParsedSentence], k: int) -> list[list[tuple[Any, float]]]:
        """The k best trees of sentences with tags."""
        if self.parser is None:
            raise ModelError(f"this pipeline has no part '{PARSER}': there are no trees.")
        words = [word for sentence in sentences for word in sentence.words]
        columns = self.tagged(words, [], given=True)
        columns["lemma"] = [word.lemma for word in words]
        lengths = [len(sentence) for sentence in sentences]
        best: list[list[tuple[Any, float]]] = self.parser.k_best(
            self.for_parser(columns, lengths), lengths, k
        )
        return best

    def _write_added(
        self, part: LabelPart, words: Sequence[Word], columns: Columns, lengths: list[int]
    ) -> None:
        """Labels of a part that was added, such as one of entities, go into MISC under its name."""
        for word, label in zip(words, part.labels(for_added(columns), lengths), strict=True):
            word.misc = set_key(word.misc, part.name, label)

    def _write_confidence(
        self, words: Sequence[Word], columns: Columns, lengths: list[int], given: frozenset[str]
    ) -> None:
        """How probable the tags and arcs are that were not given."""
        sure: dict[str, list[float]] = {}
        for part in self.tags if "tags" not in given else ():
            sure |= dict.fromkeys(part.columns, part.confidence(columns, lengths))
        if self.parser is not None and "trees" not in given:
            sure["head"] = self.parser.confidence(self.for_parser(columns, lengths), lengths)
        for i, word in enumerate(words):
            own = {name: column[i] for name, column in sure.items()}
            word.misc = set_key(word.misc, CONFIDENCE, written_confidence(own), "")

    def _write_trees(self, words: Sequence[Word], columns: Columns, lengths: list[int]) -> None:
        if self.parser is None:
            for word in words:
                word.head, word.deprel = None, EMPTY
            return
        heads, relations = self.parser.best(self.for_parser(columns, lengths), lengths)
        for word, head, relation in zip(words, heads, relations, strict=True):
            word.head, word.deprel = head, relation


def _write_columns(words: Sequence[Word], columns: Columns) -> None:
    none = [EMPTY] * len(words)
    rows = zip(words, *(columns.get(name, none) for name in ("lemma", *TAG_COLUMNS)), strict=True)
    for word, lemma, upos, xpos, feats in rows:
        word.lemma, word.upos, word.xpos, word.feats = lemma, upos, xpos, feats


def for_added(columns: Columns) -> Columns:
    """The columns of words, and those that models of other tasks know them by."""
    pos = columns.get("xpos") or columns.get("upos") or [EMPTY] * len(columns["word"])
    return {"pos": pos, "form": columns["word"], **columns}


def lexicon_of(lines: Sequence[str]) -> TagLexicon:
    """The lexicon of a bundle's table."""
    rows = [line.split("\t") for line in lines]
    if any(len(row) != 2 for row in rows):
        raise ModelError("the lexicon of the pipeline is damaged.")
    return TagLexicon(dict(rows))
