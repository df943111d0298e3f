"""Segments on the command line: train, tag, eval and inspect."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, Shell, without_last_column

import marginalia as mg


@pytest.fixture(scope="module")
def segments(data: Path) -> Path:
    return data / "segments.mg"


def test_from_training_to_reasons(run: Run, data: Path, segments: Path, tmp_path: Path) -> None:
    words = ["train", data / "train.txt", "--dev", data / "dev.txt", "-o", segments, "--columns", COLUMNS]
    chosen = ["--structure", "segments", "--features", "segments", "--set", "max-length=2"]
    code, out, err = run(*words, *chosen)
    assert code == 0
    assert "segments of more than max-length=2 tokens into pieces" in out + err
    assert "pass" in out + err
    model = mg.load(segments)
    assert (model.saved.structure, model.saved.settings["max-length"]) == ("segments", 2)

    code, out, err = run("eval", segments, data / "test.txt", "--json")
    assert code == 0, err
    cut = json.loads(out)["f1"]
    code, _, _ = run(*words, *chosen[:-1], "max-length=auto", "-q")
    assert code == 0
    code, out, _ = run("eval", segments, data / "test.txt", "--json")
    assert json.loads(out)["f1"] > max(cut, 95)

    bare = tmp_path / "bare.txt"
    bare.write_text(without_last_column((data / "test.txt").read_text()))
    code, out, err = run("tag", segments, bare)
    assert code == 0, err
    lines = [line for line in out.split("\n") if line]
    assert len(lines) == len([line for line in bare.read_text().split("\n") if line])
    assert {line.split()[-1] for line in lines} <= set(model.labels)

    code, out, err = run("inspect", segments, "--top", 5)
    assert code == 0, err
    assert "speaks for B-NP" in out
    code, out, _ = run("inspect", segments, "--find", "length", "--json")
    assert code == 0
    assert any(item["feature"].startswith("length=") for item in json.loads(out)["found"])


def test_threads(run: Run, data: Path, segments: Path) -> None:
    one, two = (run("tag", segments, data / "test.txt", "-q", "--threads", n) for n in (1, 3))
    assert one == two
    assert one[0] == 0


def test_what_segments_cannot(run: Run, data: Path, tmp_path: Path) -> None:
    words = ["train", data / "train.txt", "-o", tmp_path / "m.mg", "--columns", COLUMNS]
    code, _, err = run(*words, "--structure", "segments", "--learner", "maxent")
    assert code != 0
    assert "which the structure segments does not have" in err
    code, _, err = run(*words, "--features", "segments")
    assert code != 0
    assert "choose --structure segments" in err
    assert not (tmp_path / "m.mg").exists()


def test_settings_are_listed(shell: Shell, segments: Path) -> None:
    for chosen in (["--structure", "segments"], ["--start", segments]):
        done = shell("train", *chosen, "--settings")
        assert done.returncode == 0
        assert b"max-length" in done.stdout


def test_a_start_brings_its_structure(run: Run, data: Path, segments: Path, tmp_path: Path) -> None:
    words = ["train", data / "train.txt", "-o", tmp_path / "m.mg", "--start", segments, "--set", "passes=1"]
    assert run(*words)[0] == 0
    assert mg.load(tmp_path / "m.mg").saved.structure == "segments"
    code, _, err = run(*words, "--structure", "chain")
    assert code == 1
    assert "structure: found chain, but the model to begin with has segments." in err
