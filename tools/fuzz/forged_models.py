"""Forge model files with right checksums, and give them to the verbs: each must work, or say what is wrong.

Anything else is printed with what was forged: a traceback, a process that dies, one that takes too long. The
same seed forges the same files, so `--only NUMBER --keep FILE` writes one to look at.

    python tools/fuzz/forged_models.py --count 3000
    python tools/fuzz/forged_models.py --count 1000000 --seed 7 --models my.mg
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from forgery import forged

STORED = Path(__file__).parents[2] / "tests" / "model" / "stored"
SECONDS = 20  # that a verb may take
MEMORY = 4 << 30  # bytes

SHOWING = ("inspect {m}", "inspect {m} --json --top 3", "inspect {m} --export {o}")
LABELLING = (
    "tag {m} {d} -o {o}",
    "tag {m} {d} --nbest 3 --confidence -o {o}",
    "tag {m} {d} --constrain exactly\u00a01\u00a0NAME -o {o}",
    "explain {m} --input {d} -o {o}",
    "eval {m} {d} --json",
    "eval {m} {d} --reliability",
    "calibrate {m} {d} -o {o} -q",
    "shrink {m} --bits 8 -o {o} -q",
    "export {m} --to javascript -o {o}",
    "export {m} --to python -o {o}",
    "fix {m} --input {d} --sentence 1 --check {d}",
    "fix {m} --log",
    "fix {m} --undo -o {o}",
    "lexicon {m} {d} -o {o} -q",
    "train {d} --start {m} -o {o} -q --set passes=1",
)
PARSING = (
    "parse {m} --text One\u00a0cup. --to conllu",
    "parse {m} {d} --given tokens --nbest 2 --confidence -o {o}",
    "eval {m} {d} --given tokens,tags",
    "explain {m} One\u00a0cup. --word 1",
    "calibrate {m} {d} -o {o} -q",
    "shrink {m} --bits 8 -o {o} -q",
    "fix {m} --input {d} --sentence 1",
    "inspect {m} --part tags --top 2",
)


def main() -> int:
    """Run the forgeries; the exit code is 1 if one was not dealt with."""
    args = _parser().parse_args()
    paths = [Path(path) for path in args.models] or sorted(STORED.glob("*.mg"))
    numbers = range(args.count) if args.only is None else [args.only]
    if args.keep:
        Path(args.keep).write_bytes(_forgery(paths, args.seed, numbers[0])[1])
        return 0
    outcomes: Counter[str] = Counter()
    for number, outcome in _all(paths, args.seed, list(numbers)):
        outcomes[outcome.partition(":")[0]] += 1
        if outcome not in ("worked", "refused"):
            print(f"forgery {number} (--seed {args.seed}): {outcome}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    return int(bool(outcomes.keys() - {"worked", "refused"}))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="forgeries (default: 1000)")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="this forgery alone")
    parser.add_argument("--keep", metavar="FILE", help="write the forgery there instead of trying it")
    parser.add_argument(
        "--models", nargs="+", default=[], help="models to forge (default: those of the tests)"
    )
    return parser


def _forgery(paths: list[Path], seed: int, number: int) -> tuple[Path, bytes, str]:
    rng = random.Random(f"{seed}/{number}")
    path = paths[number % len(paths)]
    data, done = forged(path.read_bytes(), rng)
    return path, data, f"{path.name} {done}"


def _all(paths: list[Path], seed: int, numbers: list[int]) -> Iterator[tuple[int, str]]:
    """The outcome of each forgery; a process that dies is replaced."""
    import marginalia as mg

    context = multiprocessing.get_context("fork")
    texts = {path: _data_for(mg.load(path), path) for path in paths}
    while numbers:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(texts, seed, numbers, theirs))
        process.start()
        theirs.close()
        told = 0
        with contextlib.suppress(EOFError):
            while True:
                outcome = ours.recv()
                yield numbers[told], outcome
                told += 1
        process.join()
        if told < len(numbers):
            what = _forgery(paths, seed, numbers[told])[2]
            yield numbers[told], f"died: exit code {process.exitcode}: {what}"
        numbers = numbers[told + 1 :]


def _work(texts: dict[Path, tuple[str, str]], seed: int, numbers: list[int], results: Any) -> None:
    """Try forgeries one after the other, with little memory and time for each."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _too_long)
    with tempfile.TemporaryDirectory() as folder:
        data = {}
        for path, (format, text) in texts.items():
            data[path] = Path(folder) / f"{path.stem}.{format}"
            data[path].write_text(text, encoding="utf-8")
        for number in numbers:
            forgery = _forgery(list(texts), seed, number)
            results.send(_tried(forgery, data, random.Random(number), Path(folder)))


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def _tried(forgery: tuple[Path, bytes, str], data: dict[Path, Path], rng: random.Random, folder: Path) -> str:
    path, content, what = forgery
    model = folder / "forged.mg"
    model.write_bytes(content)
    verbs = PARSING if data[path].suffix == ".conllu" else LABELLING
    refused = False
    for line in (*SHOWING, *rng.sample(verbs, 4)):
        words = [word.format(m=model, d=data[path], o=folder / "out.mg") for word in line.split(" ")]
        words = [word.replace("\u00a0", " ") for word in words]
        code, failure = _run(words)
        if failure:
            return f"failed: {what}\n    {' '.join(words)}\n    {failure}"
        refused |= code != 0
    return "refused" if refused else "worked"


def _run(words: list[str]) -> tuple[int, str]:
    """The exit code of a command line, and what went wrong with us if anything did."""
    from marginalia.cli import main as marginalia

    output = io.TextIOWrapper(io.BytesIO(), "utf-8")
    messages = io.TextIOWrapper(io.BytesIO(), "utf-8")
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
            return marginalia([*words, "--debug"]), ""
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames[-3:]]
        return 70, f"{type(error).__name__}: {str(error)[:200]} at {' '.join(places)}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _data_for(model: Any, path: Path) -> tuple[str, str]:
    """Labelled data of what a model is known to answer: their format, and a text."""
    answers = path.with_suffix(".json")
    found = json.loads(answers.read_text(encoding="utf-8")) if answers.exists() else []
    format = "conllu" if not hasattr(model, "saved") else model.saved.format
    return format, _text_of(model, format, found)


def _text_of(model: Any, format: str, answers: list[dict[str, Any]]) -> str:
    """Sentences of a file; a model that nobody knows gets words without sense."""
    if format == "conllu":
        return "".join(one["conllu"] for one in answers) or "1\tOne\tone\t_\t_\t_\t0\troot\t_\t_\n\n"
    if format == "candidates":
        return "".join(json.dumps(one["item"]) + "\n" for one in answers)
    if format == "jsonl":
        items = [{"text": one["item"], "label": one["nbest"][0][0]} for one in answers]
        return "".join(json.dumps(one) + "\n" for one in items or [{"text": "one", "label": model.labels[0]}])
    sentences = [_rows(model, format, one) for one in answers] or [[["one"] * len(model.saved.columns)]]
    return "".join("\n".join("\t".join(row) for row in rows) + "\n\n" for rows in sentences)


def _rows(model: Any, format: str, answer: dict[str, Any]) -> list[list[str]]:
    if "heads" in answer:
        columns = [*answer["columns"].values(), map(str, answer["heads"]), answer["labels"]]
        return [list(row) for row in zip(*columns, strict=True)]
    pairs = zip(answer["tokens"], answer["labels"], strict=True)
    if format == "crfsuite":
        return [[label, f"w={token}"] for token, label in pairs]
    return [[token, label] for token, label in pairs]


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(main())
