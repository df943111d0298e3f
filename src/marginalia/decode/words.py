"""The structure of words: segments of characters whose features also look at the word before, found by beam
search. In training it answers a learner about examples, in use a user about sentences.

An output is a label for each token in the scheme IOB2, as that of segments; docs/words.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from marginalia import _core
from marginalia.config import setting
from marginalia.decode.decoder import DecoderFactory
from marginalia.decode.segments import SegmentDecoder, SegmentSettings, SegmentTraining, shape_arguments
from marginalia.errors import DataError
from marginalia.features.compiling import compile_word_extractor
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel

_MOST_STATES = 2**32  # (max-length + 1) * types²: what the search under constraints tells apart


@dataclass(frozen=True, kw_only=True)
class WordSettings(SegmentSettings):
    """Settings of words."""

    word_beam: int = setting(
        8,
        "How many words (with their tags) search keeps at each place between two characters; 0: all, so that "
        "it is exact.",
        0,
        10_000,
        changeable=True,
    )
    update: str = setting(
        "max-violation",
        "Which part of a segmentation an update compares: up to where the beam lost gold, or up to where "
        "it is worst.",
        choices=("max-violation", "early"),
        changeable=True,
    )


def word_shape(
    labels: Sequence[str], encoding: str | None, own: WordSettings, program: TemplateProgram
) -> _core.WordShape:
    """Types and settings as the core knows them."""
    arguments = shape_arguments(labels, encoding, own, program)
    shape = _core.WordShape(*arguments, own.word_beam, own.update == "early")
    if (shape.most + 1) * shape.types**2 >= _MOST_STATES:
        raise DataError(
            f"found {shape.types} tags of words with max-length={shape.most}, expected fewer of them. "
            f"Is '{labels[0]}' from the column of labels?"
        )
    return shape


class WordTraining(SegmentTraining):
    """Words whose types are being learned: what a learner needs to know of them."""

    _make_shape = staticmethod(word_shape)
    _make_batch = _core.WordBatch


def _shape_of(saved: SavedModel) -> _core.WordShape:
    own = saved.settings_as(WordSettings, needs=("max-length", "word-beam"))
    return word_shape(saved.labels, saved.encoding, own, saved.program)


class WordDecoder(SegmentDecoder):
    """A saved model of words, ready to use from any number of threads."""

    _factory = DecoderFactory(
        _shape_of, _core.WordModel, compile_word_extractor, _core.WordSpace, labels_are_whole=False
    )
