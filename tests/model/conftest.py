"""Small models with every kind of array."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg

TEMPLATES = """
list xs = x.txt
word[-1..1]
tag[0]
list(xs)(word)[0]
edge:
edge: word[0]
"""
SEGMENTS = """
list xs = x.txt
word[-1..1]
list(xs)(word)[b..e]
tag[b]/tag[e]
word[i]/tag[e]
length/word[j]
edge:
"""


@pytest.fixture(scope="session")
def taggers(toys: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """By name: a plain one; one with edge features, a phrase list, another encoding, order 2 and provenance;
    one of segments; one whose versions vote; the second one with two corrections; shrunk ones."""
    folder = tmp_path_factory.mktemp("templates")
    (folder / "templates.txt").write_text(TEMPLATES)
    (folder / "segments.txt").write_text(SEGMENTS)
    (folder / "x.txt").write_text("x1\nx2 x3\ny7\n")
    full: dict[str, Any] = {"features": str(folder / "templates.txt"), "order": 2, "encode": "IOBES"}
    full |= {"provenance": True, "contributions": 3}
    segments: dict[str, Any] = {"features": str(folder / "segments.txt"), "structure": "segments"}
    found = {
        "segments": mg.train(toys(12), passes=2, **segments),
        "plain": mg.train(toys(12), passes=2, names=False),
        "voted": mg.train(toys(12), passes=2, average="vote"),
        "full": mg.train(toys(40), passes=3, dev=toys(10, seed=2), **full),
    }
    asked = {"word": ["x1", "new", "y2"], "tag": ["T0", "T1", "T2"]}
    found["corrected"] = found["full"].fix(asked, ["B-NEW", "O", "O"]).fix(asked, ["O", "B-X", "B-NEW"])
    found["global"] = mg.train(toys(12), passes=2, learner="nonlocal", n=5, hypotheses=7)
    found["16 bits"] = mg.shrink(found["full"], bits=16).model
    found["8 bits"] = mg.shrink(found["plain"], bits=8).model
    found["5 bits"] = mg.shrink(found["full"], bits=5).model
    return found


@pytest.fixture(
    params=["plain", "voted", "full", "segments", "corrected", "global", "16 bits", "8 bits", "5 bits"]
)
def tagger(request: pytest.FixtureRequest, taggers: dict[str, mg.Tagger]) -> mg.Tagger:
    return taggers[request.param]


@pytest.fixture
def saved_file(tagger: mg.Tagger, tmp_path: Path) -> Path:
    path = tmp_path / "model.mg"
    tagger.save(path)
    return path
