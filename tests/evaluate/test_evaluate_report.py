"""Everything of a report but the spans: accuracies, tags, confusions, text, JSON, ids, errors, speed."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia.errors import DataError
from marginalia.evaluate import Confused, Report, evaluate, score_ids

POS_GOLD = [["DT", "NN", "VB"], ["NN", "VB"], ["NN"]]
POS_FOUND = [["DT", "NN", "NN"], ["NN", "NN"], ["NN"]]


def test_tags_are_scored_one_by_one() -> None:
    report = evaluate(POS_GOLD, POS_FOUND)
    assert report.mode == "tags"
    assert report.precision == report.recall == report.f1 == report.accuracy == pytest.approx(400 / 6)
    assert report.sentence_accuracy == pytest.approx(100 / 3)
    assert report.per_type["NN"] == (60, 100, 75, 3, 5, 3)
    assert report.per_type["VB"] == (0, 0, 0, 2, 0, 0)
    assert (report.gold_spans, report.tokens, report.sentences) == (0, 6, 3)


@pytest.mark.parametrize(
    ("labels", "mode"),
    [
        (["O", "B-NP", "I-NP"], "conlleval"),
        (["B", "M", "E", "S"], "conlleval"),
        (["L-X", "U-X", "O"], "conlleval"),
        (["O"], "conlleval"),
        (["B-NP", "NN"], "tags"),
        (["IN", "O"], "tags"),
        ([""], "tags"),
        (["O-X"], "tags"),
    ],
)
def test_the_labels_tell_spans_from_tags(labels: list[str], mode: str) -> None:
    assert evaluate([labels], [labels]).mode == mode
    assert evaluate([labels], [labels], spans=mode == "tags").mode != mode


def test_accuracy_on_unseen_words() -> None:
    words = [["the", "cat", "sat"], ["dogs", "ran"], ["rain"]]
    report = evaluate(POS_GOLD, POS_FOUND, words=words, known_words=["the", "cat", "rain"])
    assert (report.unseen_tokens, report.unseen_accuracy) == (3, pytest.approx(100 / 3))
    assert evaluate(POS_GOLD, POS_FOUND, words=words).unseen_accuracy is None
    none_unseen = evaluate(POS_GOLD, POS_FOUND, words=words, known_words={w for s in words for w in s})
    assert (none_unseen.unseen_tokens, none_unseen.unseen_accuracy) == (0, None)


def test_confusions_most_frequent_first_then_by_label() -> None:
    report = evaluate([list("ABABAC")], [list("BBCACA")], spans=False)
    assert report.confusion == [
        Confused("A", "C", 2), Confused("A", "B", 1), Confused("B", "A", 1), Confused("C", "A", 1)
    ]  # fmt: skip
    assert report.confusion_table["B", "B"] == 1
    assert sum(report.confusion_table.values()) == 6


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=60))
def test_the_confusion_table_counts_every_pair(pairs: list[tuple[int, int]]) -> None:
    gold, predicted = ([[f"T{pair[side]}" for pair in pairs]] for side in (0, 1))
    expected: dict[tuple[str, str], int] = {}
    for pair in zip(gold[0], predicted[0], strict=True):
        expected[pair] = expected.get(pair, 0) + 1
    assert evaluate(gold, predicted).confusion_table == expected


def test_text_is_the_table_of_conlleval_and_more() -> None:
    gold = [["B-NP", "I-NP", "O"], ["B-PERSON-NAME", "O"]]
    predicted = [["B-NP", "I-NP", "O"], ["O", "O"]]
    text = evaluate(gold, predicted, words=gold, known_words=["O"], bootstrap=50).to_text().splitlines()
    assert text[:4] == [
        "processed 5 tokens with 2 phrases; found: 1 phrases; correct: 1.",
        "accuracy:  80.00%; precision: 100.00%; recall:  50.00%; FB1:  66.67",
        "               NP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1",
        "      PERSON-NAME: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
    ]
    assert text[4:6] == ["sentences right:  50.00% of 2", "unseen words:     66.67% of 3"]
    assert text[6].startswith("FB1 lies between")
    assert text[-1] == "  B-PERSON-NAME  O              1"


def test_text_of_tags() -> None:
    text = evaluate(POS_GOLD, POS_FOUND).to_text()
    assert text.startswith("processed 6 tokens in 3 sentences.\naccuracy:  66.67%\n")
    assert "  VB    NN             2\n" in text


LABEL = st.sampled_from(["O", "B-A", "I-A", "S", "NN", ""])


@settings(deadline=None)
@given(
    st.lists(st.lists(st.tuples(LABEL, LABEL), max_size=4), max_size=4), st.sampled_from([None, True, False])
)
def test_json_round_trips_without_nan(text: list[list[tuple[str, str]]], spans: bool | None) -> None:
    gold, predicted = ([[pair[side] for pair in part] for part in text] for side in (0, 1))
    report = evaluate(gold, predicted, spans=spans, words=gold, known_words=["O"], bootstrap=5)
    plain = report.to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert {"precision", "recall", "f1", "accuracy", "per_type", "sentences", "tokens"} <= plain.keys()
    assert all(0 <= value <= 100 and math.isfinite(value) for value in (report.f1, *(report.interval or ())))
    assert report.to_text().endswith("\n")


@pytest.mark.parametrize("column", [[], [[]], [[], []]])
def test_nothing_to_score_gives_zeros(column: list[list[str]]) -> None:
    for options in ({}, {"mode": "strict"}, {"spans": False}, {"bootstrap": 10}):
        report = evaluate(column, column, **options)  # type: ignore[arg-type]
        assert (report.tokens, report.f1, report.accuracy, report.gold_spans) == (0, 0, 0, 0)
        assert report.to_json()["per_type"] == {}


def test_ids_give_the_same_report() -> None:
    gold = [["B-A", "I-A"], [], ["O", "B-B", "O"]]
    predicted = [["B-A", "O"], [], ["O", "B-B", "B-A"]]
    labels = ["unused", "O", "B-A", "I-A", "B-B"]
    ids = [
        np.array([labels.index(x) for part in column for x in part], np.int32) for column in (gold, predicted)
    ]
    report = score_ids(*ids, labels, np.array([0, 2, 2]), bootstrap=20)
    assert report == evaluate(gold, predicted, bootstrap=20)
    assert isinstance(report, Report)
    unseen = np.array([True, True, False, False, False])
    assert score_ids(*ids, labels, [0, 2, 2], unseen=unseen).unseen_accuracy == 50


def test_errors_name_the_sentence_and_both_lengths() -> None:
    with pytest.raises(DataError, match=r"^2 sentences in gold but 1 in predicted$"):
        evaluate([["O"], ["O"]], [["O"]])
    with pytest.raises(DataError, match=r"^sentence 2: 1 tokens in gold but 2 in predicted$"):
        evaluate([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(DataError, match=r"^sentence 1: 1 tokens in gold but 0 in words$"):
        evaluate([["O"]], [["O"]], words=[[]], known_words=[])
    with pytest.raises(DataError, match="known_words was given without words"):
        evaluate([["O"]], [["O"]], known_words=[])


@pytest.mark.parametrize(
    ("gold", "predicted", "starts", "message"),
    [
        ([0, 1], [0], [0], "2 gold ids but 1 predicted"),
        ([0, 2], [0, 0], [0], r"0\.\.1, but 0\.\.2 were found"),
        ([0, -1], [0, 0], [0], r"0\.\.1, but -1\.\.0 were found"),
        ([0.5], [0.5], [0], "integers"),
        ([0, 1], [0, 1], [1], "must rise from 0 to at most 2"),
        ([0, 1], [0, 1], [0, 3], "must rise from 0 to at most 2"),
        ([0, 1], [0, 1], [0, 2, 1], "must rise from 0 to at most 2"),
        ([0, 1], [0, 1], [], "2 tokens but no sentence_starts"),
        ([0, 1], [0, 1], [[0]], "flat"),
    ],
)
def test_ids_that_do_not_fit(gold: list[int], predicted: list[int], starts: list[int], message: str) -> None:
    with pytest.raises(DataError, match=message):
        score_ids(np.array(gold), np.array(predicted), ["O", "B-A"], starts)


def test_the_mask_of_unseen_words_must_fit() -> None:
    with pytest.raises(DataError, match="unseen"):
        score_ids(np.array([0]), np.array([0]), ["O"], [0], unseen=np.array([True, False]))


def test_a_million_tokens_take_about_a_second() -> None:
    labels = ["O", "B-NP", "I-NP", "B-VP", "I-VP"]
    rng = np.random.default_rng(1)
    gold, predicted = (
        [[labels[i] for i in row] for row in rng.integers(0, 5, (40000, 25))] for _ in range(2)
    )
    began = time.perf_counter()
    assert evaluate(gold, predicted).tokens == 1_000_000
    # It takes a third of a second; the rest is for busy machines.
    assert time.perf_counter() - began < 4
