"""`marginalia inspect`: what a model has learned, against the weights themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run

import marginalia as mg
from marginalia.cli.text import Paint, count, seconds, size
from marginalia.decode import Contribution
from marginalia.model.inspection import Inspection


def as_json(run: Run, *words: object) -> dict[str, Any]:
    code, out, _ = run("inspect", *words, "--json")
    assert code == 0
    found: dict[str, Any] = json.loads(out)
    return found


def test_text(run: Run, model: Path) -> None:
    code, out, err = run("inspect", model, "--top", 3)
    assert (code, err) == (0, "")
    for part in (
        "word pos chunk (conll), label chunk",
        "IOB2",
        "passes=14",
        "fingerprint",
        "speaks for B-NP",
    ):
        assert part in out
    assert "\x1b" not in out


def test_json(run: Run, model: Path) -> None:
    found = as_json(run, model, "--top", 5)
    assert found["labels"] == list(mg.load(model).saved.labels)
    assert found["settings"]["order"] == 1
    assert found["size"] == model.stat().st_size
    assert found["arrays"]["weights"] > 0
    assert found["format_version"] == 2
    assert len(found["history"]) >= 1
    assert found["strongest"].keys() == set(found["labels"])
    for sides in found["strongest"].values():
        assert all(item["weight"] > 0 for item in sides["positive"])
        assert all(item["weight"] < 0 for item in sides["negative"])
        assert len(sides["positive"]) <= 5
    assert found["transitions"].keys() <= {"start", "end", "transition"}


def test_one_label_and_find(run: Run, model: Path) -> None:
    found = as_json(run, model, "--label", "B-VP", "--top", 1000)
    assert list(found["strongest"]) == ["B-VP"]
    assert all("B-VP" in item["labels"] for items in found["transitions"].values() for item in items)
    found = as_json(run, model, "--find", "VBZ")
    assert found["found"]
    assert all("VBZ" in item["feature"] for item in found["found"])
    only = as_json(run, model, "--find", "VBZ", "--label", "B-VP")["found"]
    assert {item["labels"][-1] for item in only} == {"B-VP"}
    assert "features found" in run("inspect", model, "--find", "VBZ")[1]


@pytest.mark.parametrize("order", [1, 2])
def test_the_weights_are_those_that_score(run: Run, data: Path, tmp_path: Path, order: int) -> None:
    """Whatever a tagger says it added up is what inspection shows."""
    (tmp_path / "features.txt").write_text("word[0]\npos[-1]/pos[0]\nedge: word[0]\nedge:\n")
    words = ("--columns", COLUMNS, "--features", tmp_path / "features.txt", "--set", f"order={order}", "-q")
    assert run("train", data / "train.txt", "-o", tmp_path / "m.mg", *words)[0] == 0
    tagger = mg.load(tmp_path / "m.mg")
    inspection = Inspection(tagger.saved)
    shown = {
        (item.feature, item.labels): item.weight
        for label in tagger.saved.labels
        for positive in (True, False)
        for item in inspection.strongest(label, 10**6, positive=positive)
    }
    for kind, items in inspection.transitions(10**6).items():
        shown |= {(kind, tuple(name for name in item.labels if name != "^")): item.weight for item in items}
    block = next(mg.corpus.read_blocks(data / "test.txt", COLUMNS))
    ids = tagger.decoder.best(block)
    starts = block.table.sentence_starts
    for sentence in range(5):
        labels = ids[starts[sentence] : starts[sentence + 1]].tolist()
        parts: list[Contribution] = tagger.decoder.features_of(block, sentence, labels)
        assert all(shown[part.feature, part.labels] == part.weight for part in parts)
    assert ("trigram" in inspection.transitions(5)) == (order == 2)


def test_without_names(run: Run, data: Path, tmp_path: Path) -> None:
    run("train", data / "train.txt", "-o", tmp_path / "m.mg", "--set", "names=off", "-q")
    code, out, _ = run("inspect", tmp_path / "m.mg", "--top", 2)
    assert code == 0
    assert "names were not kept" in out
    assert "#" in out
    for words in (("--find", "cat"), ("--find", "cat", "--json")):
        code, out, err = run("inspect", tmp_path / "m.mg", *words)
        assert (code, out) == (1, "")
        assert "the names of features are not in the model (shrunk, or trained with names=off)" in err


def test_mistakes(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    assert "unknown label 'B-NQ'. Did you mean 'B-NP'?" in run("inspect", model, "--label", "B-NQ")[2]
    assert "cannot read the model" in run("inspect", tmp_path / "no.mg")[2]
    assert run("inspect", data / "train.txt")[0] == 1
    (tmp_path / "empty.mg").write_bytes(b"")
    assert "the file is empty" in run("inspect", tmp_path / "empty.mg")[2]


def test_numbers_for_people() -> None:
    assert (count(1, "label"), count(2012, "label")) == ("1 label", "2,012 labels")
    assert (size(999), size(5_400_000), size(10**13)) == ("999 bytes", "5.4 MB", "10000.0 GB")
    assert (seconds(1.26), seconds(75), seconds(3725)) == ("1.3 s", "1 min 15 s", "1 h 02 min")


def test_paint(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert Paint(Terminal())("x", "31") == "\x1b[31mx\x1b[0m"  # type: ignore[arg-type]
    assert Paint(Terminal(), wanted=False)("x", "31") == "x"  # type: ignore[arg-type]
    monkeypatch.setenv("NO_COLOR", "1")
    assert Paint(Terminal())("x", "31") == "x"  # type: ignore[arg-type]


def test_weights_out_and_in(run: Run, model: Path, tmp_path: Path) -> None:
    table, other = tmp_path / "weights.tsv", tmp_path / "edited.mg"
    assert run("inspect", model, "--export", table) == (0, "", "")
    assert run("inspect", model, "--export", "-")[1] == table.read_text(encoding="utf-8")
    code, _, err = run("inspect", model, "--import", table, "-o", other)
    assert (code, "no weight changed" in err) == (0, True)
    assert other.read_bytes() == model.read_bytes()
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1].rpartition("\t")[0] + "\t-9.5\n"
    table.write_text("".join([*lines, "feature\tword[0]=unheard\tB-NP\t2\n"]), encoding="utf-8")
    code, _, err = run("inspect", model, "--import", table, "-o", other)
    assert (code, "1 changed, 1 added, 0 removed" in err) == (0, True)
    assert as_json(run, other, "--find", "unheard")["found"][0]["weight"] == 2
    assert as_json(run, other)["edits"] == [{"changed": 1, "added": 1, "removed": 0}]
    assert "edited    1 changed, 1 added, 0 removed" in run("inspect", other)[1]


def test_imported_weights_end_the_log_of_corrections(run: Run, model: Path, tmp_path: Path) -> None:
    fixed, table, other = tmp_path / "fixed.mg", tmp_path / "weights.tsv", tmp_path / "edited.mg"
    assert run("fix", model, "cat/NN", "--labels", "B-NEW", "-o", fixed)[0] == 0
    run("inspect", fixed, "--export", table)
    ends = "the log of 1 correction ends here"
    code, _, err = run("inspect", fixed, "--import", table, "-o", other)
    assert (code, ends in err) == (0, False)
    assert other.read_bytes() == fixed.read_bytes()
    with table.open("a") as file:
        file.write("feature\tword[0]=unheard\tB-NP\t2\n")
    code, _, err = run("inspect", fixed, "--import", table, "-o", other)
    assert (code, ends in err) == (0, True)
    assert run("fix", other, "--log")[1] == "no corrections\n"


@pytest.mark.parametrize(
    "words", [["--import", "w.tsv"], ["-o", "x.mg"], ["--export", "w.tsv", "--import", "w.tsv", "-o", "x.mg"]]
)
def test_weights_need_a_direction(run: Run, model: Path, words: list[str]) -> None:
    code, _, err = run("inspect", model, *words)
    assert (code, "expected --export FILE, or --import FILE with -o FILE" in err) == (2, True)


def test_a_wrong_table_changes_nothing(run: Run, model: Path, tmp_path: Path) -> None:
    table, other = tmp_path / "weights.tsv", tmp_path / "edited.mg"
    other.write_text("old")
    table.write_text("kind\tfeature\tlabels\tweight\nstart\t\tB-XX\t1\n")
    code, _, err = run("inspect", model, "--import", table, "-o", other)
    assert code == 1
    assert f"{table}:2:8: unknown label 'B-XX'" in err
    assert other.read_text() == "old"
