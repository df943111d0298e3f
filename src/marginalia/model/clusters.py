"""Word clusters in a model's arrays: `clusters.NAME` has the words, `cluster-paths.NAME` their paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marginalia import _core
from marginalia.model.provenance import Arrays
from marginalia.model.saved import SavedModel

_WORDS, _PATHS = "clusters.", "cluster-paths."


def tables_in(arrays: Arrays) -> Arrays:
    """The arrays of lists, clusters, actions and rules, which stay as they are when weights change."""
    kept = ("list.", "tree.", "rule.", _WORDS, _PATHS)
    return {name: array for name, array in arrays.items() if name.startswith(kept)}


def cluster_arrays(clusters: Mapping[str, _core.WordClusters]) -> Arrays:
    """What a model file has of these clusters."""
    arrays: Arrays = {}
    for name, table in clusters.items():
        arrays[_WORDS + name] = table.entries
        arrays[_PATHS + name] = np.frombuffer("\n".join(table.paths).encode(), np.uint8)
    return arrays


def clusters_of(saved: SavedModel) -> dict[str, _core.WordClusters]:
    """The model's clusters; a ValueError or LookupError if what its file has does not fit."""
    return {
        name: _core.WordClusters.from_entries(
            saved.arrays[_WORDS + name], paths_of(saved, name), file.any_case
        )
        for name, file in saved.program.clusters.items()
    }


def paths_of(saved: SavedModel, name: str) -> list[str]:
    """The distinct paths of the model's clusters of that name, in the order of their numbers."""
    array = saved.arrays[_PATHS + name]
    if array.dtype != np.uint8:
        raise ValueError(f"the paths of the clusters '{name}' are {array.dtype.name}, expected uint8")
    return array.tobytes().decode("ascii", "replace").split("\n")


def clusters_in(saved: SavedModel) -> dict[str, dict[str, Any]]:
    """What `inspect` tells of the model's clusters. With `any_case` other spellings count as words."""
    return {
        name: {
            "words": int(saved.arrays[_WORDS + name].size),
            "clusters": len(paths_of(saved, name)),
            "any_case": file.any_case,
        }
        for name, file in saved.program.clusters.items()
    }
