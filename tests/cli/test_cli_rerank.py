"""The verb rerank: one model file that tags like any other; a run that was killed goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from marginalia.cli import main

DATA = files("marginalia") / "data" / "ingredients"
TRAIN, DEV, TEST = (str(DATA / f"{name}.txt") for name in ("train", "dev", "test"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("base") / "base.mg")
    assert main(["train", TRAIN, "-o", path, "-q", "--set", "passes=4"]) == 0
    return path


def command(base: str, output: Path, *more: str) -> list[str]:
    return ["rerank", TRAIN, "--base", base, "--dev", DEV, "-o", str(output), "--json", *more]


@pytest.mark.parametrize("learner", ["perceptron", "nonlocal"])
def test_the_model_tags_like_any_other(
    base: str, learner: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "reranked.mg"
    assert main(command(base, output, "--learner", learner, "--set", "passes=2")) == 0
    told = capsys.readouterr()
    found: dict[str, Any] = json.loads(told.out)
    assert set(found["dev"]) == {"base", "reranked"}
    assert "fold 5/5" in told.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["reranked.mg", "reranked.mg.hypotheses"]
    for verb in (
        ["tag", str(output), TEST, "--nbest", "2"],
        ["tag", str(output), TEST, "--hypotheses", "50"],
        ["explain", str(output), "2 large eggs , beaten"],
        ["inspect", str(output), "--top", "3"],
    ):
        assert main(verb) == 0
        assert capsys.readouterr().out
    assert main(["eval", str(output), DEV, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["f1"] == pytest.approx(found["dev"]["reranked"]["f1"])
    calibrated = str(tmp_path / "sure.mg")
    assert main(["calibrate", str(output), DEV, "-o", calibrated]) == 0
    assert main(["tag", calibrated, TEST, "--confidence"]) == 0


def test_a_run_that_was_killed_goes_on_and_gives_the_same_bytes(base: str, tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.mg", tmp_path / "cut.mg"
    settings = ("--learner", "margin", "--set", "passes=1", "-q")
    assert main(command(base, whole, *settings)) == 0
    arguments = [sys.executable, "-m", "marginalia", *command(base, cut, *settings, "--threads", "1")]
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = Path(f"{cut}.hypotheses")
    while child.poll() is None and not (kept.is_dir() and any(kept.iterdir())):
        time.sleep(0.01)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert main(command(base, cut, *settings)) == 0
    assert cut.read_bytes() == whole.read_bytes()
    for path in kept.glob("*.hypotheses"):
        assert path.read_bytes() == (Path(f"{whole}.hypotheses") / path.name).read_bytes()


def test_options_are_checked_before_anything_is_trained(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "reranked.mg"
    assert main(command(base, output, "--global-features", "collinz")) == 1
    assert "neither a ready-made set nor a file" in capsys.readouterr().err
    assert main(command(base, output, "--loss", "words")) == 1
    assert "loss: found 'words'" in capsys.readouterr().err
    assert main(command(base, output, "--learner", "rank-bost")) == 1
    assert "Did you mean 'rank-boost'?" in capsys.readouterr().err
    assert main(command(base, output, "--learner", "nonlocal", "--loss", "tags")) == 2
    assert "--loss is for learners of candidates" in capsys.readouterr().err
    assert main(command(base, output, "--learner", "nonlocal", "--set", "rounds=3")) == 1
    assert "setting 'rounds' is one of rank-boost, not of nonlocal" in capsys.readouterr().err
    assert main(command(base, Path(base))) == 1
    assert "this is one of the inputs" in capsys.readouterr().err
    assert not Path(f"{output}.hypotheses").exists()


def test_plain_tags_have_no_spans_to_lose(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train, base, output = tmp_path / "train.txt", tmp_path / "base.mg", tmp_path / "reranked.mg"
    train.write_text("the D\ndog N\n\na D\ncat N\n\n" * 5)
    assert main(["train", str(train), "-o", str(base), "--set", "passes=1", "-q"]) == 0
    words = ["rerank", str(train), "--base", str(base), "-o", str(output), "--loss", "spans", "-q"]
    assert main(words) == 1
    assert "loss: found spans, but the base model gives plain tags" in capsys.readouterr().err
    assert not Path(f"{output}.hypotheses").exists()


def test_dev_data_are_read_before_anything_is_trained(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, output = tmp_path / "bad.txt", tmp_path / "reranked.mg"
    bad.write_text("one two three four\n")
    assert main(["rerank", TRAIN, "--base", base, "--dev", str(bad), "-o", str(output)]) == 1
    assert "bad.txt:1" in capsys.readouterr().err
    assert not Path(f"{output}.hypotheses").exists()


def test_labels_of_dev_data_that_the_base_does_not_know_are_named(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dev = tmp_path / "dev.txt"
    dev.write_text("1 B-QTY\ntart B-NAME\n\nof O\nsoup B-SOUP\n")
    words = ["rerank", TRAIN, "--base", base, "--dev", str(dev), "-o", str(tmp_path / "reranked.mg"), "-q"]
    assert main([*words, "--learner", "perceptron", "--set", "passes=1"]) == 0
    said = f"{dev}:5:6: found the label B-SOUP, which the base model does not know"
    assert f"{said}: it counts as wrong" in capsys.readouterr().err
    assert main(["rerank", TRAIN, str(dev), "--base", base, "-o", str(tmp_path / "no.mg"), "-q"]) == 1
    assert capsys.readouterr().err == f"marginalia: error: {said}\n"
    assert not (tmp_path / "no.mg.hypotheses").exists()


def test_labels_are_repaired_as_those_of_the_base_were(tmp_path: Path) -> None:
    train, base = tmp_path / "train.txt", tmp_path / "base.mg"
    train.write_text("2 B-QTY\ncups I-UNIT\n\n" + "1 B-QTY\nlarge B-SIZE\negg B-NAME\n\n" * 9)
    settings = ("--set", "scheme=IOB2", "--set", "repair=on", "--set", "passes=2", "-q")
    assert main(["train", str(train), "-o", str(base), *settings]) == 0
    words = ["rerank", str(train), "--base", str(base), "-o", str(tmp_path / "reranked.mg"), "-q"]
    assert main([*words, "--set", "rounds=5"]) == 0


def test_probabilities_are_those_of_the_reranker(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = tmp_path / "chosen.mg"
    assert main(command(base, chosen, "--learner", "maxent", "--set", "passes=3", "-q")) == 0
    assert main(["tag", str(chosen), TEST, "--confidence"]) == 0
    capsys.readouterr()
    probable, boosted = str(tmp_path / "crf.mg"), tmp_path / "boosted.mg"
    assert main(["train", TRAIN, "-o", probable, "-q", "--learner", "crf", "--set", "passes=3"]) == 0
    assert main(command(probable, boosted, "--set", "rounds=50", "-q")) == 0
    assert main(["tag", str(boosted), TEST, "--confidence"]) == 1
    assert "the learner 'rank-boost' gives scores" in capsys.readouterr().err


def test_a_voted_reranker_says_what_it_is(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output, settings = tmp_path / "voted.mg", ("--set", "average=vote", "--set", "base-scale=0.5")
    assert main(command(base, output, "--learner", "perceptron", "--set", "passes=1", *settings, "-q")) == 0
    capsys.readouterr()
    assert main(["explain", str(output), "2 large eggs , beaten"]) == 0
    assert "note: the versions of the weights voted for the output" in capsys.readouterr().out
    assert main(["inspect", str(output), "--top", "1"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  re-ranker ")]
    assert "perceptron, 1 pass (error " in told[0]
    assert "average=vote base-scale=0.5" in told[0]


def test_ctrl_c_between_folds_and_training_says_what_is_kept(
    base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("marginalia.learn.reranking.Reranking.candidates", interrupted)
    assert main(command(base, tmp_path / "reranked.mg", "-q")) == 130
    assert "finished folds are kept in" in capsys.readouterr().err
    assert len(list((tmp_path / "reranked.mg.hypotheses").glob("fold-*"))) == 5
