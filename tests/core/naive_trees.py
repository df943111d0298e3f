"""Transition-based parsing as textbooks have it: lists, dictionaries, features as strings."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

ROOT = -1
PLAIN = ("shift", "reduce", "swap")
LABELLED = ("left", "right", "root")
Action = tuple[str, int]  # move and label, which is 0 where there is none


def number_of(action: Action) -> int:
    move, label = action
    return PLAIN.index(move) if move in PLAIN else 3 + 3 * label + LABELLED.index(move)


def order_of(action: Action) -> tuple[int, int]:
    """Ties go to the first."""
    return (*PLAIN, *LABELLED).index(action[0]), action[1]


@dataclass
class Configuration:
    """Tokens are numbered from 0 on; `heads` has (head, label) of those that have one."""

    system: str
    stack: list[int]
    queue: list[int]
    heads: dict[int, tuple[int, int]] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        return not self.stack and not self.queue

    def moves(self) -> list[str]:
        return [move for move in (*PLAIN, *LABELLED) if self._legal(move)]

    def _legal(self, move: str) -> bool:
        stack, queue, eager = self.stack, self.queue, self.system == "arc-eager"
        headless = [token for token in stack if token not in self.heads]
        if move == "shift":
            return bool(queue)
        if move == "root":
            return not queue and (
                len(headless) == 1 and stack[-1] == headless[0] if eager else len(stack) == 1
            )
        if move == "reduce":
            return eager and bool(stack) and stack[-1] in self.heads
        if move == "swap":
            return self.system == "swap" and len(stack) > 1 and stack[-2] < stack[-1]
        if self.system in ("arc-standard", "swap"):
            return len(stack) > 1
        if self.system == "arc-hybrid":
            return len(stack) > 1 if move == "right" else bool(stack and queue)
        if move == "left":
            return bool(stack and queue) and stack[-1] not in self.heads
        if queue:
            return bool(stack)
        return bool(stack) and stack[-1] in headless and len(headless) > 1

    def arc(self, move: str) -> tuple[int, int] | None:
        """Head and dependent of the arc that a move makes."""
        stack, queue = self.stack, self.queue
        if move not in LABELLED:
            return None
        if move == "root":
            return ROOT, stack[-1]
        if self.system in ("arc-standard", "swap"):
            return (stack[-1], stack[-2]) if move == "left" else (stack[-2], stack[-1])
        if move == "left":
            return queue[0], stack[-1]
        if self.system == "arc-eager" and queue:
            return stack[-1], queue[0]
        return stack[-2], stack[-1]

    def after(self, action: Action) -> Configuration:
        move, label = action
        arc = self.arc(move)
        stack, queue, heads = list(self.stack), list(self.queue), dict(self.heads)
        if arc is not None:
            heads[arc[1]] = (arc[0], label)
        if move == "shift" or (move == "right" and self.system == "arc-eager" and queue):
            stack.append(queue.pop(0))
        elif move == "swap":
            queue.insert(0, stack.pop(-2))
        elif move == "reduce" or arc is None:
            stack.pop()
        else:
            stack.remove(arc[1])
        return Configuration(self.system, stack, queue, heads)

    # What templates look at.

    def children(self, token: int, side: str) -> list[int]:
        """Outermost first."""
        found = [d for d, (h, _) in self.heads.items() if h == token and (d < token) == (side == "left")]
        return sorted(found, reverse=side == "right")

    def token(self, place: str) -> int | None:
        base, *steps = place.split(".")
        source, depth = (self.stack[::-1], int(base[1:])) if base[0] == "s" else (self.queue, int(base[1:]))
        found = source[depth] if depth < len(source) else None
        for step in steps:
            if found is None:
                return None
            if step == "head":
                head = self.heads.get(found, (ROOT, 0))[0] if found in self.stack else ROOT
                found = None if head == ROOT else head
                continue
            listed = self.children(found, step.rstrip("2"))
            place_at = 1 if step.endswith("2") else 0
            found = listed[place_at] if place_at < len(listed) else None
        return found


def derivations(
    start: Configuration, labels: int, allowed: Callable[[Action], bool]
) -> Iterator[list[Action]]:
    """All sequences of actions that lead to the end."""
    if start.done:
        yield []
        return
    for move in start.moves():
        for label in range(labels if move in LABELLED else 1):
            if allowed((move, label)):
                for rest in derivations(start.after((move, label)), labels, allowed):
                    yield [(move, label), *rest]


DISTANCES = {1: "1", 2: "2", 3: "3", 4: "4", 5: "5-6", 6: "5-6", 7: "7-10", 8: "7-10", 9: "7-10", 10: "7-10"}


def feature(config: Configuration, template: str, columns: dict[str, list[str]], labels: list[str]) -> str:
    """The name of a template's feature."""
    texts = []
    for term in template.split("/"):
        if term.startswith("distance("):
            a, b = (config.token(place) for place in term[9:-1].split(","))
            texts.append("_none" if a is None or b is None else DISTANCES.get(abs(a - b), "11+"))
            continue
        if term.startswith(("valency(", "labels(")):
            place, side = term[term.index("(") + 1 : -1].split(",")
            token = config.token(place)
            below = [] if token is None else config.children(token, side)
            if term.startswith("valency("):
                texts.append(str(len(below)) if len(below) < 6 else "6+")
            else:
                numbers = sorted({config.heads[child][1] for child in below})
                texts.append("|".join(labels[number] for number in numbers))
            continue
        place, _, column = term.rpartition(".")
        token = config.token(place)
        if column != "label":
            texts.append("_none" if token is None else columns[column][token])
        elif token is None or (
            "." not in place and not (config.system == "arc-eager" and token in config.heads)
        ):
            texts.append("_none")
        else:
            texts.append(labels[config.heads[token][1]])
    return f"{template}={'/'.join(texts)}"


