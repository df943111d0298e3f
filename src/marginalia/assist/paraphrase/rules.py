"""Rules that are ready to work: compiled patterns and results, and what a tree must have for them to fire."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from marginalia.assist.paraphrase.matching import Bound, Pattern
from marginalia.assist.paraphrase.node_tests import Lexicons
from marginalia.assist.paraphrase.patterns import NodePattern, PatternText
from marginalia.assist.paraphrase.rule_files import Family, RuleSource
from marginalia.assist.paraphrase.targets import Target
from marginalia.assist.paraphrase.transfer import Refused, Transfer, transfer
from marginalia.assist.trees import Node, Tree


@dataclass
class Rule:
    """A rule with both sides as trees. `source` is how it was written."""

    name: str
    family: str
    why: str
    source: RuleSource
    left: PatternText
    right: tuple[Target, ...]
    lexicons: Lexicons = field(repr=False, default_factory=dict)

    @cached_property
    def pattern(self) -> Pattern:
        """The left side, compiled."""
        return Pattern(self.left, self.lexicons)

    @cached_property
    def looked_at(self) -> frozenset[str]:
        """Variables of nodes that stand above a match or anywhere below it, and stay whatever happens."""
        return frozenset(name for node in self.left.alternatives for name in _looked_at(node, False))

    @cached_property
    def literals(self) -> frozenset[str]:
        """Variables that stand for certain words."""
        return frozenset(n.name for one in self.left.alternatives for n in _nodes(one) if n.name and n.lemmas)

    def apply(self, tree: Tree, bound: Bound) -> Transfer | None:
        """What the rule makes of a match; None if it does not fire there."""
        try:
            return transfer(tree, bound, self.looked_at, self.literals, self.right)
        except Refused:
            return None

    def __str__(self) -> str:
        return f"{self.left} -> {' || '.join(map(str, self.right))}"


def _nodes(node: NodePattern) -> Iterator[NodePattern]:
    yield node
    for arc in node.arcs:
        if arc.count != "not":
            yield from _nodes(arc.node)


def _looked_at(node: NodePattern, outside: bool) -> Iterator[str]:
    if outside:
        yield node.name
    for arc in node.arcs:
        if arc.count != "not":
            yield from _looked_at(arc.node, outside or bool(arc.axis))


def families_of(families: list[Family]) -> dict[str, Family]:
    """Families by their names."""
    return {family.name: family for family in families}


def bindings_text(bound: Bound) -> dict[str, str]:
    """Variables with the words that they stand for, for people."""
    return {
        name: " ".join(node.form for node in ((value,) if isinstance(value, Node) else value))
        for name, value in bound.items()
        if name[0] != "#"
    }
