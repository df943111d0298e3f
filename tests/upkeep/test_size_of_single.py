"""The structure `single` shows how little a structure needs: its code and that of its bundle are counted."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PARTS = (
    "core/search/single/single.hpp",
    "core/search/single/model.hpp",
    "bind/single.cpp",
    "src/marginalia/decode/single.py",
    "src/marginalia/decode/classifier.py",
    "src/marginalia/kinds/classes/__init__.py",
)
OWN = (
    "core/search/single/*",
    "bind/single*",
    "src/marginalia/decode/single*",
    "src/marginalia/decode/class*",
    "src/marginalia/kinds/classes/*.py",
)
MOST = 300


def lines_of_cpp(text: str) -> int:
    """Lines that are neither empty, nor comments, nor includes, nor closing brackets."""
    return sum(
        not re.fullmatch(r"\s*(//.*|#.*|[})\];]*|}\s*// namespace.*)", line) for line in text.splitlines()
    )


def lines_of_python(text: str) -> int:
    """Lines of statements without docstrings and imports, by the lines they take."""
    left_out: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, (ast.Import, ast.ImportFrom)):
            left_out |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(n not in left_out and not re.fullmatch(r"\s*(#.*|[})\],]*)", line) for n, line in lines)


def text_of(part: str) -> str:
    return (ROOT / part).read_text(encoding="utf-8")


def lines_of(part: str) -> int:
    return lines_of_python(text_of(part)) if part.endswith(".py") else lines_of_cpp(text_of(part))


def test_the_structure_and_its_bundle_are_small() -> None:
    counts = {part: lines_of(part) for part in PARTS}
    assert sum(counts.values()) <= MOST, counts
    assert {path.relative_to(ROOT).as_posix() for own in OWN for path in ROOT.glob(own)} <= set(PARTS)


def test_the_page_says_how_many() -> None:
    page = " ".join(text_of("docs/single.md").split())
    whole = sum(len(text_of(part).splitlines()) for part in PARTS)
    assert f"is {sum(map(lines_of, PARTS))} lines of code" in page
    assert f"{whole} lines as they are" in page


def test_nobody_else_asks_for_the_structure_by_name() -> None:
    asks = re.compile(r"""structure\s*[!=]=\s*["']single["']|["']single["']\s*[!=]=""")
    for path in (ROOT / "src").rglob("*.py"):
        assert not asks.search(path.read_text(encoding="utf-8")), path
