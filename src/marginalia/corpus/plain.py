"""Plain text, one sentence a line: raw, or already cut into words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..errors import DataError
from .records import Sentence, Span
from .schemes import labels_of, spans_of
from .streams import Source, Target, name_of, open_target, read_lines
from .tokenizers import Offsets, tokenizer_named

_WORD = re.compile(r"[^ \t]+")  # the ideographic space may be a word of its own


def read_plain(
    source: Source, tokenizer: str = "whitespace", *, blank_lines: bool = False
) -> Iterator[Sentence]:
    """Sentences of raw text with character offsets; with `blank_lines` these are sentences without tokens,
    else they are skipped."""
    tokenize = tokenizer_named(tokenizer)
    for number, text in texts(source):
        if (offsets := tokenize(text)) or blank_lines:
            tokens = [text[start:end] for start, end in offsets]
            yield Sentence({"word": tokens}, text=text, offsets=offsets, line=number)


def texts(source: Source) -> Iterator[tuple[int, str]]:
    """The lines of a source with their numbers, without line ends and byte order mark."""
    for number, line in read_lines(source):
        text = line.rstrip("\r\n")
        yield number, text.removeprefix("\ufeff") if number == 1 else text


def write_plain(sentences: Iterable[Sentence], target: Target) -> None:
    """One sentence a line: its text, or its tokens with blanks between them."""
    with open_target(target) as write:
        for sentence in sentences:
            write((" ".join(sentence.tokens) if sentence.text is None else sentence.text) + "\n")


def read_segmented(
    source: Source, tag_separator: str | None = None, *, blank_lines: bool = False
) -> Iterator[Sentence]:
    """Words between blanks become characters labelled with BMES (columns `word` and `label`).

    With a `tag_separator` such as "/", every word ends in its tag (`word/tag`, cut at the last
    separator), and labels are typed: `B-nr`. With `blank_lines` these are sentences without tokens, else
    they are skipped.
    """
    file = name_of(source)
    for number, text in texts(source):
        words = list(_WORD.finditer(text))
        if words or blank_lines:
            yield _characters([_word_and_tag(word, tag_separator, file, number) for word in words], number)


def _word_and_tag(item: re.Match[str], separator: str | None, file: str, line: int) -> tuple[str, str]:
    if separator is None:
        return item[0], ""
    word, _, tag = item[0].rpartition(separator)
    if not (word and tag):
        message = f"found {item[0]!r}, expected word{separator}tag"
        raise DataError(message, file=file, line=line, column=item.start() + 1)
    return word, tag


def _characters(pairs: list[tuple[str, str]], line: int) -> Sentence:
    spans: list[Span] = []
    for word, tag in pairs:
        start = spans[-1].end if spans else 0
        spans.append(Span(start, start + len(word), tag))
    text = "".join(word for word, _ in pairs)
    columns = {"word": list(text), "label": labels_of(spans, len(text), "BMES")}
    return Sentence(columns, text, in_a_row(len(text)), line=line, spans=spans)


def in_a_row(count: int) -> Offsets:
    """Offsets of so many characters with nothing between them."""
    return [(at, at + 1) for at in range(count)]


def write_segmented(
    sentences: Iterable[Sentence], target: Target, *, blank: str = " ", tag_separator: str | None = None
) -> None:
    """Join the characters of each word by their BMES labels, with `blank` between words."""
    with open_target(target) as write:
        for sentence in sentences:
            tokens = sentence.tokens
            pieces = [
                "".join(tokens[start:end]) + (f"{tag_separator}{tag}" if tag_separator else "")
                for start, end, tag in spans_of(sentence.columns["label"], "BMES")
            ]
            write(blank.join(pieces) + "\n")
