"""How spans are spelled as one label per token: IOB1, IOB2, IOE1, IOE2, IOBES, BILOU, BMES.

A label is `O`, a bare prefix (`B`) or prefix and type (`B-NP`, split at the first `-`). A scheme says which
prefix a token gets by its role in its span (single, first, inside, last); all else follows from that:
two neighbours are one span if their types agree, the left one need not close and the right one need not open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..errors import DataError, SettingsError
from .records import Span

Mask = npt.NDArray[np.uint8]
APART, TWINS, JOINED = range(3)  # relations of neighbours, as in core/base/schemes.hpp
_EDGE = ("", "")  # what stands before and after a sentence
_OUTSIDE = ("", "O")


@dataclass(frozen=True)
class Scheme:
    """Prefixes by role; `twin_first` and `twin_last` replace a role only beside a span of the same type."""

    name: str
    single: str
    first: str
    inside: str
    last: str
    outside: bool = True
    twin_first: str = ""
    twin_last: str = ""

    @property
    def prefixes(self) -> frozenset[str]:
        """All prefixes but `O`."""
        roles = {self.single, self.first, self.inside, self.last, self.twin_first, self.twin_last}
        return frozenset(roles - {""})

    def spells(self, label: str) -> bool:
        """Whether `label` belongs to this scheme's alphabet."""
        if label == "O":
            return self.outside
        return split_label(label)[0] in self.prefixes and not label.endswith("-")

    def must_open(self, prefix: str) -> bool:
        """Whether a span always starts here."""
        return prefix not in (self.inside, self.last, self.twin_last)

    def must_close(self, prefix: str) -> bool:
        """Whether a span always ends here."""
        return prefix not in (self.inside, self.first, self.twin_first)

    def joined(self, left: str, right: str, same_type: bool) -> bool:
        """Whether two neighbours with these prefixes lie in one span; "" is the edge of the sentence."""
        same_type = same_type and left not in _OUTSIDE and right not in _OUTSIDE
        return same_type and not self.must_close(left) and not self.must_open(right)

    def legal(self, left: str, right: str, same_type: bool) -> bool:
        """Whether the scheme ever writes these prefixes side by side."""
        if self.joined(left, right, same_type):
            return True
        twins = same_type and left not in _OUTSIDE and right not in _OUTSIDE
        ends = {*_OUTSIDE, self.single, self.last, self.twin_first}
        starts = {*_OUTSIDE, self.single, self.first, self.twin_last}
        left_ends = twins if left and left == self.twin_last else left in ends
        right_starts = twins if right and right == self.twin_first else right in starts
        return left_ends and right_starts


# In the order in which `detect` prefers them: the common ones first, then by how much they spell out.
SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Scheme("IOB2", "B", "B", "I", "I"),
        Scheme("IOBES", "S", "B", "I", "E"),
        Scheme("BILOU", "U", "B", "I", "L"),
        Scheme("BMES", "S", "B", "M", "E", outside=False),
        Scheme("IOE2", "E", "I", "I", "E"),
        Scheme("IOB1", "I", "I", "I", "I", twin_first="B"),
        Scheme("IOE1", "I", "I", "I", "I", twin_last="E"),
    )
}
ALIASES = {"BIO": "IOB2", "IOB": "IOB1", "BIOES": "IOBES", "IOE": "IOE1", "BIOUL": "BILOU"}


class Problem(NamedTuple):
    """A label that the scheme does not allow after `previous` (None: sentence start)."""

    position: int
    label: str
    previous: str | None
    why: str


def repairs_always(scheme: str | None) -> bool:
    """Where B and E are optional, an odd one leaves no doubt about the spans."""
    return scheme in ("IOB1", "IOE1")


def scheme_named(name: str) -> Scheme:
    """The scheme of that name (any case; BIO, BIOES and other usual names too)."""
    known = SCHEMES.get(ALIASES.get(name.upper(), name.upper()))
    if known is None:
        raise SettingsError(f"found scheme {name!r}, expected one of {', '.join(SCHEMES)}")
    return known


UNTYPED = "word"
"""What a span is called if spans have no types."""


def split_label(label: str) -> tuple[str, str]:
    """Prefix and type of a label; the type of a bare prefix is empty."""
    prefix, _, type_ = label.partition("-")
    return prefix, type_


