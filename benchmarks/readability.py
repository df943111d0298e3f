"""Readability: which of two sentences is easier, and how difficult is a text?

Models of pairs are trained and scored by folds: of articles for OneStopEnglish, of originals for ASSET. θ is
chosen on other folds than it is scored on. The models that ship judge ASSET, and the tenth of SNOW T15 that
they have not seen. CLEAR is for ridge regression with numbers of texts, and with their words too. Nothing of
ASSET or CLEAR is kept.

    python benchmarks/readability.py FOLDER onestop asset snow clear
"""

from __future__ import annotations

import argparse
import csv
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from marginalia.assist.readability import shipped_model
from marginalia.assist.readability.answers import evidence_of
from marginalia.assist.readability.evidence import Evidence
from marginalia.assist.readability.ratings import Trial, threshold_for, trial
from marginalia.assist.readability.regression import Features, fit_ridge
from marginalia.assist.readability.syllables import syllables
from marginalia.assist.readability.texts import text_features
from marginalia.assist.readability.training import JudgedPair, folds_of, held_out_margins, learning
from marginalia.assist.trees import Tree, trees_of
from marginalia.assist.words.familiarity import zipf
from marginalia.kinds import load

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
from simplified_texts import Pair, onestop_pairs, snow_pairs

SETTINGS = {"r": 100.0, "cutoff": 5}  # as tools/make_readability.py
PRECISION = 0.95
SNOW_PAIRS = 2_000
STRENGTHS = {"numbers": 1_000.0, "numbers and words": 8_000.0}  # of ridge regression
Scored = list[tuple[float, str]]


def onestop(folder: Path) -> None:
    """Accuracy, and precision and recall at a θ of other folds, by levels."""
    pairs = onestop_pairs(folder / "simplification" / "onestopenglish")
    margins = margins_of(pairs, "en")
    folds = folds_of((pair.group for pair in pairs), seed=1)
    names = sorted({pair.levels for pair in pairs})
    for name in [None, *names]:
        own = [place for place, pair in enumerate(pairs) if name in (None, pair.levels)]
        scored = [(math.tanh(margins[place]), "left") for place in own]
        found = at_thresholds_of_others(scored, [folds[pairs[place].group] for place in own])
        accuracy = trial(scored, 0.0).recall
        print(
            f"OneStopEnglish {'–'.join(name or ('all',))}: {len(own)} pairs, accuracy {accuracy:.4f}, "
            f"precision {found.precision:.4f} at recall {found.recall:.4f}"
        )


def margins_of(pairs: Sequence[Pair], language: str) -> list[float]:
    """How much the easier sentence of each pair is preferred by a model without its group."""
    seen = evidence_of([text for pair in pairs for text in (pair.easier, pair.harder)], language)
    judged = [JudgedPair(seen[pair.easier], seen[pair.harder], pair.group) for pair in pairs]
    return held_out_margins(judged, learning("arow", SETTINGS, 1), seed=1)


def at_thresholds_of_others(scored: Scored, folds: Sequence[int]) -> Trial:
    """Verdicts of each fold at the θ that has the precision on all others."""
    pairs = decided = correct = 0
    for fold in sorted(set(folds)):
        others = [one for one, own in zip(scored, folds, strict=True) if own != fold]
        found = trial(
            [one for one, own in zip(scored, folds, strict=True) if own == fold],
            threshold_for(others, PRECISION),
        )
        pairs, decided, correct = pairs + found.pairs, decided + found.decided, correct + found.correct
    return Trial(pairs, decided, correct)


def snow(folder: Path) -> None:
    """The Japanese model that ships on pairs that it has not seen, and how much length alone would say."""
    pairs = snow_pairs(folder / "simplification" / "snow_t15.tsv", held_out=True)[:SNOW_PAIRS]
    seen = evidence_of([text for pair in pairs for text in (pair.easier, pair.harder)], "ja")
    model = shipped_model("ja")
    scored = [(model.score(seen[pair.easier], seen[pair.harder]), "left") for pair in pairs]
    found = trial(scored, model.threshold)
    longer = [len(pair.harder) > len(pair.easier) for pair in pairs]
    right = [score > 0 for score, _ in scored]
    of_longer = [one for one, own in zip(right, longer, strict=True) if own]
    others = [one for one, own in zip(right, longer, strict=True) if not own]
    print(
        f"SNOW T15: {len(pairs)} pairs, accuracy {share(right):.4f}, precision {found.precision:.4f} at "
        f"recall {found.recall:.4f}; the original is longer in {share(longer):.3f}; accuracy there "
        f"{share(of_longer):.4f}, elsewhere {share(others):.4f}"
    )


def share(values: Sequence[bool]) -> float:
    """The share that is true."""
    return sum(values) / max(1, len(values))


def asset(folder: Path) -> None:
    """Balanced accuracy of which of two simplifications people found simpler."""
    path = folder / "simplification" / "asset" / "human_ratings"
    path /= "asset_pairwise_comparisons_with_turkcorpus_and_hsplit.csv"
    with path.open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["aspect"] == "simplicity"]
    rows = [row for row in rows if row["winner"] != "similar"]
    texts = [(row["asset_simplification"], row["other_simplification"]) for row in rows]
    gold = [row["winner"] == "asset" for row in rows]
    seen = evidence_of([text for pair in texts for text in pair], "en")
    model = shipped_model("en")
    ways: dict[str, Callable[[Evidence, Evidence], float]] = {
        "number of words": lambda a, b: words_of(b) - words_of(a),
        "the model that ships": model.score,
    }
    for name, score in ways.items():
        found = [score(seen[a], seen[b]) > 0 for a, b in texts]
        print(f"ASSET, {name}: balanced accuracy {balanced(found, gold):.4f}")
    sizes = {text: sizes_of(one) for text, one in seen.items()}
    found = asset_by_folds(
        [(sizes[a], sizes[b]) for a, b in texts], gold, [row["sentence_id"] for row in rows]
    )
    print(f"ASSET, sizes and rarities, learned by folds: balanced accuracy {balanced(found, gold):.4f}")


