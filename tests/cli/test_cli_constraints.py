"""`tag --constrain`, `--constraints`, `--given`; `explain --constrain`: in every format; what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, corpus, without_last_column

import marginalia as mg
from marginalia.cli import main


@pytest.fixture(scope="session")
def words(data: Path) -> Path:
    """A chunker that needs words alone."""
    rows = [line.split(" ") for line in corpus(60, 9).split("\n")]
    text = "\n".join(f"{row[0]}\t{row[2]}" if len(row) == 3 else "" for row in rows)
    (data / "words_alone.txt").write_text(text)
    path = data / "words_alone.mg"
    line = ["train", f"{data}/words_alone.txt", "-o", f"{path}", "--columns", "word chunk", "-q"]
    assert main([*line, "--set", "passes=3"]) == 0
    return path


SENTENCE = ["the", "old", "cat", "near", "a", "new", "river", "."]


def last_column(text: str) -> list[list[str]]:
    blocks = [block for block in text.split("\n\n") if block.strip()]
    return [[line.split()[-1] for line in block.strip().split("\n")] for block in blocks]


def spans(labels: list[str]) -> list[mg.Span]:
    return list(mg.Tagged(tuple(labels), tuple(labels), "IOB2").spans)


def test_all_sentences(run: Run, model: Path, data: Path) -> None:
    status, free, _ = run("tag", model, data / "test.txt")
    assert status == 0
    status, out, told = run("tag", model, data / "test.txt", "--constrain", "at most 1 NP")
    assert (status, told) == (0, "")
    assert any(sum(s.label == "NP" for s in spans(labels)) > 1 for labels in last_column(free))
    assert all(sum(s.label == "NP" for s in spans(labels)) <= 1 for labels in last_column(out))
    threads = run("tag", model, data / "test.txt", "--constrain", "at most 1 NP", "--threads", "3")
    assert threads[1] == out
    assert len(out.splitlines()) == len(free.splitlines())


def test_a_file_of_them(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    path = tmp_path / "said.txt"
    path.write_text("# ours\nnever PP\n1: 1=B-VP\n2: 1=I-NP\n999999: 1=O\n")
    status, out, told = run("tag", model, data / "test.txt", "--constraints", path, "--constrain", "never O")
    assert status == 0
    labels = last_column(out)
    assert labels[0][0] == "B-VP"
    assert not any("PP" in label for sentence in labels for label in sentence)
    assert "sentence 2: no labels satisfy all constraints; broken: 1=I-NP" in told
    assert f"constraints for sentence 999999: there are {len(labels)} sentences" in told


def test_many_that_cannot_be_met_are_counted(run: Run, model: Path, data: Path) -> None:
    status, out, told = run("tag", model, data / "test.txt", "--constrain", "1=I-NP")
    assert status == 0
    sentences = len(last_column(out))
    assert sentences > 10
    assert told.count("no labels meet") == 10
    assert f"… and {sentences - 10} more of {sentences} sentences" in told


def test_half_labelled_columns_are_completed(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    gold = [line.split() for line in (data / "test.txt").read_text().split("\n")]
    half = [
        "" if not row else " ".join([*row[:-1], row[-1] if i % 3 == 0 else "_"]) for i, row in enumerate(gold)
    ]
    path = tmp_path / "half.txt"
    path.write_text("\n".join(half))
    status, out, told = run("tag", model, path, "--columns", COLUMNS, "--given", "chunk")
    assert (status, told) == (0, "")
    rows = [line.split() for line in out.split("\n")]
    kept = [(row[-2], row[-1]) for row in rows if row and row[-2] != "_"]
    assert kept
    assert all(given == label for given, label in kept)
    assert without_last_column(out) == "\n".join(half)


def test_alternatives_and_bad_labels_in_a_column(run: Run, words: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.txt"
    given = ["B-VP|B-PP", "*-NP", "_", "_", "_", "_", "_", "_"]
    path.write_text("\n".join(f"{w}\t{g}" for w, g in zip(SENTENCE, given, strict=True)) + "\n\n")
    status, out, _ = run("tag", words, path, "--given", "chunk")
    assert status == 0
    labels = last_column(out)[0]
    assert labels[0] in ("B-VP", "B-PP")
    assert labels[1].endswith("-NP")
    path.write_text("\n".join(f"{w}\tB-ZZ" for w in SENTENCE) + "\n\n")
    status, _, told = run("tag", words, path, "--given", "chunk")
    assert status == 1
    assert "some.txt:1" in told
    assert "the model does not know 'B-ZZ'" in told


def test_given_spans_of_records(run: Run, words: Path, tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    records = [{"tokens": SENTENCE, "spans": [[1, 2, "VP"]]}, {"tokens": SENTENCE, "spans": []}]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    status, out, _ = run("tag", words, path, "--format", "jsonl", "--given", "spans")
    assert status == 0
    first, second = map(json.loads, out.splitlines())
    assert [1, 2, "VP"] in first["spans"]
    assert [1, 2, "VP"] not in second["spans"]
    status, out, told = run("tag", words, path, "--format", "jsonl", "--constrain", "1=I-NP")
    assert [json.loads(line)["broken"] for line in out.splitlines()] == [["1=I-NP"]] * 2
    assert "sentence 1" in told


@pytest.mark.parametrize("spans", [[[0, 6, "NP"]], [[0, 7, "NP"], [4, 11, "PP"]]])
def test_given_spans_are_never_dropped(run: Run, words: Path, tmp_path: Path, spans: list[Any]) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps({"text": " ".join(SENTENCE), "spans": spans}) + "\n")
    words_alone = ["tag", words, path, "--format", "jsonl", "--tokenizer", "whitespace", "--given", "spans"]
    status, _, told = run(*words_alone)
    assert status == 1
    assert "do not fit the tokens" in told
    assert run(*words_alone, "--misaligned", "drop")[0] == 0


def test_eval(run: Run, model: Path, data: Path) -> None:
    free = json.loads(run("eval", model, data / "test.txt", "--json")[1])
    status, out, _ = run("eval", model, data / "test.txt", "--json", "--constrain", "never NP")
    assert status == 0
    assert json.loads(out)["f1"] < free["f1"]
    status, _, told = run(
        "eval", "--gold", data / "test.txt", "--pred", data / "test.txt", "--constrain", "never NP"
    )
    assert status == 2
    assert "are for MODEL TEST" in told


def test_the_best_of_those_that_meet_them(run: Run, model: Path, data: Path) -> None:
    status, out, _ = run("tag", model, data / "test.txt", "--nbest", "2", "--constrain", "at most 1 NP")
    assert status == 0
    blocks = [block for block in out.split("\n\n") if block.strip()]
    for block in blocks:
        labels = [line.split()[-1] for line in block.strip().split("\n") if not line.startswith("#rank")]
        assert sum(span.label == "NP" for span in spans(labels)) <= 1
    told = run("tag", model, data / "test.txt", "--nbest", "2", "--constrain", "1=I-NP")[2]
    assert "sentence 1: no labels satisfy all constraints" in told


def test_explain(run: Run, words: Path) -> None:
    text = " ".join(SENTENCE)
    status, out, _ = run("explain", words, text, "--constrain", "never NP", "--json")
    assert status == 0
    found = json.loads(out)
    assert found["other"]["what"] == "best without constraints"
    assert found["reasons"][0]["kind"] == "constraint"
    assert "forbidden  1-8" in run("explain", words, text, "--constrain", "never NP", "--no-color")[1]


@pytest.mark.parametrize(
    ("more", "status", "message"),
    [
        (["--constrain", "at must 1 NP"], 1, "found 'at must 1 NP', expected something like"),
        (["--constrain", "at most 1 NQ"], 1, "does not know 'NQ'. Did you mean 'NP'?"),
        (["--constraints", "nowhere.txt"], 1, "nowhere.txt: cannot read"),
        (["--given", "chonk"], 1, "found 'chonk', expected one of word, pos, chunk"),
        (["--format", "plain", "--given", "label"], 1, "no --given with plain files"),
    ],
)
def test_what_is_refused(
    run: Run, model: Path, words: Path, data: Path, more: list[str], status: int, message: str
) -> None:
    own = words if "plain" in more else model
    found = run("tag", own, data / "test.txt", *more)
    assert found[0] == status
    assert message in found[2]
