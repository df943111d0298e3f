"""The documentation is true: its code runs, its links lead somewhere, its tables agree with the code."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import io
import json
import os
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import generated_parts
import numpy as np
import pytest

import marginalia as mg
from invented_treebank import treebank
from marginalia.cli import VERBS, build_parser
from marginalia.cli.plan import KEYS, read_recipe
from marginalia.corpus import FORMATS, SCHEMES, labels_of
from marginalia.corpus.tokenizers import TOKENIZERS
from marginalia.evaluate import evaluate
from marginalia.features.list_templates import LIST_TEMPLATES
from marginalia.features.templates import FORMS
from marginalia.learn import TASKS
from marginalia.learn.learners import LEARNERS

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PAGES = {path.relative_to(ROOT).as_posix(): path for path in [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]}

CLOSE = 1.0  # how far a score on a page may be from ours: processors may round differently


def text_of(page: str) -> str:
    return PAGES[page].read_text(encoding="utf-8")


class Block(NamedTuple):
    """A fenced block: its language, its text, and the line it begins at."""

    language: str
    text: str
    line: int


def blocks_of(page: str) -> list[Block]:
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)
    return [Block(m[1], m[2], text_of(page).count("\n", 0, m.start()) + 1) for m in found]


def prose_of(page: str) -> str:
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


# ---- the code on the pages runs


RUNNABLE = [page for page in PAGES if any(b.language in ("sh", "python") for b in blocks_of(page))]
CHUNKS = """\
He PRP B-NP
reckons VBZ B-VP
the DT B-NP
small JJ I-NP
deficit NN I-NP
will MD B-VP
narrow VB I-VP
. . O

She PRP B-NP
sleeps VBZ B-VP
in IN B-PP
the DT B-NP
garden NN I-NP
. . O

"""
RULES = """\
language en
family passive
why The sentence says first who does what.
rule by-passive: N1 be V:part by N2 -> N2 V N1
"""


@cache
def chunker() -> bytes:
    """The model that pages call model.mg."""
    data = mg.read_conll(io.StringIO(CHUNKS * 3), "word pos chunk")
    return mg.train(data, task="chunking", preset="fast", passes=3).to_bytes()


@cache
def pipeline() -> bytes:
    """The model that pages call pipeline.mg."""
    data = mg.read_conllu(io.StringIO(treebank(120)))
    return mg.train(data, task="ud", **{"tags.passes": 4, "tags.shuffle-average": 1}).to_bytes()


class Shell:
    """Runs the blocks of a page, one after another, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__page__"}
        # Colour and progress would not be the same everywhere.
        path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
        self.environment = os.environ | {"PATH": path, "NO_COLOR": "1", "PYTHONUTF8": "1"}

    def run(self, block: Block) -> str:
        return self.python(block.text) if block.language == "python" else self.sh(block.text)

    def sh(self, text: str) -> str:
        script = "set -e\n" + text
        done = subprocess.run(
            ["sh", "-c", script], cwd=self.folder, env=self.environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def python(self, text: str) -> str:
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(text, "<page>", "exec"), self.names)
        return output.getvalue()


def prepared(folder: Path) -> Shell:
    """A shell among the files that pages take for granted."""
    for name, copies in (("train.txt", 3), ("dev.txt", 1), ("test.txt", 1)):
        (folder / name).write_text(CHUNKS * copies)
    (folder / "model.mg").write_bytes(chunker())
    (folder / "train.conllu").write_text(treebank(120))
    (folder / "test.conllu").write_text(treebank(30, seed=2))
    (folder / "pipeline.mg").write_bytes(pipeline())
    (folder / "my.rules").write_text(RULES)
    return Shell(folder)


def lines_as_expected(expected: str, found: str) -> Iterator[str]:
    """The expected lines that do not turn up in order. `…` is anything; decimals need only be close."""
    rest = iter(found.splitlines())
    for line in filter(str.strip, expected.splitlines()):
        if not any(_matches(line.strip(), other.strip()) for other in rest):
            yield line


_DECIMAL = re.compile(r"\d+\.\d+")


