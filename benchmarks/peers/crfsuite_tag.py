"""Peer: tag a file with a python-crfsuite model, sentence by sentence, file to file."""

from __future__ import annotations

import argparse

import pycrfsuite

from corpus import columns_and_labels, is_conllu, sentences, with_labels
from features import extractor


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model")
    options.add_argument("source")
    options.add_argument("target")
    options.add_argument("--features", required=True, help="as in training")
    tag(options.parse_args())


def tag(options: argparse.Namespace) -> None:
    extract, conllu = extractor(options.features), is_conllu(options.source)
    tagger = pycrfsuite.Tagger()
    tagger.open(options.model)
    with open(options.target, "w", encoding="utf-8") as target:
        for lines in sentences(options.source):
            columns, _ = columns_and_labels(lines, conllu)
            labels = tagger.tag(extract(columns))
            target.write("\n".join(with_labels(lines, labels, conllu)) + "\n\n")


if __name__ == "__main__":
    main()
