"""The model of pairs: antisymmetric, explained, calibrated on folds, and refused when damaged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.assist.parses import parses
from marginalia.assist.readability import (
    ReadabilityModel,
    compare,
    load_model,
    sentence_difficulty,
    shipped_model,
)
from marginalia.assist.readability.evidence import by_family, triple
from marginalia.assist.readability.training import (
    JudgedPair,
    fitted_temperature,
    folds_of,
    held_out_margins,
    train_model,
)
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.learn import train

NAMES = ["words>=5", "words>=20", "passive", "past-perfect", "word house", "word edifice"]
EVIDENCE = st.frozensets(st.sampled_from(NAMES))
LEVELS = {"beginner": [frozenset(NAMES[:1]), frozenset(NAMES[:2])], "advanced": [frozenset(NAMES)]}


@cache
def small_model() -> ReadabilityModel:
    """Long sentences, passives and `edifice` are hard."""
    pairs = [
        JudgedPair(
            frozenset({"words>=5", "word house"}), frozenset({"words>=5", "words>=20", "passive"}), "a"
        ),
        JudgedPair(frozenset({"word house"}), frozenset({"word edifice", "passive"}), "b"),
        JudgedPair(frozenset({"past-perfect"}), frozenset({"words>=5", "words>=20"}), "c"),
    ]
    return train_model(pairs, "en", LEVELS)


@given(EVIDENCE, EVIDENCE)
def test_comparing_the_other_way_round_gives_the_opposite(a: frozenset[str], b: frozenset[str]) -> None:
    model = small_model()
    there, back = model.compare(a, b), model.compare(b, a)
    assert there.score == -back.score
    assert -1 <= there.score <= 1
    opposite = {"left": "right", "right": "left", "comparable": "comparable"}
    assert back.verdict == opposite[there.verdict]
    assert [(one.name, one.weight) for one in there.reasons] == [
        (one.name, -one.weight) for one in back.reasons
    ]


@given(EVIDENCE, EVIDENCE)
def test_scores_are_sums_of_weights_of_what_one_side_has_alone(a: frozenset[str], b: frozenset[str]) -> None:
    model = small_model()
    margin = sum(model.weights.get(x, 0) for x in a - b) - sum(model.weights.get(x, 0) for x in b - a)
    assert model.score(a, b) == pytest.approx(math.tanh(margin / 2 / model.temperature))
    shared, left, right = triple(a, b)
    assert (shared | left, shared | right, shared & (left | right)) == (a, b, frozenset())


@given(EVIDENCE)
def test_difficulties_fall_with_ease_and_with_the_level_of_readers(found: frozenset[str]) -> None:
    model = small_model()
    harder, easier = found | {"passive"}, found - {"passive"}
    assert 0 <= model.difficulty(easier, "beginner") < model.difficulty(harder, "beginner") <= 100
    assert all(reason.weight > 0 and reason.text for reason in model.reasons(found))


def test_features_of_a_measure_are_one_family_from_the_lowest_threshold_up() -> None:
    assert by_family({"words>=20", "passive", "words>=5"}) == {
        "words": ["words>=5", "words>=20"],
        "passive": ["passive"],
    }


def test_pairs_of_a_group_are_in_one_fold_and_folds_are_not_learned_from() -> None:
    folds = folds_of((str(i) for i in range(25)), seed=3)
    assert sorted(map(list(folds.values()).count, range(10))) == [2] * 5 + [3] * 5
    seen = []

    def learn(pairs: Sequence[JudgedPair]) -> mg.Reranker:
        seen.append({pair.group for pair in pairs})
        item = {"candidates": [{"features": ["a"], "right": True}, {"features": ["b"]}]}
        return cast("mg.Reranker", train([item], structure="candidates", learner="maxent"))  # type: ignore[arg-type]

    pairs = [JudgedPair(frozenset({"a"}), frozenset(), f"g{i // 2}") for i in range(8)]
    margins = held_out_margins(pairs, learn, seed=1)
    assert all(margin > 0 for margin in margins)
    assert sorted(map(len, seen)) == [3, 3, 3, 3]


def test_the_temperature_is_the_likeliest() -> None:
    margins = [3.0, 3.0, 3.0, -3.0]  # right three times of four: log odds of log 3
    assert 3.0 / fitted_temperature(margins) == pytest.approx(math.log(3), rel=0.05)


def test_a_model_is_what_its_file_says(tmp_path: Path) -> None:
    small_model().save(tmp_path / "m.mg")
    again = load_model(tmp_path / "m.mg")
    assert again.weights == small_model().weights
    assert (again.temperature, again.levels) == (small_model().temperature, small_model().levels)
    again.save(tmp_path / "n.mg")
    assert (tmp_path / "n.mg").read_bytes() == (tmp_path / "m.mg").read_bytes()


def test_damaged_and_other_models_are_refused(tmp_path: Path) -> None:
    small_model().save(tmp_path / "m.mg")
    whole = (tmp_path / "m.mg").read_bytes()
    for damaged in (
        whole[:100],
        whole[:-1],
        whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:],
        b"",
        b"x" * 99,
    ):
        (tmp_path / "d.mg").write_bytes(damaged)
        with pytest.raises(ModelError, match=r"d\.mg"):
            load_model(tmp_path / "d.mg")
    mg.load("en").save(tmp_path / "en.mg")
    with pytest.raises(ModelError, match="this is no model of readability"):
        load_model(tmp_path / "en.mg")


def test_too_few_pairs_and_unknown_levels_are_refused() -> None:
    with pytest.raises(DataError, match="found 0 pairs to learn from"):
        train_model([JudgedPair(frozenset(), frozenset(), "a")], "en", LEVELS)
    with pytest.raises(SettingsError, match="found level 'expert', expected one of beginner, advanced"):
        small_model().difficulty(frozenset(), "expert")
    with pytest.raises(SettingsError, match="found language 'de'"):
        shipped_model("de")


def test_the_shipped_model_knows_what_is_hard() -> None:
    hard = "Notwithstanding the stipulations, the committee resolved to defer promulgation of the regulation."
    easy = "The group decided to wait."
    found = compare(easy, hard)
    assert found.verdict == "left"
    assert found.reasons
    assert compare(hard, easy).score == -found.score
    parsed = parses("en").parse([f"{hard} {easy}"])[0]
    (first, reasons), (second, _) = (sentence_difficulty(one, "en", "intermediate") for one in parsed)
    assert first > 80 > 20 > second
    assert reasons[0].text.endswith((".", '"'))
    assert first < sentence_difficulty(parsed[0], "en", "beginner")[0]
