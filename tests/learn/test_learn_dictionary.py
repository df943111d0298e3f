"""Training with a dictionary: its matches are those of phrase lists, but some phrases are hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.model import phrases_of

Toys = Callable[..., Any]
NAMES = {"x1": "X", "x2 x3": "X", "y1 y2": "Y", "y5": "Y"}


def lists_of(folder: Path) -> dict[str, str]:
    """The same phrases as lists."""
    for label in "XY":
        (folder / label).write_text("".join(f"{p}\n" for p, own in NAMES.items() if own == label))
    return {label: str(folder / label) for label in "XY"}


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_without_dropout_it_is_a_list_for_each_label(toys: Toys, tmp_path: Path, structure: str) -> None:
    same: dict[str, Any] = {"structure": structure, "passes": 3}
    one = mg.train(toys(30), toys(10, seed=2), dictionary=NAMES, dictionary_dropout=0.0, **same)
    two = mg.train(toys(30), toys(10, seed=2), lists=lists_of(tmp_path), **same)
    assert one.saved.program.dictionary == ("X", "Y")
    assert two.saved.program.dictionary == ()
    assert one.saved.arrays.keys() == two.saved.arrays.keys()
    for name, array in one.saved.arrays.items():
        assert np.array_equal(array, two.saved.arrays[name]), name
    assert one.saved.history == two.saved.history


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_hidden_phrases_are_hidden_in_training_only(toys: Toys, structure: str) -> None:
    same: dict[str, Any] = {"structure": structure, "passes": 2, "dictionary": NAMES}
    all_hidden = mg.train(toys(30), dictionary_dropout=1.0, **same)
    none_hidden = mg.train(toys(30), dictionary_dropout=0.0, **same)
    usual = mg.train(toys(30), **same)
    assert usual.saved.settings["dictionary-dropout"] == 0.5
    for model in (all_hidden, usual):
        kept, whole = (phrases_of(one.saved) for one in (model, none_hidden))
        assert all(kept[name].states.tolist() == whole[name].states.tolist() for name in "XY")

    def learned(model: mg.Tagger) -> set[str]:
        names = model.saved.feature_names() or []
        return {name for name in names if name.startswith("list(") and name.endswith(("=B", "=I", "=1"))}

    assert learned(all_hidden) == set()
    assert learned(none_hidden)


def test_the_order_of_phrases_does_not_matter(toys: Toys) -> None:
    turned = dict(reversed(NAMES.items()))
    made = [mg.train(toys(20), passes=2, dictionary=names).to_bytes() for names in (NAMES, turned)]
    assert made[0] == made[1]


def test_going_on_with_a_model_and_its_dictionary(toys: Toys) -> None:
    whole = mg.train(toys(20), passes=4, dictionary=NAMES, state=True)
    first = mg.train(toys(20), passes=2, dictionary=NAMES, state=True)
    again = mg.train(toys(20), passes=2, start=first, state=True)
    weights = [model.saved.arrays["weights"].tolist() for model in (whole, again)]
    assert weights[0] == weights[1]
    with pytest.raises(mg.SettingsError, match="found dictionary, but a model to begin with brings its own"):
        mg.train(toys(20), start=first, dictionary=NAMES)


def test_phrases_are_cut_as_the_data_are(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"text": "in St. John\'s today", "spans": [{"start": 3, "end": 13, "label": "LOC"}]}\n' * 3
    )
    model = mg.train(tmp_path / "t.jsonl", dictionary={"St. John's": "LOC"}, dictionary_dropout=0.0, passes=2)
    names = model.saved.feature_names() or []
    assert "list(LOC)(token)[0]=B" in names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"dictionary": {"a": "B X"}},
            "found the label 'B X'; a dictionary to learn with",
        ),
        ({"dictionary": {}}, "there is no phrase in it"),
        ({"dictionary": {"a": "X"}, "lists": {"X": "x.txt"}}, "there is a list 'X' already"),
        ({"dictionary": {"a": "X"}, "dictionary_dropout": 1.5}, "'dictionary-dropout': found 1.5"),
    ],
)
def test_refusals(toys: Toys, options: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        mg.train(toys(3), passes=1, **options)


def test_explicit_attributes_take_none() -> None:
    with pytest.raises(mg.SettingsError, match="no task, features, lists, clusters, lexicons or dictionary"):
        mg.train([([["a=1"]], ["X"])], dictionary={"a": "X"})


def test_the_estimator_takes_one(toys: Toys) -> None:
    columns, labels = zip(*toys(20), strict=True)
    words = [each["word"] for each in columns]
    fitted = mg.Labeler(passes=2, dictionary=NAMES).fit(words, labels)
    expected = mg.train(list(zip(words, labels, strict=True)), passes=2, dictionary=NAMES)
    assert fitted.model_.to_bytes() == expected.to_bytes()
