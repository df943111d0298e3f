"""Templates over every list or all clusters: `list(*)(word)[0]` is a template for each list there is."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from marginalia.features.reading import Line

_EVERY_LIST = re.compile(r"(?<![\w-])((?:elsewhere-)?list)\(\s*\*\s*(\))")
_EVERY_CLUSTERS = re.compile(r"(?<![\w-])(cluster)\(\s*\*\s*(,)")


def expanded(line: Line, lists: Collection[str], clusters: Collection[str]) -> Iterator[Line]:
    """The lines that a line stands for: in each of them `*` is one name throughout."""
    texts = [line.text]
    for every, names in ((_EVERY_LIST, lists), (_EVERY_CLUSTERS, clusters)):
        if every.search(line.text):
            texts = [every.sub(_named(name), text) for text in texts for name in names]
    return (replace(line, text=text) for text in texts)


def _named(name: str) -> Callable[[re.Match[str]], str]:
    """What a match is replaced by: not a text, in which a backslash would mean something."""
    return lambda found: f"{found[1]}({name}{found[2]}"
