"""Patterns: what they say, matching against plain enumeration, and errors with their places."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia.assist.paraphrase import parse_pattern
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.patterns import Arc, NodePattern, PatternText
from marginalia.assist.relations import RELATIONS
from marginalia.assist.trees import Node, Tree
from marginalia.errors import DataError

RELATION = ("nsubj", "obj", "nsubj:pass", "conj", "aux")
WANTED = ("nsubj", "obj", "core", "any", "=nsubj", "conj", "aux")
LEMMAS = ("a", "b")
UPOS = ("NOUN", "VERB")


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    size = draw(st.integers(1, 6))
    nodes = [
        Node(
            draw(st.sampled_from(LEMMAS)),
            upos=draw(st.sampled_from(UPOS)),
            relation=draw(st.sampled_from(RELATION)),
        )
        for _ in range(size)
    ]
    for place in range(1, size):
        nodes[place].head = nodes[draw(st.integers(0, place - 1))]
    order = draw(st.permutations(nodes))
    return Tree(list(order))


@st.composite
def node_patterns(draw: st.DrawFn, names: list[str], depth: int = 2) -> NodePattern:
    name = f"X{len(names)}"
    names.append(name)
    classes = draw(st.sampled_from([(), (), ("NOUN",), ("verb",)]))
    lemmas = draw(st.sampled_from([(), (), ("a",), ("a", "b")]))
    arcs = []
    for _ in range(draw(st.integers(0, 2)) if depth and len(names) < 4 else 0):
        count = draw(st.sampled_from(["one", "one", "?", "not", "*", "+"]))
        axis = draw(st.sampled_from(["", "", "^", ">>", "^^"])) if count not in "*+" else ""
        below = draw(node_patterns(names, 0 if count in "*+" else depth - 1))
        relations = tuple(draw(st.lists(st.sampled_from(WANTED), min_size=1, max_size=2, unique=True)))
        arcs.append(Arc(relations, below, count, axis))
    return NodePattern(name, classes, lemmas, (), tuple(arcs))


def fits(node: Node, pattern: NodePattern) -> bool:
    """Whether a node alone is what a pattern asks for."""
    upos = {"NOUN": "NOUN", "verb": "VERB"}
    return (not pattern.lemmas or node.lemma in pattern.lemmas) and all(
        node.upos == upos[name] for name in pattern.classes
    )


def is_of(node: Node, relations: tuple[str, ...]) -> bool:
    return any(
        node.relation == one[1:] if one[0] == "=" else one in RELATIONS.kinds(node.relation)
        for one in relations
    )


def stands(anchor: Node, node: Node, arc: Arc) -> bool:
    """Whether a node stands where an arc says, seen from its anchor."""
    if arc.axis == "":
        return node.head is anchor and is_of(node, arc.relations)
    if arc.axis == "^":
        return anchor.head is node and is_of(anchor, arc.relations)
    low, high = (node, anchor) if arc.axis == ">>" else (anchor, node)
    path = []
    while low is not high:
        if low.head is None:
            return False
        path.append(low)
        low = low.head
    return bool(path) and all(is_of(one, arc.relations) for one in path)


def core(pattern: NodePattern) -> list[tuple[NodePattern, str, Arc | None]]:
    """The nodes that must be there, each with the name of its anchor."""
    found: list[tuple[NodePattern, str, Arc | None]] = [(pattern, "", None)]
    for arc in pattern.arcs:
        if arc.count == "one":
            found += [(n, a or pattern.name, r or arc) for n, a, r in core(arc.node)]
    return found


def flat(bound: Bound) -> list[Node]:
    return [node for value in bound.values() for node in (value if isinstance(value, tuple) else (value,))]


def enumerate_matches(
    pattern: NodePattern, nodes: list[Node], bound: Bound, arc: Arc | None, anchor: Node | None
) -> list[Bound]:
    """All bindings, by trying every choice of nodes for what must be there; then what may be, one after the
    other; then all that repeats; and no more of what must not be there."""
    wanted = core(pattern)
    free = [node for node in nodes if all(node is not one for one in flat(bound))]
    results: list[Bound] = []
    for choice in permutations(free, len(wanted)):
        own = {part.name: node for (part, _, _), node in zip(wanted, choice, strict=True)}
        if arc is not None and anchor is not None and not stands(anchor, choice[0], arc):
            continue
        if all(fits(own[p.name], p) and (r is None or stands(own[a], own[p.name], r)) for p, a, r in wanted):
            results += completed([part for part, _, _ in wanted], nodes, {**bound, **own})
    return results


def every_one(part: NodePattern, arc: Arc, nodes: list[Node], bound: Bound) -> tuple[Node, ...]:
    anchor, taken = bound[part.name], flat(bound)
    assert isinstance(anchor, Node)
    standing = (node for node in nodes if stands(anchor, node, arc) and fits(node, arc.node))
    return tuple(node for node in standing if all(node is not one for one in taken))


def completed(parts: list[NodePattern], nodes: list[Node], bound: Bound) -> list[Bound]:
    results = [bound]
    for part, arc in ((p, arc) for p in parts for arc in p.arcs if arc.count == "?"):
        extended: list[Bound] = []
        for one in results:
            anchor = one[part.name]
            assert isinstance(anchor, Node)
            extended += enumerate_matches(arc.node, nodes, one, arc, anchor) or [one]
        results = extended
    for part, arc in ((p, a) for p in parts for a in p.arcs if a.count in "*+"):
        repeated = [{**one, arc.node.name: every_one(part, arc, nodes, one)} for one in results]
        results = [one for one in repeated if arc.count == "*" or one[arc.node.name]]
    for part, arc in ((p, a) for p in parts for a in p.arcs if a.count == "not"):
        results = [
            one
            for one in results
            if not enumerate_matches(arc.node, nodes, one, arc, one[part.name])  # type: ignore[arg-type]
        ]
    return results


def shown(matches: list[Bound]) -> list[tuple[tuple[str, tuple[int, ...]], ...]]:
    return sorted(
        {
            tuple(
                sorted(
                    (name, tuple(n.index for n in (v if isinstance(v, tuple) else (v,))))
                    for name, v in one.items()
                )
            )
            for one in matches
        }
    )


@settings(max_examples=400, deadline=None)
@given(trees(), st.data())
def test_matches_are_those_of_plain_enumeration(tree: Tree, data: st.DataObject) -> None:
    pattern = data.draw(node_patterns([]))
    text = str(PatternText((pattern,)))
    assert shown(parse_pattern(text).matches(tree)) == shown(
        enumerate_matches(pattern, tree.nodes, {}, None, None)
    )


def required(pattern: NodePattern) -> list[NodePattern]:
    return [part for part, _, _ in core(pattern)]


@settings(max_examples=200, deadline=None)
@given(trees(), st.data())
def test_conditions_on_one_word_are_tested_where_it_is_bound(tree: Tree, data: st.DataObject) -> None:
    pattern = data.draw(node_patterns([]))
    name = data.draw(st.sampled_from([part.name for part in required(pattern)]))
    asked = NodePattern(
        "", data.draw(st.sampled_from([(), ("verb",)])), data.draw(st.sampled_from([("a",), ("b",)]))
    )
    text = f"{PatternText((pattern,))} where {name} is {asked}"
    plain = enumerate_matches(pattern, tree.nodes, {}, None, None)
    assert shown(parse_pattern(text).matches(tree)) == shown(
        [one for one in plain if fits(one[name], asked)]  # type: ignore[arg-type]
    )


def built(text: str) -> Tree:
    """A tree of words `form/UPOS/relation/head`, heads from 1 on."""
    rows = [word.split("/") for word in text.split()]
    nodes = [Node(form, upos=upos, relation=relation) for form, upos, relation, _ in rows]
    for node, row in zip(nodes, rows, strict=True):
        node.head = nodes[int(row[3]) - 1] if int(row[3]) else None
    return Tree(nodes)


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("X/dog", ["dog"]),
        ("X/DOG", ["dog"]),
        ("X:noun", ["cats", "dog"]),
        ("X[form~\"^c\"]", ["cats", "chase"]),
        ("X[lemma!=dog, upos=NOUN|VERB]", ["cats", "chase"]),
        ("X[size>2]", ["chase", "dog"]),
        ("X[Number=Plur]", ["cats"]),
        ("X[!Number, side=right]", ["dog"]),
        ("X[@animals]", ["cats", "dog"]),
        ("X[!@animals]", ["big", "chase", "the"]),
        ("X(det, amod)", ["dog"]),
        ("X(not det, ^core)", ["cats"]),
        ("X({det | nsubj})", ["chase", "dog"]),
        ("X/cat | X/dog(amod)", ["cats", "dog"]),
        ("V:verb(obj O, nsubj X) where X before O and not O before X", ["cats"]),
        ("V:verb(obj X, nsubj S) where X next S", []),
        ("V:verb(obj X, nsubj S) where S.Number = X.Number", []),
        ("V:verb(obj X, nsubj S) where S.Number ~ X.Number", ["dog"]),
        ("V:verb(obj X, mark? M) where M before X", ["dog"]),
        ("V:verb(obj X) where X is (det) and not (X is /cat or V is :noun)", ["dog"]),
        ("X:verb where X is not (aux)", ["chase"]),
    ],
)  # fmt: skip
def test_what_patterns_say(pattern: str, matches: list[str]) -> None:
    tree = built("cats/NOUN/nsubj/2 chase/VERB/root/0 the/DET/det/5 big/ADJ/amod/5 dog/NOUN/obj/2")
    tree.nodes[0].feats["Number"] = "Plur"
    tree.nodes[0].lemma = "cat"
    compiled = parse_pattern(pattern, {"animals": frozenset({"cat", "dog"})})
    assert sorted(bound["X"].form for bound in compiled.matches(tree)) == matches  # type: ignore[union-attr]
    assert compiled.occurs_in(tree) == bool(matches)
    again = parse_pattern(str(compiled), {"animals": frozenset({"cat", "dog"})})
    assert shown(again.matches(tree)) == shown(compiled.matches(tree))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("V(nsubj", "1:8: found the end, expected a node"),
        ("V:verbs", "1:3: found 'verbs', expected a part of speech"),
        ("V(nsbj N)", "1:3: found 'nsbj', expected a relation"),
        ("V(nsubj N) where M before V", "1:18: found 'M', expected a variable of the pattern \\(N, V\\)"),
        ("V(nsubj N) where N behind V", "1:20: found 'behind', expected before, after, next or is"),
        ('V[form~"("]', "1:7: found the regular expression"),
        ("V[size>big]", "1:7: found 'big', expected a number"),
        ("V[Number>3]", "1:9: found 'Number' before >, expected size"),
        ("V[@birds]", "found the list 'birds', expected one that is declared"),
        ('V/"dog', '1:3: found " without its end'),
        ("V(aux* X(det))", "1:6: found a repeated node with nodes around it"),
        ("V(obj O\n  nsubj N)", "2:3: found 'nsubj', expected ',' or '\\)'"),
        ("V V", "1:3: found 'V', expected the end"),
        ("", "1:1: found the end, expected a node"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_pattern(text)
