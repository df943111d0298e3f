"""Models of trees on the command line: tag, eval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import Run

import marginalia as mg
from invented_treebank import treebank
from marginalia.cli import main
from marginalia.corpus.conllu import read_conllu_columns

COLUMNS = ("word", "upos", "xpos")


@pytest.fixture(scope="module")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.conllu, dev.conllu and the parser p.mg."""
    folder = tmp_path_factory.mktemp("trees")
    (folder / "train.conllu").write_text(treebank(60))
    (folder / "dev.conllu").write_text(treebank(8, seed=2))
    words = ["train", f"{folder}/train.conllu", "--structure", "trees", "--set", "passes=2", "--quiet"]
    assert main([*words, "-o", f"{folder}/p.mg"]) == 0
    return folder


def test_the_k_best_trees_stand_one_behind_the_other(run: Run, bank: Path, tmp_path: Path) -> None:
    code, out, _ = run("tag", bank / "p.mg", bank / "dev.conllu", "--nbest", 3)
    assert code == 0
    (tmp_path / "out.conllu").write_text(out)
    written = [
        (tuple(map(int, one.columns["head"])), tuple(one.columns["deprel"]))
        for one in read_conllu_columns(tmp_path / "out.conllu")
    ]
    parser, expected, ranks = mg.load(bank / "p.mg"), [], []
    for one in read_conllu_columns(bank / "dev.conllu"):
        columns = {"word" if name == "form" else name: values for name, values in one.columns.items()}
        found = parser.nbest({name: columns[name] for name in COLUMNS}, 3)
        expected += [(tree.heads, tree.labels) for tree in found]
        ranks += [(f"# rank = {n}", f"# score = {round(t.score, 4)}") for n, t in enumerate(found, 1)]
    assert written == expected
    assert len(expected) > 8
    told = [line for line in out.splitlines() if line.startswith(("# rank", "# score"))]
    assert told == [line for pair in ranks for line in pair]
    assert run("tag", bank / "p.mg", bank / "dev.conllu", "--nbest", 3, "--threads", 2)[1] == out


def test_a_tree_is_corrected_and_taken_back(run: Run, bank: Path, tmp_path: Path) -> None:
    lines = (bank / "dev.conllu").read_text().split("\n\n")
    rows = [line.split("\t") for line in lines[0].splitlines() if line[:1].isdigit() and "-" not in line[:3]]
    for number, row in enumerate(rows):  # each word hangs on the one before
        row[6:8] = [str(number), "root" if number == 0 else "dep"]
    (tmp_path / "right.conllu").write_text("\n".join("\t".join(row) for row in rows) + "\n\n")
    shown = run("tag", bank / "p.mg", tmp_path / "right.conllu")[1]
    code, out, err = run("fix", bank / "p.mg", "--input", tmp_path / "right.conllu", "-o", tmp_path / "f.mg")
    assert (code, err) == (0, "")
    assert "new labels: dep" in out
    assert f"dep:{len(rows) - 1}" in out
    fixed = run("tag", tmp_path / "f.mg", tmp_path / "right.conllu")[1]
    assert [line.split("\t")[6:8] for line in fixed.splitlines() if line] == [row[6:8] for row in rows]
    assert fixed != shown
    words = ["fix", bank / "p.mg", "--input", bank / "dev.conllu", "--sentence", 2]
    code, out, _ = run(*words, "--check", bank / "dev.conllu")
    assert code == 0
    assert "checked 8 sentences" in out
    assert "correction" in run("fix", tmp_path / "f.mg", "--undo", "-o", tmp_path / "u.mg")[1]
    assert (tmp_path / "u.mg").read_bytes() == (bank / "p.mg").read_bytes()


def test_trees_are_no_labels_of_a_text(run: Run, bank: Path) -> None:
    code, _, err = run("fix", bank / "p.mg", "the dog", "--labels", "det root")
    assert code == 2
    assert "--labels: corrected trees are sentences of a CoNLL-U file: --input FILE" in err


def test_arcs_are_explained(run: Run, bank: Path) -> None:
    words = ["explain", bank / "p.mg", "--input", bank / "dev.conllu", "--sentence", 2]
    code, out, err = run(*words, "--word", 1, "--top", 2)
    assert (code, err) == (0, "")
    assert out.startswith("word 1: ")
    assert out.splitlines()[-1].endswith(" others")
    every = [json.loads(line) for line in run(*words, "--json")[1].splitlines()]
    assert [one["word"] for one in every] == list(range(1, len(every[0]["heads"]) + 1))
    root = every[0]["heads"].index(0) + 1
    asked = json.loads(run(*words, "--word", root, "--against", "1", "--json")[1])
    assert asked["other_heads"][root - 1] == 1
    for more, message in (
        (["--part", "parser"], "--part is for pipelines"),
        (["--against", "1"], "say of which word"),
        (["--word", 99], "--word: found 99"),
        (["--cite", 2], "--cite: it is for labels of tokens"),
    ):
        assert message in run(*words, *more)[2]
