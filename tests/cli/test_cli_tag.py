"""`marginalia tag`: what goes in comes out with one more column, whatever the format and the threads."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, Shell, corpus, without_last_column

import marginalia as mg
from marginalia.cli import main, tag
from marginalia.cli.progress import Bar
from marginalia.corpus.answers import LabelWriter


@pytest.fixture(scope="session")
def words_model(data: Path) -> Path:
    """A model that needs words only; its word column has a name of its own."""
    rows = [line.split(" ") for line in corpus(60, 9).split("\n")]
    text = "\n".join(f"{row[0]}\t{row[2]}" if len(row) == 3 else "" for row in rows)
    (data / "words.txt").write_text(text)
    path = data / "words.mg"
    assert main(["train", f"{data}/words.txt", "-o", f"{path}", "--columns", "token chunk", "-q"]) == 0
    return path


def test_adds_a_column(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    assert run("tag", model, data / "test.txt", "-o", tmp_path / "out.txt") == (0, "", "")
    text = (tmp_path / "out.txt").read_text()
    assert without_last_column(text) == (data / "test.txt").read_text()
    assert text.startswith(("the DT B-NP B-NP\n", "a DT B-NP B-NP\n"))


def test_the_label_column_may_be_missing(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    gold = (data / "test.txt").read_text()
    (tmp_path / "in.txt").write_text(without_last_column(gold))
    run("tag", model, tmp_path / "in.txt", "-o", tmp_path / "out.txt")
    run("tag", model, data / "test.txt", "-o", tmp_path / "full.txt")
    one, other = ((tmp_path / name).read_text().split("\n") for name in ("out.txt", "full.txt"))
    assert [line.split(" ")[-1:] for line in one] == [line.split(" ")[-1:] for line in other]


def test_a_file_behind_options(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    assert run("tag", model, "-o", tmp_path / "a", data / "test.txt")[0] == 0
    assert run("tag", "-o", tmp_path / "b", model, data / "test.txt")[0] == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_pipes_and_threads(shell: Shell, model: Path, data: Path, tmp_path: Path) -> None:
    text = (data / "test.txt").read_bytes() * 200  # several blocks
    one = shell("tag", model, input=text)
    two = shell("tag", model, "-", "-o", "-", "--threads", 3, input=text)
    (tmp_path / "in").write_bytes(text)
    shell("tag", model, tmp_path / "in", "-o", tmp_path / "out", "--threads", 2)
    assert one.returncode == 0
    assert one.stdout == two.stdout == (tmp_path / "out").read_bytes()
    assert one.stdout.count(b"\n") == text.count(b"\n")


def test_layout_survives(shell: Shell, model: Path) -> None:
    head = "-DOCSTART- -X- O\r\n\r\n# one more comment\r\nthe DT B-NP\r\ncat  NN\tI-NP\r\n\r\n\r\n"
    text = head + "# another\r\nsees VBZ B-VP"
    done = shell("tag", model, input=text.encode())
    assert done.returncode == 0
    kept = done.stdout.decode()
    for label in (" B-NP\r", " B-VP"):
        assert label in kept
    lines = [(line, found) for line, found in zip(text.split("\r\n"), kept.split("\r\n"), strict=True)]
    assert all(found.startswith(line) for line, found in lines)
    assert {line for line, found in lines if line == found} >= {"", "# one more comment", "# another"}


@pytest.mark.parametrize("text", [b"", b"\n", b"\n\n# only a comment\n"])
def test_empty_input(shell: Shell, model: Path, text: bytes) -> None:
    done = shell("tag", model, input=text)
    assert (done.returncode, done.stdout, done.stderr) == (0, text, b"")


def test_gzip_both_ways(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    with gzip.open(tmp_path / "in.gz", "wb") as file:
        file.write((data / "test.txt").read_bytes())
    assert run("tag", model, tmp_path / "in.gz", "-o", tmp_path / "out.gz")[0] == 0
    run("tag", model, data / "test.txt", "-o", tmp_path / "out")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == (tmp_path / "out").read_bytes()


class TestFormats:
    def test_plain(self, run: Run, words_model: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text("the old cat sees a dog.\n\na house\n")
        code, out, _ = run("tag", words_model, tmp_path / "in", "--format", "plain", "--tokenizer", "words")
        assert code == 0
        assert out.startswith("the\tB-NP\nold\tI-NP\ncat\tI-NP\nsees\tB-VP\n")
        assert "\n\na\tB-NP\nhouse\tI-NP\n\n" in out

    def test_jsonl(self, run: Run, words_model: Path, tmp_path: Path) -> None:
        record = {"text": "the cat sees a dog", "id": 7, "spans": [[1, 3, "WRONG"]]}
        (tmp_path / "in").write_text(json.dumps(record) + "\n" + json.dumps({"text": ""}) + "\n")
        code, out, _ = run("tag", words_model, tmp_path / "in", "--format", "jsonl")
        found = [json.loads(line) for line in out.splitlines()]
        assert code == 0
        assert found[0]["id"] == 7
        assert found[0]["spans"] == [[0, 7, "NP"], [8, 12, "VP"], [13, 18, "NP"]]
        assert found[1]["spans"] == []

    def test_jsonl_with_plain_tags(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t").write_text("a X\nb Y\n\n" * 3)
        run("train", tmp_path / "t", "-o", tmp_path / "m.mg", "-q")
        (tmp_path / "in").write_text('{"text": "a b"}\n')
        _, out, _ = run("tag", tmp_path / "m.mg", tmp_path / "in", "--format", "jsonl")
        assert json.loads(out)["spans"] == [[0, 1, "X"], [2, 3, "Y"]]

    def test_conllu_goes_back_byte_for_byte(self, run: Run, tmp_path: Path) -> None:
        text = (
            "# sent_id = 1\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\tIN\t_\t0\troot\t_\t_\n"
            "2\tle\tle\tDET\tDT\t_\t1\tdep\t_\t_\n2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n\n"
        )
        (tmp_path / "t.conllu").write_text(text * 3)
        run("train", tmp_path / "t.conllu", "-o", tmp_path / "m.mg", "--task", "pos", "--label", "xpos", "-q")
        blank = (text * 3).replace("\tIN\t", "\t_\t").replace("\tDT\t", "\t_\t")
        (tmp_path / "in.conllu").write_text(blank)
        assert run("tag", tmp_path / "m.mg", tmp_path / "in.conllu", "-o", tmp_path / "out")[0] == 0
        assert (tmp_path / "out").read_text() == text * 3

    def test_column_model_on_conllu(self, run: Run, words_model: Path, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in.conllu").write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
        words = ("tag", words_model, tmp_path / "in.conllu", "--format", "conllu")
        assert "say where labels are with --label" in run(*words)[2]
        assert "the model needs the column 'pos'" in run("tag", model, *words[2:], "--label", "misc.Chunk")[2]
        assert run(*words, "--label", "misc.Chunk")[1] == "1\tthe\t_\t_\t_\t_\t_\t_\t_\tChunk=B-NP\n\n"

    def test_segmented_words_get_their_tags(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("ab/n  c/v\nc/v  ab/n\n" * 4)
        words = ("-o", tmp_path / "m.mg", "--task", "segmentation", "--tag-separator", "/", "-q")
        run("train", tmp_path / "t.txt", *words)
        (tmp_path / "raw").write_text("cab\n")
        assert run("tag", tmp_path / "m.mg", tmp_path / "raw")[1] == "c/v ab/n\n"
        assert (
            run("tag", tmp_path / "m.mg", tmp_path / "t.txt", "--tag-separator", "/")[1][:9] == "ab/n c/v\n"
        )

    def test_reader_options_travel_with_the_model(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("New York\tB-LOC\nis\tO\n\n" * 3)
        run("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", "--separator", "tab", "-q")
        assert run("tag", tmp_path / "m.mg", tmp_path / "t.txt")[1].startswith("New York\tB-LOC\tB-LOC\n")

    def test_other_columns(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text("1 DT the\n2 NN cat\n\n")
        words = ("tag", model, tmp_path / "in", "--columns")
        assert run(*words, "id pos word")[1] == "1 DT the B-NP\n2 NN cat I-NP\n\n"
        assert run(*words, "id pos chunk")[2] == (
            "marginalia: error: --columns: found id pos chunk, but the model also needs word.\n"
        )


class TestMistakes:
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (
                ["--tokenizer", "words"],
                "--tokenizer is for jsonl and plain files, but these are read as conll",
            ),
            (["--format", "plain", "--tokenizer", "spacy"], "found tokenizer 'spacy'"),
            (["--format", "plain", "--columns", "a b"], "--columns is for conll and conllu files"),
            (["--format", "plain", "--label", "x"], "in plain files labels are called 'label'"),
            (["--format", "plain"], "the features also need 'pos'"),
            (["--format", "xml"], "found format 'xml'"),
            (["--columns", COLUMNS, "--label", "x"], "--label: found 'x', expected one of the columns"),
        ],
    )
    def test_of_options(self, run: Run, model: Path, data: Path, words: list[str], message: str) -> None:
        code, out, err = run("tag", model, data / "test.txt", *words)
        assert (code, out) == (1, "")
        assert message in err

    def test_of_files(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        test = data / "test.txt"
        assert "there is no such file" in run("tag", model, tmp_path / "no")[2]
        assert "cannot read the model" in run("tag", tmp_path / "no.mg", test)[2]
        assert "not a model" in run("tag", test, test)[2]
        assert "there is no folder" in run("tag", model, test, "-o", tmp_path / "no" / "out")[2]
        assert "this is a folder" in run("tag", model, test, "-o", tmp_path)[2]

    def test_a_damaged_model(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        flipped = bytearray(model.read_bytes())
        flipped[-5] ^= 1
        (tmp_path / "m.mg").write_bytes(flipped)
        code, out, err = run("tag", tmp_path / "m.mg", data / "test.txt")
        assert (code, out) == (1, "")
        assert "checksum" in err
        (tmp_path / "m.mg").write_bytes(flipped[:1000])
        assert "truncated" in run("tag", tmp_path / "m.mg", data / "test.txt")[2]

    def test_a_failure_leaves_the_old_output(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text("the DT\ncat NN\n\n" * 100_000 + "only-one-field\n")
        (tmp_path / "out").write_text("precious")
        code, _, err = run("tag", model, tmp_path / "in", "-o", tmp_path / "out")
        assert code == 1
        assert f"{tmp_path / 'in'}:300001:" in err
        assert (tmp_path / "out").read_text() == "precious"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]

    def test_the_wrong_number_of_columns(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "in").write_text("the\ncat\n")
        code, _, err = run("tag", model, tmp_path / "in")
        assert code == 1
        assert "found 1 columns, expected 3 (word pos chunk), or 2 without 'chunk'" in err

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
    @pytest.mark.parametrize("times", [1, 500])
    def test_a_full_disk(self, model: Path, data: Path, tmp_path: Path, times: int) -> None:
        (tmp_path / "in").write_bytes((data / "test.txt").read_bytes() * times)
        command = [sys.executable, "-m", "marginalia", "tag", str(model), str(tmp_path / "in")]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, done.stderr) == (1, b"marginalia: error: No space left on device\n")
        done = subprocess.run([*command, "-o", "/dev/full"], capture_output=True, check=False)
        assert done.returncode == 1
        assert done.stderr == b"marginalia: error: /dev/full: cannot write: No space left on device\n"


def test_broken_pipe(model: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes((data / "test.txt").read_bytes() * 500)
    command = [sys.executable, "-m", "marginalia", "tag", str(model), str(tmp_path / "in")]
    with subprocess.Popen(command, stdout=-1, stderr=-1) as child:
        assert child.stdout is not None
        assert child.stderr is not None
        assert child.stdout.readline()
        child.stdout.close()
        assert child.stderr.read() == b""
    assert child.returncode == 141


@pytest.fixture
def interrupted_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Ctrl-C is pressed while the block of this number is being written."""

    def press(block: int) -> None:
        write, written = LabelWriter.write, []

        def interrupted(*args: Any) -> None:
            if len(written) == block:
                signal.raise_signal(signal.SIGINT)
            written.append(args)
            write(*args)

        monkeypatch.setattr(tag, "BLOCK_BYTES", 200)
        monkeypatch.setattr(LabelWriter, "write", interrupted)

    return press


