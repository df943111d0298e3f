"""Formulas against numbers that were computed by hand from their definitions."""

from __future__ import annotations

import pytest

from marginalia.assist.parses import parses
from marginalia.assist.readability.counts import Counts, count, is_complex
from marginalia.assist.readability.formulas import (
    FORMULAS,
    JapaneseCounts,
    formula_scores,
    jreadability,
    jreadability_level,
)
from marginalia.assist.readability.syllables import syllables

HUNDRED = Counts(
    sentences=5,
    words=100,
    letters=450,
    characters=460,
    syllables=150,
    polysyllables=10,
    complex_words=8,
    unfamiliar=12,
)
BY_HAND = {
    "flesch": 59.635,  # 206.835 - 1.015 * 20 - 84.6 * 1.5
    "flesch-kincaid": 9.91,  # 0.39 * 20 + 11.8 * 1.5 - 15.59
    "dale-chall": 6.5233,  # 0.1579 * 12 + 0.0496 * 20 + 3.6365
    "gunning-fog": 11.2,  # 0.4 * (20 + 8)
    "smog": 11.20814,  # 1.043 * 7.745967 + 3.1291
    "ari": 10.236,  # 4.71 * 4.6 + 0.5 * 20 - 21.43
    "coleman-liau": 9.18,  # 5.88 * 4.5 - 29.6 * 0.05 - 15.8
}


def test_formulas_of_a_hundred_words() -> None:
    assert formula_scores(HUNDRED) == pytest.approx(BY_HAND, abs=1e-4)
    assert {formula.name for formula in FORMULAS} == set(BY_HAND)


def test_few_unfamiliar_words_add_nothing_to_dale_chall() -> None:
    few = Counts(5, 100, 450, 460, 150, 10, 8, 5)
    assert formula_scores(few)["dale-chall"] == pytest.approx(0.1579 * 5 + 0.0496 * 20)
    assert set(formula_scores(Counts(0, 0, 0, 0, 0, 0, 0, 0)).values()) == {0.0}


def test_a_text_counted_by_hand() -> None:
    (sentences,) = parses("en").parse(["The cat sat on the mat. It was happy."])
    counts = count(sentences, lambda word: word != "mat")
    assert counts == Counts(2, 9, 27, 27, 10, 0, 0, 1)
    assert formula_scores(counts)["flesch"] == pytest.approx(206.835 - 1.015 * 4.5 - 84.6 * 10 / 9)


@pytest.mark.parametrize(
    ("word", "number"),
    [("cat", 1), ("table", 2), ("make", 1), ("wanted", 2), ("worked", 1), ("banana", 3), ("well-known", 2),
     ("beautiful", 3), ("TV", 2), ("rhythm", 2), ("India", 3), ("something", 2)],
)  # fmt: skip
def test_syllables(word: str, number: int) -> None:
    assert syllables(word) == number


def test_words_that_the_fog_index_counts() -> None:
    assert is_complex("banana")
    assert not is_complex("created")  # three syllables by its ending alone
    assert not is_complex("book-keeper")


def test_jreadability_by_hand() -> None:
    # 11.724 - 0.56 - 12.6 * 0.2 - 4.2 * 0.3 - 14.5 * 0.15 - 4.4 * 0.25
    score = jreadability(JapaneseCounts(2, 20, 4, 6, 3, 5))
    assert score == pytest.approx(4.109)
    assert jreadability_level(score) == "lower intermediate"
    assert jreadability(JapaneseCounts(0, 0, 0, 0, 0, 0)) == 0
