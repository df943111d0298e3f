"""Exported programs give the labels that the model gives, on all inputs, without any dependency."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_world import CHARACTERS, labels_by, random_case, random_word
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia import _core
from marginalia.cli import main
from marginalia.deploy.to_python.text import Attributes, Characters

INGREDIENTS = Path(mg.__file__).parent / "data" / "ingredients"


def loaded(text: str) -> dict[str, Any]:
    """The names of an exported Python program."""
    names: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, "<exported>", "exec"), names)
    return names


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1))
def test_python_programs_give_the_same_labels(seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tagger, sentences = random_case(seed, Path(folder))
    tag = loaded(mg.export(tagger))["tag"]
    assert [tag(sentence) for sentence in sentences] == labels_by(tagger, sentences)


_RUN = """
import fs from "node:fs";
const answers = [];
for (const [name, sentences] of JSON.parse(fs.readFileSync("cases.json", "utf8"))) {
  const { tag } = await import(`./${name}`);
  answers.push(sentences.map((sentence) => tag(sentence)));
}
fs.writeFileSync("answers.json", JSON.stringify(answers));
"""


def answers_of_node(folder: Path, cases: list[tuple[str, Any]]) -> Any:
    """What the modules of a folder say to their sentences, all in one process."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on the PATH to run JavaScript with")
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "run.mjs").write_text(_RUN)
    done = subprocess.run([node, "run.mjs"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "answers.json").read_text())


def test_javascript_modules_give_the_same_labels(tmp_path: Path) -> None:
    cases, expected = [], []
    for seed in range(1000, 1080):
        tagger, sentences = random_case(seed, tmp_path)
        (tmp_path / f"model{seed}.mjs").write_text(mg.export(tagger, "javascript"))
        cases.append((f"model{seed}.mjs", sentences))
        expected.append(labels_by(tagger, sentences))
    found = answers_of_node(tmp_path, cases)
    assert [case for case, a, b in zip(cases, found, expected, strict=True) if a != b] == []
    assert len({label for case in expected for labels in case for label in labels}) > 10


# ---- characters


def borders() -> list[str]:
    """The first and the last character of each range of the Unicode tables, and some of those beside."""
    ranges, lowers, widths = _core.unicode_tables()
    starts = (ranges >> np.uint32(8)).astype(int)
    places = {*starts, *(starts - 1), 0x10FFFF}
    for table in (lowers, widths):
        places |= {*table[0::4], *table[1::4], *(table[1::4] + 1)}
    return [chr(code) for code in places if code > 0 and not 0xD800 <= code < 0xE000]


ATTRIBUTES = [
    ("lower", ""),
    ("shape", ""),
    ("char-class", ""),
    ("width", ""),
    ("nfkc", ""),
    ("has", "upper"),
    ("test", r"^\a$"),
    ("test", r"\W"),
    ("test", r"\L\p*\s"),
]


@pytest.mark.parametrize(("function", "argument"), ATTRIBUTES)
def test_characters_are_the_cores(function: str, argument: str) -> None:
    exported = Attributes(Characters(*(table.tolist() for table in _core.unicode_tables()))).function(
        function, argument
    )
    for char in [*borders(), *CHARACTERS]:
        for text in (char, f"a{char} ."):
            assert exported(text) == _core.evaluate_attribute(function, argument, text), ascii(text)


patterns = st.lists(
    st.sampled_from(["a", ".", r"\a", r"\D", r"\u", r"\W", r"\.", "x*", ".?", r"\l*", r"\p?", "^", "$", "é"]),
    max_size=6,
).map("".join)


@given(patterns, st.integers(0, 2**32 - 1))
def test_expressions_are_the_cores(pattern: str, seed: int) -> None:
    characters = Characters(*(table.tolist() for table in _core.unicode_tables()))
    rng = random.Random(seed)
    texts = ["".join(random_word(rng) for _ in range(2)) for _ in range(8)]
    for name in ("test", "match", "lower-match"):
        exported = Attributes(characters).function(name, pattern)
        assert [exported(text) for text in texts] == [
            _core.evaluate_attribute(name, pattern, text) for text in texts
        ]


# ---- from end to end


@pytest.fixture(scope="module")
def ingredients() -> mg.Tagger:
    """The model of the built-in corpus."""
    return mg.train(str(INGREDIENTS / "train.txt"), task="fields", columns="word label", passes=3)


def columns_of(path: Path) -> list[dict[str, list[str]]]:
    return [{"word": list(s.columns["word"])} for s in mg.read_conll(str(path), "word label")]


