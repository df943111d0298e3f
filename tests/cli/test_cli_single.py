"""Items on the command line: train, tag, eval and the other verbs, verbatim as the pages have them."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from pathlib import Path

import pytest
from cli_world import Run, Shell

from marginalia.cli import main

WORDS = {"fly": ["flight", "plane"], "eat": ["meal", "food"], "rain": ["weather", "sun"]}


def records(count: int, seed: int) -> list[dict[str, str]]:
    chance, found = random.Random(seed), []
    for _ in range(count):
        label = chance.choice(list(WORDS))
        text = f"{chance.choice(['show', 'the', 'my'])} {chance.choice(WORDS[label])}, please"
        found.append({"text": text, "intent": label})
    return found


def table(rows: list[dict[str, str]]) -> str:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("items")
    for seed, (name, size) in enumerate({"train": 60, "dev": 20, "test": 20}.items()):
        rows = records(size, seed)
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{name}.csv").write_text(table(rows), newline="")
        lines = ("\t".join([row["intent"], *(f"w={w}" for w in row["text"].split())]) for row in rows)
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    (folder / "new.jsonl").write_text('{"text": "the plane", "id": 7}\n{"text": "my food"}\n')
    return folder


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    path = data / "m.mg"
    words = ["train", data / "train.jsonl", "--dev", data / "dev.jsonl", "--structure", "single"]
    assert main([str(word) for word in [*words, "--label", "intent", "-o", path, "-q"]]) == 0
    return path


def test_the_lines_of_the_issue(data: Path, shell: Shell) -> None:
    train = "train train.jsonl --dev dev.jsonl --structure single --label intent -o m2.mg"
    done = shell(*train.split(), cwd=data)
    assert re.search(rb"best on dev: accuracy 9\d.\d\d %, macro F1 9\d", done.stdout)
    tagged = shell("tag", "m2.mg", "new.jsonl", cwd=data).stdout.decode().splitlines()
    assert tagged == [
        '{"text": "the plane", "id": 7, "intent": "fly"}',
        '{"text": "my food", "intent": "eat"}',
    ]
    scores = json.loads(shell("eval", "m2.mg", "test.jsonl", "--json", cwd=data).stdout)
    assert scores["accuracy"] == scores["micro"]["f1"] > 90
    assert scores["macro"]["f1"] > 90
    assert set(scores["per_class"]) == set(WORDS)
    assert sum(one["count"] for one in scores["confusion"]) == 20 - scores["correct"]


def test_standard_input(data: Path, model: Path, shell: Shell) -> None:
    text = (data / "new.jsonl").read_bytes()
    assert shell("tag", model, input=text).stdout == shell("tag", model, data / "new.jsonl").stdout


def test_tables(data: Path, model: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "c.mg"
    files = [data / "train.csv", "--dev", data / "dev.csv"]
    assert run("train", *files, "--structure", "single", "--label", "intent", "-o", path, "-q")[0] == 0
    assert main(["eval", str(path), str(data / "test.csv")]) == 0
    code, out, _ = run("tag", path, data / "test.csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert [row["predicted"] for row in rows] == [row["intent"] for row in rows]
    assert path.read_bytes() != model.read_bytes()  # the format is another, the weights are the same
    assert run("tag", model, data / "test.csv")[1] == out


def test_item_lines(data: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.mg"
    words = ["--structure", "single", "--format", "crfsuite", "-o", path, "-q"]
    assert run("train", data / "train.txt", "--dev", data / "dev.txt", *words)[0] == 0
    assert run("tag", path, data / "test.txt")[1] == (data / "test.txt").read_text()
    assert "accuracy: 100.00%" in run("eval", path, data / "test.txt")[1]
    code, _, complaint = run("tag", path, data / "test.txt", "--nbest", "2")
    assert (code, "no place for confidences and alternatives" in complaint) == (1, True)


def test_confidence_alternatives_and_constraints(data: Path, model: Path, run: Run, tmp_path: Path) -> None:
    sure = tmp_path / "sure.mg"
    assert "20 items: ECE" in run("calibrate", model, data / "dev.jsonl", "-o", sure)[1]
    out = run("tag", sure, data / "new.jsonl", "--confidence")[1].splitlines()
    assert all(0.3 < json.loads(line)["confidence"] <= 1 for line in out)
    best = json.loads(run("tag", sure, data / "new.jsonl", "--nbest", "2")[1].splitlines()[0])
    assert [one["rank"] for one in best["alternatives"]] == [1, 2]
    assert best["alternatives"][0]["intent"] == best["intent"] == "fly"
    assert sum(one["probability"] for one in best["alternatives"]) <= 1.0001
    never = run("tag", model, data / "new.jsonl", "--constrain", "never fly")[1]
    assert "fly" not in never.splitlines()[0].partition('"intent"')[2]
    back = run("tag", sure, data / "new.jsonl", "--min-confidence", "1")[1].splitlines()
    assert [json.loads(line)["intent"] for line in back] == [None, None]
    assert [json.loads(line)["abstained"] for line in back] == ["fly", "eat"]
    told = json.loads(run("eval", sure, data / "test.jsonl", "--reliability", "--json")[1])
    assert told["reliability"]["items"]["count"] == 20


def test_given_classes_are_kept(data: Path, model: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "half.jsonl"
    path.write_text('{"text": "the plane", "known": "eat|rain"}\n{"text": "the plane", "known": "_"}\n')
    wide = tmp_path / "wide.mg"
    rows = [row | {"known": "_"} for row in records(60, 0)]
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--structure", "single", "--label", "intent", "-o", wide, "-q"]
    assert run("train", tmp_path / "train.jsonl", *words)[0] == 0
    out = run("tag", wide, path, "--given", "known")[1].splitlines()
    assert json.loads(out[0])["intent"] in ("eat", "rain")
    assert json.loads(out[1])["intent"] == "fly"
    code, out, err = run("tag", wide, path, "--given", "knwon")
    assert (code, out) == (1, "")
    assert "half.jsonl:1: found no item with the field 'knwon'; the first has text, known" in err


def test_explain_fix_and_inspect(data: Path, model: Path, run: Run, tmp_path: Path) -> None:
    code, out, _ = run("explain", model, "show my flight", "--no-color")
    assert code == 0
    assert "the text has 'flight' in lower case" in out
    fixed = tmp_path / "fixed.mg"
    assert run("fix", model, "show my flight", "--labels", "rain", "-o", fixed)[0] == 0
    (tmp_path / "one.jsonl").write_text('{"text": "show my flight", "intent": "rain"}\n')
    assert "accuracy: 100.00%" in run("eval", fixed, tmp_path / "one.jsonl")[1]
    assert run("fix", model, "--input", tmp_path / "one.jsonl", "-o", tmp_path / "f2.mg")[0] == 0
    assert run("explain", model, "--input", tmp_path / "one.jsonl", "--json")[0] == 0
    assert "single, perceptron" in run("inspect", model)[1]
    assert run("shrink", model, "--dev", data / "dev.jsonl", "-o", tmp_path / "s.mg", "-q")[0] == 0
    code, _, complaint = run("export", model, "--to", "python", "-o", tmp_path / "x.py")
    assert (code != 0, "export: exported programs know no bags of words" in complaint) == (True, True)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--mode", "strict"], "--mode: it is for labels of tokens, but this model gives classes of items."),
        (["--bootstrap", "10"], "--bootstrap: it is for labels of tokens"),
        (["--format", "conll"], "but items are read from jsonl, csv, tsv, crfsuite"),
        (["--separator", ";"], "--separator is for csv files"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    data: Path, model: Path, run: Run, words: list[str], complaint: str
) -> None:
    code, _, told = run("eval", model, data / "test.jsonl", *words)
    assert code != 0
    assert complaint in told


def test_errors_name_the_place(data: Path, model: Path, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"text": "a"}\n{"text": 1]\n')
    code, _, told = run("tag", model, path)
    assert code != 0
    assert f"{path}:2:11: found no JSON" in told
    code, _, told = run("eval", model, data / "new.jsonl")
    assert "new.jsonl:1: found no class in 'intent', expected one" in told


def test_errors_in_numbers_name_file_and_line(data: Path, run: Run, tmp_path: Path) -> None:
    good, bad, path = tmp_path / "good.jsonl", tmp_path / "bad.jsonl", tmp_path / "n.mg"
    good.write_text('{"text": "a", "n": 1, "label": "x"}\n{"text": "b", "n": 2, "label": "y"}\n')
    bad.write_text('{"text": "a", "n": 1, "label": "x"}\n{"text": "b", "n": "dear", "label": "y"}\n')
    (tmp_path / "f.txt").write_text("number(n)\nwords(text)\n")
    train = ["train", "--structure", "single", "--features", tmp_path / "f.txt", "-q", "-o", path]
    told = [run(*train, bad)[2], run(*train, good, "--dev", bad)[2]]
    assert run(*train, good)[0] == 0
    told += [run("tag", path, bad)[2], run("tag", path, bad, "--nbest", "2")[2], run("eval", path, bad)[2]]
    told.append(run("explain", path, "--input", bad, "--all")[2])
    for complaint in told:
        assert f"{bad}:2: number(n): found 'dear', expected a number" in complaint


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "txt"])
def test_files_of_classes_are_scored(data: Path, model: Path, run: Run, tmp_path: Path, suffix: str) -> None:
    """The same as with the model; without --structure where only items have the format."""
    gold, tagged, chosen = data / f"test.{suffix}", tmp_path / f"tagged.{suffix}", model
    how = {"csv": [], "jsonl": ["--structure", "single"], "txt": ["--structure", "single"]}[suffix]
    names = ["--label", "intent"]
    if suffix == "txt":
        chosen, names = tmp_path / "i.mg", ["--format", "crfsuite"]
        more = ["--structure", "single", *names, "--set", "passes=1", "-o", chosen, "-q"]
        assert run("train", data / "train.txt", *more)[0] == 0
    assert run("tag", chosen, gold, "-o", tagged)[0] == 0
    expected = json.loads(run("eval", chosen, gold, "--json")[1])
    code, out, told = run("eval", "--gold", gold, "--pred", tagged, *names, *how, "--json")
    assert (code, told) == (0, "")
    assert json.loads(out) == expected
    wrong = {"csv": table(records(20, 9)), "jsonl": "".join(json.dumps(r) + "\n" for r in records(20, 9))}
    if suffix in wrong:
        tagged.write_text(wrong[suffix], newline="")
        code, _, told = run("eval", "--gold", gold, "--pred", tagged, *names, *how)
        assert (code, "both files must have the same tokens" in told) == (1, True)


def test_the_structure_of_files_is_checked(data: Path, model: Path, run: Run) -> None:
    files = ["--gold", data / "test.csv", "--pred", data / "test.csv", "--label", "intent"]
    assert "Did you mean 'single'?" in run("eval", *files, "--structure", "singel")[2]
    assert (
        "--structure is for --gold FILE" in run("eval", model, data / "test.csv", "--structure", "single")[2]
    )
    files[3] = data / "dev.csv"
    assert "--mode: it is for labels of tokens" in run("eval", *files, "--mode", "strict")[2]


def test_half_of_a_surrogate_pair_is_refused(model: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"text": "a"}\n{"text": "a \\ud800 b"}\n')
    code, _, err = run("tag", model, tmp_path / "s.jsonl")
    assert code == 1
    assert "s.jsonl:2: found half of a surrogate pair" in err


def test_numbers_that_floats_cannot_hold_are_named(run: Run, tmp_path: Path) -> None:
    data, features = tmp_path / "big.jsonl", tmp_path / "f.txt"
    data.write_text('{"n": 1, "label": "x"}\n{"n": 1e300, "label": "y"}\n')
    features.write_text("number(n)\n")
    code, _, complaint = run(
        "train", "--structure", "single", "--features", features, "-o", tmp_path / "m.mg", data
    )
    assert code == 1
    assert f"{data}:2: number(n): found 1e+300, expected a number of at most 3.4e+38 in size" in complaint
