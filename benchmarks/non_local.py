"""Global features of whole documents (Kazama and Torisawa 2007): what they bring on CoNLL-2003, development
file, by the number of hypotheses in training (n) and in use; and what the search costs in long documents.

All lists of the gazetteers are features of their own; sentences of a document are joined.
"""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path

from harness import CommandFailed, best_of, cost_row, failed_row, need, parser, print_table, write_json
from systems import OURS, use_ours

DOCUMENTS = {"cutoff": 2, "unit": "document", "encode": "IOB2", "bpm-init": 10, "passes": 30, "C": 4000}
MODELS = {
    "margin": ("margin", {}),
    "margin, no BPM start": ("margin", {"bpm-init": 0}),
    "nonlocal, n=20": ("nonlocal", {"n": 20}),
    "nonlocal, n=200": ("nonlocal", {"n": 200}),
    "nonlocal, n=1000": ("nonlocal", {"n": 1000}),
    "nonlocal, n=1000, no BPM start": ("nonlocal", {"n": 1000, "bpm-init": 0}),
    "candidate algorithm, n=1000": ("nonlocal", {"n": 1000, "local-updates": "off"}),
}
HYPOTHESES = (1, 20, 100, 800, 6400)
LONG = (500, 2_000, 10_000)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options.add_argument("--cases", nargs="+", choices=("conll", "long"), default=["conll", "long"])
    options.add_argument(
        "--set", nargs="+", default=[], metavar="NAME=VALUE", help="other settings, for all rows"
    )
    options = options.parse_args()
    if not use_ours(options):
        return
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            tables[case] = (conll if case == "conll" else long)(options, Path(folder))
            print_table(
                {"conll": "CoNLL-2003, development file", "long": "long documents"}[case], tables[case]
            )
    write_json(options.json_out, tables)


def conll(options, folder: Path) -> list[dict]:
    corpus, gazetteers = options.data / "conll2003", options.data / "gazetteers"
    need(corpus / "eng.train")
    lists = [
        word
        for path in sorted(gazetteers.glob("*.txt"))
        for word in ("--list", f"{path.stem.replace('_', '-')}={path}")
    ]
    reading = ["--columns", "word pos chunk ne", "--features", "ner"]
    own = dict(pair.split("=", 1) for pair in options.set)
    rows = []
    for name, (learner, settings) in MODELS.items():
        if options.only and name not in options.only:
            continue
        model = folder / "model.mg"
        settings = DOCUMENTS | settings | own
        words = [word for pair in settings.items() for word in ("--set", "=".join(map(str, pair)))]
        command = [*OURS, "train", corpus / "eng.train", "--dev", corpus / "eng.testa", *reading, *lists]
        try:
            cost = best_of([*command, "--learner", learner, *words, "-o", model, "-q", "--json"])
            row = cost_row(name, cost, model)
            row["passes"] = json.loads(cost.stdout.strip().splitlines()[-1])["passes"]
            rows.append(row | scores(model, corpus / "eng.testa", learner))
        except (CommandFailed, OSError, ValueError) as failure:
            rows.append(failed_row(name, failure))
    return rows


def scores(model: Path, test: Path, learner: str) -> dict:
    """F1 by the number of hypotheses, and what tagging with the most of them costs."""
    found = {}
    for n in HYPOTHESES if learner == "nonlocal" else (None,):
        more = [] if n is None else ["--hypotheses", n]
        cost = best_of([*OURS, "eval", model, test, "--json", *more])
        found["F1" if n is None else f"F1, {n}"] = json.loads(cost.stdout)["f1"]
        found["eval CPU s"] = cost.cpu
    return found


def long(options, folder: Path) -> list[dict]:
    """Documents of random names whose classes hang together, with half of the hints missing."""
    train, model = folder / "train.txt", folder / "long.mg"
    train.write_text("".join(document(200, seed) for seed in range(40)))
    settings = ["--set", "unit=document", "--set", "passes=5", "--set", "n=50"]
    best_of([*OURS, "train", train, "-o", model, "-q", "--learner", "nonlocal", *settings])
    rows = []
    for tokens in LONG:
        text = folder / f"{tokens}.txt"
        text.write_text(document(tokens, tokens))
        for n in (1, 100, 6400):
            cost = best_of([*OURS, "tag", model, text, "-o", folder / "out.txt", "--hypotheses", n])
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
