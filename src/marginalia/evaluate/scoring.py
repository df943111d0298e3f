"""Labels in, a `Report` out. The string face gives labels ids; the integer face does the work."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia.errors import DataError
from marginalia.evaluate.encode import (
    Counts,
    Flags,
    LabelColumns,
    Sentences,
    encode,
    from_ids,
    same_lengths,
    unseen_mask,
)
from marginalia.evaluate.report import Report, TypeScore
from marginalia.evaluate.sampling import bootstrap_interval
from marginalia.evaluate.scoring_rules import ScoringRules, resolve
from marginalia.evaluate.tally import Tally, percent, precision_recall_f1, wrong_by_sentence


def evaluate(
    gold: Sentences,
    predicted: Sentences,
    *,
    words: Sentences | None = None,
    known_words: Collection[str] | None = None,
    mode: str = "conlleval",
    scheme: str | None = None,
    spans: bool | None = None,
    bootstrap: int = 0,
    seed: int = 1,
) -> Report:
    """Score predicted label sequences against gold ones.

    Spans are scored if `spans` says so or, when it is None, if the gold labels look like chunk labels: as
    conlleval does, or strictly under a `scheme` (IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES or another usual
    name, in any case; None guesses it from the gold labels). Other labels are scored one by one. With
    `words` and the `known_words` of training, the accuracy on unseen words is given too; with `bootstrap`
    rounds, a 95% interval of F1.
    """
    encoded = encode(("gold", "predicted"), gold, predicted)
    unseen = _unseen(gold, words, known_words, encoded.tokens)
    return report_on(encoded, resolve(encoded, mode, scheme, spans), unseen, bootstrap, seed)


def score_ids(
    gold_ids: npt.NDArray[np.integer[Any]],
    predicted_ids: npt.NDArray[np.integer[Any]],
    labels: Sequence[str],
    sentence_starts: npt.ArrayLike,
    *,
    mode: str = "conlleval",
    scheme: str | None = None,
    spans: bool | None = None,
    unseen: Flags | None = None,
    bootstrap: int = 0,
    seed: int = 1,
) -> Report:
    """`evaluate` for flat arrays of label ids: sentence s begins at token `sentence_starts[s]`.

    There is one start per sentence and no closing one. `unseen` flags the tokens with unseen words.
    """
    encoded = from_ids(labels, sentence_starts, gold_ids, predicted_ids)
    if unseen is not None and unseen.shape != (encoded.tokens,):
        raise DataError(f"unseen has shape {unseen.shape} but there are {encoded.tokens} tokens")
    return report_on(encoded, resolve(encoded, mode, scheme, spans), unseen, bootstrap, seed)


def sentence_counts(
    gold: Sentences,
    predicted: Sentences,
    *,
    mode: str = "conlleval",
    scheme: str | None = None,
    spans: bool | None = None,
) -> Counts:
    """The (gold, predicted, correct) span counts of each sentence: what sampling needs."""
    encoded = encode(("gold", "predicted"), gold, predicted)
    return resolve(encoded, mode, scheme, spans).tally(encoded).by_sentence


def report_on(
    encoded: LabelColumns, rules: ScoringRules, unseen: Flags | None, bootstrap: int, seed: int
) -> Report:
    """Everything a `Report` holds about two encoded columns, gold first."""
    tally = rules.tally(encoded)
    right = encoded.columns[0] == encoded.columns[1]
    accuracy = percent(int(right.sum()), encoded.tokens)
    unseen_right = right[unseen] if unseen is not None else right[:0]
    flawless = int((wrong_by_sentence(encoded) == 0).sum())
    return Report(
        **_headline(tally, rules, accuracy),
        accuracy=accuracy,
        sentence_accuracy=percent(flawless, encoded.sentences),
        unseen_accuracy=percent(int(unseen_right.sum()), unseen_right.size) if unseen_right.size else None,
        unseen_tokens=int(unseen_right.size),
        sentences=encoded.sentences,
        tokens=encoded.tokens,
        per_type=_per_type(tally),
        confusion_table=_confusion_table(encoded),
        interval=bootstrap_interval(tally.by_sentence, rounds=bootstrap, seed=seed) if bootstrap else None,
        mode=rules.mode,
        scheme=rules.scheme,
    )


def _headline(tally: Tally, rules: ScoringRules, accuracy: float) -> dict[str, Any]:
    gold, predicted, correct = map(int, tally.total)
    scores = precision_recall_f1(gold, predicted, correct)
    if rules.mode == "tags":
        gold = predicted = correct = 0
        scores = (accuracy, accuracy, accuracy)
    names = ("precision", "recall", "f1", "gold_spans", "predicted_spans", "correct_spans")
    return dict(zip(names, (*scores, gold, predicted, correct), strict=True))


def _per_type(tally: Tally) -> dict[str, TypeScore]:
    rows = sorted(zip(tally.names, tally.by_name.tolist(), strict=True))
    return {name: TypeScore(*precision_recall_f1(*row), *row) for name, row in rows if row[0] or row[1]}


def _confusion_table(encoded: LabelColumns) -> dict[tuple[str, str], int]:
    gold, predicted = encoded.columns
    labels, size = encoded.labels, len(encoded.labels)
    pairs = gold.astype(np.int64) * size + predicted
    # Counting by sorting costs n log n, by a table L x L: the table wins unless it outgrows the text.
    if size * size <= 4 * pairs.size:
        table = np.bincount(pairs, minlength=size * size)
        keys, counts = np.flatnonzero(table), table[table > 0]
    else:
        keys, counts = np.unique(pairs, return_counts=True)
    cells = zip((keys // max(size, 1)).tolist(), (keys % max(size, 1)).tolist(), counts.tolist(), strict=True)
    return {(labels[row], labels[column]): count for row, column, count in cells}


def _unseen(
    gold: Sentences, words: Sentences | None, known: Collection[str] | None, tokens: int
) -> Flags | None:
    if words is not None:
        same_lengths(("gold", "words"), gold, words)
    if known is None:
        return None
    if words is None:
        raise DataError("known_words was given without words")
    return unseen_mask(words, known, tokens)
