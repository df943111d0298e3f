"""Words, numbers and colours for people."""

from __future__ import annotations

import os
from typing import TextIO

RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN = "31", "32", "33", "34", "35", "36"
BOLD, DIM = "1", "2"


def wants_colours(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colours (NO_COLOR, TERM=dumb)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Paint:
    """Colours text if the stream is a terminal that wants it, and nobody said `--no-color`."""

    def __init__(self, stream: TextIO, wanted: bool = True) -> None:
        self.on = wanted and wants_colours(stream)

    def __call__(self, text: str, *codes: str) -> str:
        return f"\x1b[{';'.join(codes)}m{text}\x1b[0m" if self.on and codes else text


def count(number: int, noun: str) -> str:
    """`1 label`, `2,012 sentences`."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def size(number: int) -> str:
    """A number of bytes, readable."""
    if number < 1000:
        return count(number, "byte")
    scaled = float(number)
    for unit in ("kB", "MB", "GB"):
        scaled /= 1000
        if scaled < 1000 or unit == "GB":
            break
    return f"{scaled:.1f} {unit}"


def seconds(number: float) -> str:
    """A time, readable."""
    if number < 60:
        return f"{number:.1f} s"
    minutes, rest = divmod(round(number), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def boosted(round: int | None, round_weight: float | None, bound: float | None) -> str:
    """What a round of boosting came to, if one is over."""
    if bound is None:
        return ""
    end = ", of no use" if round_weight == 0 else ""
    sure = "" if round_weight is None else f"confidence {round_weight:.3g}, "
    return f"  round {round}: {sure}wrong at most {100 * bound:.3g}%{end}"
