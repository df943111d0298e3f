"""Temperatures for the parts of a pipeline, each fitted on a treebank that it was not trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from marginalia.corpus.blocks import Block, pack
from marginalia.corpus.document import Document
from marginalia.decode.pipeline import Pipeline
from marginalia.decode.pipeline.parts import EMPTY, PARSER, LabelPart, joined_label
from marginalia.errors import DataError
from marginalia.learn.calibration import calibrated
from marginalia.learn.pipeline import examples
from marginalia.learn.pipeline.plan import has_trees

_SENTENCES = 500  # of a block


def calibrated_pipeline(pipeline: Pipeline, gold: Document, threads: int = 1) -> Pipeline:
    """The pipeline with a temperature for each part of tags and for the parser, by which scores are
    probabilities of labels and arcs. Each part sees the tags that those before it predict."""
    annotator = pipeline.annotator
    if not annotator.tags:
        raise DataError("the pipeline has no part of tags, expected one to calibrate")
    lengths = examples.lengths_of(gold.sentences)
    columns = annotator.tagged(gold.words, lengths, given=False)
    right = examples.columns_of(gold)
    parts = dict(pipeline.bundle.parts)
    for part in annotator.tags:
        blocks = _blocks(part, columns, right, lengths)
        parts[part.name] = calibrated(part.tagger, blocks, part.tagger.saved.label, threads).saved
    if annotator.parser is not None and has_trees(gold):
        seen = annotator.for_parser(columns, lengths)
        blocks = _trees(annotator.parser.model.feature_columns, seen, gold, lengths)
        parts[PARSER] = calibrated(annotator.parser.model, blocks, "deprel", threads).saved
    return Pipeline(replace(pipeline.bundle, parts=parts))


def _trees(
    names: Sequence[str], columns: Mapping[str, list[str]], gold: Document, lengths: Sequence[int]
) -> list[Block]:
    """The words as the parser sees them, with their right arcs."""
    none = [EMPTY] * len(gold.words)
    named = {name: columns.get(name, none) for name in names}
    named["head"] = [EMPTY if word.head is None else str(word.head) for word in gold.words]
    named["deprel"] = [word.deprel for word in gold.words]
    return _packed(named, lengths)


def _blocks(
    part: LabelPart,
    columns: Mapping[str, list[str]],
    right: Mapping[str, list[str]],
    lengths: Sequence[int],
) -> list[Block]:
    """The words as a part sees them, with the right labels."""
    label = part.tagger.saved.label
    rows = [joined_label(row) for row in zip(*(right[name] for name in part.columns), strict=True)]
    named = {name: columns[name] for name in part.tagger.feature_columns} | {label: rows}
    return _packed(named, lengths)


def _packed(named: Mapping[str, list[str]], lengths: Sequence[int]) -> list[Block]:
    sentences = examples.sentences_of(named, lengths)
    return [pack(sentences[i : i + _SENTENCES], list(named)) for i in range(0, len(sentences), _SENTENCES)]
