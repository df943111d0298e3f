"""Patterns compiled for matching, and the search for all ways in which they match a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from marginalia.assist.paraphrase.lexer import Place
from marginalia.assist.paraphrase.narrowing import narrowed
from marginalia.assist.paraphrase.node_tests import Lexicons, NodeTest, accepted, getter, node_test
from marginalia.assist.paraphrase.patterns import Arc, Condition, NodePattern, PatternText, read_pattern
from marginalia.assist.paraphrase.shares import share_of
from marginalia.assist.trees import Node, Tree

Bound = dict[str, "Node | tuple[Node, ...]"]
"""Variables with their nodes: a repeated one has several, an optional one that is not there is missing."""


class Groups:
    """The words of a tree by their lemmas and parts of speech."""

    def __init__(self, tree: Tree) -> None:
        self.nodes = tree.nodes
        self.lemmas: dict[str, list[Node]] = {}
        self.upos: dict[str, list[Node]] = {}
        for node in tree.nodes:
            self.lemmas.setdefault(node.lemma.lower(), []).append(node)
            self.upos.setdefault(node.upos, []).append(node)

    def of(self, test: NodeTest) -> Sequence[Node]:
        """Words that may pass a test, in their order."""
        if test.lemmas is not None:
            return _together(self.lemmas, test.lemmas)
        return self.nodes if test.upos is None else _together(self.upos, test.upos)


def _together(groups: dict[str, list[Node]], wanted: frozenset[str]) -> Sequence[Node]:
    if len(wanted) > len(groups):
        found = [nodes for value, nodes in groups.items() if value in wanted]
    else:
        found = [groups[value] for value in wanted if value in groups]
    if len(found) < 2:
        return found[0] if found else ()
    return sorted((node for nodes in found for node in nodes), key=_index)


def _index(node: Node) -> int:
    return node.index


@dataclass
class _Step:
    """One arc from a node that is bound already; `block` is what stands at its other end."""

    anchor: str
    names: tuple[str, ...]
    relations: dict[str, bool]
    axis: str
    count: str
    name: str
    block: _Block


@dataclass
class _Block:
    """A node with all that must be there below it, and then what may, may repeatedly and must not."""

    name: str
    test: NodeTest
    accepts: Callable[[Node], bool]
    required: list[_Step] = field(default_factory=list)
    optional: list[_Step] = field(default_factory=list)
    repeated: list[_Step] = field(default_factory=list)
    absent: list[_Step] = field(default_factory=list)

    def parts(self) -> Iterator[_Block]:
        """The block and those of its required nodes, in the order in which they are bound."""
        yield self
        for step in self.required:
            yield from step.block.parts()

    @cached_property
    def steps(self) -> tuple[list[_Step], list[_Step], list[_Step], list[_Step]]:
        """All arcs of its parts: those required, optional, repeated and absent."""
        parts = list(self.parts())
        return (
            [step for part in parts for step in part.required],
            [step for part in parts for step in part.optional],
            [step for part in parts for step in part.repeated],
            [step for part in parts for step in part.absent],
        )


class _Compiler:
    """Makes blocks of node patterns; nodes without a variable get a number."""

    def __init__(self, lexicons: Lexicons) -> None:
        self._lexicons, self._count = lexicons, 0

    def block(self, node: NodePattern) -> _Block:
        self._count += 1
        test = node_test(node, self._lexicons)
        block = _Block(node.name or f"#{self._count}", test, test.compiled())
        for arc in node.arcs:
            step = self._step(block.name, arc)
            kind = {"one": block.required, "?": block.optional, "not": block.absent}
            kind.get(arc.count, block.repeated).append(step)
        block.required.sort(key=_choices)
        return block

    def _step(self, anchor: str, arc: Arc) -> _Step:
        block = self.block(arc.node)
        return _Step(anchor, arc.relations, accepted(arc.relations), arc.axis, arc.count, block.name, block)


def _choices(step: _Step) -> float:
    """How many words may stand at an arc, more or less: those with the fewest are looked for first."""
    test = step.block.test
    own = min((sum(map(share_of, keys)) for keys in (_keys("/", test.lemmas), _keys(":", test.upos)) if keys),
              default=100.0)  # fmt: skip
    return min(own, sum(share_of(name.removeprefix("=")) for name in step.names)) + 200 * (step.axis != "")


def _keys(sign: str, values: frozenset[str] | None) -> list[str]:
    return [sign + value for value in values or ()]


class Pattern:
    """A pattern that finds all its matches in a tree."""

    def __init__(self, source: PatternText, lexicons: Lexicons | None = None) -> None:
        self.source = source
        compiler = _Compiler(lexicons or {})
        quick = narrowed(source)
        self._blocks = [compiler.block(node) for node in quick.alternatives]
        self._holds = _condition(quick.condition, compiler) if quick.condition else None

    def __str__(self) -> str:
        return str(self.source)

    def matches(self, tree: Tree) -> list[Bound]:
        """Each way to bind the variables, once; in the order of the nodes."""
        return [{k: v for k, v in one.items() if k[0] != "#"} for one in self.all_bound(tree)]

    def occurs_in(self, tree: Tree) -> bool:
        """Whether there is a match."""
        return next(self._search(Groups(tree)), None) is not None

    def all_bound(self, tree: Tree, groups: Groups | None = None) -> list[Bound]:
        """Matches with all nodes, also those without a variable (`#1`); `groups` are those of the tree, if
        they are known."""
        found = list(self._search(groups or Groups(tree)))
        if len(found) < 2:
            return found
        unique: dict[tuple[object, ...], Bound] = {}
        for bound in found:
            unique.setdefault(_identity(bound), bound)
        return list(unique.values())

    def _search(self, groups: Groups) -> Iterator[Bound]:
        for block in self._blocks:
            accepts = block.accepts
            for node in groups.of(block.test):
                if accepts(node):
                    for bound in _solve(block, node, {}):
                        if self._holds is None or self._holds(bound) is not False:
                            yield bound


def _identity(bound: Bound) -> tuple[object, ...]:
    """What makes two matches the same: variables with their nodes, whatever the unnamed ones are."""
    named = ((k, v if isinstance(v, tuple) else (v,)) for k, v in bound.items() if k[0] != "#")
    return tuple(sorted((name, tuple(node.index for node in nodes)) for name, nodes in named))


def _solve(block: _Block, node: Node, bound: Bound) -> Iterator[Bound]:
    """All ways to bind a block whose node is known to fit."""
    start = {**bound, block.name: node}
    if not block.required and not block.optional and not block.repeated and not block.absent:
        yield start
        return
    required, optional, repeated, absent = block.steps
    for core in _required(required, 0, start):
        for full in _optional(optional, 0, core):
            whole = _repeated(repeated, full)
            if whole is not None and not any(_exists(step, whole) for step in absent):
                yield whole


def _required(steps: list[_Step], number: int, bound: Bound) -> Iterator[Bound]:
    if number == len(steps):
        yield bound
        return
    step = steps[number]
    for node in _free(step, bound):
        yield from _required(steps, number + 1, {**bound, step.name: node})


def _optional(steps: list[_Step], number: int, bound: Bound) -> Iterator[Bound]:
    """An optional node that can be bound is bound, in each way; one that cannot is left out."""
    if number == len(steps):
        yield bound
        return
    step, there = steps[number], False
    for node in _free(step, bound):
        for extended in _solve(step.block, node, bound):
            there = True
            yield from _optional(steps, number + 1, extended)
    if not there:
        yield from _optional(steps, number + 1, bound)


def _repeated(steps: list[_Step], bound: Bound) -> Bound | None:
    """All nodes of each repeated step; None if one that must be there is not."""
    for step in steps:
        nodes = tuple(_free(step, bound))
        if not nodes and step.count == "+":
            return None
        bound = {**bound, step.name: nodes}
    return bound


def _exists(step: _Step, bound: Bound) -> bool:
    return any(True for node in _free(step, bound) for _ in _solve(step.block, node, bound))


def _free(step: _Step, bound: Bound) -> Iterator[Node]:
    """Nodes at the other end of an arc that fit and are not bound yet."""
    anchor = bound[step.anchor]
    assert isinstance(anchor, Node)
    accepts = step.block.accepts
    for node in _ALONG[step.axis](anchor, step.relations):
        if accepts(node) and not _used(node, bound):
            yield node


def _used(node: Node, bound: Bound) -> bool:
    for value in bound.values():
        if value is node or (type(value) is tuple and any(one is node for one in value)):
            return True
    return False


def _daughters(node: Node, relations: dict[str, bool]) -> Iterator[Node]:
    return (child for child in node.children if relations[child.relation])


def _head(node: Node, relations: dict[str, bool]) -> Iterator[Node]:
    if node.head is not None and relations[node.relation]:
        yield node.head


def _below(node: Node, relations: dict[str, bool]) -> Iterator[Node]:
    waiting = list(_daughters(node, relations))
    while waiting:
        below = waiting.pop(0)
        yield below
        waiting += _daughters(below, relations)


def _above(node: Node, relations: dict[str, bool]) -> Iterator[Node]:
    while node.head is not None and relations[node.relation]:
        node = node.head
        yield node


_ALONG: dict[str, Callable[[Node, dict[str, bool]], Iterator[Node]]] = {
    "": _daughters,
    "^": _head,
    ">>": _below,
    "^^": _above,
}

_Holds = Callable[[Bound], "bool | None"]


def _condition(condition: Condition, compiler: _Compiler) -> _Holds:
    """A function that says whether a condition holds; None if a variable of it is not bound."""
    if condition.kind == "not":
        inside = _condition(condition.parts[0], compiler)
        return lambda bound: None if (value := inside(bound)) is None else not value
    if condition.parts:
        return _joined([_condition(part, compiler) for part in condition.parts], condition.kind == "and")
    if condition.kind == "is":
        assert condition.node is not None
        return _is(condition.names[0], compiler.block(condition.node))
    return _compared(condition.names, _comparison(condition))


def _joined(parts: list[_Holds], every: bool) -> _Holds:
    """`and` and `or` of three values: what is decided by one part does not wait for another."""

    def holds(bound: Bound) -> bool | None:
        values = [part(bound) for part in parts]
        return (not every) if (not every) in values else None if None in values else every

    return holds


def _is(name: str, block: _Block) -> _Holds:
    def holds(bound: Bound) -> bool | None:
        nodes = _nodes(bound, name)
        fits = (block.accepts(node) and any(True for _ in _solve(block, node, {})) for node in nodes)
        return all(fits) if nodes else None

    return holds


def _compared(names: tuple[str, ...], compare: Callable[[Node, Node], bool]) -> _Holds:
    def holds(bound: Bound) -> bool | None:
        left, right = (_nodes(bound, name) for name in names)
        return all(compare(a, b) for a in left for b in right) if left and right else None

    return holds


def _comparison(condition: Condition) -> Callable[[Node, Node], bool]:
    if condition.kind in ("before", "after", "next"):
        return {
            "before": lambda a, b: a.index < b.index,
            "after": lambda a, b: a.index > b.index,
            "next": lambda a, b: a.index + 1 == b.index,
        }[condition.kind]
    first, second = map(getter, condition.keys)
    if condition.kind == "=":
        return lambda a, b: first(a) == second(b) != ""
    if condition.kind == "!=":
        return lambda a, b: first(a) != second(b)
    return lambda a, b: not first(a) or not second(b) or first(a) == second(b)


def _nodes(bound: Bound, name: str) -> tuple[Node, ...]:
    value = bound.get(name, ())
    return value if isinstance(value, tuple) else (value,)


def parse_pattern(text: str, lexicons: Lexicons | None = None, place: Place | None = None) -> Pattern:
    """A pattern of its text; a DataError names the place of what is wrong."""
    return Pattern(read_pattern(text, place), lexicons)
