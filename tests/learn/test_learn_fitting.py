"""Which structures, learners and regularisers go together, and that others are refused with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from learn_world import Toys

import marginalia as mg
from marginalia import _core
from marginalia.decode.structures import STRUCTURES
from marginalia.features.compiling import compile_segment_extractor
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates
from marginalia.learn.fitting import OPTIONS, fits
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import make_recipe

OPTION_SETTINGS: dict[str, dict[str, Any]] = {
    "dropout": {"dropout": "hide-features:0.5"},
    "partial=on": {"partial": True},
    "l2": {"l2": 0.01},
    "l1": {"l1": 0.01},
    "l1-cumulative": {"l1-cumulative": 0.01},
}


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a structure that has no tier but the first."""
    monkeypatch.setitem(
        STRUCTURES, "bare", STRUCTURES["chain"]._replace(tiers=frozenset(), global_tiers=None)
    )
    return "bare"


def test_tiers_are_known() -> None:
    for structure in STRUCTURES.values():
        assert structure.tiers <= _core.tiers().keys()
    for learner in LEARNERS.values():
        assert learner.needs <= _core.tiers().keys()
    assert OPTIONS.keys() == OPTION_SETTINGS.keys()


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_learner_trains_what_it_fits(toys: Toys, structure: str, learner: str) -> None:
    if STRUCTURES[structure].compile is not STRUCTURES["chain"].compile and structure != "segments":
        pytest.skip("its data are of another kind")
    passes = {} if learner in ("rank-boost", "rules") else {"passes": 2}
    more: dict[str, Any] = {"features": "fields", **passes}
    if not fits(structure, learner):
        with pytest.raises(mg.SettingsError, match=f"learner {learner} needs .* structure {structure} does"):
            mg.train(toys(10), structure=structure, learner=learner, **more)
    else:
        assert mg.train(toys(10), structure=structure, learner=learner, **more).labels


@pytest.mark.parametrize(
    ("learner", "what"),
    [("pa", "costs of wrong outputs"), ("arow", "costs of wrong outputs"), ("crf", "expected features"),
     ("maxent", "outputs that are made choice by choice")],
)  # fmt: skip
def test_a_learner_that_needs_more_is_refused(bare: str, learner: str, what: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        make_recipe(structure=bare, learner=learner)
    message = str(caught.value)
    assert message.startswith(f"learner {learner} needs {what}, which the structure bare does not have")
    assert "choose another learner (perceptron, margin)" in message
    assert "structure=chain" in message


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("learner", ["perceptron", "margin"])
def test_an_option_that_needs_more_is_refused(bare: str, learner: str, option: str) -> None:
    make_recipe(structure=bare, learner=learner)
    what = _core.tiers()[OPTIONS[option]]
    with pytest.raises(mg.SettingsError, match=f"{option} needs {what}, which the structure bare does not"):
        make_recipe(structure=bare, learner=learner, settings=OPTION_SETTINGS[option])


def test_penalties_of_sgd_are_paid_late_those_of_lbfgs_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    tiers = frozenset({"expectations"})
    monkeypatch.setitem(STRUCTURES, "bare", STRUCTURES["chain"]._replace(tiers=tiers))
    make_recipe(structure="bare", learner="crf", settings={"l2": 1.0})
    with pytest.raises(mg.SettingsError, match="l2 needs the rows that an example's score comes from"):
        make_recipe(structure="bare", learner="crf", settings={"l2": 1.0, "algorithm": "sgd"})


def test_the_core_refuses_by_name() -> None:
    """Whoever gets past the recipe is refused there."""
    shape = _core.SegmentShape(np.array([2**32 - 1], np.uint32), 1, True, True)
    examples, index = _core.SegmentExamples(False), _core.FeatureIndex(False)
    examples.set_gold(np.zeros(0, np.int32), shape)
    templates = parse_templates("word[0]", Columns(("word", "label"), "label"))
    program = compile_segment_extractor(templates, ("word",), {})
    batch = _core.SegmentBatch(shape, program, examples, index, False)
    weights, none = _core.WeightTable(1, shape.constants), np.zeros(0, np.uint32)
    with pytest.raises(ValueError, match=r"gradient needs outputs .* which the structure segments does not"):
        batch.learn(weights, _core.UpdateRule.gradient(0.1, 1.0, 1, True), none, 0, np.zeros(0))
    with pytest.raises(ValueError, match=r"correction needs outputs .* which the structure segments does"):
        batch.learn(weights, _core.UpdateRule.correction(1.0, True), none, 0, np.zeros(0))
