"""From raw text to words, tags, lemmas and trees: the parts of a bundle at work, one after the other."""

from marginalia.decode.pipeline.pipeline import GIVEN, ParsedDocument, Pipeline

__all__ = ["GIVEN", "ParsedDocument", "Pipeline"]
