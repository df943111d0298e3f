"""Which word of a sentence is which word of its paraphrase."""

from __future__ import annotations

from collections.abc import Sequence

from marginalia.assist.trees import Node, Tree

_VERBS = ("VERB", "AUX")


class Alignment:
    """Words of a tree (`before`) and their twins in the trees that say the same (`after`)."""

    def __init__(self, before: Tree, after: Sequence[Tree]) -> None:
        self.before = before
        self._later = [node for tree in after for node in tree]
        self._places = {id(node): place for place, node in enumerate(self._later)}
        self._twins: dict[int, Node] = {}  # of a word after, by id: that before
        self._given: dict[int, Node] = {}  # and the other way round
        self._same_words()
        self._converse_verbs(after)

    def before_of(self, node: Node) -> Node | None:
        """The word before that a word after it is."""
        return self._twins.get(id(node))

    def after_of(self, node: Node) -> Node | None:
        """The word after that a word before is."""
        return self._given.get(id(node))

    def is_phrase(self, node: Node) -> bool:
        """Whether all below a word before is, word for word, below its twin."""
        twin = self.after_of(node)
        if twin is None or len(node.children) != len(twin.children) or not _alike(node, twin):
            return False
        return all(
            self.after_of(a) is b and a.relation == b.relation and self.is_phrase(a)
            for a, b in zip(node.children, twin.children, strict=True)
        )

    def _pair(self, node: Node, twin: Node) -> None:
        self._twins[id(twin)], self._given[id(node)] = node, twin

    def _same_words(self) -> None:
        """Pair words of the same lemma, those first whose heads are paired, too, and stand alike."""
        while True:
            pairs = [
                (self._likeness(node, twin), node, twin)
                for twin in self._later
                if id(twin) not in self._twins
                for node in self.before
                if id(node) not in self._given and _same(node, twin)
            ]
            if not pairs:
                return
            _, node, twin = max(pairs, key=lambda pair: pair[0])
            self._pair(node, twin)

    def _likeness(self, node: Node, twin: Node) -> tuple[int, int, int, int]:
        heads = (
            node.head is not None and twin.head is not None and self.before_of(twin.head) is node.head,
            node.relation == twin.relation,
        )
        content = node.upos in ("NOUN", "PROPN", "VERB", "ADJ", "NUM")
        return content, sum(heads), node.upos == twin.upos, -abs(node.index - self._places[id(twin)])

    def _converse_verbs(self, after: Sequence[Tree]) -> None:
        """The main verb may be another one: buy, sell."""
        root, other = self.before.root, after[0].root
        free = id(root) not in self._given and id(other) not in self._twins
        if free and root.upos in _VERBS and other.upos in _VERBS:
            self._pair(root, other)


def _same(node: Node, twin: Node) -> bool:
    return node.lemma.lower() == twin.lemma.lower() or node.form.lower() == twin.form.lower()


def _alike(node: Node, twin: Node) -> bool:
    return node.form.lower() == twin.form.lower() or (node.upos == twin.upos == "PRON" and _same(node, twin))
