"""What `marginalia fix` does with pipelines: sentences of CoNLL-U made right, and taken back."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError
from marginalia.cli.fix_report import correction_title, ending, flip_lines, report_lines
from marginalia.cli.reading import seekable
from marginalia.cli.text import count
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence
    from marginalia.learn.pipeline.correcting import PipelineReport
    from marginalia.model.corrections import Correction
    from marginalia.trainable_pipeline import PipelineModel

_REASONS = {
    "text": "corrected tags and trees are sentences of a CoNLL-U file: --input FILE (and --sentence N)",
    "labels": "corrected tags and trees are sentences of a CoNLL-U file: --input FILE (and --sentence N)",
    "passes": "parts of a pipeline are trained anew: marginalia train --task ud --start MODEL --part NAME",
}
_OF_READING = (
    *("format", "columns", "label", "separator", "comments", "tokenizer", "misaligned"),
    *("tag_separator", "tag_column"),
)


def fix_pipeline(pipeline: PipelineModel, args: argparse.Namespace) -> None:
    """Correct a pipeline, or show or take back its corrections."""
    for name, reason in _REASONS.items():
        if getattr(args, name) is not None:
            raise UsageError(f"{'TEXT' if name == 'text' else f'--{name}'}: {reason}.")
    if given := [name for name in _OF_READING if getattr(args, name, None) is not None]:
        raise UsageError(f"--{given[0].replace('_', '-')} is not for pipelines: --input is CoNLL-U.")
    if args.log:
        _show_log(args, pipeline.corrections)
    elif args.undo:
        _undo(args, pipeline)
    else:
        _correct(args, pipeline)


def _correct(args: argparse.Namespace, pipeline: PipelineModel) -> None:
    files = [args.input] if args.check is None else [args.input, args.check]
    with seekable(files) as [path, *check]:
        options: dict[str, Any] = {"parts": args.part or (), "margin": args.margin}
        options |= {"check": check[0] if check else None, "threads": args.threads or 1}
        fixed = pipeline.fix_all(list(_sentences(path, args)), **options)
    if args.output is not None:
        fixed.save(args.output)
    report = fixed.correction_report
    assert report is not None
    if args.json:
        told = {"model": args.model, "output": args.output} | report.to_json()
        print(json.dumps(told, ensure_ascii=False))
        return
    print("\n".join(_lines(report, args.top)))
    print(ending(args, f". Undo: marginalia fix {args.output} --undo -o {args.output}"))


def _sentences(path: str, args: argparse.Namespace) -> Iterator[ParsedSentence]:
    from marginalia.corpus.document_reader import iterate_conllu

    found = 0
    for found, sentence in enumerate(iterate_conllu(path, strict=True), 1):
        if args.sentence in (None, found):
            yield sentence
    if args.sentence is not None and args.sentence > found:
        raise DataError(f"found no sentence {args.sentence}", file=args.input)


def _lines(report: PipelineReport, top: int) -> Iterator[str]:
    for name, own in report.parts.items():
        yield f"part {name}"
        yield from (f"  {line}".rstrip() for line in report_lines(own, top, "sentence"))
    if report.checked:
        yield from flip_lines(report, top, "sentence")


def _undo(args: argparse.Namespace, pipeline: PipelineModel) -> None:
    last = pipeline.corrections[-1:]
    before = pipeline.undo()
    if args.output is not None:
        before.save(args.output)
    if args.json:
        undone = [_as_json(correction) for correction in last]
        print(json.dumps({"model": args.model, "output": args.output, "undone": undone}, ensure_ascii=False))
        return
    print("\n".join(f"undone: {line}" for line in _titles(last[0])))
    print(f"{count(len(before.corrections), 'correction')} left")
    print(ending(args, ""))


def _show_log(args: argparse.Namespace, corrections: list[dict[str, Correction]]) -> None:
    if args.json:
        listed = [_as_json(correction) for correction in corrections]
        print(json.dumps({"model": args.model, "corrections": listed}, ensure_ascii=False))
        return
    for number, correction in enumerate(corrections, 1):
        print("\n".join(f"{number}. {line}" for line in _titles(correction)))
    if not corrections:
        print("no corrections")


def _titles(correction: Mapping[str, Correction]) -> list[str]:
    return [f"{name}: {correction_title(own)}" for name, own in correction.items()]


def _as_json(correction: Mapping[str, Correction]) -> dict[str, Any]:
    return {name: own.to_json() for name, own in correction.items()}
