"""Segments (semi-Markov models): published figures, chain and segments side by side, cost and memory.

Settings were chosen on the last tenth of each training file (ATIS: its development file), with the rest to
train on; test files are scored once.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import add_ratio, cost_row, failed_row, measure, need, parser, print_table, write_json
from systems import use_ours
from table import Job, Model, run, train_command

WORD_POS_CHUNK = ["--columns", "word pos chunk"]
SHUFFLED = {"passes": 8, "shuffle-average": 5}
AROW_SHUFFLED = SHUFFLED | {"passes": 14}
HIDING = {"dropout": "values:0.15"}

CHUNKING = (
    Model("chain, chunking set", features="chunking"),
    Model("perceptron", settings={"passes": 7}, published=94.10),
    Model("semi-CRF, SGD, cumulative l1", "crf", {"algorithm": "sgd", "l1": 0.5, "l2": 0}, published=93.79),
    Model("boosted", settings={"passes": 7, "boost": 10}, published=94.15, threads=2),
    Model("shuffled 5", settings=SHUFFLED, threads=2),
    Model("segments-rich", settings={"passes": 7}, features="segments-rich"),
    Model("segments-rich, shuffled 5", settings=SHUFFLED, features="segments-rich", threads=2),
    Model("segments-rich, AROW", "arow", {"passes": 9}, features="segments-rich"),
    Model("segments-rich, AROW, values hidden", "arow", HIDING | {"passes": 16}, features="segments-rich"),
    Model(
        "segments-rich, AROW, values hidden, shuffled 5",
        "arow",
        AROW_SHUFFLED | HIDING,
        features="segments-rich",
        threads=2,
    ),
)
BASE_NP = (
    Model("chain, collins-np set", features="collins-np"),
    Model("perceptron", settings={"passes": 7}, published=94.32),
    Model("semi-CRF, SGD, cumulative l1", "crf", {"algorithm": "sgd", "l1": 0.5, "l2": 0}, published=94.32),
    Model("boosted", settings={"passes": 7, "boost": 10}, published=94.60, threads=2),
    Model("shuffled 5", settings=SHUFFLED, threads=2),
    Model("segments-rich, values hidden", settings=HIDING | {"passes": 10}, features="segments-rich"),
    Model(
        "segments-rich, values hidden, shuffled 5",
        settings=SHUFFLED | HIDING | {"passes": 10},
        features="segments-rich",
        threads=2,
    ),
)
ATIS = (
    Model("chain, ner-rich", features="ner-rich"),
    Model("chain, ner-rich, shuffled 5", settings=SHUFFLED, features="ner-rich", threads=2),
    Model("segments-rich"),
    Model("segments-rich, shuffled 5", settings=SHUFFLED, threads=2),
)
LONG = {"max-length": 20}  # characters
STOCKMARK = (
    Model("chain, characters", features="characters"),
    Model("chain, characters, shuffled 5", settings=SHUFFLED, features="characters", threads=2),
    Model("segments-rich", settings=LONG),
    Model("segments-rich, shuffled 5", settings=LONG | SHUFFLED, threads=2),
)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose names contain one")
    options = options.parse_args()
    if not use_ours(options):
        return
    tables = {}
    for case in options.cases:
        title, make = CASES[case]
        with tempfile.TemporaryDirectory() as folder:
            tables[case] = make(options, Path(folder))
        print_table(title, tables[case])
    write_json(options.json_out, tables)


def rows_of(options, job: Job, models: tuple[Model, ...]) -> list[dict]:
    for model in models:
        model.structure = "chain" if model.name.startswith("chain") else "segments"
    chosen = [m for m in models if not options.only or any(text in m.name for text in options.only)]
    return [run(job, model, options.repeat) for model in chosen]


def chunking(options, folder: Path) -> list[dict]:
    corpus = options.data / "conll2000"
    job = Job(need(corpus / "train.txt"), corpus / "test.txt", "segments", WORD_POS_CHUNK)
    return rows_of(options, job, CHUNKING)


def base_np(options, folder: Path) -> list[dict]:
    corpus = options.data / "basenp"
    job = Job(need(corpus / "train.txt"), corpus / "test.txt", "segments", WORD_POS_CHUNK)
    return rows_of(options, job, BASE_NP)


def atis(options, folder: Path) -> list[dict]:
    corpus = options.data / "atis"
    job = Job(need(corpus / "train.txt"), corpus / "test.txt", "segments-rich", ["--columns", "word slot"])
    return rows_of(options, job, ATIS)


def stockmark(options, folder: Path) -> list[dict]:
    """Characters as tokens; every tenth sentence is for testing."""
    with open(need(options.data / "stockmark" / "ner.json"), encoding="utf-8") as file:
        sentences = json.load(file)
    train, test = folder / "train.txt", folder / "test.txt"
    write_characters([s for n, s in enumerate(sentences) if n % 10], train)
    write_characters(sentences[::10], test)
    job = Job(train, test, "segments-rich", ["--columns", "word label", "--separator", "\t"])
    return rows_of(options, job, STOCKMARK)


def write_characters(sentences: list[dict], path: Path) -> None:
    with open(path, "w", encoding="utf-8") as out:
        for sentence in sentences:
            labels = ["O"] * len(sentence["text"])
            for entity in sentence["entities"]:
                begin, end = entity["span"]
                labels[begin:end] = [f"B-{entity['type']}", *[f"I-{entity['type']}"] * (end - begin - 1)]
            for character, label in zip(sentence["text"], labels, strict=True):
                if not character.isspace():
                    out.write(f"{character}\t{label}\n")
            out.write("\n")


def cost(options, folder: Path) -> list[dict]:
    """Whole commands on CoNLL-2000, one thread: ten passes, a round of boosting, longer segments."""
    job = Job(need(options.data / "conll2000" / "train.txt"), Path(), "segments", WORD_POS_CHUNK)
    settings = {
        "ten passes": {},
        "ten passes, one round of boosting": {"boost": 1},
        **{f"two passes, max-length {n}": {"passes": 2, "max-length": n} for n in (5, 10, 20, 40)},
    }
    rows = [trained(job, Model(name, settings=s), folder / "model.mg") for name, s in settings.items()]
    add_ratio(rows, "ten passes", "CPU s", "CPU / ten passes")
    return rows


def labels(options, folder: Path) -> list[dict]:
    """Many types: the slots of ATIS, and 200 that are given to the chunks of CoNLL-2000 at random."""
    many = folder / "many.txt"
    with open(many, "w", encoding="utf-8") as out:
        out.writelines(with_random_types(need(options.data / "conll2000" / "train.txt"), 200))
    atis = Job(need(options.data / "atis" / "train.txt"), Path(), "segments", ["--columns", "word slot"])
    chunks = Job(many, Path(), "segments", WORD_POS_CHUNK)
    return [
        trained(job, Model(name, settings={"passes": 3}), folder / "model.mg")
        for name, job in (("ATIS, 83 slot types", atis), ("CoNLL-2000, 200 random types", chunks))
    ]


def with_random_types(path: Path, types: int) -> Iterator[str]:
    generator, kind = random.Random(1), ""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                *columns, label = line.split()
                if label.startswith("B-"):
                    kind = f"T{generator.randrange(types)}"
                line = " ".join([*columns, "O" if label == "O" else f"{label[0]}-{kind}"]) + "\n"
            yield line


def trained(job: Job, model: Model, path: Path) -> dict:
    model.structure = "segments"
    result = measure(train_command(job, model, path))
    if result.code:
        return failed_row(model.name, RuntimeError(result.last_words))
    return cost_row(model.name, result, path)


CASES: dict[str, tuple[str, Callable]] = {
    "chunking": ("CoNLL-2000, table 1 of Iwakura (2013) unless said otherwise", chunking),
    "basenp": ("Base noun phrases (RM95), the same features", base_np),
    "atis": ("ATIS slots", atis),
    "stockmark": ("Japanese named entities (Stockmark), characters as tokens", stockmark),
    "cost": ("Training on CoNLL-2000, table 1", cost),
    "labels": ("Many types, three passes", labels),
}


if __name__ == "__main__":
    main()
