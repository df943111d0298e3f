"""Templates over every list or all clusters: `list(*)(word)[0]` is a template for each list there is."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace

from marginalia.features.reading import Line

_EVERY_LIST = re.compile(r"(?<![\w-])list\(\s*\*\s*\)")
_EVERY_CLUSTERS = re.compile(r"(?<![\w-])cluster\(\s*\*\s*,")


def expanded(line: Line, lists: Collection[str], clusters: Collection[str]) -> Iterator[Line]:
    """The lines that a line stands for: in each of them `*` is one name throughout."""
    texts = [line.text]
    if _EVERY_LIST.search(line.text):
        texts = [_EVERY_LIST.sub(lambda _, n=name: f"list({n})", text) for text in texts for name in lists]
    if _EVERY_CLUSTERS.search(line.text):
        texts = [
            _EVERY_CLUSTERS.sub(lambda _, n=name: f"cluster({n},", text)
            for text in texts
            for name in clusters
        ]
    return (replace(line, text=text) for text in texts)
