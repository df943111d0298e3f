"""CoNLL-2000 chunking with the CRF++ template: training, tagging and loading against python-crfsuite."""

from __future__ import annotations

import filecmp
import shutil
import sys
import tempfile
from pathlib import Path

import systems
from comparison import System, Task, ours, peer, trial
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
    size_mb,
    write_json,
)

TEMPLATE = HERE / "templates" / "chunking.crfpp"
PEER = "crfsuite ap"
PARTS = ("train", "tag", "load")


def main() -> None:
    options = arguments()
    need(options.data / "conll2000" / "train.txt")
    with tempfile.TemporaryDirectory() as folder:
        tables = {}
        tables["train"], models = train(options, Path(folder))
        if "tag" in options.parts:
            tables["tag"] = tag(options, models, Path(folder))
        if "load" in options.parts:
            tables["load"] = load(models)
    write_json(options.json_out, tables)


def arguments():
    options = parser(__doc__)
    options.add_argument(
        "--parts", nargs="+", choices=PARTS, default=list(PARTS), help="training always runs, for its models"
    )
    options.add_argument("--passes", type=int, default=10, help="passes of the averaged perceptrons")
    options.add_argument(
        "--learners", nargs="+", default=["perceptron"], metavar="NAME", help="ours to measure"
    )
    options.add_argument(
        "--no-lbfgs", action="store_true", help="leave out CRFsuite's L-BFGS, which takes minutes"
    )
    options.add_argument(
        "--lbfgs-iterations", type=int, help="limit for L-BFGS (default: until it converges)"
    )
    options.add_argument(
        "--copies", type=int, default=20, help="how often the test file is repeated for tagging speed"
    )
    return options.parse_args()


def train(options, folder: Path) -> tuple[list[dict], dict[str, Path]]:
    """The rows, and the models of those that succeeded, for the other parts."""
    corpus = options.data / "conll2000"
    task = Task(corpus / "train.txt", corpus / "test.txt", "F1", systems.score_spans, TEMPLATE, TEMPLATE)
    rows, models = [], {}
    for system in contestants(options, task, folder):
        rows.append(trial(task, folder, system))
        if "note" not in rows[-1]:
            models[system.name] = system.model
    add_ratio(rows, PEER, "CPU s", "CPU / peer")
    print_table(f"CoNLL-2000: training from file to model (the peer is {PEER})", rows)
    return rows, models


def contestants(options, task: Task, folder: Path) -> list[System]:
    chosen = []
    if systems.use_peer(options):
        chosen.append(peer(task, folder, options.repeat, "ap", options.passes))
        if not options.no_lbfgs:
            chosen.append(peer(task, folder, 1, "lbfgs", options.lbfgs_iterations))
    if systems.use_ours(options):
        for learner in options.learners:
            settings = {"passes": options.passes} if learner == "perceptron" else {}
            chosen.append(ours(task, folder, options.repeat, learner=learner, order=1, **settings))
    return chosen


def tag(options, models: dict[str, Path], folder: Path) -> list[dict]:
    """File to file, with start-up and loading; the input is long enough for these to matter little."""
    source, rows = folder / "long.txt", []
    tokens = repeat_file(options.data / "conll2000" / "test.txt", source, options.copies)
    for system, model in models.items():
        for threads in [1] if system.startswith("crfsuite") else [1, 2]:
            name = f"{system}, {threads} thread{'s' if threads > 1 else ''}"
            output = folder / f"tagged-{threads}.txt"
            command = (
                systems.peer_tag(model, source, output, TEMPLATE)
                if system.startswith("crfsuite")
                else systems.ours_tag(model, source, output, threads)
            )
            rows.append(tag_row(name, command, tokens, options.repeat))
        if threads == 2:
            check_same(system, folder / "tagged-1.txt", folder / "tagged-2.txt")
    add_ratio(rows, f"{PEER}, 1 thread", "tokens / CPU s", "speed / peer")
    add_ratio(rows, f"{PEER}, 1 thread", "tokens / wall s", "wall speed / peer")
    print_table(f"CoNLL-2000: tagging {tokens:,} tokens from file to file", rows)
    return rows


def tag_row(name: str, command: list, tokens: int, repetitions: int) -> dict:
    try:
        run = median_of(command, repetitions)
    except CommandFailed as failure:
        return failed_row(name, failure)
    return cost_row(name, run) | {"tokens / CPU s": tokens / run.cpu, "tokens / wall s": tokens / run.wall}


def check_same(system: str, one: Path, two: Path) -> None:
    if one.exists() and two.exists() and not filecmp.cmp(one, two, shallow=False):
        print(f"warning: {system} gives other output with two threads than with one", file=sys.stderr)


def repeat_file(source: Path, target: Path, copies: int) -> int:
    """Write the copies; the number of tokens in them."""
    with open(target, "wb") as out:
        for _ in range(copies):
            with open(source, "rb") as file:
                shutil.copyfileobj(file, out)
    with open(source, "rb") as file:
        return copies * sum(1 for line in file if line.strip())


def load(models: dict[str, Path]) -> list[dict]:
    rows = []
    for system, model in models.items():
        kind = system.split()[0]
        try:
            run = median_of([sys.executable, HERE / "loading.py", kind, model, 20])
        except CommandFailed as failure:
            rows.append(failed_row(system, failure))
            continue
        rows.append({"system": system, "load ms": 1000 * float(run.stdout), "model MB": size_mb(model)})
    add_ratio(rows, PEER, "load ms", "time / peer")
    print_table("CoNLL-2000: loading the model, best of 20 in one process", rows)
    return rows


if __name__ == "__main__":
    main()
