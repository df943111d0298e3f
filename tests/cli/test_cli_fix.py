"""`marginalia fix`: corrections from the command line and from files, reports, trials, undoing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, Shell, corpus

import marginalia as mg
from marginalia.cli import main

TEXT = "the/DT cat/NN near/IN a/DT dog/NN ./."
COLUMNED = {"word": ["the", "cat", "near", "a", "dog", "."], "pos": ["DT", "NN", "IN", "DT", "NN", "."]}
SAID = ("B-NP", "I-NP", "B-PP", "B-NP", "I-NP", "O")
RIGHT = ("B-NP", "I-NP", "B-NP", "I-NP", "I-NP", "O")


def labels_of(path: Path, columns: Any = COLUMNED) -> tuple[str, ...]:
    return mg.load(path).tag(columns).labels


def test_a_sentence(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    assert labels_of(model) == SAID
    fixed = tmp_path / "fixed.mg"
    words = [model, TEXT, "--labels", " ".join(RIGHT), "--check", data / "dev.txt", "-o", fixed]
    code, out, err = run("fix", *words)
    assert (code, err) == (0, "")
    assert labels_of(fixed) == RIGHT
    lines = out.splitlines()
    assert lines[0].split() == COLUMNED["word"]
    assert lines[1].split() == ["was", *SAID]
    assert lines[2].split() == ["now", *RIGHT]
    expected = mg.load(model).fix(COLUMNED, RIGHT, check=data / "dev.txt").correction_report
    assert expected is not None
    assert lines[3].startswith(f"{len(expected.changes)} weights changed in {expected.updates} step")
    assert lines[4].split()[:3] == [
        f"{expected.changes[0].before:+.4f}",
        "->",
        f"{expected.changes[0].after:+.4f}",
    ]
    assert f"checked 15 sentences: {len(expected.flipped('broken'))} broken" in out
    assert lines[-1] == f"saved {fixed}. Undo: marginalia fix {fixed} --undo -o {fixed}"


def test_without_output_it_is_a_trial(run: Run, model: Path) -> None:
    before = model.read_bytes()
    code, out, _ = run("fix", model, TEXT, "--labels", "3-5=NP")
    assert code == 0
    assert out.splitlines()[-1] == "nothing was written: -o FILE writes the model"
    assert model.read_bytes() == before


def test_in_place_and_back(run: Run, model: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.mg"
    own.write_bytes(model.read_bytes())
    assert run("fix", own, TEXT, "--labels", "3-5=NP", "-o", own)[0] == 0
    once = own.read_bytes()
    assert labels_of(own) == RIGHT
    assert run("fix", own, "cat/NN", "--labels", "B-NEW", "-o", own)[0] == 0
    assert labels_of(own) == RIGHT
    code, out, _ = run("fix", own, "--log")
    assert code == 0
    first, second = out.splitlines()
    assert first.startswith("1. the cat near a dog .: near B-PP -> B-NP; a B-NP -> I-NP (")
    assert second.startswith("2. cat: cat O -> B-NEW (")
    code, out, _ = run("fix", own, "--undo", "-o", own)
    assert code == 0
    assert out.splitlines()[0].startswith("undone: cat: ")
    assert out.splitlines()[1:] == ["1 correction left", f"saved {own}"]
    assert own.read_bytes() == once
    code, out, _ = run("fix", own, "--undo")
    assert out.splitlines()[1:] == ["0 corrections left", "nothing was written: -o FILE writes the model"]
    assert own.read_bytes() == once
    assert run("fix", own, "--undo", "-o", own)[0] == 0
    assert own.read_bytes() == model.read_bytes()
    assert run("fix", own, "--log")[1] == "no corrections\n"
    code, _, err = run("fix", own, "--undo", "-o", own)
    assert (code, err) == (1, "marginalia: error: the model has no corrections, so there is none to undo.\n")


def test_json(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.mg"
    code, out, _ = run(
        "fix", model, TEXT, "--labels", "3-5=NP", "--check", data / "dev.txt", "-o", fixed, "--json"
    )
    assert code == 0
    found = json.loads(out)
    report = mg.load(model).fix(COLUMNED, RIGHT, check=data / "dev.txt").correction_report
    assert report is not None
    assert found == {"model": str(model), "output": str(fixed)} | json.loads(json.dumps(report.to_json()))
    assert found["examples"] == [{"tokens": COLUMNED["word"], "labels": list(RIGHT), "said": list(SAID)}]
    logged = json.loads(run("fix", fixed, "--log", "--json")[1])["corrections"]
    assert [one["changes"] for one in logged] == [found["changes"]]
    undone = json.loads(run("fix", fixed, "--undo", "--json")[1])
    assert (undone["output"], undone["undone"]) == (None, logged)


def test_a_file_of_examples(run: Run, model: Path, tmp_path: Path) -> None:
    path, fixed = tmp_path / "corrected.txt", tmp_path / "fixed.mg"
    rows = [f"{w} {p} {y}" for w, p, y in zip(*COLUMNED.values(), RIGHT, strict=True)]
    path.write_text("\n".join(rows) + "\n\n" + "cat NN B-NEW\n\n" + corpus(3, 0))
    code, out, _ = run("fix", model, "--input", path, "-o", fixed, "--top", 2)
    assert code == 0
    assert "5 examples, 3 of them right before, all now" in out
    assert "new labels: B-NEW I-NEW" in out
    tagger = mg.load(fixed)
    for sentence in mg.read_conll(path, COLUMNS):
        assert list(tagger.tag(sentence).labels) == sentence.columns["chunk"]
    code, out, _ = run("fix", model, "--input", path, "--sentence", 2, "-o", fixed)
    assert code == 0
    assert labels_of(fixed, {"word": ["cat"], "pos": ["NN"]}) == ("B-NEW",)
    assert labels_of(fixed) == SAID
    code, _, err = run("fix", model, "--input", path, "--sentence", 9)
    assert (code, err) == (1, f"marginalia: error: {path}: found no sentence 9\n")
    code, out, _ = run("fix", model, "--input", path, "--sentence", 1, "--labels", "1=O", "-o", fixed)
    assert code == 0
    assert labels_of(fixed)[0] == "O"


def test_standard_input(shell: Shell, model: Path, tmp_path: Path) -> None:
    fixed = tmp_path / "fixed.mg"
    done = shell("fix", model, "--input", "-", "-o", fixed, input=b"cat NN B-VP\n")
    assert done.returncode == 0, done.stderr
    assert labels_of(fixed, {"word": ["cat"], "pos": ["NN"]}) == ("B-VP",)


def test_passes_go_on_as_in_training(run: Run, data: Path, tmp_path: Path) -> None:
    kept, more = tmp_path / "kept.mg", tmp_path / "more.mg"
    words = ["train", f"{data}/train.txt", "-o", f"{kept}", "--task", "chunking", "--columns", COLUMNS, "-q"]
    assert main([*words, "--set", "state=on", "--set", "passes=2"]) == 0
    (tmp_path / "new.txt").write_text(corpus(10, 9))
    code, out, err = run("fix", kept, "--input", tmp_path / "new.txt", "--passes", 2, "-o", more)
    assert code == 0
    assert "read 10 sentences" in err
    assert out.splitlines()[-1] == f"saved {more}"
    expected = mg.load(kept).partial_fit(tmp_path / "new.txt", passes=2)
    assert mg.load(more).to_bytes() == expected.to_bytes()
    found = run("fix", kept, "--input", tmp_path / "new.txt", "--passes", 1, "-o", more, "--json", "-q")
    assert (found[0], found[2]) == (0, "")
    assert [record["number"] for record in json.loads(found[1])["passes"]] == [3]


def test_item_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("X\tw=a\tlong:2\nY\tw=b\n\nY\tw=b\nX\tw=a\n\n" * 3)
    (tmp_path / "right.txt").write_text("NEW\tw=a\tlong:2\nX\tw=c:0.5\n\n")
    model, fixed = tmp_path / "m.mg", tmp_path / "f.mg"
    words = ["train", tmp_path / "train.txt", "--format", "crfsuite", "-o", model, "-q"]
    assert run(*words)[0] == 0
    assert run("fix", model, "--input", tmp_path / "right.txt", "-o", fixed)[0] == 0
    assert mg.load(fixed).tag([{"w=a": 1.0, "long": 2.0}, {"w=c": 0.5}]).labels == ("NEW", "X")
    assert run("fix", fixed, "--log")[1].startswith("1. long w=a w=c: ")
    assert run("fix", fixed, "--undo", "-o", fixed)[0] == 0
    assert fixed.read_bytes() == model.read_bytes()
    assert run("fix", model, "a", "--labels", "X")[0] == 2
    (tmp_path / "bare.txt").write_text("\tw=a\n\tw=c\n\nw=a\nw=c\n\n")
    words = ["fix", model, "--input", tmp_path / "bare.txt", "--labels", "Y X", "-o", fixed, "--sentence"]
    assert run(*words, 1)[0] == 0
    assert mg.load(fixed).tag([["w=a"], ["w=c"]]).labels == ("Y", "X")
    code, _, err = run(*words, 2)
    assert code == 1
    assert f"{tmp_path}/bare.txt: sentence 2: found no attributes, expected some behind a tab" in err


def test_open_labels_are_refused_where_they_stand(run: Run, tmp_path: Path) -> None:
    path, model = tmp_path / "partly.txt", tmp_path / "m.mg"
    path.write_text("a N\nb V\n\na N\nb _\n\n" * 3)
    words = ["train", path, "--columns", "word label", "-o", model, "-q", "--set", "partial=on"]
    assert run(*words)[0] == 0
    why = "found the label '_', expected a complete one: "
    code, _, err = run("fix", model, "--input", path)
    assert (code, f"error: {path}:5:3: {why}a correction says what is right" in err) == (1, True)
    code, _, err = run("fix", model, "--input", path, "--sentence", 2)
    assert (code, f"error: {path}:4: {why}a correction says what is right (token 2)" in err) == (1, True)
    code, _, err = run("fix", model, "a b", "--labels", "V N", "--check", path)
    assert (code, f"error: {path}:5:3: {why}data to be scored" in err) == (1, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "expected a TEXT to correct, or --input FILE."),
        (["a/b", "--input", "train.txt"], "expected a TEXT to correct, or --input FILE."),
        (["a/b"], "expected --labels: how shall TEXT be labelled?"),
        (["a/b", "--labels", "O", "--sentence", "1"], "--sentence is for --input FILE."),
        (["--input", "train.txt", "--labels", "O"], "--labels are those of one sentence: add --sentence N."),
        (["--input", "train.txt", "--sentence", "0"], "--sentence: found 0, expected a number from 1 on."),
        (["--input", "train.txt", "--passes", "1"], "--passes needs -o FILE."),
        (["a/b", "--labels", "O", "--passes", "1"], "--passes learns all examples of --input FILE"),
        (["--undo", "--log"], "--log and --undo stand alone"),
        (["--undo", "--labels", "O"], "--log and --undo stand alone"),
        (["--log", "-o", "x.mg"], "--log writes no model."),
    ],
)
def test_wrong_command_lines(run: Run, model: Path, data: Path, words: list[str], message: str) -> None:
    code, out, err = run("fix", model, *(f"{data}/{word}" if word == "train.txt" else word for word in words))
    assert (code, out) == (2, "")
    assert message in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["the/DT cat/NN", "--labels", "B-NP"], "--labels: found 1 labels, expected 2, one for each token"),
        (["the/DT cat/NN", "--labels", "B-NP nonsense"], "found label 'nonsense', expected a label of IOB2"),
        (["the/DT cat/NN", "--labels", "O I-NP"], "I-NP"),
        (["the/DT cat/NN", "--labels", "7=O"], "labels: found 7=O, expected tokens from 1 to 2"),
        (["the/DT cat", "--labels", "O O"], "token 2: found 'cat', expected word/pos"),
        (["the/DT", "--labels", "O", "--margin", "0"], "setting 'margin'"),
        (["the/DT", "--labels", "O", "--check", "nowhere.txt"], "nowhere.txt: cannot read"),
        (["the/DT", "--labels", "O", "-o", "nowhere/x.mg"], "cannot write: there is no folder"),
    ],
)
def test_bad_input_loses_nothing(
    run: Run, model: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    own = tmp_path / "own.mg"
    own.write_bytes(model.read_bytes())
    code, out, err = run("fix", own, *(["-o", own] if "-o" not in words else []), *words)
    assert (code, out) == (1, "")
    assert message in err
    assert own.read_bytes() == model.read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["own.mg"]
