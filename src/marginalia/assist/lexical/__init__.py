"""Simpler words for hard ones: candidates, what speaks for them, a ranker, and offers with their reasons."""

from .candidates import Candidate, Link, candidates
from .offers import LexicalOffer, LexicalRule, LexicalRules, lexical_offers
from .ranker import Ranked, Ranker, read_ranker, shipped_ranker

__all__ = [
    "Candidate",
    "LexicalOffer",
    "LexicalRule",
    "LexicalRules",
    "Link",
    "Ranked",
    "Ranker",
    "candidates",
    "lexical_offers",
    "read_ranker",
    "shipped_ranker",
]
