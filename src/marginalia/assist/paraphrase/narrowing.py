"""Patterns made quicker: what conditions ask of one word is asked where that word is bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from marginalia.assist.paraphrase.patterns import Condition, Constraint, NodePattern, PatternText


def narrowed(pattern: PatternText) -> PatternText:
    """The pattern with `where V is :verb/go[Tense=Past]` written at V itself; it matches what it matched.

    Only words that must be there can take such a condition: an optional one that does not fulfil it is no
    match, but one that is asked so itself would be left out.
    """
    safe = set.intersection(*({*_required(node)} for node in pattern.alternatives))
    asked: dict[str, list[NodePattern]] = {}
    others = []
    for part in _parts(pattern.condition):
        if part.kind == "is" and part.node is not None and not part.node.arcs and part.names[0] in safe:
            asked.setdefault(part.names[0], []).append(part.node)
        else:
            others.append(part)
    if not asked:
        return pattern
    condition = None if not others else others[0] if len(others) == 1 else Condition("and", parts=(*others,))
    return PatternText(tuple(_asked(node, asked) for node in pattern.alternatives), condition)


def _parts(condition: Condition | None) -> Iterator[Condition]:
    """The conditions that all have to hold."""
    if condition is not None and condition.kind == "and":
        for part in condition.parts:
            yield from _parts(part)
    elif condition is not None:
        yield condition


def _required(node: NodePattern) -> Iterator[str]:
    if node.name:
        yield node.name
    for arc in node.arcs:
        if arc.count == "one":
            yield from _required(arc.node)


def _asked(node: NodePattern, asked: dict[str, list[NodePattern]]) -> NodePattern:
    for more in asked.get(node.name, ()):
        lemmas = (Constraint("lemma", "=", more.lemmas),) if more.lemmas else ()
        constraints = (*node.constraints, *lemmas, *more.constraints)
        node = replace(node, classes=node.classes + more.classes, constraints=constraints)
    arcs = (arc if arc.count != "one" else replace(arc, node=_asked(arc.node, asked)) for arc in node.arcs)
    return replace(node, arcs=tuple(arcs))
