"""The structure of labelled segments (semi-Markov): in training it answers a learner about examples, in use a
user about sentences.

An output is a label for each token in the scheme IOB2, which says where segments begin and end; see
docs/segments.md for the formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.corpus.blocks import Block
from marginalia.decode.decoder import ActiveFeature, Costs, DecoderFactory, Ids
from marginalia.decode.settings import StructureOptions
from marginalia.decode.terms import TermDecoder
from marginalia.errors import DataError
from marginalia.features.compiling import compile_segment_extractor, has_ends, has_label_bigram
from marginalia.features.program import TemplateProgram
from marginalia.model import SavedModel

MOST_TOKENS = 1000  # kMostTokens of core/search/segments/shape.hpp


@dataclass(frozen=True, kw_only=True)
class SegmentSettings(Settings):
    """Settings of segments."""

    max_length: int | str = setting(
        10,
        "Tokens of the longest segment. Longer ones of the training data are cut into pieces (and counted); "
        "auto: as long as the longest of them.",
        1,
        MOST_TOKENS,
        words=("auto",),
        changeable=True,
    )


ENCODING = "IOB2"

_MOST_LABELS = 4096  # transitions take 8 bytes per pair of labels
NO_LABEL = 2**32 - 1


def segment_shape(
    labels: Sequence[str], encoding: str | None, own: SegmentSettings, program: TemplateProgram
) -> _core.SegmentShape:
    """The types of segments that labels in IOB2 spell; plain tags are segments of one token."""
    return _core.SegmentShape(*shape_arguments(labels, encoding, own, program))


def shape_arguments(
    labels: Sequence[str], encoding: str | None, own: SegmentSettings, program: TemplateProgram
) -> tuple[npt.NDArray[np.uint32], int, bool, bool]:
    """What shapes are made of: labels inside segments, the longest ones, which constants there are."""
    if len(labels) > _MOST_LABELS:
        raise DataError(
            f"found {len(labels)} distinct labels, expected at most {_MOST_LABELS} for segments. "
            f"Is '{labels[0]}' from the column of labels?"
        )
    if encoding not in (None, ENCODING):
        raise ValueError(f"segments: labels are spelled in {encoding}, expected {ENCODING}")
    if not isinstance(own.max_length, int):
        raise ValueError(f"segments: max-length is {own.max_length}, expected a number")
    inside = np.array(inside_labels(labels, encoding), np.uint32)
    return inside, own.max_length, has_label_bigram(program), has_ends(program)


def inside_labels(labels: Sequence[str], encoding: str | None) -> list[int]:
    """By label: the one that continues what it begins, itself if it continues, `NO_LABEL` if nothing does."""
    numbers = {label: i for i, label in enumerate(labels)}
    return [_inside(label, numbers) if encoding else NO_LABEL for label in labels]


def _inside(label: str, numbers: dict[str, int]) -> int:
    """The label of the tokens that continue a segment which this one begins; it itself if it continues."""
    if label == "O":
        return NO_LABEL
    return numbers[label] if label[0] == "I" else numbers.get(f"I{label[1:]}", NO_LABEL)


def fit_settings(own: SegmentSettings, lengths: Mapping[int, int]) -> tuple[SegmentSettings, list[str]]:
    """The settings with the greatest length of segments, and how many of the data are longer."""
    most = own.max_length
    if not isinstance(most, int):
        most = min(max(lengths, default=1), MOST_TOKENS)
    cut = sum(count for length, count in lengths.items() if length > most)
    notes = [f"cut {cut} segments of more than max-length={most} tokens into pieces"] if cut else []
    return replace(own, max_length=most), notes


def token_bytes(labels: int, own: SegmentSettings) -> int:
    """What the search for the k best outputs may keep for a token: scores of segments that begin there."""
    return 8 * (labels + 1) * (int(own.max_length) + 4)


class SegmentExtraction:
    """Sentences as values of tokens; features are made when they are needed."""

    def __init__(
        self,
        extractor: _core.SegmentExtractor,
        index: _core.FeatureIndex,
        options: StructureOptions[SegmentSettings],
    ) -> None:
        self.extractor, self.index = extractor, index

    def examples(self, tokens: int = 0) -> _core.SegmentExamples:
        """A batch without sentences."""
        return _core.SegmentExamples(self.index.keeps_names)

    def add(self, examples: _core.SegmentExamples, table: _core.TokenTable, *, grow: bool) -> None:
        """Append sentences."""
        examples.add(self.extractor, table)

    def count(self, table: _core.TokenTable) -> None:
        """Nothing is known of features before there are labels."""


class SegmentTraining:
    """Segments whose types are being learned: what a learner needs to know of them."""

    _make_shape: Callable[..., _core.SegmentShape] = staticmethod(segment_shape)
    _make_batch: Callable[..., Any] = _core.SegmentBatch

    def __init__(
        self,
        labels: Sequence[str],
        encoding: str | None,
        options: StructureOptions[Any],
        program: TemplateProgram,
        extraction: SegmentExtraction,
        costs: Costs | None = None,
    ) -> None:
        self._shape = self._make_shape(labels, encoding, options.own, program)
        self._extraction, self._cutoff, self._costs = extraction, options.cutoff, costs
        self.constants, self.row_width = self._shape.constants, self._shape.row_width
        # Rows are for features of right outputs, and of wrong ones that learning meets; learners that look
        # for no outputs, and cut-offs, leave the latter out.
        self._open = not options.supported_only and self._cutoff <= 1

    @property
    def grows(self) -> bool:
        """Whether features may get rows while learning goes on."""
        return self._open

    def set_gold(self, examples: _core.SegmentExamples, ids: Ids, sets: npt.NDArray[np.uint8]) -> None:
        """The right outputs; segments that are too long are cut."""
        examples.set_gold(ids, self._shape, sets)

    def choose_features(
        self, batches: Callable[[], Iterator[_core.SegmentExamples]], kept: list[Any]
    ) -> None:
        """Unless features come as they are met: those of the right outputs, seen often enough."""
        if self._open:
            return
        for examples in batches():
            self.batch(examples).count_features()
        if self._cutoff > 1:
            self._extraction.index.cut(self._cutoff, [])

    def batch(self, examples: _core.SegmentExamples) -> Any:
        """The examples as outputs of this structure."""
        extraction = self._extraction
        return self._make_batch(
            self._shape, extraction.extractor, examples, extraction.index, self._open, self._costs
        )

    def whole_batch(self, examples: _core.SegmentExamples, *documents: Any) -> Any:
        """The examples as outputs with global features (decode/global_training.py)."""
        extractor = self._extraction.extractor
        return _core.WholeSegmentBatch(self._shape, extractor, self._open, examples, *documents)


def _shape_of(saved: SavedModel) -> _core.SegmentShape:
    own = saved.settings_as(SegmentSettings, needs=("max-length",))
    return segment_shape(saved.labels, saved.encoding, own, saved.program)


class SegmentDecoder(TermDecoder[_core.SegmentShape]):
    """A saved model of segments, ready to use from any number of threads."""

    _factory = DecoderFactory(
        _shape_of,
        _core.SegmentModel,
        compile_segment_extractor,
        _core.SegmentSpace,
        labels_are_whole=False,
    )

    def expectations(self, block: Block, sentence: int) -> dict[str, Any]:
        """log Z, the probabilities of labels (`node`) and of segments (`segment`: first token, length - 1,
        type), and the expected neighbours of types."""
        found: dict[str, Any] = self._lattice(block, sentence).marginals()
        return found

    def _active_features(self, block: Block, sentence: int, ids: Sequence[int]) -> Iterator[ActiveFeature]:
        output, space = np.ascontiguousarray(ids, dtype=np.uint32), self._space()
        found = self._model.features_of(self._extractor(block), block.table, sentence, output, space)
        for first, last, inner, row, label, times, template, texts in found:
            yield ActiveFeature(row, label, times, first, last, inner, template, texts)

    def _parts_of(self, ids: Sequence[int]) -> list[tuple[int, int, int]]:
        firsts = [t for t, label in enumerate(ids) if not self._continues(label)]
        ends = [*firsts[1:], len(ids)]
        return [(ids[first], first, end - 1) for first, end in zip(firsts, ends, strict=True)]

    def _continues(self, label: int) -> bool:
        name = self._saved.labels[label]
        return self._saved.encoding is not None and name != "O" and name[0] == "I"
