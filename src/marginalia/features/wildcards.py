"""Templates over every list, clusters, lexicon: `list(*)(word)[0]` is a template for each list there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from marginalia.features.program import WordFile
from marginalia.features.reading import Line

_EVERY_LIST = re.compile(r"(?<![\w-])((?:elsewhere-)?list)\(\s*\*\s*(\))")
_EVERY_CLUSTERS = re.compile(r"(?<![\w-])(cluster)\(\s*\*\s*(,)")
_EVERY_LEXICON = re.compile(r"(?<![\w-])(lexicon)\(\s*\*\s*([,)])")


def expanded(line: Line, lists: Collection[str], files: Mapping[str, WordFile]) -> Iterator[Line]:
    """The lines that a line stands for: in each of them `*` is one name throughout."""
    texts = [line.text]
    clusters = [name for name, file in files.items() if not file.labels]
    lexicons = [name for name, file in files.items() if file.labels]
    every_one = (_EVERY_LIST, lists), (_EVERY_CLUSTERS, clusters), (_EVERY_LEXICON, lexicons)
    for every, names in every_one:
        if every.search(line.text):
            texts = [every.sub(_named(name), text) for text in texts for name in names]
    return (replace(line, text=text) for text in texts)


def _named(name: str) -> Callable[[re.Match[str]], str]:
    """What a match is replaced by: not a text, in which a backslash would mean something."""
    return lambda found: f"{found[1]}({name}{found[2]}"
