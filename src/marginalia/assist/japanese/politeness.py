"""敬体 and 常体: whether a sentence ends in です and ます, and how a plain ending is made polite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginalia.assist.japanese.conjugation import conjugate
from marginalia.assist.japanese.connections import dictionary_form, word_class
from marginalia.assist.trees import Node

if TYPE_CHECKING:
    from marginalia.assist.trees import Tree

_NOUNS = ("名詞", "代名詞", "形状詞")
_VERBS = frozenset({"五段", "一段", "サ変", "ザ変", "カ変"})


def ending(tree: Tree) -> list[Node]:
    """The predicate that ends a sentence: its last conjugating words, without 。and か, ね, よ."""
    nodes = list(tree.nodes)
    while nodes and (nodes[-1].upos == "PUNCT" or nodes[-1].xpos.startswith(("補助記号", "助詞-終助詞"))):
        nodes.pop()
    start = len(nodes)
    while start and word_class(nodes[start - 1]) is not None:
        start -= 1
    return nodes[max(0, start - 1) :] if start < len(nodes) else nodes[-1:]


def is_polite(tree: Tree) -> bool:
    """Whether the sentence ends in です or ます, or in a request with ください."""
    return any(
        word_class(node) in ("です", "ます") or node.form in ("ください", "下さい") for node in ending(tree)
    )


def make_polite(tree: Tree) -> None:
    """Make a plain ending polite: 読む 読みます, 読まない 読みません, 高い 高いです, 本だ 本です."""
    chain = ending(tree)
    if not chain or chain[-1].xpos.startswith(("助詞", "副詞", "接続詞")):
        return
    final = chain[-1]
    if word_class(final) == "た" and len(chain) > 1:
        _past(tree, chain[-2], final)
    else:
        _present(tree, chain, final)


def _past(tree: Tree, verb: Node, past: Node) -> None:
    conjugation = word_class(verb)
    if conjugation == "だ":
        verb.form = "でし"
    elif conjugation in _VERBS:
        _masu(tree, verb, "まし")
        past.form = "た"
    elif conjugation == "形容詞":
        _append(tree, past, _made("です", "だ"))


def _present(tree: Tree, chain: list[Node], final: Node) -> None:
    conjugation = word_class(final)
    if conjugation == "だ":
        final.form = {"だ": "です", "だろう": "でしょう"}.get(final.form, final.form)
    elif conjugation in _VERBS and final.form == conjugate(dictionary_form(final), conjugation, "terminal"):
        _masu(tree, final, "ます")
    elif _negates_a_verb(chain):
        _masu(tree, chain[-2], "ませ")
        final.form, final.lemma = "ん", "ぬ"
    elif (conjugation == "形容詞" and final.form.endswith("い")) or final.xpos.startswith(
        ("名詞", "代名詞", "形状詞")
    ):
        _append(tree, final, _made("です", "だ"))


def _negates_a_verb(chain: list[Node]) -> bool:
    return (
        len(chain) > 1
        and chain[-1].form == "ない"
        and chain[-1].xpos.startswith("助動詞")
        and word_class(chain[-2]) in _VERBS
    )


def _masu(tree: Tree, verb: Node, form: str) -> None:
    conjugation = word_class(verb)
    if conjugation is not None:
        verb.form = conjugate(dictionary_form(verb), conjugation, "continuative") or verb.form
        _append(tree, verb, _made(form, "ます"))


def _made(form: str, lemma: str) -> Node:
    return Node(form, lemma, "AUX", "助動詞", space_after="")


def _append(tree: Tree, node: Node, new: Node) -> None:
    function = ("aux", "cop", "fixed", "mark", "case")
    head = node.head if node.head is not None and node.relation in function else node
    tree.insert(new, head, "aux", after=node)
