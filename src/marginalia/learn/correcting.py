"""Corrections: weights changed, as little as possible, until given examples are right.

The changes are made to the finished weights, those that tagging uses. See docs/fix.md for the formulas.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.config import Settings, setting
from marginalia.corpus.blocks import ATTRIBUTES, Block, pack
from marginalia.corpus.coder import LabelSet, start_numbering
from marginalia.corpus.partial import refuse_open
from marginalia.corpus.records import Sentence
from marginalia.corpus.schemes import labels_for
from marginalia.corpus.settings import DataSettings
from marginalia.corpus.source import DataSource
from marginalia.decode.model import TrainedModel
from marginalia.decode.segments import SegmentSettings
from marginalia.decode.settings import SearchSettings, StructureOptions
from marginalia.decode.structures import STRUCTURES
from marginalia.errors import DataError, ModelError
from marginalia.kinds import kind_of
from marginalia.learn.run import State, rows_of_cells
from marginalia.learn.warm import WarmStart
from marginalia.model import SavedModel, phrases_of
from marginalia.model.corrections import Changed, shown_tokens, with_correction
from marginalia.model.freezing import frozen_arrays
from marginalia.model.provenance import moved_provenance
from marginalia.model.rules_part import has_rules
from marginalia.model.word_tables import word_tables_of


@dataclass(frozen=True, kw_only=True)
class CorrectionSettings(Settings):
    """Settings of corrections."""

    margin: float = setting(
        1.0,
        "By how much the right output must beat every other one, in typical weights (their root mean "
        "square).",
        1e-6,
        1e6,
    )


_ROUNDS, _BY_TOKEN = 1000, 50  # visits of each example before it is given up; more if there are long ones
_LARGE = 1000.0  # values of attributes that may be why rounds do not suffice
_SHOWN = 12  # tokens of an example in messages


class LabelledExample(NamedTuple):
    """What is labelled at once: its columns, the labels that are right, in the model's own scheme, and what
    the model predicted instead."""

    columns: dict[str, list[Any]]
    labels: list[str]
    predicted: list[str]

    @property
    def key(self) -> str:
        """Equal for examples with equal columns."""
        return json.dumps(self.columns, sort_keys=True)

    @property
    def record(self) -> dict[str, Any]:
        """For the model file, which knows `predicted` as `said`."""
        return {"columns": self.columns, "labels": self.labels, "said": self.predicted}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> LabelledExample:
        """The example of such a record."""
        return cls(record["columns"], record["labels"], record["said"])


def corrected(tagger: TrainedModel, source: DataSource, margin: float = 1.0) -> tuple[SavedModel, int]:
    """The model with weights that make all examples of a corpus right, and those of its earlier corrections;
    its log has one more. And how many earlier examples have other labels now, and are forgotten."""
    saved = tagger.saved
    _check(saved)
    margin = CorrectionSettings.of({"margin": margin}).margin
    examples, labels = _examples(tagger, source)
    earlier, margins, forgotten = _earlier(saved, examples)
    teacher = _Teacher(saved, labels, [*examples, *earlier])
    wanted = margin * _typical(saved)
    updates = teacher.teach([*[wanted] * len(examples), *margins], len(examples))
    taught, changed = teacher.result()
    _check_result(taught, [*examples, *earlier])
    record = {
        "examples": [example.record for example in examples],
        "labels": len(saved.labels),
        "updates": updates,
        "margin": wanted,
    } | _replaced(saved, taught)
    return with_correction(taught, record, changed), forgotten


def _check(saved: SavedModel) -> None:
    if saved.is_shrunk:
        raise ModelError(
            "a shrunk model cannot be corrected: correct the one it was made from, then shrink it."
        )
    if saved.global_features:
        raise ModelError(
            "a model with global features cannot be corrected: no change of weights could promise that its "
            "search finds an output. Train it again with the example."
        )
    if has_rules(saved):
        raise ModelError(
            "a model of rules cannot be corrected: no single weight decides an output. Train it again "
            "with the example, or change its rules (inspect --export, --import)."
        )
    if saved.first:
        raise ModelError("a model of two stages cannot be corrected: train it again with the example.")
    if "vote_steps" in saved.arrays:
        raise ModelError("the versions of the model's weights vote: it cannot be corrected (average=vote).")


def _replaced(saved: SavedModel, taught: SavedModel) -> dict[str, Any]:
    """What a correction changed beside weights and labels, as it was before."""
    found: dict[str, Any] = {} if saved.row_width == taught.row_width else {"width": saved.width}
    names = STRUCTURES[saved.structure].kept
    changed = [n for n in names if not np.array_equal(saved.arrays[n], taught.arrays[n])]
    return found | ({"replaced": {n: saved.arrays[n].tolist() for n in changed}} if changed else {})


def _typical(saved: SavedModel) -> float:
    """The root mean square of all weights that are not zero; 1 if there are none."""
    weights = np.concatenate([saved.weights(), saved.arrays["constants"]]).astype(np.float64)
    weights = weights[weights != 0]
    return float(np.sqrt(np.mean(weights**2))) if weights.size else 1.0


def _examples(tagger: TrainedModel, source: DataSource) -> tuple[list[LabelledExample], list[str]]:
    """The examples of a corpus, and all labels: the model's and new ones."""
    saved, found, kind = tagger.saved, [], kind_of(tagger.saved.structure)
    settings = saved.settings_as(DataSettings)
    source = replace(source.loaded(), whole_documents=settings.whole_documents, partial=False)
    numbering = start_numbering(source, start=LabelSet(saved.labels, saved.scheme, saved.encoding))
    for block in source.blocks():
        if settings.partial:
            refuse_open(block, source.layout.label, "a correction says what is right")
        unit = source.units(block)
        ids, names = numbering.add(block), numbering.labels
        right = kind.right_outputs(saved, unit, ids, names)
        predicted = tagger.decoder.best(_bare(tagger, unit))
        starts = unit.table.sentence_starts.tolist()
        for sentence, (first, last) in zip(unit.sentences(), pairwise(starts), strict=True):
            if first < last:
                columns = {name: sentence.columns[name] for name in sorted(tagger.feature_columns)}
                columns = json.loads(json.dumps(columns, sort_keys=True))  # as the file will have them
                told = kind.output_names(names, right[first:last])
                own = kind.output_names(saved.labels, predicted[first:last])
                found.append(LabelledExample(columns, told, own))
    if not found:
        raise DataError("found no labelled sentences, expected at least one", file=source.name)
    return _without_doubles(found), _completed(numbering.labels, saved)