def _split_labels(labels: Sequence[str], scheme: Scheme) -> dict[str, tuple[str, str]]:
    """Each label that occurs, split; all must be of the scheme."""
    split = {label: split_label(label) for label in set(labels) if scheme.spells(label)}
    for position, label in enumerate(labels):
        if label not in split:
            raise DataError(
                f"found label {label!r} at token {position + 1}, expected a label of {scheme.name}"
            )
    return split


def _legal_pair(scheme: Scheme, left: tuple[str, str], right: tuple[str, str]) -> bool:
    return scheme.legal(left[0], right[0], left[1] == right[1])


def may_follow(left: str, right: str, scheme: str) -> bool:
    """Whether the scheme ever writes one label after another; "" stands for the edge of a sentence."""
    return _legal_pair(scheme_named(scheme), split_label(left), split_label(right))


def detect(label_sequences: Iterable[Sequence[str]]) -> str | None:
    """Name of the scheme that the labels of some sentences follow; None if they are not chunk labels.

    Only schemes that know all the labels are considered; the one with the fewest illegal neighbours
    wins, and the first in `SCHEMES` if several are equal, so a few annotation errors do no harm.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for labels in label_sequences:
        pairs.update(pairwise(["", *labels, ""]))
    return detect_from_pairs(pairs)


def detect_from_pairs(pairs: Mapping[tuple[str, str], int]) -> str | None:
    """The scheme that counts of neighbouring labels follow; None if there is none. "": a sentence's edge."""
    distinct = {label for pair in pairs for label in pair} - {""}
    fitting = [s for s in SCHEMES.values() if distinct and all(s.spells(label) for label in distinct)]
    return min(fitting, key=lambda scheme: _violations(pairs, scheme)).name if fitting else None


def _violations(pairs: Mapping[tuple[str, str], int], scheme: Scheme) -> int:
    return sum(
        count
        for (left, right), count in pairs.items()
        if not _legal_pair(scheme, split_label(left), split_label(right))
    )


def spans_of(labels: Sequence[str], scheme: str) -> list[Span]:
    """The spans that labels spell; an illegal label starts a new span, as in conlleval."""
    rules = scheme_named(scheme)
    split = _split_labels(labels, rules)
    pairs = enumerate(pairwise(labels), 1)
    cuts = [place for place, (left, right) in pairs if not _in_one_span(rules.name, left, right)]
    bounds = pairwise([0, *cuts, len(labels)]) if labels else ()
    return [
        Span(start, end, split[labels[start]][1])
        for start, end in bounds
        if split[labels[start]][0] not in _OUTSIDE
    ]


# Labels are few and tokens many: what is asked of two neighbours is kept.
@lru_cache(maxsize=1 << 16)
def _in_one_span(scheme: str, left: str, right: str) -> bool:
    (prefix, type_), (next_prefix, next_type) = split_label(left), split_label(right)
    return SCHEMES[scheme].joined(prefix, next_prefix, type_ == next_type)


def labels_of(spans: Iterable[Span], length: int, scheme: str) -> list[str]:
    """Labels for `length` tokens; spans must not overlap (and must cover all tokens in BMES)."""
    rules = scheme_named(scheme)
    ordered = sorted(spans)
    labels = [""] * length
    for before, span, after in zip([None, *ordered], ordered, [*ordered[1:], None], strict=False):
        if not (before.end if before else 0) <= span.start < span.end <= length:
            raise DataError(
                f"{tuple(span)} is empty, outside of {length} tokens, or overlaps the span before"
            )
        follows = before is not None and (before.end, before.label) == (span.start, span.label)
        followed = after is not None and (after.start, after.label) == (span.end, span.label)
        labels[span.start : span.end] = _spell(
            rules.name, span.label, span.end - span.start, follows, followed
        )
    if not rules.outside and "" in labels:
        raise DataError(f"token {labels.index('') + 1} is in no span, but {rules.name} has no label for that")
    return [label or "O" for label in labels]


@lru_cache(maxsize=1 << 12)
def _spell(scheme: str, type_: str, length: int, follows: bool, followed: bool) -> tuple[str, ...]:
    """The labels of one span, which may follow or be followed by a span of its type."""
    rules = SCHEMES[scheme]
    prefixes = [rules.first, *[rules.inside] * (length - 2), rules.last] if length > 1 else [rules.single]
    if follows and rules.twin_first:
        prefixes[0] = rules.twin_first
    if followed and rules.twin_last:
        prefixes[-1] = rules.twin_last
    return tuple(f"{prefix}-{type_}" if type_ else prefix for prefix in prefixes)


