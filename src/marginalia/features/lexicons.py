"""Templates over lexicons: what labels a model gave to a word in much text (corpus/lexicons.py).

`lexicon(words)(word)[0]` is a template for each label of the lexicon: whether it is a candidate for the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from marginalia import _core
from marginalia.corpus.lexicons import read_lexicon
from marginalia.errors import DataError, SettingsError
from marginalia.features.program import WordFile
from marginalia.features.reading import Line, nearest

_ARGUMENT = re.compile(
    r"(?P<name>[^\s(),|\"#]+)(?:\s*,\s*(?P<hows>[^\s(),|\"#]+(?:\s*\|\s*[^\s(),|\"#]+)*))?"
)
_EXPECTED = "a name and what to ask, as in lexicon(words)(word)[0] or lexicon(words,band|rank)(word)[0]"
BY_LABEL = ("candidate", "band", "rank")
"""What is asked of each label of a lexicon: is it one of the word's, how often was it seen, at which rank?"""
OF_ALL = ("set", "best")
"""What is asked of all labels of a word: which they are, which is the most frequent."""


def lexicon_arguments(line: Line, at: int, files: Mapping[str, WordFile]) -> tuple[tuple[str, ...], int]:
    """The arguments `name,how` and `name,how,label` that are meant there, and where the text of them ends."""
    found = _ARGUMENT.match(line.text, at)
    if not found:
        shown = line.text[at:].split()
        raise line.error(at, f"found '{shown[0] if shown else ''}', expected {_EXPECTED}.")
    known = {name: file for name, file in files.items() if file.labels}
    if found["name"] not in known:
        hint = nearest(found["name"], known)
        raise line.error(at, f"no 'lexicon {found['name']} = file' and no option declares it. {hint}")
    arguments: list[str] = []
    for how in (text.strip() for text in (found["hows"] or BY_LABEL[0]).split("|")):
        if how not in (*BY_LABEL, *OF_ALL):
            hint = nearest(how, (*BY_LABEL, *OF_ALL))
            raise line.error(found.start("hows"), f"'{how}' cannot be asked of a lexicon. {hint}")
        labels = known[found["name"]].labels if how in BY_LABEL else ("",)
        arguments += [f"{found['name']},{how}{',' * bool(label)}{label}" for label in labels]
    return tuple(arguments), found.end()


def lexicon_file(name: str, path: str) -> WordFile:
    """The file of a lexicon, with its labels: the templates depend on them."""
    if not Path(path).is_file():
        raise SettingsError(f"lexicon '{name}': cannot read {path}: there is no such file.")
    labels = dict.fromkeys(label for entry in read_lexicon(path) for label, _ in entry.counts)
    if not labels:
        raise SettingsError(f"lexicon '{name}': there is no word in {path}.")
    return WordFile(path, True, tuple(sorted(labels)))


def lexicon_files(paths: Mapping[str, str]) -> dict[str, WordFile]:
    """The files of lexicons by name."""
    return {name: lexicon_file(name, path) for name, path in paths.items()}


def lexicon_table(name: str, file: WordFile) -> _core.WordTable:
    """The table of words in a lexicon's file."""
    entries = list(read_lexicon(file.path))
    counts = np.array([min(entry.total, 2**63) for entry in entries], np.uint64)
    words = [entry.word for entry in entries]
    try:
        return _core.WordTable([entry.text for entry in entries], words, counts, file.any_case)
    except ValueError as error:
        raise DataError(
            f"lexicon '{name}': {error} of labels with bands: keep only those seen more often (--min-count)",
            file=file.path,
        ) from None
