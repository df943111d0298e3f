"""Readability: how hard sentences and texts are for a kind of reader, learned from comparisons, and why."""

from __future__ import annotations

from .comparing import compare_sentences, sentence_difficulty
from .features import feature_set, features
from .model import Comparison, ReadabilityModel, SideReason, load_model, shipped_model
from .questionnaire import Asked, Question, Questionnaire, read_questions
from .ratings import Answer, RatingsFile, rated_pairs, read_answers
from .scoring import SentenceScore, TextScore, compare, score

__all__ = [
    "Answer",
    "Asked",
    "Comparison",
    "Question",
    "Questionnaire",
    "RatingsFile",
    "ReadabilityModel",
    "SentenceScore",
    "SideReason",
    "TextScore",
    "compare",
    "compare_sentences",
    "feature_set",
    "features",
    "load_model",
    "rated_pairs",
    "read_answers",
    "read_questions",
    "score",
    "sentence_difficulty",
    "shipped_model",
]
