"""Part-of-speech tagging of UD English EWT (XPOS, gold tokens) with Ratnaparkhi's features."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import systems
from comparison import System, Task, ours, output, peer, trial
from harness import add_ratio, need, parser, print_table, write_json

PEER = "crfsuite ap"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--passes", type=int, default=10)
    options.add_argument(
        "--orders", type=int, nargs="+", default=[1, 2], help="ours; CRFsuite has order 1 only"
    )
    options.add_argument("--nltk", action="store_true", help="also NLTK's tagger (pip install nltk)")
    options = options.parse_args()
    need(options.data / "ud-english-ewt" / "train.conllu")
    rows = compare(options)
    print_table(f"UD English EWT, XPOS: training from file to model (the peer is {PEER})", rows)
    write_json(options.json_out, {"train": rows})


def compare(options) -> list[dict]:
    corpus = options.data / "ud-english-ewt"
    task = Task(corpus / "train.conllu", corpus / "test.conllu", "accuracy", systems.score_tags, "pos", "pos")
    with tempfile.TemporaryDirectory() as folder:
        rows = [trial(task, Path(folder), system) for system in contestants(options, task, Path(folder))]
    add_ratio(rows, PEER, "CPU s", "CPU / peer")
    return rows


def contestants(options, task: Task, folder: Path) -> list[System]:
    chosen = []
    if systems.use_peer(options):
        chosen.append(peer(task, folder, options.repeat, "ap", options.passes))
        if options.nltk:
            chosen.append(nltk(task, folder, options))
    if systems.use_ours(options):
        chosen += [
            ours(task, folder, options.repeat, f"order {order}", passes=options.passes, order=order)
            for order in options.orders
        ]
    return chosen


def nltk(task: Task, folder: Path, options) -> System:
    script, model = systems.PEERS / "nltk_pos.py", folder / "nltk.json"
    return System(
        "nltk perceptron",
        model,
        [sys.executable, script, "train", task.train, model, "--iterations", options.passes],
        [sys.executable, script, "tag", task.test, output(task, folder), "--model", model],
        1,
    )


if __name__ == "__main__":
    main()
