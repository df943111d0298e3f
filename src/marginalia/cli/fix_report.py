"""Corrections for people to read: what they did, and what they are called in the log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from marginalia.cli.text import count

if TYPE_CHECKING:
    from marginalia.learn import CorrectionReport
    from marginalia.learn.pipeline.correcting import PipelineReport
    from marginalia.model.corrections import Change, Correction


def correction_title(correction: Correction) -> str:
    """A correction in a line."""
    first, *more = correction.examples
    rest = f" and {len(more)} more" if more else ""
    changed = count(len(correction.changes), "weight")
    pairs = zip(first.tokens, first.predicted, first.labels, strict=True)
    mended = [f"{token} {old} -> {right}" for token, old, right in pairs if old != right]
    shown = "; ".join(mended[:3]) + ("; …" if len(mended) > 3 else "")
    return f"{_short(first.tokens)}{rest}: {shown or 'was right'} ({changed} changed)"


def report_lines(report: CorrectionReport, top: int, example: str) -> Iterator[str]:
    """What a correction did, for people; `example`: what one is called."""
    wrong = [example for example in report.examples if example.predicted != example.labels]
    for one in wrong[:top]:
        rows = (one.tokens, one.predicted, one.labels)
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for name, row in zip(("", "was", "now"), rows, strict=True):
            cells = " ".join(f"{text:{size}}" for text, size in zip(row, width, strict=True))
            yield f"{name:5}{cells}".rstrip()
    if len(report.examples) > 1 or not wrong:
        right = len(report.examples) - len(wrong)
        yield f"{count(len(report.examples), 'example')}, {right} of them right before, all now"
    if report.new_labels:
        yield f"new labels: {' '.join(report.new_labels)}"
    if report.replaced:
        yield f"{count(report.replaced, 'earlier correction')} replaced"
    new = f", {count(report.new_features, 'feature')} new" if report.new_features else ""
    steps = count(report.updates, "step")
    yield f"{count(len(report.changes), 'weight')} changed in {steps}{new}; lead {report.lead:.4g}"
    yield from map(_change, report.changes[:top])
    if report.checked:
        yield from flip_lines(report, top, example)


def _change(change: Change) -> str:
    what = f"{change.kind} {change.feature}".rstrip()
    return f"  {change.before:+9.4f} -> {change.after:+9.4f}  {what}  {' '.join(change.labels)}"


def flip_lines(report: CorrectionReport | PipelineReport, top: int, example: str) -> Iterator[str]:
    """Which checked examples are answered otherwise now."""
    kinds = ("broken", "mended", "changed")
    counts = ", ".join(f"{len(report.flipped(kind))} {kind}" for kind in kinds)
    yield f"checked {count(report.checked, example)}: {counts}"
    for flip in sorted(report.flips, key=lambda flip: kinds.index(flip.kind))[:top]:
        rows = zip(flip.tokens, flip.right, flip.before, flip.after, strict=True)
        told = [f"{token} {old} -> {new} (right: {y})" for token, y, old, new in rows if old != new]
        yield f"  {flip.kind} {flip.number}: {'; '.join(told[:3])}{'; …' if len(told) > 3 else ''}"


def ending(args: argparse.Namespace, more: str) -> str:
    """Whether a model was written."""
    if args.output is None:
        return "nothing was written: -o FILE writes the model"
    return f"saved {args.output}{more}"


def _short(tokens: Sequence[str], most: int = 8) -> str:
    return " ".join(tokens[:most]) + (" …" if len(tokens) > most else "")
