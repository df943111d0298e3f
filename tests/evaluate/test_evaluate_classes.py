"""The report of classes, against scikit-learn and by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.evaluate import score_classes
from marginalia.evaluate.classes import wilson

metrics = pytest.importorskip("sklearn.metrics")

NAMES = ["a", "b", "c", "d"]
PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


def report_of(pairs):
    gold, predicted = np.array(pairs, np.int32).T
    return score_classes(gold, predicted, NAMES), gold, predicted


@given(PAIRS)
def test_the_scores_are_those_of_scikit_learn(pairs):
    report, gold, predicted = report_of(pairs)
    present = sorted({*gold.tolist(), *predicted.tolist()})
    for average, ours in (("macro", report.macro), ("micro", report.micro)):
        expected = metrics.precision_recall_fscore_support(
            gold, predicted, labels=present, average=average, zero_division=0
        )[:3]
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx([100 * one for one in expected])
    assert report.accuracy == report.score == pytest.approx(100 * metrics.accuracy_score(gold, predicted))
    each = metrics.precision_recall_fscore_support(gold, predicted, labels=present, zero_division=0)
    assert list(report.per_class) == [NAMES[i] for i in present]
    for score, precision, recall, f1, support in zip(report.per_class.values(), *each, strict=True):
        assert score[:3] == pytest.approx((100 * precision, 100 * recall, 100 * f1))
        assert score.gold == support
    table = metrics.confusion_matrix(gold, predicted, labels=range(4))
    for i in range(4):
        for j in range(4):
            assert report.confusion_table.get((NAMES[i], NAMES[j]), 0) == table[i][j]


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_interval_is_where_the_score_test_does_not_reject(correct, wrong):
    items = correct + wrong
    low, high = wilson(correct, items)
    assert 0 <= low <= high <= 100
    if not items:
        return
    for bound in (low / 100, high / 100):  # Wilson's bounds solve |p - q| = z * sqrt(q (1 - q) / n)
        distance = abs(correct / items - bound)
        assert distance == pytest.approx(1.959964 * (bound * (1 - bound) / items) ** 0.5, abs=1e-6)


def test_the_texts_say_it_all():
    report, _, _ = report_of([(0, 0), (0, 1), (1, 1), (2, 1)])
    assert report.confusion[0] == report.confusion[0].__class__("a", "b", 1)
    assert report.to_text() == (
        "processed 4 items; 2 classes are right.\n"
        "accuracy:  50.00% (95% interval 15.00 to 85.00)\n"
        "macro: precision:  44.44%; recall:  50.00%; F1:  38.89\n"
        "micro: precision:  50.00%; recall:  50.00%; F1:  50.00\n"
        "                a: precision: 100.00%; recall:  50.00%; F1:  66.67  of 2\n"
        "                b: precision:  33.33%; recall: 100.00%; F1:  50.00  of 1\n"
        "                c: precision:   0.00%; recall:   0.00%; F1:   0.00  of 1\n"
        "most frequent confusions:\n"
        "  gold  predicted  count\n"
        "  a     b              1\n"
        "  c     b              1\n"
    )
    assert report.summary() == "accuracy 50.00 %, macro F1 38.89"
    assert report.headline() == {"accuracy": 50.0, "macro F1": pytest.approx(38.888889)}
    plain = json.loads(json.dumps(report.to_json()))
    assert plain["macro"]["f1"] == report.macro.f1
    assert plain["per_class"]["b"]["predicted"] == 3
    assert plain["confusion"][0] == {"gold": "a", "predicted": "b", "count": 1}
    assert (plain["accuracy"], plain["items"], plain["correct"]) == (50.0, 4, 2)


def test_the_interval_of_all_right_ends_there():
    for items in range(1, 200):
        assert wilson(items, items)[1] == 100.0
        assert wilson(0, items)[0] == 0.0
