"""CoNLL-2000 chunks with what other text knows (recipes/chunking-best.toml), and what each part brings.

Lexicons of candidates come from Reuters, tagged by our own models; clusters from the Wall Street Journal;
tags and arcs from the built-in English pipeline, which has learned from another treebank. Parts are judged
on the last tenth of the training file; `--test` trains on all of it and scores the test file.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import (
    HERE,
    CommandFailed,
    cost_row,
    failed_row,
    median_of,
    need,
    parser,
    print_table,
    write_json,
)
from reuters_text import write_text
from systems import OURS, use_ours

TEMPLATES = HERE / "templates" / "chunking-best.txt"
CLUSTERS = "clusters/brown-bllip-wsj-c1000.txt"
PLAIN = "word pos chunk"
COLUMNS = "word copy pos xpos rel dir hpos chunk"
OTHER = r"xpos|rel\[|dir\[|hpos"  # columns of the pipeline
ROWS = {  # name: templates to leave out
    "segments-rich": rf"cluster|lexicon|{OTHER}",
    "clusters": rf"lexicon|{OTHER}",
    "clusters, lexicons": OTHER,
    "clusters, lexicons, tags and arcs": None,
}
EMPTY = 8 * "\t_"  # all other columns of CoNLL-U
FARTHEST = 3  # of the head, in words; more is the same


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--test", action="store_true", help="train on all, score the test file")
    options.add_argument("--only", nargs="+", default=list(ROWS), choices=ROWS, help="rows to run")
    options.add_argument("--passes", type=int, default=8, help="of each row")
    options.add_argument("--models", type=int, default=1, help="the mean of so many models")
    options.add_argument("--prepare", type=Path, metavar="DIR", help="only make the files of the recipe")
    options = options.parse_args()
    corpus = options.data / "conll2000"
    train, test = need(corpus / "train.txt"), need(corpus / "test.txt")
    if not use_ours(options):
        return
    if options.prepare:
        options.prepare.mkdir(parents=True, exist_ok=True)
        prepare(options.prepare, train, test, options.data)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not options.test:
            train, test = split(train, folder)
        prepare(folder, train, test, options.data)
        rows = [row_of(name, folder, options) for name in options.only]
    title = "test file" if options.test else "last tenth of the training file"
    print_table(f"CoNLL-2000, {title}, AROW, values hidden, {options.passes} passes", rows)
    write_json(options.json_out, {"unlabelled": rows})


def split(train: Path, folder: Path) -> tuple[Path, Path]:
    """Nine tenths of the sentences, and the last tenth."""
    sentences = train.read_text(encoding="utf-8").strip().split("\n\n")
    cut = len(sentences) * 9 // 10
    for name, part in (("nine", sentences[:cut]), ("tenth", sentences[cut:])):
        (folder / name).write_text("\n\n".join(part) + "\n\n", encoding="utf-8")
    return folder / "nine", folder / "tenth"


def prepare(folder: Path, train: Path, test: Path, data: Path) -> None:
    """The lexicons and the files with all columns, from what the training file alone says."""
    text = write_text(need(data / "reuters" / "reuters21578.jsonl.gz"), folder / "reuters.txt")
    read = ["train", train, "--columns", PLAIN, "-q"]
    for name, more in (("pos", ["--task", "pos", "--label", "pos"]), ("chunk", ["--task", "chunking"])):
        call(*read, *more, "-o", folder / f"{name}.mg")
        first = ["--first", folder / "pos.mg"] if name == "chunk" else []
        lexicon = ["lexicon", folder / f"{name}.mg", text, "--format", "plain", *first, "-q"]
        call(*lexicon, "-o", folder / f"{name}.lex")
    for name, source in (("train.txt", train), ("test.txt", test)):
        write_columns(source, folder / name, folder / "parsed.conllu")


def call(*command: object) -> None:
    median_of([*OURS, *command])


def write_columns(source: Path, target: Path, parsed: Path) -> None:
    """Each word twice (so that its clusters are hidden apart from it), and what the pipeline says of it."""
    words = target.with_suffix(".conllu")
    with open(words, "w", encoding="utf-8") as out:
        for sentence in sentences_of(source):
            out.writelines(f"{i}\t{line.split()[0]}{EMPTY}\n" for i, line in enumerate(sentence, 1))
            out.write("\n")
    call("parse", "en", words, "--given", "tokens", "-o", parsed)
    with open(target, "w", encoding="utf-8") as out:
        for lines, tree in zip(sentences_of(source), sentences_of(parsed, "#"), strict=True):
            rows = [line.split("\t") for line in tree]
            out.writelines(f"{with_arc(line, i, rows)}\n" for i, line in enumerate(lines))
            out.write("\n")


def sentences_of(path: Path, comment: str | None = None) -> Iterator[list[str]]:
    """The lines of each sentence, but for those that begin with the sign of comments, if there are any."""
    lines: list[str] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not (comment and line.startswith(comment)):
                lines.append(line.rstrip("\n"))
            elif not line.strip() and lines:
                yield lines
                lines = []
    if lines:
        yield lines


def with_arc(line: str, i: int, tree: list[list[str]]) -> str:
    """A line of the corpus with the word again, and its tag, relation, direction and head's tag."""
    word, pos, chunk = line.split()
    xpos, head, relation = tree[i][4], int(tree[i][6]), tree[i][7].split(":")[0]
    away = head - 1 - i
    direction = f"{'+' if away > 0 else '-'}{min(abs(away), FARTHEST)}" if head else "0"
    return " ".join(
        [word, word, pos, xpos, relation, direction, tree[head - 1][3] if head else "ROOT", chunk]
    )


def row_of(name: str, folder: Path, options) -> dict:
    templates, model = folder / "templates.txt", folder / "model.mg"
    lines = TEMPLATES.read_text(encoding="utf-8").splitlines()
    left_out = ROWS[name]
    kept = [x for x in lines if x.startswith("#") or left_out is None or not re.search(left_out, x)]
    templates.write_text("\n".join(kept) + "\n", encoding="utf-8")
    settings = {"dropout": "values:0.15", "passes": options.passes, "shuffle-average": options.models}
    command = [*OURS, "train", folder / "train.txt", "-o", model, "--columns", COLUMNS, "--quiet"]
    command += ["--structure", "segments", "--features", templates, "--learner", "arow"]
    command += [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    if "clusters" in name:
        command += ["--clusters", f"wsj={need(options.data / CLUSTERS)}"]
    if "lexicons" in name:
        command += [part for x in ("chunk", "pos") for part in ("--lexicon", f"{x}={folder / x}.lex")]
    try:
        cost = median_of(command)
        score = json.loads(median_of([*OURS, "eval", model, folder / "test.txt", "--json"]).stdout)["f1"]
    except (CommandFailed, OSError, ValueError) as failure:
        return failed_row(name, failure)
    print(f"{name}: {score:.2f}", file=sys.stderr, flush=True)
    return cost_row(name, cost, model, F1=score)


if __name__ == "__main__":
    main()
