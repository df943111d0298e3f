"""What would take all memory or time, or cannot be: refused with a reason, or done in bounds."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from cli_world import Run

import marginalia as mg
from marginalia.config import MOST_THREADS

RECIPE = 'train = "t.txt"\noutput = "m.mg"\ncolumns = "word tag"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.txt").write_text("a X\nb Y\n\n" * 5)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (f'{key} = "a\\u0000b"\n', "found a NUL character")
            for key in ("features", "dictionary", "start", "dev")
        ),
        ('[lists]\nx = "a\\u0000b"\n', "found a NUL character"),
        ("x = \0\n", "this is not TOML"),
        (f"x = {'[' * 100_000}{']' * 100_000}\n", "this is not TOML"),
        (f"x = {'{a=' * 5000}1{'}' * 5000}\n", "this is not TOML"),
        (f"set.{'.'.join('a' * 50_000)} = 1\n", "found a key of more than 50 parts"),
        (f"[{'.'.join('a' * 50_000)}]\n", "found a key of more than 50 parts"),
        (f"features = {'{a=' * 90}1{'}' * 90}\n", "expected a text"),
        (f"seed = {'9' * 5000}\n", "this is not TOML"),
        ("seed = 99999999999999999999\n", "expected a whole number"),
        ("threads = 1000000000\n", "expected a whole number from 1 to 1024"),
    ],
)
def test_recipes_that_cannot_be(run: Run, folder: Path, text: str, message: str) -> None:
    (folder / "r.toml").write_text(RECIPE + text)
    code, out, err = run("train", folder / "r.toml")
    assert (code, out) == (1, "")
    assert message in err


def test_a_nul_byte_in_the_command_line(run: Run) -> None:
    assert run("train", "r\0.toml")[0] == 2


@pytest.mark.parametrize("threads", [0, MOST_THREADS + 1, 10**9])
def test_threads_have_bounds(run: Run, folder: Path, threads: int) -> None:
    code, _, err = run(
        "train", folder / "t.txt", "--columns", "word tag", "-o", folder / "m.mg", "--threads", threads
    )
    assert code == 2
    assert "expected a whole number from 1 to 1024" in err
    with pytest.raises(mg.SettingsError, match="threads: found"):
        mg.train(folder / "t.txt", columns="word tag", threads=threads)


def test_threads_that_cannot_start(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = mg.train(folder / "t.txt", columns="word tag")
    model.save(folder / "m.mg")

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    code, _, err = run("tag", folder / "m.mg", folder / "t.txt", "--threads", 7, "-q", "-o", folder / "o.txt")
    assert code == 1
    assert "threads: cannot start 7 threads (can't start new thread): ask for fewer" in err


def test_threads_of_the_core_that_cannot_start(folder: Path) -> None:
    limited = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); "
        "from marginalia.cli import main; raise SystemExit(main())"
    )
    words = [
        "clusters",
        folder / "t.txt",
        "-o",
        folder / "c.txt",
        "--threads",
        "1024",
        "-k",
        "2",
        "--min-count",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, "-c", limited, *words], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr


def test_rounds_have_bounds(run: Run, folder: Path) -> None:
    (folder / "pred.txt").write_text((folder / "t.txt").read_text())
    words = ("eval", "--gold", folder / "t.txt", "--pred", folder / "pred.txt", "--bootstrap")
    code, _, err = run(*words, 10**9)
    assert code == 1
    assert "bootstrap rounds: found 1000000000, expected a whole number from 1 to 100,000" in err
    assert run(*words, 100)[0] == 0


def test_explanations_have_bounds(folder: Path) -> None:
    model = mg.train(folder / "t.txt", columns="word tag")
    with pytest.raises(mg.DataError, match=r"found 100,000 tokens to explain, expected 1 to 10,000"):
        model.explain(["a"] * 100_000)
    assert model.explain(["a"] * 10_000).chosen.labels


def test_the_case_of_tasks_does_not_matter(folder: Path) -> None:
    assert mg.train(folder / "t.txt", columns="word tag", task="NER", passes=1).to_bytes() == (
        mg.train(folder / "t.txt", columns="word tag", task="ner", passes=1).to_bytes()
    )


def test_columns_that_nobody_named_are_told(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a X Y O\nb X Y B-N\n\n" * 5)
    out, words = tmp_path / "m.mg", ("--set", "passes=1")
    _, _, told = run("train", tmp_path / "t.txt", "-o", out, *words)
    assert "note: columns 2, 3 are not used: name all columns with --columns" in told
    _, _, told = run("train", tmp_path / "t.txt", "-o", out, *words, "--columns", "word pos chunk ner")
    assert "not used" not in told


def test_raw_text_for_a_model_of_columns_is_told(run: Run, folder: Path) -> None:
    mg.train(folder / "t.txt", columns="word tag").save(folder / "m.mg")
    for text in ("He lives in Paris .\nSo he does .\n", "He lives in Paris .\n"):
        (folder / "raw.txt").write_text(text)
        code, _, err = run("tag", folder / "m.mg", folder / "raw.txt")
        assert code == 1
        assert "(raw text, a sentence a line, is read with --format plain)" in err
    assert run("tag", folder / "m.mg", folder / "raw.txt", "--format", "plain")[0] == 0
