"""`marginalia eval`: models and files of predictions, in numbers and in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, Shell, without_last_column


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gold.txt, and predictions with one wrong span (pred.txt) or two (worse.txt)."""
    folder = tmp_path_factory.mktemp("eval")
    gold = "the DT B-NP\ncat NN I-NP\nsees VBZ B-VP\n\na DT B-NP\ndog NN I-NP\n\n"
    (folder / "gold.txt").write_text(gold)
    pred = gold.replace("sees VBZ B-VP", "sees VBZ O")
    (folder / "pred.txt").write_text(pred)
    (folder / "worse.txt").write_text(pred.replace("dog NN I-NP", "dog NN B-NP"))
    return folder


def test_model(run: Run, model: Path, data: Path) -> None:
    code, out, err = run("eval", model, data / "test.txt")
    assert (code, err) == (0, "")
    assert out.startswith("processed ")
    assert "FB1: 100.00" in out
    assert run("eval", model, "--threads", 2, data / "test.txt")[1] == out


def test_model_as_json(run: Run, model: Path, data: Path) -> None:
    words = ("--json", "--known", data / "train.txt", "--bootstrap", 50)
    found = json.loads(run("eval", model, data / "test.txt", *words)[1])
    assert found["f1"] == found["precision"] == found["recall"] == found["accuracy"] == 100
    assert found["sentences"] == 20
    assert found["per_type"].keys() == {"NP", "VP", "PP"}
    assert found["interval"] == [100, 100]
    assert found["unseen_tokens"] == 0


def test_model_with_standard_input(shell: Shell, model: Path, data: Path) -> None:
    done = shell("eval", model, "-", "--json", input=(data / "test.txt").read_bytes())
    assert json.loads(done.stdout)["sentences"] == 20


def test_the_output_of_tag_is_a_prediction(run: Run, model: Path, data: Path, tmp_path: Path) -> None:
    run("tag", model, data / "test.txt", "-o", tmp_path / "out.txt")
    found = json.loads(run("eval", "--gold", data / "test.txt", "--pred", tmp_path / "out.txt", "--json")[1])
    assert found["f1"] == 100
    (tmp_path / "raw.txt").write_text(without_last_column((data / "test.txt").read_text()))
    run("tag", model, tmp_path / "raw.txt", "-o", tmp_path / "out.txt")
    found = json.loads(run("eval", "--gold", data / "test.txt", "--pred", tmp_path / "out.txt", "--json")[1])
    assert found["f1"] == 100


def test_files(run: Run, files: Path) -> None:
    words = ("eval", "--gold", files / "gold.txt", "--pred", files / "pred.txt")
    found = json.loads(run(*words, "--json")[1])
    assert (found["precision"], found["recall"], found["f1"]) == (100, pytest.approx(200 / 3), 80)
    assert found["accuracy"] == 80
    assert (found["sentences"], found["tokens"]) == (2, 5)
    assert found["per_type"]["VP"]["recall"] == 0
    assert "FB1:  80.00" in run(*words)[1]


def test_known_words_and_confusion(run: Run, files: Path, tmp_path: Path) -> None:
    (tmp_path / "train.txt").write_text("the X\na X\ndog X\n")
    words = (
        "eval",
        "--gold",
        files / "gold.txt",
        "--pred",
        files / "pred.txt",
        "--known",
        tmp_path / "train.txt",
    )
    code, out, _ = run(*words, "--confusion")
    assert code == 0
    assert "unseen words:     50.00% of 2" in out
    assert "\nall confusions:\n  B-VP\tO\t1\n" in out
    assert json.loads(run(*words, "--confusion", "--json")[1])["confusion"] == [
        {"gold": "B-VP", "predicted": "O", "count": 1}
    ]


def test_comparison(run: Run, files: Path) -> None:
    words = (
        "eval",
        "--gold",
        files / "gold.txt",
        "--pred",
        files / "worse.txt",
        "--compare",
        files / "pred.txt",
    )
    code, out, _ = run(*words)
    assert code == 0
    assert f"a = {files}/worse.txt, b = {files}/pred.txt" in out
    assert "McNemar" in out
    found = json.loads(run(*words, "--json")[1])["comparison"]
    assert found["difference"] > 0
    assert 0 < found["randomisation"]["p_value"] <= 1


