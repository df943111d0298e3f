"""Calibration: the temperature that a grid finds too, in the model, in its file, and read with care."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from learn_world import RUNS, conll_file

import marginalia as mg
from marginalia.corpus.blocks import read_blocks
from marginalia.learn.calibration import HeldOutAnswers, fit_temperature
from marginalia.model.file import from_bytes, to_bytes

Toys = Callable[..., Any]


def noisy(toys: Toys, count: int, seed: int) -> Any:
    """Sentences in which every fifth has the labels of nobody's."""
    return [(c, ["O"] * len(y) if i % 5 == 0 else y) for i, (c, y) in enumerate(toys(count, seed=seed))]


@pytest.mark.parametrize("best", [0.02, 0.9, 11.0, 3000.0])
def test_the_least_of_a_curve(best: float) -> None:
    found = fit_temperature(lambda t: (math.log(t) - math.log(best)) ** 2)
    assert found == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("run", ["perceptron", "perceptron, voted", "margin", "pa", "crf", "maxent, beam"])
@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_against_a_grid(toys: Toys, tmp_path: Path, run: str, structure: str) -> None:
    """No temperature of a fine grid is much better."""
    learner, settings = RUNS[run]
    if learner == "maxent" and structure == "segments":
        pytest.skip("maximum entropy models are chains")
    model = mg.train(noisy(toys, 40, 1), learner=learner, structure=structure, passes=4, **settings)
    dev = conll_file(tmp_path / "dev.txt", noisy(toys, 60, 2))
    calibrated = mg.calibrate(model, dev, columns="word tag label")
    temperature = calibrated.temperature
    assert temperature is not None
    held_out = HeldOutAnswers(model, read_blocks(dev, "word tag label"), "label")
    grid = [temperature * 1.1**step for step in range(-30, 31)]
    assert held_out.log_loss(temperature) <= min(map(held_out.log_loss, grid)) + 1e-4
    found = held_out.reliabilities(temperature)["spans"]
    assert calibrated.saved.calibration["spans"] == {
        "count": found.count,
        "ece": found.ece,
        "brier": found.brier,
    }
    for columns, _ in toys(10, seed=4):
        assert calibrated.tag(columns).labels == model.tag(columns).labels


def test_data_of_all_kinds_and_threads(toys: Toys, tmp_path: Path) -> None:
    model = mg.train(noisy(toys, 30, 1), passes=3)
    dev = noisy(toys, 700, 2)
    path = conll_file(tmp_path / "dev.txt", dev)
    expected = mg.calibrate(model, dev).saved.calibration
    assert mg.calibrate(model, dev, threads=3).saved.calibration == expected
    assert mg.calibrate(model, path, columns="word tag label", format="conll").saved.calibration == expected
    unseen = [({"word": ["x1"], "tag": ["T0"]}, ["B-Q"])] * 5
    assert mg.calibrate(model, [*dev, *unseen]).temperature > expected["temperature"]  # type: ignore[operator]


def test_plain_tags(toys: Toys) -> None:
    data = [(columns["word"], columns["tag"]) for columns, _ in toys(40)]
    model = mg.train(data, passes=3)
    calibration = mg.calibrate(model, data[:20]).saved.calibration
    assert "spans" not in calibration
    assert calibration["tokens"]["count"] == sum(len(words) for words, _ in data[:20])


def test_files(toys: Toys, tmp_path: Path) -> None:
    """The temperature is saved; files without one are read as before; a model that learns on has none."""
    model = mg.calibrate(mg.train(noisy(toys, 30, 1), passes=2), noisy(toys, 30, 2))
    model.save(tmp_path / "m.mg")
    loaded = mg.load(tmp_path / "m.mg")
    assert loaded.saved.calibration == model.saved.calibration
    columns = toys(1, seed=8)[0][0]
    assert loaded.tag(columns, confidence=True) == model.tag(columns, confidence=True)
    again = mg.train(noisy(toys, 30, 1), start=model, passes=1)
    assert again.temperature is None


@pytest.mark.parametrize(
    "damage", [0.0, -1.0, math.nan, math.inf, 1e300, "hot", None, [1.0], True, "nothing"]
)
def test_a_damaged_temperature(toys: Toys, damage: Any) -> None:
    model = mg.train(toys(5), passes=1)
    calibration = {"method": "exact"} if damage == "nothing" else {"temperature": damage}
    data = to_bytes(replace(model.saved, calibration=calibration))
    with pytest.raises(mg.ModelError, match="temperature"):
        from_bytes(data)
    with pytest.raises(mg.ModelError, match="calibration"):
        from_bytes(to_bytes(replace(model.saved, calibration=[damage])))  # type: ignore[arg-type]


def test_files_from_before(toys: Toys, monkeypatch: pytest.MonkeyPatch) -> None:
    """They have no calibration."""
    from marginalia.model import SavedModel

    model = mg.train(toys(5), passes=1)
    whole = SavedModel.metadata
    monkeypatch.setattr(
        SavedModel, "metadata", lambda saved: {k: v for k, v in whole(saved).items() if k != "calibration"}
    )
    assert from_bytes(to_bytes(model.saved)).calibration == {}


def test_no_data(toys: Toys) -> None:
    with pytest.raises(mg.DataError, match="no labelled sentences"):
        mg.calibrate(mg.train(toys(5), passes=1), [({"word": [], "tag": []}, [])])
