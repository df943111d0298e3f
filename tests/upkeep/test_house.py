"""House limits: files and functions stay short, and no file names a machine or a person."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MOST_LINES, MOST_FUNCTION_LINES = 450, 80
_NO_FUNCTION = re.compile(
    r"\s*(?:\}|namespace\b|template\b|class\b|struct\b|enum\b|union\b|inline namespace\b)"
)

# Written in two parts, so that this file does not match itself.
_UNWANTED = {
    "a path of some machine": r"(?<![\w.])/(?:" + r"home|root|Users|opt|work|mnt)/\w",
    "an e-mail address": r"\b[\w.+-]+" + r"@(?!example\.)[\w-]+\.(?:com|org|net|io|edu|de|jp|uk|cz|fr)\b",
    "a package index": r"(?:index-url|find-links|trusted-host)" + r"[ =]",
    "an address of some machine": r"\b(?!127\.0\.0\.1\b)(?:\d{1,3}\.){3}\d{1,3}\b",  # but one's own
}


def sources() -> list[Path]:
    python = (ROOT / "src").rglob("*.py")
    native = (p for room in ("core", "bind") for p in (ROOT / room).rglob("*.[ch]pp"))
    return sorted([*python, *native])


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def cpp_functions(text: str) -> Iterator[tuple[str, int]]:
    """Blocks that are neither namespaces nor types: from the last line indented like their closing brace."""
    lines = text.splitlines()
    for end, line in enumerate(lines):
        if match := re.match(r"( *)\}", line):
            head = re.compile(match[1] + r"[^\s#/]")
            start = next((n for n in range(end - 1, -1, -1) if head.match(lines[n])), end)
            if not _NO_FUNCTION.match(lines[start]):
                yield lines[start].strip(), end - start + 1


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    functions = python_functions(text) if path.suffix == ".py" else cpp_functions(text)
    # A binding's list of definitions is a table, not a function to follow.
    long = [
        (name, n) for name, n in functions if n > MOST_FUNCTION_LINES and not name.startswith("void bind_")
    ]
    assert long == []


def test_long_functions_are_seen() -> None:
    body = "  x();\n" * 90
    assert max(n for _, n in cpp_functions("namespace a {\n" + "int f() {\n" + body + "}\n}\n")) == 92
    assert max(n for _, n in python_functions("def f():\n" + "    x()\n" * 90)) == 91


def tracked_files() -> list[Path]:
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, or no git to list its files")
    command = [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"git cannot list the files: {done.stderr.decode(errors='replace').strip()}")
    names = done.stdout.decode().split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def test_the_readme_has_the_command_that_ci_runs() -> None:
    """`.ci/run` takes its command from the README: one line, from a fresh environment to pytest."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if re.match(r"python3 -m venv .*pytest", line)]


def unwanted(text: str) -> list[str]:
    """What kinds of unwanted things a text has, each with its first instance."""
    found = ((kind, re.search(pattern, text)) for kind, pattern in _UNWANTED.items())
    return [f"{kind}: {match[0]}" for kind, match in found if match]


def test_no_file_names_a_machine_or_a_person() -> None:
    found = {}
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if hits := unwanted(text):
            found[str(path.relative_to(ROOT))] = hits
    assert found == {}


@pytest.mark.parametrize(
    "text", ["see /" + "home/me", "me" + "@somewhere.com", "10.0." + "0.7", "--index-url" + " x"]
)
def test_unwanted_things_are_seen(text: str) -> None:
    assert unwanted(text)
