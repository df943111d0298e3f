"""`paraphrase --count`: counts of one's own texts, and checks that use them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from marginalia.assist.words.valency import read_valency, valency
from marginalia.cli import main

RULES = """\
language en
family shorter
  why Shorter.
  words buying: purchase:VERB -> buy
"""


@pytest.fixture(autouse=True)
def _fresh_counts() -> Iterator[None]:
    """Counts that a test adds are gone behind it."""
    yield
    valency.cache_clear()


def test_counts_of_texts_are_written_and_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, counts, rules = (tmp_path / name for name in ("text.txt", "my.counts", "my.rules"))
    text.write_text("The dog eats the meat. The meat was eaten by dogs.")
    rules.write_text(RULES)
    assert main(["paraphrase", "--count", str(text), "-o", str(counts)]) == 0
    assert capsys.readouterr().out == f"1 verb, 2 uses: {counts}\n"
    found = read_valency(str(counts))
    assert found.uses["eat"] == 2
    assert found.objects["eat"]["meat"] == 2
    before = valency().uses["eat"]
    command = [
        "paraphrase",
        "--try",
        str(rules),
        "--text",
        "They purchased a house.",
        "--with-counts",
        str(counts),
    ]
    assert main(command) == 0
    assert "They bought a house." in capsys.readouterr().out
    assert valency().uses["eat"] == before + 2


def test_what_cannot_be_counted_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("The dog eats.")
    assert main(["paraphrase", "--count", str(text)]) == 2
    assert "--count needs -o FILE" in capsys.readouterr().err
    assert main(["paraphrase", "--count", str(text), "-o", str(text)]) != 0
    assert "one of the inputs" in capsys.readouterr().err
    assert main(["paraphrase", "--count", str(tmp_path / "none.txt"), "-o", str(tmp_path / "x")]) != 0
    assert "there is no such file" in capsys.readouterr().err
