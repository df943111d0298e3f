"""What is hard in a text beside its sentences: how they hang together, how often each feature is there."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from .features import feature_set
from .measures import MEASURES, Outline

if TYPE_CHECKING:
    from ..trees import Node, Tree

SHARE, MEAN = "share ", "mean "
CONNECTIVES = {
    "en": frozenset({
        "although", "because", "but", "consequently", "finally", "first", "furthermore", "hence",
        "however", "if", "instead", "later", "meanwhile", "moreover", "nevertheless", "next", "or",
        "otherwise", "similarly", "since", "so", "then", "therefore", "though", "thus", "unless", "until",
        "when", "whereas", "while", "yet",
    }),
    "ja": frozenset({
        "しかし", "だから", "そして", "また", "でも", "ところが", "つまり", "なぜなら", "それで", "それでは",
        "そこで", "または", "さらに", "けれども", "から", "ので", "のに", "ば", "たら", "なら", "ながら",
        "ため",
    }),
}  # fmt: skip
_NEAR = 2  # sentences before, in which an antecedent is looked for
_THIRD = frozenset({
    "he", "him", "his", "she", "her", "hers", "it", "its", "they", "them", "their", "theirs", "this", "these",
    "that", "those", "彼", "彼女", "それ", "これ",
})  # fmt: skip


def signals(trees: Sequence[Tree]) -> dict[str, float]:
    """How a text hangs together: shares of neighbouring sentences with a noun or name in common, of sentences
    with a connective, and of pronouns with nothing before them that they could stand for."""
    nouns = [{node.lemma.lower() for node in tree.nodes if _names_something(node)} for tree in trees]
    overlaps = [not a.isdisjoint(b) for a, b in pairwise(nouns)]
    connected = [
        any(node.lemma.lower() in CONNECTIVES[tree.language] for node in tree.nodes) for tree in trees
    ]
    pronouns = [lonely for place in range(len(trees)) for lonely in _lonely(trees, nouns, place)]
    return {
        "entity overlap": _share(overlaps),
        "connectives": _share(connected),
        "pronouns without a near antecedent": _share(pronouns),
    }


def text_features(trees: Sequence[Tree]) -> dict[str, float]:
    """Numbers of a text: its signals, the share of its sentences with each declared feature, and the mean of
    each measure."""
    found = signals(trees)
    for tree in trees:
        for name in feature_set(tree.language).of(tree):
            found[SHARE + name] = found.get(SHARE + name, 0.0) + 1 / len(trees)
        outline = Outline(tree)
        for name, measure in MEASURES.items():
            found[MEAN + name] = found.get(MEAN + name, 0.0) + measure(outline) / len(trees)
    return found


def _names_something(node: Node) -> bool:
    return node.upos in ("NOUN", "PROPN")


def _lonely(trees: Sequence[Tree], nouns: Sequence[set[str]], place: int) -> list[bool]:
    """For each pronoun of the third person, whether no noun is near before it."""
    before = any(nouns[max(0, place - _NEAR) : place])
    lonely, seen = [], before
    for node in trees[place].nodes:
        if node.upos == "PRON" and node.lemma.lower() in _THIRD:
            lonely.append(not seen)
        seen = seen or _names_something(node)
    return lonely


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
