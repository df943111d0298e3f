"""What readability formulas count in a text: sentences, words, letters, syllables, words of certain kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .syllables import syllables

if TYPE_CHECKING:
    from ...corpus.document import ParsedSentence

WORDS = re.compile(r"[^\W_]+(?:[-'’.,&][^\W_]+)*")
_PARTS = re.compile(r"[^\W_]+")
_EASY_ENDINGS = re.compile(r"(?:es|ed|ing)$")


@dataclass(frozen=True)
class Counts:
    """Counts of an English text.

    A word is what has a letter or a digit, with hyphens, apostrophes, points and commas inside: `well-known`,
    `don't` and `3,000` are one word each. `polysyllables` have three syllables or more. `complex_words` are
    those of them that the Gunning fog index counts: no names, no compounds of shorter words, and not only
    because of -es, -ed or -ing. `unfamiliar` words are those that the Dale-Chall formula counts here.
    """

    sentences: int
    words: int
    letters: int
    characters: int
    syllables: int
    polysyllables: int
    complex_words: int
    unfamiliar: int

    def to_dict(self) -> dict[str, int]:
        """All counts by name."""
        return asdict(self)


def count(sentences: Iterable[ParsedSentence], is_familiar: Callable[[str], bool]) -> Counts:
    """Counts of parsed sentences; those without a word do not count."""
    number = 0
    words: list[tuple[str, bool]] = []
    for sentence in sentences:
        found = list(_words_of(sentence))
        number += bool(found)
        words += found
    forms = [form for form, _ in words]
    lengths = [syllables(form) for form in forms]
    return Counts(
        sentences=number,
        words=len(forms),
        letters=sum(character.isalpha() for form in forms for character in form),
        characters=sum(character.isalnum() for form in forms for character in form),
        syllables=sum(lengths),
        polysyllables=sum(length >= 3 for length in lengths),
        complex_words=sum(not name and is_complex(form) for form, name in words),
        unfamiliar=sum(not name and not _familiar(form, is_familiar) for form, name in words),
    )


def is_complex(word: str) -> bool:
    """Whether the Gunning fog index counts a word that is no name: three syllables, not of compounds or
    endings alone."""
    if "-" in word or syllables(word) < 3:
        return False
    stem = _EASY_ENDINGS.sub("", word.lower())
    return stem == word.lower() or syllables(stem) >= 3 or syllables(stem + "e") >= 3


def _words_of(sentence: ParsedSentence) -> Iterable[tuple[str, bool]]:
    """Words of a sentence, and whether they are names."""
    names = {word.form for word in sentence.words if word.upos == "PROPN"}
    text = sentence.text or " ".join(token.form for token in sentence.tokens)
    for form in WORDS.findall(text):
        parts = _PARTS.findall(form)
        yield form, form in names or any(part in names for part in parts[:1])


def _familiar(form: str, is_familiar: Callable[[str], bool]) -> bool:
    """Numbers are familiar, and compounds of familiar words."""
    whole = form.lower().replace("’", "'")
    if not any(character.isalpha() for character in whole) or is_familiar(whole):
        return True
    parts = whole.removesuffix("'s").split("-")
    return all(is_familiar(part) for part in parts if part)
