"""CoNLL-2000: what it costs to tag data whose labels are shown in another scheme than they are decoded in.

The same chunks spelled in IOB2, IOB1 and IOBES; models that decode in the scheme of the data, and such that
translate. Two models that decode in the same scheme have the same labels and weights, so that what one of
them takes longer is the translation; what two schemes differ in without any translation is the number of
labels. File to file, on one thread.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from harness import CommandFailed, measure, need, parser, print_table, write_json
from systems import OURS, ours_tag, use_ours

COLUMNS = "word pos chunk"
# Scheme of the data, scheme that the model decodes in.
CASES = [
    ("IOB2", "IOB2"),
    ("IOB1", "IOB2"),
    ("IOBES", "IOB2"),
    ("IOBES", "IOBES"),
    ("IOB2", "IOBES"),
    ("IOB1", "IOBES"),
]


def main() -> None:
    options = arguments()
    train, test = (need(options.data / "conll2000" / f"{part}.txt") for part in ("train", "test"))
    if not use_ours(options):
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for scheme in dict.fromkeys(scheme for scheme, _ in CASES):
            spell(train, folder / f"train-{scheme}.txt", scheme)
            spell(test, folder / f"test-{scheme}.txt", scheme, options.copies)
        models = {case: trained(folder, *case) for case in CASES}
        runs: dict[tuple[str, str], list[float]] = {case: [] for case in CASES}
        for _ in range(options.repeat):  # in turn: whatever else the machine does falls on all of them
            for case, model in models.items():
                runs[case].append(tagged(folder, model, case[0]))
    rows = [row(case, models[case], runs) for case in CASES]
    print_table("CoNLL-2000: tagging in other schemes, file to file, medians", rows)
    write_json(options.json_out, {"schemes": rows})


def arguments():
    options = parser(__doc__)
    options.add_argument("--copies", type=int, default=10, help="how often the test file is repeated")
    return options.parse_args()


def spell(source: Path, target: Path, scheme: str, copies: int = 1) -> None:
    """Write a file with its chunks in a scheme, sentence by sentence."""
    from marginalia.corpus.schemes import convert

    lines: list[str] = []
    for sentence in source.read_text(encoding="utf-8").strip().split("\n\n"):
        rows = [line.split() for line in sentence.split("\n")]
        labels = convert([row[-1] for row in rows], "IOB2", scheme)
        lines += [f"{' '.join(row[:-1])} {label}\n" for row, label in zip(rows, labels, strict=True)] + ["\n"]
    target.write_text("".join(lines) * copies, encoding="utf-8")


def trained(folder: Path, scheme: str, encoding: str) -> Path:
    model = folder / f"{scheme}-{encoding}.mg"
    settings = ["--set", "passes=3", "--set", f"scheme={scheme}", "--set", f"encode={encoding}"]
    command = [*OURS, "train", folder / f"train-{scheme}.txt", "-o", model, "--columns", COLUMNS, "-q"]
    run = measure([*command, "--task", "chunking", *settings])
    if run.code != 0:
        raise CommandFailed(run)
    return model


def tagged(folder: Path, model: Path, scheme: str) -> float:
    """CPU seconds."""
    run = measure(ours_tag(model, folder / f"test-{scheme}.txt", folder / "tagged.txt"))
    if run.code != 0:
        raise CommandFailed(run)
    return run.cpu


def row(case: tuple[str, str], model: Path, runs: dict[tuple[str, str], list[float]]) -> dict:
    scheme, encoding = case
    plain, iob2 = runs[encoding, encoding], runs["IOB2", "IOB2"]
    return {
        "system": f"data {scheme}, decoded in {encoding}",
        "CPU s": statistics.median(runs[case]),
        "/ not translated": statistics.median(a / b for a, b in zip(runs[case], plain, strict=True)),
        "/ plain IOB2": statistics.median(a / b for a, b in zip(runs[case], iob2, strict=True)),
    }


if __name__ == "__main__":
    main()
