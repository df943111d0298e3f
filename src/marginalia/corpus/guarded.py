"""Input that nobody vouches for: lines that do not end, files that unpack to a thousand times their size."""

from __future__ import annotations

import io
from typing import BinaryIO, cast

from ..errors import DataError

MOST_LINE = 1 << 26  # bytes
_MOST_RATIO, _FREE = 250, 1 << 26  # text packs to a tenth or so; so many bytes may be unpacked of any file
_BUFFER = 1 << 18


def guarded(stream: BinaryIO, name: str, *, lines: bool, packed: BinaryIO | None = None) -> BinaryIO:
    """The stream, with a `DataError` where it goes too far; `packed` is the file that it unpacks."""
    return cast(BinaryIO, io.BufferedReader(_Guarded(stream, name, lines, packed), _BUFFER))


def read_at_most(stream: BinaryIO, most: int, name: str) -> bytes:
    """All of a stream, or a `DataError`."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise DataError(f"found more than {most >> 20} MiB, expected a smaller file", file=name)
    return data


class _Guarded(io.RawIOBase):
    """Does not own the stream, and never asks it for more than is there."""

    def __init__(self, stream: BinaryIO, name: str, lines: bool, packed: BinaryIO | None) -> None:
        self._read = getattr(stream, "read1", stream.read)
        self._stream, self._name, self._lines, self._packed = stream, name, lines, packed
        self._line, self._length, self._bytes = 1, 0, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        """Whether the stream is a file; nobody seeks in it."""
        return self._stream.seekable()

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        chunk: bytes = self._read(len(buffer))
        self._bytes += len(chunk)
        if self._lines:
            self._check_line(chunk)
        if self._packed is not None and self._bytes > _FREE + _MOST_RATIO * self._packed.tell():
            raise DataError(
                f"found more than {_MOST_RATIO} times as many bytes as are packed, expected text: "
                "unpack the file yourself if it is one",
                file=self._name,
            )
        buffer[: len(chunk)] = chunk
        return len(chunk)

    def _check_line(self, chunk: bytes) -> None:
        end = chunk.find(b"\n")
        if self._length + (len(chunk) if end < 0 else end) > MOST_LINE:
            raise DataError(
                f"found a line of more than {MOST_LINE >> 20} MiB, expected line breaks",
                file=self._name,
                line=self._line,
            )
        self._line += chunk.count(b"\n")
        self._length = self._length + len(chunk) if end < 0 else len(chunk) - chunk.rfind(b"\n") - 1
