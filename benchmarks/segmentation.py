"""Chinese words from characters: People's Daily 1998 to learn from, the PKU test file of Bakeoff 2005.

The features are those of Zhang, Su and Zhou (2014), table 1. Differences between models are judged by paired
bootstrap over sentences (`marginalia eval --compare`).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from harness import median_of, need, parser, print_table, write_json
from systems import OURS, use_ours
from table import Job, Model, run

# Chosen on the last tenth of the People's Daily text, with the rest to train on.
MODELS = (
    Model("averaged perceptron", settings={"passes": 8}, published=97.34),
    Model("+ shuffle", settings={"passes": 8, "shuffle-average": 5}, published=97.55),
    Model("+ l2", settings={"passes": 8, "l2": 1e-7}, published=97.36),
    Model("+ l1", settings={"passes": 8, "l1": 1e-6}),
    Model("+ cumulative l1", settings={"passes": 8, "l1-cumulative": 1e-6}),
    Model("+ dropout", settings={"passes": 8, "dropout": "input:0.03"}, published=97.41),
    Model(
        "+ dropout + shuffle",
        settings={"passes": 8, "dropout": "input:0.03", "shuffle-average": 5},
        published=97.65,
    ),
    Model("+ l2 + shuffle", settings={"passes": 8, "l2": 1e-7, "shuffle-average": 5}, published=97.72),
    Model("AROW", "arow", {"passes": 8, "r": 10}),
    Model("AROW + shuffle", "arow", {"passes": 8, "r": 10, "shuffle-average": 5}),
    Model("CRF", "crf", published=97.42),
)
BASE, CRF = "averaged perceptron", "CRF"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="NAME", help="rows to run")
    options.add_argument("--threads", type=int, default=2)
    options = options.parse_args()
    need(options.data / "peoples-daily" / "199801.wordpos.txt")
    if not use_ours(options):
        return
    rows = compare(options)
    print_table("Chinese segmentation: People's Daily to PKU (published: CTB5, the same features)", rows)
    write_json(options.json_out, {"segmentation": rows})


def compare(options) -> list[dict]:
    chosen = [model for model in MODELS if not options.only or model.name in options.only]
    rows, outputs = [], {}
    with tempfile.TemporaryDirectory() as folder:
        train = Path(folder) / "train.txt"
        strip_tags(options.data / "peoples-daily" / "199801.wordpos.txt", train)
        job = Job(train, options.data / "pku" / "test.txt", "characters", ["--format", "segmented"])
        for number, model in enumerate(chosen):
            model.threads = options.threads
            output = Path(folder) / f"{number}.txt"
            rows.append(run(job, model, 1, bootstrap=1000, keep=output))
            if output.exists():
                outputs[model.name] = output
        for row in rows:
            for peer in (BASE, CRF):
                row[f"p against {peer}"] = significance(job.test, outputs, row["system"], peer)
    return rows


def significance(gold: Path, outputs: dict[str, Path], name: str, peer: str) -> float | None:
    """How probable a difference as large as this one is by chance."""
    if name == peer or name not in outputs or peer not in outputs:
        return None
    files = ["--gold", gold, "--pred", outputs[name], "--compare", outputs[peer]]
    run = median_of([*OURS, "eval", *files, "--format", "segmented", "--json"])
    return json.loads(run.stdout.strip().splitlines()[-1])["comparison"]["randomisation"]["p_value"]


def strip_tags(source: Path, target: Path) -> None:
    """Words without their parts of speech; lines of nothing but blanks are left out."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            words = [word.rpartition("/")[0] for word in line.split()]
            if words:
                out.write("  ".join(words) + "\n")


if __name__ == "__main__":
    main()
