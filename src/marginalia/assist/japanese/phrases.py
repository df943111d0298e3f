"""Words that follow each other, replaced by others in a Japanese tree.

Japanese words that belong together need not be a phrase of the tree: in 行かざるを得ない the parser hangs
行か on 得, and what a rule replaces is ざるを得ない. So they are found by their order alone. If the first of
them is the content word on which the others hang (購入 する), the new word takes its place; else the new ones
hang on the predicate before them.
"""

from __future__ import annotations

from collections.abc import Sequence

from marginalia.assist.japanese.generation import complete
from marginalia.assist.trees import Node, Tree

_NOUN = ("名詞", "接頭辞", "代名詞")
_QUESTIONS = frozenset({"いずれ", "誰", "何", "どれ", "どこ", "どちら", "いつ"})
_PARTICLES = frozenset({"も", "か", "の", "でも"})
_TIME = ("名詞-普通名詞-副詞可能", "名詞-数詞", "名詞-普通名詞-助数詞可能")
_CONTENT = frozenset({"VERB", "NOUN", "ADJ", "ADV", "PROPN", "PRON", "DET", "CCONJ", "NUM"})


def stands_alone(tree: Tree, nodes: Sequence[Node]) -> bool:
    """Whether the words are no part of a longer word: no suffix, not behind a noun or prefix, nor before a
    suffix; no question word whose particle makes another word of it (いずれも, 誰か)."""
    first, last = nodes[0], nodes[-1]
    before = tree.nodes[first.index - 1] if first.index else None
    behind = tree.nodes[last.index + 1] if last.index + 1 < len(tree.nodes) else None
    if first.xpos.startswith("接尾辞-名詞的"):
        return False
    if last.lemma in _QUESTIONS and behind is not None and behind.lemma in _PARTICLES:
        return False
    if not first.xpos.startswith((*_NOUN, "形状詞")):
        return True
    if before is not None and _touches(before, first):
        return False
    return behind is None or not last.xpos.startswith(_NOUN) or not _touches(last, behind)


def _touches(left: Node, right: Node) -> bool:
    """Whether two neighbours make one word."""
    if left.xpos.startswith(_TIME) and right.head is not left and left.head is not right:
        return False
    if right.relation in ("aux", "cop") or right.xpos.startswith("動詞"):
        return False
    return left.xpos.startswith(_NOUN) and right.xpos.startswith((*_NOUN, "接尾辞", "形状詞"))


def replaced(tree: Tree, nodes: Sequence[Node], words: Sequence[str]) -> Tree | None:
    """The tree with other words in the place of some that follow each other; None if that is no tree."""
    fresh = tree.copy()
    old = [fresh.nodes[node.index] for node in nodes]
    inside = {id(node) for node in old}
    top = _top(old)
    ending = old[-1]
    new = _made(words, ending)
    if top is old[0] and top.upos in _CONTENT:
        _take_over(fresh, top, old, inside)
        _rename(top, new[0])
        _put(fresh, new[1:], top, top)
        return fresh
    host = _host(old, inside)
    if host is None or not old[0].index:
        return None
    anchor = fresh.nodes[old[0].index - 1]
    _dissolve(fresh, old, inside, host)
    _put(fresh, new, host, anchor)
    return fresh


def _put(tree: Tree, words: Sequence[Node], host: Node, anchor: Node) -> None:
    for word in words:
        tree.insert(word, host, _relation(word), after=anchor)
        anchor = word


def _made(words: Sequence[str], ending: Node) -> list[Node]:
    """New words; the last one ends as the old ones did."""
    new = [complete(Node(word, word, space_after="")) for word in words]
    new[-1].feats["Ending"] = f"{ending.lemma} {ending.xpos} {ending.form}"
    return new


def _top(old: Sequence[Node]) -> Node:
    """The highest of some words."""
    return min(old, key=lambda node: (sum(1 for _ in node.ancestors()), node.index))


def _take_over(tree: Tree, top: Node, old: Sequence[Node], inside: set[int]) -> None:
    """Hang on the top what hangs on the others, and delete these."""
    for node in old:
        if node is not top:
            for child in [child for child in node.children if id(child) not in inside]:
                tree.depend(child, top, child.relation)
    _delete(tree, [node for node in old if node is not top], top)


def _rename(node: Node, new: Node) -> None:
    node.form, node.lemma, node.upos, node.xpos = new.form, new.lemma, new.upos, new.xpos
    node.feats, node.origin = new.feats, None


def _host(old: Sequence[Node], inside: set[int]) -> Node | None:
    """The word before that the new ones shall hang on: the head of the old ones, or one of theirs."""
    start = old[0].index
    hanging = [child for node in old for child in node.children if id(child) not in inside]
    before = [child for child in hanging if child.index < start]
    heads = [node.head for node in old if node.head is not None and id(node.head) not in inside]
    earlier = [head for head in heads if head.index < start]
    if earlier:
        return max(earlier, key=lambda node: node.index)
    predicates = [child for child in before if child.upos not in ("ADP", "SCONJ", "AUX", "PUNCT", "PART")]
    return max(predicates, key=lambda node: node.index) if predicates else None


def _dissolve(tree: Tree, old: Sequence[Node], inside: set[int], host: Node) -> None:
    """Take the old words out: their host gets their place in the tree, and what hangs on them."""
    if any(above is node for node in old for above in host.ancestors()):
        tree.substitute(_top(old), host)
    for node in old:
        for child in [child for child in node.children if id(child) not in inside and child is not host]:
            tree.depend(child, host, child.relation)
    _delete(tree, old, host)


def _delete(tree: Tree, old: Sequence[Node], host: Node) -> None:
    for node in old:
        for child in list(node.children):
            tree.depend(child, host, child.relation)
    for node in old:
        tree.delete(node)


def _relation(node: Node) -> str:
    return {"ADP": "case", "SCONJ": "mark", "AUX": "aux", "PUNCT": "punct", "PART": "mark"}.get(
        node.upos, "fixed"
    )
