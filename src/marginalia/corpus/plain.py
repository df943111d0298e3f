"""Raw text, one sentence a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .records import Sentence
from .streams import Source, Target, open_target, read_lines
from .tokenizers import tokenizer_named


def read_plain(source: Source, tokenizer: str = "whitespace") -> Iterator[Sentence]:
    """Sentences of raw text with character offsets; blank lines are skipped."""
    tokenize = tokenizer_named(tokenizer)
    for number, text in texts(source):
        if offsets := tokenize(text):
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
