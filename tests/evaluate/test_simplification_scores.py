"""SARI and BLEU against values computed by hand, published figures, and what must not matter."""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.errors import DataError
from marginalia.evaluate.simplification import bleu, sari, tokens_13a

ROOT = Path(__file__).resolve().parent.parent.parent
ASSET = Path(os.environ.get("MARGINALIA_DATA", ROOT.parent / "shared" / "data")) / "simplification" / "asset"
TEXTS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=8).map(" ".join)


def test_sari_by_hand() -> None:
    found = sari(["a b c"], ["a b d"], [["a b d", "a b c"]])
    assert found.add == pytest.approx(100 * (1 + 1 + 1 + 0) / 4)
    assert found.keep == pytest.approx(100 * (8 / 9 + 4 / 5 + 0 + 0) / 4)
    assert found.delete == pytest.approx(100 * (2 / 3 + 2 / 3 + 2 / 3 + 0) / 4)
    assert found.score == pytest.approx((found.add + found.keep + found.delete) / 3)


def test_sari_sums_counts_over_sentences_first() -> None:
    both = sari(["a", "b b"], ["c", "b"], [["c"], ["b"]])
    assert both.add == both.keep == 25.0
    assert both.delete == pytest.approx(50.0)  # a and the second b; of pairs of words b b


def test_bleu_by_hand() -> None:
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert bleu(["a b c d e"], [["a b c d f"]]) == pytest.approx(expected)
    assert bleu(["a b c d"], [["a b c d e", "a b c d e f"]]) == pytest.approx(100 * math.exp(-1 / 4))
    assert bleu(["a b c d e"], [["x a b c d e", "a b c d"]]) == pytest.approx(100.0)  # as near: the shorter
    assert bleu(["a b c"], [["a b c"]]) == 0.0  # no four words


def test_tokens_are_those_of_mteval() -> None:
    text = "He said: &quot;1,000.5 (U.S.) dollars—in 2001-02, ok?&quot;"
    expected = 'he said : " 1,000.5 ( u . s . ) dollars—in 2001 - 02 , ok ? "'
    assert tokens_13a(text) == expected.split()


@given(st.lists(st.tuples(TEXTS, TEXTS, st.lists(TEXTS, min_size=2, max_size=4)), min_size=1, max_size=4))
def test_order_and_repetition_of_references_do_not_matter(rows: list[tuple[str, str, list[str]]]) -> None:
    before, after, references = (list(column) for column in zip(*rows, strict=True))
    once = sari(before, after, references)
    again = sari(before, after, [refs[::-1] * 2 for refs in references])
    assert once.score == pytest.approx(again.score)
    assert 0 <= once.score <= 100
    assert bleu(after, references) == pytest.approx(bleu(after, [refs[::-1] * 2 for refs in references]))


def test_files_of_different_length_are_refused() -> None:
    with pytest.raises(DataError, match="found 1 outputs and 2 lists of references"):
        bleu(["a"], [["a"], ["b"]])
    with pytest.raises(DataError, match="found 1 outputs and 0 original sentences"):
        sari([], ["a"], [["a"]])
    with pytest.raises(DataError, match="no reference of sentence 2"):
        sari(["a", "b"], ["a", "b"], [["a"], []])


@pytest.mark.data
@pytest.mark.skipif(not ASSET.exists(), reason="needs ASSET")
def test_figures_of_asset() -> None:
    def lines(name: str) -> list[str]:
        return (ASSET / "dataset" / f"asset.test.{name}").read_text(encoding="utf-8").splitlines()

    originals, simple = lines("orig"), [lines(f"simp.{number}") for number in range(10)]
    identity = sari(originals, originals, list(zip(*simple, strict=True)))
    assert round(identity.score, 2) == 20.73
    first = sari(originals, simple[0], list(zip(*simple[1:], strict=True)))
    assert round(first.score, 2) == 44.59
