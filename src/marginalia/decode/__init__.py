"""Models in use: a saved model and a sentence give a structure."""

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
from marginalia.decode.segments import SegmentDecoder
from marginalia.decode.tagged import Tagged
from marginalia.decode.tagger import Tagger

__all__ = [
    "At",
    "Before",
    "ChainDecoder",
    "Classified",
    "Classifier",
    "Constraints",
    "Contribution",
    "Count",
    "Explanation",
    "Never",
    "Only",
    "Reason",
    "SegmentDecoder",
    "Side",
    "Tagged",
    "Tagger",
    "Term",
    "TrainedModel",
    "convert",
    "given",
    "read_constraints",
]
