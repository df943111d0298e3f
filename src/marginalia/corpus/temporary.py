"""Files that are written beside the one that they will replace.

Their writer holds a lock on them as long as it lives. So whoever writes the same file next can tell those
that dead processes left (kill -9, a power cut), and removes them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

_fcntl: Any
try:
    import fcntl as _fcntl
except ImportError:  # Windows, where open files cannot be removed anyway
    _fcntl = None

_LONGEST = 200  # bytes of a file's name that the name of its temporary one repeats


@contextmanager
def beside(target: str) -> Iterator[tuple[BinaryIO, str]]:
    """A new file in the folder of `target`, with its path; it is gone at the end unless it was renamed."""
    folder, name = os.path.split(target)
    start = f".{os.fsdecode(os.fsencode(name)[:_LONGEST])}."
    _remove_dead(folder, start)
    path = os.path.join(folder, f"{start}{os.urandom(8).hex()}.tmp")
    try:
        with open(path, "xb") as file:
            _lock(file)
            if os.path.exists(target):
                os.chmod(path, os.stat(target).st_mode & 0o777)
            yield file, path
    finally:
        with suppress(OSError):  # it was renamed, or could not be made
            os.unlink(path)


def _lock(file: BinaryIO) -> bool:
    """Whether nobody else holds the lock; file systems without locks have none to hold."""
    if _fcntl is None:
        return True
    try:
        _fcntl.flock(file, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove_dead(folder: str, start: str) -> None:
    pattern = re.compile(re.escape(start) + r"[0-9a-f]{16}\.tmp")
    with suppress(OSError), os.scandir(folder or ".") as entries:
        for path in [entry.path for entry in entries if pattern.fullmatch(entry.name)]:
            with suppress(OSError), open(path, "r+b") as file:
                if _lock(file):
                    os.unlink(path)
