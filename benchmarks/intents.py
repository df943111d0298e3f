"""Intents of ATIS: one class for a whole sentence, against scikit-learn's linear classifiers.

Both sides see the same features, words and pairs of neighbouring words in lower case, with their counts.
Settings are chosen on the dev part; the test part is scored once, with those. Time is CPU time inside of a
process that has all modules loaded: of the whole training from a list of texts, and of the fit alone, after
the features are there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import harness

PEER = harness.HERE / "peers" / "intents.py"
SYSTEMS = {
    "LinearSVC": [{"C": c} for c in (0.3, 1.0, 3.0)],
    "LogisticRegression": [{"C": c} for c in (10.0,)],
    "marginalia perceptron": [{"passes": n} for n in (10, 20)],
    "marginalia margin": [{"passes": 10, "C": c} for c in (3.0, 10.0)],
    "marginalia pa": [{"passes": n, "C": c} for n in (5, 10) for c in (0.1, 0.3)],
    "marginalia arow": [{"passes": n, "r": r} for n in (8,) for r in (1.0, 3.0)],
    "marginalia maxent": [{"l2": x} for x in (0.1,)],
}


def run(system: str, data: Path, part: str, settings: dict, repeat: int) -> dict:
    """One training, and the accuracy on a part of the data; the cheapest of some repetitions."""
    import json

    command = [sys.executable, PEER, system, data, part, json.dumps(settings)]
    runs = [harness.measure(command) for _ in range(repeat)]
    for one in runs:
        if one.code != 0:
            raise harness.CommandFailed(one)
    found = [json.loads(one.stdout.splitlines()[-1]) for one in runs]
    best = min(found, key=lambda one: one["CPU s"])
    best["fit s"] = min(one["fit s"] for one in found)
    return best


def main() -> None:
    """Choose on dev, then score on test."""
    options = harness.parser(__doc__.partition("\n")[0])
    args = options.parse_args()
    data = harness.need(args.data / "atis")
    rows = []
    for system, grid in SYSTEMS.items():
        ours = system.startswith("marginalia")
        if (ours and args.skip_ours) or (not ours and args.skip_peer):
            continue
        tried = [(run(system, data, "dev", settings, 1)["accuracy"], settings) for settings in grid]
        best, settings = max(tried, key=lambda pair: pair[0])
        row = {"system": system, "chosen": " ".join(f"{k}={v:g}" for k, v in settings.items()), "dev %": best}
        found = run(system, data, "test", settings, args.repeat)
        rows.append(row | {"test %": found["accuracy"], "CPU s": found["CPU s"], "fit s": found["fit s"]})
    harness.add_ratio(rows, "LinearSVC", "CPU s", "x LinearSVC")
    harness.print_table("intents of ATIS, word unigrams and bigrams", rows)
    harness.write_json(args.json_out, {"intents": rows})


if __name__ == "__main__":
    main()
