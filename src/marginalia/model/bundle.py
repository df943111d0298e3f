"""Several models in one `.mg` file: the parts of a pipeline from raw text to trees (docs/ud.md).

The file is a container as that of one model, with a description of each part, its arrays under its name, and
tables of texts, such as the lexicon. A damaged file is a ModelError.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from marginalia.corpus.json_text import parse_json
from marginalia.errors import ModelError
from marginalia.model.container import checksum, container, write_file
from marginalia.model.file import (
    BUNDLE_VERSION,
    FORMAT,
    PACKED_BUNDLE_VERSION,
    Opened,
    loaded_model,
    open_bytes,
    open_file,
)
from marginalia.model.packing import packed_arrays, packed_lines, packed_text, unpacked_lines, unpacked_text
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

_TABLE = "table."
_PARTS = "parts"
_NAMES = ("names", "name_end")


@dataclass(frozen=True)
class Bundle:
    """The parts of a pipeline by name, in the order in which they work; tables of lines by name; and what is
    known of all of it (`about`: task, treebank, scores, licence)."""

    parts: dict[str, SavedModel]
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)

    def with_part(
        self, name: str, part: SavedModel | None, tables: Mapping[str, Any] | None = None
    ) -> Bundle:
        """The bundle with another part of this name (None: without it), and with these tables."""
        parts = {other: saved for other, saved in self.parts.items() if other != name or part is not None}
        if part is not None:
            parts[name] = part
        return replace(self, parts=parts, tables=self.tables | dict(tables or {}))

    def without_names(self) -> Bundle:
        """The bundle without the names of features, which explanations of features do without."""
        return replace(self, parts={name: _nameless(part) for name, part in self.parts.items()})

    def to_bytes(self) -> bytes:
        """The bytes of its file; equal bundles give equal bytes."""
        return b"".join(self._file())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, all of it or nothing."""
        write_file(path, self._file())

    def _file(self) -> list[bytes | memoryview]:
        described = {"bundle": self.about, "parts": list(self.parts), "tables": list(self.tables)}
        description = json.dumps(described, ensure_ascii=False, sort_keys=True)
        arrays = {
            f"{name}/{array}": np.ascontiguousarray(values)
            for name, part in self.parts.items()
            for array, values in packed_arrays(part).items()
        }
        parts = [part.metadata() for part in self.parts.values()]
        arrays[_PARTS] = packed_text(json.dumps(parts, ensure_ascii=False, sort_keys=True))
        for name, lines in self.tables.items():
            arrays[_TABLE + name] = packed_lines(lines)
        arrays = dict(sorted(arrays.items()))
        metadata = {
            "format": FORMAT,
            "format_version": str(PACKED_BUNDLE_VERSION),
            "checksum": checksum(description, arrays),
            "model": description,
        }
        return container(arrays, metadata)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Bundle:
        """The bundle of a file."""
        try:
            return cls.of(open_file(path))
        except ModelError as error:
            raise ModelError(f"{path}: {str(error).removeprefix(f'{path}: ')}") from None

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> Bundle:
        """The bundle of `to_bytes`."""
        return cls.of(open_bytes(data))

    @classmethod
    def of(cls, opened: Opened) -> Bundle:
        """The bundle of an opened file."""
        if not opened.is_bundle:
            raise ModelError("this is one model, not a pipeline of several.")
        described = opened.description
        try:
            about, listed, tables = (described[name] for name in ("bundle", "parts", "tables"))
            if not isinstance(about, dict) or not isinstance(listed, list) or not isinstance(tables, list):
                raise TypeError("parts are of a wrong kind")
            described_parts = _described_parts(opened, listed)
            names = [_checked(name) for name, _ in described_parts]
            with ThreadPoolExecutor(os.cpu_count()) as pool:  # unpacking weights does not need the GIL
                models = pool.map(
                    loaded_model,
                    (metadata for _, metadata in described_parts),
                    (_arrays_of(name, opened.arrays) for name in names),
                )
                parts = dict(zip(names, models, strict=True))
            read = _lines if opened.version == BUNDLE_VERSION else unpacked_lines
            lines = {_checked(name): read(opened.arrays[_TABLE + name]) for name in tables}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else error
            raise ModelError(f"the model's description is damaged: {what}") from error
        return cls(parts, lines, about)


def _described_parts(opened: Opened, listed: list[Any]) -> list[Any]:
    """The names of parts with their descriptions, which older files have in their own."""
    if opened.version == BUNDLE_VERSION:
        return listed
    found = parse_json(unpacked_text(opened.arrays[_PARTS]))
    return list(zip(listed, found, strict=True))


def _checked(name: object) -> str:
    if not isinstance(name, str) or "/" in name:
        raise TypeError("a part has no name")
    return name


def _arrays_of(name: str, arrays: Arrays) -> Arrays:
    prefix = f"{name}/"
    return {full.removeprefix(prefix): array for full, array in arrays.items() if full.startswith(prefix)}


def _lines(array: np.ndarray[Any, Any]) -> tuple[str, ...]:
    if array.dtype != np.uint8:
        raise TypeError("a table is no text")
    text = array.tobytes().decode()
    return tuple(text.split("\n")) if text else ()


def _nameless(saved: SavedModel) -> SavedModel:
    arrays = {name: array for name, array in saved.arrays.items() if name not in _NAMES}
    return replace(saved, arrays=arrays, settings=saved.settings | {"names": False})
