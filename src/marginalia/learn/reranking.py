"""Re-ranking: a second model chooses among the k best outputs of a base model by global features of them.

It is trained on candidates that come from cross-decoding, by any learner of the structure `candidates`
(Collins 2002, re-ranking; re-ranking 1 of Kazama and Torisawa 2007, section 6.3). Base model and chosen
weights together are one model. See docs/rerank.md; re-ranking 2 is in retraining.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia._core import BASE_SCORE
from marginalia.corpus.blocks import Block
from marginalia.corpus.candidates import CandidateArrays
from marginalia.corpus.coder import LabelReader
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import Data, DataSource
from marginalia.decode.candidates import CandidateSettings
from marginalia.decode.model import TrainedModel
from marginalia.decode.settings import VoteSettings
from marginalia.errors import DataError, SettingsError
from marginalia.features.global_features import GlobalFeatures, load_global_features, mention_labels
from marginalia.kinds import kind_of
from marginalia.learn.api import source_for
from marginalia.learn.cross_decoding import Hypotheses, OnProgress, cross_decode, decode
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import Recipe, make_recipe
from marginalia.learn.training import Training
from marginalia.model import SavedModel
from marginalia.model.global_part import PREFIX, GlobalPart, global_column
from marginalia.model.provenance import Arrays

LOSSES = ("tags", "spans")
SCALED = ("perceptron", "margin", "pa", "arow")
"""Learners whose first steps depend on how large base scores are beside counts: dev data should choose."""
Ids = npt.NDArray[np.int32]
_BASE_KEY = _core.feature_keys(
    BASE_SCORE.encode(), np.array([len(BASE_SCORE)], np.uint64), np.zeros(1, np.uint8)
)[0]


@dataclass(frozen=True)
class RerankingOptions:
    """What candidates are made of: how many hypotheses there are of each unit, how many folds, which global
    features, and what the loss of a candidate counts: wrong tags, or spans that are wrong or missing."""

    hypotheses: int = 20
    folds: int = 5
    features: str = "collins-reranking"
    functions: Sequence[str] = ()
    lowercase: str | None = None
    loss: str = "tags"

    def loaded(self) -> GlobalFeatures:
        """The global features; a SettingsError if some option has no meaning."""
        if self.loss not in LOSSES:
            raise SettingsError(f"loss: found '{self.loss}', expected {' or '.join(LOSSES)}.")
        if not 2 <= self.hypotheses <= 10_000:
            raise SettingsError(f"hypotheses: found {self.hypotheses}, expected a number from 2 to 10000.")
        return load_global_features(self.features, self.functions, self.lowercase)


def reranking_recipe(learner: str, seed: int, settings: Mapping[str, Any]) -> Recipe:
    """What a re-ranker is trained with; unknown names and values are SettingsErrors."""
    return make_recipe(structure="candidates", learner=learner, seed=seed, settings=settings)


class Reranking:
    """Re-ranking of a base model, step by step: candidates of training and dev data, a run, a model."""

    def __init__(self, base: TrainedModel, options: RerankingOptions) -> None:
        _check_base(base.saved)
        self._base, self._options = base, options
        saved = base.saved
        column = global_column(saved.columns, saved.label)
        self.part = GlobalPart(options.loaded(), column, options.hypotheses)
        self._set = self.part.features.native(saved.labels, saved.encoding)
        self._mentions = mention_labels(saved.labels, saved.encoding)
        self._index, self._names = _core.FeatureIndex(True), list[str]()
        self._reader = LabelReader(saved.label, saved.scheme, saved.encoding, saved.repairs)
        self._lose = _wrong_tags if options.loss == "tags" else _SpanLoss(saved)

    def hypotheses(
        self,
        data: Data,
        *,
        cache: str | os.PathLike[str],
        threads: int = 1,
        on_progress: OnProgress = lambda progress: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> list[Hypotheses]:
        """Those of training data, by cross-decoding; a DataError if the base model does not know a label."""
        source = self._source(data).loaded()
        if (unknown := self._unknown_label(source.blocks())) is not None:
            raise unknown
        return cross_decode(
            source,
            self._base,
            k=self._options.hypotheses,
            folds=self._options.folds,
            threads=threads,
            cache=cache,
            on_progress=on_progress,
            stop=stop,
        )

    def check(self, data: Data) -> str | None:
        """Read held-out data once: what is wrong with them is to be known before anything is trained. Where
        the first label stands that the base model does not know, if there is one."""
        unknown = self._unknown_label(self._source(data).blocks()) if data else None
        return None if unknown is None else str(unknown)

    def _unknown_label(self, blocks: Iterable[Block]) -> DataError | None:
        """The error for the first label that the base model does not know, after all blocks were read."""
        label, unknown = self._base.saved.label, None
        for block in blocks:
            wrong = np.flatnonzero(self._gold(block) < 0)
            if wrong.size and unknown is None:
                found = int(wrong[0])
                [text] = block.table.column_slice(block.index(label), found, found + 1)
                message = f"found the label {text}, which the base model does not know"
                unknown = block.error(message, found, label)
        return unknown

    def dev_hypotheses(self, data: Data) -> list[Hypotheses]:
        """Those of held-out data, by the base model itself."""
        blocks = self._source(data).loaded().blocks()
        labels = self._base.saved.labels
        return [decode(self._base, block, self._options.hypotheses, labels) for block in blocks]

    def candidates(self, hypotheses: Iterable[Hypotheses], *, grow: bool) -> CandidateArrays:
        """Hypotheses as candidates with global features; with `grow`, features that were not seen before are
        new ones, else they are left out."""
        lengths, ends, rows, counts, scores, losses = [], [np.zeros(1, np.uint64)], [], [], [], []
        for one in hypotheses:
            for unit in self._units(one, grow):
                lengths.append(len(unit.scores))
                ends.append(unit.ends + ends[-1][-1])
                rows.append(unit.rows - 1)  # copies of just that size
                counts.append(unit.counts.astype(np.float32))
                scores.append(unit.scores)
                losses.append(unit.losses)
        return CandidateArrays(
            np.array(lengths, np.uint32),
            np.concatenate(ends[1:]),
            _joined(rows),
            self._feature_names(),
            _joined(counts),
            np.concatenate(scores),
            np.concatenate(losses),
            np.asarray(self._index.keys),
        )

    def _feature_names(self) -> list[str]:
        """Of all rows; those of held-out data are the same list."""
        named, last = len(self._names), len(self._index)
        names = [self._index.name(row).decode("utf-8", "replace") for row in range(named + 1, last + 1)]
        self._names = self._names + names if names else self._names
        return self._names

    @staticmethod
    def prepared(
        train: CandidateArrays, dev: CandidateArrays | None, recipe: Recipe, threads: int = 1
    ) -> Training:
        """A training run over candidates, about to begin."""
        source: Any = train
        held_out: Any = dev
        return prepare(DataSource(source), held_out, recipe, threads=threads)

    def model(self, training: Training) -> TrainedModel:
        """The base model with the weights of a run over candidates."""
        reranker, base = training.model().saved, self._base
        chosen, words = _Chosen(reranker), "\n".join(self.part.features.lowercase).encode()
        arrays = chosen.arrays() | {"lowercase": np.frombuffer(words, np.uint8)}
        part = replace(self.part, scale=chosen.scale, reranker=_description(reranker), votes=chosen.votes)
        saved = replace(
            base.saved,
            global_features=part.to_json(),
            calibration={},
            arrays=base.saved.arrays | {PREFIX + name: array for name, array in arrays.items()},
        )
        made: TrainedModel = kind_of(saved.structure).model(saved)
        return made

    def _source(self, data: Data) -> DataSource:
        return source_for(self._base.saved, DataSource(data))

    def _units(self, found: Hypotheses, grow: bool) -> Iterator[_Unit]:
        """The candidates of each unit of a block."""
        whole = self._base.saved.settings_as(DataSettings).whole_documents
        table = (found.block.by_document() if whole else found.block).table
        texts = _core.GlobalTexts(self._set)
        texts.add(table, found.block.index(self.part.column))
        extractor = _core.GlobalExtractor(self._set, self._mentions)
        gold, starts = self._gold(found.block), table.sentence_starts.tolist()
        for unit, (outputs, scores) in enumerate(found.of_units(starts)):
            if not outputs.size:
                continue
            ends, rows, counts = extractor.rows(texts, unit, outputs.ravel(), self._index, grow)
            losses = self._lose(outputs, gold[starts[unit] : starts[unit + 1]])
            yield _Unit(ends, rows, counts, np.nan_to_num(scores), losses)

    def _gold(self, block: Block) -> Ids:
        """The gold labels as numbers of the base model's; -1 for those that it does not know."""
        numbers = {label: number for number, label in enumerate(self._base.saved.labels)}
        read = self._reader.complete(block)
        return np.array([numbers.get(label, -1) for label in read.labels], np.int32)[read.ids]


