"""The formats by name, and the guess from a file's suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ..errors import SettingsError
from .conll import read_conll, write_conll
from .conllu import read_conllu, write_conllu
from .jsonl import read_jsonl, write_jsonl
from .plain import read_plain, read_segmented, write_plain, write_segmented
from .records import Sentence


class Format(NamedTuple):
    """A reader `(source, **options) -> sentences` and a writer `(sentences, target, **options)`."""

    name: str
    read: Callable[..., Iterator[Sentence]]
    write: Callable[..., None]


FORMATS: dict[str, Format] = {
    "conll": Format("conll", read_conll, write_conll),
    "conllu": Format("conllu", read_conllu, write_conllu),
    "jsonl": Format("jsonl", read_jsonl, write_jsonl),
    "plain": Format("plain", read_plain, write_plain),
    "segmented": Format("segmented", read_segmented, write_segmented),
}
_SUFFIXES = {".conllu": "conllu", ".jsonl": "jsonl"}


def format_of(path: str | os.PathLike[str], name: str | None = None) -> Format:
    """The format called `name`, else by suffix (also before .gz): .conllu, .jsonl; all others are columns."""
    if name is None:
        suffix = os.path.splitext(os.fspath(path).removesuffix(".gz"))[1]
        name = _SUFFIXES.get(suffix.lower(), "conll")
    if name not in FORMATS:
        raise SettingsError(f"found format {name!r}, expected one of {', '.join(FORMATS)}")
    return FORMATS[name]
