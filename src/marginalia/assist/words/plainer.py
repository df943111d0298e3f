"""Plainer phrases as plain-language guides list them: `in order to` is `to`."""

from __future__ import annotations

from functools import cache

from .packed import SHIPPED, read_packed


@cache
def plainer_phrases() -> dict[tuple[str, str], tuple[str, ...]]:
    """Plainer wordings by phrase and part of speech (n v a r; empty: several words as they stand)."""
    path = str(SHIPPED / "en" / "plainer.words")
    fields = [line.split("\t") for line in read_packed(path, "plainer")]
    return {(phrase, pos): tuple(plainer) for phrase, pos, *plainer in fields}
