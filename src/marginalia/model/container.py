"""Arrays with metadata in one file: the safetensors container, written and read by ourselves, because its
library has no fixed order of metadata, and equal contents must have equal bytes.

Reading makes a private copy, so that nothing that happens to the file afterwards can reach a model in use,
and trusts nothing: what is truncated, damaged or foreign is a ModelError with the reason. Writing goes beside
the old file and renames, so that a failure leaves it whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import mmap
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, cast

import numpy as np

from marginalia.corpus.temporary import beside
from marginalia.errors import ModelError
from marginalia.model.provenance import Arrays

_MOST_HEADER = 100_000_000  # the container's own limit
_DTYPES = {
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "I16": np.int16,
    "F32": np.float32,
    "F64": np.float64,
}
_NAMES = {np.dtype(dtype).name: name for name, dtype in _DTYPES.items()}


def container(arrays: Arrays, metadata: Mapping[str, str]) -> list[bytes | memoryview]:
    """What a file consists of, without a copy of the arrays."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    parts: list[bytes | memoryview] = []
    begin = 0
    for name in sorted(arrays, key=lambda name: (-arrays[name].itemsize, name)):  # so each one is aligned
        array = arrays[name]
        end = begin + array.nbytes
        kind = _NAMES[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [begin, end]}
        parts.append(array.data.cast("B") if array.size else b"")
        begin = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little"), text, *parts]


def write_file(path: str | os.PathLike[str], parts: Iterable[bytes | memoryview]) -> None:
    """Write a file of these parts, all of it or nothing."""
    target = _target(path)
    try:
        with beside(target) as (file, temporary):
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, target)
    except OSError as error:
        raise ModelError(f"{path}: cannot write the model: {error.strerror or error}.") from error


def _target(path: str | os.PathLike[str]) -> str:
    """Where to write: what the path points to, if it is a link."""
    try:
        target = os.path.realpath(os.fspath(path))
        if os.path.exists(target) and not os.path.isfile(target):
            raise ModelError(f"{path}: cannot write the model: this is not a regular file.")
    except (OSError, ValueError) as error:
        raise ModelError(f"{path!r}: cannot write the model: {error}.") from error
    return target


def file_bytes(path: str | os.PathLike[str], *, map: bool = False) -> memoryview:
    """The bytes of a file: a copy, or with `map` the file's own pages, read as they are used, which is only
    for files that nobody writes to or truncates as long as the bytes are in use."""
    with _opened(path) as file:
        before = os.fstat(file.fileno())
        if stat.S_ISREG(before.st_mode) and before.st_size == 0:
            raise ModelError(f"{path}: not a model: the file is empty.")
        if map:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        view = _whole(file, before.st_size) if stat.S_ISREG(before.st_mode) else memoryview(file.read())
        after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise ModelError(f"{path}: the file was changed while it was read: load it again.")
        return view


def _whole(file: BinaryIO, size: int) -> memoryview:
    """All of a regular file, as one array: numpy asks for large pages, on which weights are found sooner."""
    view, filled = np.empty(size, np.uint8).data, 0
    while count := cast(io.RawIOBase, file).readinto(view[filled:]):
        filled += count
    return view[:filled].toreadonly()


def file_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The metadata of a file, without its arrays."""
    with _opened(path) as file:
        begin = file.read(8)
        view = memoryview(begin + file.read(min(int.from_bytes(begin, "little"), _MOST_HEADER)))
    try:
        return read_header(view)[0]
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    try:
        with open(path, "rb", buffering=0) as file:
            yield cast(BinaryIO, file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: cannot read the model: {reason}.") from error


def read_header(view: memoryview) -> tuple[dict[str, Any], dict[str, Any], memoryview]:
    """The metadata of a container (none if they are not an object), its arrays as described, and its body."""
    header, body = _header(view)
    metadata = header.pop("__metadata__", None)
    return metadata if isinstance(metadata, dict) else {}, header, body


def _header(view: memoryview) -> tuple[dict[str, Any], memoryview]:
    size = int.from_bytes(view[:8], "little") if len(view) >= 8 else 0
    if len(view) < 10 or size < 2 or view[8] != ord("{"):
        raise ModelError("not a model: the file does not begin as a safetensors file does.")
    if size > min(_MOST_HEADER, len(view) - 8):
        raise ModelError("the model is truncated: its header is incomplete.")
    try:
        header = json.loads(bytes(view[8 : 8 + size]).decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the model is damaged: its header is not JSON ({error}).") from error
    if not isinstance(header, dict):
        raise ModelError("the model is damaged: its header is not an object.")
    return header, view[8 + size :]


def read_arrays(header: Mapping[str, Any], body: memoryview) -> Arrays:
    """The arrays of a container, as its header describes them."""
    arrays: Arrays = {}
    used = 0
    for name, entry in header.items():
        try:
            dtype, shape, (begin, end) = (
                np.dtype(_DTYPES[entry["dtype"]]),
                entry["shape"],
                entry["data_offsets"],
            )
            if [type(n) for n in (*shape, begin, end)] != [int] * (len(shape) + 2) or min(*shape, begin) < 0:
                raise ValueError("offsets")
            if end > len(body):
                raise ModelError(f"the model is truncated: array '{name}' is incomplete.")
            if end - begin != dtype.itemsize * int(np.prod(shape, dtype=object)):
                raise ValueError("size")
            arrays[name] = np.frombuffer(body[begin:end], dtype).reshape(shape)
            used = max(used, end)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ModelError(f"the model is damaged: array '{name}' is ill described.") from error
    if used != len(body):
        raise ModelError("the model is damaged: there are bytes that belong to no array.")
    return arrays


def checksum(description: str, arrays: Arrays) -> str:
    """A digest of a description and arrays."""
    digest = hashlib.blake2b(description.encode("utf-8", "surrogatepass"), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"\0{name}\0{array.dtype.name}\0{array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
