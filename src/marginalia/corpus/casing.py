"""Words that a text has more often in lower case than with a capital."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..errors import DataError
from .streams import Source, name_of, read_lines

_WORD = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?")  # a letter first; hyphens, apostrophes and stops only inside


class Casing(NamedTuple):
    """The words, sorted, and how many words there were, all and distinct."""

    words: list[str]
    tokens: int
    distinct: int


def lowercase_words(sources: Iterable[Source], least: int = 1) -> Casing:
    """Words that begin with a small letter more often than with a capital, at least `least` times.

    Sources are plain text or, by the suffix .jsonl (maybe .gz), JSON lines with a `text`; lines are read one
    after another.
    """
    lower: Counter[str] = Counter()
    upper: Counter[str] = Counter()
    for source in sources:
        for line in _texts(source):
            for word in _WORD.findall(line):
                if word[0].islower():
                    lower[word.lower()] += 1
                elif word[0].isupper():
                    upper[word.lower()] += 1
    found = sorted(word for word, count in lower.items() if count > upper[word] and count >= max(least, 1))
    return Casing(found, lower.total() + upper.total(), len(lower.keys() | upper.keys()))


def _texts(source: Source) -> Iterator[str]:
    name = name_of(source)
    records = name.removesuffix(".gz").endswith(".jsonl")
    for number, line in read_lines(source):
        if not records:
            yield line
            continue
        if not line.strip():
            continue
        try:
            text = json.loads(line)["text"]
        except (ValueError, KeyError, TypeError):
            raise DataError("expected a JSON object with a text", file=name, line=number) from None
        if not isinstance(text, str):
            raise DataError("expected a text under the key text", file=name, line=number)
        yield text
