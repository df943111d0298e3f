"""Progress for people: a bar that redraws itself on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

from marginalia.cli.text import boosted, seconds

if TYPE_CHECKING:
    from marginalia.learn import Progress

_WIDTH = 24
_EVERY = 0.1  # seconds between two drawings


class Notes:
    """Lines beside the work. If nobody can read them any more, the work goes on."""

    def __init__(self, stream: TextIO, shown: bool = True) -> None:
        self._stream, self._shown = stream, shown

    def say(self, line: str) -> None:
        """Write a line."""
        self.write(f"{line}\n")

    def write(self, text: str) -> None:
        """Write text as it is."""
        if not self._shown:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._shown = False


class Bar:
    """One line that redraws itself; silent if the stream is no terminal."""

    def __init__(self, stream: TextIO, shown: bool = True) -> None:
        self._notes = Notes(stream, shown)
        self.live = shown and stream.isatty()
        self._drawn = False
        self._next = 0.0

    def draw(self, fraction: float, before: str, after: str) -> None:
        """Redraw, though not too often."""
        if not self.live or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        full = round(_WIDTH * min(max(fraction, 0.0), 1.0))
        blocks = "█" * full + "░" * (_WIDTH - full)
        self._notes.write(f"\r\x1b[K{before} {blocks} {100 * fraction:3.0f}% {after}")
        self._drawn = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._notes.write("\r\x1b[K")
            self._drawn, self._next = False, 0.0


class TrainingProgress:
    """Draws the records of a training run: a bar within a pass, a line after it."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self._notes = Notes(stream, not quiet)
        self._bar = Bar(stream, not quiet)

    def begin(self, lines: Iterable[str]) -> None:
        """Say what was read."""
        for line in lines:
            self._notes.say(line)

    def show(self, record: Progress) -> None:
        """Draw one record."""
        if not record.finished:
            fraction = record.sentences / max(record.total, 1)
            error = "" if record.error is None else f" error {record.error:5.2f}%"
            self._bar.draw(fraction, _pass(record), f"{error}  {seconds(record.seconds)}")
            return
        self._bar.clear()
        self._notes.say(f"{_pass(record)} {_line(record)}")

    def end(self) -> None:
        """Take the bar away."""
        self._bar.clear()


def _pass(record: Progress) -> str:
    width = len(str(record.passes))
    return f"pass {record.number:{width}}/{record.passes}"


def _line(record: Progress) -> str:
    dev = "" if record.dev is None else f"  dev {record.dev:6.2f}{' *' if record.best else '  '}"
    if record.error is not None:
        course = f" training error {record.error:6.3f}%"
    else:
        course = "" if record.loss is None else f" loss {record.loss:,.1f}"
    course += boosted(record.round, record.round_weight, record.bound)
    return f"{course}{dev}  {seconds(record.seconds)}"
