"""`marginalia train` with every learner: options, recipes, what is printed, and what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, corpus, without_last_column

import marginalia as mg
from marginalia.learn.learners import LEARNERS
from marginalia.learn.recipe import declared

# Settings that make each learner quick; for each of them one that only it, or few others, have.
QUICK = {
    "perceptron": ("passes=6", "l1-cumulative=0.001"),
    "margin": ("passes=3", "C=5"),
    "pa": ("passes=3", "variant=II"),
    "arow": ("passes=3", "r=2"),
    "maxent": ("passes=15", "search=beam"),
    "crf": ("passes=15", "support=all"),
}
SENTENCE = {"word": ["the", "cat", "sees", "a", "dog", "."], "pos": ["DT", "NN", "VBZ", "DT", "NN", "."]}
GOLD = ("B-NP", "I-NP", "B-VP", "B-NP", "I-NP", "O")


def options_of(learner: str) -> list[str]:
    return ["--learner", learner, *(word for setting in QUICK[learner] for word in ("--set", setting))]


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of 20 sentences."""
    path = tmp_path_factory.mktemp("few") / "few.txt"
    path.write_text(corpus(20, 3))
    return path


def trained(run: Run, path: Path, target: Path, *words: object) -> dict[str, Any]:
    code, out, err = run("train", path, "-o", target, "--columns", COLUMNS, "--json", "-q", *words)
    assert (code, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


class TestLearners:
    def test_all_of_them_are_here(self) -> None:
        assert QUICK.keys() == LEARNERS.keys() - {
            "rank-boost",
            "nonlocal",
            "rules",
        }  # with tests of their own

    @pytest.mark.parametrize("learner", QUICK)
    def test_train_tag_and_eval(self, run: Run, data: Path, tmp_path: Path, learner: str) -> None:
        model = tmp_path / "m.mg"
        words = ["train", data / "train.txt", "-o", model, "--task", "chunking", "--columns", COLUMNS]
        code, out, err = run(*words, "--dev", data / "dev.txt", *options_of(learner))
        assert code == 0
        assert "saved" in out
        lines = [line for line in err.splitlines() if line.startswith("pass ")]
        assert lines
        shown = " loss " if learner in ("crf", "maxent") else " training error "
        assert all(shown in line and " dev " in line for line in lines)
        assert mg.load(model).tag(SENTENCE).labels == GOLD
        (tmp_path / "in.txt").write_text(without_last_column((data / "test.txt").read_text()))
        assert run("tag", model, tmp_path / "in.txt", "-o", tmp_path / "out.txt", "-q")[0] == 0
        assert len((tmp_path / "out.txt").read_text().split()) == len((data / "test.txt").read_text().split())
        code, out, _ = run("eval", model, data / "test.txt", "--json")
        assert (code, json.loads(out)["f1"] > 90) == (0, True)
        code, out, _ = run("inspect", model)
        assert code == 0
        assert f" {shown.split()[-1]} " in out

    @pytest.mark.parametrize("learner", QUICK)
    def test_json(self, run: Run, few: Path, tmp_path: Path, learner: str) -> None:
        found = trained(run, few, tmp_path / "m.mg", *options_of(learner), "--set", "diagnostics=on")
        arrays = mg.load(tmp_path / "m.mg").saved.arrays
        nonzero = (arrays["weights"] != 0).sum() + (arrays["constants"] != 0).sum()
        assert 0 < found["nonzero_weights"] == nonzero <= found["weights"]
        assert found["diagnostics"] == mg.load(tmp_path / "m.mg").saved.diagnostics
        assert found["diagnostics"].keys() >= {"margin", "relative_margin", "separable", "not_separated"}
        if learner in ("crf", "maxent"):
            assert found["training_error"] is None
            assert found["loss"] > 0
        else:
            assert 0 <= found["training_error"] <= 100
            assert found["diagnostics"]["mistakes"] > 0
            assert (found["loss"] is None) == (learner in ("perceptron", "margin"))
        plain = trained(run, few, tmp_path / "m.mg", *options_of(learner))
        assert "margin" not in plain["diagnostics"]

    @pytest.mark.parametrize("learner", QUICK)
    def test_settings_are_listed(self, run: Run, learner: str) -> None:
        code, out, _ = run("train", "--settings", "--learner", learner)
        assert code == 0
        assert f"\nlearner {learner}:\n" in out
        for setting in declared("chain", learner):
            assert f"\n  {setting.name} " in out
        assert "normalise" not in out

    def test_help_names_the_options(self, run: Run) -> None:
        out = run("train", "--help")[1]
        for option in ("--learner NAME", "--start MODEL", "--sample-weights FILE", "--parallel HOW"):
            assert option in out

    @pytest.mark.parametrize("learner", ["crf", "maxent", "perceptron"])
    def test_threads_do_not_change_the_file(self, run: Run, few: Path, tmp_path: Path, learner: str) -> None:
        for threads in (1, 2):
            trained(run, few, tmp_path / f"{threads}.mg", *options_of(learner), "--threads", threads)
        assert (tmp_path / "1.mg").read_bytes() == (tmp_path / "2.mg").read_bytes()


class TestStart:
    @pytest.mark.parametrize("learner", QUICK)
    def test_it_goes_on_with_the_state(self, run: Run, few: Path, tmp_path: Path, learner: str) -> None:
        endless = tmp_path / "endless.txt"
        endless.write_text(few.read_text() + "the NN O\n\nthe NN B-NP\n\n")  # never learned fully
        more = ("--learner", learner, "--set", "state=on")
        if "tolerance" in {setting.name for setting in LEARNERS[learner].settings}:
            more += ("--set", "tolerance=0")
        found = trained(run, endless, tmp_path / "whole.mg", *more, "--set", "passes=4")
        trained(run, endless, tmp_path / "half.mg", *more, "--set", "passes=2")
        again = ("--start", tmp_path / "half.mg", *more, "--set", "passes=2")
        assert trained(run, endless, tmp_path / "rest.mg", *again)["passes"] == 2
        assert found["passes"] == 4
        whole, rest = (mg.load(tmp_path / f"{name}.mg").saved.arrays for name in ("whole", "rest"))
        assert whole.keys() == rest.keys()
        assert all(whole[name].tobytes() == rest[name].tobytes() for name in whole)

    def test_the_model_may_be_replaced(self, run: Run, few: Path, tmp_path: Path) -> None:
        """Training again and again on what comes in, in one file."""
        model = tmp_path / "m.mg"
        trained(run, few, model, "--set", "passes=1")
        before = model.read_bytes()
        trained(run, few, model, "--start", model, "--set", "passes=1")
        assert model.read_bytes() != before

    def test_columns_come_from_the_model(self, run: Run, few: Path, tmp_path: Path) -> None:
        trained(run, few, tmp_path / "m.mg", "--set", "passes=1")
        code, out, err = run("train", few, "-o", tmp_path / "n.mg", "--start", tmp_path / "m.mg", "--json")
        assert (code, json.loads(out)["labels"]) == (0, list(mg.load(tmp_path / "m.mg").labels))
        assert mg.load(tmp_path / "n.mg").saved.columns == ("word", "pos", "chunk")
        assert "note" not in err

    def test_new_labels_are_noted(self, run: Run, few: Path, tmp_path: Path) -> None:
        trained(run, few, tmp_path / "m.mg", "--set", "passes=1")
        (tmp_path / "new.txt").write_text("tomorrow RB B-ADVP\n\n")
        words = ("train", tmp_path / "new.txt", "-o", tmp_path / "n.mg", "--start", tmp_path / "m.mg")
        code, _, err = run(*words)
        assert code == 0
        assert "note: labels that the model did not know: B-ADVP" in err

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--set", "order=2"], "setting 'order': found 2, but the model to begin with has 1"),
            (
                ["--set", "unit=document"],
                "setting 'unit': found document, but the model to begin with has sen",
            ),
            (["--columns", "a b chunk"], "features also need 'word'"),
            (["--columns", "a b c"], "label: found 'chunk', expected one of the columns a b c"),
        ],
    )
    def test_what_does_not_fit(
        self, run: Run, few: Path, tmp_path: Path, words: list[str], message: str
    ) -> None:
        trained(run, few, tmp_path / "m.mg", "--set", "passes=1")
        code, out, err = run("train", few, "-o", tmp_path / "n.mg", "--start", tmp_path / "m.mg", *words)
        assert (code, out) == (1, "")
        assert message in err
        assert not (tmp_path / "n.mg").exists()

    @pytest.mark.parametrize("content", [None, "", "no model", "a B-X\n"])
    def test_no_model(self, run: Run, few: Path, tmp_path: Path, content: str | None) -> None:
        if content is not None:
            (tmp_path / "s.mg").write_text(content)
        code, _, err = run("train", few, "-o", tmp_path / "n.mg", "--start", tmp_path / "s.mg")
        assert code == 1
        assert err.startswith(f"marginalia: error: {tmp_path / 's.mg'}: ")
        assert not (tmp_path / "n.mg").exists()


