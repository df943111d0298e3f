"""`marginalia train`: what it saves and says, and everything that can be wrong with its arguments."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, Shell, corpus

import marginalia as mg
from marginalia.cli.reading import READER_OPTIONS
from marginalia.corpus import FORMATS
from marginalia.learn.recipe import declared
from marginalia.model.inspection import Inspection


@pytest.mark.parametrize("victim", ["train.txt", "dev.txt"])
def test_output_never_replaces_an_input(run: Run, data: Path, victim: str) -> None:
    before = (data / victim).read_bytes()
    words = ("train", data / "train.txt", "--dev", data / "dev.txt", "--columns", COLUMNS)
    code, _, err = run(*words, "-o", data / victim)
    assert (code, (data / victim).read_bytes()) == (1, before)
    assert "this is one of the inputs" in err


def test_verbatim_with_all_options(run: Run, data: Path, tmp_path: Path) -> None:
    words = (
        "--structure chain --features chunking --learner perceptron --set passes=4 --set cutoff=0 --seed 1"
    )
    code, out, err = run(
        *("train", data / "train.txt", "-o", tmp_path / "m.mg", "--task", "chunking", "--columns", COLUMNS),
        *("--dev", data / "dev.txt", *words.split(), "--threads", 2, "--json"),
    )
    found = json.loads(out)
    assert (code, found["model"], found["interrupted"]) == (0, str(tmp_path / "m.mg"), False)
    assert 1 <= found["passes"] <= 4
    assert found["sentences"] == 60
    assert set(found["labels"]) == {"B-NP", "I-NP", "B-VP", "B-PP", "O"}
    assert found["label_count"] == 5
    assert found["dev"].keys() >= {"f1", "precision", "recall", "accuracy", "best_pass"}
    assert found["dev"]["f1"] > 95
    assert found["features"] > 100
    assert 0 < found["used_features"] <= found["features"]
    assert found["used_features"] == Inspection(mg.load(tmp_path / "m.mg").saved).sizes()["features"]
    assert found["weights"] > 0
    assert found["size"] == (tmp_path / "m.mg").stat().st_size
    assert found["seconds"] >= 0
    assert "scheme IOB2" in err
    assert mg.load(tmp_path / "m.mg").saved.settings["passes"] == 4


def test_text_output_and_plain_progress(run: Run, data: Path, tmp_path: Path) -> None:
    code, out, err = run(
        "train", data / "train.txt", "-o", tmp_path / "m.mg", "--set", "passes=3", "--dev", data / "dev.txt"
    )
    assert code == 0
    assert "saved" in out
    assert f"marginalia tag {tmp_path / 'm.mg'}" in out
    assert "best on dev: F1" in out
    lines = err.splitlines()
    assert lines[0].startswith("read 60 sentences, ")
    assert sum(line.startswith("pass ") for line in lines) <= 3
    assert "\r" not in err


def test_notes_are_shown_and_quiet_is_quiet(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a B-X\nb O\n\n")
    words = ("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", "--task", "chunking")
    assert "note: left out for want of columns" in run(*words)[2]
    assert run(*words, "--quiet")[2] == ""


def test_same_seed_same_bytes(run: Run, data: Path, tmp_path: Path) -> None:
    for name in "ab":
        assert run("train", data / "train.txt", "-o", tmp_path / name, "--set", "passes=2", "-q")[0] == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_several_files_also_behind_options(run: Run, data: Path, tmp_path: Path) -> None:
    words = ("train", data / "train.txt", "-o", tmp_path / "m.mg", data / "dev.txt", "--json", "-q")
    assert json.loads(run(*words)[1])["sentences"] == 75


@pytest.mark.parametrize("columns", [(), ("--columns", COLUMNS)])
def test_standard_input(shell: Shell, data: Path, tmp_path: Path, columns: tuple[str, ...]) -> None:
    text = (data / "train.txt").read_bytes()
    done = shell("train", "-", "-o", tmp_path / "m.mg", "--json", *columns, input=text)
    assert json.loads(done.stdout)["sentences"] == 60


def test_a_pipe_is_read_whole(run: Run, data: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cp", data / "train.txt", tmp_path / "pipe"]):
        code, out, _ = run("train", tmp_path / "pipe", "-o", tmp_path / "m.mg", "--json", "-q")
    assert (code, json.loads(out)["sentences"]) == (0, 60)


def test_settings_are_listed(run: Run) -> None:
    code, out, _ = run("train", "--settings")
    assert code == 0
    for setting in declared("chain", "perceptron"):
        assert f"\n  {setting.name} " in out
    assert "default 10" in out
    text = " ".join(out.split())
    assert "(auto, none, IOB2, IOBES, BILOU, BMES, IOE2, IOB1 or IOE1; default auto)" in text
    assert "(a whole number from 0 to 2147483648; default 0)" in text
    assert run("train", "--settings", "--learner", "perceptrn")[0] == 1


def test_reader_options_are_those_of_the_formats() -> None:
    for format in FORMATS.values():
        assert {o.name for o in READER_OPTIONS if format.name in o.formats} == set(format.options)


@pytest.mark.parametrize(("verb", "offered"), [("train", False), ("eval", False), ("tag", True)])
def test_plain_text_is_offered_where_it_can_be_read(shell: Shell, verb: str, offered: bool) -> None:
    assert ("plain" in shell(verb, "--help").stdout.decode().partition("--format NAME")[2]) == offered


class TestFormats:
    def test_conllu(self, run: Run, tmp_path: Path) -> None:
        rows = "1\tDogs\tdog\tNOUN\tNNS\t_\t0\troot\t_\t_\n2\tbark\tbark\tVERB\tVBP\t_\t1\tdep\t_\t_\n\n"
        (tmp_path / "t.conllu").write_text(rows * 3)
        words = ("--task", "pos", "--label", "xpos", "--json", "-q")
        code, out, _ = run("train", tmp_path / "t.conllu", "-o", tmp_path / "m.mg", *words)
        assert (code, json.loads(out)["labels"]) == (0, ["NNS", "VBP"])

    def test_jsonl(self, run: Run, tmp_path: Path) -> None:
        record = {"text": "Ada met Bob Smith.", "spans": [[0, 3, "PER"], [8, 17, "PER"]]}
        (tmp_path / "t.jsonl").write_text((json.dumps(record) + "\n") * 3)
        code, out, _ = run("train", tmp_path / "t.jsonl", "-o", tmp_path / "m.mg", "--task", "ner", "--json")
        assert (code, set(json.loads(out)["labels"])) == (0, {"B-PER", "I-PER", "O"})

    def test_segmented_with_tags(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("ab/n  c/v\nc/v  ab/n\n" * 3)
        words = ("--task", "segmentation-tags", "--structure", "chain", "-q", "--json")
        code, out, _ = run("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", *words)
        assert (code, set(json.loads(out)["labels"])) == (0, {"B-n", "E-n", "S-v"})
        assert mg.load(tmp_path / "m.mg").saved.options == {"tag_separator": "/"}

    def test_lists(self, run: Run, data: Path, tmp_path: Path) -> None:
        (tmp_path / "animals").write_text("cat\ndog\n")
        words = (
            "train",
            data / "train.txt",
            "-o",
            tmp_path / "m.mg",
            "--list",
            f"animals={tmp_path}/animals",
        )
        assert run(*words, "-q")[0] == 0
        assert list(mg.load(tmp_path / "m.mg").saved.program.lists) == ["animals"]

    def test_clusters(self, run: Run, data: Path, tmp_path: Path) -> None:
        """By option, by recipe (relative to it), and both; `inspect` shows them."""
        (tmp_path / "brown").write_text("01\tcat\t3\n01\tdog\t2\n1\tthe\t9\n")
        recipe = (
            "train = 'train.txt'\noutput = 'r.mg'\n[clusters]\nb = 'brown'\n[set]\ncluster-case = 'any'\n"
        )
        (tmp_path / "recipe.toml").write_text(recipe)
        (tmp_path / "train.txt").write_text((data / "train.txt").read_text())
        assert run("train", tmp_path / "recipe.toml", "--clusters", f"c={tmp_path}/brown", "-q")[0] == 0
        code, out, _ = run("inspect", tmp_path / "r.mg", "--json")
        facts = {"words": 3, "clusters": 2, "any_case": True}
        assert (code, json.loads(out)["clusters"]) == (0, {"b": facts, "c": facts})
        shown = run("inspect", tmp_path / "r.mg")[1]
        assert "clusters  b (3 words, 2 clusters; any case); c (3 words, 2 clusters; any case)" in shown

    def test_clusters_that_are_not_right(self, run: Run, data: Path, tmp_path: Path) -> None:
        (tmp_path / "brown").write_text("01\tcat\nx1\tdog\n")
        words = ("train", data / "train.txt", "-o", tmp_path / "m.mg", "--clusters", f"b={tmp_path}/brown")
        code, _, errors = run(*words)
        assert code != 0
        assert "brown:2:1: found 'x1', expected a path of 1 to 255 bits 0 and 1" in errors
        (tmp_path / "r.toml").write_text("train = 't'\noutput = 'm'\nclusters = 'x'\n")
        assert "'clusters': found 'x', expected a table" in run("train", tmp_path / "r.toml")[2]

    def test_separator_and_comments(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("% note\nNew York\tB-LOC\nis\tO\n\n" * 3)
        words = (
            "train",
            tmp_path / "t.txt",
            "-o",
            tmp_path / "m.mg",
            "--separator",
            "tab",
            "--comments",
            "%",
        )
        code, out, _ = run(*words, "--json", "-q")
        assert (code, json.loads(out)["tokens"]) == (0, 6)


class TestMistakes:
    """Every one of these ends with a message and a code, and none of them trains."""

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--task", "chunkin"], "unknown task 'chunkin'. Did you mean 'chunking'?"),
            (["--set", "pases=3"], "unknown setting 'pases'. Did you mean 'passes'?"),
            (["--set", "passes=many"], "setting 'passes': found 'many', expected a whole number"),
            (["--set", "passes=0"], "setting 'passes': found '0'"),
            (["--learner", "perceptrn"], "unknown learner 'perceptrn'. Did you mean 'perceptron'?"),
            (["--structure", "tree"], "unknown structure 'tree'"),
            (["--features", "nowhere"], "'nowhere' is neither a ready-made set nor a template file"),
            (["--columns", "word pos"], "found 3 columns, expected 2 (word pos)"),
            (["--columns", "word pos pos"], "name twice"),
            (["--label", "tag", "--columns", COLUMNS], "label: found 'tag', expected one of the columns"),
            (["--format", "xml"], "found format 'xml', expected one of"),
            (
                ["--tokenizer", "words"],
                "--tokenizer is for jsonl and plain files, but these are read as conll",
            ),
            (["--tag-separator", "/"], "--tag-separator is for segmented and kytea files"),
            (["--format", "segmented", "--columns", "a"], "--columns is for conll and conllu files"),
            (["--list", "a=nowhere"], "list 'a': cannot read nowhere"),
            (["--dev", "nowhere"], "nowhere: cannot read: there is no such file"),
        ],
    )
    def test_of_options(self, run: Run, data: Path, tmp_path: Path, words: list[str], message: str) -> None:
        code, out, err = run("train", data / "train.txt", "-o", tmp_path / "m.mg", *words)
        assert (code, out) == (1, "")
        assert err.startswith("marginalia: error: ")
        assert message in err
        assert not (tmp_path / "m.mg").exists()

    @pytest.mark.parametrize(
        "words", [["--set", "passes"], ["--seed", "-1"], ["--separator", "x"], ["--threads", "0"]]
    )
    def test_of_usage(self, run: Run, data: Path, words: list[str]) -> None:
        assert run("train", data / "train.txt", "-o", "m.mg", *words)[0] == 2

    def test_no_data_no_output(self, run: Run, data: Path) -> None:
        assert run("train", "-o", "m.mg")[0] == 2
        code, _, err = run("train", data / "train.txt")
        assert code == 2
        assert "-o model.mg" in err

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "found no sentences"),
            ("\n\n\n", "found no sentences"),
            ("a B-X\nb I-Y\n\nc O\n\n", "t.txt:2:"),
            ("a b c\na b\n\n", "t.txt:2:"),
            ("a \udcff\n", "t.txt:1:"),
        ],
    )
    def test_of_data(self, run: Run, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "t.txt").write_bytes(text.encode(errors="surrogateescape"))
        code, _, err = run("train", tmp_path / "t.txt", "-o", tmp_path / "m.mg", "--set", "scheme=IOB2")
        assert code == 1
        assert message in err

    def test_data_in_a_folder_or_missing(self, run: Run, tmp_path: Path) -> None:
        assert "found a folder" in run("train", tmp_path, "-o", tmp_path / "m.mg")[2]
        assert "there is no such file" in run("train", tmp_path / "x", "-o", tmp_path / "m.mg")[2]

    def test_plain_text_has_no_labels(self, run: Run, data: Path, tmp_path: Path) -> None:
        code, _, err = run("train", data / "train.txt", "-o", tmp_path / "m.mg", "--format", "plain")
        assert code == 1
        assert "found format 'plain', which has no labels; expected one of conll, conllu, jsonl, segm" in err


class TestOutput:
    def test_is_checked_before_training(self, run: Run, data: Path, tmp_path: Path) -> None:
        train = data / "train.txt"
        assert "there is no folder" in run("train", train, "-o", tmp_path / "no" / "m.mg")[2]
        code, _, err = run("train", train, "-o", tmp_path)
        assert code == 1
        assert err == f"marginalia: error: {tmp_path}: cannot write: this is a folder\n"

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
    def test_in_a_folder_without_permission(self, run: Run, data: Path, tmp_path: Path) -> None:
        tmp_path.chmod(0o500)
        code, _, err = run("train", data / "train.txt", "-o", tmp_path / "m.mg")
        tmp_path.chmod(0o700)
        assert (code, "no permission" in err) == (1, True)

    def test_no_permission(
        self, run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK)
        code, _, err = run("train", data / "train.txt", "-o", tmp_path / "m.mg")
        assert (code, "no permission" in err) == (1, True)

    def test_device(self, run: Run, data: Path) -> None:
        code, _, err = run("train", data / "train.txt", "-o", "/dev/full", "-q", "--set", "passes=1")
        assert code == 1
        assert "/dev/full" in err

    def test_json_to_a_full_disk(self, data: Path, tmp_path: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "marginalia",
            "train",
            data / "train.txt",
            "-o",
            tmp_path / "m",
            "--json",
        ]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 1
        assert b"No space left" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Exception" not in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_keeps_the_model(data: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(corpus(2000, 5) + "the NN O\n\nthe NN B-NP\n\n")  # never learned fully
    command = [
        sys.executable,
        "-m",
        "marginalia",
        "train",
        str(tmp_path / "t.txt"),
        "-o",
        str(tmp_path / "m.mg"),
    ]
    options = [
        "--columns",
        COLUMNS,
        "--set",
        "passes=100000",
        "--dev",
        str(data / "dev.txt"),
        "--set",
        "patience=0",
    ]
    with subprocess.Popen([*command, *options, "--json"], stdout=-1, stderr=-1, text=True) as child:
        assert child.stderr is not None
        while not child.stderr.readline().startswith("pass"):
            pass
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted; the best model so far is kept" in err
    assert "Traceback" not in err
    found = json.loads(out)
    assert found["interrupted"] is True
    assert found["passes"] >= 1
    tagged = mg.load(tmp_path / "m.mg").tag({"word": ["the", "cat", "sees"], "pos": ["DT", "NN", "VBZ"]})
    assert tagged.labels == ("B-NP", "I-NP", "B-VP")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_nobody_reads_the_progress(data: Path, tmp_path: Path) -> None:
    command = (
        f"{sys.executable} -m marginalia train {data}/train.txt -o {tmp_path}/m.mg 2>&1 >/dev/null | head -1"
    )
    done = subprocess.run(command, shell=True, capture_output=True, check=True)
    assert done.stdout.startswith(b"read 60 sentences")
    assert mg.load(tmp_path / "m.mg").labels
