"""Counts the functions of the package, and their files, that one small `marginalia train` goes through.

    python tools/count_calls.py [--list] [TRAIN OPTIONS…]

It trains on a few built-in lines with held-out ones, after a first run that loads all modules. What Python
makes of classes and comprehensions is not counted, nor what reads the command line.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import FrameType
from typing import Any

import marginalia
from marginalia.cli import main

PACKAGE = Path(marginalia.__file__).parent
PARSING = {f"cli/{name}.py" for name in ("__init__", "arguments", "plan", "reading", "output", "text")}
EXAMPLES = "two NUM\ncups UNIT\nof O\nflour NAME\n\none NUM\negg NAME\n\n"


def traced(arguments: list[str]) -> dict[str, set[str]]:
    """The functions that a command calls, by file."""
    found: dict[str, set[str]] = defaultdict(set)

    def see(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and not code.co_name.startswith("<") and str(PACKAGE) in code.co_filename:
            place = Path(code.co_filename).relative_to(PACKAGE).as_posix()
            name = getattr(code, "co_qualname", code.co_name)
            if place not in PARSING:
                found[place].add(f"{name}:{code.co_firstlineno}")

    sys.setprofile(see)
    try:
        main(arguments)
    finally:
        sys.setprofile(None)
    return found


def run(options: list[str], listed: bool) -> None:
    """Train, count and print."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "train.txt"
        data.write_text(EXAMPLES, encoding="utf-8")
        command = ["train", str(data), "--dev", str(data), "-o", str(Path(folder) / "m.mg"), "-q", *options]
        with contextlib.redirect_stdout(io.StringIO()):
            main(command)
            found = traced(command)
    for place in sorted(found) if listed else ():
        print(f"{place}: {' '.join(sorted(name.rsplit(':', 1)[0] for name in found[place]))}")
    rooms = defaultdict(list)
    for place, names in found.items():
        rooms[place.split("/")[0]].append(len(names))
    for room, counts in sorted(rooms.items()):
        print(f"{room:12} {sum(counts):4} functions in {len(counts):3} files")
    print(f"{'all':12} {sum(map(len, found.values())):4} functions in {len(found):3} files")


if __name__ == "__main__":
    options = [argument for argument in sys.argv[1:] if argument != "--list"]
    run(options, "--list" in sys.argv)