def test_model_against_predictions(run: Run, model: Path, data: Path) -> None:
    code, out, _ = run("eval", model, data / "test.txt", "--compare", data / "test.txt", "--json")
    assert (code, json.loads(out)["comparison"]["difference"]) == (0, 0)


def test_strict_and_scheme(run: Run, files: Path, tmp_path: Path) -> None:
    (tmp_path / "pred.txt").write_text((files / "gold.txt").read_text().replace("B-NP", "I-NP"))
    words = ("eval", "--gold", files / "gold.txt", "--pred", tmp_path / "pred.txt", "--json")
    assert json.loads(run(*words)[1])["f1"] == 100
    assert json.loads(run(*words, "--mode", "strict")[1])["f1"] < 100
    assert json.loads(run(*words, "--mode", "strict", "--scheme", "IOB2")[1])["scheme"] == "IOB2"
    assert run(*words, "--mode", "strict", "--scheme", "IOB9")[0] == 1


def test_gold_and_predictions_in_one_file(run: Run, files: Path, tmp_path: Path) -> None:
    lines = zip(*((files / name).read_text().split("\n") for name in ("gold.txt", "pred.txt")), strict=True)
    both = "\n".join(f"{one} {other.split(' ')[-1]}".strip() for one, other in lines)
    (tmp_path / "both.txt").write_text(both)
    words = ("eval", "--gold", tmp_path / "both.txt", "--pred", tmp_path / "both.txt", "--json")
    code, _, err = run(*words)
    assert code == 2
    assert "say with --label which column is gold" in err
    assert json.loads(run(*words, "--label", "c2")[1])["f1"] == 80


def test_plain_tags_and_conllu(run: Run, tmp_path: Path) -> None:
    row = "1\tde\tde\tADP\tIN\t_\t0\troot\t_\t_\n\n"
    (tmp_path / "gold.conllu").write_text(row * 2)
    (tmp_path / "pred.conllu").write_text(row + row.replace("IN", "DT"))
    words = (
        "eval",
        "--gold",
        tmp_path / "gold.conllu",
        "--pred",
        tmp_path / "pred.conllu",
        "--json",
        "--label",
    )
    assert json.loads(run(*words, "xpos")[1])["accuracy"] == 50
    assert json.loads(run(*words, "upos")[1])["accuracy"] == 100


