"""Sentences of words, made of the tokens that were tokens_of in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from marginalia.corpus.document import ParsedSentence
from marginalia.corpus.words import MultiwordToken, Word
from marginalia.decode.pipeline.multiword import MultiwordSplitter

Spans = list[tuple[int, int]]


def words_of_paragraphs(
    paragraphs: Sequence[tuple[str, int]],
    tokens_of: Sequence[list[Spans]],
    splitter: MultiwordSplitter | None,
) -> Iterator[list[ParsedSentence]]:
    """The sentences of each paragraph, given by a text and where in it the paragraph begins, with their
    tokens split into words."""
    forms = [
        _form(text[start + b : start + e])
        for (text, start), sentences in zip(paragraphs, tokens_of, strict=True)
        for tokens in sentences
        for b, e in tokens
    ]
    lengths = [len(tokens) for sentences in tokens_of for tokens in sentences]
    split = [(form,) for form in forms] if splitter is None else splitter.words(forms, lengths)
    at = 0
    for (text, start), sentences in zip(paragraphs, tokens_of, strict=True):
        made = []
        for tokens in sentences:
            end = at + len(tokens)
            made.append(_sentence(text, start, tokens, forms[at:end], split[at:end]))
            at = end
        yield made


def _form(surface: str) -> str:
    """A token as a form: white space in it is one blank."""
    return surface if surface.isprintable() and "  " not in surface else " ".join(surface.split())


def _sentence(
    text: str, start: int, tokens: Spans, forms: list[str], split: Sequence[tuple[str, ...]]
) -> ParsedSentence:
    words: list[Word] = []
    multiword: list[MultiwordToken] = []
    for (begin, end), form, parts in zip(tokens, forms, split, strict=True):
        first, last = start + begin, start + end
        if len(parts) > 1:
            number = len(words) + 1
            multiword.append(MultiwordToken(number, number + len(parts) - 1, form, start=first, end=last))
        words += [Word(len(words) + 1 + i, part, start=first, end=last) for i, part in enumerate(parts)]
    begin, end = start + tokens[0][0], start + tokens[-1][1]
    return ParsedSentence(words, multiword, text=text[begin:end], start=begin)
