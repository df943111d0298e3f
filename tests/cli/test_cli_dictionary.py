"""Dictionaries on the command line: trained with, required, explained, and read again while text comes in."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run

import marginalia as mg
from marginalia.cli import dictionaries, tag
from marginalia.corpus.batches import Layout

SENTENCE = "the DT\ncat NN\nsees VBZ\na DT\nriver NN\n\n"


@pytest.fixture
def names(tmp_path: Path) -> Path:
    path = tmp_path / "names.tsv"
    path.write_text("# the cat and what it does\ncat sees\tNP\nriver\tPP\n")
    return path


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "input.txt"
    path.write_text(SENTENCE)
    return path


def labels(output: str) -> list[str]:
    return [line.split()[-1] for line in output.splitlines() if line]


def test_hard(run: Run, model: Path, text: Path, names: Path) -> None:
    code, output, _ = run("tag", model, text, "--dictionary", names)
    assert code == 0
    assert labels(output)[1:3] + labels(output)[4:] == ["B-NP", "I-NP", "B-PP"]
    assert run("tag", model, text, "--dictionary", f"hard={names}")[1] == output
    assert run("tag", model, text, "--dictionary", names, "--threads", "2", "--reload")[1] == output
    best = run("tag", model, text, "--dictionary", names, "--nbest", "1")[1]
    assert labels(best)[-5:] == labels(output)


def test_case_and_column(run: Run, model: Path, text: Path, tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("CAT\tVP\n")
    command = ["tag", model, text, "--dictionary", tmp_path / "d.tsv"]
    found = [run(*command, *more)[1] for more in ((), ("--ignore-case",))]
    assert [labels(output)[1] for output in found] == ["I-NP", "B-VP"]
    (tmp_path / "d.tsv").write_text("VBZ DT\tNP\n")
    output = run("tag", model, text, "--dictionary", tmp_path / "d.tsv", "--dictionary-column", "pos")[1]
    assert labels(output)[2:4] == ["B-NP", "I-NP"]


def test_soft(run: Run, data: Path, text: Path, tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("river\tNP\nsees\tVP\n")
    soft = tmp_path / "soft.mg"
    options = ["--task", "chunking", "--columns", COLUMNS, "-q", "--set", "passes=2"]
    options += ["--dictionary", str(tmp_path / "d.tsv")]
    assert run("train", data / "train.txt", "-o", soft, *options)[0] == 0
    (tmp_path / "other.tsv").write_text("cat\tNP\n")
    output = run("tag", soft, text, "--dictionary", f"soft={tmp_path / 'other.tsv'}")[1]
    expected = mg.load(soft).with_dictionary(tmp_path / "other.tsv", mode="soft")
    columns = {"word": ["the", "cat", "sees", "a", "river"], "pos": ["DT", "NN", "VBZ", "DT", "NN"]}
    assert labels(output) == list(expected.tag(columns).labels)
    (tmp_path / "recipe.toml").write_text(
        f'train = "{data / "train.txt"}"\ndictionary = "d.tsv"\noutput = "r.mg"\ntask = "chunking"\n'
        f'columns = "{COLUMNS}"\n[set]\npasses = 2\n'
    )
    assert run("train", tmp_path / "recipe.toml", "-q")[0] == 0
    assert (tmp_path / "r.mg").read_bytes() == soft.read_bytes()


def test_eval_and_explain(run: Run, model: Path, data: Path, names: Path) -> None:
    def report(*more: object) -> dict[str, float]:
        found: dict[str, float] = json.loads(run("eval", model, data / "test.txt", "--json", *more)[1])
        return found

    (names.parent / "wrong.tsv").write_text("the\tVP\n")
    assert report() != report("--dictionary", names.parent / "wrong.tsv")
    words = "the/DT cat/NN sees/VBZ"
    code, output, _ = run("explain", model, words, "--dictionary", names, "--no-color")
    assert code == 0
    assert "2-3 cat sees: the dictionary has 'cat sees' as NP" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--reload"], "--reload is for --dictionary FILE"),
        (["--ignore-case"], "--ignore-case is for hard dictionaries"),
        (["--dictionary-column", "pos"], "--dictionary-column is for hard dictionaries"),
        (["--dictionary", "no.tsv"], "no.tsv: cannot read: there is no such file"),
        (["--dictionary", "soft=NAMES"], "the model was trained without one"),
        (["--dictionary", "NAMES", "--dictionary-column", "chunky"], "found the column 'chunky'"),
        (["--dictionary", "NAMES", "--reload", "--constraints", "RULES"], "--reload does not go with"),
    ],
)
def test_what_makes_no_sense(
    run: Run, model: Path, text: Path, names: Path, words: list[str], message: str
) -> None:
    (names.parent / "rules.txt").write_text("1: 1=B-NP\n")
    given = [w.replace("NAMES", str(names)).replace("RULES", str(names.parent / "rules.txt")) for w in words]
    code, output, complaint = run("tag", model, text, *given)
    assert code != 0
    assert output == ""
    assert message in complaint


def test_unknown_labels_say_where(run: Run, model: Path, text: Path, names: Path) -> None:
    names.write_text("cat\tNP\nsees\tVPP\n")
    code, _, complaint = run("tag", model, text, "--dictionary", names)
    assert code == 1
    assert (
        f"{names}:2:6: found the label 'VPP', which the model does not give. Did you mean 'VP'?" in complaint
    )
    assert run("eval", "--gold", text, "--pred", text, "--label", "a", "--dictionary", names)[0] == 2


def test_what_cannot_be_is_told(run: Run, model: Path, text: Path, names: Path) -> None:
    """The model never saw a verb phrase of two words, and has no label for the second."""
    names.write_text("cat sees\tVP\n")
    code, output, complaint = run("tag", model, text, "--dictionary", names)
    assert code == 0
    assert len(labels(output)) == 5
    assert "sentence 1: no labels satisfy all constraints; broken: 2-3=VP" in complaint


def test_reloading_between_batches(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that changes while text comes in; one that is not good is told once, and the old one stays."""
    names, source = tmp_path / "names.tsv", tmp_path / "long.txt"
    names.write_text("cat\tVP\n")
    source.write_text(SENTENCE * 8)
    monkeypatch.setattr(tag, "BLOCK_BYTES", len(SENTENCE))
    monkeypatch.setattr(dictionaries, "_RETRY", 0.0)
    contents = iter([None, "cat\tPP\n", None, "cat\tX\tY\n", None, "cat\tO\n", None, None])

    def after_batch() -> None:
        if (text := next(contents)) is not None:
            (tmp_path / "new").write_text(text)
            os.replace(tmp_path / "new", names)

    tagger, target = mg.load(model).with_dictionary(names), io.BytesIO()
    layout = Layout("conll", ("word", "pos"), "chunk")
    tag.tag(tagger, str(source), layout, target, 1, after_batch, tag.Wanted(reload=True))
    found = [line.split()[-1] for line in target.getvalue().decode().splitlines() if line.startswith("cat ")]
    assert found == ["B-VP", "B-VP", "B-PP", "B-PP", "B-PP", "B-PP", "O", "O"]
    told = capfd.readouterr().err
    assert told.count("names.tsv:1:6: found a second tab") == 1
    assert "the dictionary stays as it was" in told
