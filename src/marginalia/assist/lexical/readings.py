"""How a word of a sentence is to be read: its lemma, part of speech and form; and a candidate in that form.

Tagger and lemmatiser have the first word. Where they say what WordNet cannot know (`monitore`; a noun
`binds`), forms are looked up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from marginalia.assist.english import inflect
from marginalia.assist.english.inflection import lemmas_of
from marginalia.assist.words import PARTS_OF_SPEECH, wordnet

UPOS = {pos: upos for upos, pos in PARTS_OF_SPEECH.items()}
_TAGS = {
    "n": ("NN", "NNS"),
    "v": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
    "a": ("JJ", "JJR", "JJS"),
    "r": ("RB", "RBR", "RBS"),
}


@dataclass(frozen=True)
class Reading:
    """A lemma that WordNet knows, its part of speech there (n v a r), and the Penn tag of the form."""

    lemma: str
    pos: str
    tag: str


@lru_cache(maxsize=20_000)
def readings(form: str, lemma: str, upos: str, tag: str) -> tuple[Reading, ...]:
    """All readings of a form, that of the tagger first; none if WordNet does not know the word."""
    form, own = form.lower(), PARTS_OF_SPEECH.get(upos)
    found = []
    for pos in sorted(UPOS, key=lambda each: each != own):
        lemmas = (*lemmas_of(form, UPOS[pos]), *((lemma.lower(),) if pos == own else ()), form)
        known = next((each for each in lemmas if wordnet().senses(each, pos)), None)
        if known is not None:
            found.append(
                Reading(known, pos, tag if pos == own and tag in _TAGS[pos] else _tag(form, known, pos))
            )
    return tuple(found)


def _tag(form: str, lemma: str, pos: str) -> str:
    if pos == "v":
        return next((tag for tag in ("VBZ", "VBG", "VBD", "VBN") if inflect(lemma, tag) == form), "VB")
    if pos == "n":
        return "NNS" if form != lemma and inflect(lemma, "NNS") == form else "NN"
    return _TAGS[pos][0]


@lru_cache(maxsize=50_000)
def form_of_candidate(lemma: str, pos: str, tag: str) -> str:
    """A candidate, which may be a phrase, in the form of the word that it stands for."""
    head, blank, rest = lemma.partition(" ")
    if pos == "v":
        return inflect(head, tag) + blank + rest
    if tag == "NNS":
        before, blank, last = lemma.rpartition(" ")
        return before + blank + inflect(last, tag)
    return inflect(lemma, tag) if tag in ("JJR", "JJS", "RBR", "RBS") else lemma
