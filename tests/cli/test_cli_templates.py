"""`marginalia templates`: combinations that rules need become templates that other learners can use."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest
from cli_world import Run

import marginalia as mg
from marginalia.model.proposed_templates import proposed_templates

# The label is whether a and b differ: no weights of a and of b by themselves tell it.
XOR = [("1", "1", "same"), ("1", "0", "other"), ("0", "1", "other"), ("0", "0", "same")]


@pytest.fixture
def xor(tmp_path: Path) -> Path:
    (tmp_path / "atoms.txt").write_text("a[0]\nb[0]\n", encoding="utf-8")
    rows = XOR * 5 + XOR[:1]  # one more of a kind: no combination of values is exactly even
    (tmp_path / "train.txt").write_text("".join(f"{' '.join(row)}\n\n" for row in rows), encoding="utf-8")
    return tmp_path


def options(folder: Path, *more: object) -> list[object]:
    return [folder / "train.txt", "--columns", "a b label", "--features", folder / "atoms.txt", *more]


def accuracy(run: Run, folder: Path, features: str, learner: str) -> float:
    model = folder / f"{learner}.mg"
    words = ["--columns", "a b label", "--features", folder / features, "--learner", learner]
    assert run("train", folder / "train.txt", *words, "--quiet", "-o", model)[0] == 0
    tagger = mg.load(model)
    right = [tagger.tag({"a": [a], "b": [b]}).labels == (label,) for a, b, label in XOR]
    return sum(right) / len(right)


@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_a_combination_that_is_needed_is_proposed_and_suffices(run: Run, xor: Path, learner: str) -> None:
    code, _, err = run("templates", *options(xor, "--from", "rules", "-o", xor / "set.txt"))
    assert (code, "train --features" in err) == (0, True)
    lines = (xor / "set.txt").read_text(encoding="utf-8").splitlines()
    templates = [line.partition("  #")[0] for line in lines if not line.startswith("#")]
    assert sorted(templates[:2]) == ["a[0]", "b[0]"]
    assert templates[2:] == ["a[0]/b[0]"]
    shares = [float(re.search(r"# ([\d.]+)%", line)[1]) for line in lines if not line.startswith("#")]
    assert sum(shares) == pytest.approx(100, abs=0.02)
    assert shares[2] > 50
    assert accuracy(run, xor, "atoms.txt", learner) < 1
    assert accuracy(run, xor, "set.txt", learner) == 1


def test_thresholds_a_model_and_standard_output(run: Run, xor: Path) -> None:
    assert run("train", *options(xor, "--learner", "rules", "--quiet", "-o", xor / "rules.mg"))[0] == 0
    code, out, _ = run("templates", "--from", xor / "rules.mg")
    assert code == 0
    assert "a[0]/b[0]  #" in out
    for words in (("--top", 0), ("--min-share", 100)):
        code, less, _ = run("templates", "--from", xor / "rules.mg", *words)
        assert code == 0
        assert "a[0]/b[0]" not in less
        assert "# combinations that were left out: " in less


def test_errors(run: Run, xor: Path) -> None:
    def message(*words: object) -> str:
        code, _, err = run("templates", *words)
        assert code != 0
        return err

    assert "there is no training data" in message()
    assert "expected DATA with --from rules, or --from MODEL" in message("x.txt", "--from", "m.mg")
    assert run("train", *options(xor, "--quiet", "-o", xor / "plain.mg"))[0] == 0
    assert "expected a model of rules, found one of the learner perceptron" in message(
        "--from", xor / "plain.mg"
    )
    assert "this is one of the inputs" in message(*options(xor, "-o", xor / "train.txt"))
    assert "labels that are each of one token" in message(*options(xor, "--structure", "segments"))
    assert "expected a task of one model" in message(xor / "train.txt", "--task", "ud")
    assert "expected a number from 0 to 100" in message("--min-share", "101")


def trained(rows: list[dict[str, list[str]]], templates: str, folder: Path, **settings: Any) -> Any:
    path = folder / "templates.txt"
    path.write_text(templates, encoding="utf-8")
    data = [mg.Sentence(row) for row in rows]
    return mg.train(data, features=str(path), learner="rules", buckets=1, columns="word label", **settings)


@pytest.mark.parametrize(
    ("direction", "expected"), [("right-to-left", "edge: word[-1]"), ("left-to-right", "edge: word[0]")]
)
def test_labels_of_neighbours_become_edges(tmp_path: Path, direction: str, expected: str) -> None:
    """x is A beside P, B beside Q: what its label is follows from the word and the label beside it."""
    rows = [
        {"word": ["v", "x", "w"], "label": [side, middle, side]}
        for side, middle in (("P", "A"), ("Q", "B"))
        for _ in range(6)
    ] + [
        {"word": ["v", "y", "w"], "label": [side, middle, side]} for side, middle in (("P", "B"), ("Q", "A"))
    ] * 6
    model = trained(rows, "word[0]\nedge:\n", tmp_path, direction=direction)
    found = proposed_templates(model.saved)
    assert {one.template for one in found.given} == {"word[0]", "edge:"}
    assert found.new[0].template == expected
    assert sum(one.share for part in found for one in part) == pytest.approx(1)
    two = trained(rows, "word[0]\nedge:\n", tmp_path, direction=direction, order=2, size=3)
    assert any(
        "label[2]" in one.template or "label[-2]" in one.template
        for one in proposed_templates(two.saved).unwritten
    )


def test_values_with_what_stands_between_atoms(tmp_path: Path) -> None:
    rows = [{"word": ["a & b", "&"], "label": ["A", "B"]}, {"word": ["& b", "a"], "label": ["B", "A"]}] * 3
    model = trained(rows, "word[0]\nword[1]\n", tmp_path)
    found = proposed_templates(model.saved)
    assert {one.template for one in found.given} == {"word[0]", "word[1]"}
    assert {one.template for one in found.new} <= {"word[0]/word[1]"}
    assert found.unwritten == []


def test_items(run: Run, tmp_path: Path) -> None:
    """Bags are joined with plain columns, and not with each other."""
    rows = ["text\tkind\tlabel", *(f"{text}\t{kind}\t{label}" for text, kind, label in
            [("x o", "1", "T"), ("x o", "0", "F"), ("y o", "1", "F"), ("y o", "0", "T")] * 4)]  # fmt: skip
    (tmp_path / "items.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (tmp_path / "atoms.txt").write_text("words(text)\nkind\n", encoding="utf-8")
    words = ["--structure", "single", "--features", tmp_path / "atoms.txt", "--label", "label", "-q"]
    code, out, err = run("templates", tmp_path / "items.tsv", *words)
    assert code == 0, err
    assert "words(text)/kind  #" in out
    (tmp_path / "set.txt").write_text(out, encoding="utf-8")
    words[3] = tmp_path / "set.txt"
    assert run("train", tmp_path / "items.tsv", *words, "-o", tmp_path / "m.mg")[0] == 0


def test_interrupted(run: Run, xor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends learning; the rules so far are told."""
    from marginalia.learn.rules import RuleRun

    learn = RuleRun.learn

    def pressed(self: RuleRun, *args: Any) -> Any:
        for counts in learn(self, *args):
            signal.raise_signal(signal.SIGINT)
            yield counts

    monkeypatch.setattr(RuleRun, "learn", pressed)
    code, out, err = run("templates", *options(xor))
    assert code == 130
    assert "interrupted" in err
    assert "a[0]" in out
