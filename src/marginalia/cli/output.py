"""Writing results: checked before the work begins, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, cast

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
def replacing(path: str) -> Iterator[BinaryIO]:
    """A stream to a file beside `path` that takes its place at the end; a failure leaves the old file whole.

    Devices and pipes are written directly.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as stream:
                yield stream
        else:
            yield from _beside(target, path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write: {error.strerror or error}", file=path) from error


@contextmanager
def opened_target(path: str) -> Iterator[BinaryIO]:
    """Standard output, or a file that appears when all is done."""
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacing(path) as stream:
        yield stream


def _beside(target: str, path: str) -> Iterator[BinaryIO]:
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        with open(temporary, "xb") as stream:
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
            yield from _compressed(stream, path)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):  # it was renamed, or could not be made
            os.unlink(temporary)


def _compressed(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    if not path.endswith(".gz"):
        yield stream
        return
    import gzip

    # No name and no time inside: equal results are equal files.
    with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
        yield cast(BinaryIO, packed)
