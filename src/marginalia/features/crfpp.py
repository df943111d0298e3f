"""CRF++'s template files, by the rules of its feature.cpp and feature_index.cpp.

- A line that begins with `U` gives node features, one that begins with `B` edge features; empty lines and
  lines that begin with `#` are skipped, anything else is an error. A `#` later in a line is ordinary text.
- `%x[row,column]` stands for the column of the token `row` after the current one (before it, if negative);
  columns are counted from 0. The text around the macros stays as it is, and the whole is the feature's
  name: `U02:%x[0,0]` at "dog" is `U02:dog`. A line without an identifier therefore makes a bag of words.
  `B` alone is the label bigram.
- Outside the sentence a macro is `_B-1`, `_B-2`… before it and `_B+1`, `_B+2`… after it, counted outwards.
  CRF++ stops at 8 tokens (4 in old versions); here rows may be farther.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from marginalia.features.program import Attribute, ProgramBuilder, TemplateProgram, Value
from marginalia.features.reading import Columns, Line, check_offset, lines, split_macros

_MACRO = re.compile(r"%x\[(-?\d{1,9}),(\d{1,9})\]")
_SCOPES = {"U": "node", "B": "edge"}


def parse_crfpp(text: str, columns: Columns, *, file: str = "<CRF++ templates>") -> TemplateProgram:
    """Compile the text of a CRF++ template file; `columns` gives the names of its column numbers."""
    builder = ProgramBuilder()
    for line in lines(text, file):
        if not line.text or line.text.startswith("#"):
            continue
        if line.text[0] not in _SCOPES:
            raise line.error(0, f"found '{line.text[0]}', expected a template that begins with U or B, or #.")
        builder.add(_SCOPES[line.text[0]], _pieces(line, columns, builder))
    return replace(builder.build(), ends=False)


def _pieces(line: Line, columns: Columns, builder: ProgramBuilder) -> Iterator[str | Value]:
    for piece in split_macros(line, line.text, _MACRO, "%x[row,column] with whole numbers"):
        if isinstance(piece, str):
            yield piece
        else:
            check_offset(int(piece[1]), line, piece.start(1))
            column = columns.numbered(int(piece[2]), line, piece.start(2))
            yield builder.value(Attribute("column", "", column), int(piece[1]))
