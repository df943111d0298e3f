"""Lint, format and types are tests: what a reviewer would say first is said by a machine."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def run(*command: str) -> None:
    """Run a tool in the checkout; what it prints is the failure."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(command[:6])}\n{done.stdout[-8000:]}{done.stderr[-2000:]}", pytrace=False)


def module(name: str) -> list[str]:
    """The command that runs an installed Python tool."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed: pip install '.[test]'")
    return [sys.executable, "-m", name]


def test_ruff_check() -> None:
    run(*module("ruff"), "check", ".")


def test_ruff_format() -> None:
    run(*module("ruff"), "format", "--check", ".")


def test_mypy() -> None:
    run(*module("mypy"))


def test_clang_format() -> None:
    tool = shutil.which("clang-format", path=sysconfig.get_path("scripts")) or shutil.which("clang-format")
    if tool is None:
        pytest.skip("clang-format is not installed: pip install '.[test]'")
    files = sorted(str(f) for room in ("core", "bind") for f in (ROOT / room).rglob("*.[ch]pp"))
    assert files
    run(tool, "--dry-run", "-Werror", *files)
