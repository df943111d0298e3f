"""Readers of corpora in which texts were made easier: OneStopEnglish and SNOW T15."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ONESTOP_LEVELS = {"ELE": "beginner", "INT": "intermediate", "ADV": "advanced"}
SNOW_HELD_OUT = 10
_BETWEEN = re.compile(r"\*{5,}")
_NO_LETTERS = re.compile(r"\W+")


@dataclass(frozen=True)
class Pair:
    """A sentence that was made easier, and what was made of it, with the levels that they were written for;
    `group` is the article that they are of."""

    harder: str
    easier: str
    levels: tuple[str, str]
    group: str


def onestop_texts(folder: Path) -> dict[str, dict[str, str]]:
    """The texts of OneStopEnglish: article -> level (ELE, INT, ADV) -> text."""
    texts: dict[str, dict[str, str]] = {}
    for path in sorted((folder / "Texts-SeparatedByReadingLevel").glob("*-Txt/*.txt")):
        level = path.parent.name[:3].upper()
        article = re.sub(r"-(adv|int|ele)\b.*", "", path.stem, flags=re.IGNORECASE).strip()
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        lines = text.splitlines()
        if lines and lines[0].strip().lower() in ("intermediate", "elementary", "advanced"):
            text = "\n".join(lines[1:])
        texts.setdefault(article, {})[level] = text
    return texts


def onestop_pairs(folder: Path) -> list[Pair]:
    """The aligned sentences of OneStopEnglish; those found in no text are of the article before."""
    letters = {
        article: " ".join(_letters(text) for text in levels.values())
        for article, levels in onestop_texts(folder).items()
    }
    pairs = []
    for path in sorted((folder / "Sentence-Aligned").glob("*.txt")):
        first, second = path.stem.split("-")
        article = next(iter(letters))
        for left, right in _aligned(path):
            article = _article_of((left, right), letters, article)
            harder, easier = (right, left) if first == "ELE" else (left, right)
            levels = (second, first) if first == "ELE" else (first, second)
            pairs.append(Pair(harder, easier, levels, article))
    return pairs


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).lower()


def _aligned(path: Path) -> Iterator[tuple[str, str]]:
    for block in _BETWEEN.split(path.read_text(encoding="utf-8-sig")):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if len(lines) == 2 and lines[0] != lines[1]:
            yield lines[0], lines[1]


def _article_of(sentences: tuple[str, str], articles: dict[str, str], before: str) -> str:
    """The article that has one of the sentences; the one of the pair before is looked at first."""
    for sentence in map(_letters, sentences):
        for article in (before, *articles):
            if sentence in articles[article]:
                return article
    return before


def snow_pairs(path: Path, *, held_out: bool = False) -> list[Pair]:
    """The pairs of SNOW T15 whose sentences differ, but for every tenth line of it; or those that this leaves
    out. Pairs of one original are of one group."""
    pairs = []
    for line in path.read_text(encoding="utf-8-sig").splitlines()[1:]:
        number, original, simplified, *_ = (part.strip() for part in line.split("\t"))
        if (int(number) % SNOW_HELD_OUT == 0) is held_out and original != simplified:
            pairs.append(Pair(original, simplified, ("ORIGINAL", "EASY"), original))
    return pairs