class TestSampleWeights:
    def test_a_number_a_line(self, run: Run, few: Path, tmp_path: Path) -> None:
        (tmp_path / "w.txt").write_text("0\n" * 10 + "1.5\n" * 10)
        trained(run, few, tmp_path / "m.mg", "--sample-weights", tmp_path / "w.txt", "--set", "passes=2")
        expected = mg.train(few, columns=COLUMNS, passes=2, sample_weights=[0] * 10 + [1.5] * 10)
        assert (tmp_path / "m.mg").read_bytes() == expected.to_bytes()

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("1\n" * 19, "found 19 sample weights, expected 20, one for each example"),
            ("1\n" * 19 + "-1\n", "found the sample weight -1.0 (number 20), expected 0 to 1e+09"),
            ("1\n" * 19 + "nan\n", "found the sample weight nan (number 20)"),
            ("1\nmuch\n", "w.txt:2: found 'much', expected a sample weight, a number"),
            ("1 2\n", "w.txt:1: found '1 2'"),
            ("", "found 0 sample weights"),
        ],
    )
    def test_unfit_files(self, run: Run, few: Path, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "w.txt").write_text(text)
        words = ("--sample-weights", tmp_path / "w.txt", "--columns", COLUMNS)
        code, out, err = run("train", few, "-o", tmp_path / "m.mg", *words)
        assert (code, out) == (1, "")
        assert message in err

    def test_missing(self, run: Run, few: Path, tmp_path: Path) -> None:
        code, _, err = run("train", few, "-o", tmp_path / "m.mg", "--sample-weights", tmp_path / "no.txt")
        assert code == 1
        assert "no.txt: cannot read the sample weights: No such file" in err

    def test_it_is_not_replaced(self, run: Run, few: Path, tmp_path: Path) -> None:
        (tmp_path / "w.txt").write_text("1\n" * 20)
        code, _, err = run("train", few, "-o", tmp_path / "w.txt", "--sample-weights", tmp_path / "w.txt")
        assert (code, "this is one of the inputs" in err) == (1, True)
        assert (tmp_path / "w.txt").read_text() == "1\n" * 20

    def test_nor_are_costs(self, run: Run, few: Path, tmp_path: Path) -> None:
        (tmp_path / "c.txt").write_text("* * 1\n")
        words = ("--learner", "pa", "--set", f"costs={tmp_path}/c.txt")
        code, _, err = run("train", few, "-o", tmp_path / "c.txt", *words)
        assert (code, "this is one of the inputs" in err) == (1, True)
        assert (tmp_path / "c.txt").read_text() == "* * 1\n"


