"""Paraphrase rules in three layers: text that a teacher writes, patterns of trees, operators on trees."""

from __future__ import annotations

from marginalia.assist.paraphrase.engine import Budget, Paraphrase, RuleSet, Step, load
from marginalia.assist.paraphrase.learning import Candidate, learn
from marginalia.assist.paraphrase.matching import Pattern, parse_pattern

__all__ = [
    "Budget",
    "Candidate",
    "Paraphrase",
    "Pattern",
    "RuleSet",
    "Step",
    "learn",
    "load",
    "parse_pattern",
]
