"""Words of a sentence that are hard for a reader, by how frequent they are and when learners meet them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from marginalia.assist.furigana import reading
from marginalia.assist.profile import Profile
from marginalia.assist.records import WordReport
from marginalia.assist.words import Familiarity, familiarity

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence
    from marginalia.corpus.words import Word

CONTENT = frozenset({"NOUN", "VERB", "ADJ", "ADV"})

FREQUENT = {"beginner": (5.0, 4.3, 3.5), "intermediate": (4.3, 3.7, 3.0), "advanced": (3.5, 3.0, 2.3)}
"""By level: words are easy from this frequency on (Zipf), fair, hard, and very hard below the last."""

LEARNED = {"beginner": ("N4", "N3", "N2"), "intermediate": ("N3", "N2", "N1"), "advanced": ("N1", "", "")}
"""By level: words of Japanese are easy up to this level of the JLPT, fair, hard, and very hard behind it."""

_LONGEST_COMPOUND = 4  # words
_SUFFIX = "接尾辞"
_JLPT = ("N5", "N4", "N3", "N2", "N1", "")
_WORD = re.compile(r"[^\W\d_]")
_FREQUENCY = (
    (5.0, "everyday"),
    (4.0, "common"),
    (3.0, "uncommon"),
    (0.01, "rare"),
    (-1.0, "not in the list of words"),
)


def word_reports(sentence: ParsedSentence, language: str, profile: Profile) -> tuple[WordReport, ...]:
    """The words that are not easy, in the order of the sentence; of Japanese also those that are, if it is
    known how they are read."""
    known = _folded(profile.known)
    grouped = _compounds(sentence.words) if language == "ja" else ((word,) for word in sentence.words)
    reports = (_report(words, sentence, language, profile.level, known) for words in grouped)
    return tuple(report for report in reports if report is not None)


def _compounds(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """Words one by one, but nouns together that are one word in the lists for learners (図書 and 館)."""
    done = 0
    while done < len(words):
        end = min(done + _LONGEST_COMPOUND, len(words))
        while end > done + 1 and not _is_compound(words[done:end]):
            end -= 1
        yield words[done:end]
        done = end


def _is_compound(words: Sequence[Word]) -> bool:
    joined = "".join(word.form for word in words)
    nouns = all(word.upos in ("NOUN", "NUM") for word in words)
    return (
        nouns
        and words[-1].end - words[0].start == len(joined)
        and familiarity(joined, "ja").level is not None
    )


@lru_cache(maxsize=64)
def _folded(terms: tuple[str, ...]) -> frozenset[str]:
    return frozenset(term.casefold() for term in terms)


def _report(
    words: Sequence[Word], sentence: ParsedSentence, language: str, level: str, known: Collection[str]
) -> WordReport | None:
    first, last = words[0], words[-1]
    form, lemma = (first.form, first.lemma) if first is last else ("".join(w.form for w in words),) * 2
    own = familiarity(form, language) if last.upos in CONTENT and _WORD.search(form) else None
    band = 0
    if own is not None and not {form.casefold(), lemma.casefold()} & set(known):
        own = max(own, familiarity(lemma, language), key=lambda one: one.zipf)
        band = band_of(own, level)
    read = _reading(form, lemma, first) if language == "ja" else ""
    if own is None or not (band or read):
        return None
    start, end = first.start - sentence.start, last.end - sentence.start
    return WordReport(
        start, end, form, lemma, last.upos, band, own.zipf, own.level or "", read, reason_of(own)
    )


def _reading(form: str, lemma: str, word: Word) -> str:
    """How a word is read; suffixes and counters are read in other ways than the words they look like."""
    return "" if word.xpos.startswith(_SUFFIX) else reading(form, lemma)


def band_of(word: Familiarity, level: str) -> int:
    """How hard a word is for readers of a level, 0 to 3; one in a list for learners counts as there."""
    by_frequency = sum(word.zipf < limit for limit in FREQUENT[level])
    if word.language != "ja" or word.level is None:
        return by_frequency
    learned = _JLPT.index(word.level)
    return min(sum(learned > _JLPT.index(limit) for limit in LEARNED[level]), by_frequency + 1)


def reason_of(word: Familiarity) -> str:
    """What is known of how familiar a word is, in words."""
    name = next(name for least, name in _FREQUENCY if word.zipf >= least)
    times = f", {_per_million(word.zipf)} in a million words" if word.zipf else ""
    level = f"; {word.level} in the JLPT" if word.level else ""
    return f"{name}{times}{level}"


def _per_million(zipf: float) -> str:
    count = 10 ** (zipf - 3)
    return f"about {count:.0f}" if count >= 1.5 else "about once" if count >= 0.75 else "less than once"