def _bare(tagger: TrainedModel, block: Block) -> Block:
    """The sentences of a block with only the columns that the model reads."""
    return pack(block.sentences(), tagger.feature_columns)


def _without_doubles(examples: Sequence[LabelledExample]) -> list[LabelledExample]:
    """Each example once; the same one with different labels is refused."""
    found: dict[str, LabelledExample] = {}
    for number, example in enumerate(examples, 1):
        if found.setdefault(example.key, example).labels != example.labels:
            raise DataError(f"example {number} is the same as an earlier one, but has other labels")
    return list(found.values())


def _completed(labels: Sequence[str], saved: SavedModel) -> list[str]:
    """With all labels that the scheme writes for new types of spans."""
    return list(dict.fromkeys([*labels, *labels_for(labels[len(saved.labels) :], saved.encoding)]))


def _earlier(
    saved: SavedModel, examples: Sequence[LabelledExample]
) -> tuple[list[LabelledExample], list[float], int]:
    """The examples of earlier corrections that still hold, the margin of each, and how many of them the new
    ones contradict."""
    found: dict[str, tuple[LabelledExample, float]] = {}
    for record in saved.corrections:
        for one in record["examples"]:
            example = LabelledExample.of(one)
            found[example.key] = example, record["margin"]
    forgotten = 0
    for example in examples:
        before, _ = found.pop(example.key, (example, 0.0))
        forgotten += before.labels != example.labels
    return [one for one, _ in found.values()], [margin for _, margin in found.values()], forgotten


