"""Forged models with right checksums: a ModelError, or a model that works (tools/fuzz tries many more)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.cli import main
from marginalia.model import to_bytes
from marginalia.model.saved import SavedModel

ROOT = Path(__file__).parents[2]
STORED = Path(__file__).parent / "stored"


def test_a_share_of_the_forgeries_of_the_fuzzer() -> None:
    command = [sys.executable, ROOT / "tools" / "fuzz" / "forged_models.py", "--count", "41", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def refused(saved: SavedModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `inspect` says of a model that cannot be loaded either."""
    path = tmp_path / "forged.mg"
    path.write_bytes(to_bytes(saved))
    with pytest.raises(mg.ModelError):
        mg.load(path)
    assert main(["inspect", str(path)]) == 1
    message = capsys.readouterr().err
    assert "forged.mg" in message
    return message


Change = Callable[[SavedModel], SavedModel]


def in_program(old: str, new: str) -> Change:
    class Text:
        def __init__(self, text: str) -> None:
            self.to_json = lambda: text

    def changed(saved: SavedModel) -> SavedModel:
        program: Any = Text(saved.program.to_json().replace(old, new, 1))
        return replace(saved, program=program)

    return changed


def in_history(**fields: Any) -> Change:
    return lambda saved: replace(saved, history=[saved.history[0] | fields])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (in_program('"attributes":', f'"x":{"[" * 5000}{"]" * 5000},"attributes":'), "nested too deeply"),
        (in_program('"word[0]', '"\\ud800word[0]'), "half of a surrogate pair"),
        (lambda saved: replace(saved, labels=("\ud800", *saved.labels[1:])), "half of a surrogate pair"),
        (lambda saved: replace(saved, labels=("a\tb", *saved.labels[1:])), "there is the label 'a\\tb'"),
        (lambda saved: replace(saved, labels=("a\nb", *saved.labels[1:])), "there is the label 'a\\nb'"),
        (lambda saved: replace(saved, settings=saved.settings | {"order": 9}), "order"),
        (in_history(number="1"), "a pass has no number"),
        (in_history(best=None), "neither the best nor another"),
        (in_history(error="0.1"), "a pass has error '0.1'"),
        (in_history(dev=[1]), "a pass has dev [1]"),
        (lambda saved: replace(saved, columns=(*saved.columns, "\udfff")), "half of a surrogate pair"),
    ],
)
def test_descriptions_are_checked_by_all_verbs(
    change: Change, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert why in refused(change(mg.load(STORED / "chain.mg").saved), tmp_path, capsys)


@pytest.mark.parametrize(
    ("model", "array", "value"),
    [
        ("chain.mg", "row_end", np.arange(4, dtype=np.uint32)[::-1].copy()),
        ("single-rules.mg", "constants", np.ones(2, np.float32)),
        ("rules.mg", "rule.support", np.zeros(1, np.uint32)),
        ("trees.mg", "constants", np.ones(1, np.float32)),
    ],
)
def test_arrays_are_checked_by_all_verbs(
    model: str, array: str, value: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = mg.load(STORED / model).saved
    refused(replace(saved, arrays=saved.arrays | {array: value}), tmp_path, capsys)


@pytest.mark.parametrize("setting", ["beam", "candidates"])
def test_settings_keep_the_bounds_of_training(
    setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = {"beam": "maxent-beam.mg", "candidates": "chain-voted.mg"}[setting]
    saved = mg.load(STORED / stored).saved
    name = setting if setting in saved.settings else "vote-candidates"
    for value in (10**9, -1, "many", None):
        assert name in refused(replace(saved, settings=saved.settings | {name: value}), tmp_path, capsys)


def test_the_fuzzer_forges_the_same_files_again() -> None:
    sys.path.insert(0, str(ROOT / "tools" / "fuzz"))
    from forgery import forged

    data = (STORED / "chain.mg").read_bytes()
    assert forged(data, random.Random(7)) == forged(data, random.Random(7))
    json.dumps(forged(data, random.Random(7))[1])


def test_actions_of_parsers_are_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(STORED / "trees.mg"), "--label", "right NAME"]) == 0
    assert "speaks for right NAME" in capsys.readouterr().out
    assert main(["inspect", str(STORED / "trees.mg"), "--export", str(tmp_path / "w.tsv")]) == 0
    assert "\tright\\sNAME\t" in (tmp_path / "w.tsv").read_text()
    assert mg.load(STORED / "trees.mg").with_weights(tmp_path / "w.tsv").to_bytes() == (
        (STORED / "trees.mg").read_bytes()
    )


def test_pipelines_have_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(STORED / "pipeline.mg"), "--export", str(tmp_path / "w.tsv")]) == 1
    assert "a pipeline has no table of weights" in capsys.readouterr().err
