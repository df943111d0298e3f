"""Global features of an output, plainly: every family recomputed from the words and the spans."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, pairwise, product

Span = tuple[int, int, str]  # first token, end, class
JOINS = {",", "and", "or", "&", "/"}
NEIGHBOURS = ("word-pair", "tag-pair", "word-tag-pair")
LENGTHS = {1: "1", 2: "2"}


def spans_of(labels: Sequence[str]) -> list[Span]:
    """The spans of IOB2 labels."""
    spans: list[Span] = []
    for t, label in enumerate(labels):
        if label == "O":
            continue
        if label[0] == "I" and spans and spans[-1][1] == t and spans[-1][2] == label[2:]:
            spans[-1] = (spans[-1][0], t + 1, label[2:])
        else:
            spans.append((t, t + 1, label[2:]))
    return spans


def shape(word: str) -> str:
    kinds = ("A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdigit() else c for c in word)
    return re.sub(r"(.)\1+", r"\1", "".join(kinds))


class NaiveGlobal:
    def __init__(self, words: Sequence[str], lowercase: Iterable[str] = ()) -> None:
        self.words, self.low = list(words), [word.lower() for word in words]
        known = set(lowercase)
        self.f = [shape(word) for word in words]
        self.g = [f + ("1" if low in known else "0") for f, low in zip(self.f, self.low, strict=True)]

    def features(self, families: Sequence[str], spans: list[Span]) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for line in families:
            name, _, variant = line.partition("/")
            for feature in self.of(name, spans):
                if isinstance(feature, str):
                    counts[feature] += 1
                    continue
                first, second, length = feature
                more = f",{LENGTHS.get(length, '3+')}" if variant else ""
                counts[f"{line}({first},{second}{more})"] += 1
        return {name: float(count) for name, count in counts.items() if count}

    def of(self, name: str, spans: list[Span]) -> Iterator[str | tuple[str, str, int]]:
        if name in KAZAMA:
            yield from KAZAMA[name](self, spans)
        elif name in ("Q", "Q2", "QF", "QF2"):
            for begin, end in self.quotations():
                yield from self.of_quotation(name, begin, end, spans)
        elif name in NEIGHBOURS:
            for one, other in pairwise(spans):
                if one[1] == other[0]:
                    yield from self.of_neighbours(name, one, other)
        else:
            for span in spans:
                for key, text in self.of_span(name, span):
                    yield f"{key}({span[2]})={text}"

    def of_neighbours(self, name: str, left: Span, right: Span) -> Iterator[str]:
        before, after = (" ".join(self.words[begin:end]) for begin, end, _ in (left, right))
        types = f"({left[2]},{right[2]})"
        if name == "tag-pair":
            yield f"{name}{types}"
        elif name == "word-pair":
            yield f"{name}={before} | {after}"
        else:
            yield f"{name}{types}={before} |"
            yield f"{name}{types}=| {after}"

    def string(self, span: Span) -> tuple[str, ...]:
        return tuple(self.low[span[0] : span[1]])

    def same(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        for one, other in combinations(spans, 2):
            if self.string(one) == self.string(other):
                yield one[2], other[2], one[1] - one[0]
        covered = {t for begin, end, _ in spans for t in range(begin, end)}
        for span in spans:
            size = span[1] - span[0]
            for begin in range(len(self.low) - size + 1):
                occurs = tuple(self.low[begin : begin + size]) == self.string(span)
                if occurs and not covered & set(range(begin, begin + size)):
                    yield span[2], "O", size

    def contains(self, longer: Span, shorter: Span) -> bool:
        size, text = shorter[1] - shorter[0], self.string(longer)
        places = range(len(text) - size + 1)
        return len(text) > size and any(text[i : i + size] == self.string(shorter) for i in places)

    def sub(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        for one, other in product(spans, spans):
            if self.contains(other, one):
                yield one[2], other[2], one[1] - one[0]

    def majority(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        for i, span in enumerate(spans):
            others = [s[2] for j, s in enumerate(spans) if j != i and self.string(s) == self.string(span)]
            if others:
                yield span[2], most(others), span[1] - span[0]

    def super_majority(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        for span in spans:
            longer = [other[2] for other in spans if self.contains(other, span)]
            if longer:
                yield span[2], most(longer), span[1] - span[0]

    def token_majority(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        inside = [(t, span) for span in spans for t in range(span[0], span[1])]
        for t, span in inside:
            others = [other[2] for u, other in inside if u != t and self.low[u] == self.low[t]]
            if others:
                yield span[2], most(others), span[1] - span[0]

    def conjunction(self, spans: list[Span]) -> Iterator[tuple[str, str, int]]:
        for one, other in pairwise(spans):
            between = self.low[one[1] : other[0]]
            if between and set(between) <= JOINS:
                yield one[2], other[2], one[1] - one[0]

    def at(self, values: Sequence[str], t: int) -> str:
        return values[t] if 0 <= t < len(values) else "NULL"

    def grams(self, name: str, first: int, size: int) -> Iterator[tuple[str, str]]:
        for ways in product((0, 1), repeat=size):
            parts = [self.at((self.words, self.g)[way], first + k) for k, way in enumerate(ways)]
            yield name + "".join(map(str, ways)), " ".join(parts)

    def of_span(self, name: str, span: Span) -> Iterator[tuple[str, str]]:
        first, last = span[0], span[1] - 1
        inside = slice(span[0], span[1])
        whole = {"WE": self.words, "FF": self.f, "GF": self.g}
        ends = {"PF": (self.f, 1), "PF2": (self.g, 1), "SF": (self.f, -1), "SF2": (self.g, -1)}
        places = {"BO": (first - 1, 2), "BE": (last, 2), "TO": (first - 2, 3), "TO2": (first - 1, 3)}
        places |= {"TE": (last - 1, 3), "TE2": (last - 2, 3)}
        if name in whole:
            yield name, " ".join(whole[name][inside])
        elif name == "word-length":
            length = str(min(last - first + 1, 6))
            yield from ((name, f"{length}{more}") for more in
                        ("", f" from {self.words[first]}", f" to {self.words[last]}"))  # fmt: skip
        elif name == "LW":
            yield name, self.words[last]
        elif name == "LWLC":
            yield name, str(int(self.words[last][:1].islower()))
        elif name in places:
            yield from self.grams(name, *places[name])
        else:
            values, step = ends[name]
            listed = values[inside][::step]
            for size in range(1, len(listed) + 1):
                yield name, " ".join(listed[:size])

    def quotations(self) -> list[tuple[int, int]]:
        found, begin = [], None
        for t, word in enumerate(self.words):
            if word in ("``", "“") or (word == '"' and begin is None):
                begin = t
            elif word in ('"', "''", "”") and begin is not None:
                found.append((begin, t))
                begin = None
        return found

    def tag(self, t: int, spans: list[Span]) -> str:
        if not 0 <= t < len(self.words):
            return "NULL"
        for begin, end, type_ in spans:
            if begin <= t < end:
                return f"{'S' if t == begin else 'C'}-{type_}"
        return "N"

    def of_quotation(self, name: str, begin: int, end: int, spans: list[Span]) -> Iterator[str]:
        if name in ("Q", "Q2"):
            more = 1 if name == "Q2" else 0
            tokens = range(begin - more, end + more + 1)
            if end - begin <= 10:
                yield f"{name}=" + " ".join(f"{self.at(self.g, t)} {self.tag(t, spans)}" for t in tokens)
            return
        inside = self.words[begin + 1 : end]
        upper, lower = (sum(getattr(w[:1], case)() for w in inside) for case in ("isupper", "islower"))
        last = max((t for t in range(begin + 1, end) if self.words[t][:1].isalnum()), default=None)
        if last is None:
            return
        one = next((type_ for b, e, type_ in spans if b == begin + 1 and e > last), "0")
        outer = f"{self.g[begin + 1]} {self.g[last]}"
        yield (
            f"QF={one} {upper} {lower} {outer}" if name == "QF" else f"QF2={one} {int(upper > lower)} {outer}"
        )


def most(types: Sequence[str]) -> str:
    counts = Counter(types)
    return min(counts, key=lambda type_: (-counts[type_], type_))


KAZAMA = {
    "same": NaiveGlobal.same,
    "sub": NaiveGlobal.sub,
    "majority": NaiveGlobal.majority,
    "token-majority": NaiveGlobal.token_majority,
    "super-majority": NaiveGlobal.super_majority,
    "conjunction": NaiveGlobal.conjunction,
}
