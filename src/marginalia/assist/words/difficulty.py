"""How difficult an English word is in its sentence, 0 (everybody knows it) to 1.

The model is logistic: of named features of the word (frequency, length, letters, senses) and of the
words around it. `tools/make_difficulty.py` learns it from CompLex, where many people judged each word.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import numpy as np

from ..english.inflection import lemmas_of
from ..readability.syllables import syllables
from .contexts import contexts, unit
from .familiarity import zipf
from .packed import SHIPPED, read_packed
from .wordnet import PARTS_OF_SPEECH, Sense, wordnet

Features = dict[str, float]

_STEPS = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 5.5)  # frequencies at which a curve may bend
_FUNCTION_WORD = 6.3  # more frequent ones tell nothing of what a sentence is about
_ABOVE = 6  # steps of the hierarchy of nouns, from its top


def difficulty(word: str, around: Sequence[str] = ()) -> float:
    """How difficult a word is, with the words of its sentence (itself among them, or not)."""
    return probability(shipped_weights(), difficulty_features(word, around))


def probability(weights: dict[str, float], features: Features) -> float:
    """1 / (1 + exp −Σ weight · value)."""
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1 / (1 + math.exp(-score))


def difficulty_features(word: str, around: Sequence[str]) -> Features:
    """All features by their names."""
    return {**_word_features(word), **_sentence_features(word.lower(), [each.lower() for each in around])}


@lru_cache(maxsize=20_000)
def _word_features(word: str) -> Features:
    low = word.lower()
    features = {"bias": 1.0, "capital": float(word[:1].isupper()), **_form_features(low)}
    features["seen"] = math.log1p(contexts().count(low)) / 4
    lemmas = {low, *(lemma for upos in PARTS_OF_SPEECH for lemma in lemmas_of(low, upos))}
    frequency, of_lemma = zipf(low, "en"), max(zipf(lemma, "en") for lemma in lemmas)
    for name, value in (("frequency", frequency), ("frequency of lemma", of_lemma)):
        features[name] = value / 2
        features |= {f"{name} below {step}": max(0.0, step - value) / 2 for step in _STEPS}
    features["unknown"] = float(frequency == 0)
    features["long and rare"] = len(low) / 10 * (6 - of_lemma) / 3
    return features | _meaning_features(lemmas)


def _form_features(low: str) -> Features:
    length, count, bounded = len(low), syllables(low), f"<{low}>"
    features = {
        "length": length / 10,
        "longer than 6": max(0, length - 6) / 5,
        "longer than 9": max(0, length - 9) / 5,
        "syllables": count / 4,
        "more than 3 syllables": max(0, count - 3) / 2,
    }
    for size in (2, 3, 4):
        for start in range(len(bounded) - size + 1):
            features[f"letters {bounded[start : start + size]}"] = 0.3
    return features


def _meaning_features(lemmas: set[str]) -> Features:
    senses = {pos: _senses(lemmas, pos) for pos in "nvar"}
    every = [sense for found in senses.values() for sense in found]
    features = {f"is {pos}": float(bool(found)) for pos, found in senses.items()}
    features["senses"] = math.log1p(len(every)) / 2
    features["in tagged text"] = math.log1p(sum(sense.count for sense in every)) / 4
    others = {lemma for found in senses.values() for sense in found[:2] for lemma in sense.synset.lemmas}
    features["easiest synonym"] = max((zipf(lemma, "en") for lemma in others - lemmas), default=0.0) / 5
    if senses["n"]:
        above = list(_hypernyms(senses["n"][0]))
        features["depth"] = len(above) / 10
        features |= {f"a kind of {lemma}": 0.5 for lemma in above[::-1][:_ABOVE]}
    return features


def _senses(lemmas: set[str], pos: str) -> list[Sense]:
    return [sense for lemma in sorted(lemmas) for sense in wordnet().senses(lemma, pos)]


def _hypernyms(sense: Sense) -> Iterator[str]:
    """The first lemma of each synset above a sense, upwards."""
    synset = sense.synset
    for _ in range(20):
        if not synset.hypernyms:
            return
        synset = wordnet().synset(synset.hypernyms[0])
        yield synset.lemmas[0]


def _sentence_features(low: str, around: Sequence[str]) -> Features:
    others = [word for word in around if word != low and word.isalpha()]
    if not others:
        return {"no sentence": 1.0}
    frequencies = [zipf(word, "en") for word in others]
    telling = [word for word, own in zip(others, frequencies, strict=True) if own < _FUNCTION_WORD]
    features = _topic_features(telling)
    features["frequency around"] = sum(frequencies) / len(frequencies) / 2
    features["rarest around"] = min(frequencies) / 3
    features["words around"] = min(60, len(others)) / 30
    return features


def _topic_features(words: Sequence[str]) -> Features:
    """What words are about: the direction of their vectors."""
    found = [vector for word in words if (vector := contexts().vector(word)) is not None]
    if not found:
        return {"topic unknown": 1.0}
    direction = unit(np.sum(found, axis=0, dtype=np.float32))
    return {f"topic {number}": 2 * float(value) for number, value in enumerate(direction)}


@cache
def shipped_weights() -> dict[str, float]:
    """The built-in model."""
    rows = (
        line.rpartition("\t") for line in read_packed(str(SHIPPED / "en" / "difficulty.words"), "weights")
    )
    return {name: float(value) for name, _, value in rows}
