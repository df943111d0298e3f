"""Kazama and Torisawa (2007) on CoNLL-2003, development file: tables 2, 3 and 6 of the paper (local learners,
the candidate algorithm, the proposed one by the number of hypotheses in use, re-ranking 1 and 2), what
training costs, other values of C, and table 5 in kind: parts of speech and chunks from our own models in
place of the given ones. Besides: what the search costs in long documents.

All lists of the gazetteers are features of their own; sentences of a document are joined. Settings were
chosen on a part of the training file that was held out (docs/benchmarks.md).
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness import (
    CHECKOUT,
    CommandFailed,
    add_only,
    add_ratio,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from systems import OURS, use_ours

READING = ["--columns", "word pos chunk ne", "--features", "ner"]
DOCUMENTS = {"cutoff": 2, "unit": "document", "encode": "IOB2"}
MARGIN = {"C": 500, "passes": 30, "bpm-init": 10}
PROPOSED = MARGIN | {"C": 100, "local-C": 500, "n": 20}
MARGIN_NAME = "margin perceptron"
RICH_NAME = "proposed, words and shapes of names, too"
HYPOTHESES = (1, 20, 100, 800, 6400)
GRID = (50, 100, 500, 1414, 2828, 5657, 11313, 32000)
BOUNDARY = "-DOCSTART-"
COARSE = "coarse[-2..2]\ncoarse[-1]/coarse[0]\ncoarse[0]/coarse[1]\n"
LONG = (500, 2_000, 10_000)
TITLES = {
    "conll": "CoNLL-2003, development file",
    "grid": "CoNLL-2003, held-out documents of the training file, by C",
    "tags": "CoNLL-2003, development file, parts of speech and chunks by our own models",
    "long": "long documents",
}


@dataclass(frozen=True)
class Row:
    """A model of the paper; published figures by the number of hypotheses, 0 for local models."""

    name: str
    learner: str
    settings: Mapping[str, object]
    published: Mapping[int, float] = field(default_factory=dict)
    retagged: Mapping[int, float] = field(default_factory=dict)  # published with tags of another tagger
    hypotheses: tuple[int, ...] = (0,)
    global_features: str = "nonlocal"
    base: str = ""  # re-ranking: the row whose hypotheses are chosen among


ROWS = (
    Row("averaged perceptron", "perceptron", {"passes": 15}, {0: 89.32}, {0: 89.76}),
    Row(MARGIN_NAME, "margin", MARGIN, {0: 90.98}, {0: 91.06}),
    Row("margin perceptron, no BPM start", "margin", MARGIN | {"bpm-init": 0}, {0: 90.98}, {0: 91.17}),
    Row("CRF", "crf", {"l2": 0.3, "tolerance": 0.001}, {0: 91.10}, {0: 91.39}),
    Row(
        "candidate algorithm",
        "nonlocal",
        PROPOSED | {"local-updates": "off", "C": 32000},  # all updates are (A): it needs no room for (B)
        {100: 90.71},
        hypotheses=(1, 20, 100),
    ),
    Row(
        "proposed",
        "nonlocal",
        PROPOSED,
        {20: 91.76, 100: 91.95, 800: 92.09, 6400: 92.19},
        {100: 92.23, 6400: 92.54},
        HYPOTHESES,
    ),
    Row("proposed, n = 100", "nonlocal", PROPOSED | {"n": 100}, hypotheses=HYPOTHESES),
    Row(
        "proposed, no BPM start", "nonlocal", PROPOSED | {"bpm-init": 0}, {100: 91.89}, hypotheses=HYPOTHESES
    ),
    Row(
        RICH_NAME,
        "nonlocal",
        PROPOSED,
        {20: 91.76, 100: 91.95, 800: 92.09, 6400: 92.19},
        {100: 92.23, 6400: 92.54},
        hypotheses=HYPOTHESES,
        global_features="nonlocal-rich",
    ),
    Row(
        "re-ranking 1",
        "margin",
        {"C": 500, "passes": 10, "base-scale": 0.01},
        retagged={80: 91.71, 100: 91.62},
        hypotheses=(20, 100, 800),
        base=MARGIN_NAME,
    ),
    Row(
        "re-ranking 2",
        "nonlocal",
        PROPOSED | {"C": 500},
        retagged={100: 92.08, 800: 92.26},
        hypotheses=(20, 100, 800),
        base=MARGIN_NAME,
    ),
)
TABLE_5 = ("averaged perceptron", MARGIN_NAME, "CRF", "proposed", RICH_NAME, "re-ranking 1", "re-ranking 2")


def main() -> None:
    options = parser(__doc__)
    add_only(options, (row.name for row in ROWS), "rows")
    options.add_argument(
        "--cases",
        nargs="+",
        choices=TITLES,
        default=["conll", "long"],
        help="conll: tables 2, 3 and 6; tags: table 5; grid: other values of C; long: long documents",
    )
    options.add_argument(
        "--grid", nargs="+", type=float, default=GRID, metavar="C", help="case grid: values of C"
    )
    options.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings, for margin and nonlocal"
    )
    options.add_argument(
        "--share",
        action="store_true",
        help="re-ranking 2 after re-ranking 1 takes its hypotheses over: its cost is then without them",
    )
    options = options.parse_args()
    if not use_ours(options):
        return
    cases = {"conll": conll, "grid": grid, "tags": tags, "long": long}
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            tables[case] = cases[case](options, Path(folder))
            print_table(TITLES[case], tables[case])
    write_json(options.json_out, tables)


def conll(options, folder: Path) -> list[dict]:
    """Tables 2, 3 and 6."""
    corpus = options.data / "conll2003"
    rows = []
    for row in chosen(options, ROWS):
        rows += scored(options, folder, row, corpus / "eng.train", corpus / "eng.testa", row.published)
    add_ratio(rows, MARGIN_NAME, "CPU s", "CPU / margin")
    return rows


def grid(options, folder: Path) -> list[dict]:
    """The same for other values of C, which is the margin of local features, too, as in the paper. Models
    learn from half of the training documents, and a quarter of them is scored: the development file is not
    for choosing."""
    train, held_out = parts(need(options.data / "conll2003" / "eng.train"), folder)
    rows = []
    for row in chosen(options, (one for one in ROWS if one.name in (MARGIN_NAME, "proposed"))):
        for c in options.grid:
            other = replace(
                row,
                name=f"{row.name}, C = {c:g}",
                settings={**row.settings, "C": c} | ({} if row.learner == "margin" else {"local-C": c}),
                hypotheses=row.hypotheses[:1] if row.learner == "margin" else (100,),
            )
            rows += scored(options, folder, other, train, held_out, {})
    return rows


def parts(file: Path, folder: Path) -> tuple[Path, Path]:
    """The first and third of every four documents, and the fourth."""
    found = folder / "half", folder / "quarter"
    with open(file, encoding="utf-8") as lines, open(found[0], "w") as half, open(found[1], "w") as quarter:
        number = -1
        for line in lines:
            number += line.startswith(BOUNDARY)
            if number % 2 == 0:
                half.write(line)
            elif number % 4 == 3:
                quarter.write(line)
    return found


def tags(options, folder: Path) -> list[dict]:
    """Table 5 in kind."""
    corpus = options.data / "conll2003"
    files = retagged(options.data, [corpus / "eng.train", corpus / "eng.testa"], folder)
    rows = []
    for row in chosen(options, (one for one in ROWS if one.name in TABLE_5)):
        rows += scored(options, folder, row, *files, row.retagged)
    return rows


def chosen(options, rows) -> list[Row]:
    return [row for row in rows if not options.only or row.name in options.only]


def scored(
    options, folder: Path, row: Row, train: Path, test: Path, published: Mapping[int, float]
) -> list[dict]:
    """A line for a local model; for one with global features a line for each number of hypotheses."""
    model = folder / "model.mg"
    try:
        cost = median_of(command(options, folder, row, train, model), options.repeat)
        passes = json.loads(cost.stdout.strip().splitlines()[-1])["passes"]
        found = []
        for n in row.hypotheses:
            name = row.name if n == 0 else f"{row.name}, n' = {n:,}"
            line = {"system": name, "F1": f1(model, test, n)}
            line |= {"published": published[n]} if n in published else {}
            if not found:
                line |= {"passes": passes, **cost_row(name, cost, model)}
                line |= with_base(folder, row, train, cost.cpu)
            found.append(line)
            print(f"{name}: {line['F1']:.2f}", file=sys.stderr, flush=True)
    except (CommandFailed, OSError, ValueError) as failure:
        return [failed_row(row.name, failure)]
    return found


def command(options, folder: Path, row: Row, train: Path, model: Path) -> list:
    """What trains a row. That of re-ranking trains its base model first, which does not count as its cost."""
    own = dict(pair.split("=", 1) for pair in options.set) if row.learner in ("margin", "nonlocal") else {}
    settings = {**({} if row.base else DOCUMENTS), **row.settings, **own}
    words = [word for pair in settings.items() for word in ("--set", "=".join(map(str, pair)))]
    words += ["--learner", row.learner, "-o", model, "-q", "--json", "--threads", 1]
    need(train)
    if row.base or row.learner == "nonlocal":
        words += ["--global-features", row.global_features]
    if not row.base:
        return [*OURS, "train", train, *READING, *lists(options.data / "gazetteers"), *words]
    base = base_of(folder, train)
    if not base.exists():
        [first] = [other for other in ROWS if other.name == row.base]
        cost = median_of(command(options, folder, first, train, base))
        base.with_suffix(".cpu").write_text(str(cost.cpu))
    if not options.share:  # those of other rows: costs are of all of it
        shutil.rmtree(f"{model}.hypotheses", ignore_errors=True)
    return [*OURS, "rerank", train, "--base", base, *words]


def base_of(folder: Path, train: Path) -> Path:
    return folder / f"{train.name}.base.mg"


def with_base(folder: Path, row: Row, train: Path, cpu: float) -> dict:
    """Of re-ranking: how often the time of its base all of it takes, the base itself included."""
    if not row.base:
        return {}
    first = float(base_of(folder, train).with_suffix(".cpu").read_text())
    return {"base, CPU s": first, "CPU / base": (first + cpu) / first}


def lists(gazetteers: Path) -> list:
    need(gazetteers)
    return [
        word
        for path in sorted(gazetteers.glob("*.txt"))
        for word in ("--list", f"{path.stem.replace('_', '-')}={path}")
    ]


def f1(model: Path, test: Path, hypotheses: int) -> float:
    more = ["--hypotheses", hypotheses] if hypotheses else []
    return json.loads(median_of([*OURS, "eval", model, test, "--json", *more]).stdout)["f1"]


def retagged(data: Path, files: list[Path], folder: Path) -> list[Path]:
    """The files with other parts of speech and chunks. A tagger learns coarse parts of speech of the Brown
    corpus; its answers are features of a tagger that learns those of the chunking corpus, where the chunker
    learns, too."""
    coarse, pos, chunks = folder / "coarse.mg", folder / "pos.mg", folder / "chunks.mg"
    train = ("train", "-q", "--threads", 1)
    source = need(data / "conll2000" / "train.txt")
    write_coarse(need(data / "brown" / "brown.txt"), folder / "brown")
    run(
        *train,
        folder / "brown",
        "--columns",
        "word tag",
        "--features",
        "pos",
        "--set",
        "passes=4",
        "-o",
        coarse,
    )
    tag(coarse, source, (0,), folder / "tagged", folder)
    write_columns(folder / "with-coarse", source, [(folder / "tagged", (0, -1)), (source, (1,))])
    templates = folder / "pos.txt"
    templates.write_text((CHECKOUT / "src/marginalia/features/sets/pos.txt").read_text() + COARSE)
    run(*train, folder / "with-coarse", "--columns", "word coarse pos", "--features", templates, "-o", pos)
    run(*train, source, "--columns", "word pos chunk", "--features", "chunking", "-o", chunks)
    return [retag(file, (coarse, pos, chunks), folder) for file in files]


def retag(file: Path, models: tuple[Path, Path, Path], folder: Path) -> Path:
    steps = [folder / name for name in ("with-coarse", "with-pos", "with-chunks")]
    tag(models[0], file, (0,), steps[0], folder)
    tag(models[1], steps[0], (0, -1), steps[1], folder)
    write_columns(folder / "words-pos", file, [(steps[1], (0, -1))], boundaries=False)
    tag(models[2], folder / "words-pos", (0, 1), steps[2], folder)
    made = folder / f"retagged-{file.name}"
    write_columns(made, file, [(steps[2], (0, 1, -1)), (file, (-1,))])
    return made


def tag(model: Path, file: Path, columns: tuple[int, ...], output: Path, folder: Path) -> None:
    """Tags the sentences of a file, of which the model gets some columns."""
    write_columns(folder / "untagged", file, [(file, columns)], boundaries=False)
    run("tag", model, folder / "untagged", "-o", output, "-q")


def run(*command) -> None:
    median_of([*OURS, *command])


def write_columns(target: Path, lines: Path, parts: list, *, boundaries: bool = True) -> None:
    """Columns of several files with the same tokens side by side, sentences and documents as in `lines`."""
    sources = [(tokens_of(path), columns) for path, columns in parts]
    with open(lines, encoding="utf-8") as frame, open(target, "w", encoding="utf-8") as out:
        for line in frame:
            if not line.strip() or line.startswith(BOUNDARY):
                out.write(line if boundaries or not line.strip() else "")
                continue
            fields = [(next(tokens), columns) for tokens, columns in sources]
            out.write(" ".join(row[k] for row, columns in fields for k in columns) + "\n")


def tokens_of(path: Path) -> Iterator[list[str]]:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith(BOUNDARY):
                yield line.split()


def write_coarse(source: Path, target: Path) -> None:
    """The Brown corpus with the first two letters of its tags: they are fewer, and enough as a feature."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            word, _, tag_ = line.rstrip("\n").partition("\t")
            out.write(f"{word} {tag_.removeprefix('FW-')[:2]}\n" if tag_ else "\n" if not word else "")


