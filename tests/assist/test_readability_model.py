"""The model of pairs: antisymmetric, explained, calibrated on folds, and refused when damaged."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

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
from marginalia.assist.readability.changes import changes, is_change, why_change
from marginalia.assist.readability.evidence import Evidence, SeenWord, by_family, triple
from marginalia.assist.readability.model import sides
from marginalia.assist.readability.training import (
    Items,
    JudgedPair,
    fitted_temperature,
    folds_of,
    held_out_margins,
    learning,
    train_model,
)
from marginalia.errors import DataError, ModelError, SettingsError

NAMES = ["words>=5", "words>=20", "passive", "past-perfect", "word house", "word edifice"]
WORDS = [
    SeenWord("houses", "house", "NOUN"),
    SeenWord("edifices", "edifice", "NOUN"),
    SeenWord("It", "it", "PRON"),
    SeenWord(".", ".", "PUNCT"),
    SeenWord("built", "build", "VERB"),
]


def seen(*names: str, words: tuple[SeenWord, ...] = ()) -> Evidence:
    return Evidence("en", frozenset(names), words)


EVIDENCE = st.builds(
    lambda names, words: seen(*names, words=tuple(words)),
    st.frozensets(st.sampled_from(NAMES)),
    st.lists(st.sampled_from(WORDS), max_size=6),
)
LEVELS = {"beginner": [seen(*NAMES[:1]), seen(*NAMES[:2])], "advanced": [seen(*NAMES)]}


@cache
def small_model() -> ReadabilityModel:
    """Long sentences, passives and `edifice` are hard."""
    house, edifice = tuple(WORDS[:1]), tuple(WORDS[1:3])
    pairs = [
        JudgedPair(seen("words>=5", "word house"), seen("words>=5", "words>=20", "passive"), "a"),
        JudgedPair(seen("word house", words=house), seen("word edifice", "passive", words=edifice), "b"),
        JudgedPair(seen("past-perfect"), seen("words>=5", "words>=20"), "c"),
    ]
    return train_model(pairs, "en", LEVELS).model


@given(EVIDENCE, EVIDENCE)
def test_comparing_the_other_way_round_gives_the_opposite(a: Evidence, b: Evidence) -> None:
    model = small_model()
    there, back = model.compare(a, b), model.compare(b, a)
    assert there.score == -back.score
    assert -1 <= there.score <= 1
    opposite = {"left": "right", "right": "left", "comparable": "comparable"}
    assert back.verdict == opposite[there.verdict]
    assert [(one.name, abs(one.weight)) for one in there.reasons] == [
        (one.name, abs(one.weight)) for one in back.reasons
    ]


@given(EVIDENCE, EVIDENCE)
def test_scores_are_sums_of_weights_of_what_one_side_has_alone(a: Evidence, b: Evidence) -> None:
    model = small_model()
    left, right = sides(a, b)
    margin = sum(model.pair_weights.get(name, 0) * value for name, value in left.items())
    margin -= sum(model.pair_weights.get(name, 0) * value for name, value in right.items())
    assert model.score(a, b) == pytest.approx(math.tanh(margin / 2 / model.temperature))
    shared, only_left, only_right = triple(a, b)
    assert (shared | only_left, shared | only_right) == (a.features, b.features)
    assert shared.isdisjoint(only_left | only_right)


@given(EVIDENCE, EVIDENCE)
def test_changes_are_those_of_the_other_side_turned_round_and_can_be_explained(
    a: Evidence, b: Evidence
) -> None:
    left, right = changes(a, b)
    assert changes(a, a)[0] == changes(a, a)[1]
    assert all(why_change(name).endswith((".", "”.")) and is_change(name) for name in (*left, *right))
    added = sum(number for name, number in left.items() if re.fullmatch("(added|instead) [A-Z]+", name))
    assert added >= len(a.words) - len(b.words)


@given(EVIDENCE)
def test_difficulties_fall_with_ease_and_with_the_level_of_readers(found: Evidence) -> None:
    model = small_model()
    harder, easier = seen(*found.features, "passive"), seen(*found.features - {"passive"})
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
    learned = []

    def learn(items: Items) -> mg.Reranker:
        learned.append({name for item, _ in items for name in item["candidates"][0]["features"]})
        return learning("maxent", {}, 1)(items)

    pairs = [JudgedPair(seen(f"g{i // 2}", "a"), seen("b"), f"g{i // 2}") for i in range(8)]
    margins = held_out_margins(pairs, learn, seed=1)
    assert all(margin > 0 for margin in margins)
    assert sorted(len({name for name in one if name[0] == "g"}) for one in learned) == [3, 3, 3, 3]


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
    with pytest.raises(DataError, match=r"found [01] pairs to learn from"):
        train_model([JudgedPair(seen(), seen(), "a")], "en", LEVELS)
    with pytest.raises(SettingsError, match="found level 'expert', expected one of beginner, advanced"):
        small_model().difficulty(seen(), "expert")
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
