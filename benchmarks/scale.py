"""Sizes that break taggers, on synthetic data: long sentences, many labels, a long stream, a huge example."""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import systems
from harness import HERE, Run, measure, parser, print_table, size_mb, write_json

TEMPLATE = HERE / "templates" / "window.crfpp"
WORDS_PER_KIND = 20
CASES = ("long", "labels", "stream", "huge")


def main() -> None:
    options = arguments()
    tables = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in options.cases:
            rows = [
                row for system in contestants(options) for row in RUN[case](options, system, Path(folder))
            ]
            print_table(TITLE[case], rows)
            tables[case] = rows
    write_json(options.json_out, tables)


def arguments():
    options = parser(__doc__)
    options.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    options.add_argument("--tokens", type=int, default=100_000, help="length of the long sentence")
    options.add_argument(
        "--labels", type=int, nargs="+", default=[1_000, 10_000], help="sizes of the label set"
    )
    options.add_argument(
        "--sentences", type=int, default=2_000_000, help="length of the stream; a quarter is also run"
    )
    options.add_argument(
        "--timeout", type=float, default=900, help="seconds of a command before it is stopped"
    )
    options.add_argument("--memory-gb", type=float, default=8, help="address space a command may use")
    return options.parse_args()


def contestants(options) -> list[str]:
    return ["crfsuite ap"] * systems.use_peer(options) + ["marginalia"] * systems.use_ours(options)


# The data: a chunk of kind k is one or two words that only kind k has, so any sound learner gets it right.


def chunks(kinds: int, generator: random.Random) -> Iterator[list[str]]:
    """Rows of one chunk at a time, each kind in turn, so that every label occurs soon."""
    for kind in cycle(range(kinds)):
        first, second = (f"w{kind}_{generator.randrange(WORDS_PER_KIND)}" for _ in range(2))
        yield [f"{first} N{kind % 40} B-K{kind}", f"{second}i M{kind % 40} I-K{kind}"]


def write_sentences(path: Path, sentences: int, kinds: int, chunks_each: int = 5) -> None:
    source = chunks(kinds, random.Random(1))
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(sentences):
            rows = [row for chunk in islice(source, chunks_each) for row in chunk]
            file.write("\n".join(rows) + "\n\n")


def write_stream(path: Path, sentences: int, kinds: int = 10) -> None:
    """Two chunks and a word never seen before in each sentence: a tagger that remembers words will grow."""
    source = chunks(kinds, random.Random(2))
    with open(path, "w", encoding="utf-8") as file:
        for number in range(sentences):
            rows = [row for chunk in islice(source, 2) for row in chunk]
            file.write("\n".join(rows) + f"\nnew{number} N0 B-K0\n\n")


# The cases


