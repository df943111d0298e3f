"""CoNLL-2000: a model that python-crfsuite trained, converted. Does it tag identically, and how fast?"""

from __future__ import annotations

import sys
import tempfile
from itertools import zip_longest
from pathlib import Path

import systems
from harness import HERE, add_ratio, cost_row, median_of, need, parser, print_table, write_json
from peers.corpus import sentences

TEMPLATE = HERE / "templates" / "chunking.crfpp"
PEER = "python-crfsuite"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--iterations", type=int, default=100, help="of L-BFGS (default: 100)")
    options = options.parse_args()
    corpus = options.data / "conll2000"
    need(corpus / "train.txt")
    if not (systems.ours_available() and systems.peer_available()):
        sys.exit("this benchmark needs both marginalia and python-crfsuite")
    with tempfile.TemporaryDirectory() as name:
        rows = compare(options, corpus, Path(name))
    print_table(f"CoNLL-2000: tagging, file to file, with one model (the peer is {PEER})", rows)
    write_json(options.json_out, {"convert": rows})
    if any(row.get("identical") not in (None, row.get("sentences")) for row in rows):
        sys.exit("the converted model does not tag as the original does")


def compare(options, corpus: Path, folder: Path) -> list[dict]:
    theirs, ours, items = folder / "model.crfsuite", folder / "model.mg", folder / "items.txt"
    train, test = corpus / "train.txt", corpus / "test.txt"
    median_of(systems.peer_train(train, theirs, TEMPLATE, "lbfgs", options.iterations))
    rows = [cost_row("conversion", median_of([*systems.OURS, "convert", theirs, "-o", ours]), ours)]
    same = [sys.executable, systems.PEERS / "converted_tag.py", ours, test]
    median_of([*same, items, "--features", TEMPLATE, "--items"])
    out = {name: folder / f"{name}.txt" for name in ("theirs", "python", "command")}
    run = median_of(systems.peer_tag(theirs, test, out["theirs"], TEMPLATE), options.repeat)
    rows.append(cost_row(PEER, run, theirs))
    run = median_of([*same, out["python"], "--features", TEMPLATE], options.repeat)
    rows.append(cost_row("marginalia, in Python", run, ours, **agreement(out["theirs"], out["python"], -1)))
    run = median_of(systems.ours_tag(ours, items, out["command"]), options.repeat)
    equal = agreement(out["theirs"], out["command"], 0)
    rows.append(cost_row("marginalia tag, of an item file", run, ours, **equal))
    add_ratio(rows, PEER, "CPU s", "CPU / peer")
    return rows


def agreement(one: Path, other: Path, field: int) -> dict:
    """How many sentences have the same labels: the last field of one file, this one of the other."""
    pairs = list(zip_longest(sentences(str(one)), sentences(str(other)), fillvalue=[]))
    same = sum(labels(a, -1) == labels(b, field) for a, b in pairs)
    return {"sentences": len(pairs), "identical": same}


def labels(lines: list[str], field: int) -> list[str]:
    return [line.split()[field] for line in lines]


if __name__ == "__main__":
    main()
