"""Presets: what they choose, and that what a user sets goes before them."""

from __future__ import annotations

import pytest

from marginalia.errors import SettingsError
from marginalia.learn.presets import PRESETS
from marginalia.learn.recipe import TASKS, make_recipe


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("task", TASKS)
def test_every_preset_is_a_recipe_of_every_task(task: str, preset: str) -> None:
    recipe = make_recipe(task, preset=preset)
    values = recipe.settings.to_json()
    assert recipe.preset == preset
    assert all(values[name] == value for name, value in recipe.chosen.items())


def test_a_task_is_balanced_and_a_learner_stands_for_itself() -> None:
    assert make_recipe("ner").preset == "balanced"
    assert make_recipe("ner").learner == "arow"
    assert make_recipe("ner", learner="perceptron").preset is None
    assert make_recipe().learner == "perceptron"


def test_settings_of_a_user_go_before_those_of_a_preset() -> None:
    recipe = make_recipe("chunking", preset="best", settings={"passes": 2, "shuffle_average": 3})
    assert recipe.structure == "segments"
    values = recipe.settings.to_json()
    assert (values["passes"], values["shuffle-average"], values["dropout"]) == (2, 3, "values:0.15")
    assert make_recipe("chunking", preset="best", structure="chain").features == "chunking"


def test_wrong_presets_are_refused() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'best'"):
        make_recipe("ner", preset="bst")
    with pytest.raises(SettingsError, match="a preset chooses the learner"):
        make_recipe("ner", preset="best", learner="crf")
