"""The part of a model that has global features: their declaration and their weights (docs/model-file.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from marginalia import _core
from marginalia.features.global_features import FAMILIES, GlobalFeatures
from marginalia.model.provenance import Arrays

PREFIX = "global."
BASE = "global.base."
WEIGHTS = (
    *("homes", "keys", "row_end", "row_base", "narrow", "wide", "gaps"),
    *("weights", "scale", "codebook", "edge", "constant_at", "constants"),
)
"""The arrays that a model needs to score outputs, but for its lists and clusters."""
MOST_HYPOTHESES = 1_000_000
NO_MORE_TRAINING = (
    "a model with global features cannot be trained further: train it again on old and new data together."
)


@dataclass(frozen=True)
class GlobalPart:
    """What is declared, the column of words that it looks at, how many hypotheses are looked at, what their
    local scores are multiplied by, and how many MiB the search in one document may take. `reranker` tells how
    the weights were learned, if it was apart from those of the local features (learn/reranking.py). `votes`,
    if versions of the weights vote: how many there are, what local scores are multiplied by beside their
    weight, and on how many hypotheses they vote. `base` tells of the model whose hypotheses are scored, if
    that is not the model itself; its weights are arrays of their own."""

    features: GlobalFeatures
    column: str
    hypotheses: int
    scale: float = 1.0
    memory: int = 2048
    reranker: Mapping[str, Any] = field(default_factory=dict)
    votes: tuple[int, float, int] | None = None
    base: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For the description of the model; the word list is an array."""
        described = {
            "families": list(self.features.families),
            "functions": list(self.features.functions),
            "column": self.column,
            "hypotheses": self.hypotheses,
            "scale": self.scale,
            "memory": self.memory,
        }
        described |= {"reranker": dict(self.reranker)} if self.reranker else {}
        described |= {"base": dict(self.base)} if self.base else {}
        return described | ({"votes": list(self.votes)} if self.votes else {})

    @classmethod
    def of(cls, described: Mapping[str, Any], arrays: Arrays) -> GlobalPart:
        """The part of a model; a ValueError, KeyError or TypeError if it is damaged."""
        text = arrays[f"{PREFIX}lowercase"].tobytes().decode("utf-8")
        families, functions = (tuple(described[name]) for name in ("families", "functions"))
        if not all(isinstance(name, str) for name in (*families, *functions, described["column"])):
            raise TypeError("the names of global features are not texts")
        if unknown := [name for name in families if name.partition("/")[0] not in FAMILIES]:
            raise ValueError(f"there are no global features {unknown[0]}")
        features = GlobalFeatures(families, tuple(text.split("\n")) if text else (), functions)
        reranker, base = (described.get(name, {}) for name in ("reranker", "base"))
        if not isinstance(reranker, dict) or not isinstance(base, dict):
            raise TypeError("what tells of the re-ranker or its base is not an object")
        numbers = (described["hypotheses"], float(described["scale"]), described["memory"])
        part = cls(features, described["column"], *numbers, reranker, _votes_of(described), base)
        if type(part.hypotheses) is not int or not 0 < part.hypotheses <= MOST_HYPOTHESES:
            raise ValueError(f"there are {part.hypotheses!r} hypotheses")
        if type(part.memory) is not int or part.memory < 1 or not np.isfinite(part.scale):
            raise ValueError("the limits of global features are out of range")
        return part


def _votes_of(described: Mapping[str, Any]) -> tuple[int, float, int] | None:
    if (votes := described.get("votes")) is None:
        return None
    versions, scale, candidates = votes
    if type(versions) is not int or type(candidates) is not int or not 0 <= versions < 2**32:
        raise TypeError("the votes of global features are ill described")
    if not 0 < candidates <= MOST_HYPOTHESES:
        raise ValueError("the votes of global features are out of range")
    return versions, float(scale), candidates


