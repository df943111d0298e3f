"""A rule in all three layers: its text as it is parsed, its trees, and the operators that carry it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from marginalia.assist.paraphrase.patterns import NodePattern
from marginalia.assist.paraphrase.rules import Rule
from marginalia.assist.paraphrase.simplified import template_trees
from marginalia.assist.paraphrase.targets import Target
from marginalia.assist.trees import Node, Tree

if TYPE_CHECKING:
    from marginalia.decode.pipeline.pipeline import Pipeline


def explained(rule: Rule, language: str, pipeline: Pipeline | None = None) -> str:
    """The three layers as text; with a pipeline, a rule that is text shows how both sides are parsed."""
    source = rule.source
    place = f"{source.place.file}:{source.place.line}"
    parts = [f"{rule.name} (family {rule.family}, {place})\n{rule.why}\n"]
    if source.layer == "rule":
        parts.append(f"TEXT\n  {' '.join(f'{source.left} -> {source.right}'.split())}\n" + _where(rule))
        if pipeline is not None:
            parts += [_indented(tree.to_tree_text()) for tree in template_trees(source, language, pipeline)]
    parts.append(f"TREES\n  {rule}\n")
    for number, node in enumerate(rule.left.alternatives):
        heading = "left side" if not number else f"left side, read another way ({number + 1})"
        parts.append(_indented(_drawn(_of_pattern(node), heading)))
    parts += [_indented(_drawn(_of_target(target), "right side")) for target in rule.right]
    parts.append("OPERATORS\n" + "".join(f"  {line}\n" for line in operators(rule)))
    return "\n".join(parts)


def _where(rule: Rule) -> str:
    return "".join(f"  where {text}\n" for text, _ in rule.source.where)


def _indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def _drawn(tree: Tree, heading: str) -> str:
    lines = tree.to_tree_text().splitlines()
    return "\n".join([f"# {heading}", *lines[1:]]) + "\n"


def _of_pattern(pattern: NodePattern) -> Tree:
    """A left side as a tree, each node written as it is in the pattern."""
    nodes: list[Node] = []

    def add(part: NodePattern, relation: str, head: Node | None) -> None:
        alone = NodePattern(_shown(part.name), part.classes, part.lemmas, part.constraints)
        node = Node(str(alone) or "any", upos="_", relation=relation)
        node.head = head
        nodes.append(node)
        for arc in part.arcs:
            sign = arc.count if arc.count in "?*+" else ""
            without = "not " if arc.count == "not" else ""
            add(arc.node, f"{without}{arc.axis}{'|'.join(arc.relations)}{sign}", node)

    add(pattern, "_", None)
    return Tree(nodes)


def _shown(name: str) -> str:
    return "" if name.startswith("#") else name


def _of_target(target: Target) -> Tree:
    """A right side as a tree, in its order."""
    nodes: list[Node] = []

    def add(part: Target, relation: str) -> Node:
        node = Node(str(Target(part.name, part.upos, part.lemma, part.forms)), upos="_", relation=relation)
        below: list[Node] = []
        for arc in part.arcs:
            if arc is None:
                nodes.append(node)
            else:
                below.append(add(arc[1], arc[0]))
        if not part.ordered:
            nodes.append(node)
        for daughter in below:
            daughter.head = node
        return node

    add(target, "_")
    return Tree(nodes)


def operators(rule: Rule) -> list[str]:
    """The operators that carry a rule out, in the order in which they work."""
    first = rule.left.alternatives[0]
    left = {part.name: part for part in _every(first)}
    kept = {part.name for target in rule.right for part in target.parts() if part.name}
    lines = [*_matching(first, None, "", "")]
    if rule.left.condition is not None:
        lines.append(f"where {rule.left.condition}")
    root = rule.right[0]
    if root.name != first.name:
        new = root.name or root.lemma
        lines += [] if root.name else [f"insert({new}=[{root.upos}], {first.name})"]
        lines += [f"substitute({first.name}, {new})", f"move_daughters({first.name}, {new})"]
    used: set[str] = set()
    for number, target in enumerate(rule.right):
        lines += _building(target, "parataxis" if number else "", rule.right[0], used)
    moved = [(t, f) for one in rule.right for t in one.parts() for f in t.forms if f.kind == "take"]
    lines += [f"move_daughters({form.name}, {target.name or target.lemma})" for target, form in moved]
    dropped = [name for name in left if name not in kept and name not in rule.looked_at]
    lines += [f"delete({_label(left[name])})" for name in dropped]
    lines += [line for target in rule.right for line in _ordering(target)]
    lines += [f"split({target.name or target.lemma})" for target in rule.right[1:]]
    return lines + [line for target in rule.right for line in _inflecting(target)]


def _label(part: NodePattern) -> str:
    return part.name if not part.name.startswith("#") else "|".join(part.lemmas) or part.name


def _every(node: NodePattern) -> Iterator[NodePattern]:
    yield node
    for arc in node.arcs:
        if arc.count != "not":
            yield from _every(arc.node)


def _matching(node: NodePattern, head: NodePattern | None, relation: str, count: str) -> Iterator[str]:
    alone = NodePattern("", node.classes, node.lemmas, node.constraints)
    what = f"{_label(node)}=[{str(alone).lstrip(':')}]"
    if head is None:
        yield f"match({what})"
    else:
        name = {"not": "without ", "?": "optional ", "*": "all ", "+": "all "}.get(count, "")
        yield f"{name}depend({what}, {relation}, {_label(head)})"
    for arc in node.arcs:
        yield from _matching(arc.node, node, f"{arc.axis}{'|'.join(arc.relations)}", arc.count)


def _building(target: Target, relation: str, root: Target, used: set[str]) -> Iterator[str]:
    name = target.name or target.lemma
    if relation == "parataxis":
        yield _hung(target, relation, root.name or root.lemma, used)
    used.add(target.name)
    for arc in target.arcs:
        if arc is not None:
            yield _hung(arc[1], arc[0], name, used)
            yield from _building(arc[1], "", root, used)


def _hung(target: Target, relation: str, head: str, used: set[str]) -> str:
    if target.lemma:
        return f"insert({target.lemma}=[{target.upos}], {relation}, {head})"
    if target.name in used:
        return f"insert(copy of {target.name}, {relation}, {head})"
    return f"depend({target.name}, {relation}, {head})"


def _ordering(target: Target) -> Iterator[str]:
    if target.ordered:
        own = target.name or target.lemma
        order = [own if arc is None else arc[1].name or arc[1].lemma for arc in target.arcs]
        yield f"arrange({own}: {' '.join(order)})"
    for arc in target.arcs:
        if arc is not None:
            yield from _ordering(arc[1])


def _inflecting(target: Target) -> Iterator[str]:
    forms = [str(form) for form in target.forms if form.kind in ("tense", "agree", "like", "lemma")]
    forms += [form.values[0] for form in target.forms if form.kind == "feature" and not form.name]
    if forms:
        yield f"inflect({target.name or target.lemma}: {', '.join(forms)})"
    for arc in target.arcs:
        if arc is not None:
            yield from _inflecting(arc[1])
