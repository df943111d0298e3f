"""Base noun phrases (Ramshaw and Marcus 1995) with the features of Collins (2002): training and F1."""

from __future__ import annotations

import tempfile
from pathlib import Path

import systems
from comparison import System, Task, ours, peer, trial
from harness import HERE, add_ratio, need, parser, print_table, write_json

PEER = "crfsuite ap"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--passes", type=int, default=10)
    options.add_argument("--our-features", default="collins-np", help="a ready-made set or a template file")
    options = options.parse_args()
    need(options.data / "basenp" / "train.txt")
    rows = compare(options)
    print_table(f"Base noun phrases: training from file to model (the peer is {PEER})", rows)
    write_json(options.json_out, {"train": rows})


def compare(options) -> list[dict]:
    corpus = options.data / "basenp"
    task = Task(
        corpus / "train.txt",
        corpus / "test.txt",
        "F1",
        systems.score_spans,
        HERE / "templates" / "collins-np.crfpp",
        options.our_features,
    )
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def learners() -> list[tuple[System, float | None]]:
            """Ours, with the figures that Collins (2002) gives for the test file."""
            passes, repeat = {"passes": options.passes}, options.repeat
            return [
                (ours(task, folder, repeat, "averaged perceptron", **passes), 93.63),
                (ours(task, folder, repeat, "perceptron, last weights", average="none", **passes), None),
                (ours(task, folder, repeat, "voted perceptron", average="vote", **passes), None),
                (ours(task, folder, 1, "maximum entropy", "maxent"), 93.29),
                (ours(task, folder, 1, "CRF", "crf"), None),
            ]

        if systems.use_peer(options):
            rows.append(trial(task, folder, peer(task, folder, options.repeat, "ap", options.passes)))
        if systems.use_ours(options):
            rows += [trial(task, folder, system) | {"published": figure} for system, figure in learners()]
    add_ratio(rows, PEER, "CPU s", "CPU / peer")
    return rows


if __name__ == "__main__":
    main()
