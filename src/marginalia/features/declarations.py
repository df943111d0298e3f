"""Lines of template files that are no templates: they declare lists, clusters and lexicons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from marginalia.features.lexicons import lexicon_file
from marginalia.features.program import ProgramBuilder, WordFile
from marginalia.features.reading import Line, lines
from marginalia.features.wildcards import expanded

_NAME = re.compile(r"[^\W\d][\w.-]*")
_DECLARATION = re.compile(
    r"\s*(?P<what>list|clusters|lexicon)\s+(?P<name>[^\s=(]+)\s*=\s*(?P<path>.*?)\s*(?:\s#.*)?$"
)


def declare(text: str, file: str, folder: Path, builder: ProgramBuilder) -> None:
    """The files that a text names."""
    seen = set()
    for line in lines(text, file):
        found = _DECLARATION.match(line.text)
        if not found:
            continue
        what, name, path = found.group("what", "name", "path")
        if not _NAME.fullmatch(name) or not path:
            raise line.error(found.start("name"), f"expected '{what} name = file'.")
        if (what, name) in seen:
            verb = "are" if what == "clusters" else "is"
            raise line.error(found.start("name"), f"the {what} '{name}' {verb} declared twice.")
        seen.add((what, name))
        if what == "list":  # what users name is there already, and goes before
            builder.lists.setdefault(name, str(folder / path))
        elif name in builder.word_files:
            if bool(builder.word_files[name].labels) != (what == "lexicon"):
                raise line.error(found.start("name"), f"there are clusters or a lexicon '{name}' already.")
        elif what == "lexicon":
            builder.word_files[name] = lexicon_file(name, str(folder / path))
        else:
            builder.word_files[name] = WordFile(str(folder / path))


def template_lines(text: str, file: str, builder: ProgramBuilder) -> Iterator[Line]:
    """The lines of a text that are templates, one for each list, clusters or lexicon that `*` stands for."""
    for line in lines(text, file):
        if line.text.split("#")[0].strip() and not _DECLARATION.match(line.text):
            yield from expanded(line, builder.lists, builder.word_files)
