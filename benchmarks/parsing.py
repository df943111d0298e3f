"""Dependency trees with gold tags: accuracy and speed by setting, on one treebank.

`--only trees` are the best settings, `--only small` those for speed, `--only paper` the parser rows of Zhang,
Su and Zhou (2014), `--only Czech` trees whose arcs cross. `--lengths` adds how speed depends on the length of
sentences. `--pipeline en` (or a file) trains nothing: it is the speed of tagging and parsing by a finished
pipeline, tokens given, start and loading apart. Settings were chosen on dev data. Times are CPU seconds of
one thread.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import marginalia as mg
from harness import need, parser, print_table, write_json
from marginalia.corpus.batches import Batch, Layout, read_batches
from marginalia.corpus.blocks import Block, pack
from marginalia.kinds import kind_of

COLUMNS = ("word", "upos", "xpos", "head", "deprel")
BEST = {"tree_beam": 8, "cutoff": 2, "passes": 9, "dropout": "values:0.05"}
GREEDY = {"tree_beam": 1, "cutoff": 2, "passes": 8}
SMALL = BEST | {"features": "trees-small", "passes": 10}
PAPER = {"tree_beam": 8, "features": "huang-sagae", "passes": 9, "merge": True, "update": "early"}
_L2, _SHUFFLE, _DROPOUT = {"l2": 1e-6}, {"shuffle_average": 4}, {"dropout": "values:0.05"}
LONG = {"tree_beam": 8, "cutoff": 2, "passes": 9}
SETTINGS: dict[str, dict[str, Any]] = {
    "trees, beam 8": BEST,
    "trees, greedy": GREEDY,
    "small, beam 8": SMALL,
    "small, greedy": SMALL | {"tree_beam": 1},
    "paper: averaged": PAPER,
    "paper: + l2": PAPER | _L2,
    "paper: + shuffle": PAPER | _SHUFFLE,
    "paper: + dropout": PAPER | _DROPOUT,
    "paper: shuffle + dropout": PAPER | _SHUFFLE | _DROPOUT,
    "paper: combined": PAPER | _L2 | _SHUFFLE | _DROPOUT,
    "Czech: projective": LONG,
    "Czech: swap": LONG | {"system": "swap"},
}
BEAMS = {"trees, beam 8": (1, 4, 8, 16), "trees, greedy": (1,)}
LENGTHS = (10, 100, 1000)


def main() -> None:
    """Train and score each setting."""
    options = parser(__doc__ or "")
    options.add_argument("--treebank", default="ud-english-ewt")
    options.add_argument("--only", default="trees", help="the settings whose names begin so")
    options.add_argument("--passes", type=int, help="instead of each setting's own number")
    options.add_argument(
        "--parts", nargs="+", choices=("dev", "test"), default=["dev"], help="what is scored"
    )
    options.add_argument("--lengths", action="store_true", help="words/s by length of sentences, too")
    options.add_argument("--pipeline", help="only the speed of this pipeline")
    args = options.parse_args()
    folder = need(args.data / args.treebank)
    if args.pipeline:
        rows = [pipeline_row(args.pipeline, folder / "dev.conllu")]
        print_table(args.treebank, rows)
        write_json(args.json_out, {args.treebank: rows})
        return
    rows = []
    for name, settings in SETTINGS.items():
        if not name.startswith(args.only):
            continue
        own = settings | ({"passes": args.passes} if args.passes else {})
        rows += rows_of(name, own, folder, args.parts, LENGTHS if args.lengths else ())
    print_table(args.treebank, rows)
    write_json(args.json_out, {args.treebank: rows})


def pipeline_row(name: str, file: Path) -> dict[str, Any]:
    """CPU seconds up to here and of loading; words in a CPU second of tags, lemmas and trees, and of trees
    with the tags of the file, each the better of two runs."""
    started = time.process_time()
    pipeline = mg.load(name)
    row: dict[str, Any] = {"pipeline": name, "start CPU s": round(started, 2)}
    row["loading CPU s"] = round(time.process_time() - started, 2)
    for what, given in (("tags and trees", ("tokens",)), ("trees", ("tokens", "tags", "lemmas"))):
        best = 0.0
        for _ in range(2):
            sentences = mg.read_conllu(file).sentences
            words = sum(len(sentence.words) for sentence in sentences)
            began = time.process_time()
            for _ in pipeline.annotate(sentences, given):
                pass
            best = max(best, words / (time.process_time() - began))
        row[f"{what}, words/s"] = round(best)
    return row


def rows_of(
    name: str, settings: dict[str, Any], folder: Path, parts: list[str], lengths: Sequence[int]
) -> list[dict[str, Any]]:
    """A setting trained, then used with one beam or several."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    trained = mg.train(
        folder / "train.conllu", folder / "dev.conllu", structure="trees", columns=COLUMNS, **settings
    )
    training = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    found = []
    for beam in BEAMS.get(name, (settings["tree_beam"],)):
        saved = replace(trained.saved, settings=trained.saved.settings | {"tree-beam": beam})
        model = mg.Parser(saved)
        row: dict[str, Any] = {"setting": name, "beam": beam, "training CPU s": round(training)}
        row["MB"] = round(len(trained.to_bytes()) / 1e6, 1)
        for part in parts:
            row |= scores(model, folder / f"{part}.conllu", part)
        for length in lengths:
            row[f"words/s, {length} each"] = round(speed(model, of_length(folder / "dev.conllu", length)))
        found.append(row)
    return found


