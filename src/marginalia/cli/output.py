"""Writing results: checked before the work begins, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from marginalia.errors import DataError


def check_writable(path: str) -> None:
    """An error if a file could not be written there, so that no work is done in vain."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise DataError("cannot write: this is a folder", file=path)
    if not target.parent.is_dir():
        raise DataError(f"cannot write: there is no folder {target.parent}", file=path)
    replaced = not target.exists() or target.is_file()
    if not os.access(target.parent if replaced else target, os.W_OK):
        raise DataError("cannot write: no permission", file=path)


@contextmanager
def replacing(path: str) -> Iterator[BinaryIO]:
    """A stream to a file beside `path` that takes its place at the end; a failure leaves the old file whole.

    Devices and pipes are written directly.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with open(target, "wb") as stream:
                yield stream
        else:
            yield from _beside(target, path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write: {error.strerror or error}", file=path) from error


def _beside(target: Path, path: str) -> Iterator[BinaryIO]:
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as stream:
            if target.exists():
                os.chmod(temporary, target.stat().st_mode & 0o777)
            yield from _compressed(stream, path)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def _compressed(stream: BinaryIO, path: str) -> Iterator[BinaryIO]:
    if not path.endswith(".gz"):
        yield stream
        return
    import gzip

    # No name and no time inside: equal results are equal files.
    with gzip.GzipFile("", "wb", fileobj=stream, mtime=0) as packed:
        yield cast(BinaryIO, packed)