@pytest.mark.parametrize(("name", "partial"), [("o.txt", "o.txt.partial"), ("o.txt.gz", "o.txt.partial.gz")])
def test_ctrl_c_keeps_what_was_tagged(
    run: Run,
    model: Path,
    data: Path,
    tmp_path: Path,
    interrupted_at: Callable[[int], None],
    name: str,
    partial: str,
) -> None:
    assert run("tag", model, data / "test.txt", "-o", tmp_path / "whole.txt")[0] == 0
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / name).write_text("old")
    (tmp_path / name).symlink_to(tmp_path / "elsewhere" / name)
    interrupted_at(2)
    code, _, err = run("tag", model, data / "test.txt", "-o", tmp_path / name)
    kept = tmp_path / "elsewhere" / partial
    assert (code, err) == (130, f"marginalia: interrupted; what was done until then is in {kept}\n")
    assert (tmp_path / name).read_text() == "old"
    assert {path.name for path in kept.parent.iterdir()} == {name, partial}
    text = (gzip.open if name.endswith(".gz") else open)(kept, "rt").read()
    assert text.endswith("\n\n")
    assert text.count("\n\n") > 2
    assert (tmp_path / "whole.txt").read_text().startswith(text)
    assert len(text) < (tmp_path / "whole.txt").stat().st_size


