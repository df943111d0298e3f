"""Words: how familiar they are, what they mean, and what could be said instead."""

from __future__ import annotations

from .familiarity import Familiarity, familiarity, kanji_grade
from .offensive import is_offensive
from .plainer import plainer_phrases
from .wordnet import PARTS_OF_SPEECH, Sense, Synset, WordNet, wordnet

__all__ = [
    "PARTS_OF_SPEECH",
    "Familiarity",
    "Sense",
    "Synset",
    "WordNet",
    "familiarity",
    "is_offensive",
    "kanji_grade",
    "plainer_phrases",
    "wordnet",
]