class TestParallel:
    def test_mixing(self, run: Run, few: Path, tmp_path: Path) -> None:
        options = ("--set", "passes=3", "--threads", 3)
        trained(run, few, tmp_path / "a.mg", "--parallel", "mix", *options)
        trained(run, few, tmp_path / "b.mg", "--set", "parallel=mix", *options)
        trained(run, few, tmp_path / "c.mg", *options)
        a, b, c = ((tmp_path / f"{name}.mg").read_bytes() for name in "abc")
        assert a == b != c
        assert mg.load(tmp_path / "a.mg").saved.settings["parallel"] == "mix"

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--parallel", "split"], "setting 'parallel': found 'split', expected none or mix"),
            (
                ["--parallel", "mix", "--learner", "crf"],
                "setting 'parallel' is one of perceptron, margin, nonlocal, pa, arow, not of crf",
            ),
            (["--parallel", "mix", "--set", "shuffle-average=2"], "found shuffle-average and parallel=mix"),
            (
                ["--set", "average=vote", "--set", "l1=0.1"],
                "average=vote keeps plain updates and does not go",
            ),
            (["--learner", "pa", "--set", "costs=nowhere"], "nowhere: cannot read the costs"),
            (["--set", "class-weights=NP"], "setting 'class-weights': found 'NP'"),
            (["--set", "class-weights=ADVP:2"], "there is no label 'ADVP'"),
            (["--set", "dropout=half"], "setting 'dropout': found 'half'"),
            (["--set", "l2=nan"], "setting 'l2': found 'nan'"),
            (
                ["--learner", "crf", "--set", "l1=1", "--set", "algorithm=sgd"],
                "algorithm=sgd takes l1 or l2, not both",
            ),
            (["--learner", "maxent", "--set", "beam=0"], "setting 'beam': found '0'"),
        ],
    )
    def test_bad_values(self, run: Run, few: Path, tmp_path: Path, words: list[str], message: str) -> None:
        code, out, err = run("train", few, "-o", tmp_path / "m.mg", "--columns", COLUMNS, *words)
        assert (code, out) == (1, "")
        assert message in err
        assert "Traceback" not in err
        assert not (tmp_path / "m.mg").exists()


