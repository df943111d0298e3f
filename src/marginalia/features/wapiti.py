r"""Wapiti's pattern files, by its manual and the rules of its pattern.c and reader.c.

- The first letter, in either case, is the scope: `u` node, `b` edge, `*` both. Everything after a `#` is a
  comment, even inside an expression; spaces at the end and empty lines are skipped. `u` or `b` alone is the
  plain label or label bigram.
- `%x[offset,column]` is the token; `%t[offset,column,"regex"]` is `true` or `false`;
  `%m[offset,column,"regex"]` is the part that matches, else empty; `%X`, `%T` and `%M` give the same in
  lower case. Columns are counted from 0. With `@` the offset is absolute: `@1` is the first token, `@-1`
  the last one.
- The whole line with its commands replaced, its first letter in lower case, is the feature's name.
- Outside the sentence the token is `_x-1` to `_x-4` and `_x-#` before it, `_x+1` to `_x+4` and `_x+#` after
  it, counted outwards; expressions are applied to that text.

The expressions are described in `marginalia.features.templates`. Unlike Wapiti's, they and the lower case
know all of Unicode, not only ASCII bytes. Indirect offsets (`*` before an offset, in Wapiti's last version)
are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from marginalia import _core
from marginalia.features.program import Attribute, ProgramBuilder, TemplateProgram, Value
from marginalia.features.reading import Columns, Line, check_argument, check_offset, lines, split_macros

BEFORE = ("_x-1", "_x-2", "_x-3", "_x-4", "_x-#")
AFTER = ("_x+1", "_x+2", "_x+3", "_x+4", "_x+#")

_COMMAND = re.compile(
    r"%(?P<kind>[xtmXTM])\[(?P<at>@?)\s*(?P<offset>[+-]?\d{1,9}),\s*(?P<column>\d{1,9})"
    r'(?:,"(?P<regex>(?:[^"\\]|\\.)*)")?\]'
)
_EXPECTED = '%x[offset,column], %t[offset,column,"regex"] or %m[offset,column,"regex"]'
_SCOPES = {"u": ("node",), "b": ("edge",), "*": ("node", "edge")}
_FUNCTIONS = {"x": "column", "X": "lower", "t": "test", "T": "test", "m": "match", "M": "lower-match"}


def parse_wapiti(text: str, columns: Columns, *, file: str = "<Wapiti patterns>") -> TemplateProgram:
    """Compile the text of a Wapiti pattern file; `columns` gives the names of its column numbers."""
    builder = ProgramBuilder()
    for line in lines(text, file):
        pattern = line.text.split("#")[0].rstrip()
        if not pattern:
            continue
        pattern = pattern[0].lower() + pattern[1:]
        if pattern[0] not in _SCOPES:
            raise line.error(0, f"found '{pattern[0]}', expected a pattern that begins with u, b or *, or #.")
        for scope in _SCOPES[pattern[0]]:
            builder.add(scope, _pieces(pattern, line, columns, builder))
    return replace(builder.build(), ends=False)


def _pieces(pattern: str, line: Line, columns: Columns, builder: ProgramBuilder) -> Iterator[str | Value]:
    for piece in split_macros(line, pattern, _COMMAND, _EXPECTED):
        yield piece if isinstance(piece, str) else _value(piece, line, columns, builder)


def _value(command: re.Match[str], line: Line, columns: Columns, builder: ProgramBuilder) -> str | Value:
    function, regex = _FUNCTIONS[command["kind"]], command["regex"] or ""
    if (command["regex"] is None) != (command["kind"] in "xX"):
        raise line.error(command.start(), f"found '{command[0]}', expected {_EXPECTED}.")
    check_argument(function, regex, line, command.start())
    column = columns.numbered(int(command["column"]), line, command.start("column"))
    before = tuple(_core.evaluate_attribute(function, regex, text) or "" for text in BEFORE)
    after = tuple(_core.evaluate_attribute(function, regex, text) or "" for text in AFTER)
    offset, absolute = int(command["offset"]), bool(command["at"])
    check_offset(offset, line, command.start("offset"))
    if absolute and offset == 0:
        return before[0]  # Wapiti counts from 1: this is always the place before the first token
    if absolute and offset > 0:
        offset -= 1
    return builder.value_with(Attribute(function, regex, column), offset, absolute, before, after)
