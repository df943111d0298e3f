"""Where words and arcs of a drawn tree are: nothing is drawn here.

Arcs are rectangles without a base: up from one word, along at the height of a level, down to another. Of two
arcs above one another the outer one has the higher level. A label stands between two words in the
middle of its arc, where no arc goes up or down: labels are never crossed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .document import ParsedSentence
from .tree_text import display_width

SIGN = 8.6  # the width of a letter of a word, in pixels
_TAG, _GAP, _MARGIN, _PORT, _WIDEST_PORTS = 6.8, 14.0, 16.0, 6.0, 240.0


class Arc(NamedTuple):
    """An arc from `head` to `dependent` (ids of words), at its level, with the places of its three parts."""

    head: int
    dependent: int
    label: str
    level: int
    from_x: float
    to_x: float
    label_x: float


class RootMark(NamedTuple):
    """The arrow to a word with the head 0."""

    dependent: int
    label: str
    x: float


@dataclass(frozen=True)
class TreeLayout:
    """Centres of the words (in their order), arcs, roots, the number of levels, and the width of it all."""

    words: list[float]
    arcs: list[Arc]
    roots: list[RootMark]
    levels: int
    width: float
    right_to_left: bool


def tree_layout(sentence: ParsedSentence) -> TreeLayout:
    """The layout of a sentence's tree; heads that are not known or out of range have no arcs."""
    spans = [
        (min(word.head, word.id), max(word.head, word.id), word.id)
        for word in sentence.words
        if word.head and word.head <= len(sentence) and word.head != word.id
    ]
    levels = arc_levels([(left, right) for left, right, _ in spans])
    ports = _ports(sentence, spans, levels)
    centres, gaps, width = _places(sentence, spans, ports)
    right_to_left = runs_right_to_left(sentence.text or " ".join(word.form for word in sentence.words))

    def mirrored(x: float) -> float:
        return round(width - x if right_to_left else x, 1)

    arcs = []
    for (left, right, id_), level in zip(spans, levels, strict=True):
        word = sentence.words[id_ - 1]
        places = {end: centres[end - 1] + ports[end - 1][id_] for end in (left, right)}
        head = word.head or 0
        label_x = mirrored(gaps[(left + right - 1) // 2])
        arcs.append(
            Arc(head, id_, word.deprel, level, mirrored(places[head]), mirrored(places[id_]), label_x)
        )
    roots = [
        RootMark(word.id, word.deprel, mirrored(centres[word.id - 1] + ports[word.id - 1][0]))
        for word in sentence.words
        if word.head == 0
    ]
    return TreeLayout(list(map(mirrored, centres)), arcs, roots, max(levels, default=0), width, right_to_left)


def arc_levels(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Levels from 1: an arc is above all that it spans, and none is beside one that it overlaps.

    Arcs come by their right ends, so what an arc spans is before it: the highest level of those that begin at
    or behind its left end, kept in a tree of maxima. An arc that crosses it and came before ends behind its
    left end: the next level without such an arc is taken.
    """
    size = max((right for _, right in spans), default=0) + 1
    maxima = _SuffixMaxima(size)
    ends: list[int] = [0]  # for each level, where the last arc ends
    levels = [0] * len(spans)
    for i in sorted(range(len(spans)), key=lambda i: (spans[i][1], -spans[i][0])):
        left, right = spans[i]
        level = maxima.of(left) + 1
        while level < len(ends) and ends[level] > left:
            level += 1
        if level == len(ends):
            ends.append(0)
        ends[level] = right
        levels[i] = level
        maxima.add(left, level)
    return levels


class _SuffixMaxima:
    """The greatest value at a place or behind it (a Fenwick tree, turned around)."""

    def __init__(self, size: int) -> None:
        self.tree = [0] * (size + 1)

    def add(self, place: int, value: int) -> None:
        """Put a value at a place."""
        at = len(self.tree) - 1 - place
        while at < len(self.tree):
            self.tree[at] = max(self.tree[at], value)
            at += at & -at

    def of(self, place: int) -> int:
        """The greatest value from a place on."""
        at, best = len(self.tree) - 1 - place, 0
        while at > 0:
            best = max(best, self.tree[at])
            at -= at & -at
        return best


def _ports(
    sentence: ParsedSentence, spans: Sequence[tuple[int, int, int]], levels: Sequence[int]
) -> list[dict[int, float]]:
    """Where arcs (by their dependents; 0 is the root) leave each word, from its centre.

    From left to right: arcs to the left, the lowest first; the root; arcs to the right, the highest first. So
    no arc goes up through another of the same word.
    """
    leaving: list[list[tuple[int, int, int]]] = [[] for _ in sentence.words]
    for (left, right, id_), level in zip(spans, levels, strict=True):
        leaving[left - 1].append((1, -level, id_))
        leaving[right - 1].append((-1, level, id_))
    for word in sentence.words:
        if word.head == 0:
            leaving[word.id - 1].append((0, 0, 0))
    found = []
    for arcs in leaving:
        step = min(_PORT, _WIDEST_PORTS / max(1, len(arcs)))
        middle = (len(arcs) - 1) / 2
        found.append({id_: (k - middle) * step for k, (_, _, id_) in enumerate(sorted(arcs))})
    return found


def _places(
    sentence: ParsedSentence, spans: Sequence[tuple[int, int, int]], ports: Sequence[dict[int, float]]
) -> tuple[list[float], list[float], float]:
    """The centres of words, the middles between them (at 1 between the first two), and the width of all."""
    texts = [max(SIGN * display_width(w.form), _TAG * display_width(w.upos)) for w in sentence.words]
    zones = [(-min(port.values(), default=0), max(port.values(), default=0)) for port in ports]
    labels = [0.0] * (len(texts) + 1)
    for left, right, id_ in spans:
        gap = (left + right - 1) // 2
        labels[gap] = max(labels[gap], _TAG * display_width(sentence.words[id_ - 1].deprel) + _GAP)
    at, centres, middles = _MARGIN, [], [0.0]
    for i, text in enumerate(texts):
        if i:
            # Both words and the label between their arcs have room.
            space = max((texts[i - 1] + text) / 2 + _GAP, zones[i - 1][1] + labels[i] + zones[i][0])
            start, at = at + zones[i - 1][1], at + space
            middles.append((start + at - zones[i][0]) / 2)
        else:
            at += max(text / 2, zones[0][0])
        centres.append(at)
    return centres, middles, round(at + max(texts[-1] / 2, zones[-1][1]) + _MARGIN, 1)


def runs_right_to_left(text: str) -> bool:
    """Whether most letters of a text are of scripts from right to left."""
    if text.isascii():
        return False
    kinds = [unicodedata.bidirectional(sign) for sign in text]
    return 2 * sum(kind in ("R", "AL") for kind in kinds) > sum(kind in ("R", "AL", "L") for kind in kinds)