class _Teacher:
    """The finished weights of a model as ones to learn, and examples to learn them from."""

    def __init__(self, saved: SavedModel, labels: list[str], examples: Sequence[LabelledExample]) -> None:
        self._saved, self._labels, self._examples = saved, labels, examples
        kind = STRUCTURES[saved.structure]
        # Every feature of an example may get a weight, and none is hidden.
        options = StructureOptions(saved.settings_as(kind.record), saved.settings_as(SearchSettings))
        self._local = options.search.stepwise
        bare = {name: array for name, array in saved.arrays.items() if not name.startswith("state.")}
        warm = WarmStart(replace(saved, arrays=bare))
        self._index = _core.FeatureIndex(warm.has_names)
        warm.seed(self._index)
        self._known = len(self._index) + 1
        block = _packed(saved, examples)
        extractor = kind.compile(saved.program, block.columns, phrases_of(saved), word_tables_of(saved))
        extraction = kind.extraction(extractor, self._index, options)
        structure = kind.training(labels, saved.encoding, options, saved.program, extraction)
        kind.resume(structure, saved)
        self._rows = extraction.examples()
        extraction.add(self._rows, block.table, grow=True)
        self._gold = _ids(saved, examples, labels)
        self._right = kind_of(saved.structure).right_outputs(saved, block, self._gold, labels)
        structure.set_gold(self._rows, self._gold, np.zeros(0, np.uint8))
        self._check_gold()
        self._batch = structure.batch(self._rows)
        self._width, self._beside = structure.row_width, kind.arrays(structure)
        self._before = warm.weights(self._width)
        self._table = _filled(self._index, self._width, structure.constants, self._before)

    def _check_gold(self) -> None:
        """Long segments would be cut, and could then never be told."""
        wrong = np.flatnonzero(self._rows.gold != self._gold)
        if wrong.size:
            ends = np.cumsum([len(example.labels) for example in self._examples])
            example = self._examples[int(np.searchsorted(ends, wrong[0], "right"))]
            most = self._saved.settings_as(SegmentSettings).max_length
            raise DataError(
                f"found a segment of more than max-length={most} tokens, which the model cannot give: "
                f"{self._text(example)}"
            )

    def teach(self, margins: Sequence[float], new: int) -> int:
        """Change weights until each example is right by its margin; how often that was. The first `new` were
        not taught before."""
        wanted, total = np.array(margins), 0
        rounds = _ROUNDS + _BY_TOKEN * max(len(example.labels) for example in self._examples)
        for _ in range(rounds):
            updates, missing = 0, 0.0
            for margin in dict.fromkeys(margins):
                rule = _core.UpdateRule.correction(margin, self._local)
                order = np.flatnonzero(wanted == margin).astype(np.uint32)
                counts = self._batch.learn(self._table, rule, order, 0, np.zeros(0))
                updates, missing = updates + int(counts["updates"]), missing + counts["loss"]
            total += updates
            if missing == 0:
                return total
            if not updates:
                raise self._failure(new, "")
        raise self._failure(new, f" in {rounds:,} rounds")

    def _failure(self, new: int, within: str) -> DataError:
        """Which example the model cannot learn: at all, or in so many rounds."""
        found = self._batch.best(self._table.current, 0, len(self._examples))
        ends = np.cumsum([len(example.labels) for example in self._examples])
        wrong = np.flatnonzero(found != self._right)
        place = int(np.searchsorted(ends, wrong[0], "right")) if wrong.size else 0
        example = self._examples[place]
        here = slice(int(ends[place]) - len(example.labels), int(ends[place]))
        other = " ".join(kind_of(self._saved.structure).output_names(self._labels, found[here]))
        whose = "this example" if place < new else "an earlier correction, which must stay right,"
        failed = f"{whose} cannot be made right" + (within if wrong.size else f" by such a margin{within}")
        why = f"{_large(example) if within else ''}: {self._text(example)}"
        if not wrong.size:
            return DataError(failed + why)
        tell = "do not, or hardly, tell" if within else "do not tell"
        return DataError(
            f"{failed}: the model's features {tell} its labels {' '.join(example.labels)} from others such "
            f"as {other}{why}"
        )

    def _text(self, example: LabelledExample) -> str:
        """An example as people know it: its first tokens."""
        tokens = shown_tokens(self._saved, example.columns)
        return " ".join(tokens[:_SHOWN]) + (" …" if len(tokens) > _SHOWN else "")

    def result(self) -> tuple[SavedModel, Changed]:
        """The model with the new weights, and what changed."""
        saved, labels = self._saved, self._labels
        frozen = frozen_arrays(self._table.current, self._index, self._width, known=self._known)
        gone = {"narrow", "wide", "edge"}
        arrays = {name: array for name, array in saved.arrays.items() if name not in gone} | frozen
        arrays |= moved_provenance(saved, arrays["keys"], self._width) | self._beside
        width = None if saved.row_width is None else self._width
        made = replace(saved, labels=tuple(labels), arrays=arrays, row_width=width)
        return made, self._changed(frozen["keys"])

    def _changed(self, keys: npt.NDArray[np.uint64]) -> Changed:
        """The weights that are not what they were, by row and output."""
        outputs, weights, ends = self._table.current.flat()
        after = {"row_end": ends, "outputs": outputs, "weights": weights}
        codes, (old, new) = _side_by_side(self._before, after)
        moved = np.flatnonzero(old != new)
        rows = codes[moved] >> 32
        by_row = np.append(np.uint64(0), self._index.keys)
        added = np.sort(by_row[self._known :])
        used = np.append(keys[keys != 0], np.uint64(0))  # in rising order, then what no key is
        added = added[used[np.searchsorted(used[:-1], added)] == added]
        outputs = (codes[moved] & 0xFFFFFFFF).astype(np.uint32)
        return Changed(by_row[rows], outputs, old[moved], new[moved], added)


