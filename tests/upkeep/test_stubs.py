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
    data/ingredients/train.txt data/ingredients/dev.txt data/ingredients/test.txt data/ingredients/GUIDELINE.md
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


def test_stubs_are_those_of_the_core(tmp_path: Path) -> None:
    pytest.importorskip("nanobind", reason="nanobind is not installed: pip install '.[test]'")
    made = tmp_path / "_core.pyi"
    arguments = ["-q", "-m", "marginalia._core", "-p", str(ROOT / "tools/stub_patterns.txt"), "-o", str(made)]
    done = subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", *arguments], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    # Types are spelled differently by different versions of nanobind: they are compared for the usual one.
    types = importlib.metadata.version("nanobind").startswith("3.")
    now, committed = made.read_text(), STUBS.read_text()
    assert outline(committed, types=types) == outline(now, types=types), f"run {COMMAND} && ruff format src"


def test_patterns_are_all_used(tmp_path: Path) -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    patterns = stubgen.load_pattern_file(str(ROOT / "tools" / "stub_patterns.txt"))
    text = STUBS.read_text()
    unused = [p.query.pattern for p in patterns if p.query.pattern.rstrip("$").split(r"\.")[-1] not in text]
    assert unused == []
