"""Candidates on the command line: train, tag, eval and the other verbs, verbatim as the pages have them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from cli_world import Run

from marginalia.cli import main


def records(count: int, seed: int) -> list[dict]:
    chance, found = random.Random(seed), []
    for number in range(count):
        listed = []
        for n in range(4):
            features = [name for name in ("good", "bad", "odd") if chance.random() < 0.5]
            loss = 1.0 - 0.5 * ("good" in features) + 0.5 * ("bad" in features)
            score = -loss / 2 + chance.gauss(0, 0.5)
            listed.append({"score": score, "features": features, "loss": loss, "output": f"text {n}"})
        found.append({"id": number, "candidates": listed})
    return found


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("candidates")
    for seed, (name, size) in enumerate({"train": 80, "dev": 30, "test": 30}.items()):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records(size, seed)))
    bare = ("score", "features", "output")
    new = [
        {"id": item["id"], "candidates": [{name: one[name] for name in bare} for one in item["candidates"]]}
        for item in records(3, 9)
    ]
    (folder / "new.jsonl").write_text("".join(json.dumps(r) + "\n" for r in new))
    return folder


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    path = data / "m.mg"
    words = ["train", data / "train.jsonl", "--dev", data / "dev.jsonl", "--structure", "candidates"]
    more = ["--set", "provenance=on", "-o", path, "-q"]
    assert main([str(word) for word in [*words, *more]]) == 0
    return path


class Done(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


Here = Callable[..., Done]


@pytest.fixture
def here(data: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Run a command line in the folder of the data."""
    monkeypatch.chdir(data)
    return lambda *words: Done(*run(*words))


@pytest.mark.parametrize("learner", ["perceptron", "margin", "pa", "arow", "maxent", "crf", "rank-boost"])
def test_the_lines_of_the_issue(learner: str, data: Path, here: Here) -> None:
    name = f"{learner}.mg"
    train = f"train train.jsonl --dev dev.jsonl --structure candidates --learner {learner} -o {name}"
    done = here(*train.split())
    assert done.code == 0, done.err
    assert "avoided loss" in done.out
    assert ("wrong at most" in done.err) == (learner == "rank-boost")
    done = here("tag", name, "new.jsonl")
    assert done.code == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [line["id"] for line in lines] == [0, 1, 2]
    for line in lines:
        scores = [one["model_score"] for one in line["candidates"]]
        assert scores == sorted(scores, reverse=True)
        assert [one["rank"] for one in line["candidates"]] == [1, 2, 3, 4]
    done = here("eval", name, "test.jsonl", "--json")
    report = json.loads(done.out)
    assert report["items"] == 30
    assert report["oracle_loss"] <= report["loss"] < report["base_loss"]
    assert 0.0 < report["reciprocal_rank"] <= 1.0


def test_the_voted_perceptron_with_a_tuned_scale(data: Path, here: Here) -> None:
    train = "train train.jsonl --dev dev.jsonl --structure candidates --learner perceptron"
    more = "--set average=vote --set passes=1 --set base-scale=auto -o v.mg --json"
    done = here(*train.split(), *more.split())
    assert done.code == 0, done.err
    assert done.err.count("note: base-scale=") == 7
    notes = json.loads(done.out)["notes"]
    assert sum("base-scale=" in note for note in notes) == 7
    assert here("tag", "v.mg", "new.jsonl").code == 0


def test_nbest_and_confidence(data: Path, here: Here, model: Path) -> None:
    done = here("tag", model, "new.jsonl", "--nbest", "2")
    assert [len(json.loads(line)["candidates"]) for line in done.out.splitlines()] == [2, 2, 2]
    refused = here("tag", model, "new.jsonl", "--confidence")
    assert refused.code != 0
    assert "calibrate" in refused.err
    assert here("calibrate", model, "dev.jsonl", "-o", "c.mg").code == 0
    done = here("tag", "c.mg", "new.jsonl", "--confidence")
    for line in done.out.splitlines():
        found = [one["probability"] for one in json.loads(line)["candidates"]]
        assert sum(found) == pytest.approx(1.0, abs=1e-4)
    done = here("eval", "c.mg", "test.jsonl", "--reliability")
    assert "items" in done.out


def test_explain_inspect_fix_and_shrink(data: Path, here: Here, model: Path) -> None:
    done = here("explain", model, "--input", "new.jsonl", "--sentence", "2", "--cite", "1")
    assert done.code == 0, done.err
    assert all(word in done.out for word in ("candidate", "difference", "taught"))
    best = json.loads(here("tag", model, "new.jsonl").out.splitlines()[0])["candidates"][0]["output"]
    other = next(n for n in range(1, 5) if f"text {n - 1}" != best)
    done = here("explain", model, "--input", "new.jsonl", "--against", str(other), "--json")
    assert json.loads(done.out)["other"]["labels"].index("best") == other - 1
    assert here("explain", model, "--input", "new.jsonl", "--all").code == 0
    done = here("inspect", model)
    assert all(words in done.out for words in ("base score", "speaks for best"))
    words = ["fix", model, "--input", "new.jsonl", "--sentence", "1", "--labels", str(other)]
    done = here(*words, "-o", "f.mg", "--check", "dev.jsonl")
    assert done.code == 0, done.err
    words = ["explain", model, "--input", "new.jsonl", "--cite", "1", "--training", "train.jsonl"]
    assert "text 0 text 1 text 2 text 3" in here(*words).out
    first = json.loads(here("tag", "f.mg", "new.jsonl").out.splitlines()[0])
    assert first["candidates"][0]["output"] == f"text {other - 1}"
    assert here("fix", "f.mg", "--undo", "-o", "u.mg").code == 0
    assert (data / "u.mg").read_bytes() == Path(model).read_bytes()
    done = here("shrink", model, "-o", "s.mg", "--dev", "dev.jsonl")
    assert done.code == 0, done.err
    assert here("eval", "s.mg", "test.jsonl").code == 0


def test_what_is_refused(data: Path, here: Here, model: Path) -> None:
    for words, what in (
        (["tag", model, "new.jsonl", "--constrain", "only best"], "--constrain"),
        (["tag", model, "new.jsonl", "--min-confidence", "0.5"], "--min-confidence"),
        (["tag", model, "new.jsonl", "--given", "right"], "--given"),
        (["tag", model, "new.jsonl", "--format", "conll"], "read from jsonl"),
        (["eval", model, "test.jsonl", "--known", "train.jsonl"], "--known"),
        (["explain", model, "a text"], "explicit attributes"),
        (["export", model, "--to", "python", "-o", "x.py"], "lists of candidates"),
        (["eval", model, "new.jsonl"], "new.jsonl:1"),
        (["train", "train.jsonl", "-o", "x.mg", "--learner", "rank-boost"], "rank-boost needs lists"),
        (
            ["train", "train.jsonl", "-o", "x.mg", "--structure", "candidates", "--columns", "a b"],
            "--columns",
        ),
    ):
        done = here(*words)
        assert done.code != 0
        assert what in done.err, done.err
