"""Column files (CoNLL-2000, CoNLL-2003, CRF++ and kin) as sentence records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..errors import DataError
from .blocks import column_names, read_blocks
from .records import Sentence
from .streams import Source, Target, open_target

DOCUMENT = "-DOCSTART-"


def read_conll(
    source: Source,
    columns: str | Sequence[str] | None = None,
    *,
    separator: str | None = None,
    comments: str | None = "auto",
) -> Iterator[Sentence]:
    """Sentences of a column file; see `read_blocks` for what is accepted."""
    for block in read_blocks(source, columns, separator=separator, comments=comments):
        yield from block.sentences()


def write_conll(
    sentences: Iterable[Sentence],
    target: Target,
    *,
    columns: str | Sequence[str] | None = None,
    separator: str = " ",
    newline: str = "\n",
) -> None:
    """Write columns, comments and document marks so that `read_conll` gives the same sentences back."""
    names, document = column_names(columns), 0
    with open_target(target) as write:
        for sentence in sentences:
            names = names or tuple(sentence.columns)
            mark = separator.join([DOCUMENT] + ["O"] * (len(names) - 1))
            lines = [mark + newline] * (sentence.document - document)
            document = sentence.document
            lines += sentence.comments + _rows(sentence, names, separator) + [""]
            write(newline.join(lines) + newline)


def _rows(sentence: Sentence, names: Sequence[str], separator: str) -> list[str]:
    missing = [name for name in names if name not in sentence.columns]
    if missing:
        raise DataError(f"found no column {missing[0]!r} in a sentence", line=sentence.line or None)
    rows = list(zip(*(sentence.columns[name] for name in names), strict=True))
    forbidden = re.compile(r"[\t\r\n\0]" if separator == "\t" else r"[ \t\r\n\0]|^$")
    for row in rows:
        texts = all(isinstance(field, str) for field in row)
        if not texts or row[0] == DOCUMENT or not any(row) or any(map(forbidden.search, row)):
            raise DataError(f"fields {row!r} cannot be written to a column file", line=sentence.line or None)
    return [separator.join(row) for row in rows]
