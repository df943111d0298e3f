"""Word lists and counts that ship with the package: lines of text, compressed, with a checksum.

The first line of a file says what it is: `marginalia-words`, the version of the container, the kind of list
and the SHA-256 of the lines; zlib has the lines. Equal lists are equal files.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable
from pathlib import Path

from ...corpus.streams import open_source, replacing
from ...errors import DataError

_MAGIC, _VERSION = "marginalia-words", "1"
SHIPPED = Path(__file__).resolve().parent.parent.parent / "data" / "assist"


def write_packed(path: str, kind: str, lines: Iterable[str]) -> None:
    """Writes lines as a file of this kind; a failure leaves an old file whole."""
    body = "\n".join(lines).encode()
    head = f"{_MAGIC} {_VERSION} {kind} {hashlib.sha256(body).hexdigest()}\n"
    with replacing(path) as stream:
        stream.write(head.encode() + zlib.compress(body, 9))


def read_packed(path: str, kind: str) -> list[str]:
    """The lines of a file of this kind. A damaged one or one of another kind is a `DataError`."""
    with open_source(path) as stream:
        raw = stream.read()
    head, _, packed = raw.partition(b"\n")
    fields = head.decode("ascii", "replace").split(" ") if len(head) < 200 else []
    if len(fields) != 4 or fields[0] != _MAGIC:
        raise DataError(f"found no list of words, expected one of kind {kind}", file=path, line=1)
    if fields[1] != _VERSION:
        raise DataError(f"found version {fields[1]}, expected {_VERSION}", file=path, line=1)
    if fields[2] != kind:
        raise DataError(f"found a list of kind {fields[2]}, expected {kind}", file=path, line=1)
    return _body(packed, fields[3], path).decode().split("\n")


def _body(packed: bytes, checksum: str, path: str) -> bytes:
    try:
        body = zlib.decompress(packed)
    except zlib.error as error:
        raise DataError(f"the file is damaged or cut short: {error}", file=path) from None
    if hashlib.sha256(body).hexdigest() != checksum:
        raise DataError("the file is damaged: its checksum is not that of its first line", file=path)
    return body
