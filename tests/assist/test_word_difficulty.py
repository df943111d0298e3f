"""Difficulty of words: the formula, what must matter and what must not."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.words.difficulty import difficulty, difficulty_features, probability, shipped_weights

WORDS = st.text(st.characters(categories=["L", "M", "P", "N"]), min_size=1, max_size=30)


def test_rare_long_words_are_more_difficult() -> None:
    pairs = [("car", "automobile"), ("use", "utilise"), ("house", "domicile"), ("idea", "hypothesis")]
    for easy, hard in pairs:
        assert difficulty(easy) < difficulty(hard)


def test_the_sentence_matters_but_not_its_order_nor_the_word_in_it() -> None:
    around = ["the", "patients", "had", "a", "cell", "culture", "of", "the", "tissue"]
    with_sentence = difficulty("culture", around)
    assert with_sentence != difficulty("culture")
    assert with_sentence == pytest.approx(difficulty("culture", around[::-1]))
    assert with_sentence == pytest.approx(
        difficulty("culture", [word for word in around if word != "culture"])
    )


def test_the_formula() -> None:
    features = {"a": 2.0, "b": -1.0, "unknown": 5.0}
    assert probability({"a": 0.5, "b": 1.0}, features) == pytest.approx(1 / (1 + math.exp(0)))
    assert probability({"a": 1.0}, features) == pytest.approx(1 / (1 + math.exp(-2)))


def test_weights_that_ship_are_of_features_that_there_are() -> None:
    words = ["Culture", "tissue", "hypothesise", "dog"]
    named = {name for word in words for name in difficulty_features(word, words)}
    general = {name for name in shipped_weights() if not name.startswith(("letters", "a kind of"))}
    assert general <= named | {"unknown", "no sentence", "topic unknown"}


@given(WORDS, st.lists(WORDS, max_size=5))
def test_any_text_has_a_difficulty(word: str, around: list[str]) -> None:
    assert 0 < difficulty(word, around) < 1
    assert all(math.isfinite(value) for value in difficulty_features(word, around).values())
