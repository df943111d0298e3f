"""Models in use: a saved model and a sentence give a structure."""

from marginalia.decode.chain import ChainDecoder, Contribution
from marginalia.decode.tagger import Tagged, Tagger, load

__all__ = ["ChainDecoder", "Contribution", "Tagged", "Tagger", "load"]
