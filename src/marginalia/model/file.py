"""The `.mg` file: a safetensors container whose metadata describe the model and carry a checksum.

A truncated, damaged, foreign or newer file is a ModelError with the reason (model/container.py).
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import numpy as np

from marginalia.corpus.json_text import parse_json
from marginalia.errors import ModelError
from marginalia.model.container import (
    checksum,
    container,
    file_bytes,
    file_header,
    read_arrays,
    read_header,
    write_file,
)
from marginalia.model.packing import packed_arrays, unpacked_arrays
from marginalia.model.provenance import Arrays
from marginalia.model.rules_part import has_rules
from marginalia.model.saved import SavedModel

FORMAT = "marginalia"
VERSION = 2  # 2: votes, locally normalised models, learning states
# 3: short keys, weights of 16 and 8 bits, not packed; no longer written
GLOBAL_VERSION = 4  # 4: global features; written for models that have them only
STAGES_VERSION = 5  # 5: a first model inside; written for models of two stages only
BUNDLE_VERSION = 6  # 6: several models, the parts of a pipeline (model/bundle.py); no longer written
PACKED_VERSION = 7  # 7: packed weights (model/packing.py); written for shrunk models only
PACKED_BUNDLE_VERSION = 8  # 8: several models, with packed weights and texts
RULES_VERSION = 9  # 9: rules; written for models of rules only
_BUNDLES = (BUNDLE_VERSION, PACKED_BUNDLE_VERSION)
_READABLE = ("1", "2", "3", "4", "5", "6", "7", "8", "9")


def version_of(model: SavedModel) -> int:
    """The format version that a model is written in: the lowest that can hold it."""
    if model.is_shrunk:
        return PACKED_VERSION
    if model.first:
        return STAGES_VERSION
    if model.global_features:
        return GLOBAL_VERSION
    return RULES_VERSION if has_rules(model) else VERSION


def to_bytes(model: SavedModel) -> bytes:
    """The model as the bytes of its file; equal models give equal bytes."""
    return b"".join(_parts(model))


def _parts(model: SavedModel) -> list[bytes | memoryview]:
    """What a file consists of, without a copy of the arrays."""
    description = json.dumps(model.metadata(), ensure_ascii=False, sort_keys=True)
    arrays = {name: np.ascontiguousarray(array) for name, array in sorted(packed_arrays(model).items())}
    metadata = {
        "format": FORMAT,
        "format_version": str(version_of(model)),
        "checksum": checksum(description, arrays),
        "model": description,
    }
    return container(arrays, metadata)


def save(model: SavedModel, path: str | os.PathLike[str]) -> None:
    """Write the model to a file, all of it or nothing."""
    write_file(path, _parts(model))


class Opened(NamedTuple):
    """What a file has, its checksum compared: the version of its format, a description, arrays."""

    version: int
    description: dict[str, Any]
    arrays: Arrays

    @property
    def is_bundle(self) -> bool:
        """Whether it holds the parts of a pipeline, not one model."""
        return self.version in _BUNDLES


def load(path: str | os.PathLike[str], *, map: bool = False) -> SavedModel:
    """Read a model file (`map`: see `file_bytes`)."""
    view = file_bytes(path, map=map)
    try:
        return from_bytes(view)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def from_bytes(data: bytes | memoryview) -> SavedModel:
    """The model of `to_bytes`."""
    return saved_model(open_bytes(data))


def saved_model(opened: Opened) -> SavedModel:
    """The model of an opened file."""
    if opened.is_bundle:
        raise ModelError("this is a pipeline of several models, expected a file of one model.")
    return loaded_model(opened.description, opened.arrays)


def loaded_model(metadata: dict[str, Any], arrays: Arrays) -> SavedModel:
    """The model of a description and of the arrays of a file, packed or not."""
    try:
        arrays = unpacked_arrays(arrays, metadata.get("row_width") or len(metadata["labels"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelError(f"the model's weights are damaged: {error}") from error
    return SavedModel.from_metadata(metadata, arrays)


def open_file(path: str | os.PathLike[str], *, map: bool = False) -> Opened:
    """Read a file of one model or a bundle of them (`map`: see `file_bytes`)."""
    view = file_bytes(path, map=map)
    try:
        return open_bytes(view)
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None


def is_bundle(path: str | os.PathLike[str]) -> bool:
    """Whether a file is a bundle, by its header alone."""
    return file_header(path).get("format_version") in [str(version) for version in _BUNDLES]


def open_bytes(data: bytes | memoryview) -> Opened:
    """What the bytes of a file hold."""
    metadata, header, body = read_header(memoryview(data))
    if metadata.get("format") != FORMAT:
        raise ModelError("not a model: a safetensors file of another program.")
    version = metadata.get("format_version")
    if version not in _READABLE:
        raise ModelError(
            f"the model has format version {version}, this program reads {_READABLE[0]} to {_READABLE[-1]}."
        )
    arrays = read_arrays(header, body)
    description = metadata.get("model")
    if not isinstance(description, str) or metadata.get("checksum") != checksum(description, arrays):
        raise ModelError("the model is damaged: its checksum does not match its contents.")
    try:
        parsed = parse_json(description)
    except ValueError as error:
        raise ModelError(f"the model's description is damaged: {error}") from error
    if not isinstance(parsed, dict):
        raise ModelError("the model's description is damaged: it is not an object.")
    return Opened(int(version), parsed, arrays)
