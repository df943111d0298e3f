"""Peer: train python-crfsuite on a file. Reading, features, training and saving, in one process."""

from __future__ import annotations

import argparse

import pycrfsuite

from corpus import columns_and_labels, is_conllu, sentences
from features import extractor


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("data")
    options.add_argument("model")
    options.add_argument("--features", required=True, help="`pos`, `words` or a CRF++ template file")
    options.add_argument("--algorithm", default="ap", choices=["ap", "lbfgs", "l2sgd", "pa", "arow"])
    options.add_argument("--iterations", type=int, help="default: CRFsuite's own")
    options.add_argument("--c2", type=float, help="penalty of lbfgs (default: CRFsuite's own)")
    train(options.parse_args())


def train(options: argparse.Namespace) -> None:
    extract, conllu = extractor(options.features), is_conllu(options.data)
    trainer = pycrfsuite.Trainer(options.algorithm, verbose=False)
    if options.iterations:
        trainer.set("max_iterations", options.iterations)
    if options.c2 is not None:
        trainer.set("c2", options.c2)
    for lines in sentences(options.data):
        columns, labels = columns_and_labels(lines, conllu)
        trainer.append(extract(columns), labels)
    trainer.train(options.model)


if __name__ == "__main__":
    main()