class TestRecipe:
    RECIPE = """
train = "few.txt"
output = "out.mg"
columns = "word pos chunk"
learner = "pa"
start = "start.mg"
sample_weights = "weights.txt"
parallel = "mix"
threads = 2
[set]
passes = 2
C = 0.5
"""

    @pytest.fixture
    def folder(self, run: Run, few: Path, tmp_path: Path) -> Path:
        (tmp_path / "few.txt").write_bytes(few.read_bytes())
        (tmp_path / "weights.txt").write_text("2\n" * 20)
        (tmp_path / "recipe.toml").write_text(self.RECIPE)
        trained(run, few, tmp_path / "start.mg", "--set", "passes=1")
        return tmp_path

    def test_its_paths_are_beside_it(self, run: Run, folder: Path) -> None:
        assert run("train", folder / "recipe.toml", "-q")[0] == 0
        options = {
            "columns": COLUMNS,
            "learner": "pa",
            "passes": 2,
            "C": 0.5,
            "threads": 2,
            "parallel": "mix",
        }
        expected = mg.train(
            folder / "few.txt", start=folder / "start.mg", sample_weights=[2.0] * 20, **options
        )
        assert (folder / "out.mg").read_bytes() == expected.to_bytes()

    def test_costs_are_beside_it_too(self, run: Run, folder: Path) -> None:
        (folder / "costs.txt").write_text("* * 2\n")
        (folder / "recipe.toml").write_text(self.RECIPE + 'costs = "costs.txt"\n')
        assert run("train", folder / "recipe.toml", "-q")[0] == 0
        assert mg.load(folder / "out.mg").saved.settings["costs"] == str(folder / "costs.txt")
        (folder / "recipe.toml").write_text(self.RECIPE + 'costs = "Hamming"\n')
        assert run("train", folder / "recipe.toml", "-q")[0] == 0

    def test_the_command_line_goes_before_it(self, run: Run, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "ones.txt").write_text("1\n" * 20)
        words = ("--parallel", "none", "--sample-weights", tmp_path / "ones.txt", "--learner", "arow")
        (folder / "recipe.toml").write_text(self.RECIPE.replace("C = 0.5", ""))
        assert run("train", folder / "recipe.toml", "-q", *words)[0] == 0
        saved = mg.load(folder / "out.mg").saved
        assert (saved.learner, saved.settings["parallel"]) == ("arow", "none")

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ("start = 3", "'start': found 3, expected a text"),
            ("sample_weights = [1, 2]", "'sample_weights': found [1, 2], expected a text"),
            ("parallel = true", "'parallel': found True, expected a text"),
            ('parallel = "split"', "setting 'parallel': found 'split', expected none or mix"),
            ('start = "nothing.mg"', "nothing.mg: cannot read the model"),
            ('sample_weights = "nothing.txt"', "nothing.txt: cannot read the sample weights"),
            ('sample_weight = "weights.txt"', "unknown key 'sample_weight'. Did you mean 'sample_weights'?"),
        ],
    )
    def test_mistakes(self, run: Run, folder: Path, line: str, message: str) -> None:
        (folder / "recipe.toml").write_text(line)
        words = ("-o", folder / "out.mg", "--columns", COLUMNS)
        code, _, err = run("train", folder / "recipe.toml", folder / "few.txt", *words)
        assert code == 1
        assert message in err


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
@pytest.mark.parametrize(
    "words",
    [
        ["--learner", "crf", "--set", "tolerance=0", "--threads", "2"],
        ["--set", "shuffle-average=3", "--threads", "2"],
    ],
)
def test_ctrl_c_keeps_the_model(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "t.txt").write_text(corpus(500, 5) + "the NN O\n\nthe NN B-NP\n\n")  # never learned fully
    command = [
        sys.executable,
        "-m",
        "marginalia",
        "train",
        str(tmp_path / "t.txt"),
        "-o",
        str(tmp_path / "m.mg"),
    ]
    options = ["--columns", COLUMNS, "--set", "passes=100000", "--json", *words]
    with subprocess.Popen([*command, *options], stdout=-1, stderr=-1, text=True) as child:
        assert child.stderr is not None
        while not child.stderr.readline().startswith("pass  " if "crf" not in words else "pass     20"):
            pass
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted; the best model so far is kept" in err
    assert "Traceback" not in err
    assert json.loads(out)["interrupted"] is True
    assert mg.load(tmp_path / "m.mg").tag(SENTENCE).labels == GOLD