@dataclass(frozen=True, eq=False)
class _Unit:
    """The candidates of one unit: where the features of each end, their rows and counts, scores, losses."""

    ends: npt.NDArray[np.uint64]
    rows: npt.NDArray[np.uint32]
    counts: npt.NDArray[np.float64]
    scores: npt.NDArray[np.float64]
    losses: npt.NDArray[np.float64]


def _check_base(saved: SavedModel) -> None:
    if kind_of(saved.structure).name != "labels":
        raise SettingsError(
            f"the base model has the structure {saved.structure}; re-ranking needs one that labels tokens."
        )
    if saved.global_features:
        raise SettingsError("the base model has global features already: re-rank the model without them.")
    if saved.first:
        raise SettingsError("the base model is one of two stages: re-rank one of a single stage.")
    if saved.settings_as(DataSettings).partial:
        raise SettingsError(
            "the base model was trained on partial labels, of which the right output is not known: "
            "re-ranking needs complete ones."
        )


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """All in one array. Millions of features are many bytes: the parts are given up."""
    joined: npt.NDArray[Any] = np.concatenate(parts)
    parts.clear()
    return joined


def _wrong_tags(outputs: Ids, gold: Ids) -> npt.NDArray[np.float64]:
    wrong: npt.NDArray[np.float64] = (outputs != gold).sum(axis=1).astype(np.float64)
    return wrong