def test_ingredients_in_python(ingredients: mg.Tagger, tmp_path: Path) -> None:
    """As a command that may import nothing but the standard library, and as a module."""
    model, program, test = tmp_path / "m.mg", tmp_path / "program.py", INGREDIENTS / "test.txt"
    ingredients.save(model)
    assert main(["export", str(model), "--to", "python", "-o", str(program), "-q"]) == 0
    assert main(["tag", str(model), str(test), "-o", str(tmp_path / "expected.txt")]) == 0
    command = [sys.executable, "-I", "-S", str(program), str(test)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (tmp_path / "expected.txt").read_bytes()
    sentences = columns_of(test)[:50]
    tag = loaded(program.read_text())["tag"]
    assert [tag(s["word"]) for s in sentences] == labels_by(ingredients, sentences)


def test_ingredients_in_javascript(ingredients: mg.Tagger, tmp_path: Path) -> None:
    sentences = columns_of(INGREDIENTS / "test.txt")
    smaller = mg.shrink(ingredients, "40kB").model
    for name, tagger in (("whole.mjs", ingredients), ("small.mjs", smaller)):
        (tmp_path / name).write_text(mg.export(tagger, "javascript"))
    found = answers_of_node(tmp_path, [("whole.mjs", sentences), ("small.mjs", sentences)])
    assert found == [labels_by(ingredients, sentences), labels_by(smaller, sentences)]


def test_the_command_reads_column_files_as_we_do(tmp_path: Path, toys: Any) -> None:
    tagger = mg.train(toys(30), passes=2)
    tagger.save(tmp_path / "m.mg")
    (tmp_path / "p.py").write_text(mg.export(tagger))
    inputs = {
        "without labels": "# a comment line here\nx1 T1\nany1 T2\n\n\n# 2\ny1 T1\ny2 T2\n\n#x T1\n#y T2\n",
        "with labels": "x1 T1 O\n\n-DOCSTART- X O\n\ny1 T1 O\ny2 T2 O",
        "tabs and line ends": "x1\tT1\r\nany2\tT2\r\n\r\ny1\tT1\r\n",
        "trailing blanks": "x1 T1 \n\ny1  T1\t\n",
        "nothing": "",
    }
    for name, given_text in inputs.items():
        (tmp_path / "in.txt").write_bytes(given_text.encode())
        assert main(["tag", f"{tmp_path}/m.mg", f"{tmp_path}/in.txt", "-o", f"{tmp_path}/out.txt"]) == 0
        command = [sys.executable, "-I", "-S", f"{tmp_path}/p.py"]
        done = subprocess.run(command, input=given_text.encode(), capture_output=True, check=True)
        assert done.stdout == (tmp_path / "out.txt").read_bytes(), name


# ---- what goes wrong


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"average": "vote"}, "a voted model cannot be exported: shrink it first"),
        ({"learner": "maxent", "search": "beam"}, "searches by beam cannot be exported"),
        ({"unit": "document"}, r"whole documents \(unit=document\) cannot be exported"),
    ],
)
def test_what_cannot_be_exported_is_refused(toys: Any, settings: dict[str, Any], message: str) -> None:
    tagger = mg.train(toys(10), passes=1, **settings)
    with pytest.raises(mg.ModelError, match=message):
        mg.export(tagger)


def test_unknown_languages_are_refused(toys: Any) -> None:
    with pytest.raises(mg.SettingsError, match="to: found 'cobol', expected python or javascript"):
        mg.export(mg.train(toys(5), passes=1), "cobol")


def test_a_voted_model_can_be_exported_when_shrunk(toys: Any) -> None:
    small = mg.shrink(mg.train(toys(20), passes=2, average="vote"), bits=32).model
    sentences = [columns for columns, _ in toys(10, seed=5)]
    tag = loaded(mg.export(small))["tag"]
    assert [tag(s) for s in sentences] == labels_by(small, sentences)


def test_names_and_labels_cannot_break_the_program(tmp_path: Path) -> None:
    """Names go into docstrings, comments and literals."""
    labels = ['"""', "'''\\", "`${x}`", "*/ \u2028", "\u2028import os", "é\x0b"]
    data = [({'wo"""rd\\': ["a", "b", "c"]}, random.Random(i).choices(labels, k=3)) for i in range(20)]
    tagger = mg.train(data, passes=2, scheme="none")
    sentences = [columns for columns, _ in data]
    expected = labels_by(tagger, sentences)
    assert [loaded(mg.export(tagger))["tag"](s) for s in sentences] == expected
    (tmp_path / "m.mjs").write_text(mg.export(tagger, "javascript"))
    assert answers_of_node(tmp_path, [("m.mjs", sentences)]) == [expected]


def test_lists_may_have_any_name(tmp_path: Path) -> None:
    """Also names that objects of JavaScript have already."""
    names = ("__proto__", "constructor", "toString")
    for name in names:
        (tmp_path / name).write_text("b\n")
    (tmp_path / "t.txt").write_text(
        "".join(f"list {name} = {name}\nlist({name})(word)[0]\n" for name in names)
    )
    tagger = mg.train([(["a", "b", "c"], ["O", "X", "O"])] * 5, features=str(tmp_path / "t.txt"), passes=2)
    sentences: list[Any] = [{"word": ["b", "a", "c", "b"]}]
    (tmp_path / "m.mjs").write_text(mg.export(tagger, "javascript"))
    assert answers_of_node(tmp_path, [("m.mjs", sentences)]) == [labels_by(tagger, sentences)]


def test_wrong_input_is_named(toys: Any, tmp_path: Path) -> None:
    program, templates = tmp_path / "p.py", tmp_path / "templates.txt"
    templates.write_text("word[0]/tag[0]\n")
    program.write_text(mg.export(mg.train(toys(20), passes=1, features=str(templates))))
    tag = loaded(program.read_text())["tag"]
    with pytest.raises(TypeError, match="found a string"):
        tag("words")
    with pytest.raises(ValueError, match="expected also tag"):
        tag({"word": ["a"]})
    with pytest.raises(ValueError, match="different lengths"):
        tag({"word": ["a"], "tag": []})
    assert tag({"word": [], "tag": []}) == []
    for text, message in ((b"a b c d\n", b"found 4 columns"), (b"a\xff T\n", b"codec can't decode")):
        command = [sys.executable, "-I", "-S", str(program)]
        done = subprocess.run(command, input=text, capture_output=True, check=False)
        assert done.returncode == 1
        assert message in done.stderr
    done = subprocess.run([*command, "--help"], capture_output=True, check=False)
    assert (done.returncode, b"usage:" in done.stderr) == (0, True)
