"""The formats by name, and the guess from a file's suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import SettingsError
from .records import Sentence


class Format(NamedTuple):
    """A format: the module of this room with its reader and writer, which is loaded when it is used."""

    name: str
    home: str
    options: tuple[str, ...] = ()  # what its reader takes, beside the columns
    labelled: bool = True  # whether it has a place for labels
    functions: str = ""  # what follows read_ and write_ in their names, if not the name

    @property
    def read(self) -> Callable[..., Iterator[Sentence]]:
        """The reader `(source, **options) -> sentences`."""
        reader: Callable[..., Iterator[Sentence]] = self._function("read")
        return reader

    @property
    def write(self) -> Callable[..., None]:
        """The writer `(sentences, target, **options)`."""
        writer: Callable[..., None] = self._function("write")
        return writer

    def _function(self, verb: str) -> Any:
        return getattr(
            import_module(f"marginalia.corpus.{self.home}"), f"{verb}_{self.functions or self.name}"
        )


FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        Format("conll", "conll", ("separator", "comments")),
        Format("conllu", "conllu", functions="conllu_columns"),
        Format("jsonl", "jsonl", ("tokenizer", "misaligned")),
        Format("plain", "plain", ("tokenizer",), labelled=False),
        Format("segmented", "segmented", ("tag_separator",)),
        Format("kytea", "kytea", ("tag_separator",)),
        Format("conllu-text", "conllu_text", ("tag_column",), functions="conllu_text"),
        Format("crfsuite", "crfsuite"),
    )
}
CANDIDATES = "candidates"
"""Lists of candidates as JSON lines (candidates.py): for models that choose one of each."""

EXPLICIT_FORMATS = ("crfsuite", CANDIDATES)
"""Those whose features are in the data; no templates make them."""

TREEBANK_TEXT = "conllu-text"
CUT_TEXT = ("segmented", "kytea", TREEBANK_TEXT)
"""Those of characters whose labels, in the scheme BMES, spell words."""

_SUFFIXES = {".conllu": "conllu", ".jsonl": "jsonl"}


def format_of(path: str | os.PathLike[str], name: str | None = None, *, labelled: bool = False) -> Format:
    """The format called `name`, else by suffix (also before .gz): .conllu, .jsonl; all others are columns.

    With `labelled`, an error if it has no place for labels.
    """
    if name is None:
        suffix = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1]
        name = _SUFFIXES.get(suffix.lower(), "conll")
    fitting = [known.name for known in FORMATS.values() if known.labelled or not labelled]
    if name not in FORMATS:
        raise SettingsError(f"found format {name!r}, expected one of {', '.join(fitting)}")
    if name not in fitting:
        raise SettingsError(
            f"found format {name!r}, which has no labels; expected one of {', '.join(fitting)}"
        )
    return FORMATS[name]
