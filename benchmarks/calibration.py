"""CoNLL-2000: can confidences be trusted? Calibration error of spans and tokens, and what they cost.

Models are trained on the first nine tenths of the training file, calibrated on the last, judged on the test
file. CRFs, which give probabilities without, are also judged as they are.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from harness import CommandFailed, failed_row, median_of, need, parser, print_table, write_json
from systems import OURS, use_ours


@dataclass
class Model:
    """A row of the table: how it is trained."""

    name: str
    options: list[str] = field(default_factory=list)
    probabilities: bool = False  # without calibration


SEGMENTS = ["--structure", "segments", "--features", "segments"]
MODELS = (
    Model("perceptron, averaged"),
    Model("margin", ["--learner", "margin", "--set", "passes=15"]),
    Model("CRF", ["--learner", "crf"], probabilities=True),
    Model("segments, perceptron", SEGMENTS),
    Model(
        "segments, CRF (SGD)",
        [*SEGMENTS, "--learner", "crf", "--set", "algorithm=sgd", "--set", "passes=8"],
        probabilities=True,
    ),
)
TASK = ["--task", "chunking", "--columns", "word pos chunk", "--seed", "1", "-q"]


def split(train: Path, folder: Path) -> tuple[Path, Path]:
    """The first nine tenths of the sentences, and the last tenth."""
    sentences = train.read_text().rstrip("\n").split("\n\n")
    kept = len(sentences) - len(sentences) // 10
    parts = {"train.txt": sentences[:kept], "dev.txt": sentences[kept:]}
    for name, listed in parts.items():
        (folder / name).write_text("\n\n".join(listed) + "\n\n")
    return folder / "train.txt", folder / "dev.txt"


def run(model: Model, train: Path, dev: Path, test: Path, folder: Path, repetitions: int) -> dict:
    """Train, calibrate, judge; and tag with and without confidences."""
    path = folder / "model.mg"
    try:
        median_of([*OURS, "train", train, "-o", path, *TASK, *model.options], 1)
        before = judged(path, test)["reliability"]["spans"]["ece"] if model.probabilities else None
        done = median_of([*OURS, "calibrate", path, dev, "-o", path, "--json"], 1)
        report = judged(path, test)
        plain = median_of([*OURS, "tag", path, test, "-o", folder / "out"], repetitions)
        sure = median_of([*OURS, "tag", path, test, "-o", folder / "out", "--confidence"], repetitions)
    except CommandFailed as failure:
        return failed_row(model.name, failure)
    spans, tokens = (report["reliability"][name] for name in ("spans", "tokens"))
    return {
        "system": model.name,
        "F1": round(report["f1"], 2),
        "temperature": round(json.loads(done.stdout)["temperature"], 2),
        "spans: ECE": round(spans["ece"], 4),
        "not calibrated": None if before is None else round(before, 4),
        "spans: Brier": round(spans["brier"], 4),
        "tokens: ECE": round(tokens["ece"], 4),
        "tag, CPU s": round(plain.cpu, 2),
        "with confidence": round(sure.cpu, 2),
    }


def judged(model: Path, test: Path) -> dict:
    return json.loads(median_of([*OURS, "eval", model, test, "--reliability", "--json"], 1).stdout)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--only", nargs="+", default=[], metavar="TEXT", help="rows whose names contain one")
    options = options.parse_args()
    corpus = options.data / "conll2000"
    need(corpus / "train.txt")
    if not use_ours(options):
        return
    chosen = [m for m in MODELS if not options.only or any(text in m.name for text in options.only)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train, dev = split(corpus / "train.txt", folder)
        rows = [run(m, train, dev, corpus / "test.txt", folder, options.repeat) for m in chosen]
    print_table("CoNLL-2000: confidences, calibrated on a tenth of the training data", rows)
    write_json(options.json_out, {"calibration": rows})


if __name__ == "__main__":
    main()