def long(options, folder: Path) -> list[dict]:
    """Documents of random names whose classes hang together, with half of the hints missing."""
    train, model = folder / "train.txt", folder / "long.mg"
    train.write_text("".join(document(200, seed) for seed in range(40)))
    settings = ["--set", "unit=document", "--set", "passes=5", "--set", "n=50"]
    median_of([*OURS, "train", train, "-o", model, "-q", "--learner", "nonlocal", *settings])
    rows = []
    for tokens in LONG:
        text = folder / f"{tokens}.txt"
        text.write_text(document(tokens, tokens))
        for n in (1, 100, 6400):
            cost = median_of([*OURS, "tag", model, text, "-o", folder / "out.txt", "--hypotheses", n])
            rows.append(cost_row(f"{tokens:,} tokens, {n:,} hypotheses", cost))
    return rows


def document(tokens: int, seed: int) -> str:
    chance = random.Random(seed)
    types = {
        f"Name{chance.randrange(10**4)}": chance.choice(("PER", "LOC", "ORG")) for _ in range(tokens // 20)
    }
    hints = {"PER": "Mr", "LOC": "in", "ORG": "firm"}
    lines = ["-DOCSTART- O", ""]
    while len(lines) < tokens:
        name, type_ = chance.choice(list(types.items()))
        hint = hints[type_] if chance.random() < 0.5 else "word"
        lines += [
            f"{hint} O",
            f"{name} B-{type_}",
            f"{chance.choice(('went', 'and', ','))} O",
            f"w{chance.randrange(99)} O",
        ]
        lines += [""] if chance.random() < 0.3 else []
    return "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    main()
