"""The installed package is the one of this checkout, whole, and its stubs say what the core offers."""

from __future__ import annotations

import ast
import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

import marginalia

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "src" / "marginalia"
INSTALLED = Path(marginalia.__file__).resolve().parent
PATTERNS = ROOT / "tools" / "stub_patterns.txt"
STUBS = SOURCES / "_core.pyi"
COMMAND = (
    "python -m nanobind.stubgen -m marginalia._core -p tools/stub_patterns.txt -o src/marginalia/_core.pyi"
)


def shipped_files() -> list[str]:
    skipped = ("__pycache__", ".so", ".pyd")
    found = (p.relative_to(SOURCES).as_posix() for p in SOURCES.rglob("*") if p.is_file())
    return sorted(name for name in found if not any(part in name for part in skipped))


def test_installed_package_is_this_checkout() -> None:
    different = [
        name
        for name in shipped_files()
        if not (INSTALLED / name).is_file()
        or (INSTALLED / name).read_bytes() != (SOURCES / name).read_bytes()
    ]
    assert different == [], "the installed package is not this checkout: run pip install . again"


SHIPPED = """
    py.typed _core.pyi _core.*.so features/sets/pos.txt features/sets/chunking.txt
    data/ingredients/train.txt data/ingredients/dev.txt data/ingredients/test.txt
    data/ingredients/GUIDELINE.md serve/static/index.html serve/static/main.js serve/static/style.css
"""


@pytest.mark.parametrize("pattern", SHIPPED.split())
def test_package_ships(pattern: str) -> None:
    assert list(INSTALLED.glob(pattern))


def test_versions_agree() -> None:
    assert importlib.metadata.version("marginalia") == marginalia.__version__


class _Shape(ast.NodeTransformer):
    """Leaves names, arguments and defaults; takes out types and documentation."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body, node.returns = [ast.Pass()], None
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            arg.annotation = None
        return node


def outline(text: str, *, types: bool) -> list[str]:
    """The definitions of a stub file as normal forms, sorted, without its documentation."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Expr(ast.Constant(...))]
    if not types:
        tree = _Shape().visit(tree)
    return sorted(ast.dump(node) for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))


def generated(folder: Path, *options: str) -> str:
    """What nanobind writes for the installed core."""
    pytest.importorskip("nanobind", reason="nanobind is not installed: pip install '.[test]'")
    command = [
        sys.executable,
        "-m",
        "nanobind.stubgen",
        "-q",
        "-m",
        "marginalia._core",
        "-o",
        "made.pyi",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return (folder / "made.pyi").read_text()


def test_stubs_name_what_the_core_has(tmp_path: Path) -> None:
    plain = generated(tmp_path)
    assert outline(STUBS.read_text(), types=False) == outline(plain, types=False), f"patterns, then {COMMAND}"


def test_stubs_have_the_types_of_the_core(tmp_path: Path) -> None:
    refined = generated(tmp_path, "-p", str(PATTERNS))
    if not importlib.metadata.version("nanobind").startswith("3."):
        pytest.skip("the stubs are written by nanobind 3, others spell types differently")
    assert outline(STUBS.read_text(), types=True) == outline(refined, types=True), f"run {COMMAND}"


def test_patterns_are_all_used() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    patterns = stubgen.load_pattern_file(str(PATTERNS))
    text = STUBS.read_text()
    unused = [p.query.pattern for p in patterns if p.query.pattern.rstrip("$").split(r"\.")[-1] not in text]
    assert unused == []
