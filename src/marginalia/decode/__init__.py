"""Models in use: a saved model and a sentence give a structure."""

from marginalia.decode.chain import ChainDecoder
from marginalia.decode.decoder import Contribution
from marginalia.decode.foreign import convert
from marginalia.decode.segments import SegmentDecoder
from marginalia.decode.tagged import Tagged
from marginalia.decode.tagger import Tagger, load

__all__ = ["ChainDecoder", "Contribution", "SegmentDecoder", "Tagged", "Tagger", "convert", "load"]