def words_of(sentence: Evidence) -> int:
    """Words without punctuation."""
    return sum(word.pos != "PUNCT" for word in sentence.words)


def sizes_of(sentence: Evidence) -> dict[str, float]:
    """How long sentences and words are, and how rare; numbers near 1."""
    words = [word for word in sentence.words if word.pos != "PUNCT"]
    rarity = [7 - zipf(word.lemma, "en") for word in words if word.has_meaning] or [0.0]
    sentences = 1 + sum(f"sentences>={n}" in sentence.features for n in (2, 3, 4))
    return {
        "words": len(words) / 5,
        "letters": sum(len(word.form) for word in words) / 25,
        "syllables": sum(syllables(word.form) for word in words) / 8,
        "long words": float(sum(len(word.form) > 7 for word in words)),
        "sentences": float(sentences),
        "words a sentence": len(words) / sentences / 5,
        "punctuation": float(len(sentence.words) - len(words)),
        "mean rarity": float(np.mean(rarity)),
        "most rarity": max(rarity),
        "rare words": float(sum(one > 3 for one in rarity)),
        "very rare words": float(sum(one > 3.5 for one in rarity)),
        "ease": shipped_model("en").ease(sentence) / 4,
    }


def asset_by_folds(
    pairs: Sequence[tuple[Features, Features]], gold: Sequence[bool], groups: Sequence[str]
) -> list[bool]:
    """Whether the first is found simpler, by models of nine tenths; both answers weigh the same."""
    folds = folds_of(groups, seed=1)
    learn = learning("maxent", {"l2": 1.0}, 1)
    items = [item_of(*pair, answer) for pair, answer in zip(pairs, gold, strict=True)]
    found = [False] * len(pairs)
    for fold in sorted(set(folds.values())):
        inside = [place for place, group in enumerate(groups) if folds[group] != fold]
        counts = Counter(gold[place] for place in inside)
        model = learn([(items[place], len(inside) / 2 / counts[gold[place]]) for place in inside])
        for place, group in enumerate(groups):
            if folds[group] == fold:
                found[place] = model.best(items[place]).number == 1
    return found


def item_of(first: Features, second: Features, first_is_right: bool) -> dict[str, Any]:
    """Two candidates, of which one is right."""
    marked = ((first, first_is_right), (second, not first_is_right))
    return {"candidates": [{"features": dict(one), "right": right} for one, right in marked]}


def balanced(found: Sequence[bool], gold: Sequence[bool]) -> float:
    """The mean of the accuracies of both answers."""
    both = [
        [one is right for one, right in zip(found, gold, strict=True) if right is kind]
        for kind in (True, False)
    ]
    return sum(map(share, both)) / 2


def clear(folder: Path) -> None:
    """Pearson's r and RMSE of easiness, five folds."""
    with (folder / "readability" / "clear.csv").open(encoding="utf-8-sig") as stream:
        rows = [
            row for row in csv.DictReader(stream) if row["Excerpt"].strip() and row["BT_easiness"].strip()
        ]
    targets = [float(row["BT_easiness"]) for row in rows]
    numbers, words = [], []
    for document in load("en").parse_all([row["Excerpt"] for row in rows]):
        trees = trees_of(document.sentences, "en")
        numbers.append(text_features(trees))
        words.append(word_shares(trees))
    report_clear(numbers, words, targets)


def report_clear(numbers: Sequence[Features], words: Sequence[Features], targets: Sequence[float]) -> None:
    """The table of CLEAR: with numbers of texts, and with their words too."""
    ways: dict[str, list[Features]] = {
        "numbers": list(numbers),
        "numbers and words": [{**a, **b} for a, b in zip(numbers, words, strict=True)],
    }
    for name, texts in ways.items():
        found = ridge_by_folds(texts, targets, STRENGTHS[name])
        y = np.array(targets)
        rmse = float(np.sqrt(np.mean((found - y) ** 2)))
        print(f"CLEAR, {name}: {len(y)} texts, r {np.corrcoef(found, y)[0, 1]:.4f}, RMSE {rmse:.4f}")


def word_shares(trees: Sequence[Tree]) -> dict[str, float]:
    """Square roots of how often words that are no names are there, by lemma."""
    others = ("PUNCT", "SYM", "X", "PROPN", "NUM")
    counts = Counter(node.lemma.lower() for tree in trees for node in tree.nodes if node.upos not in others)
    return {f"word {lemma}": math.sqrt(count) for lemma, count in counts.items()}


def ridge_by_folds(
    texts: Sequence[Features], targets: Sequence[float], strength: float, folds: int = 5
) -> np.ndarray:
    """What models of four fifths say of the last one."""
    order = list(range(len(texts)))
    random.Random(1).shuffle(order)
    found = np.zeros(len(texts))
    for fold in range(folds):
        inside = [place for number, place in enumerate(order) if number % folds != fold]
        model = fit_ridge([texts[i] for i in inside], [targets[i] for i in inside], strength, least=5)
        for number, place in enumerate(order):
            if number % folds == fold:
                found[place] = model.predict(texts[place])
    return found


PARTS = {"onestop": onestop, "asset": asset, "snow": snow, "clear": clear}


def main() -> None:
    """Measure the parts that were named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder of corpora")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    args = parser.parse_args()
    for name in args.parts or PARTS:
        PARTS[name](args.folder)


if __name__ == "__main__":
    main()