def prefix_table(name: str) -> npt.NDArray[np.str_]:
    """The prefix of a token by its relations to the tokens before and after it, [before, after]."""
    scheme, found = scheme_named(name), []
    for before in (APART, TWINS, JOINED):
        for after in (APART, TWINS, JOINED):
            opens, closes = before != JOINED, after != JOINED
            prefix = (scheme.single if closes else scheme.first) if opens else scheme.last
            prefix = prefix if opens or closes else scheme.inside
            prefix = scheme.twin_first if before == TWINS and scheme.twin_first else prefix
            prefix = scheme.twin_last if after == TWINS and scheme.twin_last else prefix
            found.append(prefix)
    return np.array(found).reshape(3, 3)


def labels_of_type(type_: str, scheme: str) -> list[str]:
    """Every label that a scheme can write for spans of a type."""
    found: dict[str, None] = {}
    for spans in ([(0, 1)], [(0, 3)], [(0, 2), (2, 4)], [(0, 1), (1, 2)]):
        found |= dict.fromkeys(labels_of([Span(b, e, type_) for b, e in spans], spans[-1][1], scheme))
    return list(found)


def labels_for(labels: Iterable[str], scheme: str | None) -> list[str]:
    """Every label that a scheme can write for outputs that have these labels, of whatever scheme."""
    found: dict[str, None] = {}
    for label in labels:
        plain = scheme is None or label == "O"
        found |= dict.fromkeys([label] if plain else labels_of_type(split_label(label)[1], str(scheme)))
    return list(found)


def convert(labels: Sequence[str], source: str, target: str) -> list[str]:
    """The labels that spell the same spans in another scheme."""
    return labels_of(spans_of(labels, source), len(labels), target)


def validate(labels: Sequence[str], scheme: str) -> list[Problem]:
    """Every label that may not stand where it stands; a sentence must not end inside a span either."""
    rules = scheme_named(scheme)
    problems: list[Problem] = []
    for position, label in enumerate(labels):
        previous = labels[position - 1] if position else None
        if why := _complaint(rules, previous, label, final=position == len(labels) - 1):
            problems.append(Problem(position, label, previous, why))
    return problems


def _complaint(rules: Scheme, previous: str | None, label: str, *, final: bool) -> str:
    if not rules.spells(label):
        return f"{label!r} is not a label of {rules.name}"
    left, right = split_label(previous or ""), split_label(label)
    if (previous is None or rules.spells(previous)) and not _legal_pair(rules, left, right):
        return f"{label} cannot {f'follow {previous}' if previous else 'start a sentence'} in {rules.name}"
    if final and not _legal_pair(rules, right, _EDGE):
        return f"{label} cannot end a sentence in {rules.name}"
    return ""


def repair(labels: Sequence[str], scheme: str) -> tuple[list[str], int]:
    """Legal labels for the spans that `spans_of` reads, and how many labels had to change."""
    legal = convert(labels, scheme, scheme)
    return legal, sum(old != new for old, new in zip(labels, legal, strict=True))


def legal_transitions(labels: Sequence[str], scheme: str | None) -> tuple[Mask, Mask, Mask]:
    """Masks of what the scheme allows: start [L], transition [L, L] (row then column), end [L]."""
    size = len(labels)
    if scheme is None:
        return np.ones(size, np.uint8), np.ones((size, size), np.uint8), np.ones(size, np.uint8)
    rules = scheme_named(scheme)
    split = _split_labels(labels, rules)
    parsed = [split[label] for label in labels]
    alphabet = ["", *sorted({prefix for prefix, _ in parsed})]
    table = np.array(
        [[[rules.legal(a, b, same) for same in (False, True)] for b in alphabet] for a in alphabet], np.uint8
    )
    prefix = np.array([alphabet.index(p) for p, _ in parsed], np.intp)
    types = {type_: number for number, (_, type_) in enumerate(parsed)}
    type_ids = np.array([types[type_] for _, type_ in parsed], np.intp)
    same = type_ids[:, None] == type_ids[None, :]
    apart, together = (table[:, :, k][np.ix_(prefix, prefix)] for k in (0, 1))
    return table[0, prefix, 0], np.where(same, together, apart), table[prefix, 0, 0]
