"""Calibration error, Brier score and right spans against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import spans_of
from marginalia.errors import DataError
from marginalia.evaluate import evaluate, reliability, right_spans

ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40)
LABELS = ["O", "B-X", "I-X", "B-Y", "I-Y"]
SENTENCES = st.lists(
    st.lists(st.tuples(*[st.sampled_from(LABELS)] * 2), min_size=1, max_size=6), min_size=1, max_size=5
)


@given(ANSWERS, st.integers(1, 20))
def test_by_definition(answers: list[tuple[float, bool]], bins: int) -> None:
    found = reliability([p for p, _ in answers], [r for _, r in answers], bins)
    error = 0.0
    for i in range(bins):
        inside = [
            (p, r) for p, r in answers if int(p * bins) == i or (i == bins - 1 and int(p * bins) == bins)
        ]
        one = found.bins[i]
        assert one.number == len(inside)
        if inside:
            sure, right = (sum(float(pair[k]) for pair in inside) / len(inside) for k in (0, 1))
            assert (one.confidence, one.accuracy) == (pytest.approx(sure), pytest.approx(right))
            error += abs(sure - right) * len(inside) / len(answers)
        else:
            assert (one.confidence, one.accuracy) == (None, None)
    assert found.ece == pytest.approx(error)
    brier = sum((p - r) ** 2 for p, r in answers) / max(len(answers), 1)
    assert found.brier == pytest.approx(brier)
    assert found.count == len(answers)


@given(SENTENCES)
def test_right_spans(sentences: list[list[tuple[str, str]]]) -> None:
    """Those that the gold labels spell too; as many as conlleval finds correct."""
    gold, said = ([[pair[k] for pair in sentence] for sentence in sentences] for k in (0, 1))
    starts = np.cumsum([0, *map(len, gold)])
    begin, end, expected = [], [], []
    for s, labels in enumerate(said):
        true = set(spans_of(gold[s], "IOB2"))
        for span in spans_of(labels, "IOB2"):
            begin.append(starts[s] + span.start)
            end.append(starts[s] + span.end)
            expected.append(span in true)
    ids = [
        np.array([LABELS.index(label) for labels in column for label in labels]) for column in (gold, said)
    ]
    found = right_spans(*ids, LABELS, starts[:-1], np.array(begin, np.uint32), np.array(end, np.uint32))
    assert found.tolist() == expected
    assert found.sum() == evaluate(gold, said, spans=True).correct_spans


@pytest.mark.parametrize(
    ("sure", "right", "bins", "why"),
    [
        ([0.5], [True, False], 10, "confidences but"),
        ([1.5], [True], 10, "no probability"),
        ([float("nan")], [True], 10, "no probability"),
        ([0.5], [True], 0, "bins"),
    ],
)
def test_what_makes_no_sense(sure: Any, right: Any, bins: int, why: str) -> None:
    with pytest.raises(DataError, match=why):
        reliability(sure, right, bins)


def test_words_and_json() -> None:
    found = reliability([0.05, 0.95, 0.85], [False, True, False])
    assert found.to_json()["bins"][9] == {
        "low": 0.9,
        "high": 1.0,
        "number": 1,
        "confidence": 0.95,
        "accuracy": 1.0,
    }
    assert found.to_text("spans").startswith("spans: ECE 0.3167; Brier 0.2425; 3 spans\n")
    assert len(found.to_text("spans").splitlines()) == 12
