"""The `.mg` file: a safetensors container whose metadata describe the model and carry a checksum.

We write and read the container ourselves: the safetensors library has no fixed order of metadata, and equal
models must have equal bytes.

Loading maps the file into memory and trusts nothing: a truncated, damaged, foreign or newer file is a
ModelError with the reason. Saving writes beside the old file and renames, so that a failure leaves it whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
from typing import Any

import numpy as np

from marginalia.errors import ModelError
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

FORMAT = "marginalia"
VERSION = 2  # 2: votes, locally normalised models, learning states
SHRUNK_VERSION = 3  # 3: short keys, weights of 16 and 8 bits; written for shrunk models only
GLOBAL_VERSION = 4  # 4: global features; written for models that have them only
_READABLE = ("1", "2", "3", "4")
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


def version_of(model: SavedModel) -> int:
    """The format version that a model is written in: the lowest that can hold it."""
    if model.global_features:
        return GLOBAL_VERSION
    return SHRUNK_VERSION if model.is_shrunk else VERSION


def to_bytes(model: SavedModel) -> bytes:
    """The model as the bytes of its file; equal models give equal bytes."""
    return b"".join(_parts(model))


def _parts(model: SavedModel) -> list[bytes | memoryview]:
    """What a file consists of, without a copy of the arrays."""
    description = json.dumps(model.metadata(), ensure_ascii=False, sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(model.arrays.items())}
    metadata = {
        "format": FORMAT,
        "format_version": str(version_of(model)),
        "checksum": _checksum(description, arrays),
        "model": description,
    }
    return _container(arrays, metadata)


def _container(arrays: Arrays, metadata: dict[str, str]) -> list[bytes | memoryview]:
    header: dict[str, Any] = {"__metadata__": metadata}
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


def save(model: SavedModel, path: str | os.PathLike[str]) -> None:
    """Write the model to a file, all of it or nothing."""
    target = _target(path)
    parts = _parts(model)
    temporary = os.path.join(os.path.dirname(target), f".mg-{os.urandom(8).hex()}")
    try:
        with open(temporary, "xb") as file:
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        raise ModelError(f"{path}: cannot write the model: {error.strerror or error}.") from error
    finally:
        with contextlib.suppress(OSError):  # it was renamed, or could not be made
            os.unlink(temporary)


def _target(path: str | os.PathLike[str]) -> str:
    """Where to write: what the path points to, if it is a link."""
    try:
        target = os.path.realpath(os.fspath(path))
        if os.path.exists(target) and not os.path.isfile(target):
            raise ModelError(f"{path}: cannot write the model: this is not a regular file.")
    except (OSError, ValueError) as error:
        raise ModelError(f"{path!r}: cannot write the model: {error}.") from error
    return target


def load(path: str | os.PathLike[str]) -> SavedModel:
    """Read a model file; its arrays stay in the file and are paged in as they are used."""
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{path}: not a model: the file is empty.")
            view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ModelError(f"{path}: cannot read the model: {reason}.") from error
    try:
        return from_bytes(view)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def from_bytes(data: bytes | memoryview) -> SavedModel:
    """The model of `to_bytes`."""
    view = memoryview(data)
    header, body = _header(view)
    metadata = header.pop("__metadata__", None)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        raise ModelError("not a model: a safetensors file of another program.")
    version = metadata.get("format_version")
    if version not in _READABLE:
        raise ModelError(
            f"the model has format version {version}, this program reads {_READABLE[0]} to {_READABLE[-1]}."
        )
    arrays = _arrays(header, body)
    description = metadata.get("model")
    if not isinstance(description, str) or metadata.get("checksum") != _checksum(description, arrays):
        raise ModelError("the model is damaged: its checksum does not match its contents.")
    try:
        parsed = json.loads(description)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"the model's description is damaged: {error}") from error
    if not isinstance(parsed, dict):
        raise ModelError("the model's description is damaged: it is not an object.")
    return SavedModel.from_metadata(parsed, arrays)


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


def _arrays(header: dict[str, Any], body: memoryview) -> Arrays:
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


def _checksum(description: str, arrays: Arrays) -> str:
    digest = hashlib.blake2b(description.encode("utf-8", "surrogatepass"), digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"\0{name}\0{array.dtype.name}\0{array.shape}\0".encode("utf-8", "surrogatepass"))
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
