"""Tables of words in a model's arrays: `clusters.NAME` has the words of clusters or of a lexicon,
`cluster-paths.NAME` their paths or their entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marginalia import _core
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

_WORDS, _TEXTS = "clusters.", "cluster-paths."


def tables_in(arrays: Arrays) -> Arrays:
    """The arrays of lists, tables of words, actions and rules, which stay as they are when weights change."""
    kept = ("list.", "tree.", "rule.", _WORDS, _TEXTS)
    return {name: array for name, array in arrays.items() if name.startswith(kept)}


def word_table_arrays(tables: Mapping[str, _core.WordTable]) -> Arrays:
    """What a model file has of these tables."""
    arrays: Arrays = {}
    for name, table in tables.items():
        arrays[_WORDS + name] = table.entries
        arrays[_TEXTS + name] = np.frombuffer("\n".join(table.texts).encode(), np.uint8)
    return arrays


def word_tables_of(saved: SavedModel) -> dict[str, _core.WordTable]:
    """The model's tables of words; a ValueError or LookupError if what its file has does not fit."""
    return {
        name: _core.WordTable.from_entries(saved.arrays[_WORDS + name], texts_of(saved, name), file.any_case)
        for name, file in saved.program.word_files.items()
    }


def texts_of(saved: SavedModel, name: str) -> list[str]:
    """The distinct paths or entries of the model's table of that name, in the order of their numbers."""
    array = saved.arrays[_TEXTS + name]
    if array.dtype != np.uint8:
        raise ValueError(f"the texts of the words '{name}' are {array.dtype.name}, expected uint8")
    return array.tobytes().decode("utf-8", "replace").split("\n")


def clusters_in(saved: SavedModel) -> dict[str, dict[str, Any]]:
    """What `inspect` tells of the model's clusters. With `any_case` other spellings count as words."""
    return {
        name: {
            "words": int(saved.arrays[_WORDS + name].size),
            "clusters": len(texts_of(saved, name)),
            "any_case": file.any_case,
        }
        for name, file in saved.program.word_files.items()
        if not file.labels
    }


def lexicons_in(saved: SavedModel) -> dict[str, dict[str, Any]]:
    """What `inspect` tells of the model's lexicons; other spellings count as words."""
    return {
        name: {"words": int(saved.arrays[_WORDS + name].size), "labels": list(file.labels)}
        for name, file in saved.program.word_files.items()
        if file.labels
    }
