"""CoNLL-2003 names: how far may a model trust a dictionary? And what does one of a million phrases cost?

All is trained on the first nine tenths of the training file and judged on the last. The names of the former
are the dictionary that training is given. In use there are two others: "half", every second name of both
parts, as a list that was made elsewhere might have them, and one that matches nothing.
"""

from __future__ import annotations

import json
import random
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from calibration import split
from harness import cost_row, median_of, need, parser, print_table, write_json
from systems import OURS, use_ours

TASK = ["--features", "ner", "--columns", "word pos chunk ne", "--set", "passes=8", "--seed", "1", "-q"]
PHRASES = 1_000_000
SHARES = ("0", "0.3", "0.5", "0.7")


def names_of(path: Path) -> Iterator[tuple[str, str]]:
    """The names of a file with labels in IOB1, and their types."""
    tokens, kind, before = [], "", "O"
    for line in [*path.read_text().splitlines(), ""]:
        word, *_, label = line.split() or ["", "O"]
        if tokens and (label[:2] in ("O", "B-") or label[2:] != kind):
            yield " ".join(tokens), kind
            tokens = []
        if label != "O":
            tokens, kind = [*tokens, word], label[2:]
        before = label
    assert before == "O"


def write(path: Path, entries: Iterable[tuple[str, str]]) -> Path:
    with path.open("w") as file:
        file.writelines(f"{phrase}\t{label}\n" for phrase, label in entries)
    return path


def is_kept(name: tuple[str, str]) -> bool:
    return zlib.crc32(name[0].lower().encode()) % 2 == 0


def made_up(count: int) -> Iterator[tuple[str, str]]:
    """Phrases of one to four made-up words."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(200_000)]
    for _ in range(count):
        yield " ".join(chance.choices(words, k=chance.randint(1, 4))), chance.choice(("PER", "LOC", "ORG"))


def f1(model: Path, test: Path, *options: str) -> float:
    return round(json.loads(median_of([*OURS, "eval", model, test, "--json", *options]).stdout)["f1"], 2)


def trust(folder: Path, train: Path, dev: Path) -> list[dict]:
    own = write(folder / "own.tsv", names_of(train))
    half = write(folder / "half.tsv", filter(is_kept, [*names_of(train), *names_of(dev)]))
    nothing = write(folder / "nothing.tsv", [("no such phrase", "LOC")])
    plain = folder / "plain.mg"
    median_of([*OURS, "train", train, "-o", plain, *TASK])
    hard = f1(plain, dev, "--dictionary", str(half))
    rows = [{"trained": "without", "as it is": f1(plain, dev), "half, hard": hard}]
    for share in SHARES:
        model = folder / "soft.mg"
        with_own = ["--dictionary", str(own), "--set", f"dictionary-dropout={share}"]
        median_of([*OURS, "train", train, "-o", model, *TASK, *with_own])
        found = {"as it is": f1(model, dev)}
        for name, path in (("half, soft", half), ("nothing, soft", nothing)):
            found[name] = f1(model, dev, "--dictionary", f"soft={path}")
        rows.append({"trained": f"dictionary-dropout={share}", **found})
    return rows


READ = """
import sys, time, marginalia as mg
path, mode, model = sys.argv[1:]
start = time.process_time()
names = mg.Dictionary.read(path)
read = time.process_time()
tagger = mg.load(model).with_dictionary(names, mode=mode)
made = time.process_time()
tagger.with_dictionary(names, mode=mode)
print(read - start, made - read, time.process_time() - made)
"""


def costs(folder: Path, dev: Path, repetitions: int) -> list[dict]:
    """Reading a million phrases, and tagging with them and the last of the models above."""
    big, out = write(folder / "big.tsv", made_up(PHRASES)), folder / "out"
    text = folder / "long.txt"
    text.write_text(dev.read_text() * 10)
    tag = [*OURS, "tag", folder / "soft.mg", text, "-o", out]
    rows = [cost_row("tag", median_of(tag, repetitions))]
    for mode in ("hard", "soft"):
        run = median_of([*OURS[:1], "-c", READ, big, mode, folder / "soft.mg"], repetitions)
        read, made, again = map(float, run.stdout.split())
        named = {"read s": read, "first use s": made, "next use s": again}
        rows.append(cost_row(f"read a million phrases, {mode}", run, **named))
        run = median_of([*tag, "--dictionary", f"{mode}={big}"], repetitions)
        rows.append(cost_row(f"tag with them, {mode}", run))
    return rows


def main() -> None:
    options = parser(__doc__ or "").parse_args()
    if not use_ours(options):
        return
    corpus, tables = need(options.data / "conll2003" / "eng.train"), {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, dev = split(corpus, folder)
        tables["F1 with dictionaries in use"] = trust(folder, train, dev)
        tables["a million phrases"] = costs(folder, dev, options.repeat)
    for title, rows in tables.items():
        print_table(title, rows)
    write_json(options.json_out, tables)


if __name__ == "__main__":
    main()
