"""What the verb `eval` computes: outputs of a model, or a file of them, beside gold outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from marginalia.corpus.answers import BlockConfidence
from marginalia.corpus.batches import Layout, read_batches
from marginalia.corpus.partial import SCORED, refuse_open
from marginalia.corpus.source import guess_layout
from marginalia.decode.answering import LabelModel
from marginalia.decode.constraints import Constraints
from marginalia.errors import DataError
from marginalia.evaluate import Comparison, Reliability, compare, reliability, right_spans
from marginalia.evaluate.encode import unseen_mask
from marginalia.kinds.kind import OutputKind, Scores, joined
from marginalia.kinds.labelled import (
    Labelled,
    Numbering,
    check_same_tokens,
    gold_ids,
    labelled_batches,
    read_labelled,
)
from marginalia.kinds.wrong_sentences import Mistakes, find_mistakes


@dataclass(frozen=True)
class Evaluation:
    """What is asked. `known` is training data, whose words are not unseen; `compare` other predictions;
    `errors` how many wrong sentences are to be listed.

    Files go by the names that users know; `places` says where they can be read, if not there.
    """

    mode: str = "conlleval"
    scheme: str | None = None
    known: str | None = None
    bootstrap: int = 0
    compare: str | None = None
    reliability: bool = False
    constraints: Constraints | None = None
    threads: int = 1
    errors: int = 0
    places: Mapping[str, str] = field(default_factory=dict)

    def place(self, name: str) -> str:
        """Where a file can be read."""
        return self.places.get(name, name)


class Evaluated(NamedTuple):
    """What came of it."""

    report: Scores
    comparison: Comparison | None
    reliabilities: dict[str, Reliability]
    mistakes: Mistakes | None = None


class _Columns(NamedTuple):
    gold: Labelled
    predicted: Labelled
    numbering: Numbering
    beside: Mapping[str, Any] = MappingProxyType({})


def evaluate_model(
    kind: OutputKind[Any], model: LabelModel, test: str, layout: Layout, asked: Evaluation
) -> Evaluated:
    """The scores of a model on a labelled file."""
    sure: list[BlockConfidence] = []
    columns = _tagged(kind, model, test, layout, asked, sure)
    report, comparison = _scored(kind, columns, layout, asked, model.saved.scheme is not None)
    reliabilities = _reliabilities(kind, columns, sure) if asked.reliability else {}
    return Evaluated(report, comparison, reliabilities, _mistakes(model, test, layout, asked))


def _mistakes(model: LabelModel, test: str, layout: Layout, asked: Evaluation) -> Mistakes | None:
    if not asked.errors:
        return None
    blocks = (batch.block for batch in labelled_batches(asked.place(test), layout, model))
    return find_mistakes(model, blocks, layout.label, asked.errors)


def evaluate_files(
    kind: OutputKind[Any], gold: str, predicted: str, layout: Layout, asked: Evaluation
) -> Evaluated:
    """The scores of a file of predictions, against a gold file of this layout with the same tokens."""
    numbering = Numbering()
    right = read_labelled(asked.place(gold), layout, numbering)
    columns = _Columns(right, _predictions(predicted, layout, numbering, asked), numbering)
    columns.gold.file = gold
    check_same_tokens(columns.gold, columns.predicted)
    return Evaluated(*_scored(kind, columns, layout, asked, None), {})


def _tagged(
    kind: OutputKind[Any],
    model: LabelModel,
    test: str,
    layout: Layout,
    asked: Evaluation,
    sure: list[BlockConfidence],
) -> _Columns:
    """The gold labels of a file and those that a model gives it; `sure` gets how sure it is of them."""
    gold, predicted, numbering = Labelled(test), Labelled(test), Numbering()
    beside = []
    batches = labelled_batches(asked.place(test), layout, model)
    options: dict[str, Any] = {"confidence": asked.reliability, "constraints": asked.constraints}
    for batch, answer in model.tag_batches(batches, asked.threads, **options):
        if answer.confidence is not None:
            sure.append(answer.confidence)
        if layout.partial:
            refuse_open(batch.block, layout.label, SCORED)
        gold.add(batch.block, 0, gold_ids(batch, layout.label, numbering))
        beside.append(kind.beside(batch.block, answer))
        predicted.parts.append(kind.renumbered(answer.ids, numbering.of(model.labels)))
    return _Columns(gold, predicted, numbering, joined(beside))


def _reliabilities(
    kind: OutputKind[Any], columns: _Columns, sure: list[BlockConfidence]
) -> dict[str, Reliability]:
    """Of tokens (or items) and, if the model gave any, of spans."""
    gold, predicted = columns.gold.ids, columns.predicted.ids
    found = {kind.part: reliability(np.concatenate([one.token for one in sure]), gold == predicted)}
    before = np.cumsum([0, *(len(one.token) for one in sure)])
    begin = np.concatenate([one.span_begin + at for one, at in zip(sure, before, strict=False)])
    end = np.concatenate([one.span_end + at for one, at in zip(sure, before, strict=False)])
    if begin.size:
        labels, starts = columns.numbering.labels, columns.gold.starts[:-1]
        right = right_spans(gold, predicted, labels, starts, begin, end)
        found["spans"] = reliability(np.concatenate([one.span for one in sure]), right)
    return found


def _predictions(name: str, layout: Layout, numbering: Numbering, asked: Evaluation) -> Labelled:
    path, label = asked.place(name), None if layout.format == "conll" else layout.label
    if layout.items:
        layout = _with_predictions(path, layout)
    else:
        layout = guess_layout(path, layout.format, None, label, layout.options)
    predicted = read_labelled(path, layout, numbering)
    predicted.file = name
    return predicted


def _with_predictions(path: str, layout: Layout) -> Layout:
    """The fields of gold items, which have the same names in all files, with the class where `tag` writes it:
    in the field `predicted` if there is one."""
    from marginalia.corpus.item_answers import PREDICTED
    from marginalia.corpus.items import guess_item_layout

    try:
        guess_item_layout(path, layout.format, None, PREDICTED, layout.options)
    except DataError:
        return layout
    fields = (name for name in layout.columns if name != layout.label)
    return replace(layout, columns=(*fields, PREDICTED), label=PREDICTED)


def _scored(
    kind: OutputKind[Any], columns: _Columns, layout: Layout, asked: Evaluation, spans: bool | None
) -> tuple[Scores, Comparison | None]:
    gold, predicted, numbering, beside = columns
    rules: dict[str, Any] = {"mode": asked.mode, "scheme": asked.scheme, "spans": spans}
    unseen = None
    if asked.known is not None:
        unseen = unseen_mask([gold.words], _words(asked.place(asked.known), layout), len(gold.words))
    more = {"unseen": unseen, "bootstrap": asked.bootstrap, **beside}
    report = kind.score(numbering.labels, gold.ids, predicted.ids, gold.starts[:-1], **rules, **more)
    if asked.compare is None:
        return report, None
    other = _predictions(asked.compare, layout, numbering, asked)
    check_same_tokens(gold, other)
    predicted.starts, labels = gold.starts, numbering.labels
    return report, compare(*(column.sentences(labels) for column in (gold, predicted, other)), **rules)


def _words(path: str, layout: Layout) -> set[str]:
    known: set[str] = set()
    for batch in read_batches(path, guess_layout(path, layout.format, None, None, layout.options)):
        known.update(batch.block.table.distinct(0)[0])
    return known
