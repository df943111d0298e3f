"""Models with dictionaries on their way: soft phrases go along as they are, and can be others again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg

Toys = Callable[..., Any]
NAMES = {f"{kind.lower()}{i}": kind for kind in "XY" for i in range(10)}
OTHERS = {phrase: "Y" if label == "X" else "X" for phrase, label in NAMES.items()} | {"o1 o2": "X"}


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_exported_and_shrunk(toys: Toys, tmp_path: Path, structure: str) -> None:
    (tmp_path / "t.txt").write_text("shape(word)[0]\nnode:\nedge:\n")  # little is known but the dictionary
    options: dict[str, Any] = {"structure": structure, "features": str(tmp_path / "t.txt"), "passes": 3}
    trained = mg.train(toys(40), dictionary=NAMES, dictionary_dropout=0.0, **options)
    other = trained.with_dictionary(OTHERS, mode="soft")
    sentences = [columns["word"] for columns, _ in toys(20, seed=8)]
    expected = [list(tagged.labels) for tagged in other.tag_all(sentences)]
    assert expected != [list(tagged.labels) for tagged in trained.tag_all(sentences)]
    (tmp_path / "program.py").write_text(mg.export(other, "python"))
    script = "import json, sys, program; print(json.dumps([program.tag(s) for s in json.load(sys.stdin)]))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(sentences),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == expected
    small = mg.shrink(trained, bits=16).model.with_dictionary(OTHERS, mode="soft")
    assert [list(tagged.labels) for tagged in small.tag_all(sentences)] == expected
