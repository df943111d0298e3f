"""spaCy trained on a treebank: tagger, morphologiser, edit-tree lemmatiser and parser on its own tok2vec."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

CONFIG = ("tagger", "morphologizer", "trainable_lemmatizer", "parser")


def run(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "spacy", *map(str, words)], check=True)


def train(options: argparse.Namespace) -> None:
    folder = options.model.with_suffix(".work")
    folder.mkdir()
    for path in (options.train, options.dev):
        run("convert", path, folder, "--converter", "conllu", "--merge-subtokens")
    config = folder / "config.cfg"
    run("init", "config", config, "--lang", "xx", "--pipeline", ",".join(CONFIG), "--optimize", "efficiency")
    paths = ("--paths.train", folder / "train.spacy", "--paths.dev", folder / "dev.spacy")
    most = ("--training.max_steps", options.steps) if options.steps else ()
    run("train", config, "--output", folder / "models", *paths, *most)
    (folder / "models" / "model-best").rename(options.model)
    shutil.rmtree(folder)


def parse(options: argparse.Namespace) -> None:
    import spacy

    if options.given != "tokens":
        raise SystemExit("spaCy is compared with given tokens only: its rules cut text, not the treebank")
    pipeline = spacy.load(options.model)
    pairs = ((given(rows, pipeline.vocab), rows) for rows in sentences(options.input))
    with open(options.output, "w", encoding="utf-8") as out:
        for doc, rows in pipeline.pipe(pairs, as_tuples=True):
            write(rows, doc, out)


def given(rows: list[list[str]], vocab):
    from spacy.tokens import Doc

    words = [row[1] for row in rows if row[0].isdigit()]
    return Doc(vocab, words=words, sent_starts=[True] + [False] * (len(words) - 1))


def sentences(path: Path):
    rows: list[list[str]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and line[0] != "#":
            rows.append(line.split("\t"))
        elif not line and rows:
            yield rows
            rows = []


def write(rows: list[list[str]], doc, out) -> None:
    tokens, rooted = iter(doc), False
    for row in rows:
        if row[0].isdigit():
            token = next(tokens)
            root = token.head.i == token.i and not rooted
            rooted = rooted or root
            head = 0 if root else token.head.i + 1 if token.head.i != token.i else 1
            relation = "root" if root else token.dep_.lower() or "dep"
            tags = (token.lemma_, token.pos_, token.tag_, str(token.morph))
            row[2:8] = [*(tag or "_" for tag in tags), str(head), relation]
        out.write("\t".join(row) + "\n")
    out.write("\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    training = verbs.add_parser("train")
    for name in ("train", "dev", "model"):
        training.add_argument(name, type=Path)
    training.add_argument("--steps", type=int, default=0, help="at most (default: while it gets better)")
    training.set_defaults(run=train)
    parsing = verbs.add_parser("parse")
    for name in ("model", "input", "output"):
        parsing.add_argument(name, type=Path)
    parsing.add_argument("--given", default="tokens")
    parsing.set_defaults(run=parse)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
