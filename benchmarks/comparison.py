"""Train a system, tag the test file with it, score: the trial that chunking, pos and basenp share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import systems
from harness import CommandFailed, cost_row, failed_row, median_of


@dataclass
class Task:
    """What is learnt from what, and how it is judged. Names of features differ between us and the peer."""

    train: Path
    test: Path
    measure: str
    score: Callable[[Path, Path], float]
    peer_features: object
    our_features: object


@dataclass
class System:
    """`train` and `tag` are commands; the model and the output lie in the folder of the trial."""

    name: str
    model: Path
    train: list
    tag: list
    repetitions: int


def peer(
    task: Task, folder: Path, repetitions: int, algorithm: str = "ap", iterations: int | None = 10
) -> System:
    model = folder / f"{algorithm}.crfsuite"
    return System(
        f"crfsuite {algorithm}",
        model,
        systems.peer_train(task.train, model, task.peer_features, algorithm, iterations),
        systems.peer_tag(model, task.test, output(task, folder), task.peer_features),
        repetitions,
    )


def ours(
    task: Task,
    folder: Path,
    repetitions: int,
    name: str = "",
    learner: str = "perceptron",
    threads: int = 1,
    **settings,
) -> System:
    label = name or learner
    model = folder / f"{label.replace(' ', '-')}.mg"
    return System(
        f"marginalia {label}",
        model,
        systems.ours_train(task.train, model, task.our_features, learner, threads, **settings),
        systems.ours_tag(model, task.test, output(task, folder)),
        repetitions,
    )


def output(task: Task, folder: Path) -> Path:
    return folder / f"out{task.test.suffix}"


def trial(task: Task, folder: Path, system: System) -> dict:
    """A row of the table. A command that fails says so in its row, and the others go on."""
    target = output(task, folder)
    target.unlink(missing_ok=True)
    try:
        run = median_of(system.train, system.repetitions)
        median_of(system.tag)
        score = task.score(task.test, target)
    except (CommandFailed, OSError, ValueError) as failure:
        return failed_row(system.name, failure)
    return cost_row(system.name, run, system.model, **{task.measure: score})