def long_sentence(options, system: str, folder: Path) -> list[dict]:
    """Train on short sentences, tag one that has as many tokens as asked for."""
    model, run = train(options, system, folder, sentences=2_000, kinds=10, passes=5)
    if run.code:
        return [row(system, "train", run)]
    source, target = folder / "long.txt", folder / "long.out"
    write_sentences(source, 1, kinds=10, chunks_each=options.tokens // 2)
    run = limited(options, tag_command(system, model, source, target))
    expected = options.tokens // 2 * 2
    return [row(system, f"tag {expected:,} tokens", run) | output_check(run, source, target)]


def many_labels(options, system: str, folder: Path) -> list[dict]:
    rows = []
    for labels in options.labels:
        kinds = labels // 2
        model, run = train(options, system, folder, sentences=max(1_000, kinds // 5), kinds=kinds, passes=2)
        rows.append(row(system, f"train {labels:,} labels", run))
        if run.code == 0:
            rows[-1]["model MB"] = size_mb(model)
            source, target = folder / "train.txt", folder / "labels.out"
            run = limited(options, tag_command(system, model, source, target))
            rows.append(row(system, f"tag, {labels:,} labels", run) | output_check(run, source, target))
    return rows


def stream(options, system: str, folder: Path) -> list[dict]:
    """Peak memory at two sizes; the quotient is 1 for a tagger that keeps nothing."""
    model, run = train(options, system, folder, sentences=2_000, kinds=10, passes=5)
    if run.code:
        return [row(system, "train", run)]
    rows, source, target = [], folder / "stream.txt", folder / "stream.out"
    for sentences in (options.sentences // 4, options.sentences):
        write_stream(source, sentences)
        run = limited(options, tag_command(system, model, source, target))
        rows.append(row(system, f"tag {sentences:,} sentences", run) | output_check(run, source, target))
        if run.code == 0:
            rows[-1]["sentences / CPU s"] = sentences / run.cpu
    rows[-1]["peak / first peak"] = rows[-1]["peak MB"] / rows[0]["peak MB"]
    source.unlink()
    target.unlink(missing_ok=True)
    return rows


def huge_example(options, system: str, folder: Path) -> list[dict]:
    """Training on short sentences with noise, without and with a first one that is as long as asked for."""
    rows, generator = [], random.Random(3)
    noise = (f"w{generator.randrange(1_000)} N0 B-K{generator.randrange(5)}" for _ in cycle([0]))
    for tokens in (0, options.tokens):
        data, model = folder / "train.txt", folder / "model"
        with open(data, "w", encoding="utf-8") as file:
            for length in [tokens] * (tokens > 0) + [5] * 3_000:
                file.write("\n".join(islice(noise, length)) + "\n\n")
        run = limited(options, train_command(system, data, model, passes=3))
        rows.append(row(system, f"train, the first has {tokens or 5:,} tokens", run))
    rows[1]["CPU s more"] = rows[1]["CPU s"] - rows[0]["CPU s"]
    return rows


def train(options, system: str, folder: Path, sentences: int, kinds: int, passes: int) -> tuple[Path, Run]:
    data, model = folder / "train.txt", folder / "model"
    write_sentences(data, sentences, kinds)
    model.unlink(missing_ok=True)
    return model, limited(options, train_command(system, data, model, passes))


def train_command(system: str, data: Path, model: Path, passes: int) -> list:
    if system == "marginalia":
        return systems.ours_train(data, model, TEMPLATE, passes=passes, order=1)
    return systems.peer_train(data, model, TEMPLATE, "ap", passes)


def tag_command(system: str, model: Path, source: Path, target: Path) -> list:
    target.unlink(missing_ok=True)
    if system == "marginalia":
        return systems.ours_tag(model, source, target)
    return systems.peer_tag(model, source, target, TEMPLATE)


def limited(options, command: list) -> Run:
    return measure(command, timeout=options.timeout, memory_gb=options.memory_gb)


def row(system: str, case: str, run: Run) -> dict:
    return {
        "system": system,
        "case": case,
        "CPU s": run.cpu,
        "wall s": run.wall,
        "peak MB": run.peak_mb,
        "outcome": outcome(run),
    }


def outcome(run: Run) -> str:
    """A refusal in words is an answer; a traceback, a signal or silence is a defect."""
    if run.timed_out:
        return "stopped: too slow"
    if run.code == 0:
        return "works"
    if run.code < 0:
        return f"CRASH: signal {-run.code}"
    return (
        "CRASH: " if "Traceback" in run.stderr or not run.stderr.strip() else "refused: "
    ) + run.last_words[:100]


def output_check(run: Run, source: Path, target: Path) -> dict:
    """Right labels in percent: this data is easy, so less than nearly all is a defect, not a hard corpus."""
    if run.code:
        return {}
    try:
        return {"accuracy": systems.accuracy(source, target)}
    except (OSError, ValueError) as problem:
        print(f"warning: {problem}", file=sys.stderr)
        return {"accuracy": "bad output"}


TITLE = {
    "long": "One long sentence",
    "labels": "Many labels (two passes)",
    "stream": "A long stream of short sentences",
    "huge": "Training: one huge example among 3,000 of five tokens (three passes)",
}
RUN = {"long": long_sentence, "labels": many_labels, "stream": stream, "huge": huge_example}

if __name__ == "__main__":
    main()