class TestBoosting:
    """Rounds as the command line shows them."""

    def test_progress_and_summary(self, run: Run, data: Path, tmp_path: Path) -> None:
        words = ["train", data / "train.txt", "--dev", data / "dev.txt", "-o", tmp_path / "m.mg"]
        words += ["--task", "chunking", "--columns", COLUMNS, "--set", "boost=3", "--set", "passes=2"]
        code, out, err = run(*words, "--set", "patience=0", "--threads", "2")
        assert code == 0
        lines = [line for line in err.splitlines() if line.startswith("pass ")]
        rounds = [line for line in lines if "  round " in line]
        assert 1 <= len(rounds) <= 3
        assert all("confidence" in line and "wrong at most" in line and " dev " in line for line in rounds)
        assert not any(" dev " in line for line in lines if line not in rounds)
        assert f"({len(rounds)} round" in out
        code, out, _ = run("inspect", tmp_path / "m.mg")
        assert out.count("  round ") == len(rounds)

    def test_json(self, run: Run, few: Path, tmp_path: Path) -> None:
        found = trained(run, few, tmp_path / "m.mg", "--set", "boost=3", "--set", "diagnostics=on")
        assert [record["round"] for record in found["rounds"]] == list(range(1, len(found["rounds"]) + 1))
        assert found["rounds"][0]["confidence"] > 0
        assert found["diagnostics"]["error_bound"] in [record["bound"] for record in found["rounds"]]
        assert found["diagnostics"]["within_error_bound"] is True
        assert trained(run, few, tmp_path / "m.mg")["rounds"] == []

    def test_what_is_refused(self, run: Run, few: Path, tmp_path: Path) -> None:
        words = ["train", few, "-o", tmp_path / "m.mg", "--columns", COLUMNS]
        code, _, err = run(*words, "--set", "boost=3", "--set", "average=vote")
        assert code != 0
        assert "does not go with boost" in err
        assert not (tmp_path / "m.mg").exists()