def global_column(columns: Sequence[str], label: str) -> str:
    """The column whose words global features look at: the first that is not the label."""
    return next(name for name in columns if name != label)


def global_arrays(rows: _core.SparseRows, index: _core.FeatureIndex, part: GlobalPart) -> Arrays:
    """The arrays of the weights of global features."""
    keys, weights, names, ends = _core.global_weights(rows, index)
    words = "\n".join(part.features.lowercase).encode("utf-8")
    found: dict[str, npt.NDArray[Any]] = {
        "keys": keys,
        "weights": weights,
        "lowercase": np.frombuffer(words, np.uint8),
    }
    if index.keeps_names:
        found |= {"names": np.frombuffer(names, np.uint8), "name_end": ends}
    return {PREFIX + name: array for name, array in found.items()}


def check_global(described: Mapping[str, Any], arrays: Arrays) -> None:
    """A ValueError, KeyError or TypeError unless description and arrays of global features fit."""
    found = {name.removeprefix(PREFIX) for name in arrays if name.startswith(PREFIX)}
    if not described:
        if found:
            raise ValueError("there are weights of global features, but no description of them")
        return
    GlobalPart.of(described, arrays)
    keys, weights = arrays[f"{PREFIX}keys"], arrays[f"{PREFIX}weights"]
    if (keys.dtype.name, weights.dtype.name) != ("uint64", "float32") or keys.size != weights.size:
        raise ValueError("the weights of global features do not fit")
    if not np.isfinite(weights).all() or (keys[1:] <= keys[:-1]).any():
        raise ValueError("the weights of global features are out of order")
    if bool(described.get("base")) != any(name.startswith("base.") for name in found):
        raise ValueError("the base model of global features is incomplete")
    if ("votes" in described) != ("vote_steps" in found):
        raise ValueError("the votes of global features are incomplete")
    if arrays[f"{PREFIX}lowercase"].dtype != np.uint8:
        raise ValueError("the word list of global features is of a wrong kind")
    if ("names" in found) != ("name_end" in found):
        raise ValueError("the names of global features are incomplete")
    if "names" in found:
        names, ends = arrays[f"{PREFIX}names"], arrays[f"{PREFIX}name_end"]
        fits = (names.dtype.name, ends.dtype.name, ends.size) == ("uint8", "uint32", keys.size)
        if not fits or (ends[1:] < ends[:-1]).any() or (ends.size and int(ends[-1]) != names.size):
            raise ValueError("the names of global features do not fit")


def base_arrays(base: Arrays) -> Arrays:
    """The weights of a base model, as arrays of the model that scores its hypotheses."""
    return {BASE + name: base[name] for name in WEIGHTS if name in base}


def weights_of_base(arrays: Arrays) -> Arrays:
    """The inverse of `base_arrays`."""
    return {name.removeprefix(BASE): array for name, array in arrays.items() if name.startswith(BASE)}


def global_weights(arrays: Arrays) -> list[tuple[str, float]]:
    """Global features by name with their weights, the greatest first."""
    if f"{PREFIX}weights" not in arrays:
        return []
    weights = arrays[f"{PREFIX}weights"].tolist()
    named = zip(global_names(arrays), weights, strict=True)
    return sorted(named, key=lambda one: (-abs(one[1]), one[0]))


def global_names(arrays: Arrays) -> list[str]:
    """The names of global features in the order of their weights; `#key` without names."""
    if f"{PREFIX}keys" not in arrays:
        return []
    keys = arrays[f"{PREFIX}keys"].tolist()
    names = [f"#{key:016x}" for key in keys]
    if f"{PREFIX}names" in arrays:
        text, ends = arrays[f"{PREFIX}names"].tobytes(), arrays[f"{PREFIX}name_end"].tolist()
        bounds = zip([0, *ends[:-1]], ends, strict=True)
        names = [text[begin:end].decode("utf-8", "replace") for begin, end in bounds]
    return names
