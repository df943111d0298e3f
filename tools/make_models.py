"""Make the built-in models from treebanks: python tools/make_models.py FOLDER [NAME …]

FOLDER has ud-english-ewt/ and ud-japanese-gsd/ with train.conllu, dev.conllu and test.conllu. Each model is
trained as `marginalia train --task ud` does, shrunk on dev data to at most 4 MB, scored once on test data,
and written to src/marginalia/data/models/ with its scores and licence. The same treebanks give the same
bytes. With --whole, pipelines that were trained are kept in a folder, and taken from there the next time.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from marginalia.corpus.document_reader import read_conllu
from marginalia.decode.pipeline import Pipeline
from marginalia.deploy.shrink_pipeline import shrink_pipeline
from marginalia.kinds.pipelines import evaluate_pipeline
from marginalia.learn.pipeline import PartProgress, train_pipeline

MOST_BYTES = 4_000_000
SOURCES = Path(__file__).resolve().parent.parent / "src" / "marginalia" / "data" / "models"
SHOWN = ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS")


@dataclass(frozen=True)
class Source:
    """What a built-in model is made of."""

    folder: str
    language: str
    treebank: str
    attribution: str
    settings: dict[str, Any] = field(default_factory=dict)


# All weights: shrinking chooses among them.
WHOLE = {
    f"{part}.{name}": value
    for part in ("tokens", "multiword", "tags", "tags-2", "lemmas", "supertags", "parser")
    for name, value in {"keep": 0, "bits": 32}.items()
}
MODELS = {
    "en": Source(
        "ud-english-ewt",
        "English",
        "UD English EWT 2.16",
        "Universal Dependencies contributors; Silveira et al. 2014",
        WHOLE,
    ),
    "ja": Source(
        "ud-japanese-gsd",
        "Japanese",
        "UD Japanese GSD 2.8",
        "Universal Dependencies contributors; Asahara et al. 2018",
        WHOLE,
    ),
}


def make(name: str, source: Source, folder: Path, threads: int, whole_path: Path | None = None) -> Pipeline:
    """Train a model, or take it from a file, shrink and score it."""
    train, dev, test = (
        read_conllu(folder / source.folder / f"{part}.conllu") for part in ("train", "dev", "test")
    )
    if whole_path is not None and whole_path.exists():
        whole = Pipeline.load(whole_path)
    else:
        whole = train_pipeline(train, dev, settings=source.settings, threads=threads, on_progress=_say)
        if whole_path is not None:
            whole.save(whole_path)
    shrunk: Pipeline = shrink_pipeline(
        whole, MOST_BYTES - 4096, dev, threads=threads, on_progress=print
    ).model
    about = {
        "language": source.language,
        "treebank": source.treebank,
        "licence": "CC BY-SA 4.0",
        "attribution": source.attribution,
        "scores": {
            "raw text": _scores(shrunk, test, ()),
            "given tokens": _scores(shrunk, test, ("tokens",)),
        },
    }
    bundle = replace(shrunk.bundle, about=shrunk.bundle.about | about).without_names()
    return Pipeline(bundle)


def _scores(pipeline: Pipeline, gold: Any, given: tuple[str, ...]) -> dict[str, float]:
    report = evaluate_pipeline(pipeline, gold, given)
    return {name: round(report[name].f1, 2) for name in SHOWN if report.scores[name] is not None}


def _say(record: PartProgress) -> None:
    if record.progress is None or record.progress.finished:
        dev = "" if record.progress is None else f"pass {record.progress.number}  dev {record.progress.dev}"
        print(f"  {record.part}: {record.note}{dev}", flush=True)


def main() -> None:
    """Make the models that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, help="the folder of treebanks")
    parser.add_argument("names", nargs="*", choices=[[], *MODELS], help="en, ja (default: all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--whole", type=Path, help="a folder for pipelines before they are shrunk")
    parser.add_argument("--output", type=Path, default=SOURCES, help="where the files go")
    args = parser.parse_args()
    for name in args.names or MODELS:
        for place in filter(None, (args.whole, args.output)):
            place.mkdir(parents=True, exist_ok=True)  # now, not after an hour of training
        whole = None if args.whole is None else args.whole / f"{name}.mg"
        made = make(name, MODELS[name], args.folder, args.threads, whole)
        made.save(args.output / f"{name}.mg")
        size = (args.output / f"{name}.mg").stat().st_size
        print(f"{name}: {size:,} bytes, {made.bundle.about['scores']}")
        if size > MOST_BYTES:
            raise SystemExit(f"{name}: found {size:,} bytes, expected at most {MOST_BYTES:,}")


if __name__ == "__main__":
    main()