def _matches(expected: str, found: str) -> bool:
    pattern = re.escape(expected).replace("…", ".*")
    numbers = [float(number) for number in _DECIMAL.findall(expected)]
    pattern = re.sub(r"(?:\\ )+", r"\\s+", re.sub(r"\d+\\\.\d+", r"(\\d+\\.\\d+)", pattern))
    match = re.search(pattern, found)
    if match is None:
        return False
    return all(abs(float(a) - b) <= CLOSE for a, b in zip(match.groups(), numbers, strict=True))


@pytest.mark.parametrize("page", RUNNABLE)
def test_code_on_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The tutorial makes its own files.
    shell, output = Shell(tmp_path) if page == "docs/tutorial.md" else prepared(tmp_path), ""
    for block in blocks_of(page):
        if block.language in ("sh", "python"):
            output = shell.run(block)
        elif block.language == "text":
            missing = list(lines_as_expected(block.text, output))
            assert not missing, f"{page}:{block.line}: not printed: {missing}\n{output}"


def test_differences_are_seen() -> None:
    assert not list(lines_as_expected("a 1.50\n…c", "x\n a  1.70 b\nabc\n"))
    assert list(lines_as_expected("a 1.50", "a 3.50"))
    assert list(lines_as_expected("a\nb", "b\na"))
    assert list(lines_as_expected("[0, 1]", "[0, 2]"))


def test_the_recipe_on_the_train_page_is_complete(tmp_path: Path) -> None:
    (block,) = [b for b in blocks_of("docs/train.md") if b.language == "toml"]
    (tmp_path / "recipe.toml").write_text(block.text)
    assert read_recipe(str(tmp_path / "recipe.toml"))["set"]
    assert [key for key in KEYS if not re.search(rf"\b{key}\b", block.text)] == []


# ---- links and places


def anchors_of(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if link.startswith("https://"):
            continue
        place, _, anchor = link.partition("#")
        target = (PAGES[page].parent / place).resolve() if place else PAGES[page]
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


def test_every_page_can_be_reached_from_the_readme() -> None:
    linked = set(re.findall(r"\]\((docs/[\w-]+\.md)\)", text_of("README.md")))
    assert set(PAGES) - {"README.md"} - linked <= {"docs/benchmarks.md"}


def rows_of(page: str, *heads: str) -> list[list[str]]:
    """The rows of all tables of a page whose heading cells begin like this."""
    rows: list[list[str]] = []
    inside = False
    for line in prose_of(page).splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif tuple(cells[: len(heads)]) == heads:
            inside = True
        elif inside and not set(line) <= set("|-"):
            rows.append(cells)
    return rows


METHOD_ROWS = [(page, *row) for page in PAGES for row in rows_of(page, "what", "function", "file")]


@pytest.mark.parametrize(("page", "what", "functions", "file"), METHOD_ROWS, ids=lambda text: text.strip("`"))
def test_named_functions_are_in_the_named_files(page: str, what: str, functions: str, file: str) -> None:
    code = (ROOT / file.strip("`")).read_text(encoding="utf-8")
    names = re.findall(r"`([\w:]+)`", functions)
    assert names
    for name in names:
        assert re.search(rf"\b{name}\b", code), f"{name} is not in {file}"


@pytest.mark.parametrize("page", PAGES)
def test_named_paths_exist(page: str) -> None:
    pattern = r"`((?:core|bind|src|tests|docs|benchmarks|tools)/[\w./-]*)`"
    for path in re.findall(pattern, prose_of(page)):
        assert (ROOT / path).exists(), path


# ---- the map


def rooms_on_the_map() -> set[str]:
    """The folders that the tree at the top of the architecture page draws."""
    rooms: set[str] = set()
    above: list[str] = []  # the rooms that a line stands below, by their depth
    for line in blocks_of("docs/architecture.md")[0].text.splitlines():
        if match := re.match(r"( *)(\S+/)", line):
            above[len(match[1]) // 2 :] = [match[2]]
            rooms.add("".join(above).rstrip("/"))
    return rooms


def folders(*places: str) -> set[str]:
    found = (path for place in places for path in (ROOT / place).iterdir())
    return {
        path.relative_to(ROOT).as_posix()
        for path in found
        if path.is_dir() and not path.name.startswith((".", "__")) and any(path.iterdir())
    }


def test_the_map_names_every_room_and_no_other() -> None:
    drawn = rooms_on_the_map()
    assert sorted(room for room in drawn if not (ROOT / room).is_dir()) == []
    tops = {"core", "bind", "src/marginalia", "tests", "benchmarks", "docs", "tools"}
    rooms = folders("core", "core/search", "src/marginalia") | tops
    assert sorted(rooms - drawn) == []


# ---- tables that follow the code


def options_of(verb: str) -> dict[str, tuple[str, ...]]:
    """The options of a verb, without help: each flag with its other spellings."""
    parser = build_parser([verb])
    (action,) = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    actions = [a for a in action.choices[verb]._actions if a.option_strings and a.dest != "help"]
    return {flag: tuple(a.option_strings) for a in actions for flag in a.option_strings}


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_a_verb_has_its_options(verb: str) -> None:
    flags = [set(re.findall(r"`(--?[\w-]+)", row[0])) for row in rows_of(f"docs/{verb}.md", "option")]
    assert set().union(*flags) == set(options_of(verb))
    assert all(row == set(options_of(verb)[next(iter(row))]) for row in flags)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "docs/benchmarks.md"])
