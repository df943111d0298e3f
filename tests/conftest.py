"""What all tests share: where the benchmark corpora are, and how hard Hypothesis tries."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from marginalia.corpus import Span, labels_of

Toy = tuple[dict[str, list[str]], list[str]]

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MARGINALIA_DATA") or ROOT.parent / "shared" / "data")

# No deadline: machines that run tests are busy. The same examples in each run: a failure is there to stay.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("MARGINALIA_HYPOTHESIS", "steady"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips what needs the benchmark corpora if they are not here."""
    if item.get_closest_marker("data") and not DATA.is_dir():
        pytest.skip(f"no benchmark corpora in {DATA}: set MARGINALIA_DATA to their folder")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the benchmark corpora; for tests marked `data`."""
    if not DATA.is_dir():
        pytest.skip(f"no benchmark corpora in {DATA}: set MARGINALIA_DATA to their folder")
    return DATA


def toy_corpus(count: int, seed: int = 1, scheme: str = "IOB2", types: str = "XY") -> list[Toy]:
    """Sentences whose spans can mostly be told from their words: ({column: values}, labels)."""
    rng = random.Random(seed)
    sentences = []
    for _ in range(count):
        spans: list[Span] = []
        words: list[str] = []
        for _ in range(rng.randint(1, 5)):
            kind, begin = rng.choice([*types, "O"]), len(words)
            words += [f"{kind.lower()}{rng.randint(0, 9)}" for _ in range(rng.randint(1, 3))]
            if rng.random() < 0.1:
                words[-1] = f"any{rng.randint(0, 3)}"
            if kind != "O":
                spans.append(Span(begin, len(words), kind))
        tags = [f"T{rng.randint(0, 2)}" for _ in words]
        sentences.append(({"word": words, "tag": tags}, labels_of(spans, len(words), scheme)))
    return sentences


@pytest.fixture(scope="session")
def toys() -> Callable[..., list[Toy]]:
    """A maker of small corpora."""
    return toy_corpus
