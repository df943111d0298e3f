"""Dependency trees with gold tags: accuracy and speed by setting, on one treebank.

Settings were chosen on dev data; the test file is scored once. Times are CPU seconds of one thread.
"""

from __future__ import annotations

import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import marginalia as mg
from harness import need, parser, print_table, write_json
from marginalia.corpus.batches import Batch, Layout, read_batches
from marginalia.kinds import kind_of

COLUMNS = ("word", "upos", "xpos", "head", "deprel")
BEST = {"tree_beam": 8, "cutoff": 2, "passes": 9, "dropout": "values:0.05"}
GREEDY = {"tree_beam": 1, "cutoff": 2, "passes": 8}
PAPER = {"tree_beam": 8, "features": "huang-sagae", "passes": 9, "merge": True, "update": "early"}
SETTINGS: dict[str, dict[str, Any]] = {
    "trees, beam 8": BEST,
    "trees, greedy": GREEDY,
    "Huang and Sagae, states merged": PAPER,
    "… + l2": PAPER | {"l2": 1e-6},
    "… + dropout": PAPER | {"dropout": "values:0.05"},
}
BEAMS = {"trees, beam 8": (1, 4, 8, 16), "trees, greedy": (1,)}


def main() -> None:
    """Train and score each setting."""
    options = parser(__doc__ or "")
    options.add_argument("--treebank", default="ud-english-ewt")
    options.add_argument("--only", help="the settings whose names begin so")
    args = options.parse_args()
    folder = need(args.data / args.treebank)
    rows = []
    for name, settings in SETTINGS.items():
        if args.only and not name.startswith(args.only):
            continue
        rows += rows_of(name, settings, folder)
    print_table(args.treebank, rows)
    write_json(args.json_out, {args.treebank: rows})


def rows_of(name: str, settings: dict[str, Any], folder: Path) -> list[dict[str, Any]]:
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
        for part in ("dev", "test"):
            row |= scores(model, folder / f"{part}.conllu", part)
        found.append(row)
    return found


def scores(model: mg.Parser, file: Path, part: str) -> dict[str, Any]:
    """Attachment scores and words a second."""
    layout = Layout("conllu", COLUMNS, "deprel")
    batches = [Batch(batch.block) for batch in read_batches(str(file), layout, need=("deprel",))]
    report: Any = kind_of("trees").evaluate(model, batches, "deprel")
    started = time.process_time()
    for batch in batches:
        model.arcs(batch.block)
    words = sum(batch.block.table.tokens for batch in batches) / (time.process_time() - started)
    return {
        f"{part} LAS": round(report.las, 2),
        f"{part} UAS": round(report.uas, 2),
        f"{part} complete": round(report.complete, 2),
        f"{part} words/s": round(words),
    }


if __name__ == "__main__":
    main()
