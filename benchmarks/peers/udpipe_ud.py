"""UDPipe 1 (ufal.udpipe): train on a treebank, or parse raw text or given tokens to CoNLL-U."""

from __future__ import annotations

import argparse
from pathlib import Path

from ufal.udpipe import InputFormat, Model, Pipeline, ProcessingError, Sentence, Trainer


def sentences(path: Path) -> list[Sentence]:
    reader = InputFormat.newConlluInputFormat()
    reader.setText(path.read_text(encoding="utf-8"))
    found, error = [], ProcessingError()
    while True:
        sentence = Sentence()
        if not reader.nextSentence(sentence, error):
            break
        found.append(sentence)
    if error.occurred():
        raise SystemExit(error.message)
    return found


def train(options: argparse.Namespace) -> None:
    """Part after part, each kept in a file of its own: a run that was stopped goes on with the next one."""
    settings = {"tokenizer": Trainer.DEFAULT, "tagger": Trainer.DEFAULT, "parser": Trainer.DEFAULT}
    if options.iterations:
        settings["tagger"] = settings["parser"] = f"iterations={options.iterations}"
    kept = {part: options.model.with_suffix(f".{part}") for part in settings}
    data = sentences(options.train), sentences(options.dev)
    for part in options.part or settings:
        if not kept[part].exists():
            kept[part].write_bytes(trained(*data, {part: settings[part]}))
    if options.part:
        return
    options.model.write_bytes(
        trained(*data, {part: f"from_model=file:{file}" for part, file in kept.items()})
    )


def trained(training: list[Sentence], dev: list[Sentence], parts: dict[str, str]) -> bytes:
    """A model of these parts, each with its settings."""
    error = ProcessingError()
    wanted = [parts.get(part, Trainer.NONE) for part in ("tokenizer", "tagger", "parser")]
    model: bytes = Trainer.train("morphodita_parsito", training, dev, *wanted, error)
    if error.occurred():
        raise SystemExit(error.message)
    return model


def parse(options: argparse.Namespace) -> None:
    model = Model.load(str(options.model))
    how = {"raw": "tokenize", "tokens": "conllu", "tags": "conllu"}[options.given]
    tagger = Pipeline.NONE if options.given == "tags" else Pipeline.DEFAULT
    pipeline = Pipeline(model, how, tagger, Pipeline.DEFAULT, "conllu")
    error = ProcessingError()
    options.output.write_text(pipeline.process(options.input.read_text(encoding="utf-8"), error), "utf-8")
    if error.occurred():
        raise SystemExit(error.message)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(required=True)
    training = verbs.add_parser("train")
    for name in ("train", "dev", "model"):
        training.add_argument(name, type=Path)
    training.add_argument(
        "--iterations", type=int, default=0, help="of the tagger and the parser (default: their own)"
    )
    training.add_argument(
        "--part",
        action="append",
        choices=("tokenizer", "tagger", "parser"),
        help="only this part: several such runs may go side by side, and one without makes the model of them",
    )
    training.set_defaults(run=train)
    parsing = verbs.add_parser("parse")
    for name in ("model", "input", "output"):
        parsing.add_argument(name, type=Path)
    parsing.add_argument("--given", choices=("raw", "tokens", "tags"), default="raw")
    parsing.set_defaults(run=parse)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