class TestMistakes:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (("cat NN", "dog NN"), "x.txt:2: found 'dog', but GOLD:2 has 'cat'"),
            (("\n\na DT", "\na DT"), "x.txt:4: 'a' does not begin one, but GOLD:5 it begins a sentence"),
            (
                ("cat NN I-NP\n", "cat NN I-NP\n\n"),
                "x.txt:4: 'sees' begins a sentence, but GOLD:3 it does not",
            ),
            (("dog NN I-NP\n", ""), "found 4 tokens in 2 sentences, expected 5 in 2 as in GOLD"),
        ],
    )
    def test_files_that_differ(
        self, run: Run, files: Path, tmp_path: Path, change: tuple[str, str], message: str
    ) -> None:
        (tmp_path / "x.txt").write_text((files / "gold.txt").read_text().replace(*change))
        code, out, err = run("eval", "--gold", files / "gold.txt", "--pred", tmp_path / "x.txt")
        assert (code, out) == (1, "")
        assert message.replace("GOLD", str(files / "gold.txt")) in err

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["m"],
            ["--gold", "g"],
            ["--pred", "p"],
            ["m", "t", "--gold", "g", "--pred", "p"],
            ["m", "--gold", "g"],
        ],
    )
    def test_of_usage(self, run: Run, words: list[str]) -> None:
        code, _, err = run("eval", *words)
        assert code == 2
        assert "expected MODEL TEST, or --gold FILE --pred FILE" in err

    def test_the_label_column_is_missing(self, run: Run, model: Path, data: Path, tmp_path: Path) -> None:
        (tmp_path / "raw.txt").write_text(without_last_column((data / "test.txt").read_text()))
        code, _, err = run("eval", model, tmp_path / "raw.txt")
        assert code == 1
        assert "found columns word pos, but no label column 'chunk'" in err

    def test_empty_and_missing_files(self, run: Run, model: Path, files: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").write_text("\n\n")
        assert "found no labelled sentences" in run("eval", model, tmp_path / "empty")[2]
        assert (
            "found no sentences" in run("eval", "--gold", tmp_path / "empty", "--pred", files / "pred.txt")[2]
        )
        assert (
            "found no sentences" in run("eval", "--gold", files / "gold.txt", "--pred", tmp_path / "empty")[2]
        )
        assert "there is no such file" in run("eval", model, tmp_path / "no")[2]
        assert (
            "there is no such file" in run("eval", "--gold", files / "gold.txt", "--pred", tmp_path / "no")[2]
        )
        assert "cannot read the model" in run("eval", tmp_path / "no", files / "gold.txt")[2]

    def test_wrong_columns(self, run: Run, model: Path, files: Path) -> None:
        words = ("eval", "--gold", files / "gold.txt", "--pred", files / "pred.txt")
        assert "found 3 columns, expected 2" in run(*words, "--columns", "word chunk")[2]
        assert "expected one of the columns" in run(*words, "--columns", COLUMNS, "--label", "x")[2]
        assert "--tokenizer is for" in run(*words, "--tokenizer", "words")[2]
        assert run(*words, "--mode", "loose")[0] == 2


class TestTreebanks:
    ROWS = "1\tde\tde\tADP\tIN\t_\t2\tcase\t_\t_\n2\tmar\tmar\tNOUN\tNN\t_\t0\troot\t_\t_\n\n"

    @pytest.fixture
    def words(self, tmp_path: Path) -> tuple[object, ...]:
        (tmp_path / "gold.conllu").write_text(self.ROWS * 2)
        (tmp_path / "pred.conllu").write_text(self.ROWS + self.ROWS.replace("\tcase", "\tdet"))
        return "eval", "--gold", tmp_path / "gold.conllu", "--pred", tmp_path / "pred.conllu"

    def test_two_conllu_files_give_the_table(self, run: Run, words: tuple[object, ...]) -> None:
        code, out, _ = run(*words)
        assert code == 0
        assert out.startswith("Metric     | Precision |    Recall |  F1 Score | AligndAcc\n")
        assert "\nLAS        |     75.00 |     75.00 |     75.00 |     75.00\n" in out
        found = json.loads(run(*words, "--json", "--bootstrap", "20")[1])
        assert (found["mode"], found["metrics"]["UAS"]["f1"]) == ("conll18", 100)
        assert found["metrics"]["LAS"]["interval"] == [50, 100]

    def test_a_label_asks_for_labels(self, run: Run, words: tuple[object, ...]) -> None:
        assert json.loads(run(*words, "--json", "--label", "deprel")[1])["accuracy"] == 75
        assert json.loads(run(*words, "--json", "--format", "conllu")[1])["mode"] == "conll18"
        assert json.loads(run(*words, "--json", "--structure", "chain")[1])["mode"] == "tags"

    def test_options_of_labels_are_refused(self, run: Run, words: tuple[object, ...]) -> None:
        for flags in (("--compare", words[2]), ("--confusion",), ("--mode", "strict"), ("--known", words[2])):
            code, _, err = run(*words, *flags)
            assert (code, f"{flags[0]} is about labels" in err) == (2, True)

    def test_other_texts_are_located(self, run: Run, words: tuple[object, ...]) -> None:
        Path(str(words[4])).write_text(self.ROWS + self.ROWS.replace("\tmar\tm", "\tmal\tm"))
        code, _, err = run(*words)
        assert code == 1
        assert f"{words[4]}:4: the texts differ: behind 'demardema'" in err
        Path(str(words[4])).write_text(self.ROWS.replace("\t0\t", "\t1\t"))
        assert f"{words[4]}:1:18: found a cycle, expected a tree: 1 → 2 → 1" in run(*words)[2]
