"""Counts the steps of one small `marginalia train`: the functions of the package that it goes through.

    python tools/count_calls.py [--list] [TRAIN OPTIONS…]

It trains on a few lines with held-out ones, after a first run that loads all modules. A function *leads on*
if it calls one of another file: those have to be followed to understand the whole. To read an attribute is no
call, even if it is computed; nor does what Python makes of classes and comprehensions count. The command
line, the template language and the scores are rooms of their own, and are counted apart.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from functools import cached_property
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import marginalia
from marginalia.cli import main

PACKAGE = Path(marginalia.__file__).parent
APART = ("cli", "features", "evaluate")
EXAMPLES = "two NUM\ncups UNIT\nof O\nflour NAME\n\none NUM\negg NAME\n\n"
Function = tuple[str, str]
Calls = dict[Function, set[Function]]


def properties() -> set[CodeType]:
    """The code of all computed attributes of classes that are loaded."""
    found = set()
    for module in [module for name, module in sys.modules.items() if name.startswith("marginalia")]:
        members = [getattr(owner, "__dict__", {}) for owner in vars(module).values()]
        for value in [value for names in members for value in names.values()]:
            getter = value.fget if isinstance(value, property) else getattr(value, "func", None)
            if isinstance(value, (property, cached_property)) and hasattr(getter, "__code__"):
                found.add(getter.__code__)
    return found


class Recorder:
    """Remembers which function of the package called which."""

    def __init__(self, attributes: set[CodeType]) -> None:
        self._attributes = attributes
        self.calls: Calls = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and (called := self._function(frame)) is not None:
            self.calls.setdefault(called, set())
            caller = None if frame.f_code in self._attributes else frame.f_back
            while caller is not None and self._function(caller) is None:
                caller = caller.f_back
            if caller is not None and (by := self._function(caller)) is not None:
                self.calls.setdefault(by, set()).add(called)

    def _function(self, frame: FrameType) -> Function | None:
        code = frame.f_code
        if str(PACKAGE) not in code.co_filename or code.co_name.startswith("<"):
            return None
        place = Path(code.co_filename).relative_to(PACKAGE).as_posix()
        return place, f"{code.co_name}:{code.co_firstlineno}"


def recorded(options: list[str]) -> Calls:
    """The calls of one run."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        data = Path(folder) / "train.txt"
        data.write_text(EXAMPLES, encoding="utf-8")
        command = ["train", str(data), "--dev", str(data), "-o", str(Path(folder) / "m.mg"), "-q", *options]
        main(command)
        recorder = Recorder(properties())
        sys.setprofile(recorder)
        try:
            main(command)
        finally:
            sys.setprofile(None)
    return recorder.calls


def report(calls: Calls, listed: bool) -> None:
    """Print the counts."""
    leading = {a: {b for b in calls[a] if b[0] != a[0]} for a in calls}
    groups = {
        "all": set(calls),
        "that lead on": {a for a in calls if leading[a]},
        "that lead on, the command line, templates and scores apart": {
            a for a in calls if leading[a] and a[0].split("/")[0] not in APART
        },
    }
    for title, group in groups.items():
        print(f"{len(group):4} functions in {len({place for place, _ in group}):3} files: {title}")
    for place, name in sorted(group) if listed else ():
        print(f"{place} {name}: {' '.join(sorted(f'{b[0]}:{b[1]}' for b in leading[place, name]))}")


if __name__ == "__main__":
    report(recorded([one for one in sys.argv[1:] if one != "--list"]), "--list" in sys.argv)
