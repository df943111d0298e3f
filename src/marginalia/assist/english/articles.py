"""A or an, by the sound that the next word begins with."""

from __future__ import annotations

import re

# Spelled with a vowel, but beginning with the sound of "you" or "one".
_CONSONANT_SOUND = re.compile(
    r"uni(?![nmd])|unanim|us[aeu]|uti|ur[aeio]|uku|utop|ubiq|ukrain|ugand|uzbek|eu|ewe|ufo"
)
_ONE_WORDS = re.compile(r"(one|once)(?![a-z])|one-|oneself|oneness")
_SILENT_H = re.compile(r"hour|honest|honou?r|heir")
_LETTERS_WITH_VOWEL = set("AEFHILMNORSX")  # an F, an MP, but a UN force
_NUMBERS_WITH_VOWEL = re.compile(r"(8|11(?!\d)|18(?!\d)|11[,.]\d|18[,.]\d|1[18]\d{3}(?!\d)|1[18](?=-|th))")


def begins_with_vowel_sound(word: str) -> bool:
    """Whether a word is pronounced with a vowel first: hour, MP, 8; but not university, one, UN."""
    word = word.lstrip("\"'`“‘([$£€")
    if not word:
        return False
    if word[0].isdigit():
        return bool(_NUMBERS_WITH_VOWEL.match(word))
    letters = word.split("-")[0].replace(".", "")
    if letters.isupper() and _is_spelled_out(letters):
        return letters[0] in _LETTERS_WITH_VOWEL
    low = word.lower()
    if low[0] == "h":
        return bool(_SILENT_H.match(low))
    if low[0] == "o":
        return not _ONE_WORDS.match(low) and not low.startswith("oui")
    return low[0] in "aeiou" and not _CONSONANT_SOUND.match(low)


def _is_spelled_out(letters: str) -> bool:
    """Letter by letter: MP, FBI, NGO; not as a word: NATO, HUGE."""
    return len(letters) <= 3 or (len(letters) <= 5 and not set(letters) & set("AEIOU"))


def article_before(word: str) -> str:
    """`a` or `an`, whichever goes before this word."""
    return "an" if begins_with_vowel_sound(word) else "a"
