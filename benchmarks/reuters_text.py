"""Reuters-21578 as tokenised text, a sentence a line: cut as the Penn Treebank cuts words, near enough."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

_END = re.compile(r"(?<=[.!?])[\"']?\s+(?=[\"'A-Z0-9<(])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Inc|Corp|Co|Ltd|Jan|Feb|Aug|Sept|Oct|Nov|Dec|St|vs|No)\.)$"
)
_TOKEN = re.compile(
    r"""\d[\d,./:-]*\d|\d            # numbers, dates, fractions
    |(?:[A-Z]\.)+[A-Z]?              # U.S.
    |(?:Mr|Mrs|Ms|Dr|Inc|Corp|Co|Ltd|Jan|Feb|Aug|Sept|Oct|Nov|Dec|St|vs|No)\.
    |'(?:s|S|re|ve|ll|d|m)\b|n't\b   # clitics
    |[A-Za-z]+(?=n't\b)
    |\w+(?:[-&/.]\w+)*               # words
    |\.\.\.|--|[^\w\s]""",
    re.VERBOSE,
)


def sentences(source: Path) -> Iterator[str]:
    """The sentences of all bodies, with blanks between tokens."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for line in lines:
            body = json.loads(line).get("body") or ""
            for paragraph in re.split(r"\n {3,}", body.replace("\x03", "")):
                yield from _cut(" ".join(paragraph.split()))


def untokenised(source: Path) -> Iterator[tuple[str, str]]:
    """The sentences of all bodies as they were written, each with its id: the story, and its number there."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        for story in map(json.loads, lines):
            body = (story.get("body") or "").replace("\x03", "")
            pieces = (p for part in re.split(r"\n {3,}", body) for p in _pieces(" ".join(part.split())))
            yield from ((f"{story['id']}:{number}", piece) for number, piece in enumerate(pieces))


def _cut(text: str) -> Iterator[str]:
    for piece in _pieces(text):
        tokens = _TOKEN.findall(piece)
        if len(tokens) > 2:
            yield " ".join(_quoted(tokens))


def _pieces(text: str) -> Iterator[str]:
    begin = 0
    for end in [*_END.finditer(text), None]:
        piece = text[begin : end.start() if end else len(text)]
        if end and _ABBREVIATION.search(piece):
            continue
        yield piece
        begin = end.end() if end else begin


def _quoted(tokens: list[str]) -> Iterator[str]:
    """Quotation marks as the treebank writes them: opening ones are two backquotes."""
    opened = False
    for token in tokens:
        if token == '"':
            opened = not opened
            token = "``" if opened else "''"
        yield token


def write_text(source: Path, target: Path) -> Path:
    """The text as a file."""
    with target.open("w", encoding="utf-8") as file:
        file.writelines(f"{sentence}\n" for sentence in sentences(source))
    return target
