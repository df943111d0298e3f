"""Boosted rules after Iwakura and Okamoto (2008): chunks of CoNLL-2000, and what learning costs.

Settings are judged on the last tenth of the training file, with the rest (or a `--share` of it) to train on;
`--test` trains on all of it and scores the test file. Cases: chunks (their Table 3), grids over ν, ω, ζ and
ξ (Tables 2 to 4), curve (Fig. 7), speed (rules a second), svm (one binary task), templates.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import (
    HERE,
    CommandFailed,
    add_ratio,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from reuters_text import write_text
from systems import OURS, use_ours
from unlabelled import sentences_of, split

CHILD = HERE / "peers" / "rules.py"
COLUMNS = "word pos chunk"
ATOMS = "iwakura-chunking"
PAPER = {"encode": "IOE2", "order": 2, "buckets": 1000}
BEST = {**PAPER, "buckets": 100, "frequency": 3, "size": 3, "width": 50, "rules": 7500, "look": 1500}
CANDIDATES = "rules, candidates"
CHUNKS = {"rules": BEST, CANDIDATES: BEST}  # chosen on the last tenth
PLAIN = {"buckets": 1, "rules-per-round": 1, "width": 0}
GRIDS = {
    "nu": [
        {"distribution": d, "rules-per-round": n, "width": w}
        for d in ("weight", "frequency")
        for n in (1, 10, 100)
        for w in (1, 10, 0)
    ],
    "size": [{"size": z, "rules-per-round": n} for z in (1, 2, 3) for n in (1, 10, 100)],
    "frequency": [{"frequency": x, "rules-per-round": n} for x in (1, 5) for n in (1, 10, 100)],
}
SPEEDS = {
    "plain AdaBoost": PLAIN,
    "AdaBoost.DF": {"rules-per-round": 1, "width": 0, "buckets": 100},
    "F-dist": {"distribution": "frequency", "buckets": 100},
    "W-dist": {"buckets": 100},
}
BINARY = {
    "svm": ("svm", {"C": 1.0}),
    "rules": ("rules", {"rules": 15_000, "buckets": 50, "frequency": 2}),  # chosen on other tokens
}
QUESTIONS = 20_000  # tokens to answer for
AFFIXES = HERE / "templates" / "chunking-atoms.txt"
TEMPLATES = {
    "words and tags": ATOMS,
    "words and tags, CRF++'s combinations": HERE / "templates" / "chunking.crfpp",
    "proposed for words and tags": ATOMS,
    "words, tags, spelling": AFFIXES,
    "words, tags, spelling: the set chunking": "chunking",
    "proposed for words, tags, spelling": AFFIXES,
}


def main() -> None:
    options = arguments()
    corpus = options.data / "conll2000"
    train, test = need(corpus / "train.txt"), need(corpus / "test.txt")
    if not use_ours(options):
        return
    tables = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        nine, tenth = (train, test) if options.test else split(train, folder)
        if options.share != 1:
            nine = shortened(nine, folder / "share", options.share)
        for case in options.cases:
            tables[case] = CASES[case](folder, nine, tenth, options)
            print_table(f"CoNLL-2000, {case} ({'test' if options.test else 'last tenth'})", tables[case])
    write_json(options.json_out, tables)


def arguments():
    options = parser(__doc__)
    options.add_argument("--cases", nargs="+", choices=CASES, default=["chunks"])
    options.add_argument("--only", nargs="+", metavar="NAME", help="rows to run (default: all of a case)")
    options.add_argument("--test", action="store_true", help="train on all, score the test file")
    options.add_argument("--share", type=float, default=1, help="train on so much of the sentences")
    options.add_argument("--tokens", type=int, default=40_000, help="svm: so many to train on")
    options.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="settings of all rows")
    return options.parse_args()


def shortened(source: Path, target: Path, share: float) -> Path:
    sentences = source.read_text(encoding="utf-8").strip().split("\n\n")
    part = sentences[: round(len(sentences) * share)]
    target.write_text("\n\n".join(part) + "\n\n", encoding="utf-8")
    return target


def wanted(names, options) -> Iterator:
    return (name for name in names if not options.only or name in options.only)


def call(*command: object) -> None:
    median_of([*OURS, *command])


def child(*arguments: object) -> dict:
    """What the child process found, and what it cost as a whole."""
    run = median_of([sys.executable, CHILD, *arguments])
    return json.loads(run.stdout.splitlines()[-1]) | {"run": run}


def look_at(train: Path, dev: Path | None, options, settings: dict, lexicons: dict | None = None) -> dict:
    """All looks of a training."""
    more = dict(part.split("=") for part in options.set)
    once = {"look": settings["rules"]} if options.test else {}
    chosen = {key.replace("-", "_"): str(value) for key, value in (settings | more | once).items()}
    return child("curve", train, dev or "", json.dumps([chosen, lexicons or {}]))


def trained(name: str, train: Path, dev: Path, options, settings: dict, lexicons: dict | None = None) -> dict:
    """A row: the best look at held-out data, and the CPU time until then. With `--test` there is one look,
    since nothing may be chosen there."""
    try:
        found = look_at(train, dev, options, settings, lexicons)
    except CommandFailed as failure:
        return failed_row(name, failure)
    looks = found["looks"]
    look = max(looks, key=lambda one: one["F1"])
    print(f"{name}: {look}", file=sys.stderr, flush=True)
    return cost_row(name, found["run"], F1=look["F1"], rules=look["rules"]) | {"CPU s to it": look["CPU s"]}


def chunks(folder: Path, train: Path, dev: Path, options) -> list[dict]:
    """Without candidates, and with those of Reuters, tagged by our models."""
    rows = []
    for name in wanted(CHUNKS, options):
        lexicons = candidates(folder, train, options) if name == CANDIDATES else {}
        rows.append(trained(name, train, dev, options, CHUNKS[name], lexicons))
    return rows


def candidates(folder: Path, train: Path, options) -> dict[str, str]:
    """A lexicon of chunk labels in IOE2, as in the paper, from what the training file alone says."""
    text = write_text(need(options.data / "reuters" / "reuters21578.jsonl.gz"), folder / "reuters.txt")
    ends = in_ioe2(train, folder / "ioe2.txt")
    for name, more in (("pos", ["--task", "pos", "--label", "pos"]), ("chunk", ["--task", "chunking"])):
        call("train", ends, "--columns", COLUMNS, "-q", *more, "-o", folder / f"{name}.mg")
    first = ["--first", folder / "pos.mg", "--format", "plain", "-q"]
    call("lexicon", folder / "chunk.mg", text, *first, "-o", folder / "chunk.lex")
    return {"chunk": str(folder / "chunk.lex")}


def in_ioe2(source: Path, target: Path) -> Path:
    """The file with the ends of chunks marked instead of their beginnings."""
    with open(target, "w", encoding="utf-8") as out:
        for sentence in sentences_of(source):
            rows = [line.split() for line in sentence]
            labels = [row[-1] for row in rows] + ["O"]
            for i, row in enumerate(rows):
                ends = not labels[i + 1].startswith("I-")
                row[-1] = labels[i] if labels[i] == "O" else ("E" if ends else "I") + labels[i][1:]
                out.write(" ".join(row) + "\n")
            out.write("\n")
    return target


def grid(case: str):
    """The rows of a grid over some settings, the others as in the paper."""

    def rows(folder: Path, train: Path, dev: Path, options) -> list[dict]:
        named = {" ".join(f"{k}={v}" for k, v in one.items()): one for one in GRIDS[case]}
        return [trained(name, train, dev, options, PAPER | named[name]) for name in wanted(named, options)]

    return rows


def curve(folder: Path, train: Path, dev: Path, options) -> list[dict]:
    """Every look of one training: accuracy by time."""
    looks = look_at(train, dev, options, CHUNKS["rules"])["looks"]
    return [{"system": f"{one['rules']:,} rules"} | one for one in looks]


def speed(folder: Path, train: Path, dev: Path, options) -> list[dict]:
    """Rules a CPU second, without the time that reading and preparing takes."""
    rows = []
    for name in wanted(SPEEDS, options):
        looks = look_at(train, None, options, PAPER | SPEEDS[name] | {"look": 10})["looks"]
        first, last = looks[0], looks[-1]
        seconds, rules = last["CPU s"] - first["CPU s"], last["rules"] - first["rules"]
        row = {"system": name, "rules": rules, "CPU s": seconds, "rules / CPU s": rules / seconds}
        rows.append(row | {"bound %": 100 * last["bound"]})
    add_ratio(rows, "plain AdaBoost", "rules / CPU s", "x plain")
    return rows


def svm(folder: Path, train: Path, dev: Path, options) -> list[dict]:
    """Where noun phrases begin: rules against a support vector machine of degree 2."""
    rows = []
    for name in wanted(BINARY, options):
        kind, settings = BINARY[name]
        if kind == "svm" and options.skip_peer:
            continue
        found = child("binary", kind, train, dev, options.tokens, QUESTIONS, json.dumps(settings))
        run = found.pop("run")
        rows.append({"system": name, **found, "peak MB": run.peak_mb})
        print(f"{name}: {found}", file=sys.stderr, flush=True)
    for column in ("learning s", "answering s"):
        add_ratio(rows, "svm", column, column.replace(" s", " / svm"))
    return rows


def templates(folder: Path, train: Path, dev: Path, options) -> list[dict]:
    """A perceptron with atoms only, with templates made by hand, and with those that rules propose."""
    rows = []
    for name in wanted(TEMPLATES, options):
        features, proposed = TEMPLATES[name], folder / "proposed.txt"
        if name.startswith("proposed"):
            read = [train, "--columns", COLUMNS, "--features", features, "--from", "rules", "-q"]
            settings = [part for x in options.set for part in ("--set", x)]
            call("templates", *read, *settings, "-o", proposed)
            features = proposed
        model = folder / "model.mg"
        command = ["train", train, "--columns", COLUMNS, "--features", features, "-o", model, "-q"]
        run = median_of([*OURS, *command], options.repeat)
        score = json.loads(median_of([*OURS, "eval", model, dev, "--json"]).stdout)["f1"]
        rows.append(cost_row(name, run, model, F1=score))
        print(f"{name}: {score:.2f}", file=sys.stderr, flush=True)
    return rows


CASES = {
    "chunks": chunks,
    **{name: grid(name) for name in GRIDS},
    "curve": curve,
    "speed": speed,
    "svm": svm,
    "templates": templates,
}


if __name__ == "__main__":
    main()
