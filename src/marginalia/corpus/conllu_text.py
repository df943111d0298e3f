"""Treebanks in CoNLL-U as text to be cut: characters whose labels spell the words, and words written back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..errors import DataError, SettingsError
from .conllu import comment_value, set_key
from .document import Document, ParsedSentence
from .document_reader import iterate_conllu
from .plain import in_a_row
from .records import Sentence, Span
from .schemes import labels_of, spans_of
from .streams import Source, Target, name_of, open_target
from .words import CONFIDENCE, MultiwordToken, Token, Word

_TAG_COLUMNS = ("upos", "xpos")
_BREAKS = re.compile(r"[\t\r\n]")  # what a form cannot have


def read_conllu_text(source: Source, tag_column: str | None = None) -> Iterator[Sentence]:
    """Words of a treebank become characters labelled with BMES (columns `word` and `label`), with their
    offsets in the sentence's text; white space inside of words is no character of them.

    With a `tag_column` (upos or xpos) labels are typed by it. A multiword token is one word, without a tag.
    """
    if tag_column not in (None, *_TAG_COLUMNS):
        raise SettingsError(f"found tag_column={tag_column!r}, expected {' or '.join(_TAG_COLUMNS)}")
    file = name_of(source)
    for parsed in iterate_conllu(source, strict=False):
        yield _characters(parsed, tag_column, file)


def _characters(parsed: ParsedSentence, tag_column: str | None, file: str) -> Sentence:
    offsets: list[tuple[int, int]] = []
    spans: list[Span] = []
    for token in parsed.tokens:
        first, start, end = len(offsets), token.start - parsed.start, token.end - parsed.start
        white = parsed.text[start:end].isspace()  # an ideographic space may be a word of its own
        offsets += [(at, at + 1) for at in range(start, end) if white or not parsed.text[at].isspace()]
        spans.append(Span(first, len(offsets), _tag(token, tag_column, parsed, file)))
    characters = [parsed.text[start] for start, _ in offsets]
    columns = {"word": characters, "label": labels_of(spans, len(characters), "BMES")}
    return Sentence(columns, parsed.text, offsets, parsed.comments, line=parsed.line, spans=spans)


def _tag(token: Token, column: str | None, parsed: ParsedSentence, file: str) -> str:
    if column is None:
        return ""
    if isinstance(token, MultiwordToken):
        message = f"found the multiword token {token.form!r}, expected words that have one tag each"
        raise DataError(message, file=file, line=parsed.line)
    tag: str = getattr(token, column)
    if tag == "_":
        message = f"found no {column} of word {token.id}, {token.form!r}, expected a tag"
        raise DataError(message, file=file, line=parsed.line)
    return tag


def write_conllu_text(
    sentences: Iterable[Sentence], target: Target, *, tag_column: str | None = None
) -> None:
    """Write the words that labels of BMES spell, with their tags and with marks of white space, from which
    readers get the text. Sentences without characters are left out: CoNLL-U has none such."""
    with open_target(target) as write:
        for sentence in sentences:
            if len(sentence):
                write(_parsed(sentence, tag_column or "upos").to_conllu())


def _parsed(sentence: Sentence, tag_column: str) -> ParsedSentence:
    text, offsets = sentence.text, sentence.offsets
    if text is None or offsets is None:
        text, offsets = "".join(sentence.tokens), in_a_row(len(sentence))
    begin, end = offsets[0][0], offsets[-1][1]
    words: list[Word] = []
    for span in spans_of(sentence.columns["label"], "BMES"):
        first, last = offsets[span.start][0], offsets[span.end - 1][1]
        form = _BREAKS.sub(" ", text[first:last])
        word = Word(len(words) + 1, form, start=first - begin, end=last - begin)
        if span.label not in ("", "O"):
            setattr(word, tag_column, span.label)
        if sentence.certainty is not None and span in sentence.certainty.spans:
            word.misc = set_key(word.misc, CONFIDENCE, f"{sentence.certainty.spans[span]:.4f}")
        words.append(word)
    comments = [one for one in sentence.comments if comment_value([one], "text") is None]
    comments.append(f"# text = {_BREAKS.sub(' ', text[begin:end])}")
    parsed = ParsedSentence(words, comments=comments, text=text[begin:end])
    Document([parsed], parsed.text).mark_spaces()
    return parsed
