"""Ready-made sets of templates, each a text in our language under `sets/`.

They name the columns `word`, `pos` and `chunk`; `word` is the first column if none has that name. Lines
whose columns the data lack, or whose column is the label, are left out and noted in
`TemplateProgram.left_out`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from marginalia.errors import SettingsError
from marginalia.features.list_templates import LIST_TEMPLATES
from marginalia.features.program import TemplateProgram, WordFile
from marginalia.features.reading import Columns

SETS = (
    "pos",
    "chunking",
    "collins-np",
    "iwakura-chunking",
    "iwakura-pos",
    "names",
    "ner",
    "ner-rich",
    "ner-best",
    "characters",
    "fields",
    "segments",
    "segments-rich",
    "words",
    "words-tags",
    "ud-characters",
    "ud-unspaced",
    "ud-multiword",
    "ud-supertags",
    "ud-tags",
    "ud-tags-many",
    "ud-features",
    "ud-features-many",
    "ud-lemmas",
)
"""The names of the ready-made sets."""


def text_of_set(name: str) -> str:
    """The templates of a ready-made set, to be read or changed; the first line says what it is for."""
    from importlib import resources  # slow to load, and tagging does without

    return (resources.files("marginalia.features") / "sets" / f"{name}.txt").read_text(encoding="utf-8")


def load_set(
    name: str, columns: Sequence[str], label: str, onto: TemplateProgram | None = None
) -> TemplateProgram:
    """A ready-made set for data with these columns; an error if nothing of it applies to them. It may look
    at all lists and clusters that `onto` declares."""
    from marginalia.features.templates import parse_templates  # as above

    known = Columns(columns, label, {"word": columns[0]})
    program = parse_templates(text_of_set(name), known, file=f"set '{name}'", onto=onto, skip_missing=True)
    if not program.attributes:
        raise SettingsError(f"the feature set '{name}' uses no column of the data: {', '.join(columns)}.")
    return program


_UNNAMED = re.compile(r'[\s()"#]|^$')  # what cannot be the name of a list in templates


def check_dictionary(labels: Sequence[str], lists: Mapping[str, str]) -> None:
    """An error unless each label of a dictionary can be the name of a list beside these."""
    for label in labels:
        if _UNNAMED.search(label):
            raise SettingsError(
                f"dictionary: found the label '{label}'; a dictionary to learn with has labels without "
                "blanks, brackets, quotation marks or #."
            )
        if label in lists:
            raise SettingsError(f"dictionary: there is a list '{label}' already, which is one of its labels.")


def with_word_files(
    program: TemplateProgram, files: Mapping[str, WordFile], column: str, templates: str
) -> TemplateProgram:
    """The program with templates for word clusters or lexicons, of the words of a column."""
    for name, file in files.items():
        onto = replace(program, word_files={**program.word_files, name: file})
        program = _with_templates(onto, templates, name, column, f"'{name}'")
    return program


def with_lists(
    program: TemplateProgram, lists: Mapping[str, str], column: str, templates: str = LIST_TEMPLATES
) -> TemplateProgram:
    """The program with templates for phrase lists (name: file), matched against the words of a column."""
    for name, path in lists.items():
        onto = replace(program, lists={**program.lists, name: path})
        program = _with_templates(onto, templates, name, column, f"list '{name}'")
    return program


def _with_templates(
    onto: TemplateProgram, templates: str, name: str, column: str, file: str
) -> TemplateProgram:
    """The program with templates for the words of a column and a list or clusters of this name."""
    from marginalia.features.templates import parse_templates  # as above

    known = Columns((column,), label="", aliases={})
    return parse_templates(templates.format(name=name, column="token"), known, file=file, onto=onto)
