"""One class for a whole item: intents of ATIS, and word complexity of CompLex, against scikit-learn.

Both sides see the same features. Intents: words and pairs of neighbouring words in lower case, with their
counts. Complexity, ordered classes: a word's letters, length, frequency and cluster in the Wall Street
Journal, and its neighbours. Settings are chosen on the dev part; the test part is scored once, with those.
Time is CPU time inside of a process that has all modules loaded: of the whole training from a list of items,
and of the fit alone, after the features are there. Memory is the peak of that process.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import harness

PEER = harness.HERE / "peers" / "single.py"
SYSTEMS = {
    "LinearSVC": [{"C": c} for c in (0.03, 0.3, 1.0, 3.0)],
    "LogisticRegression": [{"C": c} for c in (0.3, 1.0, 10.0)],
    "marginalia perceptron": [{"passes": n} for n in (10, 20)],
    "marginalia margin": [{"passes": 10, "C": c} for c in (3.0, 10.0)],
    "marginalia pa": [{"passes": n, "C": c} for n in (5,) for c in (0.01, 0.03, 0.1, 0.3)],
    "marginalia arow": [{"passes": n, "r": r} for n in (3, 8) for r in (1.0, 10.0)],
    "marginalia maxent": [{"l2": x} for x in (0.1, 1.0, 3.0)],
    "marginalia rules": [{"rules": n, "size": k} for n, k in ((300, 1), (1000, 1), (1000, 2))],
}
WITH_COSTS = {f"{name}, costs": SYSTEMS[name] for name in ("marginalia pa", "marginalia arow")}
TASKS = {"intents": SYSTEMS, "complexity": SYSTEMS | WITH_COSTS}  # what is ordered has costs


def run(task: str, system: str, data: Path, part: str, settings: dict, repeat: int) -> dict:
    """One training, and its scores on a part of the data; the cheapest of some repetitions."""
    command = [sys.executable, PEER, task, system, data, part, json.dumps(settings)]
    runs = [harness.measure(command) for _ in range(repeat)]
    for one in runs:
        if one.code != 0:
            raise harness.CommandFailed(one)
    found = [json.loads(one.stdout.splitlines()[-1]) for one in runs]
    best = min(found, key=lambda one: one["CPU s"])
    best["fit s"] = min(one["fit s"] for one in found)
    best["MB"] = min(one.peak_mb for one in runs)
    return best


def row_of(task: str, system: str, args) -> dict:
    """Choose on dev, then score on test."""
    tried = [
        (run(task, system, args.data, "dev", settings, 1)["accuracy"], settings)
        for settings in TASKS[task][system]
    ]
    best, settings = max(tried, key=lambda pair: pair[0])
    found = run(task, system, args.data, "test", settings, args.repeat)
    row = {"system": system, "chosen": " ".join(f"{k}={v:g}" for k, v in settings.items()), "dev %": best}
    row |= {"test %": found["accuracy"]}
    if task == "complexity":
        row |= {"test, levels off": found["levels off"]}
    return row | {name: found[name] for name in ("CPU s", "fit s", "MB")}


def main() -> None:
    """A table for each task."""
    options = harness.parser(__doc__.partition("\n")[0])
    options.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    args = options.parse_args()
    tables = {}
    for task in args.tasks:
        rows = []
        for system in TASKS[task]:
            ours = system.startswith("marginalia")
            if not ((ours and args.skip_ours) or (not ours and args.skip_peer)):
                rows.append(row_of(task, system, args))
                print(f"{task}: {rows[-1]}", file=sys.stderr, flush=True)
        harness.add_ratio(rows, "LinearSVC", "CPU s", "x LinearSVC")
        harness.print_table(f"{task}, one class for an item", rows)
        tables[task] = rows
    harness.write_json(args.json_out, tables)


if __name__ == "__main__":
    main()
