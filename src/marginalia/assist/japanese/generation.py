"""Forms of changed Japanese trees: each word gets the form that its new neighbour requires.

`generate` changes only words that a rule made or whose neighbour is another one now. A form that connects
to what follows stays; else the required one of the table of connections is taken. た, て, たり, れる and せる
follow the word before them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginalia.assist.japanese.conjugation import conjugate, voices
from marginalia.assist.japanese.connections import (
    connects,
    dictionary_form,
    kind_of,
    required_form,
    word_class,
)
from marginalia.assist.japanese.politeness import is_polite, make_polite

if TYPE_CHECKING:
    from marginalia.assist.trees import Node, Tree

_VOICED = {"て": "で", "た": "だ", "たら": "だら", "たろう": "だろう", "たり": "だり", "てる": "でる"}
_PLAIN = {voiced: plain for plain, voiced in _VOICED.items()}
_AFTER_LONG = {"れる": "られる", "せる": "させる"}
_AFTER_SHORT = {long: short for short, long in _AFTER_LONG.items()}


def generate(tree: Tree, before: Tree | None = None) -> None:
    """Mend the forms of a tree that a rule has changed, and its politeness if `before` was polite."""
    last = None if before is None else before.nodes[-1].origin
    left: Node | None = None
    for i, node in enumerate(tree.nodes):
        right = tree.nodes[i + 1] if i + 1 < len(tree.nodes) else None
        if not neighbours_still(left, node, last):
            follow(left, node)
        if node.origin is None or not neighbours_still(node, right, last):
            inflect(node, right, left)
        left = node
    if before is not None and is_polite(before) and not is_polite(tree):
        make_polite(tree)


def neighbours_still(left: Node | None, right: Node | None, last: int | None) -> bool:
    """Whether two words stood side by side in the sentence that was read, or ended it."""
    if left is None:
        return right is None or right.origin == 0
    if left.origin is None:
        return False
    return left.origin == last if right is None else right.origin == left.origin + 1


def inflect(node: Node, right: Node | None, left: Node | None = None) -> None:
    """Give a word the form that what follows requires, unless the one it has will do."""
    conjugation = word_class(node)
    if conjugation is None or connects(node, right):
        return
    form = required_form(kind_of(conjugation), right)
    if form is None:
        return
    if (
        conjugation == "だ"
        and form == "attributive"
        and left is not None
        and _is_noun(left)
        and _is_noun(right)
    ):
        node.form = "である"
        return
    node.form = conjugate(dictionary_form(node), conjugation, form) or node.form


def follow(left: Node | None, node: Node) -> None:
    """た or だ, て or で, れる or られる, せる or させる: by the word before."""
    conjugation = None if left is None else word_class(left)
    if left is None or conjugation is None:
        return
    if node.lemma in ("て", "た", "たり", "てる") and node.xpos.startswith(
        ("助動詞", "助詞-接続", "助詞-副")
    ):
        table = _VOICED if voices(left.lemma, conjugation) else _PLAIN
        node.form = table.get(node.form, node.form)
    elif node.lemma in _AFTER_SHORT or node.lemma in _AFTER_LONG:
        table = _AFTER_LONG if conjugation in ("一段", "カ変") else _AFTER_SHORT
        if conjugation in ("一段", "カ変", "五段", "サ変"):
            _rename(node, table.get(node.lemma, node.lemma))


def _rename(node: Node, lemma: str) -> None:
    if node.form.startswith(node.lemma[:-1]):
        node.form = lemma[:-1] + node.form[len(node.lemma) - 1 :]
    else:
        node.form = lemma
    node.lemma = lemma


def _is_noun(node: Node | None) -> bool:
    return node is not None and node.xpos.startswith(("名詞", "代名詞"))
