"""From a program as data to one that the core runs over the columns of given tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from marginalia import _core
from marginalia.corpus.streams import read_numbered
from marginalia.errors import DataError, SettingsError
from marginalia.features.program import Attribute, Template, TemplateProgram, Value

_PieceFields = tuple[str, int, int, bool, list[str], list[str]]
_SegmentPieceFields = tuple[str, int, int, str, list[str], list[str]]


def compile_extractor(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> _core.FeatureExtractor:
    """The program for tables with these columns. The plain label bigram is left to the structure."""
    if program.explicit:
        return _core.FeatureExtractor.of_items(len(columns))
    _refuse_items(program)
    segments = [t for t in program.templates if t.scope in ("segment", "before")]
    if segments:
        wanted = "words" if program.of_neighbours else "segments"
        raise SettingsError(
            f"features: '{shown(segments[0])}' looks at segments, but the structure is the chain: "
            f"choose --structure {wanted}."
        )
    templates = [(t.scope == "edge", [_fields(piece) for piece in t.pieces]) for t in extracted(program)]
    parts = _sources(program, columns), templates, _lists(program, phrases), len(columns)
    return _core.FeatureExtractor(*parts, [word_tables[name] for name in program.word_files])


def compile_segment_extractor(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> _core.SegmentExtractor:
    """The extractor of templates over segments and over their tokens."""
    for t in program.templates:
        if t.of_neighbours:
            raise SettingsError(
                f"features: '{shown(t)}' looks at two segments: choose --structure words for it."
            )
    return compile_word_extractor(program, columns, phrases, word_tables)


def compile_word_extractor(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> _core.SegmentExtractor:
    """The same, with templates over a segment and the one before."""
    if program.explicit:
        return _core.SegmentExtractor.of_items(len(columns))
    _refuse_items(program)
    templates = []
    for t in extracted(program):
        if t.scope == "edge" or any(isinstance(p, Value) and p.absolute for p in t.pieces):
            raise SettingsError(
                f"features: '{shown(t)}' is for chains; segments take templates of segments ([b], [e], "
                "[i]…), of tokens ([0], [-1]…), and 'edge:' alone for neighbouring types."
            )
        templates.append([_segment_fields(piece) for piece in t.pieces])
    parts = _sources(program, columns), templates, _lists(program, phrases), len(columns)
    before = [number for number, t in enumerate(extracted(program)) if t.scope == "before"]
    return _core.SegmentExtractor(*parts, [word_tables[name] for name in program.word_files], before)


def compile_tree_extractor(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> _core.TreeExtractor:
    """The extractor of templates over a parser's configurations."""
    for t in program.templates:
        if t.scope != "tree":
            raise SettingsError(
                f"features: '{shown(t)}' is for tokens; trees take templates such as s0.word, s0.pos/q0.pos "
                "or s0.left.label."
            )
    if program.explicit or not program.templates:
        raise SettingsError("features: trees need templates, which look at columns of text.")
    templates = [[_tree_fields(piece) for piece in t.pieces] for t in program.templates]
    parts = _sources(program, columns), templates, _lists(program, phrases), len(columns)
    return _core.TreeExtractor(*parts, [word_tables[name] for name in program.word_files])


def _tree_fields(piece: str | Value) -> tuple[str, int, str]:
    return (piece, -1, "") if isinstance(piece, str) else ("", piece.attribute, piece.anchor)


def _refuse_items(program: TemplateProgram) -> None:
    for t in program.templates:
        if t.scope == "item":
            raise SettingsError(
                f"features: '{shown(t)}' looks at whole items: choose --structure single for it."
            )
        if t.scope == "tree":
            raise SettingsError(
                f"features: '{shown(t)}' looks at a parser's configurations: choose --structure trees."
            )


def compile_item_extractor(
    program: TemplateProgram,
    columns: Sequence[str],
    phrases: Mapping[str, _core.PhraseSet],
    word_tables: Mapping[str, _core.WordTable] = MappingProxyType({}),
) -> _core.FeatureExtractor:
    """The extractor of templates over whole items, each of which is a token of the tables."""
    if program.explicit:
        return _core.FeatureExtractor.of_items(len(columns))
    for t in program.templates:
        if t.scope != "item":
            raise SettingsError(
                f"features: '{shown(t)}' is for tokens; a single item takes templates such as words(text), "
                "ngrams(1..2)(text), channel or number(price)."
            )
    sources = _sources(program, columns)

    def fields(piece: str | Value) -> tuple[str, str, int]:
        return ("", piece, 0) if isinstance(piece, str) else sources[piece.attribute][:3]

    return _core.FeatureExtractor.of_bags(
        [[fields(p) for p in t.pieces] for t in program.templates], len(columns)
    )


