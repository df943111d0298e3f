"""From a program as data to one that the core runs over the columns of given tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from marginalia import _core
from marginalia.errors import DataError, SettingsError
from marginalia.features.program import Program, Template, Value

_PieceFields = tuple[str, int, int, bool, list[str], list[str]]


def compile_program(
    program: Program, columns: Sequence[str], phrases: Mapping[str, _core.PhraseSet]
) -> _core.Program:
    """The program for tables with these columns. The plain label bigram is left to the structure."""
    names = list(program.lists)
    missing = [name for name in program.columns if name not in columns]
    if missing:
        raise DataError(
            f"found columns {' '.join(columns)!r}, but the features also need {', '.join(map(repr, missing))}"
        )
    sources = []
    for a in program.attributes:
        column = list(columns).index(a.column) if a.column else 0
        sources.append(
            (a.function, a.argument, column, names.index(a.argument) if a.function == "list" else 0)
        )
    templates = [
        (t.scope == "edge", [_fields(piece) for piece in t.pieces])
        for t in program.templates
        if not is_label_bigram(t)
    ]
    return _core.Program(sources, templates, [phrases[name] for name in names], len(columns))


def is_label_bigram(template: Template) -> bool:
    """Whether the template is an edge feature that looks at labels only."""
    return template.scope == "edge" and all(isinstance(piece, str) for piece in template.pieces)


def has_label_bigram(program: Program) -> bool:
    """Whether the program learns label transitions."""
    return any(is_label_bigram(template) for template in program.templates)


def has_ends(program: Program) -> bool:
    """Whether the program learns which labels stand first and last."""
    return program.ends and has_label_bigram(program)


def load_phrases(program: Program) -> dict[str, _core.PhraseSet]:
    """The phrase lists that the program names: a phrase a line, tokens separated by blanks."""
    return {name: _phrase_set(name, path) for name, path in program.lists.items()}


def _phrase_set(name: str, path: str) -> _core.PhraseSet:
    try:
        with open(path, encoding="utf-8-sig") as file:
            phrases = [line.split() for line in file if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"list '{name}': cannot read {path}: {error}.") from error
    if not phrases:
        raise SettingsError(f"list '{name}': there is no phrase in {path}.")
    return _core.PhraseSet(phrases)


def _fields(piece: str | Value) -> _PieceFields:
    if isinstance(piece, str):
        return (piece, -1, 0, False, [], [])
    return ("", piece.attribute, piece.offset, piece.absolute, list(piece.before), list(piece.after))
