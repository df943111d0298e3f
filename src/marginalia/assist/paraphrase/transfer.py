"""A rule at work: the operators that make the tree of the right side of a match of the left one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from marginalia.assist.paraphrase.forms import shape
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.ordering import Places
from marginalia.assist.paraphrase.targets import Form, Target
from marginalia.assist.relations import RELATIONS
from marginalia.assist.trees import Node, Tree

_STOPS = {"ja": "。", "zh": "。"}
_OF_THE_SENTENCE = frozenset({"punct", "cc", "discourse", "vocative", "parataxis", "mark", "dislocated"})
_SAYING = frozenset(
    {"say", "add", "tell", "report", "note", "ask", "announce", "explain", "believe", "think"}
)
_OF_A_NOUN = ("det", "amod", "nummod", "nmod", "multiword", "case", "appos", "acl")


@dataclass
class Transfer:
    """What a rule made: the trees of its sentences, and words whose form has to be made anew."""

    trees: list[Tree]
    changed: list[Node] = field(default_factory=list)


class Refused(Exception):
    """The rule does not fire here: something would be lost, or be no tree."""


@dataclass
class _Work:
    """One application: a copy of the tree, its bound nodes, and what has become of them."""

    tree: Tree
    bound: Bound
    literals: frozenset[str]
    kept: dict[int, Node] = field(default_factory=dict)
    nodes: dict[int, list[Node]] = field(default_factory=dict)  # by id of a target
    copies: dict[int, Node] = field(default_factory=dict)


def transfer(
    tree: Tree, bound: Bound, looked_at: frozenset[str], literals: frozenset[str], targets: Sequence[Target]
) -> Transfer:
    """Apply a right side to a match; nodes that are only `looked_at` stay, other ones not in it are dropped.

    `literals` are variables that stand for a word itself: dropped, they must not take anything with them.
    """
    if not tree.is_projective():
        raise Refused("arcs cross")
    fresh = tree.copy()
    twins = {name: _twin(value, fresh) for name, value in bound.items()}
    work = _Work(fresh, twins, literals)
    matched = _matched(work, looked_at, targets)
    _resolve(work, targets, matched)
    top = _topmost(matched)
    places = Places(matched, tree.language == "ja")
    _check_dropped(work, matched, top, targets)
    roots = _build(work, top, targets, places)
    _hand_over(work, top, roots, matched, places)
    _move(work, targets)
    _drop(work, matched)
    _arrange(work, targets, roots, places)
    _check_relative(matched, work)
    trees = _split(work, roots, {node.origin for node in tree if node.form == ","})
    changed = shape(work.nodes, bound, targets)
    return Transfer(trees, changed)


def _twin(value: Node | tuple[Node, ...], tree: Tree) -> Node | tuple[Node, ...]:
    if isinstance(value, tuple):
        return tuple(tree.nodes[node.index] for node in value)
    return tree.nodes[value.index]


def _every(bound: Bound, name: str) -> list[Node]:
    value = bound.get(name, ())
    return list(value) if isinstance(value, tuple) else [value]


def _resolve(work: _Work, targets: Sequence[Target], matched: Sequence[Node]) -> None:
    """Find the node of each target: bound, a copy of one that is used already, or new."""
    inside = {id(node) for node in matched}
    for target in (part for one in targets for part in one.parts()):
        if target.lemma:
            work.nodes[id(target)] = [_made(target)]
            continue
        nodes = _every(work.bound, target.name)
        if nodes and id(nodes[0]) in work.kept:
            nodes = [_copied(node, inside) for node in nodes]
            work.copies.update((id(node), node) for node in nodes)
        else:
            work.kept.update((id(node), node) for node in nodes)
        work.nodes[id(target)] = nodes


def _made(target: Target) -> Node:
    forms = [form.values[0] for form in target.forms if form.kind == "form"]
    return Node(forms[0] if forms else target.lemma, target.lemma, target.upos)


def _copied(node: Node, inside: set[int]) -> Node:
    """The head of a copy of a phrase, without words that the rule names."""
    twin = node.copy()
    twin.index = node.index
    twin.children = [_copied(child, inside) for child in node.children if id(child) not in inside]
    for child in twin.children:
        child.head = twin
    return twin


def _matched(work: _Work, looked_at: frozenset[str], targets: Sequence[Target]) -> list[Node]:
    """The nodes that the rule disposes of, in surface order."""
    used = {part.name for target in targets for part in target.parts()}
    found = {
        id(node): node
        for name in work.bound
        for node in _every(work.bound, name)
        if name not in looked_at or name in used
    }
    return sorted(found.values(), key=lambda node: node.index)


def _topmost(matched: list[Node]) -> Node:
    inside = {id(node) for node in matched}
    tops = [n for n in matched if not any(id(above) in inside for above in n.ancestors())]
    if len(tops) != 1:
        raise Refused("the match is in several pieces")
    return tops[0]


def _check_dropped(work: _Work, matched: list[Node], top: Node, targets: Sequence[Target]) -> None:
    """A word itself must not take along what the rule does not speak of."""
    taken = {f.name for one in targets for part in one.parts() for f in part.forms if f.kind == "take"}
    safe = {id(node) for name in taken for node in _every(work.bound, name)} | {id(top)} | work.kept.keys()
    inside = {id(node) for node in matched}
    for name in work.literals:
        for node in _every(work.bound, name):
            if id(node) in inside and id(node) not in safe:
                lost = [c for c in node.children if id(c) not in inside and c.relation != "punct"]
                if lost:
                    raise Refused(f"'{lost[0].form}' would be lost with '{node.form}'")


def _build(work: _Work, top: Node, targets: Sequence[Target], places: Places) -> list[Node]:
    """Hang all words of the result where they belong, from the top down; the roots of its sentences."""
    roots: list[Node] = []
    for target in targets:
        if not work.nodes[id(target)]:
            raise Refused("the root of the result is not there")
        root = work.nodes[id(target)][0]
        if not roots:
            _take_the_top(work, top, root)
        else:
            _hang(work, root, roots[0], "parataxis")
        roots.append(root)
        _hang_daughters(work, target)
    return roots


def _take_the_top(work: _Work, top: Node, root: Node) -> None:
    if root is top:
        return
    if id(root) not in work.kept:
        work.tree.insert(root, top, "dep", after=top)
    elif not any(above is top for above in root.ancestors()):
        raise Refused("the root of the result is outside of the match")
    work.tree.substitute(top, root)


def _hang_daughters(work: _Work, target: Target) -> None:
    nodes = work.nodes[id(target)]
    for arc in target.arcs:
        if arc is not None and nodes:
            for daughter in work.nodes[id(arc[1])]:
                _hang(work, daughter, nodes[0], arc[0])
            _hang_daughters(work, arc[1])


def _hang(work: _Work, node: Node, head: Node, relation: str) -> None:
    tree = work.tree
    if relation in ("nsubj", "csubj") and _is_passive(work, head):
        relation += ":pass"
    if id(node) in work.copies:
        _graft(tree, node, head, relation)
    elif id(node) not in work.kept:
        tree.insert(node, head, relation, after=head)
    elif any(above is node for above in head.ancestors()):
        raise Refused(f"'{node.form}' would hang below itself")
    elif node.head is not head or not RELATIONS.is_a(node.relation, relation):
        tree.depend(node, head, relation)


def _is_passive(work: _Work, head: Node) -> bool:
    """Whether a word has an auxiliary of the passive, and keeps it."""
    return any(d.relation == "aux:pass" and not _goes(work, d) for d in head.children)


def _goes(work: _Work, node: Node) -> bool:
    """Whether a rule names a word and will drop it."""
    named = any(node is one for name in work.bound for one in _every(work.bound, name))
    return named and id(node) not in work.kept


def _graft(tree: Tree, copy: Node, head: Node, relation: str) -> None:
    """Put the words of a copied phrase behind the head, and hang them on it."""
    phrase = _phrase(copy)
    arcs = [(node, node.head, node.relation) for node in phrase]
    for node in phrase:
        node.head, node.children = None, []
    anchor = head
    for node in phrase:
        tree.insert(node, head, relation, after=anchor)
        anchor = node
    for node, parent, own in arcs:
        if parent is not None:
            tree.depend(node, parent, own)


def _phrase(copy: Node) -> list[Node]:
    """The words of a copy, which is in no tree yet, in the order of what it was copied of."""
    found = [copy]
    for node in found:
        found += node.children
    return sorted(found, key=lambda node: node.index)


def _hand_over(work: _Work, top: Node, roots: list[Node], matched: list[Node], places: Places) -> None:
    """What hangs on the old top and is of the sentence, or has lost its word, hangs on the new one."""
    root = roots[0]
    if root is top:
        return
    inside = {id(node) for node in matched}
    own = {id(n) for nodes in work.nodes.values() for n in nodes}
    dropped = id(top) not in work.kept
    clause = top.upos in ("VERB", "AUX") or top.is_a("clausal") or top.is_a("parataxis")
    later = work.tree.language == "ja" and any(top is one for one in roots)

    def moves(node: Node) -> bool:
        if id(node) in inside or id(node) in own:
            return False
        if dropped:
            return True
        outside = places.outside(node)
        if later:  # what stands before the first sentence now leads it
            return outside and node.index < root.index
        if top.upos in ("NOUN", "PROPN") and any(node.is_a(kind) for kind in _OF_A_NOUN):
            return False
        return outside and (node.relation in _OF_THE_SENTENCE or not clause)

    work.tree.move_daughters(top, root, moves)


def _drop(work: _Work, matched: list[Node]) -> None:
    for node in matched:
        alive = node.index < len(work.tree.nodes) and work.tree.nodes[node.index] is node
        if alive and id(node) not in work.kept:
            if any(id(one) in work.kept for one in node.subtree()):
                raise Refused(f"'{node.form}' would take a word along that is kept")
            work.tree.delete(node)


def _forms(targets: Sequence[Target], kind: str) -> Iterator[tuple[Target, Form]]:
    for target in targets:
        for part in target.parts():
            yield from ((part, form) for form in part.forms if form.kind == kind)


def _move(work: _Work, targets: Sequence[Target]) -> None:
    """What the result takes from dropped words, and what it leaves out."""
    own = {id(node) for nodes in work.nodes.values() for node in nodes}
    for target, form in _forms(targets, "take"):
        for source, node in product(_every(work.bound, form.name), work.nodes[id(target)]):
            work.tree.move_daughters(source, node, partial(_taken, form, own))
    for target in (part for one in targets for part in one.parts()):
        for node in work.nodes[id(target)]:
            for daughter in list(node.children):
                if id(daughter) not in own and any(_leaves(daughter, form) for form in target.forms):
                    work.tree.delete(daughter)


def _taken(form: Form, own: set[int], daughter: Node) -> bool:
    return id(daughter) not in own and _named(daughter, form)


def _named(daughter: Node, form: Form) -> bool:
    return not form.values or any(daughter.is_a(kind) for kind in form.values)


def _leaves(daughter: Node, form: Form) -> bool:
    """Whether a daughter goes by `drop`, `alone` or `short`."""
    if form.kind == "drop":
        return _named(daughter, form)
    if form.kind == "short":
        before = daughter.index < daughter.head.index if daughter.head is not None else False
        return not (before or daughter.is_a("multiword")) or any(
            daughter.is_a(kind) for kind in ("clausal", "case", "cc", "punct", "mark")
        )
    return form.kind == "alone"


def _arrange(work: _Work, targets: Sequence[Target], roots: list[Node], places: Places) -> None:
    """Put phrases in the order of the right side."""
    tree = work.tree
    orders: dict[Node, list[Node]] = {}
    for target in (part for one in targets for part in one.parts()):
        if target.ordered and work.nodes[id(target)]:
            node = work.nodes[id(target)][0]
            whole = any(form.kind == "whole" for form in target.forms)
            orders[node] = places.order(node, _sequence(work, target, node), roots, whole)
    if len(roots) > 1 and roots[0] not in orders:
        orders[roots[0]] = places.order(roots[0], None, roots)
    tree.arrange(orders)


def _sequence(work: _Work, target: Target, node: Node) -> list[Node]:
    found: list[Node] = []
    for arc in target.arcs:
        found += [node] if arc is None else work.nodes[id(arc[1])]
    return found


def _check_relative(matched: Sequence[Node], work: _Work) -> None:
    """A relative or interrogative pronoun leads its clause: a rule must not move it behind the verb."""
    for node in matched:
        leading = id(node) in work.kept and node.feats.get("PronType") in ("Rel", "Int")
        if leading and node.head is not None and node.is_a("nominal") and node.index > node.head.index:
            raise Refused(f"'{node.form}' leads its clause")


def _split(work: _Work, roots: list[Node], commas: set[int | None]) -> list[Tree]:
    """The sentences, each with a stop if the whole had one."""
    tree = work.tree
    final = tree.nodes[-1]
    for node in reversed(tree.nodes):
        if node.relation == "punct":
            final = node
            break
        if not any(above is root for root in roots[1:] for above in (node, *node.ancestors())):
            break
    stop = final.form if final.relation == "punct" else ""
    trees = [tree, *(tree.split(root) for root in roots[1:])]
    if len(trees) > 1 and not all(map(_balanced, trees)):
        raise Refused("a quotation or bracket would end in another sentence")
    for piece in trees[1:]:
        _close(tree, piece, commas)
    for one in trees if len(trees) > 1 else ():
        if (stop or one is not trees[-1]) and one.nodes[-1].relation != "punct":
            mark = Node(_STOPS.get(one.language, "."), upos="PUNCT", relation="punct", glued=(True, False))
            one.insert(mark, one.root, "punct", after=one.nodes[-1])
    return trees


def _close(tree: Tree, piece: Tree, commas: set[int | None]) -> None:
    """Take away the comma behind a piece that stood between `commas` and is a sentence of its own now."""
    there = {node.origin for node in tree}
    own = {node.origin for node in piece if node.origin is not None and node.origin not in there}
    for before, node in list(zip(tree.nodes, tree.nodes[1:], strict=False)):
        if node.origin is None or node.origin - 1 not in own or node.form != "," or before.origin is None:
            continue
        opened = any(before.origin < place <= min(own) for place in commas if place is not None)
        if opened and not node.children and not _said(tree.nodes[node.index + 1 :]):
            tree.delete(node)


def _balanced(tree: Tree) -> bool:
    """Whether quotations and brackets end where they began."""
    forms = [node.form for node in tree]
    pairs = (("(", ")"), ("[", "]"), ("“", "”"), ("``", "''"), ("<", ">"), ("「", "」"))
    return forms.count('"') % 2 == 0 and all(forms.count(a) == forms.count(b) for a, b in pairs)


def _said(nodes: Sequence[Node]) -> bool:
    """Whether words are "he said" behind what he said."""
    here = set(map(id, nodes))
    return any(
        node.lemma in _SAYING and any(id(child) in here for child in node.daughters("nsubj"))
        for node in nodes
    )
