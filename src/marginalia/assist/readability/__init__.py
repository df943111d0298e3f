"""Readability: how hard sentences and texts are for a kind of reader, learned from comparisons, and why."""

from __future__ import annotations

from .features import feature_set, features
from .questionnaire import Asked, Question, Questionnaire, read_questions
from .ratings import Answer, RatingsFile, rated_pairs, read_answers

__all__ = [
    "Answer",
    "Asked",
    "Question",
    "Questionnaire",
    "RatingsFile",
    "feature_set",
    "features",
    "rated_pairs",
    "read_answers",
    "read_questions",
]
