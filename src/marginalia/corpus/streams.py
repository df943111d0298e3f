"""Opening what users name: paths, `-` for standard input or output, gzip by suffix, open streams."""

from __future__ import annotations

import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import IO, BinaryIO, cast

from ..errors import DataError, Interrupted
from ..interrupts import uninterrupted
from .guarded import guarded
from .temporary import beside

Source = str | os.PathLike[str] | IO[bytes] | IO[str]
Target = Source

_BREAKS = re.compile(r"[\t\r\n\0]")


def name_of(source: Source) -> str:
    """How error messages call a source."""
    if isinstance(source, (str, os.PathLike)):
        return "<stdin>" if source == "-" else os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def _blaming(name: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of our output went away: nothing is wrong with the data
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"cannot read or write: {reason}", file=name) from error


def _binary(stream: IO[bytes] | IO[str]) -> BinaryIO:
    if isinstance(stream, io.StringIO):
        return io.BytesIO(stream.read().encode("utf-8", "surrogatepass"))
    return cast(BinaryIO, getattr(stream, "buffer", stream))


@contextmanager
def open_source(source: Source, *, lines: bool = True) -> Iterator[BinaryIO]:
    """A binary stream to read; only what was opened here is closed. Failures are `DataError`s, and so are
    `lines` without an end and files that unpack to far more than text does."""
    name = name_of(source)
    with _blaming(name):
        if source == "-":
            yield guarded(_binary(sys.stdin), name, lines=lines)
        elif isinstance(source, (str, os.PathLike)):
            with _opened(os.fspath(source)) as (stream, packed):
                yield guarded(stream, name, lines=lines, packed=packed)
        else:
            yield guarded(_binary(source), name, lines=lines)


@contextmanager
def _opened(path: str) -> Iterator[tuple[BinaryIO, BinaryIO | None]]:
    """A file to read, unpacked, and the packed one if it is one."""
    with open(path, "rb") as file:
        if not path.endswith(".gz"):
            yield file, None
            return
        import gzip

        with gzip.open(file) as unpacked:
            yield cast(BinaryIO, unpacked), file


def is_piped(source: Source) -> bool:
    """Whether a source comes bit by bit: from a pipe or a terminal. Then nobody should wait for more of it
    than is needed."""
    if isinstance(source, (str, os.PathLike)) and source != "-":
        return os.path.exists(source) and not os.path.isfile(source)
    stream = sys.stdin if isinstance(source, (str, os.PathLike)) else source
    seekable = getattr(stream, "seekable", None)
    return seekable is not None and not seekable()


@contextmanager
def open_target(target: Target) -> Iterator[Callable[[str], object]]:
    """A function that writes text as UTF-8, without touching line ends."""
    with _blaming("<stdout>" if target == "-" else name_of(target)):
        if target == "-":
            sys.stdout.flush()
            yield _encoded(_binary(sys.stdout))
        elif isinstance(target, (str, os.PathLike)):
            with open(target, "wb") as stream, closing(_packed(stream, os.fspath(target))) as packed:
                yield _encoded(packed)
        elif isinstance(target, io.StringIO):
            yield target.write
        else:
            target.flush()
            yield _encoded(_binary(target))


def _encoded(stream: BinaryIO) -> Callable[[str], object]:
    return lambda text: stream.write(text.encode())


def read_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Line numbers and lines with their line breaks; a byte order mark is left to the caller."""
    with open_source(source) as stream:
        for number, raw in enumerate(stream, 1):
            try:
                line = raw.decode()
            except UnicodeDecodeError as error:
                raise _undecodable(raw, error.start, name_of(source), number) from None
            if "\0" in line:
                raise _undecodable(raw, raw.index(0), name_of(source), number)
            yield number, line


def read_numbered(path: str, what: str) -> Iterator[tuple[int, str]]:
    """The same of a file of ours without its byte order mark; `what` it holds goes into the errors."""
    try:
        for number, line in read_lines(path):
            yield number, line.removeprefix("\ufeff") if number == 1 else line
    except DataError as error:
        if error.line is not None:
            raise
        reason = error.message.removeprefix("cannot read or write: ")
        raise DataError(f"cannot read the {what}: {reason}", file=path) from error


def _undecodable(raw: bytes, at: int, file: str, line: int) -> DataError:
    what = f"byte 0x{raw[at]:02X}" if raw[at] else "a NUL byte"
    column = len(raw[:at].decode().removeprefix("\ufeff" if line == 1 else "")) + 1
    return DataError(f"found {what}, expected UTF-8 text", file=file, line=line, column=column)


def partial_name(path: str) -> str:
    """Where that of a file is kept which was written until Ctrl-C."""
    return f"{path[:-3]}.partial.gz" if path.endswith(".gz") else f"{path}.partial"


@contextmanager
def replacing(path: str, keep_partial: bool = False) -> Iterator[BinaryIO]:
    """A stream to a file beside `path` that takes its place at the end; a failure leaves the old file whole.

    Devices and pipes are written directly. `keep_partial`: after Ctrl-C what was written until then is kept.
    """
    target = os.path.realpath(path)
    try:
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as stream:
                yield stream
        else:
            yield from _beside(target, path, keep_partial)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot write: {error.strerror or error}", file=path) from error


def _beside(target: str, path: str, keep_partial: bool) -> Iterator[BinaryIO]:
    with beside(target) as (stream, temporary):
        written = 0
        packed = _packed(stream, path)
        try:
            try:
                yield packed
            finally:
                with uninterrupted():
                    written = packed.tell()
                    if packed is not stream:
                        packed.close()
                    stream.flush()
            os.replace(temporary, target)
        except KeyboardInterrupt:
            if keep_partial and written:
                _keep(temporary, partial_name(target))
            raise


def _keep(temporary: str, kept: str) -> None:
    """Says where it is; if it cannot be kept, Ctrl-C is all that happened."""
    with suppress(OSError):
        os.replace(temporary, kept)
        raise Interrupted(kept) from None


def _packed(stream: BinaryIO, path: str) -> BinaryIO:
    if not path.endswith(".gz"):
        return stream
    import gzip

    # No name and no time inside: equal results are equal files.
    return cast(BinaryIO, gzip.GzipFile("", "wb", fileobj=stream, mtime=0))


def breaks_columns(text: str) -> bool:
    """Whether a text has what lines of columns cannot have: tabs, line breaks, NUL."""
    return _BREAKS.search(text) is not None


def encodable(text: str) -> bool:
    """False for halves of surrogate pairs, which JSON can spell but UTF-8 cannot."""
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)
