"""What a task means by itself (`--task NAME --preset …`) against python-crfsuite with a competent feature
function (averaged perceptron; L-BFGS, c2 tuned): many data sets, the last tenth of each held out."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import (
    CommandFailed,
    add_only,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from systems import OURS, peer_tag, peer_train, score_spans, score_tags, use_ours, use_peer

# file below the data folder, task, columns of the file that are used (the last one is the label)
SETS = {
    "conll2000": ("conll2000/train.txt", "chunking", (0, 1, 2)),
    "conll2003": ("conll2003/eng.train", "ner", (0, 1, 2, 3)),
    "conll2003, words": ("conll2003/eng.train", "ner", (0, 3)),
    "bc5cdr": ("bc5cdr/train.txt", "ner", (0, 1)),
    "atis": ("atis/train.txt", "ner", (0, 1)),
    "ewt, xpos": ("ud-english-ewt/train.conllu", "pos", (1, 4)),
    "ewt, upos": ("ud-english-ewt/train.conllu", "pos", (1, 3)),
    "japanese gsd, upos": ("ud-japanese-gsd/train.conllu", "pos", (1, 3)),
    "chinese gsd, upos": ("ud-chinese-gsd/train.conllu", "pos", (1, 3)),
    "cltt, upos": ("ud-czech-cltt/train.conllu", "pos", (1, 3)),
    "brown": ("brown/brown.txt", "pos", (0, 1)),
}
NAMES = {2: "word label", 3: "word pos label", 4: "word pos chunk label"}
SPANS = ("chunking", "ner")
C2 = (0.01, 0.1, 1.0)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--share", type=int, default=1, metavar="N", help="every Nth sentence for training")
    options.add_argument("--presets", nargs="+", default=["fast", "balanced", "best"])
    options.add_argument(
        "--no-lbfgs", action="store_true", help="leave L-BFGS out, which takes minutes to hours"
    )
    add_only(options, SETS, "data sets")
    options = options.parse_args()
    tables = {}
    for name in options.only or SETS:
        with tempfile.TemporaryDirectory() as folder:
            tables[name] = list(rows(options, name, Path(folder)))
        print_table(name, tables[name])
    write_json(options.json_out, tables)


def rows(options, name: str, folder: Path) -> Iterator[dict]:
    file, task, columns = SETS[name]
    train, held_out = folder / "train.txt", folder / "held-out.txt"
    write_parts(need(options.data / file), columns, train, held_out, options.share)
    score = score_spans if task in SPANS else score_tags
    if use_ours(options):
        for preset in options.presets:
            system = f"marginalia, {preset}"
            command = [*OURS, "train", train, "--task", task, "--preset", preset, "--separator", "blanks"]
            command += ["--columns", NAMES[len(columns)], "--comments", "none", "-q", "-o"]
            tag = [*OURS, "tag", folder / "model", held_out, "-o", folder / "out"]
            yield judged(system, [*command, folder / "model"], tag, folder, held_out, score)
    if use_peer(options):
        for algorithm, c2 in (("ap", None), *(("lbfgs", c2) for c2 in (() if options.no_lbfgs else C2))):
            command = peer_train(
                train, folder / "peer", "words", algorithm, 14 if algorithm == "ap" else None
            )
            command += ["--c2", c2] if c2 is not None else []
            system = f"python-crfsuite, {algorithm}" + (f", c2={c2}" if c2 is not None else "")
            tag = peer_tag(folder / "peer", held_out, folder / "out", "words")
            yield judged(system, command, tag, folder, held_out, score)


def judged(system: str, train: list, tag: list, folder: Path, held_out: Path, score) -> dict:
    """Train, label what was held out, and score it."""
    try:
        run = median_of(train)
        median_of(tag)
    except CommandFailed as failure:
        return failed_row(system, failure)
    return cost_row(system, run, score=score(held_out, folder / "out"))


def write_parts(source: Path, columns: tuple[int, ...], train: Path, held_out: Path, share: int) -> None:
    """The last tenth of the sentences is held out; words with blanks get underscores instead."""
    total = sum(1 for _ in sentences(source, columns))
    with open(train, "w", encoding="utf-8") as first, open(held_out, "w", encoding="utf-8") as last:
        for number, lines in enumerate(sentences(source, columns)):
            if number >= total * 9 // 10:
                last.write(lines)
            elif number % share == 0:
                first.write(lines)


def sentences(source: Path, columns: tuple[int, ...]) -> Iterator[str]:
    conllu, lines = source.suffix == ".conllu", []
    with open(source, encoding="utf-8") as file:
        separator = "\t" if any("\t" in line for _, line in zip(range(20), file, strict=False)) else None
        file.seek(0)
        for line in file:
            fields = line.rstrip("\n").split(separator)
            if not line.strip():
                if lines:
                    yield "".join(lines) + "\n"
                lines = []
            elif not is_mark(line, separator) and (not conllu or fields[0].isdigit()):
                lines.append(" ".join(fields[c].replace(" ", "_") or "_" for c in columns) + "\n")
    if lines:
        yield "".join(lines) + "\n"


def is_mark(line: str, separator: str | None) -> bool:
    """Comments, which only files with tabs have, and marks of documents."""
    return line.startswith("-DOCSTART-") or (separator == "\t" and line.startswith("# "))


if __name__ == "__main__":
    main()
