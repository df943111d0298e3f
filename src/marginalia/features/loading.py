r"""From what a user names, a ready-made set or a template file of any of three kinds, to a program.

The kind of a file follows from its template lines, comments and empty lines aside. A line is *foreign* if
it begins with `U`, `B`, `u`, `b` or `*` and goes on with digits only, or has a macro such as `%x[0,0]`. A
file without foreign lines is in our language. A file with some is Wapiti's if one of them begins with `u`,
`b` or `*`, or has a command that CRF++ lacks (`%t`, `%m`, `%X`, `%T`, `%M`, `@`); else it is CRF++'s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from marginalia.errors import SettingsError
from marginalia.features.clusters import cased, word_files
from marginalia.features.list_templates import CLUSTER_TEMPLATES, LEXICON_TEMPLATES, LIST_TEMPLATES
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns, nearest, text_of_file
from marginalia.features.sets import (
    SETS,
    check_dictionary,
    load_set,
    text_of_set,
    with_lists,
    with_word_files,
)
from marginalia.features.settings import AS_WRITTEN

_FOREIGN = re.compile(r"[UBub*](?:\d*\s*$|.*%[xtmXTM]\[)")
_WAPITI = re.compile(r"[ub*]|.*%(?:[tmXTM]\[|x\[@)")


def file_kind(text: str) -> str:
    """ "crfpp", "wapiti" or "marginalia": the kind of a template file, by its text."""
    foreign = [line for line in text.removeprefix("\ufeff").splitlines() if _FOREIGN.match(line)]
    if not foreign:
        return "marginalia"
    return "wapiti" if any(_WAPITI.match(line) for line in foreign) else "crfpp"


def load_features(
    name_or_path: str,
    columns: Sequence[str],
    label: str,
    lists: Mapping[str, str] | None = None,
    list_templates: str = LIST_TEMPLATES,
    dictionary: Sequence[str] = (),
    clusters: Mapping[str, str] | None = None,
    cluster_templates: str = CLUSTER_TEMPLATES,
    cluster_case: str = AS_WRITTEN,
    lexicons: Mapping[str, str] | None = None,
    lexicon_templates: str = LEXICON_TEMPLATES,
) -> TemplateProgram:
    """The program of a ready-made set or of a template file, for data with these columns.

    A name of a set means the set; write `./pos` for a file of that name. `lists` (name: file) adds
    templates, `list_templates` of each, for phrase lists, matched against the first column; so do each
    label of a `dictionary` and, with templates of their own, `clusters` and `lexicons` (name: file). Those
    that the set or the file looks at itself, by name or by `*`, add none.
    """
    if not columns:
        raise SettingsError("features need data with at least one column.")
    check_dictionary(dictionary, lists or {})
    all_lists = {**(lists or {}), **dict.fromkeys(dictionary, "")}
    files = word_files(clusters or {}, lexicons or {}, cluster_case)
    onto = TemplateProgram((), (), lists=all_lists, word_files=files)
    if name_or_path in SETS:
        program = load_set(name_or_path, columns, label, onto)
    else:
        program = load_file(Path(name_or_path), Columns(columns, label), onto)
    seen = {(a.function, a.argument.partition(",")[0]) for a in program.attributes}
    new_lists = {name: path for name, path in all_lists.items() if ("list", name) not in seen}
    program = with_lists(program, new_lists, columns[0], list_templates)
    for function, templates in (("cluster", cluster_templates), ("lexicon", lexicon_templates)):
        new = {
            name: file
            for name, file in files.items()
            if bool(file.labels) == (function == "lexicon") and (function, name) not in seen
        }
        program = with_word_files(program, new, columns[0], templates)
    files = cased(program.word_files, cluster_case)
    return replace(program, dictionary=tuple(dictionary), word_files=files)


def text_of_features(name_or_path: str) -> str:
    """The templates of a set or a file as they are written; nothing if they cannot be read, or are made."""
    if name_or_path in SETS:
        return text_of_set(name_or_path)
    try:
        return text_of_file(Path(name_or_path))
    except SettingsError:
        return ""  # `load_features` says why, if that is an error


def load_file(path: Path, columns: Columns, onto: TemplateProgram | None = None) -> TemplateProgram:
    """The program of a template file of any kind; one in our language may look at what `onto` declares."""
    if not path.is_file():
        raise SettingsError(
            f"features: '{path}' is neither a ready-made set nor a template file. {nearest(str(path), SETS)}"
        )
    text = text_of_file(path)
    program = _parsed(text, columns, path, onto)
    if not program.templates:
        raise SettingsError(f"{path}: there is no template in this file.")
    return program


def _parsed(text: str, columns: Columns, path: Path, onto: TemplateProgram | None) -> TemplateProgram:
    """Only the language that the file is in gets loaded."""
    kind = file_kind(text)
    if kind == "crfpp":
        from marginalia.features.crfpp import parse_crfpp

        return parse_crfpp(text, columns, file=str(path))
    if kind == "wapiti":
        from marginalia.features.wapiti import parse_wapiti

        return parse_wapiti(text, columns, file=str(path))
    from marginalia.features.templates import parse_templates

    return parse_templates(text, columns, file=str(path), folder=path.parent, onto=onto)
