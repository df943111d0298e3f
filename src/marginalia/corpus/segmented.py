"""Text that blanks cut into words, one sentence a line: its characters with labels of the scheme BMES."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._core import parse_segmented
from .blocks import Block, line_chunks, parsed
from .plain import in_a_row
from .records import Sentence
from .schemes import spans_of
from .streams import Source, Target, name_of, open_source, open_target

COLUMNS = ("word", "label")


def read_segmented_blocks(
    source: Source,
    tag_separator: str | None = None,
    *,
    blank_lines: bool = False,
    block_bytes: int = 1 << 20,
) -> Iterator[Block]:
    """Read segmented text in blocks of whole lines; memory stays flat however long the file is.

    With a `tag_separator` such as "/", every word ends in its tag (`word/tag`, cut at the last
    separator), and labels are typed: `B-nr`. With `blank_lines` lines without words are sentences without
    tokens, else they are skipped.
    """
    file, line, documents = name_of(source), 1, 0
    options = {"tag_separator": tag_separator or "", "blank_lines": blank_lines}
    with open_source(source) as stream:
        for text in line_chunks(stream, block_bytes):
            table = parsed(parse_segmented, text, file, first_line=line, first_document=documents, **options)
            if table.sentences:
                starts = table.sentence_starts[:-1]
                lines = range(line, line + len(starts)) if blank_lines else table.lines[starts].tolist()
                yield Block(table, COLUMNS, file, sentence_lines=tuple(lines))
            line += table.line_breaks
            documents += table.sentences


def read_segmented(
    source: Source, tag_separator: str | None = None, *, blank_lines: bool = False
) -> Iterator[Sentence]:
    """Sentences of segmented text, with the columns `word` (characters) and `label`."""
    for block in read_segmented_blocks(source, tag_separator, blank_lines=blank_lines):
        yield from segmented_records(block)


def segmented_records(block: Block) -> Iterator[Sentence]:
    """The sentences of a block of segmented text, with the text that their characters spell."""
    for sentence in block.sentences():
        sentence.text, sentence.offsets = "".join(sentence.tokens), in_a_row(len(sentence))
        sentence.spans = spans_of(sentence.columns["label"], "BMES")
        yield sentence


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
