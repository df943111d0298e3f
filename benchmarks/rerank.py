"""Re-ranking of a maximum-entropy tagger in kind of Collins (2002, re-ranking): tags of order 2, cut-off 5,
beam 20, words, shapes and affixes alone; candidates by cross-decoding in five folds; boosting, the voted
perceptron, and local features learned again (re-ranking 2 of Kazama and Torisawa 2007).

Entity boundaries alone (the paper's S, C and N are B, I and O of one type) and with classes. Rounds and the
scale of the base score are chosen on data held out of the training file; the test file is scored once.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import (
    CommandFailed,
    add_only,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from systems import OURS, use_ours

TEMPLATES = """\
word[-1..1]
collapsed-shape(word)[-1..1]
prefix(1..3)(word)[0]
suffix(1..3)(word)[0]
edge:
"""


def chosen(*settings: str) -> list[str]:
    return [word for one in settings for word in ("--set", one)]


MAXENT = ["--learner", "maxent", *chosen("cutoff=5", "search=beam", "beam=20")]
VOTED = ["--learner", "perceptron", *chosen("average=vote", "base-scale=auto")]
RERANKERS = {
    "boosting": ["--learner", "rank-boost", *chosen("cutoff=5")],
    "voted perceptron": [*VOTED, *chosen("passes=1", "cutoff=5")],
    "margin perceptron": ["--learner", "margin", *chosen("base-scale=auto", "cutoff=5")],
    "local features again": ["--learner", "nonlocal", "--global-features", "collins-reranking"],
}
BOUNDARIES = {  # the corpus is a third of Collins': a cut-off of 5 is too much (held-out documents)
    "boosting": ["--learner", "rank-boost", *chosen("cutoff=3", "smoothing=0.002", "rounds=40000")],
    "voted perceptron": [*VOTED, *chosen("passes=3", "base-scale=0.1,0.3,1"), "--loss", "spans"],
}
PUBLISHED = {"maxent": 85.3, "boosting": 87.6, "voted perceptron": 87.9}
CASES = ("boundaries", "classes", "bc5cdr", "atis")
MARK = "-DOCSTART-"
HELD_OUT = 10  # one in so many documents of the end of the training file


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    add_only(options, RERANKERS, "re-rankers")
    options = options.parse_args()
    if not use_ours(options):
        return
    tables = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "templates.txt").write_text(TEMPLATES)
        lowercase = word_list(options.data, folder)
        for case in options.cases:
            tables[case] = rows_of(case, options, folder, lowercase)
            print_table(f"re-ranking, {case}", tables[case])
    write_json(options.json_out, tables)


def rows_of(case: str, options, folder: Path, lowercase: Path) -> list[dict]:
    train, dev, test, reading = files_of(case, options.data, folder)
    base, model = folder / f"{case}.mg", folder / f"{case}.reranked.mg"
    order = 1 if case == "atis" else 2  # order 2 of its 127 labels takes long
    command = [*OURS, "train", train, "--dev", dev, "-o", base, "-q", *reading, *MAXENT]
    command += ["--set", f"order={order}"]
    cost = median_of([*command, "--features", folder / "templates.txt"])
    rows = [cost_row("maxent", cost, base, **scores(base, test), **published(case, "maxent"))]
    for name, words in (RERANKERS | (BOUNDARIES if case == "boundaries" else {})).items():
        if options.only and name not in options.only:
            continue
        command = [*OURS, "rerank", train, "--base", base, "--dev", dev, "-o", model, "-q", "--json", *words]
        try:
            cost = median_of([*command, "--lowercase", lowercase])
            rows.append(cost_row(name, cost, model, **scores(model, test), **published(case, name)))
        except (CommandFailed, OSError, ValueError) as failure:
            rows.append(failed_row(name, failure))
        print(f"{case}, {name}: {rows[-1].get('F1')}", file=sys.stderr, flush=True)
    for row in rows[1:]:
        row["gain"] = row.get("F1", float("nan")) - rows[0]["F1"]
    return rows


def published(case: str, name: str) -> dict:
    """Collins' own figures, of other data."""
    return {"published": PUBLISHED.get(name, "")} if case == "boundaries" else {}


def scores(model: Path, test: Path) -> dict:
    return {"F1": json.loads(median_of([*OURS, "eval", model, test, "--json"]).stdout)["f1"]}


def word_list(data: Path, folder: Path) -> Path:
    """The words that news texts have mostly in lower case."""
    raw, found = folder / "raw.txt", folder / "lowercase.txt"
    source = need(data / "reuters" / "reuters21578.jsonl.gz")
    with gzip.open(source, "rt", encoding="utf-8") as lines, raw.open("w", encoding="utf-8") as text:
        text.writelines((json.loads(line).get("body") or "") + "\n" for line in lines)
    median_of([*OURS, "casing", raw, "-o", found, "-q"])
    return found


def files_of(case: str, data: Path, folder: Path) -> tuple[Path, Path, Path, list[str]]:
    """Training, held-out and test file, and how they are read."""
    if case in ("bc5cdr", "atis"):
        train, dev, test = (need(data / case / f"{name}.txt") for name in ("train", "dev", "test"))
        return train, dev, test, ["--columns", "word label"]
    corpus = data / "conll2003"
    whole, test = folder / "whole", folder / f"{case}.test"
    for source, target in ((corpus / "eng.train", whole), (corpus / "eng.testa", test)):
        with need(source).open(encoding="utf-8") as lines, target.open("w", encoding="utf-8") as text:
            text.writelines(respelled(lines, classes=case == "classes"))
    documents = whole.read_text(encoding="utf-8").split(MARK)[1:]
    cut = len(documents) - len(documents) // HELD_OUT
    for name, part in (("train", documents[:cut]), ("dev", documents[cut:])):
        (folder / f"{case}.{name}").write_text("".join(MARK + text for text in part), encoding="utf-8")
    found = (folder / f"{case}.{name}" for name in ("train", "dev", "test"))
    return *found, ["--columns", "word pos chunk ne"]


def respelled(lines: Iterator[str], *, classes: bool) -> Iterator[str]:
    """Lines with labels in IOB1 as lines with labels in IOB2, of one type if classes do not count."""
    before = "O"
    for line in lines:
        fields = line.split()
        if not fields or fields[0] == MARK:
            before = "O"
            yield line
            continue
        label = fields[-1]
        goes_on = label.startswith("I-") and before != "O" and before[2:] == label[2:]
        type_ = label[2:] if classes else "NE"
        fields[-1] = "O" if label == "O" else ("I-" if goes_on else "B-") + type_
        before = label
        yield " ".join(fields) + "\n"


if __name__ == "__main__":
    main()
