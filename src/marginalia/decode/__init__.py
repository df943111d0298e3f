"""Models in use: a saved model and a sentence give a structure.

The names below are loaded when first used: a tagger needs no classifier.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marginalia.decode.chain import ChainDecoder
    from marginalia.decode.classifier import Classified, Classifier
    from marginalia.decode.constraints import (
        At,
        Before,
        Constraints,
        Count,
        Never,
        Only,
        given,
        read_constraints,
    )
    from marginalia.decode.decoder import Contribution, Term
    from marginalia.decode.explanation import Explanation, Reason, Side
    from marginalia.decode.imported import convert
    from marginalia.decode.model import TrainedModel
    from marginalia.decode.parser import Parsed, Parser
    from marginalia.decode.reranker import Candidate, Reranker
    from marginalia.decode.segments import SegmentDecoder
    from marginalia.decode.tagged import Tagged
    from marginalia.decode.tagged_text import TaggedText
    from marginalia.decode.tagger import Tagger

_HOMES = {
    "chain": "ChainDecoder",
    "classifier": "Classified Classifier",
    "constraints": "At Before Constraints Count Never Only given read_constraints",
    "decoder": "Contribution Term",
    "explanation": "Explanation Reason Side",
    "imported": "convert",
    "model": "TrainedModel",
    "parser": "Parsed Parser",
    "reranker": "Candidate Reranker",
    "segments": "SegmentDecoder",
    "tagged": "Tagged",
    "tagged_text": "TaggedText",
    "tagger": "Tagger",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "At",
    "Before",
    "Candidate",
    "ChainDecoder",
    "Classified",
    "Classifier",
    "Constraints",
    "Contribution",
    "Count",
    "Explanation",
    "Never",
    "Only",
    "Parsed",
    "Parser",
    "Reason",
    "Reranker",
    "SegmentDecoder",
    "Side",
    "Tagged",
    "TaggedText",
    "Tagger",
    "Term",
    "TrainedModel",
    "convert",
    "given",
    "read_constraints",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'marginalia.decode' has no attribute '{name}'")
    value = getattr(import_module(f"marginalia.decode.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME_OF])