def _sources(program: TemplateProgram, columns: Sequence[str]) -> list[tuple[str, str, int, int]]:
    missing = [name for name in program.columns if name not in columns]
    if missing:
        raise DataError(
            f"found columns {' '.join(columns)!r}, but the features also need {', '.join(map(repr, missing))}"
        )
    sources = []
    for a in program.attributes:
        column = list(columns).index(a.column) if a.column else 0
        argument, table = _table_of(a, program)
        sources.append((a.function, argument, column, table))
    return sources


def _table_of(a: Attribute, program: TemplateProgram) -> tuple[str, int]:
    """The argument of an attribute in the core, and which of the lists or tables of words it looks at."""
    if a.function in ("list", "elsewhere-list"):
        return a.argument, list(program.lists).index(a.argument)
    if a.function in ("cluster", "lexicon"):
        name, _, asked = a.argument.partition(",")
        return asked, list(program.word_files).index(name)
    return a.argument, 0


def _lists(program: TemplateProgram, phrases: Mapping[str, _core.PhraseSet]) -> list[_core.PhraseSet]:
    return [phrases[name] for name in program.lists]


def shown(template: Template) -> str:
    """The template as its features are named."""
    head = template.pieces[0] if template.pieces else ""
    return head.rstrip("=") if isinstance(head, str) else "a template"


def is_label_bigram(template: Template) -> bool:
    """Whether the template is an edge feature that looks at labels only."""
    return template.scope == "edge" and all(isinstance(piece, str) for piece in template.pieces)


def extracted(program: TemplateProgram) -> list[Template]:
    """The templates that features are extracted by, in the order of their numbers in the core."""
    return [template for template in program.templates if not is_label_bigram(template)]


def looks_at_lists(program: TemplateProgram, template: Template) -> bool:
    """Whether a phrase list is among what the template looks at."""
    values = (piece for piece in template.pieces if isinstance(piece, Value) and piece.attribute >= 0)
    return any(program.attributes[value.attribute].function.endswith("list") for value in values)


def has_label_bigram(program: TemplateProgram) -> bool:
    """Whether the program learns label transitions."""
    return any(is_label_bigram(template) for template in program.templates)


def edge_templates(program: TemplateProgram) -> list[str]:
    """Templates that look at two labels and at something else, as they are written."""
    return [shown(template) for template in extracted(program) if template.scope == "edge"]


def has_ends(program: TemplateProgram) -> bool:
    """Whether the program learns which labels stand first and last."""
    return program.ends and has_label_bigram(program)


def load_phrases(program: TemplateProgram) -> dict[str, _core.PhraseSet]:
    """The phrase lists in files that the program names: a phrase a line, tokens separated by blanks."""
    in_files = {name: path for name, path in program.lists.items() if name not in program.dictionary}
    return {name: _phrase_set(name, path) for name, path in in_files.items()}


def _phrase_set(name: str, path: str) -> _core.PhraseSet:
    try:
        phrases = [line.split() for _, line in read_numbered(path, "phrases") if line.strip()]
    except DataError as error:
        raise SettingsError(f"list '{name}': cannot read {path}: {error.message}.") from error
    if not phrases:
        raise SettingsError(f"list '{name}': there is no phrase in {path}.")
    return _core.PhraseSet(phrases)


def _fields(piece: str | Value) -> _PieceFields:
    if isinstance(piece, str):
        return (piece, -1, 0, False, [], [])
    return ("", piece.attribute, piece.offset, piece.absolute, list(piece.before), list(piece.after))


def _segment_fields(piece: str | Value) -> _SegmentPieceFields:
    if isinstance(piece, str):
        return (piece, 0, 0, "", [], [])
    before, after = list(piece.before), list(piece.after)
    return ("", max(piece.attribute, 0), piece.offset, piece.anchor or "token", before, after)
