"""Labels that leave open what is right, on the command line: train, tag, eval, calibrate, shrink."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run

import marginalia as mg


@pytest.fixture(scope="module")
def hidden(data: Path) -> Path:
    """The training data with half of their labels unknown."""
    chance, lines = random.Random(1), []
    for line in (data / "train.txt").read_text().splitlines():
        fields = line.split()
        lines.append(" ".join([*fields[:-1], "_"]) if fields and chance.random() < 0.5 else line)
    path = data / "hidden.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("chosen", [[], ["--learner", "crf"], ["--structure", "segments"]])
def test_train_and_eval(run: Run, data: Path, hidden: Path, tmp_path: Path, chosen: list[str]) -> None:
    model = tmp_path / "model.mg"
    words = ["train", hidden, "-o", model, "--columns", COLUMNS, *chosen, "--set", "partial=on", "-q"]
    code, _, err = run(*words)
    assert code == 0, err
    assert mg.load(model).saved.settings["partial"] is True
    code, out, err = run("eval", model, data / "test.txt", "--json")
    assert code == 0, err
    assert json.loads(out)["f1"] > 85
    code, _, err = run("tag", model, hidden, "-o", tmp_path / "out.txt")
    assert code == 0, err

    for verb in (["eval", model, hidden], ["calibrate", model, hidden, "-o", tmp_path / "c.mg"]):
        code, _, err = run(*verb)
        assert code == 1
        assert "hidden.txt:" in err
        assert "found the label '_', expected a complete one: data to be scored" in err
    code, _, err = run("shrink", model, "-o", tmp_path / "s.mg", "--dev", hidden)
    assert code == 1
    assert "data to be scored must be labelled completely" in err
    code, _, err = run(*words, "--dev", hidden)
    assert code == 1
    assert "data to be scored must be labelled completely" in err


def test_unknown_regions_are_not_scored(run: Run, tmp_path: Path) -> None:
    """What a line of JSON leaves open must not count as outside of spans."""
    path, model = tmp_path / "data.jsonl", tmp_path / "model.mg"
    lines = [
        {"text": "ann met bob", "spans": [[0, 3, "PER"], [8, 11, "PER"]]},
        {"text": "bob saw it", "spans": [[0, 3, "PER"]], "unknown": [[4, 10]]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    code, _, err = run("train", path, "-o", model, "--set", "partial=on", "-q")
    assert code == 0, err
    code, _, err = run("eval", model, path)
    assert code == 1
    assert "data.jsonl:2" in err
    code, out, err = run("tag", model, path)
    assert code == 0, err
    assert "unknown" not in out  # all of it has labels now


def test_contradictions_name_their_place(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("He B-NP\nsleeps _\n\nso O\nit I-NP\nis _\n\n")
    code, _, err = run("train", path, "-o", tmp_path / "m.mg", "--set", "partial=on", "-q")
    assert code == 1
    assert "bad.txt:5:4: found I-NP after O, which no labels of IOB2 fit together with the others" in err
    assert not (tmp_path / "m.mg").exists()


def test_the_setting_is_listed(run: Run) -> None:
    code, out, _ = run("train", "--settings")
    assert code == 0
    assert "partial" in out
