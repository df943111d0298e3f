"""Labels that leave open what is right: how they are written, and what they may stand for.

`_` may be any label, `B-NP|B-VP` one of several, `*-NP` any label of a type, `B-*` a prefix with any type.
What several tokens may stand for together is found by walking through all ways to place spans. See
docs/partial-labels.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import DataError
from .blocks import Block
from .records import Sentence, Span
from .schemes import Scheme, labels_of, scheme_named, split_label

UNKNOWN, ANY, OR = "_", "*", "|"
SCORED = "data to be scored must be labelled completely"
Pairs = Mapping[tuple[str, str], int]


def is_open(label: str) -> bool:
    """Whether a label leaves open what is right."""
    return label == UNKNOWN or OR in label or ANY in split_label(label)


def spelled(label: Any) -> str:
    """A label as it stands in a file: None is `_`, a set, list or tuple the labels that may be right."""
    if label is None:
        return UNKNOWN
    if isinstance(label, str):
        return label
    if isinstance(label, (set, frozenset, list, tuple)) and label and all(isinstance(x, str) for x in label):
        return OR.join(sorted(label) if isinstance(label, (set, frozenset)) else label)
    raise DataError(f"found the label {label!r}, expected a string, some strings, or None")


def alternatives(label: str) -> list[str]:
    """The labels and patterns of which one is right."""
    return label.split(OR)


def refuse_open(block: Block, column: str, why: str) -> None:
    """An error that points at the first label that leaves open what is right."""
    names, ids = block.table.distinct(block.index(column))
    for number, name in enumerate(names):
        if is_open(name):
            token = int((ids == number).argmax())
            raise block.error(f"found the label {name!r}, expected a complete one: {why}", token, column)


def certain_pairs(pairs: Pairs) -> dict[tuple[str, str], int]:
    """Neighbours that are both known; all other labels and prefixes that are mentioned have a count of 0."""
    found: dict[tuple[str, str], int] = {}
    for (left, right), count in pairs.items():
        if not is_open(left) and not is_open(right):
            found[left, right] = found.get((left, right), 0) + count
            continue
        for name in (name for label in (left, right) if label for name in alternatives(label)):
            if name != UNKNOWN and split_label(name)[0] != ANY:
                found.setdefault((name, name), 0)
    return found


class Contradiction(NamedTuple):
    """The token at which no label is left."""

    token: int


class Tags:
    """What open labels may stand for if labels are plain tags: any of those that the data mention."""

    def __init__(self, names: Iterable[str]) -> None:
        mentioned = (one for name in names for one in alternatives(name))
        self.labels = [name for name in dict.fromkeys(mentioned) if not is_open(name)]

    def complaint(self, label: str) -> str:
        """Why a label cannot be read."""
        if not all(alternatives(label)):
            return f"found label {label!r}, expected labels around each {OR}"
        if any(ANY in split_label(one) for one in alternatives(label)):
            return f"found label {label!r}, but the labels are plain tags, in which {ANY} means nothing"
        return ""

    def of(self, labels: Sequence[str]) -> list[frozenset[str]]:
        """The labels that each token may have."""
        every = frozenset(self.labels)
        return [every if UNKNOWN in alternatives(one) else frozenset(alternatives(one)) for one in labels]


_Masks = dict[
    str, int
]  # states of a token as bits, if it stands "apart", or beside a "twin": a span of its type


class Spans:
    """What labels that leave something open stand for, if they spell spans.

    A token's state is its place in a span (single, first, inside, last) and the type, or outside; from it
    follows the label in any scheme. States are bits of a number.
    """

    def __init__(self, names: Iterable[str], scheme: str, encoding: str) -> None:
        self._source, self._target = scheme_named(scheme), scheme_named(encoding)
        # A scheme marks spans that follow one of their type at their first token, or such that are followed
        # at their last: the labels of the right or of the left one of two neighbours say if they are twins.
        self._looks_left = self._source.twin_last != ""
        labels = [one for name in names for one in alternatives(name) if one not in (UNKNOWN, ANY, "O")]
        types = dict.fromkeys(split_label(one)[1] for one in labels)
        self._bare = "" in types
        self._states = [("O", "")] if self._source.outside and self._target.outside else []
        self._states += [(role, type_) for type_ in types if type_ != ANY for role in "SBIE"]
        self._can_start, self._can_end = self._bits("OSB"), self._bits("OSE")
        self._after = {kind: self._table(kind == "twin") for kind in ("apart", "twin")}
        self._before = {kind: _turned(table) for kind, table in self._after.items()}
        self._known_masks: dict[str, _Masks] = {}
        self._known_moves: dict[tuple[str, bool, int], int] = {}
        self._known_names: dict[tuple[int, int], frozenset[str]] = {}
        spelled = (self._spell(state, twin) for state in self._states for twin in (False, True))
        self.labels = list(dict.fromkeys(spelled))

    def complaint(self, label: str) -> str:
        """Why a label cannot be read."""
        for one in alternatives(label):
            if one == ANY and not self._bare:
                return f"found label {label!r}, expected a type behind {ANY} ({ANY}-{ANY} for any)"
            prefix, type_ = split_label(one)
            known = one == UNKNOWN or prefix == ANY or self._source.spells(one)
            if not known or one.endswith("-") or type_ == UNKNOWN:
                return f"found label {label!r}, expected labels of {self._source.name}"
        return ""

    def of(self, labels: Sequence[str]) -> list[frozenset[str]] | Contradiction:
        """The labels, in the scheme to train in, that each token has in some output that fits them all."""
        masks = [self._masks(label) for label in labels]
        ahead: list[_Masks] = []  # by how the token before is joined to a state
        for t, mask in enumerate(masks):
            if t:
                reached = self._next(_both(ahead[-1]), masks[t - 1], mask)
            else:
                start = self._can_start if self._looks_left else self._can_start & mask["apart"]
                reached = {"apart": start, "twin": 0}
            if not _both(reached):
                return Contradiction(t)
            ahead.append(reached)
        last = self._can_end & (masks[-1]["apart"] if self._looks_left else -1) if masks else 0
        behind: _Masks = {"apart": last, "twin": 0}  # by how the token behind is joined to it
        found: list[frozenset[str]] = []
        for t in reversed(range(len(masks))):
            alive = _both(ahead[t]) & _both(behind)
            if not alive:
                return Contradiction(t)
            joined = behind if self._target.twin_last else ahead[t]
            found.append(self._labels_of(joined["apart"] & alive, joined["twin"] & alive))
            if t:
                behind = self._previous(alive, masks[t - 1], masks[t])
        return found[::-1]

    def _next(self, states: int, left: _Masks, right: _Masks) -> _Masks:
        """The states that the right one of two tokens may have, behind these of the left one."""
        if self._looks_left:
            return {kind: self._moved(kind, False, states & left[kind]) for kind in self._after}
        return {kind: self._moved(kind, False, states) & right[kind] for kind in self._after}

    def _previous(self, states: int, left: _Masks, right: _Masks) -> _Masks:
        """The states that the left one may have, before these of the right one."""
        if self._looks_left:
            return {kind: self._moved(kind, True, states) & left[kind] for kind in self._before}
        return {kind: self._moved(kind, True, states & right[kind]) for kind in self._before}

    def _moved(self, kind: str, back: bool, states: int) -> int:
        key = kind, back, states
        if key not in self._known_moves:
            found = 0
            for i, reached in enumerate((self._before if back else self._after)[kind]):
                found |= reached if states >> i & 1 else 0
            self._known_moves[key] = found
        return self._known_moves[key]

    def _table(self, twin: bool) -> list[int]:
        """The states that may follow each; `twin`: spans behind one of their type, else all others."""
        table = []
        for role, type_ in self._states:
            follow = 0
            for i, (next_role, next_type) in enumerate(self._states):
                goes_on = role in "BI" and next_role in "IE" and next_type == type_
                legal = goes_on or (role in "OSE" and next_role in "OSB")
                twins = role in "SE" and next_role in "SB" and next_type == type_
                follow |= 1 << i if legal and twins == twin else 0
            table.append(follow)
        return table

    def _bits(self, roles: str) -> int:
        return sum(1 << i for i, (role, _) in enumerate(self._states) if role in roles)

    def _masks(self, label: str) -> _Masks:
        """The states that a label may stand for: beside a twin those that have its mark, apart those that
        have none."""
        if label not in self._known_masks:
            masks = {"apart": 0, "twin": 0}
            for i, (role, type_) in enumerate(self._states):
                for kind, prefix in zip(masks, _prefixes(self._source, role), strict=True):
                    masks[kind] |= 1 << i if _matches(label, prefix, type_) else 0
            self._known_masks[label] = masks
        return self._known_masks[label]

    def _labels_of(self, apart: int, twin: int) -> frozenset[str]:
        """What states that stand apart, and such beside a twin, are called in the target scheme."""
        if (apart, twin) not in self._known_names:
            names = [
                self._spell(state, beside)
                for beside, states in ((False, apart), (True, twin))
                for i, state in enumerate(self._states)
                if states >> i & 1
            ]
            self._known_names[apart, twin] = frozenset(names)
        return self._known_names[apart, twin]

    def _spell(self, state: tuple[str, str], twin: bool) -> str:
        role, type_ = state
        prefix = _prefixes(self._target, role)[twin]
        return f"{prefix}-{type_}" if type_ else prefix


def _both(masks: _Masks) -> int:
    return masks["apart"] | masks["twin"]


def _matches(label: str, prefix: str, type_: str) -> bool:
    """Whether a label that may be open can stand for a prefix and a type."""
    for one in alternatives(label):
        wanted, wanted_type = split_label(one)
        any_span = wanted == ANY and prefix != "O"
        if one == UNKNOWN or ((wanted == prefix or any_span) and wanted_type in (type_, ANY)):
            return True
    return False


def _prefixes(scheme: Scheme, role: str) -> tuple[str, str]:
    """The prefix of a token that stands apart, and beside a span of its type: a mark, if there is one."""
    if role == "O":
        return "O", "O"
    usual = {"S": scheme.single, "B": scheme.first, "I": scheme.inside, "E": scheme.last}[role]
    marks = [scheme.twin_first if role in "SB" else "", scheme.twin_last if role in "SE" else ""]
    return usual, "".join(marks) or usual


def _turned(table: list[int]) -> list[int]:
    """By state: those that it may follow."""
    return [sum(1 << i for i, follow in enumerate(table) if follow >> j & 1) for j in range(len(table))]


_NO_TYPES = {"", UNKNOWN, "O"}  # what no part of an open label of spans may be
_TYPES_EXPECTED = f"expected types of spans with {OR} between them, or {ANY} for any"


def span_labels(
    sentence: Sentence, file: str | None = None, partial: bool = True, scheme: str = "IOB2"
) -> list[str]:
    """Labels of a sentence with spans, of which with `partial` (in IOB2) some things may not be known.

    A span's label may be several (`NP|VP`) or `*`. The key `unknown` of a JSON line lists regions:
    `[start, end]` of which nothing is known, `[start, end, label]` that lie in spans with this label, which
    may begin and end anywhere.
    """
    try:
        labels = labels_of(sentence.spans, len(sentence), scheme)
    except DataError as error:
        raise _error(error.message, sentence, file) from None
    if not partial:
        if has_regions(sentence):
            why = "expected none: they are for training with partial=on"
            raise _error(f'found regions that are "unknown", {why}', sentence, file)
        return labels
    for start, end, label in sentence.spans:
        types = alternatives(label)
        if label == UNKNOWN or (len(types) > 1 and _NO_TYPES.intersection(types)):
            raise _error(f"found the span label {label!r}, {_TYPES_EXPECTED}", sentence, file)
        for t in range(start, end) if len(types) > 1 else ():
            labels[t] = OR.join(f"{labels[t][0]}-{one}" for one in types)
    for start, end, label in _regions(sentence, file):
        if found := [t for t in range(start, end) if labels[t] != "O"]:
            what = "two unknown regions" if labels[found[0]][0] in "_*" else "a span in an unknown region"
            raise _error(f"found {what} at token {found[0] + 1}, expected them apart", sentence, file)
        patterns = [f"{ANY}-{one}" for one in alternatives(label)] if label else [UNKNOWN]
        labels[start:end] = [OR.join(patterns)] * (end - start)
    for end in (span.end for span in sentence.spans if span.end < len(sentence)):
        if labels[end] == UNKNOWN:  # what follows a span does not belong to it
            labels[end] = f"O{OR}B-{ANY}"
        else:
            labels[end] = labels[end].replace(f"{ANY}-", "B-")
    return labels


def has_regions(sentence: Sentence) -> bool:
    """Whether a sentence comes from a JSON line with unknown regions."""
    regions = sentence.origin.get("unknown") if isinstance(sentence.origin, dict) else None
    return isinstance(regions, list) and bool(regions)


def without_regions(origin: Any) -> Any:
    """What a reader kept of a sentence, if all of the sentence is known by now."""
    return {key: origin[key] for key in origin if key != "unknown"} if isinstance(origin, dict) else origin


def _regions(sentence: Sentence, file: str | None) -> Iterator[Span]:
    record = sentence.origin if isinstance(sentence.origin, dict) else {}
    offsets: Collection[tuple[int, int]] = sentence.offsets or [(t, t + 1) for t in range(len(sentence))]
    most = max((end for _, end in offsets), default=0) if sentence.text is None else len(sentence.text)
    items = record.get("unknown", [])
    for item in items if isinstance(items, list) else [items]:
        kinds = [type(value) for value in item] if isinstance(item, list) else []
        if kinds not in ([int, int], [int, int, str]) or not 0 <= item[0] < item[1] <= most:
            expected = f"[start, end] or [start, end, label] with 0 <= start < end <= {most}"
            raise _error(f"found the unknown region {item!r}, expected {expected}", sentence, file)
        if len(item) > 2 and _NO_TYPES.intersection(alternatives(item[2])):
            raise _error(f"found the unknown region {item!r}, {_TYPES_EXPECTED}", sentence, file)
        inside = [t for t, (start, end) in enumerate(offsets) if start < item[1] and end > item[0]]
        if inside:
            yield Span(inside[0], inside[-1] + 1, item[2] if len(item) > 2 else "")


def _error(message: str, sentence: Sentence, file: str | None) -> DataError:
    return DataError(message, file=file, line=sentence.line or None)
