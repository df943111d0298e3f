"""Optional peer: NLTK's averaged perceptron tagger (greedy, its own features) on CoNLL-U."""

from __future__ import annotations

import argparse
import json
import random

from nltk.tag.perceptron import PerceptronTagger

from corpus import columns_and_labels, sentences, with_labels


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("verb", choices=["train", "tag"])
    options.add_argument("source")
    options.add_argument("target", help="the model (train) or the output (tag)")
    options.add_argument("--model")
    options.add_argument("--iterations", type=int, default=5, help="NLTK's default is 5")
    chosen = options.parse_args()
    train(chosen) if chosen.verb == "train" else tag(chosen)


def train(options: argparse.Namespace) -> None:
    random.seed(1)  # NLTK shuffles with the global generator
    tagger = PerceptronTagger(load=False)
    pairs = [columns_and_labels(lines, conllu=True) for lines in sentences(options.source)]
    tagger.train(
        [list(zip(columns[0], labels, strict=True)) for columns, labels in pairs], nr_iter=options.iterations
    )
    parts = {"weights": tagger.model.weights, "tagdict": tagger.tagdict, "classes": sorted(tagger.classes)}
    with open(options.target, "w", encoding="utf-8") as file:
        json.dump(parts, file)


def tag(options: argparse.Namespace) -> None:
    tagger = PerceptronTagger(load=False)
    with open(options.model, encoding="utf-8") as file:
        parts = json.load(file)
    tagger.model.weights, tagger.tagdict = parts["weights"], parts["tagdict"]
    tagger.classes = tagger.model.classes = set(parts["classes"])
    with open(options.target, "w", encoding="utf-8") as target:
        for lines in sentences(options.source):
            columns, _ = columns_and_labels(lines, conllu=True)
            labels = [label for _, label in tagger.tag(list(columns[0]))]
            target.write("\n".join(with_labels(lines, labels, conllu=True)) + "\n\n")


if __name__ == "__main__":
    main()
