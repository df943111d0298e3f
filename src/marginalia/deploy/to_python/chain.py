"""Chains of labels: the best label sequence by Viterbi, of order 1 or 2. Ties go to the lowest label."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .features import PRIME, Data, Hashed, Values, Weights, hash_of, joined, key_of, numbers, outside

ILLEGAL = -math.inf

Step = tuple[int, int, bool, list[Hashed], list[Hashed], Hashed]  # as in `Template`, then the text behind it
Cells = Sequence[tuple[int, float]]


class Template:
    """Literal text and values of attributes at tokens nearby, joined into the name of a feature."""

    def __init__(self, scope: str, pieces: Sequence[object]) -> None:
        self.edge = scope == "edge"
        self._head: Hashed = (0, 1)
        self._steps: list[Step] = []
        for piece in pieces:
            if isinstance(piece, str):
                self._add_text(hash_of(piece))
            elif isinstance(piece, list):
                attribute, offset, absolute, before, after = piece
                ends = [hash_of(text) for text in before], [hash_of(text) for text in after]
                self._steps.append((attribute, offset, absolute, *ends, (0, 1)))

    def _add_text(self, text: Hashed) -> None:
        if self._steps:
            self._steps[-1] = (*self._steps[-1][:5], joined(self._steps[-1][5], text))
        else:
            self._head = joined(self._head, text)

    def key(self, values: Sequence[Sequence[Hashed | None]], at: int, length: int) -> int | None:
        """The key of the feature at a token; None if a value is missing."""
        name = self._head[0]
        for attribute, offset, absolute, before, after, behind in self._steps:
            where = (offset if offset >= 0 else length + offset) if absolute else at + offset
            if where < 0:
                value: Hashed | None = outside(before, -where)
            elif where >= length:
                value = outside(after, where - length + 1)
            else:
                value = values[attribute][where]
            if value is None:
                return None
            name = ((name * value[1] + value[0]) * behind[1] + behind[0]) % PRIME
        return key_of(name, self.edge)


class Chain:
    """The scores of label sequences, and the best one."""

    def __init__(self, data: Data) -> None:
        self._values, self._weights = Values(data), Weights(data)
        self._templates = [Template(scope, pieces) for scope, pieces in data["templates"]]
        self._has_edges = any(template.edge for template in self._templates)
        self._size = size = len(data["labels"])
        self._order, self._local = data["order"], data["local"]
        self._start, self._end = list(numbers(data["start"], "f")), list(numbers(data["end"], "f"))
        self._transition = list(numbers(data["transition"], "f"))
        self._trigram = [0.0] * ((size + 1) * size * size if self._order == 2 else 0)
        for at, weight in zip(numbers(data["trigram_at"], "I"), numbers(data["trigram"], "f"), strict=True):
            self._trigram[at] = weight

    def best(self, columns: Mapping[str, Sequence[str]], length: int) -> list[int]:
        """The best labels, as numbers."""
        if not length:
            return []
        lattice = Lattice(self, columns, length)
        if self._local:
            lattice.make_local()
        return lattice.path()


class Lattice:
    """The scores of one sentence."""

    def __init__(self, chain: Chain, columns: Mapping[str, Sequence[str]], length: int) -> None:
        self._chain, self._length, self._size = chain, length, chain._size
        self._node = [[0.0] * chain._size for _ in range(length)]
        self._edges: list[list[Cells]] = [[] for _ in range(length)]
        self._local_pairs = False
        self._pairs: dict[int, list[float]] = {}
        values = chain._values.of(columns, length)
        for at in range(length):
            self._add_features(values, at)

    def _add_features(self, values: Sequence[Sequence[Hashed | None]], at: int) -> None:
        node = self._node[at]
        for template in self._chain._templates:
            key = template.key(values, at, self._length)
            cells = None if key is None else self._chain._weights.find(key, template.edge)
            if cells is None:
                continue
            if template.edge:
                self._edges[at].append(cells)
                continue
            for label, weight in cells:
                node[label] += weight

    def pairs(self, t: int) -> list[float]:
        """The scores of the labels at t - 1 (rows) and t (columns)."""
        if not (self._chain._has_edges or self._local_pairs):
            return self._chain._transition
        if t not in self._pairs:
            self._pairs[t] = self._local_scores(t) if self._local_pairs else self._plain_pairs(t)
        return self._pairs[t]

    def _plain_pairs(self, t: int) -> list[float]:
        scores = self._chain._transition[:]
        for cells in self._edges[t]:
            for pair, weight in cells:
                scores[pair] += weight
        return scores

    def _local_scores(self, t: int) -> list[float]:
        scores, n = self._plain_pairs(t), self._size
        if t + 1 < self._length:
            following = self._plain_pairs(t + 1)
            for s in range(n * n):
                scores[s] -= self._log_sum(t + 1, s // n, s % n, following)
        return scores

    def make_local(self) -> None:
        """Each label becomes a choice given those before it, as in a maximum entropy model."""
        chain, n = self._chain, self._size
        last = self._length if chain._order == 1 else min(self._length, 2)
        alone = chain._end if self._length == 1 else [0.0] * n
        first = [self._node[0][c] + chain._start[c] + alone[c] for c in range(n)]
        for t in range(1, last):
            pairs = self._plain_pairs(t)
            for before in range(n):
                self._node[t - 1][before] -= self._log_sum(t, n, before, pairs)
        self._local_pairs = chain._order == 2 and self._length > 2
        most = max(first)
        if most != ILLEGAL:
            total = most + math.log(sum_in_order([math.exp(score - most) for score in first]))
            for c in range(n):
                self._node[0][c] -= total

    def _log_sum(self, t: int, older: int, before: int, pairs: Sequence[float]) -> float:
        chain, n = self._chain, self._size
        scores = self._node[t][:]
        for c in range(n):
            scores[c] += pairs[before * n + c]
            if chain._order == 2:
                scores[c] += chain._trigram[(older * n + before) * n + c]
            if t + 1 == self._length:
                scores[c] += chain._end[c]
        most = max(scores)
        if most == ILLEGAL:
            return math.inf  # nobody comes here
        return most + math.log(sum_in_order([math.exp(score - most) for score in scores]))

    def path(self) -> list[int]:
        """The best labels, from the last one backwards."""
        n, end = self._size, self._chain._end
        scores = [[self._chain._start[c] + self._node[0][c] for c in range(n)]]
        for t in range(1, self._length):
            scores.append(self._step(t, scores[-1]))
        state, best = 0, ILLEGAL
        for s, score in enumerate(scores[-1]):
            if score + end[s % n] > best:
                state, best = s, score + end[s % n]
        labels = [state % n]
        for t in range(self._length - 1, 0, -1):
            state = self._predecessor(t, state, scores[t - 1])
            labels.append(state % n)
        return labels[::-1]

    def _step(self, t: int, before: Sequence[float]) -> list[float]:
        n, pairs, node, trigram = self._size, self.pairs(t), self._node[t], self._chain._trigram
        reachable = [(s, score) for s, score in enumerate(before) if score != ILLEGAL]
        if self._chain._order == 1:
            ways = [[score + pairs[s * n + c] for s, score in reachable] for c in range(n)]
            return [max(way, default=ILLEGAL) + node[c] for c, way in enumerate(ways)]
        out = [ILLEGAL] * (n * n)
        for s, score in reachable:
            row = (n * n + s) if t == 1 else s  # before the sentence stands label n
            for c in range(n):
                at = s % n * n + c
                out[at] = max(out[at], trigram[row * n + c] + score)
        return [out[s] + (pairs[s] + node[s % n]) for s in range(n * n)]

    def _predecessor(self, t: int, state: int, before: Sequence[float]) -> int:
        n, pairs, trigram = self._size, self.pairs(t), self._chain._trigram
        if self._chain._order == 1:
            scores = [before[s] + pairs[s * n + state] for s in range(n)]
            return scores.index(max(scores))
        left = state // n
        if t == 1:
            return left
        steps = (trigram[(s * n + left) * n + state % n] + pairs[state] for s in range(n))
        scores = [before[s * n + left] + step for s, step in enumerate(steps)]
        return scores.index(max(scores)) * n + left


def sum_in_order(terms: Sequence[float]) -> float:
    """The plain sum; newer versions of Python round that of `sum` better, which would be another result."""
    total = 0.0
    for term in terms:
        total += term
    return total
