"""Self-training: which sentences are added, what they count, and that a worse model is never kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import marginalia as mg
from marginalia.corpus.source import DataSource
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import make_recipe
from marginalia.learn.self_training import SelfTraining, Unlabelled, prepare_self_training, write_added
from marginalia.learn.training import Training

WORDS = {"x": "B-X", "y": "B-Y", "o": "O"}


def sentences(count: int, seed: int, words: int = 10) -> list[tuple[list[str], list[str]]]:
    import random

    chance = random.Random(seed)
    made = []
    for _ in range(count):
        kinds = [chance.choice("xyo") for _ in range(chance.randint(1, 5))]
        made.append(([f"{kind}{chance.randrange(words)}" for kind in kinds], [WORDS[kind] for kind in kinds]))
    return made


def columns_text(pairs: list[tuple[list[str], list[str]]], labelled: bool = True) -> str:
    rows = ("\n".join(f"{w} {t}" if labelled else w for w, t in zip(*pair, strict=True)) for pair in pairs)
    return "\n\n".join(rows) + "\n\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    made = {"train": sentences(12, 1, 4), "dev": sentences(40, 2), "raw": sentences(60, 3)}
    for name, pairs in made.items():
        (tmp_path / name).write_text(columns_text(pairs, name != "raw"))
    return {name: str(tmp_path / name) for name in made}


def run_of(files: dict[str, str], least: float, **settings: Any) -> SelfTraining:
    recipe = make_recipe(features=None, settings={"passes": 3} | settings)
    source = DataSource([files["train"]], "word label", None, "conll")
    return prepare_self_training(source, [files["dev"]], recipe, Unlabelled([files["raw"]], least))


@pytest.mark.parametrize("least", [0.0, 0.6, 0.9])
def test_what_is_added(files: dict[str, str], least: float) -> None:
    """All distinct sentences that the first model, calibrated on dev, is sure enough of, and no others."""
    run = run_of(files, least)
    run.finish()
    first = mg.train(files["train"], files["dev"], columns="word label", passes=3)
    first = mg.calibrate(first, files["dev"])
    raw = dict.fromkeys(tuple(words) for words, _ in sentences(60, 3))
    tagged = {words: first.tag(list(words), confidence=True) for words in raw}
    sure = {words: t for words, t in tagged.items() if t.confidence >= least}
    report = run.self_training
    assert [one.columns for one in report.added] == [(words,) for words in sure]
    assert [one.labels for one in report.added] == [t.labels for t in sure.values()]
    assert [one.confidence for one in report.added] == pytest.approx([t.confidence for t in sure.values()])
    assert report.sentences == 60


def test_the_second_model_is_that_of_both(files: dict[str, str], tmp_path: Path) -> None:
    """Weighted training on the data and the added sentences gives the same weights."""
    run = run_of(files, 0.5)
    run.finish()
    added = run.self_training.added
    assert added
    text = columns_text([(list(one.columns[0]), list(one.labels)) for one in added])
    (tmp_path / "more").write_text(text)
    weights = [1.0] * 12 + [one.confidence for one in added]
    both = [files["train"], str(tmp_path / "more")]
    options: dict[str, Any] = {"columns": "word label", "passes": 3, "sample_weights": weights}
    model = mg.train(both, files["dev"], **options)
    plain = mg.train(files["train"], files["dev"], columns="word label", passes=3)
    assert run.self_training.after is not None
    kept = model if run.self_training.kept else plain
    found, expected = run.model().saved.arrays, kept.saved.arrays
    assert found.keys() == expected.keys()
    assert all(np.array_equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("name", ["wrong", "train"])
def test_a_model_that_is_not_better_is_not_kept(files: dict[str, str], tmp_path: Path, name: str) -> None:
    """What is learned again is learned from wrong labels, so that dev must fall, or from the same data."""
    wrong = {"B-X": "B-Y", "B-Y": "O", "O": "B-X"}
    pairs = [(words, [wrong[label] for label in labels]) for words, labels in sentences(200, 4)]
    (tmp_path / "wrong").write_text(columns_text(pairs))
    recipe = make_recipe(features=None, settings={"passes": 3})

    def run_on(name: str) -> Training:
        path = files.get(name, str(tmp_path / name))
        source = DataSource([path], "word label", None, "conll")
        return prepare(source, [files["dev"]], recipe)

    run = SelfTraining(run_on("train"), lambda *_: run_on(name))
    model = run.finish()
    report = run.self_training
    assert report.before is not None
    assert report.after is not None
    assert report.after <= report.before  # an equal one has brought nothing either
    assert not report.kept
    plain = mg.train(files["train"], files["dev"], columns="word label", passes=3)
    assert model.to_bytes() == plain.to_bytes()
    assert "not better, and not kept" in run.notes[-1]
    assert run.report is not None
    assert run.report.score == report.before


def test_stopped_in_the_second_run(files: dict[str, str], tmp_path: Path) -> None:
    """All that is asked is answered by the run that is better when training stops."""
    runs: list[Training] = []

    def learned(path: str) -> Training:
        source = DataSource([path], "word label", None, "conll")
        runs.append(prepare(source, [files["dev"]], make_recipe(features=None, settings={"passes": 3})))
        return runs[-1]

    small = tmp_path / "small"
    small.write_text(columns_text(sentences(2, 1, 2)))
    run = SelfTraining(learned(str(small)), lambda *_: learned(files["dev"]))
    seconds = []
    for record in run:
        seconds.append(record.seconds)
        if len(runs) == 2 and record.finished:
            break
    assert seconds == sorted(seconds), "time goes on"
    first, second = runs
    assert first.report is not None
    assert second.report is not None
    assert second.report.score > first.report.score
    assert run.self_training.kept
    assert len(run.history) == 1
    assert (run.data, run.report, run.coder) == (second.data, second.report, second.coder)
    assert run.model().to_bytes() == second.model().to_bytes()
    assert run.notes == [*second.notes, str(run.self_training)]


def test_nothing_sure_enough(files: dict[str, str]) -> None:
    Path(files["raw"]).write_text("q1\nq2\nq3\nq4\nq5\nq6\nq7\n\n")
    run = run_of(files, 1.0)
    plain = mg.train(files["train"], files["dev"], columns="word label", passes=3)
    assert run.finish().to_bytes() == plain.to_bytes()
    assert "nothing was learned again" in run.notes[-1]


def test_the_file_of_added_sentences(files: dict[str, str], tmp_path: Path) -> None:
    run = run_of(files, 0.5)
    run.finish()
    write_added(str(tmp_path / "added"), run.self_training)
    read = list(mg.read_conll(str(tmp_path / "added"), columns="word label"))
    assert [tuple(s.columns["word"]) for s in read] == [one.columns[0] for one in run.self_training.added]
    assert read[0].comments[0].lstrip("# ").startswith("confidence = ")


def test_on_the_command_line(files: dict[str, str], tmp_path: Path, capfd: Any) -> None:
    from marginalia.cli import main

    words = ["train", files["train"], "--dev", files["dev"], "-o", str(tmp_path / "m.mg"), "--columns"]
    words += ["word label", "--set", "passes=3", "-q", "--json", "--also-unlabelled", files["raw"]]
    assert main([*words, "--min-confidence", "0.6", "--added", str(tmp_path / "added")]) == 0
    found = json.loads(capfd.readouterr().out)["self_training"]
    assert found["added"] == (tmp_path / "added").read_text().count("# confidence")
    assert found["sentences"] == 60
    assert found["kept"] == (found["dev_after"] > found["dev_before"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dev": None}, "unlabelled text needs dev data"),
        ({"structure": "single"}, "unlabelled text is for labels of tokens"),
        ({"stream": True}, "does not go with stream=on"),
        ({"also_unlabelled": Unlabelled(["x"], 1.5)}, "expected a number from 0 to 1"),
    ],
)
def test_refusals(files: dict[str, str], change: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"dev": files["dev"], "also_unlabelled": Unlabelled([files["raw"]])} | change
    data = [({"text": "a"}, "x")] if change.get("structure") else files["train"]
    with pytest.raises(mg.SettingsError, match=message):
        mg.train(data, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [(b"x1\n\nx2 B-X more\n", r"text:3"), (b"x1\n\n\xff\n", r"text:3:1: found byte 0xFF")],
)
def test_text_that_cannot_be_read_is_told_before_learning(
    files: dict[str, str], text: bytes, message: str
) -> None:
    path = Path(files["raw"]).with_name("text")
    path.write_bytes(text)
    seen: list[object] = []
    with pytest.raises(mg.DataError, match=message):
        mg.train(
            files["train"],
            files["dev"],
            columns="word label",
            also_unlabelled=Unlabelled([str(path)]),
            on_progress=seen.append,
        )
    assert not seen


def test_text_from_a_pipe(files: dict[str, str], tmp_path: Path) -> None:
    words = ["train", files["train"], "--dev", files["dev"], "-o", str(tmp_path / "m.mg"), "-q", "--json"]
    words += ["--columns", "word label", "--also-unlabelled", "-", "--set", "passes=1"]
    command = [sys.executable, "-m", "marginalia", *words]
    with open(files["raw"], "rb") as raw:
        done = subprocess.run(command, stdin=raw, capture_output=True, check=True)
    assert json.loads(done.stdout)["self_training"]["sentences"] == 60


def test_options_that_need_text(files: dict[str, str], tmp_path: Path, capfd: Any) -> None:
    from marginalia.cli import main

    words = ["train", files["train"], "-o", str(tmp_path / "m.mg"), "--min-confidence", "0.9"]
    assert main(words) == 2
    assert "--min-confidence goes with --also-unlabelled" in capfd.readouterr().err
