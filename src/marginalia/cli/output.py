"""Writing results: checked before the work begins, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from marginalia.corpus.streams import replacing
from marginalia.errors import DataError

STDOUT = "-"


def check_writable(path: str, inputs: Iterable[str] = ()) -> None:
    """An error if a file could not be written there, or would replace an input, before any work is done."""
    target = os.path.realpath(path)
    if any(os.path.realpath(name) == target for name in inputs):
        raise DataError("cannot write: this is one of the inputs", file=path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise DataError("cannot write: this is a folder", file=path)
    if not os.path.isdir(folder):
        raise DataError(f"cannot write: there is no folder {folder}", file=path)
    replaced = not os.path.exists(target) or os.path.isfile(target)
    if not os.access(folder if replaced else target, os.W_OK):
        raise DataError("cannot write: no permission", file=path)


@contextmanager
def opened_target(path: str, keep_partial: bool = False) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when all is done, or, if wanted, partly after Ctrl-C."""
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(path, keep_partial) as stream:
        yield stream
