"""CoNLL-2000: what constraints cost when nothing breaks them, and when most sentences do.

All rows tag the test file with one model; the cost is against that of tagging without constraints.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness import CommandFailed, failed_row, median_of, need, parser, print_table, write_json
from systems import OURS, use_ours

STRUCTURES = {
    "chain": ["--task", "chunking"],
    "segments": ["--structure", "segments", "--features", "segments"],
}
TYPES = ("NP", "VP", "PP")
CONSTRAINTS: dict[str, list[str]] = {
    "none": [],
    "one that nothing breaks": ["at most 1000 NP"],
    "at most 2 NP": ["at most 2 NP"],
    "NP before VP": ["NP before VP"],
    "never NP then VP": ["never NP then VP"],
    "1-2=VP": ["1-2=VP"],
    "at most 1 NP, 1 VP, 1 PP": [f"at most 1 {name}" for name in TYPES],
}


def rows_of(structure: str, model: Path, test: Path, folder: Path, repetitions: int) -> list[dict]:
    """A row for each set of constraints."""
    free, rows = folder / "free.txt", []
    for name, said in CONSTRAINTS.items():
        out = free if name == "none" else folder / "out.txt"
        options = [word for one in said for word in ("--constrain", one)]
        try:
            done = median_of([*OURS, "tag", model, test, "-o", out, "-q", *options], repetitions)
        except CommandFailed as failure:
            rows.append(failed_row(f"{structure}: {name}", failure))
            continue
        plain = done.cpu if name == "none" else rows[0]["CPU s"]
        rows.append(
            {
                "system": f"{structure}: {name}",
                "sentences changed": changed(free, out),
                "CPU s": round(done.cpu, 2),
                "CPU / none": round(done.cpu / plain, 2),
                "peak MB": round(done.peak_mb),
            }
        )
    return rows


def changed(one: Path, other: Path) -> int:
    """How many sentences of two files differ."""
    pairs = zip(one.read_text().split("\n\n"), other.read_text().split("\n\n"), strict=True)
    return sum(a != b for a, b in pairs)


def main() -> None:
    options = parser(__doc__).parse_args()
    corpus = options.data / "conll2000"
    need(corpus / "train.txt")
    if not use_ours(options):
        return
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for structure, chosen in STRUCTURES.items():
            model = folder / f"{structure}.mg"
            command = [*OURS, "train", corpus / "train.txt", "-o", model, "--columns", "word pos chunk", "-q"]
            median_of([*command, *chosen], 1)
            rows += rows_of(structure, model, corpus / "test.txt", folder, options.repeat)
    print_table("CoNLL-2000: the test file under constraints", rows)
    write_json(options.json_out, {"constraints": rows})


if __name__ == "__main__":
    main()
