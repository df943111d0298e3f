"""Rules of words: a word, or words that follow each other, by others; looked up, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from marginalia.assist.paraphrase.classes import UPOS
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.rule_files import RuleFile, RuleSource
from marginalia.assist.paraphrase.transfer import Transfer
from marginalia.assist.trees import Node, Tree

_WORD = re.compile(r"(.+?)(?::([A-Z]+))?")


@dataclass(frozen=True)
class WordRule:
    """Lemmas, with a part of speech or "", and the words that stand for them."""

    name: str
    family: str
    why: str
    source: RuleSource
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    words: tuple[str, ...]

    def match(self, tree: Tree, start: int) -> list[Node] | None:
        """The words from a place on, if they are those of the rule and are a piece of the tree."""
        nodes = tree.nodes[start : start + len(self.lemmas)]
        if len(nodes) < len(self.lemmas):
            return None
        for node, lemma, upos in zip(nodes, self.lemmas, self.upos, strict=True):
            if lemma not in (node.lemma.lower(), node.form.lower()) or (upos and upos != node.upos):
                return None
        return nodes if len(nodes) == 1 or _is_piece(nodes) else None

    def apply(self, tree: Tree, bound: Bound) -> Transfer | None:
        """Put other words in their place: words that are there already are kept, the first other one gets the
        form of the word that all others hang on."""
        fresh = tree.copy()
        nodes = bound["W"]
        assert isinstance(nodes, tuple)
        old = [fresh.nodes[node.index] for node in nodes]
        words: list[tuple[str, Node | None]] = [(word, _same(word, old)) for word in self.words]
        kept = [node for _, node in words if node is not None]
        main = _main(old, kept)
        if all(main is not node for node in kept):
            if len(kept) == len(words):
                fresh.substitute(main, kept[0])
                main = kept[0]
            else:
                number = next(i for i, (_, node) in enumerate(words) if node is None)
                words[number] = (words[number][0], main)
        for node in old:
            if node is not main and all(node is not one for one in kept):
                fresh.move_daughters(node, main)
                fresh.delete(node)
        there = [node.index for _, node in words if node is not None]
        return Transfer([fresh], _put(fresh, main, words)) if there == sorted(there) else None


def _same(word: str, nodes: Sequence[Node]) -> Node | None:
    return next((n for n in nodes if word in (n.lemma.lower(), n.form.lower())), None)


def _main(nodes: Sequence[Node], kept: Sequence[Node]) -> Node:
    """The word that stays at the top: one that is kept, if one of them is there."""
    tops = _tops(nodes)
    return next((top for top in tops if any(top is one for one in kept)), tops[0])


def _put(tree: Tree, main: Node, words: Sequence[tuple[str, Node | None]]) -> list[Node]:
    """Write words around those that are there; new ones hang on the main one. Gives words to be inflected."""
    changed: list[Node] = []
    anchor: Node | None = None
    for number, (word, node) in enumerate(words):
        if node is None:
            node = Node(word, word, main.upos)
            if anchor is None:
                following = next(n for _, n in words[number:] if n is not None)
                tree.insert(node, main, "fixed", before=following)
            else:
                tree.insert(node, main, "fixed", after=anchor)
        elif word not in (node.lemma.lower(), node.form.lower()):
            node.lemma = node.form = word
            changed.append(node)
        anchor = node
    return changed


def _tops(nodes: Sequence[Node]) -> list[Node]:
    inside = {id(node) for node in nodes}
    return [node for node in nodes if node.head is None or id(node.head) not in inside]


def _is_piece(nodes: Sequence[Node]) -> bool:
    """Whether words hang on one head, and nothing else hangs on those that are not at the top."""
    tops, inside = _tops(nodes), {id(node) for node in nodes}
    return all(top.head is tops[0].head for top in tops) and all(
        id(child) in inside for node in nodes if node is not tops[0] for child in node.children
    )


def word_rules(files: Sequence[RuleFile]) -> Iterator[WordRule]:
    """The rules of words of files."""
    for file in files:
        for family in file.families:
            for source in family.rules:
                if source.layer == "words":
                    yield _word_rule(source, family.name, family.why)


def _word_rule(source: RuleSource, family: str, why: str) -> WordRule:
    lemmas, upos = [], []
    for word in source.left.split():
        match = _WORD.fullmatch(word)
        assert match is not None
        lemmas.append(match[1].lower())
        upos.append(match[2] or "")
        if match[2] and match[2] not in UPOS:
            offset = source.left.find(word)
            raise source.place.error(
                source.left, offset, f"found '{match[2]}', expected one of {', '.join(sorted(UPOS))}"
            )
    words = tuple(source.right.split())
    return WordRule(source.name, family, why, source, tuple(lemmas), tuple(upos), words)
