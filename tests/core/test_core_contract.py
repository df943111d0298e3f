"""The contract alone: a structure with no tiers, and non-local features, compiled apart from the package."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = [
    "weights/weight_table.cpp",
    "weights/dense_rows.cpp",
    "weights/provenance.cpp",
    "learn/difference.cpp",
]


def test_a_bare_structure_and_non_local_features(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CXX", "c++")) or shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    program, core = tmp_path / "check", ROOT / "core"
    sources = [Path(__file__).parent / "contract_check.cpp", *(core / name for name in SOURCES)]
    command = [compiler, "-std=c++20", f"-I{core}", *map(str, sources), "-o", str(program)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    found = subprocess.run([program], capture_output=True, text=True)
    assert (found.stdout, found.returncode) == ("right\n", 0)
