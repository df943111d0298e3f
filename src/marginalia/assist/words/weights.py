"""Weights of features by name, from the table that `export_weights` writes for a re-ranker."""

from __future__ import annotations

from ...corpus.streams import read_lines
from ...errors import DataError


def read_weights(path: str) -> dict[str, float]:
    """The weights of all features; lines that begin with # are remarks."""
    weights = {}
    for number, line in read_lines(path):
        kind, _, rest = line.rstrip("\n").partition("\t")
        if kind == "kind" or kind.startswith("#"):
            continue
        name, _, value = rest.rpartition("\t")
        try:
            weights[name.split("\t")[0]] = float(value)
        except ValueError:
            raise DataError(f"found '{value}', expected a weight", file=path, line=number) from None
    return weights