def test_no_page_names_an_unknown_option(page: str) -> None:
    known = {"--help", "--version", "--debug"}.union(*(options_of(verb) for verb in VERBS))
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text_of(page))) <= known


@pytest.mark.parametrize("name", generated_parts.PARTS)
def test_generated_parts_are_up_to_date(name: str) -> None:
    assert text_of(f"docs/{name}") == generated_parts.updated(name), (
        "run python tests/docs/generated_parts.py"
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_the_settings_page_has_every_setting_of_a_learner(name: str) -> None:
    """In the learner's own section, or in the one that names it among others."""
    shown: list[str] = []
    for section in text_of("docs/settings.md").split("\n## ")[1:]:
        title, _, text = section.partition("\n")
        if f"`{name}`" in title:
            shown += re.findall(r"^\| `([\w-]+)`", text, re.MULTILINE)
    assert sorted(shown) == sorted(setting.name for setting in LEARNERS[name].settings)


def test_the_architecture_page_has_every_file_of_learning() -> None:
    listed = {row[1].strip("`") for row in rows_of("docs/architecture.md", "what", "file")}
    files = [*(ROOT / "src/marginalia/learn").glob("[a-z]*.py"), *(ROOT / "core/learn").glob("*.hpp")]
    found = {path.relative_to(ROOT).as_posix() for path in files}
    elsewhere = {"src/marginalia/learn/data.py", "src/marginalia/learn/recipe.py"}  # no part of learners
    assert found - elsewhere <= listed


def test_the_diagnostics_are_on_the_page() -> None:
    data = list(mg.read_conll(io.StringIO(CHUNKS), "word pos chunk"))
    plain, boosted = (
        mg.train(data, features="chunking", diagnostics=True, boost=rounds).saved.diagnostics
        for rounds in (0, 2)
    )
    listed = [name for row in rows_of("docs/learners.md", "diagnostic") for name in [row[0].strip("`")]]
    assert listed == list(plain | boosted)


def test_the_features_page_has_every_function() -> None:
    listed = [re.match(r"`([\w-]+)", row[0]) for row in rows_of("docs/features.md", "function")]
    assert [match[1] for match in listed if match] == list(FORMS)
    fenced = {block.text for block in blocks_of("docs/features.md")}
    assert LIST_TEMPLATES.format(name="NAME", column="token").lstrip() in fenced


@pytest.mark.parametrize(
    ("page", "head", "names"),
    [
        ("docs/train.md", "task", TASKS),
        ("docs/learners.md", "learner", LEARNERS),
        ("docs/formats.md", "format", FORMATS),
        ("docs/formats.md", "tokenizer", TOKENIZERS),
        ("docs/formats.md", "scheme", SCHEMES),
        ("docs/tag.md", "format", FORMATS),
    ],
)
def test_tables_of_names_are_complete(page: str, head: str, names: dict[str, Any]) -> None:
    assert {row[0].strip("`") for row in rows_of(page, head)} == set(names)


def test_scheme_examples_are_right() -> None:
    spans = [mg.Span(0, 3, "X"), mg.Span(3, 4, "X")]
    for row in rows_of("docs/formats.md", "scheme"):
        labels = row[1].strip("`").split()
        assert labels == labels_of(spans, len(labels), row[0].strip("`"))


KEY_COMMANDS = {
    "train": "train train.txt -o new.mg --columns 'word pos chunk' --dev dev.txt --set passes=1 --quiet",
    "eval": "eval crf.mg test.txt --compare test.txt --reliability",
    "calibrate": "calibrate model.mg test.txt -o new.mg",
    "inspect": "inspect model.mg",
    "shrink": "shrink model.mg --target 20kB -o small.mg",
    "explain": "explain model.mg --input test.txt",
    "fix": "fix model.mg --input test.txt",
}


@pytest.mark.parametrize("verb", KEY_COMMANDS)
def test_the_keys_of_json_output_are_on_the_page(verb: str, tmp_path: Path) -> None:
    shell = prepared(tmp_path)
    if verb == "eval":
        shell.sh("marginalia train train.txt -o crf.mg --learner crf --set passes=2 -q")
    printed = set(json.loads(shell.sh(f"marginalia {KEY_COMMANDS[verb]} --json")))
    keys = {key for row in rows_of(f"docs/{verb}.md", "key") for key in re.findall(r"`(\w+)`", row[0])}
    if verb == "shrink":  # those on the page are of a candidate
        assert (
            set(json.loads(shell.sh("marginalia shrink model.mg --bits 8 -o s.mg --json"))["table"][0])
            == keys
        )
        keys = {"model", "output", "table"}
    if verb == "inspect":
        of_program = {"templates", "lists", "clusters", "lexicons", "left_out"}
        keys = keys - {"found", "conflicts"} | of_program | described_keys() - {"program"}
    if verb == "calibrate":  # of the map of a beam
        keys -= {"slope", "offset"}
    assert printed == keys


def described_keys() -> set[str]:
    """The keys of a model's description, by the page about model files."""
    keys = {name for row in rows_of("docs/model-file.md", "key") for name in re.findall(r"`(\w+)`", row[0])}
    rare = {"row_width", "global_features", "first"}  # absent in most files
    return keys - {"checksum", "format_version", "model"} - rare


def test_the_model_file_page_has_every_array_and_key(tmp_path: Path) -> None:
    (tmp_path / "places.txt").write_text("the garden\n")
    data = [({"word": ["in", "the", "garden"], "pos": ["IN", "DT", "NN"]}, ["O", "B-X", "I-X"])]
    (tmp_path / "clusters.txt").write_text("01\tgarden\n")
    files = {"lists": {"NAME": f"{tmp_path}/places.txt"}, "clusters": {"NAME": f"{tmp_path}/clusters.txt"}}
    model = mg.train(data, task="chunking", passes=1, **files, average="vote", provenance=True).saved
    rows = {row[0].strip("`"): row for row in rows_of("docs/model-file.md", "array")}
    assert set(rows) == {*model.arrays, "wide"}
    assert all(rows[name][1] == code_of(array) for name, array in model.arrays.items())
    assert described_keys() == set(model.metadata())


def test_the_model_file_page_has_every_array_of_a_shrunk_model(tmp_path: Path) -> None:
    (tmp_path / "templates.txt").write_text("word[0]\nedge: word[0]\n")
    data = [({"word": ["in", "the", "garden"]}, ["O", "B-X", "I-X"])] * 3
    model = mg.train(data, features=str(tmp_path / "templates.txt"), passes=1)
    shrunk = [mg.shrink(model, bits=bits).model.saved.arrays for bits in (16, 8)]
    rows = {row[0].strip("`"): row[1] for row in rows_of("docs/model-file.md", "shrunk array")}
    unchanged = {"homes", "constant_at", "constants"}
    assert set(rows) == set().union(*shrunk) - unchanged
    assert all(
        code_of(a) in rows[name].split(" or ") for part in shrunk for name, a in part.items() if name in rows
    )


def test_the_model_file_page_has_every_array_of_global_features() -> None:
    data = [(["in", "Rome", "rome"], ["O", "B-X", "O"])]
    model = mg.train(data, learner="nonlocal", passes=1).saved
    rows = {row[0].strip("`"): row[1] for row in rows_of("docs/model-file.md", "global array")}
    found = {name: code_of(array) for name, array in model.arrays.items() if name.startswith("global.")}
    assert rows == found
    described = next(row[1] for row in rows_of("docs/model-file.md", "key") if row[0] == "`global_features`")
    assert [name for name in model.global_features if f"`{name}`" not in described] == []


def test_the_model_file_page_has_every_array_of_corrections() -> None:
    model = mg.train([(["a", "b"], ["B-X", "O"])], passes=1).fix(["a"], ["O"]).saved
    shown: dict[str, str] = {}
    for row in rows_of("docs/model-file.md", "correction array"):
        shown |= dict.fromkeys(re.findall(r"`([\w.]+)`", row[0]), row[1])
    kept = {name: code_of(array) for name, array in model.arrays.items() if name.startswith("fix.")}
    assert shown == kept
    listed = next(row[1] for row in rows_of("docs/model-file.md", "key") if row[0] == "`corrections`")
    assert [name for name in model.corrections[0] if f"`{name}`" not in listed] == []


def code_of(array: np.ndarray[Any, Any]) -> str:
    return {"f": "F", "u": "U", "i": "I"}[array.dtype.kind] + str(8 * array.dtype.itemsize)


STATES: list[dict[str, Any]] = [
    {"average": "vote"},
    {"l1_cumulative": 0.01, "shuffle_average": 2},
    {"learner": "arow"},
    {"learner": "crf"},
    {"boost": 2, "start": True},
]


def test_the_model_file_page_has_every_array_of_a_learning_state() -> None:
    kept: dict[str, str] = {}
    for settings in STATES:
        data = list(mg.read_conll(io.StringIO(CHUNKS), "word pos chunk"))
        if settings.get("start"):
            settings = settings | {"start": mg.train(data, task="chunking", passes=1)}
        arrays = mg.train(data, task="chunking", passes=5, state=True, **settings).saved.arrays
        for name, array in arrays.items():
            if name.startswith("state."):  # of one of several models, or one of several pairs
                plain = re.sub(r"\.\d+$", ".K", re.sub(r"^state\.\d+\.", "state.", name))
                kept[plain] = code_of(array)
    shown: dict[str, str] = {}
    for row in rows_of("docs/model-file.md", "state array"):
        names = re.findall(r"`([\w.]+)`", row[0])
        codes = row[1].split(", ") if "," in row[1] else [row[1]] * len(names)
        shown |= dict(zip(names, codes, strict=True))
    assert shown == kept


def test_the_python_page_has_the_facade() -> None:
    page = text_of("docs/python.md")
    assert [name for name in mg.__all__ if f"`mg.{name}" not in page] == []
    for function in (mg.train, evaluate):
        signature = inspect.signature(function)
        shown = re.search(rf"\*\*`(?:mg\.)?{function.__name__}\((.*?)\)`", page)
        assert shown, function
        names = re.findall(r"(?:^|, )\**(\w+)", shown[1])
        assert names == list(signature.parameters)
    members = {name for row in rows_of("docs/python.md", "member") for name in re.findall(r"`(\w+)", row[0])}
    public = {name for name in dir(mg.Tagger) if not name.startswith("_")}
    assert members == public | {"saved", "decoder"}
    members = {
        name for row in rows_of("docs/python.md", "of a model") for name in re.findall(r"`(\w+)", row[0])
    }
    assert members == {name for name in dir(mg.Model) if not name.startswith("_")} - public
    for name in ("fix", "fix_all", "partial_fit"):
        shown = re.search(rf"`{name}\((.*?)\)` \|", page)
        assert shown, name
        signature = ["self", *re.findall(r"(?:^|, )(\w+)", shown[1])]
        assert signature == list(inspect.signature(getattr(mg.Model, name)).parameters)
    for kind in (mg.Progress, mg.Tagged, mg.Sentence):
        section = page.partition(f"**`mg.{kind.__name__}")[2].partition("\n\n")[0]
        assert [name for name in inspect.signature(kind).parameters if f"`{name}`" not in section] == []


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) < 150
