"""Readability of sentences: two compared, and the difficulty of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..profile import LEVELS
from ..records import Reason
from ..trees import Tree
from .evidence import Evidence, evidence
from .model import Comparison, ReadabilityModel, shipped_model

if TYPE_CHECKING:
    from ...corpus.document import ParsedSentence


def sentence_difficulty(
    sentence: ParsedSentence | Tree | Sequence[ParsedSentence | Tree],
    language: str,
    level: str = LEVELS[1],
    model: ReadabilityModel | None = None,
) -> tuple[float, tuple[Reason, ...]]:
    """How difficult a parsed sentence (or several that say one thing) is for readers of a level, 0 (easy) to
    100 (hard), and what makes it harder than most, the weightiest first."""
    found = _evidence(sentence, language)
    model = model or shipped_model(language)
    return model.difficulty(found, level), model.reasons(found)


def compare_sentences(
    left: ParsedSentence | Tree | Sequence[ParsedSentence | Tree],
    right: ParsedSentence | Tree | Sequence[ParsedSentence | Tree],
    language: str,
    model: ReadabilityModel | None = None,
) -> Comparison:
    """How two parsed paraphrases, each of one sentence or several, compare."""
    return (model or shipped_model(language)).compare(_evidence(left, language), _evidence(right, language))


def _evidence(sentence: ParsedSentence | Tree | Sequence[ParsedSentence | Tree], language: str) -> Evidence:
    several = sentence if isinstance(sentence, Sequence) else [sentence]
    return evidence([one if isinstance(one, Tree) else Tree.of(one, language) for one in several])
