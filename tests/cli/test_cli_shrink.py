"""`marginalia shrink` and `marginalia export`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_world import Run, without_last_column

import marginalia as mg


def test_a_table_and_a_smaller_file(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.mg"
    code, out, err = run("shrink", model, "--target", "10kB", "--dev", data / "dev.txt", "-o", small)
    assert code == 0, err
    head, as_it_is, *rest, saved = out.splitlines()
    assert head.split() == ["bits", "weights", "features", "size", "score", "loss"]
    assert as_it_is.startswith("as it is   32")
    assert [line.split()[0] for line in rest].count("chosen") == 1
    assert saved.startswith(f"saved {small} (")
    assert err.count("tried") == len(rest) + 1
    assert small.stat().st_size <= 10_000 < model.stat().st_size
    assert run("eval", small, data / "test.txt")[0] == 0
    assert run("inspect", small, "--top", 1)[0] == 0


def test_json(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.mg"
    code, out, err = run(
        "shrink", model, "--dev", data / "dev.txt", "--max-loss", "5", "--bits", "8", "-o", small, "--json"
    )
    found = json.loads(out)
    assert (code, err, found["output"]) == (0, "", str(small))
    (chosen,) = [candidate for candidate in found["table"] if candidate["chosen"]]
    assert {candidate["bits"] for candidate in found["table"][1:]} == {8}
    assert (chosen["size"], chosen["loss"] <= 5) == (small.stat().st_size, True)


def test_dev_data_may_come_through_a_pipe_in_another_layout(
    run: Run, data: Path, model: Path, tmp_path: Path
) -> None:
    swapped = tmp_path / "dev.txt"
    rows = [line.split() for line in (data / "dev.txt").read_text().splitlines()]
    swapped.write_text("\n".join(" ".join(row[::-1]) for row in rows) + "\n")
    words = ["shrink", model, "--bits", 16, "-o", tmp_path / "s.mg", "--json", "--dev"]
    plain = json.loads(run(*words, data / "dev.txt")[1])
    command = [sys.executable, "-m", "marginalia", *map(str, words), "-", "--columns", "chunk pos word"]
    done = subprocess.run(command, input=swapped.read_bytes(), capture_output=True, check=True)
    assert json.loads(done.stdout)["table"] == plain["table"]


def test_a_model_may_take_the_place_of_its_origin(run: Run, model: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.mg"
    copy.write_bytes(model.read_bytes())
    assert run("shrink", copy, "--bits", 8, "-o", copy, "-q")[0] == 0
    assert mg.load(copy).saved.is_shrunk


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--target", "10kB"], 2, "-o/--output"),
        (["-o", "{out}"], 1, "how small shall the model be"),
        (["-o", "{out}", "--target", "much"], 1, "target: found 'much'"),
        (["-o", "{out}", "--target", "10"], 1, "alone take"),
        (["-o", "{out}", "--bits", "9"], 2, "invalid choice"),
        (["-o", "{out}", "--bits", "8", "--dev", "nowhere.txt"], 1, "nowhere.txt: cannot read"),
        (["-o", "nowhere/x.mg", "--bits", "8"], 1, "there is no folder"),
        (["-o", "{out}", "--max-loss", "1", "--target", "1MB"], 1, "max-loss needs held-out data"),
    ],
)
def test_failures_change_nothing(
    run: Run, model: Path, tmp_path: Path, words: list[str], code: int, message: str
) -> None:
    out = tmp_path / "old.mg"
    out.write_bytes(b"old")
    found, _, err = run("shrink", model, *(word.format(out=out) for word in words))
    assert (found, message in err) == (code, True), err
    assert out.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.mg"]


def test_export_writes_a_program_that_runs(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    program, text = tmp_path / "chunker.py", tmp_path / "input.txt"
    text.write_text(without_last_column((data / "test.txt").read_text()))
    code, out, _ = run("export", model, "--to", "python", "-o", program)
    assert (code, out.startswith(f"wrote {program} (")) == (0, True)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(program), str(text)], capture_output=True, check=True
    )
    assert run("tag", model, text)[1].encode() == done.stdout
    code, out, _ = run("export", model, "--to", "javascript", "-o", tmp_path / "c.mjs", "--json")
    assert json.loads(out)["size"] == (tmp_path / "c.mjs").stat().st_size
    assert "export function tag(columns)" in (tmp_path / "c.mjs").read_text()


def test_export_never_replaces_the_model(run: Run, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    assert run("export", model, "--to", "python", "-o", model)[0] == 1
    assert model.read_bytes() == before
    old = tmp_path / "old.py"
    old.write_text("old")
    (tmp_path / "bad.mg").write_bytes(b"bad")
    code, _, err = run("export", tmp_path / "bad.mg", "--to", "python", "-o", old)
    assert (code, "not a model" in err, old.read_text()) == (1, True, "old")
    assert run("export", model, "--to", "cobol", "-o", old)[0] == 2