class _SpanLoss:
    """Spans that are wrong, and spans that are missing."""

    def __init__(self, saved: SavedModel) -> None:
        from marginalia.corpus.schemes import spans_of

        if saved.encoding is None:
            raise SettingsError("loss: found spans, but the base model gives plain tags.")
        self._spans_of, self._encoding, self._labels = spans_of, saved.encoding, saved.labels

    def __call__(self, outputs: Ids, gold: Ids) -> npt.NDArray[np.float64]:
        right = self._spans(gold)
        return np.array([float(len(self._spans(y) ^ right)) for y in outputs])

    def _spans(self, y: Ids) -> set[Any]:
        names = [self._labels[i] if i >= 0 else "O" for i in y.tolist()]
        return set(self._spans_of(names, self._encoding))


class _Chosen:
    """What a re-ranker learned: its features by rising key, without the base score, and that one's weight."""

    def __init__(self, reranker: SavedModel) -> None:
        self._saved, arrays = reranker, reranker.arrays
        self._beta = reranker.settings_as(CandidateSettings).scale
        self._votes = "vote_steps" in arrays
        slots = np.flatnonzero(
            _sizes(arrays["vote_row_end" if self._votes else "row_end"])[: len(arrays["keys"])]
        )
        keys = arrays["keys"][slots]
        order = np.argsort(keys, kind="stable")
        is_base = keys[order] == _BASE_KEY
        self._slots, self._base = slots[order[~is_base]], slots[order[is_base]]

    @property
    def scale(self) -> float:
        """What base scores are multiplied by."""
        return self._beta * float(sum(self._weights(self._base)))

    @property
    def votes(self) -> tuple[int, float, int] | None:
        """As `GlobalPart` tells of them."""
        if not self._votes:
            return None
        versions = int(self._saved.arrays["vote_versions"][0])
        return versions, self._beta, self._saved.settings_as(VoteSettings).vote_candidates

    def arrays(self) -> Arrays:
        """Those of the global part, without the word list."""
        names = [self._saved.feature_name(int(slot)).encode() for slot in self._slots]
        found: dict[str, npt.NDArray[Any]] = {
            "keys": self._saved.arrays["keys"][self._slots],
            "weights": self._weights(self._slots),
            "names": np.frombuffer(b"".join(names), np.uint8),
            "name_end": np.cumsum([len(name) for name in names], dtype=np.uint32),
        }
        return found | (self._vote_arrays() if self._votes else {})

    def _weights(self, slots: npt.NDArray[np.intp]) -> npt.NDArray[np.float32]:
        ends = self._saved.arrays["row_end"].astype(np.int64)
        has = _sizes(ends)[slots] > 0
        weights = np.zeros(len(slots), np.float32)
        weights[has] = self._saved.arrays["weights"][ends[slots[has]] - 1]
        return weights

    def _vote_arrays(self) -> Arrays:
        """The changes of each weight, last those of the base score's."""
        arrays = self._saved.arrays
        place = arrays["vote_row_end"].astype(np.int64)  # each slot has one weight at most
        ends, steps, changes = arrays["vote_change_end"].astype(np.int64), [], []
        for slot in [*self._slots.tolist(), *self._base.tolist()]:
            last = ends[place[slot] - 1]
            first = ends[place[slot] - 2] if place[slot] > 1 else 0
            steps.append(arrays["vote_steps"][first:last])
            changes.append(arrays["vote_changes"][first:last])
        if not len(self._base):
            steps.append(np.zeros(0, np.uint32))
            changes.append(np.zeros(0, np.float32))
        return {
            "vote_end": np.cumsum([len(one) for one in steps], dtype=np.uint32),
            "vote_steps": np.concatenate(steps),
            "vote_changes": np.concatenate(changes),
        }


def _sizes(ends: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.diff(np.append(0, ends.astype(np.int64)))


def _description(reranker: SavedModel) -> dict[str, Any]:
    """What the model file tells of the run."""
    return {
        "learner": reranker.learner,
        "settings": reranker.settings,
        "seed": reranker.seed,
        "history": reranker.history,
        "diagnostics": reranker.diagnostics,
    }
