"""What the world does to a command line: streams closed or odd, signals, links, defects."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, corpus

from marginalia.cli import main
from marginalia.cli.arguments import DEFECT

pty = pytest.importorskip("pty", reason="terminals and signals are those of POSIX")


def bash(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of the shell; `marginalia` is the package that is tested."""
    line = line.replace("marginalia ", f"{shlex.quote(sys.executable)} -m marginalia ", 1)
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        timeout=60,
        env={**os.environ, **environment},
        check=False,
        stdin=subprocess.DEVNULL,
    )


class TestStreams:
    """Closed, and of another encoding."""

    @pytest.mark.parametrize("closing", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
    def test_a_result_that_goes_to_a_file_is_there(
        self, model: Path, data: Path, tmp_path: Path, closing: str
    ) -> None:
        done = bash(f"marginalia tag {model} {data}/test.txt -o {tmp_path}/out.txt {closing}")
        assert (done.returncode, done.stderr) == (0, b"")
        assert (tmp_path / "out.txt").read_text().count("\n\n") == 20

    def test_training_without_streams_keeps_the_model(self, data: Path, tmp_path: Path) -> None:
        words = f"{data}/train.txt -o {tmp_path}/m.mg --columns 'word pos chunk' --set passes=1"
        done = bash(f"marginalia train {words} <&- >&- 2>&-")
        assert done.returncode == 1  # what it prints could not be printed
        assert bash(f"marginalia train {words} -q <&- 2>&-").returncode == 0
        assert main(["tag", f"{tmp_path}/m.mg", f"{data}/test.txt", "-o", f"{tmp_path}/out"]) == 0

    def test_results_for_a_closed_stream_are_an_error(self, model: Path, data: Path) -> None:
        done = bash(f"marginalia tag {model} {data}/test.txt >&-")
        assert (done.returncode, done.stderr) == (
            1,
            b"marginalia: error: standard output is closed\n",
        )
        done = bash(f"marginalia tag {model} <&-")
        assert done.returncode == 1
        assert b"standard input is closed" in done.stderr
        assert b"Traceback" not in done.stderr

    def test_messages_that_the_encoding_lacks_degrade(self, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("ä O\nñ ✓\n\n" * 9, encoding="utf-8")
        where = f"{tmp_path}/t.txt -o {tmp_path}/m.mg --columns 'word tag'"
        trained = bash(f"marginalia train {where}", PYTHONIOENCODING="ascii")
        assert (trained.returncode, b"Traceback" in trained.stderr) == (0, False)
        shown = bash(f"marginalia inspect {tmp_path}/m.mg --top 3", PYTHONIOENCODING="ascii")
        assert shown.returncode == 0
        assert b"\\u2713" in shown.stdout
        tagged = bash(f"marginalia tag {tmp_path}/m.mg {tmp_path}/t.txt", PYTHONIOENCODING="ascii")
        assert "ñ ✓".encode() in tagged.stdout  # data are UTF-8 whatever messages are


def shown_on_terminal(*words: str, **environment: str) -> bytes:
    """What a command line writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(
            sys.executable,
            [sys.executable, "-m", "marginalia", *words],
            {**os.environ, "TERM": "xterm", **environment},
        )
    found = b""
    try:
        while part := os.read(terminal, 1 << 16):
            found += part
    except OSError:  # the other end is closed
        pass
    os.waitpid(pid, 0)
    os.close(terminal)
    return found


def test_control_characters_do_not_reach_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a\x1b]0;x\x07 O\nb\x9b2J\x1b[31m X\x1b[2J\n\n" * 9, encoding="utf-8")
    trained = shown_on_terminal(
        "train", f"{tmp_path}/t.txt", "-o", f"{tmp_path}/m.mg", "--columns", "word tag"
    )
    assert b"\r\x1b[K" not in trained.replace(b"\r\x1b[K", b"")
    for words in (["inspect", f"{tmp_path}/m.mg"], ["tag", f"{tmp_path}/m.mg", f"{tmp_path}/t.txt"]):
        shown = shown_on_terminal(*words, NO_COLOR="1")
        assert b"X\\x1b[2J" in shown
        assert not any(raw in shown for raw in (b"\x1b", b"\x07", b"\x9b2J"))


def test_sigterm_keeps_the_work_as_ctrl_c_does(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(corpus(50, 5) + "the NN O\n\nthe NN B-NP\n\n")  # never learned fully
    words = ["train", f"{tmp_path}/t.txt", "-o", f"{tmp_path}/m.mg", "--columns", COLUMNS]
    command = [sys.executable, "-m", "marginalia", *words, "--set", "passes=100000"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stderr is not None
        while b"training error" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 130
    assert main(["inspect", f"{tmp_path}/m.mg"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        "tag {m} {d}/test.txt --dictionary {t} -o {o}",
        "tag {m} {d}/test.txt --constraints {t} -o {o}",
        "tag {m} {t} -o {o}",
        "train {d}/train.txt --columns 'word pos chunk' --dictionary {t} -o {o}",
        "train {d}/train.txt --columns 'word pos chunk' --list cities={t} -o {o}",
        "train {d}/train.txt --columns 'word pos chunk' --features {t} -o {o}",
        "train {d}/train.txt --columns 'word pos chunk' --set costs={t} -o {o}",
        "train {d}/train.txt --columns 'word pos chunk' --start {m} --dev {t} -o {o}",
        "calibrate {m} {t} -o {o}",
        "shrink {m} --target 2kB --dev {t} -o {o}",
        "inspect {m} --import {t} -o {o}",
        "fix {m} --input {t} -o {o}",
        "convert {t} -o {o}",
        "parse en {t} -o {o}",
        "clusters {t} -o {o}",
        "casing {t} -o {o}",
        "lexicon {m} {t} -o {o}",
        "eval {m} {t} --reliability-plot {o}",
    ],
)
@pytest.mark.parametrize("link", ["same", "symbolic", "hard"])
def test_no_output_replaces_an_input(
    run: Run, model: Path, data: Path, tmp_path: Path, words: str, link: str
) -> None:
    given = tmp_path / "given.svg"
    given.write_text("Paris\tB-NP\n")
    output = given if link == "same" else tmp_path / "link.svg"
    if link == "symbolic":
        output.symlink_to(given)
    elif link == "hard":
        output.hardlink_to(given)
    line = shlex.split(words.format(m=model, d=data, t=given, o=output))
    code, out, err = run(*line)
    assert (code, out) == (1, "")
    assert "cannot write: this is one of the inputs" in err
    assert given.read_text() == "Paris\tB-NP\n"


MODEL_WRITERS = (
    "train {d}/train.txt --columns 'word pos chunk' -o {o}",
    "train {d}/train.txt --task ud -o {o}",
    "calibrate {m} {d}/dev.txt -o {o}",
    "shrink {m} --target 2kB -o {o}",
    "inspect {m} --import {d}/train.txt -o {o}",
    "fix {m} --input {d}/dev.txt -o {o}",
    "convert {m} -o {o}",
    "rerank {d}/train.txt --base {m} -o {o}",
)


@pytest.mark.parametrize("words", MODEL_WRITERS)
def test_where_no_model_can_go_is_told_before_the_work(run: Run, model: Path, data: Path, words: str) -> None:
    for output, expected in (
        ("/dev/null", "cannot write a model there: this is not a regular file"),
        ("-", "found the output -, expected the name of a file"),
        ("/", "this is a folder"),
        ("nul\0", "found a NUL byte in the command line"),
    ):
        began = time.process_time()
        code, out, err = run(*shlex.split(words.format(m=model, d=data, o="@"))[:-1], output)
        assert (code in (1, 2), out) == (True, "")
        assert expected in err, (output, err)
        assert time.process_time() - began < 5  # nothing was trained meanwhile


def test_a_defect_is_told_with_a_hint(run: Run, monkeypatch: pytest.MonkeyPatch, model: Path) -> None:
    def fail(*_: object, **__: object) -> None:
        raise TypeError("unexpected pancake")

    monkeypatch.setattr("marginalia.model.file.open_file", fail)
    code, out, err = run("inspect", model)
    assert (code, out) == (DEFECT, "")
    assert err.startswith("marginalia: error: TypeError: unexpected pancake\nThis is a defect of marginalia ")
    assert "--debug" in err
    with pytest.raises(TypeError):
        main(["inspect", str(model), "--debug"])


def test_an_unlucky_corpus_is_no_defect(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(corpus(5, 1))
    code, _, err = run("train", tmp_path / "t.txt", "--debug", "-o", tmp_path / "m.mg", "--columns", "word")
    assert code == 1
    assert "Traceback" not in err
