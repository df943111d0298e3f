"""A small made-up chunking corpus, a model trained on it, and ways to run the command line."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from marginalia.cli import main

NOUNS = ("cat", "dog", "house", "river", "child", "letter", "garden")
VERBS = ("sees", "takes", "finds", "paints")
ADJECTIVES = ("old", "small", "green", "tired")
COLUMNS = "word pos chunk"


def sentence(chance: random.Random) -> list[str]:
    """A made-up sentence as lines of word, part of speech and chunk label."""
    rows: list[str] = []
    for part in ("NP", "VP", "NP", *(["PP", "NP"] if chance.random() < 0.5 else [])):
        if part == "NP":
            rows.append(f"{chance.choice(('the', 'a'))} DT B-NP")
            if chance.random() < 0.5:
                rows.append(f"{chance.choice(ADJECTIVES)} JJ I-NP")
            rows.append(f"{chance.choice(NOUNS)} NN I-NP")
        else:
            rows.append(f"{chance.choice(VERBS)} VBZ B-VP" if part == "VP" else "near IN B-PP")
    return [*rows, ". . O"]


def corpus(sentences: int, seed: int) -> str:
    """Sentences with blank lines between them."""
    chance = random.Random(seed)
    return "".join("\n".join(sentence(chance)) + "\n\n" for _ in range(sentences))


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
    assert main(["train", f"{data}/train.txt", "-o", str(path), "--task", "chunking", "--columns", COLUMNS, "-q"]) == 0
    return path


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run a command line in this process: its exit code, what it printed and complained."""

    def call(*words: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(word) for word in words])
        return code, *capfd.readouterr()

    return call


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run a command line in a process of its own; `code` replaces `-m marginalia`."""

    def call(*words: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "marginalia", *map(str, words)]
        environment = {**os.environ, "PYTHONHASHSEED": "0"}
        return subprocess.run(command, capture_output=True, timeout=60, env=environment, **options)  # type: ignore

    return call
