"""CoNLL-2000 chunker, made smaller: size, F1, time to load, tokens a second.

The bits of the weights are chosen for each size on the last tenth of the training data, with a model of the
other nine; then a model of all training data is shrunk to those sizes with those bits and scored on the test
data, which choose nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import HERE, median_of, need, parser, print_table, size_mb, write_json

TARGETS = ("3MB", "1.5MB", "1MB", "500kB", "250kB")
COLUMNS = ["--columns", "word pos chunk"]


def main() -> None:
    options = parser(__doc__).parse_args()
    train, test = (need(options.data / "conll2000" / name) for name in ("train.txt", "test.txt"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = {"dev": choose(train, folder)}
        tables["test"] = judge(train, test, folder, chosen_bits(tables["dev"]), options.repeat)
    print_table("Candidates on held-out data (the last tenth of the training data)", tables["dev"])
    print_table("Test data, models of all training data", tables["test"])
    write_json(options.json_out, tables)


def marginalia(*words: object) -> str:
    command = [sys.executable, "-m", "marginalia", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def learn(data: Path, model: Path) -> Path:
    marginalia("train", data, "-o", model, "--task", "chunking", *COLUMNS, "-q")
    return model


def choose(train: Path, folder: Path) -> list[dict]:
    """The size-accuracy tables of all targets."""
    sentences = train.read_text(encoding="utf-8").strip().split("\n\n")
    cut = len(sentences) * 9 // 10
    for name, part in (("rest", sentences[:cut]), ("dev", sentences[cut:])):
        (folder / f"{name}.txt").write_text("\n\n".join(part) + "\n\n", encoding="utf-8")
    model, rows = learn(folder / "rest.txt", folder / "rest.mg"), []
    for target in TARGETS:
        words = ("--target", target, "--dev", folder / "dev.txt", "-o", folder / "small.mg", "--json")
        first, *rest = json.loads(marginalia("shrink", model, *words))["table"]
        rows += [row("as it is", first)] if not rows else []
        best = {
            bits: max((c for c in rest if c["bits"] == bits), key=lambda c: c["score"])
            for bits in (32, 16, 8)
        }
        rows += [row(target, candidate) for candidate in best.values()]
    return rows


def row(target: str, found: dict) -> dict:
    numbers = {"bits": found["bits"], "weights": found["weights"], "MB": found["size"] / 1e6}
    return {
        "target": target,
        **numbers,
        "F1": found["score"],
        "loss": found["loss"],
        "chosen": found["chosen"] or None,
    }


def chosen_bits(rows: list[dict]) -> dict[str, int]:
    return {found["target"]: found["bits"] for found in rows if found["chosen"]}


def judge(train: Path, test: Path, folder: Path, bits: dict[str, int], repeat: int) -> list[dict]:
    whole = learn(train, folder / "whole.mg")
    rows = [measured("as it is", 32, whole, test, folder, repeat)]
    for target, precision in bits.items():
        small = folder / "small.mg"
        marginalia("shrink", whole, "--target", target, "--bits", precision, "-o", small, "-q")
        rows.append(measured(target, precision, small, test, folder, repeat))
        rows[-1]["loss"] = rows[0]["F1"] - rows[-1]["F1"]
    return rows


def measured(target: str, bits: int, model: Path, test: Path, folder: Path, repeat: int) -> dict:
    report = json.loads(marginalia("eval", model, test, "--json"))
    load = [sys.executable, str(HERE / "loading.py"), "marginalia", str(model), "30"]
    seconds = min(float(median_of(load).stdout) for _ in range(repeat))
    words = [
        sys.executable,
        "-m",
        "marginalia",
        "tag",
        str(model),
        str(test),
        "-o",
        str(folder / "out.txt"),
        "-q",
    ]
    run = median_of(words, repeat)
    return {
        "target": target,
        "bits": bits,
        "model MB": size_mb(model) * 1.048576,
        "F1": report["f1"],
        "load ms": 1000 * seconds,
        "tag, CPU s": run.cpu,
    }


if __name__ == "__main__":
    main()
