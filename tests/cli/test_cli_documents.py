"""Documents on the command line: trained on, tagged, scored, also where they are larger than a block."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, corpus, without_last_column

import marginalia as mg
from marginalia.cli import tag
from marginalia.corpus import read_conll, validate

MARK = "-DOCSTART- -X- O\n\n"


def marked(sentences: int, every: int, seed: int) -> str:
    """A made-up corpus in documents of so many sentences."""
    parts = corpus(sentences, seed).split("\n\n")[:-1]
    return "".join((MARK if i % every == 0 else "") + part + "\n\n" for i, part in enumerate(parts))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """train.txt in documents of 4 sentences, test.txt in documents of 7."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "train.txt").write_text(marked(40, 4, 1))
    (folder / "test.txt").write_text(marked(30, 7, 2))
    (folder / "in.txt").write_text(without_last_column(marked(30, 7, 2)))
    return folder


@pytest.fixture
def model(run: Run, folder: Path) -> Path:
    path = folder / "m.mg"
    words = ("train", folder / "train.txt", "-o", path, "--columns", COLUMNS, "-q", "--set", "unit=document")
    assert run(*words, "--dev", folder / "test.txt")[0] == 0
    return path


def test_training_counts_sentences(run: Run, folder: Path, tmp_path: Path) -> None:
    words = ("train", folder / "train.txt", "-o", tmp_path / "m.mg", "--columns", COLUMNS, "--json")
    code, out, _ = run(*words, "--set", "unit=document", "-q")
    assert (code, json.loads(out)["sentences"]) == (0, 40)
    assert mg.load(tmp_path / "m.mg").saved.settings["unit"] == "document"


@pytest.mark.parametrize("block_bytes", [1, 50, 400, 1 << 18])
@pytest.mark.parametrize("threads", [1, 2])
def test_documents_larger_than_a_block(
    run: Run,
    folder: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    block_bytes: int,
    threads: int,
) -> None:
    """The output is that of the whole file at once, and has its lines."""
    monkeypatch.setattr(tag, "BLOCK_BYTES", block_bytes)
    for name in ("in.txt", "test.txt"):
        out = tmp_path / name
        assert run("tag", model, folder / name, "-o", out, "-q", "--threads", threads)[0] == 0
        sentences = list(read_conll(folder / name))
        labels = [s.columns["label"] for s in read_conll(out)]
        assert labels == [list(t.labels) for t in mg.load(model).tag_all(renamed(sentences))]
        assert all(validate(one, "IOB2") == [] for one in labels)
        before = (folder / name).read_text().splitlines()
        after = out.read_text().splitlines()
        assert [line.startswith(old) for line, old in zip(after, before, strict=True)] == [True] * len(before)


def renamed(sentences: list[mg.Sentence]) -> list[mg.Sentence]:
    """With the columns that the model knows."""
    return [
        mg.Sentence({"word": s.columns["word"], "pos": list(s.columns.values())[1]}, document=s.document)
        for s in sentences
    ]


def test_eval_and_stdin(run: Run, folder: Path, model: Path) -> None:
    code, out, _ = run("eval", model, folder / "test.txt", "--json")
    assert code == 0
    assert json.loads(out)["f1"] > 80


def test_training_on_other_formats_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t").write_text("a b\n")
    words = ("train", tmp_path / "t", "-o", tmp_path / "m.mg", "--set", "unit=document")
    code, _, err = run(*words, "--format", "segmented")
    assert code == 1
    assert "unit=document: segmented files do not tell documents apart" in err


def test_sentences_of_other_formats_are_documents_of_their_own(run: Run, tmp_path: Path) -> None:
    """Plain text and JSON lines have no marks; memory stays flat however many lines there are."""
    (tmp_path / "t.txt").write_text("-DOCSTART- O\n\na B-X\n\na I-X\n\n" * 5)
    words = ("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", "--columns", "word label", "-q")
    assert run(*words, "--set", "unit=document", "--set", "scheme=none")[0] == 0
    (tmp_path / "plain.txt").write_text("a\na\n")
    code, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "plain.txt", "--format", "plain")
    assert (code, out) == (0, "a\tB-X\n\na\tB-X\n\n")
    (tmp_path / "marked.txt").write_text("a\n\na\n\n")
    code, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "marked.txt")
    assert (code, out) == (0, "a\tB-X\n\na\tI-X\n\n")


def parts_of(text: str, outputs: int) -> list[list[list[str]]]:
    """The labels of each output of each document, by sentence, and `outputs` of each."""
    found: list[list[list[str]]] = []
    for part in text.split("#rank=")[1:]:
        lines = part.split("-DOCSTART-")[0].split("\n")[1:]
        sentences = [one.split("\n") for one in "\n".join(lines).strip().split("\n\n")]
        found.append([[line.split()[-1] for line in one] for one in sentences])
    assert len(found) % outputs == 0
    return found


@pytest.mark.parametrize("block_bytes", [50, 1 << 18])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_best_outputs_of_documents(
    run: Run, folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int, threads: int
) -> None:
    """Each document comes as often as it has outputs, with all of its sentences."""
    monkeypatch.setattr(tag, "BLOCK_BYTES", block_bytes)
    code, out, _ = run("tag", model, folder / "in.txt", "--nbest", 3, "--threads", threads)
    assert code == 0
    sentences = list(read_conll(folder / "in.txt"))
    expected = mg.load(model).nbest_all(renamed(sentences), 3)
    documents = [s.document for s in sentences]
    found = iter(parts_of(out, 3))
    for document in dict.fromkeys(documents):
        own = [outputs for outputs, d in zip(expected, documents, strict=True) if d == document]
        for rank in range(3):
            assert next(found) == [list(outputs[rank].labels) for outputs in own]
    assert next(found, None) is None
    ranks = [line for line in out.splitlines() if line.startswith("#rank=")]
    firsts = [documents.index(document) for document in dict.fromkeys(documents)]
    scores = [round(expected[first][rank].score or 0.0, 4) for first in firsts for rank in range(3)]
    assert ranks == [f"#rank={i % 3 + 1};score={score}" for i, score in enumerate(scores)]
    assert out.count("-DOCSTART- -X- O") == len(firsts)


def test_the_best_outputs_of_documents_in_jsonl(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("-DOCSTART- O\n\na B-X\n\na B-X\nb O\n\n" * 5)
    words = ("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", "--columns", "word label", "-q")
    assert run(*words, "--set", "unit=document")[0] == 0
    (tmp_path / "t.jsonl").write_text('{"text": "a b"}\n{"text": "a"}\n')
    code, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "t.jsonl", "--format", "jsonl", "--nbest", 2)
    assert code == 0
    found = [json.loads(line)["nbest"] for line in out.splitlines()]
    expected = mg.load(tmp_path / "m.mg").nbest_all([["a", "b"], ["a"]], 2)
    assert [[one["score"] for one in listed] for listed in found] == [
        [round(one.score or 0.0, 4) for one in outputs] for outputs in expected
    ]
