"""Data, a model trained on them, and ways to run the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_world import COLUMNS, Run, Shell, corpus

from marginalia.cli import main


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with train.txt, dev.txt and test.txt."""
    folder = tmp_path_factory.mktemp("data")
    for seed, (name, size) in enumerate({"train": 60, "dev": 15, "test": 20}.items()):
        (folder / f"{name}.txt").write_text(corpus(size, seed))
    return folder


@pytest.fixture(scope="session")
def model(data: Path) -> Path:
    """A chunking model trained on train.txt."""
    path = data / "model.mg"
    words = ["train", f"{data}/train.txt", "-o", f"{path}", "--task", "chunking", "--columns", COLUMNS, "-q"]
    assert main(words) == 0
    return path


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process: its exit code, what it printed and complained."""

    def call(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(word) for word in words])
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def shell() -> Shell:
    """Run a command line in a process of its own."""

    def call(*words: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "marginalia", *map(str, words)]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        return subprocess.run(
            command, capture_output=True, timeout=60, env=environment, check=False, **options
        )

    return call
