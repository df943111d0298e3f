"""Training and held-out data as examples: their features as rows, their labels as gold outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.corpus.coder import LabelCoder, LabelSet, number_labels, start_numbering
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.corpus.source import DataSource
from marginalia.decode.structures import Extraction, TrainingStructure
from marginalia.decode.threads import in_order
from marginalia.errors import DataError
from marginalia.kinds import OutputKind
from marginalia.kinds.kind import Scores, joined
from marginalia.learn.provenance import Origins, ProvenanceSettings
from marginalia.learn.recipe import Recipe
from marginalia.learn.warm import WarmStart
from marginalia.model import SavedModel

Ids = npt.NDArray[np.int32]
MakeExtraction = Callable[[_core.FeatureIndex], Extraction]


@dataclass(frozen=True, eq=False)
class ReadData:
    """What one reading of the training data gives: all labels, the features of all tokens, the numbers of
    their labels (`gold`; none if the data are streamed), and where examples come from."""

    coder: LabelCoder
    extraction: Extraction
    index: _core.FeatureIndex
    examples: Any
    gold: Ids
    sentences: int
    tokens: int
    units: int
    fingerprint: str
    origins: Origins


def read_data(
    source: DataSource,
    recipe: Recipe,
    make_extraction: MakeExtraction,
    warm: WarmStart | None,
    labels: Sequence[str] | LabelSet,
) -> ReadData:
    """Read a source once, after what is needed to find out about the scheme of its labels."""
    settings, source = recipe.settings, source.loaded()
    traced = isinstance(settings.learner, ProvenanceSettings) and settings.learner.provenance
    numbering = start_numbering(
        source,
        scheme=settings.data.scheme,
        encode=settings.data.encode,
        repair=settings.data.repair,
        start=labels if isinstance(labels, LabelSet) else None if warm is None else label_set(warm.saved),
        known=() if isinstance(labels, LabelSet) else labels,
    )
    # Of features that came without their names, nobody can tell them: then there are none at all.
    index = _core.FeatureIndex(settings.features.names and (warm is None or warm.has_names))
    if warm is not None:
        warm.seed(index)
    extraction = make_extraction(index)
    room = 0 if source.stream else sum(block.table.tokens for block in source.blocks())
    examples, gold, origins = extraction.examples(room), [np.zeros(0, np.int32)], Origins()
    sentences = tokens = examples_read = 0
    digest = hashlib.blake2b(digest_size=16)
    for block in source.blocks():
        digest.update(block.table.text)
        digest.update(block.table.attribute_bytes)
        ids, units = numbering.add(block), source.units(block)
        sentences += block.table.sentences
        tokens += block.table.tokens
        examples_read += units.table.sentences
        if traced:
            origins.add(block, units)
        with block.naming_errors():
            if source.stream:
                extraction.count(units.table)
            else:
                gold.append(ids)
                extraction.add(examples, units.table, grow=True)
    if not tokens:
        raise DataError("found no labelled sentences, expected at least one", file=source.name)
    return ReadData(
        numbering.coder(),
        extraction,
        index,
        examples,
        np.concatenate(gold),
        sentences,
        tokens,
        examples_read,
        digest.hexdigest(),
        origins,
    )


def label_set(saved: SavedModel) -> LabelSet:
    """The labels of a model to begin with."""
    return LabelSet(saved.labels, saved.scheme, saved.encoding)


class TrainingSet:
    """Examples with their gold outputs: kept in memory, or extracted again in each pass of a stream."""

    def __init__(self, source: DataSource, read: ReadData, structure: TrainingStructure) -> None:
        self.sentences, self.tokens, self.units = read.sentences, read.tokens, read.units
        self.fingerprint, self.origins, self.index = read.fingerprint, read.origins, read.index
        self._coder, self._extraction, self._structure = read.coder, read.extraction, structure
        self._streamed = source if source.stream else None
        self._examples = read.examples
        if self._streamed is None:
            structure.set_gold(read.examples, read.gold, read.coder.masks)
        structure.choose_features(self.batches, [] if source.stream else [read.examples])

    def batches(self) -> Iterator[Any]:
        """The examples of one pass, in one or more parts."""
        if self._streamed is None:
            yield self._examples
            return
        for block in self._streamed.blocks():
            examples = self._extraction.examples()
            self._extraction.add(examples, self._streamed.units(block).table, grow=False)
            self._structure.set_gold(examples, self._coder.encode(block), self._coder.masks)
            yield examples


class DevSet:
    """Held-out sentences as examples, to be scored after each pass: what tells a better one from a worse."""

    def __init__(
        self, kind: OutputKind[Any], source: DataSource, extraction: Extraction, coder: LabelCoder
    ) -> None:
        self._kind, self._coder = kind, coder
        self._examples = extraction.examples()
        gold: list[Ids] = []
        beside: list[dict[str, npt.NDArray[Any]]] = []
        starts: list[npt.NDArray[np.uint32]] = []
        numbers = dict(coder.numbers)  # labels that only these data have come after all others
        for block in source.blocks():
            if source.partial:
                refuse_open(block, source.layout.label, SCORED)
            gold.append(number_labels(coder.reader.complete(block), numbers))
            starts.append(block.table.sentence_starts[:-1] + sum(map(len, gold[:-1])))
            beside.append(kind.beside(block))
            with block.naming_errors():
                extraction.add(self._examples, source.units(block).table, grow=False)
        flat = np.concatenate(gold) if gold else np.zeros(0, np.int32)
        if not flat.size:
            raise DataError("found no labelled sentences, expected some to hold out", file=source.name)
        self._labels, self._beside = list(numbers), joined(beside)
        self._gold, self._starts = flat, np.concatenate(starts).astype(np.uint32)

    def score(
        self,
        structure: TrainingStructure,
        rows: _core.SparseRows,
        threads: int,
        voters: tuple[_core.Votes, int] | None = None,
    ) -> Scores:
        """How well these weights (or these voters, among so many candidates) do, on so many threads."""
        bounds = np.linspace(0, self._examples.sentences, threads + 1).astype(int).tolist()
        examples = structure.batch(self._examples)

        def decode(part: tuple[int, int]) -> Ids:
            return examples.best(rows, *part) if voters is None else examples.voted(rows, *voters, *part)

        predicted = np.concatenate(list(in_order(decode, pairwise(bounds), threads)))
        spans = self._coder.encoding is not None
        return self._kind.score(
            self._labels, self._gold, predicted, self._starts, spans=spans, **self._beside
        )
