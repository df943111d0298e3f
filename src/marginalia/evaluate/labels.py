"""What a chunk label says: a prefix (begin, inside, end, ...) as a small code and a type as an id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from marginalia.evaluate.encode import Counts, Flags, Ids, LabelColumns

# A code is a position in this string; any prefix that is not in it gets the code of the last place.
CODES = "OBIES[].?"
OUTSIDE, OTHER = CODES.index("O"), CODES.index("?")
CODE_OF = {prefix: code for code, prefix in enumerate(CODES[:-1])}
# BILOU's last and unit, BMES's middle: other letters for the same things.
CODE_OF |= {"L": CODE_OF["E"], "U": CODE_OF["S"], "M": CODE_OF["I"]}

_CHUNK_LABEL = re.compile(r"[BIESLUM](-|\Z)")


@dataclass(frozen=True, eq=False)
class ChunkColumn:
    """A framed column seen as chunk labels: the code and the type id at each of the n + S + 1 places."""

    codes: npt.NDArray[np.int8]
    types: Ids

    def same_type(self) -> Flags:
        """For each step, whether the type stays what it was."""
        same: Flags = self.types[:-1] == self.types[1:]
        return same

    def steps(self, table: Flags) -> Flags:
        """For each step, the entry of a codes x codes table, given flat."""
        pairs = self.codes[:-1] * np.int8(len(CODES)) + self.codes[1:]
        found: Flags = table[pairs]
        return found


def chunk_columns(encoded: LabelColumns) -> tuple[tuple[str, ...], list[ChunkColumn]]:
    """The names of the types, and every column of `encoded` with its labels taken apart."""
    codes, types, names = _take_apart((*encoded.labels, "O"))
    framed = map(encoded.framed, range(len(encoded.columns)))
    return names, [ChunkColumn(codes[ids], types[ids]) for ids in framed]


def _take_apart(labels: Sequence[str]) -> tuple[npt.NDArray[np.int8], Ids, tuple[str, ...]]:
    # As conlleval does, a label is cut at its first hyphen: types may hold hyphens, prefixes may not.
    parts = [label.partition("-") for label in labels]
    names = {kind: None for _, _, kind in parts}
    index = {kind: number for number, kind in enumerate(names)}
    codes = np.array([CODE_OF.get(prefix, OTHER) for prefix, _, _ in parts], np.int8)
    return codes, np.array([index[kind] for _, _, kind in parts], np.int32), tuple(names)


def code_set(prefixes: str) -> Flags:
    """Flags by code: true for the given prefixes."""
    return np.array([prefix in prefixes for prefix in CODES])


def code_pairs(*pairs: tuple[str, str]) -> Flags:
    """A flat codes x codes table: true where a pair holds the earlier prefix left and the later one right."""
    table = np.zeros((len(CODES), len(CODES)), np.bool_)
    for earlier, later in pairs:
        table |= np.outer(code_set(earlier), code_set(later))
    return table.ravel()


def labels_in_use(encoded: LabelColumns, column: int) -> list[str]:
    """The labels that occur in a column."""
    seen: Counts = np.bincount(encoded.columns[column], minlength=len(encoded.labels))
    return [encoded.labels[i] for i in np.flatnonzero(seen)]


def looks_like_chunks(labels: Iterable[str]) -> bool:
    """Whether every label is O or has a chunk prefix (B I E S L U M), alone or before a hyphen."""
    return all(label == "O" or _CHUNK_LABEL.match(label) for label in labels)
