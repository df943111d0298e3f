"""Words that are never offered: WordNet calls them obscene or insulting, or our own list has them."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from .packed import SHIPPED
from .wordnet import PARTS_OF_SPEECH, Sense, wordnet

_GLOSS = re.compile(
    r"\b(obscene|offensive|vulgar|insulting|derogatory|disparaging)( and \w+)? "
    r"(terms?|names?|words?|slang) (for|of)\b"
    r"|\bslang for (sexual|fellatio|masturbation)\b"
)
_LEAST_SHARE = 0.2  # of a word's use that such senses have


@lru_cache(maxsize=20_000)
def is_offensive(phrase: str) -> bool:
    """Whether a word or phrase, or a word of it, is vulgar or insults people."""
    parts = {phrase, *re.split(r"[ -]", phrase)}
    return not parts.isdisjoint(_listed()) or any(_is_marked(part) for part in parts)


def _is_marked(lemma: str) -> bool:
    senses = [sense for pos in PARTS_OF_SPEECH.values() for sense in wordnet().senses(lemma, pos)]
    marked = [sense for sense in senses if _GLOSS.search(sense.synset.gloss)]
    return bool(marked) and _weight(marked) >= _LEAST_SHARE * _weight(senses)


def _weight(senses: list[Sense]) -> int:
    return sum(sense.count + 1 for sense in senses)


@cache
def _listed() -> frozenset[str]:
    text = (SHIPPED / "en" / "offensive.txt").read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))
