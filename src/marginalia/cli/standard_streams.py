"""Standard streams as verbs need them, however they were left: closed, of another encoding, or a terminal,
which control characters must not reach."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from marginalia.cli.text import wants_colours

# What clears a bar, a colour, and all other control characters but line breaks and tabs.
_CONTROL = re.compile(r"(\r\x1b\[K)|(\x1b\[[0-9;]{1,8}m)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@contextmanager
def usable_streams() -> Iterator[None]:
    """For as long as a verb runs, all three streams can be used; the old ones are back at the end."""
    before = sys.stdin, sys.stdout, sys.stderr
    with open(os.devnull, "w") as nothing:
        sys.stdin = before[0] or io.TextIOWrapper(io.BufferedReader(_Closed("standard input")))
        closed = _Closed("standard output")
        output = before[1] or io.TextIOWrapper(io.BufferedWriter(closed), "utf-8")
        with _printable(output) as sys.stdout, _printable(before[2] or nothing) as sys.stderr:
            try:
                yield
            finally:
                let_go(sys.stdout)
                closed.forgotten = True
                sys.stdin, sys.stdout, sys.stderr = before


def let_go(stream: TextIO) -> None:
    """Write out what is buffered, or forget it if nobody reads it, so that the interpreter can end well."""
    try:
        stream.flush()
    except (OSError, ValueError):
        with suppress(OSError), open(os.devnull, "w") as nothing:
            os.dup2(nothing.fileno(), stream.fileno())


class _Closed(io.RawIOBase):
    """A stream that was closed when we came: an error for those who use it, none for others."""

    def __init__(self, name: str) -> None:
        self._name, self.forgotten = name, False

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise OSError(errno.EBADF, f"{self._name} is closed")

    def write(self, data: Any) -> int:
        if not self.forgotten:
            raise OSError(errno.EBADF, f"{self._name} is closed")
        return len(data)


@contextmanager
def _printable(stream: TextIO) -> Iterator[TextIO]:
    """A stream that shows what it cannot print as `\\x1b`: characters that its encoding lacks, and on a
    terminal control characters."""
    if not isinstance(stream, io.TextIOWrapper):
        yield stream
        return
    errors = stream.errors
    stream.reconfigure(errors="backslashreplace")
    try:
        if stream.isatty():
            terminal: Any = _Terminal(stream)
            yield io.TextIOWrapper(terminal, "utf-8", "backslashreplace", "\n", True, True)
        else:
            yield stream
    finally:
        stream.reconfigure(errors=errors)


class _Terminal(io.BufferedIOBase):
    """Bytes for a terminal, without control characters but those that make our bars and colours."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._coloured = stream, wants_colours(stream)
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        self._stream.write(_CONTROL.sub(self._shown, self._decoder.decode(bytes(data))))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()

    def _shown(self, found: re.Match[str]) -> str:
        if found[1] or (found[2] and self._coloured):
            return found[0]
        return f"\\x{ord(found[0][0]):02x}{found[0][1:]}"  # only its first character is one
