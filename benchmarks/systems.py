"""The command lines of the systems compared, and the one scorer that judges them all."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

from harness import HERE, CommandFailed, measure, median_of
from peers.conlleval import accuracy, span_f1

PEERS = HERE / "peers"
OURS = [sys.executable, "-m", "marginalia"]


@cache
def ours_available() -> bool:
    """Asked in a child, so that this process never imports the library (see harness: it must stay small)."""
    if measure([*OURS, "--help"]).code == 0:
        return True
    print(
        "marginalia is not installed for this Python (`python -m marginalia --help` fails): peers only.",
        file=sys.stderr,
    )
    return False


@cache
def peer_available() -> bool:
    if measure([sys.executable, "-c", "import pycrfsuite"]).code == 0:
        return True
    print(
        "python-crfsuite is not installed (see benchmarks/requirements.txt): it is not measured.",
        file=sys.stderr,
    )
    return False


def use_ours(options) -> bool:
    return not options.skip_ours and ours_available()


def use_peer(options) -> bool:
    return not options.skip_peer and peer_available()


def ours_train(
    data: Path, model: Path, features, learner: str = "perceptron", threads: int = 1, **settings
) -> list:
    shape = (
        ["--format", "conllu", "--label", "xpos"]
        if data.suffix == ".conllu"
        else ["--columns", "word pos chunk"]
    )
    chosen = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    return [
        *OURS,
        "train",
        data,
        "-o",
        model,
        *shape,
        "--features",
        features,
        "--learner",
        learner,
        *chosen,
        "--seed",
        "1",
        "--threads",
        threads,
        "--json",
    ]


def ours_tag(model: Path, source: Path, target: Path, threads: int = 1) -> list:
    return [*OURS, "tag", model, source, "-o", target, "--threads", threads]


def peer_train(
    data: Path, model: Path, features, algorithm: str = "ap", iterations: int | None = None
) -> list:
    limit = ["--iterations", iterations] if iterations else []
    return [
        sys.executable,
        PEERS / "crfsuite_train.py",
        data,
        model,
        "--features",
        features,
        "--algorithm",
        algorithm,
        *limit,
    ]


def peer_tag(model: Path, source: Path, target: Path, features) -> list:
    return [sys.executable, PEERS / "crfsuite_tag.py", model, source, target, "--features", features]


def score_spans(gold: Path, predicted: Path) -> float:
    """Span F1 by marginalia's scorer where it is installed, for every system; the built-in one checks it."""
    ours = _ours_score(gold, predicted, "f1")
    builtin = span_f1(gold, predicted)
    return _agree(ours, builtin)


def score_tags(gold: Path, predicted: Path) -> float:
    ours = _ours_score(gold, predicted, "accuracy")
    builtin = accuracy(gold, predicted)
    return _agree(ours, builtin)


def _agree(ours: float | None, builtin: float) -> float:
    if ours is None:
        return builtin
    if abs(ours - builtin) > 0.005:
        print(
            f"warning: marginalia eval says {ours:.4f}, the built-in scorer says {builtin:.4f}",
            file=sys.stderr,
        )
    return ours


def _ours_score(gold: Path, predicted: Path, key: str) -> float | None:
    """In percent, like conlleval. None where the command is missing or cannot judge these files."""
    if not ours_available():
        return None
    shape = ["--format", "conllu", "--label", "xpos"] if gold.suffix == ".conllu" else []
    try:
        run = median_of([*OURS, "eval", "--gold", gold, "--pred", predicted, *shape, "--json"])
        value = json.loads(run.stdout.strip().splitlines()[-1])[key]
    except (CommandFailed, KeyError, IndexError, ValueError) as problem:
        print(f"marginalia eval gave no {key!r} ({problem}): the built-in scorer is used", file=sys.stderr)
        return None
    return value * 100 if value <= 1 else value
