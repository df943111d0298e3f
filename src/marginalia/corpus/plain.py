"""Raw text, one sentence a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .records import Sentence
from .streams import Source, Target, open_target, read_lines
from .tokenizers import Offsets, tokenizer_named


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


def in_a_row(count: int) -> Offsets:
    """Offsets of so many characters with nothing between them."""
    return [(at, at + 1) for at in range(count)]
