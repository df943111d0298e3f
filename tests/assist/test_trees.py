"""Trees of paraphrasing: made of parsed sentences as they are, and trees after every operator."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.assist.relations import RELATIONS, Hierarchy
from marginalia.assist.trees import Node, Tree
from marginalia.errors import DataError


def made(forms: str, heads: list[int], language: str = "en") -> Tree:
    """A tree of words with the numbers of their heads, from 1 on; 0 is the root."""
    nodes = [Node(form) for form in forms.split()]
    for node, head in zip(nodes, heads, strict=True):
        node.head = nodes[head - 1] if head else None
    return Tree(nodes, language)


def check(tree: Tree) -> None:
    """Each word is there once, hangs below the root, and knows its place and its daughters."""
    assert [node.index for node in tree.nodes] == list(range(len(tree.nodes)))
    assert len({id(node) for node in tree.nodes}) == len(tree.nodes)
    assert tree.root.head is None
    assert {id(node) for node in tree.root.subtree()} == {id(node) for node in tree.nodes}
    for node in tree.nodes:
        assert node.children == [other for other in tree.nodes if other.head is node]


@st.composite
def trees(draw: st.DrawFn, least: int = 1) -> Tree:
    """Any tree of up to nine words, crossing arcs among them."""
    size = draw(st.integers(least, 9))
    order = draw(st.permutations(range(size)))
    heads = [0] * size
    for place, word in enumerate(order[1:], 1):
        heads[word] = order[draw(st.integers(0, place - 1))] + 1
    return made(" ".join(f"w{i}" for i in range(size)), heads)


def test_a_parsed_sentence_is_kept_as_it_is_written() -> None:
    text = "\"He didn't go (at all)  because it's raining,\" said Tom."
    sentence = mg.load("en").parse(text).sentences[0]
    tree = Tree.of(sentence)
    assert tree.text == text == tree.copy().text
    assert [node.origin for node in tree] == list(range(len(sentence.words)))
    assert [node.head.index + 1 if node.head else 0 for node in tree] == [w.head for w in sentence.words]
    check(tree)
    said = next(node for node in tree if node.form == "Tom")
    tree.move(said, before=tree.nodes[0])
    assert tree.text == "Tom \"He didn't go (at all)  because it's raining,\" said."


def test_cycles_second_roots_and_lost_heads_are_mended() -> None:
    check(made("a b c d e", [0, 3, 2, 0, 4]))
    check(made("a b", [2, 1]))
    sentence = mg.load("en").parse("Dogs bark.").sentences[0]
    sentence.words[0].head, sentence.words[2].head = None, 99
    tree = Tree.of(sentence)
    check(tree)
    assert [node.head and node.head.form for node in tree] == ["bark", None, "bark"]


OPERATORS = ("depend", "replace", "substitute", "move_daughters", "insert", "delete", "keep", "split", "move")


def apply(tree: Tree, name: str, a: Node, b: Node, new: str) -> list[Tree]:
    """One operator on a tree; what comes of it."""
    if name == "depend":
        tree.depend(a, b, "obj")
    elif name == "replace":
        tree.replace(a, Node(new))
    elif name == "substitute":
        tree.substitute(a, b)
    elif name == "move_daughters":
        tree.move_daughters(a, b)
    elif name == "insert":
        tree.insert(Node(new), a, "obj", before=b)
    elif name == "split":
        return [tree, tree.split(a)]
    elif name == "move":
        tree.move(a, after=b)
    else:
        tree.delete(a, keep_daughters=name == "keep")
    return [tree]


@settings(max_examples=300, deadline=None)
@given(trees(), st.lists(st.sampled_from(OPERATORS), min_size=1, max_size=6), st.randoms())
def test_every_operator_keeps_a_tree_a_tree(tree: Tree, names: list[str], chance: random.Random) -> None:
    for number, name in enumerate(names):
        a, b = chance.choice(tree.nodes), chance.choice(tree.nodes)
        before, forms = tree.copy(), [node.form for node in tree]
        try:
            made_of_it = apply(tree, name, a, b, f"new{number}")
        except DataError:  # refused: nothing has changed
            check(tree)
            assert [node.form for node in tree] == forms
            assert [n.head and n.head.index for n in tree] == [n.head and n.head.index for n in before]
            continue
        for one in made_of_it:
            check(one)
        kept = sum(len(one) for one in made_of_it)
        assert kept == len(forms) + (name == "insert") or (name in ("delete", "keep") and kept < len(forms))
        if name not in ("move", "insert", "replace", "split"):  # word order
            assert [n.form for n in tree] == [form for form in forms if form in {n.form for n in tree}]


@settings(max_examples=100, deadline=None)
@given(trees(2), st.randoms())
def test_an_order_moves_whole_phrases(tree: Tree, chance: random.Random) -> None:
    node = chance.choice(tree.nodes)
    order = [*node.children, node]
    chance.shuffle(order)
    heads = {n.form: n.head and n.head.form for n in tree}
    tree.arrange({node: order})
    check(tree)
    assert tree.is_projective()
    assert sorted([*node.children, node], key=lambda n: n.index) == order
    assert {n.form: n.head and n.head.form for n in tree} == heads


def test_what_no_tree_can_be_is_refused() -> None:
    tree = made("a b c", [0, 1, 2])
    a, b, c = tree.nodes
    for change, message in (
        (lambda: tree.depend(b, c, "obj"), "'b' cannot depend on 'c', which is below it"),
        (lambda: tree.depend(a, c, "obj"), "'a' cannot depend"),
        (lambda: tree.delete(a), "'a' is the root"),
        (lambda: tree.split(a), "'a' is the root"),
        (lambda: tree.substitute(c, a), "'a' is not below 'c'"),
        (lambda: tree.move(b, after=c), "'c' is below 'b'"),
        (lambda: tree.replace(a, b), "'b' is in a tree already"),
        (lambda: tree.depend(a.copy(), a, "obj"), "'a' is no word of this tree"),
        (lambda: tree.insert(Node("x"), a, "obj"), "insert takes one of"),
        (lambda: tree.arrange({a: [a]}), "an order of 'a'"),
    ):
        with pytest.raises(DataError, match=message):
            change()
        check(tree)


def test_relations_are_kinds_of_others() -> None:
    assert RELATIONS.is_a("nsubj:pass", "nsubj")
    assert not RELATIONS.is_a("nsubj", "nsubj:pass")
    assert {"nsubj", "subject", "core", "nominal", "dependency", "any"} <= RELATIONS.kinds("nsubj:pass")
    assert RELATIONS.is_a("acl:relcl", "clausal")
    assert RELATIONS.is_a("acl:relcl", "modifier")
    assert not RELATIONS.is_a("punct", "modifier")
    assert RELATIONS.kinds("new") == {"new", "any"}
    own = Hierarchy({"big": "small"})
    own.declare("bigger", ["big"])
    assert own.is_a("small:one", "bigger")
    assert own.names == {"any", "small", "big", "bigger"}
