"""What speaks for a candidate in a sentence, as numbers with names: the features of the ranker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from marginalia.assist.words import wordnet
from marginalia.assist.words.contexts import Contexts, Vector, contexts, unit
from marginalia.assist.words.familiarity import zipf

from .candidates import Candidate, Link, candidates
from .readings import Reading, form_of_candidate, readings

Features = dict[str, float]

_NEAR = 8  # words on each side that make the context


@dataclass(frozen=True)
class Token:
    """What is known of a word of a sentence."""

    form: str
    lemma: str
    upos: str
    tag: str


@dataclass(frozen=True)
class Place:
    """A word in its sentence, and what counts say of the words around it."""

    word: str
    left: str
    right: str
    known: Contexts
    context: Vector | None

    @classmethod
    def of(cls, tokens: Sequence[Token], number: int, known: Contexts) -> Place:
        """The place of a word."""
        low = [token.form.lower() for token in tokens]
        near = [low[i] for i in _around(tokens, number)]
        found = [vector for word in near if (vector := known.vector(word)) is not None]
        return cls(
            low[number],
            low[number - 1] if number else ".",
            low[number + 1] if number + 1 < len(low) else ".",
            known,
            unit(np.sum(found, axis=0, dtype=np.float32)) if found else None,
        )


@dataclass(frozen=True)
class Choice:
    """A candidate in the form that it would have, with its features."""

    form: str
    reading: Reading
    candidate: Candidate
    features: Features


def choices(tokens: Sequence[Token], number: int, most_readings: int = 1) -> list[Choice]:
    """All candidates for a word; those of less likely readings come last, each form once."""
    token, place = tokens[number], Place.of(tokens, number, contexts())
    found: dict[str, Choice] = {}
    for order, reading in enumerate(readings(token.form, token.lemma, token.upos, token.tag)[:most_readings]):
        for candidate in candidates(reading.lemma, reading.pos):
            form = form_of_candidate(candidate.lemma, reading.pos, reading.tag)
            if form not in found and form not in (place.word, reading.lemma):
                features = dict(word_features(place.word, reading, candidate, form))
                features |= context_features(place, reading, form)
                if order:
                    features["other reading"] = 1.0
                found[form] = Choice(form, reading, candidate, features)
    return list(found.values())


@lru_cache(maxsize=50_000)
def word_features(word: str, reading: Reading, candidate: Candidate, form: str) -> Features:
    """What can be said without the sentence: links, frequency, form."""
    features = {"kinds": float(len({link.kind for link in candidate.links}))}
    for kind in dict.fromkeys(link.kind for link in candidate.links):
        features |= _link_features(kind, [link for link in candidate.links if link.kind == kind])
    own, other = zipf(form, "en"), zipf(word, "en")
    shared = _shared(candidate.lemma, reading.lemma)
    return features | {
        "frequency": own / 2,
        "below 4.5": max(0.0, 4.5 - own),
        "below 3.5": max(0.0, 3.5 - own),
        "more frequent": max(-2.0, min(3.0, own - other)),
        "rarer": float(own < other),
        "unknown": float(own == 0),
        "longer": (len(form) - len(word)) / 10,
        "long": max(0, len(form) - 8) / 5,
        "phrase": float(" " in form or "-" in form),
        "same stem": float(shared >= 5),
        "same beginning": shared / 10,
        "senses": math.log(1 + len(wordnet().senses(candidate.lemma, reading.pos))),
        "part of speech": share_of_pos(candidate.lemma, reading.pos),
    }


def _link_features(kind: str, links: Sequence[Link]) -> Features:
    rank = min(link.rank for link in links)
    return {
        kind: 1.0,
        f"{kind}: share of sense": max(link.share for link in links),
        f"{kind}: first sense": float(rank == 0),
        f"{kind}: sense of candidate": 1 / (1 + min(link.back for link in links)),
        f"{kind}: links": math.log(len(links)),
    }


def context_features(place: Place, reading: Reading, form: str) -> Features:
    """What counts of contexts say: whether the two are used alike, and whether the form fits its place."""
    known, words = place.known, form.split()
    vector = known.vector(form)
    features: Features = {}
    for name, other in (("use", known.vector(place.word)), ("use of lemma", known.vector(reading.lemma))):
        if vector is not None and other is not None:
            features[name] = 2 * float(vector @ other)
    if vector is None:
        features["use unknown"] = 1.0
    elif place.context is not None:
        features["context"] = 2 * float(vector @ place.context)
    features["left"], features["left count"] = known.follows(place.left, words[0])
    features["right"], features["right count"] = known.follows(words[-1], place.right)
    return features


def _around(tokens: Sequence[Token], number: int) -> list[int]:
    """Numbers of content words near a word."""
    near = range(max(0, number - _NEAR), min(len(tokens), number + _NEAR + 1))
    return [i for i in near if i != number and tokens[i].upos in ("NOUN", "VERB", "ADJ", "ADV")]


def _shared(left: str, right: str) -> int:
    """How many letters two words begin with are the same."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(left), len(right)))


@lru_cache(maxsize=20_000)
def share_of_pos(lemma: str, pos: str) -> float:
    """How much of a lemma's use in tagged text has a part of speech."""
    senses = {each: wordnet().senses(lemma, each) for each in "nvar"}
    counts = {each: sum(sense.count for sense in found) + 0.5 * bool(found) for each, found in senses.items()}
    return counts[pos] / sum(counts.values()) if any(counts.values()) else 0.0
