"""Learn how difficult words are: python tools/make_difficulty.py ../shared/data [--test]

Learned from the training part of CompLex (single words; Shardlow et al. 2020, CC BY 4.0) with our re-ranker:
a judgement y is a word that is chosen before nothing with weight y, and after it with weight 1 − y, so that
the model is a logistic regression. L2 is chosen by Pearson's r on the trial part; --test adds that on the
test part.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import marginalia as mg
from marginalia.assist.words.difficulty import Features, difficulty_features, probability
from marginalia.assist.words.packed import SHIPPED, write_packed
from marginalia.assist.words.weights import read_weights

TARGET = SHIPPED / "en" / "difficulty.words"
PARTS = {
    "train": "train/lcp_single_train.tsv",
    "trial": "trial/lcp_single_trial.tsv",
    "test": "test-labels/lcp_single_test.tsv",
}
STRENGTHS = (10.0, 30.0, 60.0)
LEAST_WORDS = 5  # words that have a feature; of letters and kinds
LEAST_WEIGHT = 0.002  # smaller ones are left out


class Judged(NamedTuple):
    """A word with features, how difficult people found it, and which corpus it stands in."""

    word: str
    features: Features
    difficulty: float
    corpus: str


def read(data: Path, part: str) -> list[Judged]:
    """A part of CompLex."""
    path = data / "readability" / "complex_lcp" / PARTS[part]
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    return [
        Judged(row[3].lower(), difficulty_features(row[3], words_of(row[2])), float(row[4]), row[1])
        for row in rows
    ]


def words_of(sentence: str) -> list[str]:
    """Words without the marks around them."""
    return [word for part in sentence.split() if (word := part.strip(".,;:!?()[]\"'“”‘’"))]


def learned(data: list[Judged], l2: float) -> dict[str, float]:
    """Weights by name."""
    seen = Counter(name for one in data for name in one.features)
    items: list[Any] = []
    weights = []
    for one in data:
        features = {name: value for name, value in one.features.items() if seen[name] >= LEAST_WORDS}
        for hard, weight in ((True, one.difficulty), (False, 1 - one.difficulty)):
            if weight > 0:
                items.append({"candidates": [{"features": features, "right": hard}, {"right": not hard}]})
                weights.append(weight)
    model = mg.train(items, structure="candidates", learner="crf", l2=l2, sample_weights=weights)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "weights.tsv")
        model.export_weights(path)
        return {name: value for name, value in read_weights(path).items() if abs(value) >= LEAST_WEIGHT}


def correlation(weights: dict[str, float], data: list[Judged]) -> float:
    """Pearson's r of what the model says and what people said."""
    found = [probability(weights, one.features) for one in data]
    return float(np.corrcoef(found, [one.difficulty for one in data])[0, 1])


def main() -> None:
    """Learn, choose, write."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("data", type=Path)
    options.add_argument("--test", action="store_true", help="say how good the model is on the test part")
    arguments = options.parse_args()
    train, trial = read(arguments.data, "train"), read(arguments.data, "trial")
    tried = []
    for l2 in STRENGTHS:
        weights = learned(train, l2)
        tried.append((correlation(weights, trial), l2, weights))
        print(f"l2={l2:g}: r = {tried[-1][0]:.4f} on trial, {len(weights):,} weights")
    _, _, best = max(tried, key=lambda one: one[0])
    write_packed(str(TARGET), "weights", [f"{name}\t{value:.4g}" for name, value in sorted(best.items())])
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
    if arguments.test:
        print(f"r = {correlation(best, read(arguments.data, 'test')):.4f} on test")


if __name__ == "__main__":
    main()
