"""Pictures for people, with matplotlib, which only those who want pictures need to have."""

from __future__ import annotations

import argparse
import importlib.util
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from marginalia.cli.arguments import UsageError
from marginalia.cli.output import check_output
from marginalia.corpus.streams import replacing
from marginalia.errors import MissingExtra

if TYPE_CHECKING:
    from marginalia.assist.readability.ratings import CurvePoint
    from marginalia.evaluate import Reliability

_SUFFIXES = (".svg", ".png")


def check_plot(path: str, args: argparse.Namespace, option: str = "--reliability-plot") -> None:
    """An error, before any work is done, if no picture could be written there."""
    if os.path.splitext(path)[1].lower() not in _SUFFIXES:
        raise UsageError(f"{option}: found {path!r}, expected a name that ends in .svg or .png.")
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingExtra(option, "matplotlib", "plot")
    check_output(path, args, stdout=False)


def plot_curve(points: Sequence[CurvePoint], path: str, title: str) -> None:
    """Precision and recall of verdicts at each threshold."""
    figure = _figure(4.5, 4.5)
    axes = figure.add_subplot()
    axes.plot([one.recall for one in points], [one.precision for one in points], marker="o")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="recall", ylabel="precision")
    figure.suptitle(os.path.basename(title))
    _write(figure, path)


def plot_reliability(reliabilities: dict[str, Reliability], path: str, title: str) -> None:
    """How often answers are right by how sure the model was, and how many there are of each kind."""
    figure = _figure(4.5 * len(reliabilities), 4.5)
    for place, (name, result) in enumerate(reliabilities.items(), start=1):
        _draw(figure.add_subplot(1, len(reliabilities), place), name, result)
    figure.suptitle(os.path.basename(title))
    _write(figure, path)


def _figure(width: float, height: float) -> Any:
    import matplotlib

    # The same numbers give the same file.
    matplotlib.rcParams["svg.hashsalt"] = "marginalia"
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _write(figure: Any, path: str) -> None:
    kind = os.path.splitext(path)[1].lower().removeprefix(".")
    dates = {"Date": None} if kind == "svg" else {}
    with replacing(path) as stream:
        figure.savefig(stream, format=kind, metadata=dates)


def _draw(axes: Any, name: str, result: Reliability) -> None:
    filled = [one for one in result.bins if one.number]
    width = 1 / len(result.bins)
    axes.bar([one.low for one in filled], [one.accuracy for one in filled], width, align="edge", alpha=0.5)
    axes.plot([0, 1], [0, 1], linestyle="--", linewidth=1, color="black")
    axes.plot([one.confidence for one in filled], [one.accuracy for one in filled], marker="o")
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="share that is right")
    axes.set_title(f"{result.count:,} {name}, ECE {result.ece:.4f}, Brier {result.brier:.4f}")