def random_tree(rng: random.Random, length: int, labels: int, projective: bool) -> list[tuple[int, int]]:
    """(head, label) of each token; one root. Projective ones are made span by span."""
    heads = [ROOT] * length

    def span(first: int, last: int, head: int) -> None:
        while first < last:
            end = rng.randint(first + 1, last) if head != ROOT else last
            top = rng.randrange(first, end)
            heads[top] = head
            span(first, top, top)
            span(top + 1, end, top)
            first = end

    if projective:
        span(0, length, ROOT)
    else:
        order = rng.sample(range(length), length)
        for k, token in enumerate(order[1:], 1):
            heads[token] = rng.choice(order[:k])
    return [(head, rng.randrange(labels)) for head in heads]


def is_tree(heads: list[int]) -> bool:
    for token in range(len(heads)):
        seen, at = set(), token
        while at != ROOT:
            if at in seen:
                return False
            seen.add(at)
            at = heads[at]
    return True


def is_projective(heads: list[int]) -> bool:
    arcs = [(min(h, d), max(h, d)) for d, h in enumerate(heads)]
    return not any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


@dataclass
class NaiveParser:
    """Weights by name and number of an action, and a beam over configurations."""

    system: str
    templates: list[str]
    labels: list[str]
    allowed: set[int]
    beam: int
    w: dict[tuple[str, int], float] = field(default_factory=dict)
    gap: float = 1.0  # the least difference of scores that decided something

    def start(self, columns: dict[str, list[str]]) -> Configuration:
        return Configuration(self.system, [], list(range(len(columns["word"]))))

    def actions(self, config: Configuration) -> list[Action]:
        found = [
            (m, label) for m in config.moves() for label in range(len(self.labels) if m in LABELLED else 1)
        ]
        return sorted((a for a in found if number_of(a) in self.allowed), key=order_of)

    def names(self, config: Configuration, columns: dict[str, list[str]]) -> list[str]:
        return [feature(config, template, columns, self.labels) for template in self.templates]

    def score(self, config: Configuration, action: Action, columns: dict[str, list[str]]) -> float:
        return sum(self.w.get((name, number_of(action)), 0.0) for name in self.names(config, columns))

    def counts(self, actions: list[Action], columns: dict[str, list[str]]) -> dict[tuple[str, int], float]:
        config, found = self.start(columns), dict[tuple[str, int], float]()
        for action in actions:
            for name in self.names(config, columns):
                place = name, number_of(action)
                found[place] = found.get(place, 0.0) + 1.0
            config = config.after(action)
        return found

    def value(self, actions: list[Action], columns: dict[str, list[str]]) -> float:
        return sum(self.w.get(place, 0.0) * n for place, n in self.counts(actions, columns).items())

    def step(self, beam: list[Any], columns: dict[str, list[str]], cost: Callable[..., float]) -> list[Any]:
        """(score, actions, configuration) of the best that follow, best first."""
        following = []
        for at, (score, actions, config) in enumerate(beam):
            if config.done:
                following.append((-score, at, (9, 0), score, actions, config))
                continue
            for action in self.actions(config):
                new = score + self.score(config, action, columns) + cost(config, action)
                following.append((-new, at, order_of(action), new, [*actions, action], None))
        following.sort(key=lambda one: one[:3])
        scores = [one[3] for one in following[: self.beam + 1]]
        self.gap = min([self.gap, *(a - b for a, b in itertools.pairwise(scores))])
        return [
            (score, actions, config or beam[at][2].after(actions[-1]))
            for _, at, _, score, actions, config in following[: self.beam]
        ]

    def beams(
        self, columns: dict[str, list[str]], cost: Callable[..., float] = lambda config, action: 0.0
    ) -> Iterator[list[Any]]:
        """The beam after each step."""
        beam: list[Any] = [(0.0, [], self.start(columns))]
        while not all(config.done for _, _, config in beam):
            beam = self.step(beam, columns, cost)
            yield beam
