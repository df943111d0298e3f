"""Memory of `parse` over long streams: peak memory must not grow with the number of sentences."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

from harness import MB, CommandFailed, cost_row, failed_row, measure, need, parser, print_table, write_json
from systems import OURS

BLOCK = "\n\n"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--sentences", type=int, nargs="+", default=[10_000, 100_000], metavar="N")
    options.add_argument("--train", type=int, default=200, metavar="N", help="sentences of the small model")
    options.add_argument("--words", type=int, default=8, help="of the longest sentence of the stream")
    options.add_argument("--threads", type=int, default=1)
    options = options.parse_args()
    treebank = need(options.data / "ud-english-ewt" / "train.conllu")
    with tempfile.TemporaryDirectory() as folder:
        rows = streamed(options, treebank, Path(folder))
    print_table("parse of a stream (short sentences of ud-english-ewt, over and over)", rows)
    write_json(options.json_out, {"stream": rows})


def streamed(options, treebank: Path, folder: Path) -> list[dict]:
    small, model, text = folder / "small.conllu", folder / "small.mg", folder / "stream.txt"
    with open(small, "w", encoding="utf-8") as out:
        out.writelines(itertools.islice(blocks(treebank), options.train))
    train = [*OURS, "train", small, "--task", "ud", "--set", "preset=fast", "-q", "-o", model]
    if (run := measure(train)).code:
        raise SystemExit(run.last_words)
    rows = []
    for count in options.sentences:
        write_text(treebank, text, count, options.words)
        run = measure([*OURS, "parse", model, text, "-o", folder / "out", "--threads", options.threads])
        if run.code:
            rows.append(failed_row(f"{count:,} sentences", CommandFailed(run)))
            continue
        rows.append(cost_row(f"{count:,} sentences", run, **{"text MB": text.stat().st_size / MB}))
    return rows


def blocks(treebank: Path):
    """The sentences of a treebank, one at a time."""
    lines: list[str] = []
    with open(treebank, encoding="utf-8") as source:
        for line in source:
            lines.append(line)
            if not line.strip():
                yield "".join(lines)
                lines = []


def write_text(treebank: Path, target: Path, count: int, words: int) -> None:
    """So many sentences of at most so many words, a paragraph each."""
    short = [
        text
        for block in itertools.islice(blocks(treebank), 2000)
        if len((text := text_of(block)).split()) <= words
    ]
    with open(target, "w", encoding="utf-8") as out:
        out.writelines(f"{text}{BLOCK}" for text in itertools.islice(itertools.cycle(short), count))


def text_of(block: str) -> str:
    return next(line[9:] for line in block.splitlines() if line.startswith("# text = "))


if __name__ == "__main__":
    main()