def test_ctrl_c_where_nothing_can_be_kept(
    run: Run, model: Path, data: Path, tmp_path: Path, interrupted_at: Callable[[int], None]
) -> None:
    (tmp_path / "out.txt.partial").mkdir()
    interrupted_at(1)
    refused = run("tag", model, data / "test.txt", "-o", tmp_path / "out.txt")
    assert refused[0] == 1
    assert "out.txt.partial: cannot write: this is a folder" in refused[2]
    (tmp_path / "in.partial").write_bytes((data / "test.txt").read_bytes())
    refused = run("tag", model, tmp_path / "in.partial", "-o", tmp_path / "in")
    assert "in.partial: cannot write: this is one of the inputs" in refused[2]


def test_ctrl_c_before_anything_was_tagged(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("marginalia.corpus.batches.read_batches", interrupted)
    (tmp_path / "out.txt.partial").write_text("of another day")
    assert run("tag", model, "-o", tmp_path / "out.txt")[::2] == (130, "marginalia: interrupted\n")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["of another day"]


def test_old_mode_and_links_are_kept(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("old")
    (tmp_path / "out").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "out")
    assert run("tag", model, data / "test.txt", "-o", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "out").stat().st_size > 100


def test_the_bar(run: Run, model: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    run("tag", model, data / "test.txt", "-o", tmp_path / "plain")
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    assert run("tag", model, data / "test.txt", "-o", tmp_path / "out")[0] == 0
    assert "100%" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
    assert (tmp_path / "plain").read_bytes() == (tmp_path / "out").read_bytes()
    assert not Bar(stream, shown=False).live


def test_the_library_gives_the_same(run: Run, model: Path, data: Path) -> None:
    _, out, _ = run("tag", model, data / "test.txt")
    tagger = mg.load(model)
    sentences = [
        tagger.tag({k: s.columns[k] for k in ("word", "pos")})
        for s in mg.read_conll(data / "test.txt", COLUMNS)
    ]
    labels = [label for tagged in sentences for label in tagged.labels]
    assert [line.split(" ")[-1] for line in out.split("\n") if line] == labels
