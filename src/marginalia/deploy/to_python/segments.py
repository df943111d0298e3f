"""Labelled segments (semi-Markov): the best way to cut a sentence into segments and to name them.

Scores are summed in the order in which Marginalia sums them, so that ties are the same ties. Seen from the
end of the sentence, the lowest type wins a tie, then the shortest segment.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from .features import PRIME, Data, Hashed, Values, Weights, hash_of, joined, key_of, numbers, outside

NEVER = -math.inf
MOST_INSIDE = 8  # tokens inside that a template with both ends looks at

Vector = list[float]


class Place:
    """A segment (first and last token) and a token of it."""

    def __init__(self, begin: int, last: int, inner: int, none: bool = False) -> None:
        self.begin, self.last, self.inner, self.none = begin, last, inner, none


class SegmentTemplate:
    """Literal text and values at places of a segment, joined into the names of features."""

    def __init__(self, pieces: Sequence[object], spans: list[int]) -> None:
        self._pieces: list[tuple[str, Hashed, int, int, list[Hashed], list[Hashed]]] = []
        values = [piece for piece in pieces if isinstance(piece, list)]
        anchors = {piece[5] if len(piece) > 5 else "token" for piece in values}
        lowest = min((piece[1] for piece in values if piece[5:] == ["j"]), default=0)
        for piece in pieces:
            if isinstance(piece, str):
                self._pieces.append(("", hash_of(piece), 0, 0, [], []))
            elif isinstance(piece, list):
                attribute, offset, _, before, after, *anchor = piece
                name = anchor[0] if anchor else "token"
                ends = [hash_of(text) for text in before], [hash_of(text) for text in after]
                offset -= lowest if name == "j" else 0
                self._pieces.append((name, (0, 1), attribute, offset, *ends))
        self.inner = next((name for name in ("token", "i", "j") if name in anchors), "")
        self.reach = max((piece[3] for piece in self._pieces if piece[0] == "j"), default=0)
        self.part = _part(anchors, self.inner)
        self.span = 0
        if self.inner in ("i", "j"):
            tokens = 2 if self.inner == "i" else self.reach
            if tokens not in spans:
                spans.append(tokens)
            self.span = spans.index(tokens)

    def inner_tokens(self, begin: int, last: int) -> range:
        """The tokens that give a feature each."""
        first, end = (begin + 1, last) if self.inner == "i" else (begin, last + 1 - self.reach)
        return range(first, min(end, first + MOST_INSIDE))

    def arriving(self, last: int) -> int:
        """The token inside that is new when a segment grows to `last`."""
        return last - 1 if self.inner == "i" else last - self.reach

    def key(self, sentence: Sentence, place: Place) -> int | None:
        """The key of a feature; None if a value is missing."""
        name = 0
        for piece in self._pieces:
            value = sentence.value(piece, place)
            if value is None:
                return None
            name = (name * value[1] + value[0]) % PRIME
        return key_of(name, False)


def _part(anchors: set[str], inner: str) -> str:
    """Which segments share a feature of such a template."""
    begin, end, length = "b" in anchors, "e" in anchors, "length" in anchors
    if inner == "token":
        return "token"
    if "whole" in anchors or (begin and end) or (length and (begin or end or inner != "")):
        return "own"
    if inner == "":
        return "begin" if begin else "end" if end else "length"
    return "grow" if begin else "shrink" if end else "arrival"


class Sentence:
    """What is known of the tokens of a sentence."""

    def __init__(self, values: Values, columns: Mapping[str, Sequence[str]], length: int) -> None:
        self.length = length
        self._values, self._grid, self._columns = values, values.of(columns, length), columns
        self._wholes: dict[tuple[int, int, int], Hashed | None] = {}

    def value(
        self, piece: tuple[str, Hashed, int, int, list[Hashed], list[Hashed]], place: Place
    ) -> Hashed | None:
        """The text of a piece of a template."""
        anchor, text, attribute, offset, before, after = piece
        if anchor == "":
            return text
        if anchor == "length":
            tokens = place.last - place.begin + 1
            return hash_of(str(tokens) if tokens < offset else f"{offset}+")
        if anchor == "whole":
            return self._whole(attribute, place.begin, place.last)
        if place.none and anchor == "i":
            return hash_of("_none")
        where = offset + (place.begin if anchor == "b" else place.last if anchor == "e" else place.inner)
        if where < 0:
            return outside(before, -where)
        if where >= self.length:
            return outside(after, where - self.length + 1)
        return self._grid[attribute][where]

    def _whole(self, attribute: int, begin: int, last: int) -> Hashed | None:
        found = (attribute, begin, last)
        if found not in self._wholes:
            self._wholes[found] = self._new_whole(attribute, begin, last)
        return self._wholes[found]

    def _new_whole(self, attribute: int, begin: int, last: int) -> Hashed | None:
        function, argument, column = self._values.attributes[attribute]
        if function == "list":
            phrases = self._values.lists[argument]
            return hash_of("1") if last in phrases.matches(self._columns[column], begin) else None
        value = self._grid[attribute][last]
        if begin == last or value is None:
            return value
        left = self._whole(attribute, begin, last - 1)
        return None if left is None else joined(joined(left, hash_of(" ")), value)


class Segments:
    """The scores of segmentations, and the best one."""

    def __init__(self, data: Data) -> None:
        self._values, self._weights = Values(data), Weights(data)
        self._spans: list[int] = []
        self._templates = [SegmentTemplate(pieces, self._spans) for _, pieces in data["templates"]]
        self._labels, self._most = len(data["labels"]), data["most"]
        self._begin_label: list[int] = data["begin_label"]
        self._inside_label: list[int | None] = data["inside_label"]  # None: segments of one token
        self._types = len(self._begin_label)
        self._type_of = [self._types] * self._labels
        for type_, label in enumerate(self._begin_label):
            self._type_of[label] = type_
        self._start, self._end = list(numbers(data["start"], "f")), list(numbers(data["end"], "f"))
        self._transition = list(numbers(data["transition"], "f"))

    def best(self, columns: Mapping[str, Sequence[str]], length: int) -> list[int]:
        """The best labels, as numbers."""
        if not length:
            return []
        sentence = Sentence(self._values, columns, length)
        return self._search(self._scores(sentence), length)

    # ---- scores

    def _scores(self, sentence: Sentence) -> dict[tuple[int, int], Vector]:
        """By first and last token: the scores of types."""
        length, width = sentence.length, self._types + 1
        self._node = [[0.0] * self._labels for _ in range(length)]
        self._begins, self._ends = ([[0.0] * width for _ in range(length)] for _ in range(2))
        self._arrivals = [[[0.0] * width for _ in self._spans] for _ in range(length)]
        self._lengths = [[0.0] * width for _ in range(self._most + 1)]
        for t in range(length):
            self._score_token(sentence, t)
        for tokens in range(1, min(self._most, length) + 1):
            for template in self._of("length"):
                self._add(template.key(sentence, Place(0, tokens - 1, 0)), self._lengths[tokens])
        scores: dict[tuple[int, int], Vector] = {}
        for begin in range(length):
            self._score_begin(sentence, begin, scores)
        for last in range(length):
            self._score_last(sentence, last, scores)
        return scores

    def _of(self, part: str) -> Iterator[SegmentTemplate]:
        return (template for template in self._templates if template.part == part)

    def _add(self, key: int | None, scores: Vector) -> bool:
        """Adds the weights of a feature to scores of types; whether there are any."""
        cells = None if key is None else self._weights.find(key)
        for label, weight in cells or ():
            scores[self._type_of[label]] += weight
        return cells is not None

    def _score_token(self, sentence: Sentence, t: int) -> None:
        here = Place(t, t, t)
        for template in self._of("token"):
            key = template.key(sentence, here)
            for label, weight in (None if key is None else self._weights.find(key)) or ():
                self._node[t][label] += weight
        for template in self._of("begin"):
            self._add(template.key(sentence, here), self._begins[t])
        for template in self._of("end"):
            self._add(template.key(sentence, here), self._ends[t])
        for template in self._of("arrival"):
            if t >= self._spans[template.span]:
                key = template.key(sentence, Place(t, t, template.arriving(t)))
                self._add(key, self._arrivals[t][template.span])

    def _score_begin(self, sentence: Sentence, begin: int, scores: dict[tuple[int, int], Vector]) -> None:
        """The segments that begin at a token: each has what the one before it has, and a little more."""
        running = self._begins[begin][:]
        for type_, label in enumerate(self._begin_label):
            running[type_] += self._node[begin][label]
        for last in range(begin, min(sentence.length, begin + self._most)):
            self._grow(running, begin, last)
            lengths = self._lengths[last - begin + 1]
            own = [self._ends[last][s] + lengths[s] for s in range(self._types)] + [0.0]
            self._add_own(sentence, begin, last, own, running)
            for s in range(self._types):
                own[s] += running[s]
                if last > begin and self._inside_label[s] is None:
                    own[s] = NEVER
            scores[begin, last] = own

    def _grow(self, running: Vector, begin: int, last: int) -> None:
        if last > begin:
            for s, label in enumerate(self._inside_label):
                if label is not None:
                    running[s] += self._node[last][label]
        for place, span in enumerate(self._spans):
            if last - begin >= span:
                for s in range(self._types):
                    running[s] += self._arrivals[last][place][s]

    def _add_own(self, sentence: Sentence, begin: int, last: int, own: Vector, running: Vector) -> None:
        for template in self._of("own"):
            tokens = template.inner_tokens(begin, last) if template.inner else (begin,)
            for inner in tokens:
                self._add(template.key(sentence, Place(begin, last, inner)), own)
        for template in self._of("grow"):
            if last - begin >= self._spans[template.span]:
                place = Place(begin, last, template.arriving(last))
                self._add(template.key(sentence, place), running)
        if last - begin <= 1:
            for template in self._templates:
                if template.inner == "i":
                    self._add(template.key(sentence, Place(begin, last, begin, True)), own)

    def _score_last(self, sentence: Sentence, last: int, scores: dict[tuple[int, int], Vector]) -> None:
        """Adds what the segments that end at a token have of it with tokens inside."""
        running, found = [0.0] * (self._types + 1), False
        for begin in range(last, max(0, last + 1 - self._most) - 1, -1):
            for template in self._of("shrink"):
                if last - begin >= self._spans[template.span]:
                    place = Place(begin, last, begin + 1 if template.inner == "i" else begin)
                    found = self._add(template.key(sentence, place), running) or found
            if found:
                own = scores[begin, last]
                for s in range(self._types):
                    own[s] += running[s]

    # ---- search

    def _search(self, scores: dict[tuple[int, int], Vector], length: int) -> list[int]:
        types = range(self._types)
        leaving = [[NEVER] * self._types for _ in range(length + 1)]  # by place and the type that ends there
        tokens = [[0] * self._types for _ in range(length + 1)]
        before: list[list[int]] = []
        for begin in range(length):
            entering, types_before = self._enter(begin, leaving[begin])
            before.append(types_before)
            for last in range(begin, min(length, begin + self._most)):
                own, best = scores[begin, last], leaving[last + 1]
                for s in types:
                    if entering[s] + own[s] >= best[s]:
                        best[s] = entering[s] + own[s]
                        tokens[last + 1][s] = last + 1 - begin
        type_, most = 0, NEVER
        for s in types:
            if leaving[length][s] + self._end[s] > most:
                type_, most = s, leaving[length][s] + self._end[s]
        return self._labels_of(type_, tokens, before)

    def _enter(self, place: int, leaving: Vector) -> tuple[Vector, list[int]]:
        """The best score of what stands before a place, by the type that follows; and the type before."""
        if place == 0:
            return self._start, [0] * self._types
        entering, before = [NEVER] * self._types, [0] * self._types
        for left, score in enumerate(leaving):
            for right in range(self._types):
                total = score + self._transition[left * self._types + right]
                if total > entering[right]:
                    entering[right], before[right] = total, left
        return entering, before

    def _labels_of(self, type_: int, tokens: list[list[int]], before: list[list[int]]) -> list[int]:
        place = len(tokens) - 1
        labels = [0] * place
        while place > 0:
            size = tokens[place][type_]
            place -= size
            labels[place] = self._begin_label[type_]
            labels[place + 1 : place + size] = [self._inside_label[type_] or 0] * (size - 1)
            type_ = before[place][type_]
        return labels
