"""The best outputs of a character chain, re-ranked by features of words."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import marginalia as mg
from marginalia.cli import main

WORDS = ("中国", "人民", "国人", "的", "民", "中", "人", "国", "北京", "京")


def sentences(seed: int, count: int, *, tags: bool) -> str:
    """A word never stands beside itself, which a chain of neighbouring characters can hardly know."""
    rng, lines = random.Random(seed), []
    for _ in range(count):
        words: list[str] = []
        while len(words) < 6:
            if not words or (word := rng.choice(WORDS)) != words[-1]:
                words.append(rng.choice(WORDS) if not words else word)
        lines.append(" ".join(f"{w}/{'nsv'[len(w) % 3]}" if tags else w for w in words) + "\n")
    return "".join(lines)


@pytest.mark.parametrize("tags", [False, True])
def test_a_chain_of_characters_is_reranked_by_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], tags: bool
) -> None:
    train, dev = tmp_path / "train.txt", tmp_path / "dev.txt"
    train.write_text(sentences(1, 200, tags=tags), encoding="utf-8")
    dev.write_text(sentences(2, 40, tags=tags), encoding="utf-8")
    task = "segmentation-tags" if tags else "segmentation"
    base, model = tmp_path / "base.mg", tmp_path / "reranked.mg"
    how = ["--structure", "chain", "--set", "passes=3", "--quiet"]
    assert main(["train", str(train), "-o", str(base), "--task", task, *how]) == 0
    how = ["--learner", "perceptron", "--set", "passes=3", "--hypotheses", "8", "--folds", "2", "--quiet"]
    files = [str(train), "--base", str(base), "--dev", str(dev), "-o", str(model)]
    assert main(["rerank", *files, *how, "--threads", "1", "--json"]) == 0
    capsys.readouterr()
    reranked, scores = mg.load(model), []
    families = reranked.saved.global_features["families"]
    assert set(families) == {"WE", "word-length", "word-pair", "tag-pair", "word-tag-pair"}
    for path in (base, model):
        assert main(["eval", str(path), str(dev), "--json"]) == 0
        scores.append(json.loads(capsys.readouterr().out.strip().splitlines()[-1])["f1"])
    assert scores[1] >= scores[0] if tags else scores[1] > scores[0]
