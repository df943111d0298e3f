"""`marginalia check` and `marginalia train --folds`."""

from __future__ import annotations

import json
from pathlib import Path

from cli_world import COLUMNS, Run

OWN = ["--task", "chunking", "--columns", COLUMNS, "--set", "passes=2", "-q"]


def test_the_report_has_a_section_for_each_question(run: Run, data: Path) -> None:
    code, out, err = run(
        "check", f"{data}/train.txt", f"{data}/train.txt", *OWN, "--folds", "2", "--top", "1"
    )
    assert (code, err) == (0, "")
    assert "60 sentences also in files before" in out
    assert "labels that IOB2 does not allow: none" in out
    assert "sentences whose labels are doubted" in out


def test_json_has_complete_lists(run: Run, data: Path) -> None:
    found = json.loads(run("check", f"{data}/train.txt", *OWN, "--folds", "0", "--json")[1])
    assert found["files"][0]["sentences"] == 60
    assert found["suspects"] == []
    assert found["spans"]["NP"] > 100


def test_one_fold_is_refused(run: Run, data: Path) -> None:
    assert run("check", f"{data}/train.txt", "--folds", "1")[0] == 2
    assert run("train", f"{data}/train.txt", "--folds", "1")[0] == 2


def test_folds_of_train_give_means_and_write_nothing(run: Run, data: Path, tmp_path: Path) -> None:
    code, out, _ = run("train", f"{data}/train.txt", *OWN, "--folds", "3", "--json")
    found = json.loads(out)
    assert code == 0
    assert len(found["folds"]) == 3
    assert found["mean"]["f1"] == sum(fold["f1"] for fold in found["folds"]) / 3
    code, out, _ = run("train", f"{data}/train.txt", *OWN, "--folds", "2")
    assert "f1" in out
    assert "(2 folds)" in out


def test_folds_do_not_go_with_what_writes_a_model(run: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = run("train", f"{data}/train.txt", *OWN, "--folds", "2", "-o", f"{tmp_path}/m.mg")
    assert code == 2
    assert "--folds and --output" in err


def test_errors_are_all_wrong_sentences_the_surest_first(run: Run, data: Path, tmp_path: Path) -> None:
    model, test = f"{tmp_path}/m.mg", tmp_path / "test.txt"
    assert run("train", f"{data}/train.txt", *OWN, "-o", model)[0] == 0
    wrong = (data / "test.txt").read_text().replace("B-VP", "B-PP", 1)
    test.write_text(wrong)
    code, out, _ = run("eval", model, f"{test}", "--errors", "--json")
    found = json.loads(out)["errors"]
    assert (code, found["count"]) == (0, 1)
    [sentence] = found["sentences"]
    assert sentence["line"] == 1
    assert [token["gold"] for token in sentence["tokens"]] == ["B-PP"]
    assert sentence["difference"] > 0
    assert sentence["reasons"]
    text = run("eval", model, f"{test}", "--errors", "3")[1]
    assert "wrong sentences: 1" in text
    assert "B-VP, not B-PP" in text


def test_errors_need_a_model(run: Run, data: Path) -> None:
    code, _, err = run("eval", "--gold", f"{data}/test.txt", "--pred", f"{data}/test.txt", "--errors")
    assert code == 2
    assert "--errors is for MODEL TEST" in err
