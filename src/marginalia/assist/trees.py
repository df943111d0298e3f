"""The bottom layer of paraphrasing: dependency trees in surface order, and operators that keep them trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from marginalia.assist.joining import joint
from marginalia.assist.relations import RELATIONS
from marginalia.corpus.words import pairs_of
from marginalia.errors import DataError

if TYPE_CHECKING:
    from marginalia.corpus.document import ParsedSentence

UNSPACED = frozenset({"ja", "zh", "th"})
"""Languages that put no blanks between words."""


class Node:
    """A word of a tree, with an open set of features.

    `feats` may hold whatever rules speak of; `space_after` is the white space behind the word, "" if there is
    none; `origin` is the number of the word in the sentence it was read from, None if a rule made it. `glued`
    says whether it was written together with the words before and behind it, as brackets and commas are.
    `children` are in surface order and, like `index`, `head` and `relation`, are changed by operators only.
    """

    __slots__ = (
        "children",
        "feats",
        "form",
        "glued",
        "head",
        "index",
        "lemma",
        "origin",
        "relation",
        "space_after",
        "upos",
        "xpos",
    )

    def __init__(
        self,
        form: str,
        lemma: str = "",
        upos: str = "X",
        xpos: str = "_",
        feats: dict[str, str] | None = None,
        relation: str = "dep",
        space_after: str = " ",
        origin: int | None = None,
        glued: tuple[bool, bool] | None = None,
    ) -> None:
        self.form, self.lemma, self.upos, self.xpos = form, lemma or form, upos, xpos
        self.feats = {} if feats is None else feats
        self.relation, self.space_after, self.origin, self.glued = relation, space_after, origin, glued
        self.head: Node | None = None
        self.children: list[Node] = []
        self.index = -1

    def __repr__(self) -> str:
        return f"<Node {self.index}: {self.form}/{self.upos} {self.relation}>"

    def subtree(self) -> list[Node]:
        """The node and all below it, in surface order."""
        reached = [self]
        for node in reached:
            reached += node.children
        return sorted(reached, key=_index)

    def ancestors(self) -> Iterator[Node]:
        """Its head, the head of that, and so on to the root."""
        node = self.head
        while node is not None:
            yield node
            node = node.head

    def is_a(self, kind: str) -> bool:
        """Whether its relation is of a kind: `nsubj`, `nsubj:pass`, `core`, `modifier`…"""
        return RELATIONS.is_a(self.relation, kind)

    def daughters(self, kind: str) -> list[Node]:
        """Those of its children whose relation is of a kind."""
        return [child for child in self.children if RELATIONS.is_a(child.relation, kind)]

    def copy(self) -> Node:
        """The word alone, without head and children."""
        return Node(self.form, self.lemma, self.upos, self.xpos, dict(self.feats), self.relation,
                    self.space_after, self.origin, self.glued)  # fmt: skip


def _joined(feats: Mapping[str, str]) -> str:
    return "|".join(f"{key}={value}" if value else key for key, value in sorted(feats.items())) or "_"


def _index(node: Node) -> int:
    return node.index


class Tree:
    """Words in surface order, each of which but the root depends on another.

    Operators change the tree they are called on. Each leaves a tree, or raises a DataError and changes
    nothing.
    """

    __slots__ = ("language", "nodes", "root")

    def __init__(self, nodes: list[Node], language: str = "en") -> None:
        """Of nodes whose `head` is set; children are made of them."""
        self.nodes, self.language = nodes, language
        self.root = _linked(nodes)

    @classmethod
    def of(cls, sentence: ParsedSentence, language: str = "en") -> Tree:
        """The tree of a parsed sentence; a word without a head that is there hangs on the first root."""
        words = sentence.words
        if not words:
            raise DataError("found a sentence without words, expected one to make a tree of")
        spaces = _spaces(sentence, language)
        joined = [False, *(not space for space in spaces[:-1]), False]
        nodes = [
            Node(word.form, "" if word.lemma == "_" else word.lemma, word.upos, word.xpos,
                 pairs_of(word.feats), word.deprel, spaces[i], i, (joined[i], joined[i + 1]))
            for i, word in enumerate(words)
        ]  # fmt: skip
        root = next((i for i, word in enumerate(words) if word.head == 0), 0)
        for i, word in enumerate(words):
            if i != root:
                head = word.head - 1 if word.head and word.head <= len(words) else root
                nodes[i].head = nodes[root if head == i else head]
        tree = cls(nodes, language)
        if language == "ja":
            from marginalia.assist.japanese.lemmas import mend_lemmas

            mend_lemmas(tree)
        return tree

    @property
    def text(self) -> str:
        """The surface string, without white space at the end."""
        return "".join(node.form + node.space_after for node in self.nodes).rstrip()

    def to_sentence(self) -> ParsedSentence:
        """The tree as a sentence of a document: to be drawn, written or scored."""
        from marginalia.corpus.document import ParsedSentence
        from marginalia.corpus.words import Word

        words = [
            Word(n.index + 1, n.form, n.lemma, n.upos, n.xpos, _joined(n.feats),
                 n.head.index + 1 if n.head is not None else 0, n.relation,
                 misc="_" if n.space_after else "SpaceAfter=No")
            for n in self.nodes
        ]  # fmt: skip
        return ParsedSentence(words, text=self.text)

    def to_tree_text(self) -> str:
        """The tree for a terminal: a word on a line, dependents indented."""
        return self.to_sentence().to_tree_text()

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        return f"<Tree: {self.text}>"

    def copy(self) -> Tree:
        """A tree of new nodes; `index` finds the one that stands for an old one."""
        fresh = [node.copy() for node in self.nodes]
        for old, new in zip(self.nodes, fresh, strict=True):
            new.index = old.index
            new.head = None if old.head is None else fresh[old.head.index]
            new.children = [fresh[child.index] for child in old.children]
        twin = Tree.__new__(Tree)
        twin.nodes, twin.language, twin.root = fresh, self.language, fresh[self.root.index]
        return twin

    def depend(self, node: Node, head: Node, relation: str) -> None:
        """Hang a node with its subtree on another head; the words stay where they are."""
        self._own(node, head)
        if node is head or any(above is node for above in head.ancestors()):
            raise DataError(f"'{node.form}' cannot depend on '{head.form}', which is below it")
        if node.head is None:
            raise DataError(f"'{node.form}' is the root: substitute it before it depends on a word")
        if node.head is not head:
            node.head.children.remove(node)
            node.head = head
            head.children.append(node)
            head.children.sort(key=_index)
        node.relation = relation

    def replace(self, old: Node, new: Node) -> None:
        """Put a new word where an old one is: its place, head and relation, and its daughters."""
        self._own(old)
        self._new(new)
        new.index, new.head, new.relation = old.index, old.head, old.relation
        new.space_after, new.glued = old.space_after, old.glued
        new.children, old.children = old.children, []
        for child in new.children:
            child.head = new
        if old.head is None:
            self.root = new
        else:
            old.head.children[old.head.children.index(old)] = new
        self.nodes[old.index] = new
        old.head = None

    def substitute(self, old: Node, node: Node) -> None:
        """Let a node take the place of one above it in the tree, which hangs on it then (`dep`)."""
        self._own(old, node)
        if not any(above is old for above in node.ancestors()):
            raise DataError(f"'{node.form}' is not below '{old.form}', expected a word of its subtree")
        node.head.children.remove(node)  # type: ignore[union-attr]
        node.head, node.relation = old.head, old.relation
        if old.head is None:
            self.root = node
        else:
            old.head.children[old.head.children.index(old)] = node
            old.head.children.sort(key=_index)
        old.head, old.relation = node, "dep"
        node.children.append(old)
        node.children.sort(key=_index)

    def move_daughters(
        self, source: Node, target: Node, chosen: Callable[[Node], bool] | None = None
    ) -> list[Node]:
        """Hang daughters of one node (all, or the `chosen` ones) on another, but the one that leads to it."""
        self._own(source, target)
        path = {id(target), *map(id, target.ancestors())}
        moving = [d for d in source.children if id(d) not in path and (chosen is None or chosen(d))]
        for daughter in moving:
            self.depend(daughter, target, daughter.relation)
        return moving

    def insert(
        self, new: Node, head: Node, relation: str, *, before: Node | None = None, after: Node | None = None
    ) -> None:
        """Put a new word before or after another one, and make it depend on a head."""
        anchor = before if before is not None else after
        if anchor is None or (before is not None and after is not None):
            raise DataError("insert takes one of before= and after=")
        self._own(head, anchor)
        self._new(new)
        old = list(self.nodes)
        self.nodes.insert(anchor.index + (before is None), new)
        new.head, new.relation = head, relation
        head.children.append(new)
        self._renumber(old)
        head.children.sort(key=_index)

    def delete(self, node: Node, *, keep_daughters: bool = False) -> None:
        """Take a word away with its subtree, or alone: then its daughters hang on its head."""
        self._own(node)
        if node.head is None:
            raise DataError(f"'{node.form}' is the root: substitute it before it is deleted")
        if keep_daughters:
            self.move_daughters(node, node.head)
        gone = {id(one) for one in node.subtree()}
        old = self.nodes
        self.nodes = [one for one in old if id(one) not in gone]
        node.head.children.remove(node)
        node.head = None
        self._renumber(old)

    def split(self, node: Node) -> Tree:
        """Make a tree of its own of a subtree: a second sentence."""
        self._own(node)
        if node.head is None:
            raise DataError(f"'{node.form}' is the root, expected a word to split a sentence at")
        own = {id(one) for one in node.subtree()}
        old = self.nodes
        self.nodes, parts = [one for one in old if id(one) not in own], [one for one in old if id(one) in own]
        node.head.children.remove(node)
        node.head, node.relation = None, "root"
        self._renumber(old)
        second = Tree.__new__(Tree)
        second.nodes, second.root, second.language = parts, node, self.language
        second._renumber(old)
        return second

    def move(self, node: Node, *, before: Node | None = None, after: Node | None = None) -> None:
        """Put the words of a subtree before or after another word; nothing else changes."""
        anchor = before if before is not None else after
        if anchor is None or (before is not None and after is not None):
            raise DataError("move takes one of before= and after=")
        self._own(node, anchor)
        phrase = node.subtree()
        own = set(map(id, phrase))
        if id(anchor) in own:
            raise DataError(f"'{anchor.form}' is below '{node.form}', expected a word outside of its subtree")
        rest = [one for one in self.nodes if id(one) not in own]
        place = next(i for i, one in enumerate(rest) if one is anchor) + (before is None)
        self._put(rest[:place] + phrase + rest[place:])

    def arrange(self, orders: Mapping[Node, Sequence[Node]]) -> None:
        """Give nodes new orders of themselves among their daughters; each must list the node and all of them.

        Phrases move as wholes; what lies below other nodes keeps its order."""
        for node, order in orders.items():
            if set(map(id, order)) != {id(node), *map(id, node.children)}:
                raise DataError(f"an order of '{node.form}' must have itself and its daughters, each once")
        self._put(list(in_order(self.root, orders)))

    def is_projective(self, node: Node | None = None) -> bool:
        """Whether each word below a node (the root) has its subtree in one piece."""
        top = self.root if node is None else node
        inside = list(in_order(top, {}))
        return all(b.index == a.index + 1 for a, b in pairwise(inside))

    def _put(self, nodes: list[Node]) -> None:
        old, self.nodes = self.nodes, nodes
        self._renumber(old)
        for node in nodes:
            node.children.sort(key=_index)

    def _renumber(self, old: list[Node]) -> None:
        """Number the nodes anew, and mend white space where words are neighbours that were none."""
        following = dict(zip(map(id, old), old[1:], strict=False))
        last = old[-1] if old else None
        unspaced = self.language in UNSPACED
        ending = last.space_after if last is not None else ""
        for i, node in enumerate(self.nodes):
            node.index = i
            if i + 1 == len(self.nodes):
                node.space_after = ending
            elif following.get(id(node)) is not self.nodes[i + 1]:
                node.space_after = joint(node, self.nodes[i + 1], unspaced)

    def _own(self, *nodes: Node) -> None:
        for node in nodes:
            if not 0 <= node.index < len(self.nodes) or self.nodes[node.index] is not node:
                raise DataError(f"'{node.form}' is no word of this tree")

    def _new(self, node: Node) -> None:
        if node.head is not None or node.children or any(one is node for one in self.nodes):
            raise DataError(f"'{node.form}' is in a tree already, expected a new word")


def in_order(top: Node, orders: Mapping[Node, Sequence[Node]]) -> Iterator[Node]:
    """The words of a subtree, phrase by phrase: by `orders`, else as children stand around their head."""
    stack: list[tuple[Node, bool]] = [(top, False)]
    while stack:
        node, done = stack.pop()
        if done or not (node.children or node in orders):
            yield node
            continue
        order = orders.get(node) or _around(node)
        stack += [(one, one is node) for one in reversed(order)]


def _around(node: Node) -> list[Node]:
    """A node among its daughters, in surface order."""
    return sorted((*node.children, node), key=_index)


def _linked(nodes: list[Node]) -> Node:
    """Number nodes and give each its children; the root, after a cycle and a second root were broken."""
    for i, node in enumerate(nodes):
        node.index, node.children = i, []
    root = next((node for node in nodes if node.head is None), nodes[0])
    root.head = None
    safe = {id(root)}
    for node in nodes:
        path: list[Node] = []
        above: Node | None = node
        while above is not None and id(above) not in safe and all(above is not one for one in path):
            path.append(above)
            above = above.head
        if above is None or id(above) not in safe:  # another root, or a cycle
            path[-1].head = root
        safe.update(map(id, path))
    for node in nodes:
        if node.head is not None:
            node.head.children.append(node)
    return root


def _spaces(sentence: ParsedSentence, language: str) -> list[str]:
    """White space behind each word: what the text has there, else what MISC says."""
    words, text, start = sentence.words, sentence.text, sentence.start
    inside = {id_ for token in sentence.multiword for id_ in range(token.first, token.last)}
    spaces = []
    for i, word in enumerate(words):
        if word.id in inside:
            spaces.append("")
        elif text and 0 <= word.end - start <= len(text):
            behind = words[i + 1].start - start if i + 1 < len(words) else len(text)
            spaces.append(text[word.end - start : behind])
        else:
            spaces.append("" if language in UNSPACED or word.misc_value("SpaceAfter") == "No" else " ")
    return spaces


def trees_of(sentences: Iterable[ParsedSentence], language: str = "en") -> list[Tree]:
    """The trees of parsed sentences."""
    return [Tree.of(sentence, language) for sentence in sentences]
