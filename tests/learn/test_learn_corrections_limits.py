"""Corrections at their limits: what is refused and why, what takes long, and models with little in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from learn_world import Toys, conll_file
from test_learn_corrections import new_words

import marginalia as mg

W = ["a", "b", "c"]


def test_a_hard_dictionary_that_demands_something_else(tmp_path: Path) -> None:
    """No weights can change what it requires, so the model in use would not be right."""
    names = (["I", "like", "New", "York"], ["O", "O", "B-LOC", "I-LOC"])
    model = mg.train([names, (["Ann", "sleeps"], ["B-PER", "O"])] * 4)
    hard = model.with_dictionary({"Ann": "LOC"}, mode="hard")
    with pytest.raises(
        mg.DataError, match="found B-PER O, but the hard dictionary in use requires 1=LOC for 'Ann'"
    ):
        hard.fix(["Ann", "sleeps"], ["B-PER", "O"])
    with pytest.raises(mg.DataError, match="'Ann'"):
        hard.fix_all([names, (["so", "Ann", "sleeps"], ["O", "B-PER", "O"])])
    fixed = hard.fix(["Ann", "sleeps"], ["B-LOC", "B-NEW"])
    assert fixed.tag(["Ann", "sleeps"]).labels == ("B-LOC", "B-NEW")
    fixed = hard.with_dictionary(mode="hard").fix(["Ann", "sleeps"], ["B-PER", "B-NEW"])
    assert fixed.tag(["Ann", "sleeps"]).labels == ("B-PER", "B-NEW")


@pytest.mark.parametrize("label", ["_", "N|V"])
def test_open_labels_are_no_new_ones(label: str, tmp_path: Path) -> None:
    model = mg.train([(W, ["N", "_", "V"])] * 4, partial=True)
    path = conll_file(tmp_path / "open.txt", [({"word": W}, ["N", label, "V"])])
    why = f"found the label {label!r}, expected a complete one: a correction says what is right"
    for correct in (
        lambda: model.fix(W, ["N", label, "V"]),
        lambda: model.fix_all([(W, ["N", label, "V"])]),
        lambda: model.fix_all(path),
    ):
        with pytest.raises(mg.DataError) as caught:
            correct()
        assert why in str(caught.value)
    with pytest.raises(mg.DataError, match=r"open.txt:2:3: found the label"):
        model.fix_all(path)


def test_labels_that_are_not_texts() -> None:
    model = mg.train([(W, ["N", "N", "V"])] * 4)
    for odd in ({"N", "V"}, None, ["N"]):
        with pytest.raises(mg.DataError, match=r"found the label .* expected a string: a correction says"):
            model.fix(W, [odd, "N", "V"])  # type: ignore[list-item]


def test_checked_data_are_complete_and_legal(toys: Toys) -> None:
    partly = mg.train([(W, ["N", "_", "V"])] * 4, partial=True)
    for label in ("_", None, {"N", "V"}):
        with pytest.raises(mg.DataError, match="data to be scored must be labelled completely"):
            partly.fix(W, ["N", "N", "V"], check=[(W, ["N", label, "V"])])
    model = mg.train(toys(8), passes=2)
    x = new_words(2, 1)
    with pytest.raises(mg.DataError, match="found label 'Q-X', expected a label of IOB2"):
        model.fix(x, ["O", "B-X"], check=[(x, ["O", "Q-X"])])
    with pytest.raises(mg.DataError, match="I-X"):
        model.fix(x, ["O", "B-X"], check=[(x, ["O", "I-X"])])
    mending = mg.train(toys(8), passes=2, repair=True).fix(x, ["O", "B-X"], check=[(x, ["O", "I-X"])])
    assert mending.correction_report is not None
    assert [(flip.kind, flip.right) for flip in mending.correction_report.flips] == [("mended", ("O", "B-X"))]


@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_models_in_which_no_feature_has_a_weight(learner: str) -> None:
    model = mg.train([(W, ["N", "N", "N"])], learner=learner)
    fixed = model.fix(W, ["N", "N", "N"])
    assert fixed.corrections[0].changes == ()
    assert fixed.undo().to_bytes() == model.to_bytes()
    fixed = model.fix(W, ["N", "V", "N"])
    assert fixed.tag(W).labels == ("N", "V", "N")
    assert fixed.undo().to_bytes() == model.to_bytes()


def test_long_examples_get_more_rounds() -> None:
    model = mg.train([(W, ["N", "V", "N"])] * 4)
    words, labels = [f"w{i}" for i in range(100)], [f"L{i}" for i in range(100)]
    fixed = model.fix(words, labels)
    assert fixed.correction_report is not None
    assert fixed.correction_report.updates > 1000
    assert list(fixed.tag(words).labels) == labels


def test_values_that_are_too_large() -> None:
    """Labels that could be told apart are not said to be the same."""
    small = [{"a": 1.0, "l": 1.0}, {"b": 1.0, "l": 2.0}, {"c": 2.0, "l": 1.0}]
    model = mg.train([(small, ["N", "V", "N"])] * 4)
    x = [{"l": 1e8}, {"l": 5e7}, {"l": 1.001e8}]
    with pytest.raises(mg.DataError) as caught:
        model.fix(x, ["V", "V", "N"])
    assert "cannot be made right in 1,150 rounds: the model's features do not, or hardly, tell" in str(
        caught.value
    )
    assert "values of up to 1.001e+08: bring them near 1" in str(caught.value)


@pytest.mark.parametrize("teach", ["train", "fix_all", "partial_fit", "check"])
def test_unequal_counts(toys: Toys, teach: str) -> None:
    model = mg.train(toys(5))
    bad: list[Any] = [(new_words(2, 1), ["O", "O"]), (new_words(3, 2), ["O", "B-X"])]
    calls = {
        "train": lambda: mg.train(bad),
        "fix_all": lambda: model.fix_all(bad),
        "partial_fit": lambda: model.partial_fit(bad),
        "check": lambda: model.fix(*bad[0], check=bad),
    }
    with pytest.raises(mg.DataError, match=r"^example 2: found 2 labels, expected 3, one for each token$"):
        calls[teach]()
