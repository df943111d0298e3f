"""Many of our own models on one task: a row each with score, cost and size, and what was published."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from harness import CommandFailed, cost_row, failed_row, median_of
from systems import OURS


@dataclass
class Job:
    """A training and test file, how to read them, and the features of all models."""

    train: Path
    test: Path
    features: object
    reading: list[str] = field(default_factory=list)
    lists: dict[str, Path] = field(default_factory=dict)


@dataclass
class Model:
    """A row of the table: how it is trained, and the published score if there is one."""

    name: str
    learner: str = "perceptron"
    settings: dict[str, object] = field(default_factory=dict)
    published: float | None = None
    threads: int = 1
    structure: str = "chain"
    features: object = None  # those of the job unless given


def run(job: Job, model: Model, repetitions: int, bootstrap: int = 0, keep: Path | None = None) -> dict:
    """Train, tag the test file and score it; a command that fails says so in its row.

    `keep`: where the predictions go, for comparisons between rows.
    """
    with tempfile.TemporaryDirectory() as folder:
        path, output = Path(folder) / "model.mg", keep or Path(folder) / "output"
        try:
            cost = median_of(train_command(job, model, path), repetitions)
            median_of([*OURS, "tag", path, job.test, "-o", output])
            scores = score(path, job, bootstrap)
        except (CommandFailed, OSError, ValueError) as failure:
            return failed_row(model.name, failure)
        published = {} if model.published is None else {"published": model.published}
        row = cost_row(model.name, cost, path, F1=scores["f1"], **published)
    if bootstrap:
        low, high = scores["interval"]
        row["95 %"] = f"{low:.2f}-{high:.2f}"
    row["non-zero weights"] = json.loads(cost.stdout.strip().splitlines()[-1])["nonzero_weights"]
    return row


def train_command(job: Job, model: Model, path: Path) -> list:
    chosen = [part for name, value in model.settings.items() for part in ("--set", f"{name}={value}")]
    lists = [part for name, file in job.lists.items() for part in ("--list", f"{name}={file}")]
    return [
        *OURS,
        "train",
        job.train,
        "-o",
        path,
        *job.reading,
        "--structure",
        model.structure,
        "--features",
        model.features or job.features,
        "--learner",
        model.learner,
        *chosen,
        *lists,
        "--threads",
        model.threads,
        "--json",
        "--quiet",
    ]


def score(model: Path, job: Job, bootstrap: int) -> dict:
    more = ["--bootstrap", bootstrap] if bootstrap else []
    run = median_of([*OURS, "eval", model, job.test, "--json", *more])
    return json.loads(run.stdout.strip().splitlines()[-1])
