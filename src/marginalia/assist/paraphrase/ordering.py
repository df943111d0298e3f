"""Where words stand that a rule says nothing about, when it gives the others a new order."""

from __future__ import annotations

from collections.abc import Sequence

from marginalia.assist.trees import Node

_NOMINAL = frozenset({"NOUN", "PROPN", "PRON", "NUM"})
_LEADING = ("case", "mark", "cc")
_CLOSE = ("aux", "cop", "det", "fixed", "flat", "compound", "clf", "case")


class Places:
    """Where each word stood before a rule changed anything: on which side of its head, behind how many of the
    words that the rule names, and whether outside of all of these. Where the predicate ends the clause
    (`head_final`), auxiliaries behind the words that a rule names stay behind all of them."""

    def __init__(self, matched: Sequence[Node], head_final: bool = False) -> None:
        self._head_final = head_final
        inside = {id(node) for node in matched}
        first, last = matched[0].index, matched[-1].index
        self._outside: set[int] = set()
        self._known: dict[int, tuple[bool, int]] = {}
        self._heads: dict[int, Node] = {}
        self._at = {id(node): node.index for head in matched for node in (head, *head.children)}
        self._grading: set[int] = set()  # "very" of "very old"
        for head in matched:
            left = [c for c in head.children if c.index < head.index]
            right = [c for c in head.children if c.index > head.index]
            if head.upos in ("ADJ", "ADV") and left and left[-1].relation == "advmod":
                self._grading.add(id(left[-1]))
            for on_left, side in ((True, left), (False, right)):
                passed = 0
                for child in side:
                    if id(child) in inside:
                        passed += 1
                        continue
                    self._known[id(child)] = (on_left, passed)
                    self._heads[id(child)] = head
                    if child.index < first or child.index > last:
                        self._outside.add(id(child))

    def outside(self, node: Node) -> bool:
        """Whether a daughter of a matched word stood before or behind all matched words."""
        return id(node) in self._outside

    def order(
        self, node: Node, sequence: Sequence[Node] | None, roots: Sequence[Node], whole: bool = False
    ) -> list[Node]:
        """A word among its daughters: those of `sequence` as they stand there, the others at their places.

        The roots of further sentences come last. A `whole` phrase has all words that are named around it."""
        if sequence is None:
            sequence = [*(c for c in node.children if c.index < node.index), node]
            sequence += [c for c in node.children if c.index > node.index]
        named = {id(one) for one in (*sequence, *roots)}
        middle = next(i for i, one in enumerate(sequence) if one is node)
        left, right = list(sequence[:middle]), list(sequence[middle + 1 :])
        slots: dict[tuple[bool, int], list[Node]] = {}
        for child in node.children:
            if id(child) not in named:
                slot = self._slot(child, node, left, right, whole or node.upos in _NOMINAL)
                slots.setdefault(slot, []).append(child)
        order = [*_filled(left, slots, True), node, *_filled(right, slots, False)]
        return order + [root for root in roots if root.head is node and not any(root is o for o in order)]

    def _slot(
        self, child: Node, node: Node, left: list[Node], right: list[Node], whole: bool
    ) -> tuple[bool, int]:
        """The side, and how many of the words of the new order stand before the child there."""
        on_left, passed = self._known.get(id(child), (child.index < node.index, 0))
        copied = id(child) not in self._known
        if child.relation == "punct" and not on_left and (copied or self.outside(child)):
            return False, len(right)
        if self._head_final and self._heads.get(id(child), node) is not node:
            if not on_left:
                return False, len(right)  # it stood behind another word, which was behind this one
            if self.outside(child):
                return True, 0
        if on_left and _is(child, ("case", "det")) and not self._head_final:
            return True, _before_modifiers(left, child)
        if whole and child.relation != "cc":
            return (True, self._among_modifiers(child, left)) if on_left else (False, 0)
        if on_left:
            if _is(child, _CLOSE) or child.feats.get("Polarity") == "Neg" or id(child) in self._grading:
                return True, len(left)
            if self._head_final:
                passed = self._before(child, left, len(left) if passed else 0)
            leading = next((i for i, one in enumerate(left) if not _is(one, _LEADING)), len(left))
            behind = [
                i + 1 for i, one in enumerate(left) if one.origin is not None and one.index < child.index
            ]
            return True, 0 if _is(child, ("cc",)) else max(min(passed, len(left)), leading, *behind)
        if self._head_final:
            return False, _before_particles(right) if passed else 0
        if _is(child, _CLOSE) or child.relation == "compound:prt":
            return False, 0
        objects = sum(1 for one in right if _is(one, ("obj", "iobj", "aux", "cop", "case", "mark", "xcomp")))
        # New words, and those that come from the left, stand anywhere as yet.
        old = [one.index for one in right if one.origin is not None and one.index > node.index]
        last = len(right) if old and child.index > max(old) else passed
        return False, min(max(passed, objects, last), len(right))

    def _among_modifiers(self, child: Node, left: Sequence[Node]) -> int:
        """The place in a phrase: next to the noun, but before what modifies it and stood behind the child."""
        place, at = len(left), self._at.get(id(child), 0)
        while self._head_final and place and _is(left[place - 1], ("nmod", "compound")):
            if self._at.get(id(left[place - 1]), -1) <= at:
                break
            place -= 1
        return place

    def _before(self, child: Node, left: Sequence[Node], otherwise: int) -> int:
        """How many of the words of the new order stand before the first one that stood behind the child."""
        at = self._at.get(id(child), 0)
        return next((i for i, one in enumerate(left) if self._at.get(id(one), -1) > at), otherwise)


def _before_modifiers(left: Sequence[Node], child: Node) -> int:
    """The place of a preposition or an article: before words of the phrase, behind those of its clause."""
    inside = ("nmod", "amod", "nummod", "compound", *(("det",) if _is(child, ("case",)) else ()))
    place = len(left)
    while place and _is(left[place - 1], inside):
        place -= 1
    return place


def _is(node: Node, relations: Sequence[str]) -> bool:
    return node.relation.partition(":")[0] in relations


def _before_particles(words: Sequence[Node]) -> int:
    """How many words stand before new particles at the end: 読ん だ | の は."""
    number = len(words)
    while number and words[number - 1].origin is None and words[number - 1].upos in ("ADP", "SCONJ"):
        if words[number - 1].children:
            break
        number -= 1
    return number


def _filled(named: list[Node], slots: dict[tuple[bool, int], list[Node]], on_left: bool) -> list[Node]:
    order: list[Node] = []
    for number in range(len(named) + 1):
        order += slots.get((on_left, number), [])
        order += named[number : number + 1]
    return order
