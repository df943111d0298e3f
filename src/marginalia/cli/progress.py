"""Progress for people: a bar that redraws itself on a terminal, plain lines anywhere else."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from marginalia.cli.text import seconds

if TYPE_CHECKING:
    from marginalia.learn import Progress

_WIDTH = 24
_EVERY = 0.1  # seconds between two drawings


class Bar:
    """One line that redraws itself; silent if the stream is no terminal."""

    def __init__(self, stream: TextIO, shown: bool = True) -> None:
        self._stream = stream
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
        self._stream.write(f"\r\x1b[K{before} {blocks} {100 * fraction:3.0f}% {after}")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._drawn, self._next = False, 0.0


class TrainingProgress:
    """Draws the records of a training run: a bar within a pass, a line after it."""

    def __init__(self, stream: TextIO, quiet: bool = False) -> None:
        self._stream, self._quiet = stream, quiet
        self._bar = Bar(stream, not quiet)

    def show(self, record: Progress) -> None:
        """Draw one record."""
        if not record.finished:
            fraction = record.sentences / max(record.total, 1)
            self._bar.draw(fraction, _pass(record), f" error {record.error:5.2f}%  {seconds(record.seconds)}")
            return
        self._bar.clear()
        if not self._quiet:
            print(_pass(record), _line(record), file=self._stream, flush=True)

    def end(self) -> None:
        """Take the bar away."""
        self._bar.clear()


def _pass(record: Progress) -> str:
    width = len(str(record.passes))
    return f"pass {record.number:{width}}/{record.passes}"


def _line(record: Progress) -> str:
    dev = "" if record.dev is None else f"  dev {record.dev:6.2f}{' *' if record.best else '  '}"
    return f" training error {record.error:6.3f}%{dev}  {seconds(record.seconds)}"