def scores(model: mg.Parser, file: Path, part: str) -> dict[str, Any]:
    """Attachment scores, those of heads also without punctuation, and words a second."""
    layout = Layout("conllu", COLUMNS, "deprel")
    batches = [Batch(batch.block) for batch in read_batches(str(file), layout, need=("deprel",))]
    report: Any = kind_of("trees").evaluate(model, batches, "deprel")
    heads = [head for batch in batches for head in model.arcs(batch.block)[0].tolist()]
    words = speed(model, [batch.block for batch in batches])
    return {
        f"{part} LAS": round(report.las, 2),
        f"{part} UAS": round(report.uas, 2),
        **{f"{part} {name}": value for name, value in without_punctuation(heads, file).items()},
        f"{part} words/s": round(words),
    }


def speed(model: mg.Parser, blocks: Sequence[Block]) -> float:
    """Words in a CPU second, the better of two runs."""
    best = 0.0
    for _ in range(2):
        started = time.process_time()
        words = sum(len(model.arcs(block)[0]) for block in blocks)
        best = max(best, words / (time.process_time() - started))
    return best


def of_length(file: Path, length: int) -> list[Block]:
    """The words of a file as sentences of this length; those that are left over are left out."""
    words = mg.read_conllu(file).words
    sentences = [
        mg.Sentence(
            {
                "word": [word.form for word in words[at : at + length]],
                "upos": [word.upos for word in words[at : at + length]],
                "xpos": [word.xpos for word in words[at : at + length]],
            }
        )
        for at in range(0, len(words) - length + 1, length)
    ]
    return [pack(sentences, ("word", "upos", "xpos"))]


def without_punctuation(heads: list[int], file: Path) -> dict[str, float]:
    """Of words that are no punctuation the share with the right head, and of sentences with only such; every
    sentence must have got a tree."""
    at = words = right = complete = 0
    document = mg.read_conllu(file)
    for sentence in document.sentences:
        own = heads[at : at + len(sentence.words)]
        at += len(own)
        check_tree(own)
        judged = [
            head == word.head for head, word in zip(own, sentence.words, strict=True) if word.upos != "PUNCT"
        ]
        words, right, complete = words + len(judged), right + sum(judged), complete + all(judged)
    found = {"UAS, no punct.": right / words, "complete": complete / len(document.sentences)}
    return {name: round(100 * value, 2) for name, value in found.items()}


def check_tree(heads: list[int]) -> None:
    """An error unless there is one root, to which all words lead."""
    reached = {0}
    for word in range(1, len(heads) + 1):
        path = []
        while word not in reached:
            path.append(word)
            if len(path) > len(heads):
                raise SystemExit(f"no tree: {heads}")
            word = heads[word - 1]
        reached.update(path)
    if heads.count(0) != 1:
        raise SystemExit(f"not one root: {heads}")


if __name__ == "__main__":
    main()
