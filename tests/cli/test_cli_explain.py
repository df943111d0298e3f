"""`marginalia explain`: sentences from the command line and from files, reasons as text, data and page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, Shell, corpus

import marginalia as mg
from marginalia.cli import explain, main

TEXT = "the/DT cat/NN sees/VBZ a/DT dog/NN ./."
COLUMNED = {"word": ["the", "cat", "sees", "a", "dog", "."], "pos": ["DT", "NN", "VBZ", "DT", "NN", "."]}


@pytest.fixture(scope="session")
def taught(data: Path) -> Path:
    """A model with provenance."""
    path = data / "taught.mg"
    words = ["train", f"{data}/train.txt", "-o", f"{path}", "--task", "chunking", "--columns", COLUMNS, "-q"]
    assert main([*words, "--set", "provenance=on", "--set", "passes=2"]) == 0
    return path


def as_json(run: Run, *words: object) -> dict[str, Any]:
    code, out, err = run("explain", *words, "--json")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_text(run: Run, model: Path) -> None:
    code, out, err = run("explain", model, TEXT, "--top", 3)
    assert (code, err) == (0, "")
    assert out == mg.load(model).explain(COLUMNED).to_text(3)
    assert "runner-up" in out
    assert " more\n" in out
    assert "\x1b" not in out


def test_json(run: Run, model: Path) -> None:
    found = as_json(run, model, TEXT, "--top", 4)
    assert found.pop("model") == str(model)
    assert found == json.loads(json.dumps(mg.load(model).explain(COLUMNED).to_json(4)))


def test_a_sentence_of_a_file(run: Run, data: Path, model: Path) -> None:
    sentences = list(mg.read_conll(data / "test.txt", COLUMNS))
    for number in (1, 7):
        found = as_json(run, model, "--input", data / "test.txt", "--sentence", number)
        assert found["tokens"] == sentences[number - 1].tokens
    assert as_json(run, model, "--input", data / "test.txt")["tokens"] == sentences[0].tokens


@pytest.mark.parametrize("threads", [[], ["--threads", 2]])
def test_all_sentences_of_a_file(
    run: Run, data: Path, model: Path, monkeypatch: pytest.MonkeyPatch, threads: list[object]
) -> None:
    monkeypatch.setattr(explain, "_BLOCK_BYTES", 300)
    tagger, sentences = mg.load(model), list(mg.read_conll(data / "test.txt", COLUMNS))
    words = ("explain", model, "--input", data / "test.txt", "--all", "--top", 2, *threads)
    code, out, _ = run(*words, "--json")
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    expected = [tagger.explain(sentence).to_json(2) for sentence in sentences]
    assert [one.pop("model") for one in found] == [str(model)] * len(sentences)
    assert found == json.loads(json.dumps(expected))
    code, out, _ = run(*words)
    assert (code, out) == (0, "\n".join(tagger.explain(sentence).to_text(2) for sentence in sentences))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([TEXT, "--all"], "--all is for --input FILE"),
        (["--input", "-", "--all", "--sentence", 2], "--all is for --input FILE, without --sentence"),
        (["--input", "-", "--all", "--html", "-"], "--all does not go with --html"),
        ([TEXT, "--threads", 2], "--threads is for --all"),
    ],
)
def test_what_does_not_go_with_all(run: Run, model: Path, words: list[object], why: str) -> None:
    code, _, err = run("explain", model, *words)
    assert code == 2
    assert why in err


def test_standard_input(shell: Shell, model: Path) -> None:
    done = shell("explain", model, "--input", "-", "--json", input=b"\nthe DT\ncat NN\n\nwhat WP\n")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tokens"] == ["the", "cat"]


def test_other_formats(run: Run, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text(
        '{"text": "two large eggs", "spans": [[0, 3, "QTY"]]}\n{"text": "salt", "spans": []}\n' * 3
    )
    (tmp_path / "words.txt").write_text("洗 手\n小心 手\n" * 3, encoding="utf-8")
    for name, options, text, tokens in (
        ("train.jsonl", [], "two, please", ["two", ",", "please"]),
        ("words.txt", ["--task", "segmentation"], "小心洗", ["小", "心", "洗"]),
    ):
        model = tmp_path / "m.mg"
        assert run("train", tmp_path / name, "-o", model, "-q", *options)[0] == 0
        assert as_json(run, model, text)["tokens"] == tokens
    found = as_json(run, model, "洗手", "--against", "1-2=word")
    assert found["other"]["labels"] == ["B", "E"]
    found = as_json(run, model, "小 心", "--tokenizer", "whitespace")
    assert found["tokens"] == ["小", "心"]


def test_documents(run: Run, tmp_path: Path) -> None:
    path, model = tmp_path / "d.txt", tmp_path / "m.mg"
    path.write_text("".join(f"-DOCSTART- X O\n\n{corpus(2, seed)}" for seed in range(3)))
    words = ["--columns", COLUMNS, "--set", "unit=document", "--set", "passes=2", "-q"]
    assert run("train", path, "-o", model, *words)[0] == 0
    found = as_json(run, model, "--input", path, "--sentence", 2)
    sentences = list(mg.read_conll(path, COLUMNS))
    assert found["tokens"] == [
        token for s in sentences if s.document == sentences[2].document for token in s.tokens
    ]


def test_against(run: Run, model: Path) -> None:
    labels = as_json(run, model, TEXT)["other"]["labels"]
    given = as_json(run, model, TEXT, "--against", " ".join(labels))
    assert given["other"]["what"] == "given"
    target = as_json(run, model, TEXT, "--against", "2=B-VP")
    assert target["other"]["labels"][1] == "B-VP"
    assert target["other"]["what"] == "best with 2=B-VP"
    assert as_json(run, model, TEXT, "--against", "2-3=NP")["other"]["labels"][1:3] == ["B-NP", "I-NP"]


def test_page(run: Run, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    assert run("explain", model, TEXT, "--html", page) == (0, "", "")
    assert page.read_text(encoding="utf-8") == mg.load(model).explain(COLUMNED).to_html(20)
    code, out, _ = run("explain", model, TEXT, "--html", "-", "--top", 2)
    assert code == 0
    assert out.startswith("<!DOCTYPE html>")


def test_citations(run: Run, taught: Path, data: Path) -> None:
    found = as_json(run, taught, TEXT, "--cite", 2, "--training", data / "train.txt", "--top", 5)
    sentences = list(mg.read_conll(data / "train.txt", COLUMNS))
    cited = [c for reason in found["reasons"] for c in reason["citations"]]
    assert cited
    for citation in cited:
        assert citation["file"] == "train.txt"
        assert citation["text"] == " ".join(sentences[citation["number"] - 1].tokens)
    code, out, _ = run("explain", taught, TEXT, "--cite", 1)
    assert code == 0
    assert "by train.txt, sentence " in out
    assert all(len(reason["citations"]) <= 2 for reason in found["reasons"])
    other = as_json(run, taught, TEXT, "--cite", 1, "--training", data / "test.txt")
    assert all(c["text"] is None for reason in other["reasons"] for c in reason["citations"])
    told = run("explain", taught, TEXT, "--cite", 1, "--training", data / "test.txt")[2]
    assert "test.txt: no cited example is from a file of this name" in told


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([], 2, "expected a TEXT to explain, or --input FILE"),
        ([TEXT, "--input", "test.txt"], 2, "expected a TEXT to explain, or --input FILE"),
        ([TEXT, "--sentence", "2"], 2, "--sentence is for --input"),
        (["--input", "test.txt", "--sentence", "0"], 2, "expected a number from 1 on"),
        ([TEXT, "--training", "test.txt"], 2, "--training is for --cite"),
        ([TEXT, "--json", "--html", "x"], 2, "found --html and --json"),
        ([TEXT, "--columns", "word pos"], 2, "--columns is for --input"),
        ([TEXT, "more"], 2, "unrecognized arguments"),
        (["--input", "test.txt", "--sentence", "99"], 1, "test.txt: found no sentence 99"),
        (["--input", "none.txt"], 1, "none.txt: cannot read"),
        (["the cat"], 1, "TEXT: token 1: found 'the', expected word/pos"),
        (["  "], 1, "TEXT: found no tokens"),
        ([TEXT, "--against", "9=O"], 1, "expected tokens from 1 to 6"),
        ([TEXT, "--cite", "1"], 1, "train it with provenance=on"),
        ([TEXT, "--html", "no/such/folder.html"], 1, "cannot write"),
    ],
)
def test_errors(
    run: Run,
    model: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    message: str,
) -> None:
    monkeypatch.chdir(data)
    found, out, err = run("explain", model, *words)
    assert (found, out) == (code, "")
    assert message in err


def test_an_old_page_survives_a_failure(run: Run, model: Path, tmp_path: Path) -> None:
    page = tmp_path / "why.html"
    page.write_text("old")
    assert run("explain", model, TEXT, "--html", page, "--against", "9=O")[0] == 1
    assert page.read_text() == "old"


def test_data_from_a_pipe_have_a_name(shell: Shell, data: Path, tmp_path: Path) -> None:
    words = ["--columns", COLUMNS, "--set", "provenance=on", "--set", "passes=1", "-q"]
    text = (data / "train.txt").read_bytes()
    done = shell("train", "-", "-o", tmp_path / "m.mg", *words, input=text)
    assert done.returncode == 0, done.stderr
    assert mg.load(tmp_path / "m.mg").saved.files == ["stdin"]
