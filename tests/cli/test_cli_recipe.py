"""`marginalia train recipe.toml`: a file with the same options, overridden by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_world import COLUMNS, Run

import marginalia as mg

RECIPE = """
train = "train.txt"
dev = ["dev.txt"]
output = "from-recipe.mg"
task = "chunking"
columns = ["word", "pos", "chunk"]
seed = 7
threads = 1
[set]
passes = 3
shuffle = false
"""


class TestRecipes:
    @pytest.fixture
    def folder(self, data: Path, tmp_path: Path) -> Path:
        for name in ("train.txt", "dev.txt"):
            (tmp_path / name).write_bytes((data / name).read_bytes())
        (tmp_path / "recipe.toml").write_text(RECIPE)
        return tmp_path

    def test_paths_are_relative_to_the_recipe(self, run: Run, folder: Path) -> None:
        code, out, _ = run("train", folder / "recipe.toml", "--json", "-q")
        assert (code, json.loads(out)["model"]) == (0, str(folder / "from-recipe.mg"))
        saved = mg.load(folder / "from-recipe.mg").saved
        assert (saved.seed, saved.settings["passes"], saved.settings["shuffle"]) == (7, 3, False)
        assert saved.columns == ("word", "pos", "chunk")

    def test_every_key_can_be_overridden(self, run: Run, folder: Path) -> None:
        other = (
            "--seed",
            8,
            "--set",
            "passes=2",
            "-o",
            folder / "o.mg",
            "--columns",
            "w p c",
            "--task",
            "np",
        )
        code, out, _ = run("train", folder / "recipe.toml", folder / "dev.txt", *other, "--json", "-q")
        assert (code, json.loads(out)["sentences"]) == (0, 15)
        saved = mg.load(folder / "o.mg").saved
        assert (saved.seed, saved.settings["passes"], saved.settings["shuffle"]) == (8, 2, False)
        assert saved.columns == ("w", "p", "c")

    def test_features_and_lists_are_placed_too(self, run: Run, folder: Path) -> None:
        (folder / "mine.txt").write_text("word[0]\n")
        (folder / "animals").write_text("cat\n")
        text = RECIPE.replace("seed", 'features = "mine.txt"\nseed') + '[lists]\nanimals = "animals"\n'
        (folder / "recipe.toml").write_text(text)
        assert run("train", folder / "recipe.toml", "-q")[0] == 0

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            ('colums = "a b"', "unknown key 'colums'. Did you mean 'columns'?"),
            ("seed = -1", "'seed': found -1, expected a whole number"),
            ("threads = 0", "'threads': found 0"),
            ('train = "x.txt"\nset = 3', "'set': found 3, expected a table"),
            ("task = 3", "'task': found 3, expected a text"),
            ("dev = [1]", "'dev': found [1], expected a path or a list of paths"),
            ("[lists]\na = 1", "'lists': found {'a': 1}, expected a table"),
            ('format = "plain"', "found format 'plain', which has no labels"),
            ("train = ", "this is not TOML"),
            ("[set]\npases = 3\n", "unknown setting 'pases'. Did you mean 'passes'?"),
        ],
    )
    def test_mistakes(self, run: Run, folder: Path, line: str, message: str) -> None:
        (folder / "recipe.toml").write_text(line)
        words = ("-o", folder / "m.mg", "--columns", COLUMNS)
        code, _, err = run("train", folder / "recipe.toml", folder / "train.txt", *words)
        assert code == 1
        assert message in err

    def test_missing_and_many(self, run: Run, folder: Path) -> None:
        assert "cannot read the recipe" in run("train", folder / "no.toml")[2]
        assert run("train", folder / "recipe.toml", folder / "other.toml")[0] == 2


class TestWrittenRecipes:
    @pytest.mark.parametrize(
        "words",
        [
            "",
            "--task chunking --learner arow --set r=2 --seed 3",
            "--structure segments --set max-length=auto --learner crf --set passes=5",
            "--separator blanks --comments none --set dropout=values:0.1 --list names={d}/names.txt",
            "--features {d}/templates.txt --dev {d}/dev.txt --dictionary {d}/names.tsv",
        ],
    )
    def test_a_written_recipe_trains_the_same_model(
        self, run: Run, data: Path, tmp_path: Path, words: str
    ) -> None:
        files = {"names.txt": "cat\ndog\n", "names.tsv": "cat\tNP\n", "templates.txt": "word[-1..1]\nedge:\n"}
        for name, text in files.items():
            (data / name).write_text(text)
        (tmp_path / "recipes").mkdir()
        recipe, out = tmp_path / "recipes" / "r.toml", tmp_path / "m.mg"
        given = ("--columns", "word pos chunk", *words.format(d=data).split())
        assert run("train", data / "train.txt", *given, "-o", out, "-q", "--write-recipe", recipe)[0] == 0
        assert run("train", recipe, "-o", tmp_path / "again.mg", "-q")[0] == 0
        one, other = mg.load(out).saved, mg.load(tmp_path / "again.mg").saved
        assert (one.settings, one.options, one.seed) == (other.settings, other.options, other.seed)
        assert all((one.arrays[name] == other.arrays[name]).all() for name in one.arrays)
        before = recipe.read_text()
        assert run("train", recipe, "-q", "--write-recipe", recipe)[0] == 1  # an input is never replaced
        assert recipe.read_text() == before
