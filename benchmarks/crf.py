"""CoNLL-2000 with the CRF++ template: our CRF against python-crfsuite's, both by L-BFGS, in one run."""

from __future__ import annotations

import tempfile
from pathlib import Path

import systems
from comparison import System, Task, ours, peer, trial
from harness import HERE, add_ratio, need, parser, print_table, write_json

TEMPLATE = HERE / "templates" / "chunking.crfpp"
PEER = "crfsuite lbfgs"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--iterations", type=int, help="limit for both (default: until they converge)")
    options = options.parse_args()
    need(options.data / "conll2000" / "train.txt")
    rows = compare(options)
    print_table(f"CoNLL-2000: training a CRF from file to model (the peer is {PEER})", rows)
    write_json(options.json_out, {"crf": rows})


def compare(options) -> list[dict]:
    corpus = options.data / "conll2000"
    task = Task(corpus / "train.txt", corpus / "test.txt", "F1", systems.score_spans, TEMPLATE, TEMPLATE)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for system in contestants(options, task, folder):
            rows.append(trial(task, folder, system))
    add_ratio(rows, PEER, "CPU s", "CPU / peer")
    add_ratio(rows, PEER, "wall s", "wall / peer")
    return rows


def contestants(options, task: Task, folder: Path) -> list[System]:
    limit = {"passes": options.iterations} if options.iterations else {}
    chosen = []
    if systems.use_peer(options):
        chosen.append(peer(task, folder, 1, "lbfgs", options.iterations))
        if options.iterations is None:
            chosen.append(peer(task, folder, 1, "ap", 10))
    if systems.use_ours(options):
        for threads in (1, 2):
            label = "crf" if threads == 1 else "crf, 2 threads"
            chosen.append(ours(task, folder, 1, label, "crf", threads=threads, **limit))
        best = {"C": 10, "passes": 10, "l1-cumulative": 1e-5, "shuffle-average": 5}
        chosen.append(ours(task, folder, 1, "best online learner", "margin", **best))
    return chosen


if __name__ == "__main__":
    main()
