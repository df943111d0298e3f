"""`marginalia lexicon` and `clusters`, and models that are trained with what they write."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run, Shell

import marginalia as mg
from marginalia.corpus.lexicons import read_lexicon

Counts = dict[str, dict[str, int]]


@pytest.fixture(scope="module")
def tagger(data: Path) -> Path:
    """A model that gives the part of speech that `model` needs."""
    columns = {"columns": COLUMNS, "label": "pos", "task": "pos", "passes": 3}
    mg.train(str(data / "train.txt"), **columns).save(data / "pos.mg")
    return data / "pos.mg"


def counts_of(path: Path) -> Counts:
    return {entry.word: dict(entry.counts) for entry in read_lexicon(path)}


def plain_counts(rows: list[list[str]], least: int) -> Counts:
    """From columns of which the first is the word and the last the label."""
    found: Counts = {}
    for (word, label), count in Counter((row[0], row[-1]) for row in rows if row).items():
        if count >= least:
            found.setdefault(word, {})[label] = count
    return found


def rows_of(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


@pytest.mark.parametrize("threads", [1, 3])
def test_counts_are_those_of_what_tag_writes(
    run: Run, data: Path, model: Path, tmp_path: Path, threads: int
) -> None:
    lexicon = tmp_path / "w.lex"
    words = ("lexicon", model, data / "test.txt", data / "dev.txt", "-o", lexicon, "--min-count", 2)
    code, _, said = run(*words, "--threads", threads)
    assert code == 0
    rows = [row for name in ("test", "dev") for row in rows_of(run("tag", model, data / f"{name}.txt")[1])]
    assert counts_of(lexicon) == plain_counts(rows, 2)
    assert f"tagged {sum(map(bool, rows))} tokens" in said.replace(",", "")


def test_a_first_model_gives_the_columns_that_are_missing(
    run: Run, data: Path, model: Path, tagger: Path, tmp_path: Path
) -> None:
    rows = rows_of((data / "test.txt").read_text())
    text = "\n".join(row[0] if row else "" for row in rows)
    sentences = [" ".join(sentence.split("\n")) for sentence in text.split("\n\n") if sentence.strip()]
    with gzip.open(tmp_path / "raw.txt.gz", "wt") as file:
        file.write("\n".join(sentences) + "\n")
    words = ("lexicon", model, tmp_path / "raw.txt.gz", "--first", tagger, "--format", "plain")
    assert run(*words, "-o", tmp_path / "w.lex", "--min-count", 1, "-q") == (0, "", "")
    tagged = run("tag", tagger, tmp_path / "raw.txt.gz", "--format", "plain")[1]
    (tmp_path / "tagged.txt").write_text(tagged)
    chunked = run("tag", model, tmp_path / "tagged.txt")[1]
    assert counts_of(tmp_path / "w.lex") == plain_counts(rows_of(chunked), 1)


def test_parts_are_merged(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    for name in ("test", "dev"):
        words = ("lexicon", model, data / f"{name}.txt", "-o", tmp_path / f"{name}.lex")
        assert run(*words, "--min-count", 1, "-q")[0] == 0
    parts = [tmp_path / "test.lex", tmp_path / "dev.lex"]
    assert run("lexicon", "--merge", *parts, "-o", tmp_path / "both.lex", "--min-count", 3)[0] == 0
    both = ("lexicon", model, data / "test.txt", data / "dev.txt", "-o", tmp_path / "at-once.lex")
    assert run(*both, "--min-count", 3)[0] == 0
    assert (tmp_path / "both.lex").read_bytes() == (tmp_path / "at-once.lex").read_bytes()
    said = run("lexicon", "--merge", tmp_path / "both.lex", "-o", tmp_path / "again.lex")[2]
    assert "both.lex has no labels seen fewer than 3 times, which are in no sum" in said


def test_a_model_with_a_lexicon(run: Run, data: Path, model: Path, tmp_path: Path) -> None:
    """By option and by recipe (relative to it); tagging needs no file; `inspect` shows it."""
    lexicon = tmp_path / "w.lex"
    assert run("lexicon", model, data / "test.txt", "-o", lexicon, "--min-count", 1, "-q")[0] == 0
    recipe = "train = 'train.txt'\noutput = 'm.mg'\ncolumns = 'word pos chunk'\n[lexicons]\nw = 'w.lex'\n"
    (tmp_path / "r.toml").write_text(recipe)
    (tmp_path / "train.txt").write_text((data / "train.txt").read_text())
    assert run("train", tmp_path / "r.toml", "--lexicon", f"v={lexicon}", "-q")[0] == 0
    facts = json.loads(run("inspect", tmp_path / "m.mg", "--json")[1])["lexicons"]
    assert facts["w"] == facts["v"]
    assert set(facts["w"]["labels"]) <= set(mg.load(model).labels)
    lexicon.unlink()
    assert run("tag", tmp_path / "m.mg", data / "test.txt")[0] == 0
    assert f"lexicons  w ({facts['w']['words']} words" in run("inspect", tmp_path / "m.mg")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lexicon", "m.mg", "x"), "where to write the lexicon"),
        (("lexicon", "m.mg", "-o", "x.lex"), "found 1 files, expected a model and text"),
        (("lexicon", "--merge", "-o", "x.lex"), "found 0 files, expected lexicons to merge"),
        (("lexicon", "m.mg", "none.txt", "-o", "x.lex"), "none.txt: cannot read"),
        (("lexicon", "m", "t", "-o", "x.lex", "--min-count", "0"), "expected a whole number from 1"),
        (("clusters", "none.txt"), "none.txt: cannot read"),
    ],
)
def test_mistakes(run: Run, words: tuple[str, ...], message: str) -> None:
    code, _, errors = run(*words)
    assert code != 0
    assert message in errors


def test_models_of_other_kinds_are_refused(run: Run, tmp_path: Path) -> None:
    stored = Path(__file__).parent.parent / "model" / "stored"
    (tmp_path / "t.txt").write_text("a b\n")
    for name in ("single", "candidates", "trees", "pipeline", "chain-attributes"):
        words = ("lexicon", stored / f"{name}.mg", tmp_path / "t.txt", "-o", tmp_path / "x.lex")
        code, _, errors = run(*words)
        assert code == 2
        assert f"{name}.mg: expected a model that labels the words of sentences" in errors


def test_first_is_not_for_merging(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.lex").write_text("a\tb\t10\n")
    words = ("lexicon", "--merge", tmp_path / "a.lex", "--first", model, "-o", tmp_path / "b.lex")
    assert "--first is for text, not for --merge" in run(*words)[2]


def test_damaged_lexicons_say_where(run: Run, data: Path, tmp_path: Path) -> None:
    (tmp_path / "a.lex").write_text("a\tb\t10\nc\td\n")
    expected = "a.lex:2: found 2 fields, expected word, tab, label, tab, count"
    assert expected in run("lexicon", "--merge", tmp_path / "a.lex", "-o", tmp_path / "b.lex")[2]
    words = ("train", data / "train.txt", "-o", tmp_path / "m.mg", "--lexicon", f"w={tmp_path}/a.lex")
    assert expected in run(*words)[2]


TEXT = "".join(
    f"the {noun} {verb} a {noun}\n" for noun in ("dog", "cat") for verb in ("sees", "has") for _ in "12"
)


class TestClusters:
    """`marginalia clusters`."""

    def test_a_model_with_them(self, run: Run, data: Path, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text(TEXT)
        assert run("clusters", tmp_path / "t.txt", "-k", 3, "-o", tmp_path / "c.txt", "-q") == (0, "", "")
        lines = [line.split("\t") for line in (tmp_path / "c.txt").read_text().splitlines()]
        paths = {word: path for path, word, _ in lines}
        assert {word: int(count) for _, word, count in lines} == Counter(TEXT.split())
        assert paths["dog"] == paths["cat"]
        assert paths["sees"] == paths["has"]
        words = ("train", data / "train.txt", "-o", tmp_path / "m.mg", "--clusters", f"c={tmp_path}/c.txt")
        assert run(*words, "-q")[0] == 0

    @pytest.mark.parametrize("format", ["conll", "conllu", "jsonl"])
    def test_other_formats(self, run: Run, tmp_path: Path, format: str) -> None:
        sentences = [line.split() for line in TEXT.splitlines()]
        texts = {
            "conll": "\n\n".join("\n".join(f"{w} X" for w in s) for s in sentences) + "\n",
            "conllu": "\n\n".join(
                "\n".join(f"{i}\t{w}{(chr(9) + '_') * 8}" for i, w in enumerate(s, 1)) for s in sentences
            )
            + "\n\n",
            "jsonl": "".join(json.dumps({"tokens": s}) + "\n" for s in sentences),
        }
        (tmp_path / "t.txt").write_text(TEXT)
        (tmp_path / f"t.{format}").write_text(texts[format])
        expected = run("clusters", tmp_path / "t.txt", "-k", 3, "-q")[1]
        assert run("clusters", tmp_path / f"t.{format}", "-k", 3, "-q", "--format", format)[1] == expected

    def test_nothing_frequent(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("a b c\n")
        assert "found no word 2 times" in run("clusters", tmp_path / "t.txt")[2]


def test_help_names_both(shell: Shell) -> None:
    assert b"lexicon" in shell("--help").stdout
