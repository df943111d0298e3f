"""Spans counted strictly: only what is well-formed under a scheme is a span, fragments are none.

A label *continues* the one before it when the scheme allows the two prefixes in one span and the types agree.
The longest runs of continuations are the candidates; one is a span if its first label may begin a span and
its last one may end it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from marginalia.errors import SettingsError
from marginalia.evaluate.encode import Counts, Flags, LabelColumns
from marginalia.evaluate.labels import (
    CODE_OF,
    ChunkColumn,
    chunk_columns,
    code_pairs,
    code_set,
    labels_in_use,
)
from marginalia.evaluate.tally import Tally, tally_steps

_NEVER = code_pairs()


@dataclass(frozen=True, eq=False)
class _Scheme:
    """What a scheme allows: within a span, at its edges, and at an edge that touches a span of its type."""

    continues: Flags
    begins: Flags
    ends: Flags
    begins_after: Flags = field(default_factory=lambda: _NEVER)
    ends_before: Flags = field(default_factory=lambda: _NEVER)


_AFTER_BI, _BEFORE_IE = code_pairs(("BI", "I")), code_pairs(("I", "IE"))
_WHOLE = _Scheme(code_pairs(("BI", "IE")), code_set("BS"), code_set("ES"))
SCHEMES = {
    # In IOB1 a B, and in IOE1 an E, only ever parts two touching spans of one type.
    "IOB1": _Scheme(_AFTER_BI, code_set("I"), code_set("BI"), begins_after=code_pairs(("BI", "B"))),
    "IOB2": _Scheme(_AFTER_BI, code_set("B"), code_set("BI")),
    "IOE1": _Scheme(_BEFORE_IE, code_set("IE"), code_set("I"), ends_before=code_pairs(("E", "IE"))),
    "IOE2": _Scheme(_BEFORE_IE, code_set("IE"), code_set("E")),
    "IOBES": _WHOLE,
    "BILOU": _WHOLE,
    "BMES": _WHOLE,
}
# The names that corpus/schemes.py knows; this room may not look there, so a test compares the two.
ALIASES = {"BIO": "IOB2", "IOB": "IOB1", "BIOES": "IOBES", "IOE": "IOE1", "BIOUL": "BILOU"}


def tally_strict(encoded: LabelColumns, scheme: str) -> Tally:
    """Count the well-formed spans of both columns, and the ones found in both."""
    names, (gold, predicted) = chunk_columns(encoded)
    rules = SCHEMES[scheme]
    gold_stops, predicted_stops = _stops(gold, rules), _stops(predicted, rules)
    found = gold_stops > 0
    # Spans of one labelling never overlap, so the step that starts a span names it.
    same = found & (gold_stops == predicted_stops) & (gold.types[1:] == predicted.types[1:])
    return tally_steps(
        encoded,
        names,
        (found, gold.types[1:]),
        (predicted_stops > 0, predicted.types[1:]),
        (same, gold.types[1:]),
    )


def _stops(column: ChunkColumn, rules: _Scheme) -> Counts:
    """For each step that starts a span, the step that ends it; 0 elsewhere."""
    same_type = column.same_type()
    cuts = np.flatnonzero(~(column.steps(rules.continues) & same_type))
    begins = rules.begins[column.codes[1:]] | (column.steps(rules.begins_after) & same_type)
    ends = rules.ends[column.codes[:-1]] | (column.steps(rules.ends_before) & same_type)
    first, last = cuts[:-1], cuts[1:]
    whole = begins[first] & ends[last]
    stops = np.zeros(same_type.size, np.int64)
    stops[first[whole]] = last[whole]
    return stops


def choose_scheme(encoded: LabelColumns, scheme: str | None) -> str:
    """The scheme asked for, after checking its name, or the one that the first column seems to follow."""
    if scheme is None:
        return _guess_scheme(encoded)
    name = ALIASES.get(scheme.upper(), scheme.upper())
    if name not in SCHEMES:
        raise SettingsError(f"scheme: {scheme!r} is not one of {', '.join(SCHEMES)}")
    return name


def _guess_scheme(encoded: LabelColumns) -> str:
    prefixes = {label.partition("-")[0] for label in labels_in_use(encoded, 0)}
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"S", "M"} or {"B", "E"} <= prefixes:
        return "BMES" if "M" in prefixes else "IOBES"
    gold = chunk_columns(encoded)[1][0]
    # One stray label must not tip the scale: a B (or E) where version 1 cannot have it decides for version 2.
    if "E" in prefixes:
        loose = ~(gold.steps(code_pairs(("IE", "IE"))) & gold.same_type())
        return "IOE" + _version(gold.codes[:-1][loose], "E")
    loose = ~(gold.steps(code_pairs(("BI", "BI"))) & gold.same_type())
    return "IOB" + _version(gold.codes[1:][loose], "B")


def _version(at_edges: np.ndarray[tuple[int, ...], np.dtype[np.int8]], mark: str) -> str:
    """2 if the mark stands at edges of spans that touch no other of their type, 1 if only I does."""
    if (at_edges == CODE_OF[mark]).any():
        return "2"
    return "1" if (at_edges == CODE_OF["I"]).any() else "2"
