"""CRFsuite's model files: a header and chunks of features, labels and attributes; all numbers little-endian.

A file is trusted in nothing: every offset is checked before it is followed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from marginalia.errors import ModelError
from marginalia.model.constants import MOST_LABELS

MAGIC = b"lCRF"
_HEADER = np.dtype([("magic", "S4"), ("size", "<u4"), ("type", "S4"), ("version", "<u4")])
_COUNTS = ("features", "labels", "attributes")
_OFFSETS = ("features at", "labels at", "attributes at", "label references at", "attribute references at")
_HEADER_SIZE = 48
_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
_STATE, _TRANSITION = 0, 1


class CrfsuiteModel(NamedTuple):
    """Labels and attributes by number, and the weights: (attribute, label) and (label, label)."""

    labels: list[str]
    attributes: list[bytes]
    states: npt.NDArray[np.void]
    transitions: npt.NDArray[np.void]


def read_crfsuite_model(data: bytes) -> CrfsuiteModel:
    """The parts of a model file; a ModelError says what is wrong with it."""
    sizes = _header(data)
    if sizes["labels"] > MOST_LABELS:
        raise ModelError(f"the CRFsuite model has {sizes['labels']} labels, expected at most {MOST_LABELS}.")
    features = _features(data, sizes["features at"])
    labels = _strings(data, sizes["labels at"], sizes["labels"], "labels")
    attributes = _strings(data, sizes["attributes at"], sizes["attributes"], "attributes")
    states, transitions = (features[features["type"] == kind] for kind in (_STATE, _TRANSITION))
    if len(states) + len(transitions) != len(features):
        raise _damaged("a feature of an unknown kind")
    for part, sources in ((states, len(attributes)), (transitions, len(labels))):
        if part.size and (part["source"].max() >= sources or part["target"].max() >= len(labels)):
            raise _damaged("a feature of an unknown label or attribute")
    if not np.isfinite(features["weight"]).all():
        raise _damaged("a weight that is no number")
    try:
        names = [label.decode() for label in labels]
    except UnicodeDecodeError as error:
        raise ModelError(f"a label is not UTF-8 text: {error}.") from None
    return CrfsuiteModel(names, attributes, states, transitions)


def _damaged(what: str) -> ModelError:
    return ModelError(f"the CRFsuite model is damaged: {what}.")


def _header(data: bytes) -> dict[str, int]:
    if len(data) < _HEADER_SIZE:
        raise ModelError("the CRFsuite model is truncated: its header is incomplete.")
    header = np.frombuffer(data, _HEADER, 1)[0]
    if header["type"] != b"FOMC" or header["version"] != 100:
        kind = f"{bytes(header['type'])!r}, version {header['version']}"
        raise ModelError(f"found a CRFsuite model of type {kind}, expected b'FOMC', version 100.")
    if header["size"] > len(data):
        raise ModelError(f"the CRFsuite model is truncated: {len(data)} bytes of {header['size']}.")
    numbers = np.frombuffer(data, "<u4", len(_COUNTS) + len(_OFFSETS), _HEADER.itemsize).tolist()
    return dict(zip((*_COUNTS, *_OFFSETS), numbers, strict=True))


def _array(data: bytes, dtype: str | np.dtype[np.void], count: int, at: int) -> npt.NDArray[np.generic]:
    kind = np.dtype(dtype)
    if at + count * kind.itemsize > len(data):
        raise _damaged("a part lies outside of the file")
    return np.frombuffer(data, kind, count, at)


def _features(data: bytes, at: int) -> npt.NDArray[np.void]:
    chunk = data[at : at + 4]
    if chunk != b"FEAT":
        raise _damaged(f"found {chunk!r} where features should be")
    found = int(_array(data, "<u4", 1, at + 8)[0])  # the count of the header is that before pruning
    return _array(data, _FEATURE, found, at + 12)  # type: ignore[return-value]


def _strings(data: bytes, at: int, count: int, what: str) -> list[bytes]:
    """The strings of a constant quark database, by number."""
    if data[at : at + 4] != b"CQDB":
        raise _damaged(f"found {data[at : at + 4]!r} where {what} should be")
    size, _, order, _, backward = _array(data, "<u4", 5, at + 4).tolist()
    if order != 0x62445371 or at + size > len(data):
        raise _damaged(f"the {what} are incomplete, or of another byte order")
    chunk = data[at : at + size]
    found = [_string(chunk, place, what) for place in _array(chunk, "<u4", count, backward).tolist()]
    if sum(map(len, found)) > size:
        raise _damaged(f"the {what} overlap")
    return found


def _string(chunk: bytes, at: int, what: str) -> bytes:
    if not 0 < at <= len(chunk) - 8:
        raise _damaged(f"one of the {what} lies outside of its part")
    length = int.from_bytes(chunk[at + 4 : at + 8], "little")
    text = chunk[at + 8 : at + 8 + length]
    if len(text) != length or not text.endswith(b"\0"):
        raise _damaged(f"one of the {what} has no end")
    return text[:-1]