def _packed(saved: SavedModel, examples: Sequence[LabelledExample]) -> Block:
    kind = kind_of(saved.structure)
    columns = [one.columns | kind.output_columns(one.labels) for one in examples]
    try:
        return pack([Sentence(one, document=n) for n, one in enumerate(columns)], tuple(columns[0]))
    except DataError as error:
        raise ModelError(f"the examples of the model's corrections cannot be used: {error}") from error


def _large(example: LabelledExample) -> str:
    """Values that are so large that smaller ones hardly count beside them, as part of a message."""
    values = (abs(v) for token in example.columns.get(ATTRIBUTES, ()) for v in token.values())
    largest = max(values, default=0.0)
    return f" (it has attributes with values of up to {largest:g}: bring them near 1)" * (largest > _LARGE)


def _ids(
    saved: SavedModel, examples: Sequence[LabelledExample], labels: Sequence[str]
) -> npt.NDArray[np.int32]:
    numbers, kind = {label: number for number, label in enumerate(labels)}, kind_of(saved.structure)
    try:
        return np.array([numbers[kind.output_label(n)] for one in examples for n in one.labels], np.int32)
    except KeyError as error:
        raise ModelError(f"the model's corrections have the label {error}, which it does not.") from None


def _filled(index: _core.FeatureIndex, width: int, constants: int, state: State) -> _core.WeightTable:
    table = _core.WeightTable(len(index) + 1, constants)
    rows, none = rows_of_cells(state["row_end"], len(state["outputs"])), np.zeros(0)
    weights = (state["outputs"], state["weights"], none, none, none.astype(np.float32))
    table.restore(index, width, rows, *weights, 0.0)
    return table


def _side_by_side(*states: State) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.float32]]]:
    """The places of all weights (row and output as one number), and what each state has there."""
    own = []
    for state in states:
        rows = rows_of_cells(state["row_end"], len(state["outputs"])).astype(np.int64)
        own.append(rows << 32 | state["outputs"].astype(np.int64))
    codes = np.sort(np.concatenate(own))  # numpy's own `unique` takes ten times as long
    codes = codes[np.append(True, codes[1:] != codes[:-1])[: len(codes)]]
    values = []
    for places, state in zip(own, states, strict=True):
        values.append(np.zeros(len(codes), np.float32))
        values[-1][np.searchsorted(codes, places)] = state["weights"]
    return codes, values


def _check_result(taught: SavedModel, examples: Sequence[LabelledExample]) -> None:
    """The promise is kept: the model as it will be saved gives the right labels."""
    block, right = _outputs(taught, examples)
    found = STRUCTURES[taught.structure].decoder(taught).best(block)
    if (found != right).any():
        raise ModelError("the correction was learned, but the finished model does not show it.")


def _outputs(saved: SavedModel, examples: Sequence[LabelledExample]) -> tuple[Block, npt.NDArray[np.int32]]:
    """Examples, and what a decoder must give for them."""
    block, ids = _packed(saved, examples), _ids(saved, examples, saved.labels)
    return block, kind_of(saved.structure).right_outputs(saved, block, ids, saved.labels)


def lead_of(tagger: TrainedModel, number: int) -> float:
    """By how much the right outputs of a correction exceed all others in score, at least."""
    leads = []
    for one in tagger.saved.corrections[number]["examples"]:
        block, right = _outputs(tagger.saved, [LabelledExample.of(one)])
        outputs = tagger.decoder.k_best(block, 0, 2)
        others = [score for ids, score in outputs if (ids != right).any()]
        leads += [tagger.decoder.score(block, 0, right) - score for score in others[:1]]
    return min(leads, default=math.inf)
