"""`marginalia demo`, and the tokenizer that it shares with the guideline of its corpus."""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path

import pytest
from cli_world import Run, Shell

import marginalia as mg
from marginalia.cli import demo
from marginalia.cli.text import Paint
from marginalia.corpus.tokenizers import fields

# The lines that the demo shows, labelled by the corpus's GUIDELINE.md.
RIGHT = """\
[500 QTY] [g UNIT] [floury potatoes NAME] ( [about 4 QTY] [medium SIZE] ) , [peeled and cut into wedges PREP]
[2 QTY] x [400 g SIZE] [tins UNIT] [chickpeas NAME] , [drained PREP]
[a QTY] [good handful UNIT] of [fresh mint leaves NAME] , [roughly torn PREP]
[½ QTY] [tsp UNIT] [freshly grated PREP] [nutmeg NAME]
[4 QTY] [thick SIZE] [slices UNIT] [sourdough bread NAME] , [toasted PREP]
[Flaky salt NAME] and [black pepper NAME] , [to taste COMMENT]
"""


def test_demo(shell: Shell) -> None:
    done = shell("demo")
    out = done.stdout.decode()
    assert done.returncode == 0
    assert "FB1:" in out
    assert all(f" {name}: precision" in out for name in demo.COLOURS)
    assert RIGHT in out.replace("\n  ", "\n")
    assert "What to try next:" in out
    assert "\x1b" not in out


def test_saved_model_and_own_lines(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("demo", "--save", tmp_path / "m.mg", "2 cups flour", "", "1 lemon")
    assert code == 0
    assert "  [2 QTY] [cups UNIT] [flour NAME]\n" in out
    tagged = mg.load(tmp_path / "m.mg").tag(["1", "cup", "sugar"])
    assert tagged.labels == ("B-QTY", "B-UNIT", "B-NAME")


def test_it_scores_well(run: Run, tmp_path: Path) -> None:
    run("demo", "--save", tmp_path / "m.mg")
    with demo.corpus_parts() as (_, _, test):
        assert demo.score(mg.load(tmp_path / "m.mg"), test).f1 > 85


def test_its_lines_are_not_in_the_corpus() -> None:
    def words(text: str) -> str:
        return re.sub(r"[\W\d]", "", text).lower()

    with demo.corpus_parts() as parts:
        seen = {words("".join(s.tokens)) for part in parts for s in mg.read_conll(part, separator="\t")}
    assert [line for line in demo.LINES if words(line) in seen] == []


def test_where_it_cannot_save(run: Run, tmp_path: Path) -> None:
    code, out, err = run("demo", "--save", tmp_path / "no" / "m.mg")
    assert (code, out) == (1, "")
    assert "there is no folder" in err


def test_colours(run: Run, tmp_path: Path) -> None:
    run("demo", "--save", tmp_path / "m.mg")

    class Always(Paint):
        def __init__(self) -> None:
            self.on = True

    tagged = demo.label_lines(mg.load(tmp_path / "m.mg"), ["2 cups of flour"])
    assert "\n".join(demo._shown(tagged, Always())).endswith(
        "\n  \x1b[36m2\x1b[0m \x1b[34mcups\x1b[0m \x1b[2mof\x1b[0m \x1b[32mflour\x1b[0m"
    )


def tokens(text: str) -> list[str]:
    return [text[start:end] for start, end in fields(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("500g flour, sifted", "500 g flour , sifted"),
        ("1 (14oz) can", "1 ( 14 oz ) can"),
        ("1½cups 2½ ½ ~200", "1½ cups 2½ ½ ~200"),
        ("1/2 1-1/2 16/20 2-3 3–4 0.5 2,5 1,000g", "1/2 1-1/2 16/20 2-3 3–4 0.5 2,5 1,000 g"),
        ("butter/margarine 175g/6oz", "butter / margarine 175 g / 6 oz"),
        ("14-oz 3- to 4-pound ½-inch 5-lb.", "14-oz 3- to 4-pound ½-inch 5-lb."),
        ("1 tsp. salt.", "1 tsp. salt ."),
        ("salt 1 tsp.", "salt 1 tsp."),
        ("2% milk at 37°C, za'atar!", "2% milk at 37°C , za'atar !"),
        ("", ""),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert tokens(text) == expected.split()


def test_the_tokenizer_agrees_with_the_corpus() -> None:
    folder = resources.files("marginalia") / "data" / "ingredients"
    for part in ("train", "dev", "test"):
        for sentence in (folder / f"{part}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
            words = [line.partition("\t")[0] for line in sentence.split("\n")]
            text = " ".join(words)
            assert tokens(text) == words
            for sign in ",;:).!":
                text = text.replace(f" {sign}", sign)
            assert tokens(text.replace("( ", "(")) == words
