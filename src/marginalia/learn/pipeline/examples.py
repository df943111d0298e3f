"""Training data of the parts of a pipeline, made of a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from marginalia.corpus.document import Document, ParsedSentence
from marginalia.corpus.edit_scripts import edit_script
from marginalia.corpus.raw_text import paragraph_spans
from marginalia.corpus.records import Sentence
from marginalia.corpus.words import MultiwordToken
from marginalia.decode.pipeline.lemmas import LEMMA_COLUMNS, Key
from marginalia.decode.pipeline.multiword import UNSPLIT, split_script
from marginalia.decode.pipeline.tokens import BEGIN, INSIDE, OUTSIDE, SENTENCE
from marginalia.features.characters import COLUMNS, character_columns

LABEL = "label"
_LONGEST = 2000  # characters of an example: longer paragraphs are cut where sentences begin
Columns = dict[str, list[str]]


def character_labels(document: Document) -> list[str]:
    """The label of each character of a document's text."""
    labels = [OUTSIDE] * len(document.text)
    for sentence in document.sentences:
        for number, token in enumerate(sentence.tokens):
            labels[token.start : token.end] = [INSIDE] * (token.end - token.start)
            if token.end > token.start:
                labels[token.start] = BEGIN if number else SENTENCE
    return labels


def has_breaks(document: Document) -> bool:
    """Whether there are ends of lines inside of paragraphs."""
    return any("\n" in document.text[start:end] for start, end in paragraph_spans(document.text))


def character_examples(document: Document, breaks: bool) -> Iterator[Sentence]:
    """Paragraphs, or stretches of them, as sentences of characters."""
    text, labels = document.text, character_labels(document)
    begins = [sentence.start for sentence in document.sentences]
    for start, end in paragraph_spans(text):
        for first, last in _stretches(start, end, begins):
            while text[last - 1].isspace():
                last -= 1
            columns = dict(zip(COLUMNS, character_columns(text[first:last], breaks), strict=True))
            yield Sentence(columns | {LABEL: labels[first:last]})


def _stretches(start: int, end: int, begins: Sequence[int]) -> Iterator[tuple[int, int]]:
    from bisect import bisect_left

    while end - start > _LONGEST:
        at = bisect_left(begins, start + _LONGEST)
        cut = begins[at - 1] if begins[at - 1] > start else begins[at] if at < len(begins) else end
        if not start < cut < end:
            break
        yield start, cut
        start = cut
    yield start, end


def split_examples(document: Document) -> tuple[list[Sentence], list[str]]:
    """Sentences of tokens with their splits, and the lines of the table of forms split in one way only."""
    ways: dict[str, Counter[tuple[str, ...]]] = {}
    examples = []
    for sentence in document.sentences:
        forms, labels = [], []
        for token in sentence.tokens:
            words = tuple(word.form for word in token.words) if isinstance(token, MultiwordToken) else ()
            ways.setdefault(token.form, Counter())[words] += 1
            forms.append(token.form)
            labels.append((split_script(token.form, words) if words else None) or UNSPLIT)
        examples.append(Sentence({"word": forms, LABEL: labels}))
    known = [
        f"{form}\t{' '.join(words)}"
        for form, found in ways.items()
        for words in [next(iter(found))]
        if len(found) == 1 and words and not any(" " in word for word in words)
    ]
    return examples, sorted(known)


def has_splits(document: Document) -> bool:
    """Whether there are multiword tokens."""
    return any(sentence.multiword for sentence in document.sentences)


def columns_of(document: Document) -> Columns:
    """The columns of all words, by the names that templates know them by."""
    words = document.words
    named = {name: [getattr(word, name) for word in words] for name in ("lemma", "upos", "xpos", "feats")}
    return {"word": [word.form for word in words], **named}


def lengths_of(sentences: Sequence[ParsedSentence]) -> list[int]:
    """How many words each sentence has."""
    return [len(sentence.words) for sentence in sentences]


def sentences_of(columns: Mapping[str, Sequence[str]], lengths: Sequence[int]) -> list[Sentence]:
    """Columns of all words as sentences."""
    found, at = [], 0
    for length in lengths:
        found.append(Sentence({name: list(values[at : at + length]) for name, values in columns.items()}))
        at += length
    return found


def lemma_types(columns: Mapping[str, Sequence[str]]) -> dict[Key, str]:
    """Each word with its tags once, and the lemma that it has most often."""
    counts: dict[Key, Counter[str]] = {}
    for *key, lemma in zip(*(columns[name] for name in LEMMA_COLUMNS), columns["lemma"], strict=True):
        counts.setdefault(tuple(key), Counter())[lemma] += 1
    return {key: min(found.items(), key=lambda item: (-item[1], item[0]))[0] for key, found in counts.items()}


def lemma_examples(types: Mapping[Key, str]) -> list[Sentence]:
    """Words with their tags, each a sentence of its own, with edit scripts."""
    return [
        Sentence(
            {name: [value] for name, value in zip(LEMMA_COLUMNS, key, strict=True)}
            | {LABEL: [edit_script(key[0], lemma)]}
        )
        for key, lemma in types.items()
    ]
