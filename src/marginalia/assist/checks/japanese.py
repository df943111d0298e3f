"""Japanese sentences after a transfer are well written: forms, morphemes side by side, particles, style.

Only what a rule has changed is looked at: words that are new or have a new neighbour.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from marginalia.assist.japanese.conjugation import forms_of
from marginalia.assist.japanese.connections import connects, dictionary_form, key_of, word_class
from marginalia.assist.japanese.generation import inflect, neighbours_still
from marginalia.assist.japanese.politeness import is_polite
from marginalia.assist.trees import Node, Tree
from marginalia.assist.words.packed import SHIPPED, read_packed

from .check import Check, Finding, Transfer, lowered, repaired, vetoed

START, END = "始", "終"
MIXED_STYLE = 0.3
MORPHEMES = "morphemes"
_ONCE = frozenset({"が", "を", "は", "へ"})
_OBLIQUE = frozenset({"に", "で", "と", "へ", "から", "まで"})
_VERBAL = frozenset({"五段", "一段", "サ変", "カ変"})
_ALIKE = (
    ("接尾辞-名詞", "名詞"),
    ("動詞", "用言"),
    ("形容詞", "用言"),
    ("助詞-副助詞", "副助詞"),
)


def _joints(transfer: Transfer) -> Iterator[tuple[Tree, Node | None, Node | None]]:
    """Pairs of neighbours (None: the start or end of a sentence) that were none before."""
    last = transfer.before.nodes[-1].origin
    for tree in transfer.after:
        ends: list[Node | None] = [None, *tree.nodes, None]
        for left, right in pairwise(ends):
            if not neighbours_still(left, right, last):
                yield tree, left, right


def _forms(transfer: Transfer) -> Iterator[Finding]:
    """A word before a new neighbour has the form that this one requires, or is given it."""
    for _, left, right in _joints(transfer):
        conjugation = None if left is None else word_class(left)
        if left is None or conjugation is None or (conjugation == "た" and left.form in ("た", "だ")):
            continue
        if forms_of(dictionary_form(left), conjugation, left.form) and connects(left, right) is not False:
            continue
        old = left.form
        inflect(left, right)
        if left.form != old:
            yield repaired(f"'{old}' is '{left.form}' now")
        elif connects(left, right) is False:
            yield vetoed(f"'{left.form}' cannot stand before {_named(right)}")


def _named(node: Node | None) -> str:
    return "the end" if node is None else f"'{node.form}'"


@cache
def _followers() -> dict[str, frozenset[str]]:
    """What was seen behind each kind of morpheme, in UD Japanese GSD and SNOW T15."""
    rows = (line.split("\t") for line in read_packed(str(SHIPPED / "ja" / "morphemes.words"), MORPHEMES))
    return {key: frozenset(followers) for key, *followers in rows}


def _morphemes(transfer: Transfer) -> Iterator[Finding]:
    """Morphemes that nobody puts side by side, such as を and が."""
    for _, left, right in _joints(transfer):
        if is_known_pair(left, right) is False:
            what = "at the start" if left is None else f"behind '{left.form}'"
            yield vetoed(f"{_named(right)} does not stand {what}")


def is_known_pair(left: Node | None, right: Node | None) -> bool | None:
    """Whether morphemes of two kinds were seen side by side; None if one of them is too rare to say."""
    followers, before, behind = _followers(), kinds_of(left, START), kinds_of(right, END)
    if not any(one in followers for one in before) or not any(
        one in followers or one == END for one in behind
    ):
        return None
    return any(one in followers.get(kind, ()) for kind in before for one in behind)


def kinds_of(node: Node | None, edge: str) -> tuple[str, ...]:
    """What the list calls a word: its lemma or part of speech, and the class of words that behave alike."""
    if node is None:
        return (edge,)
    key = key_of(node)
    like = next((kind for tag, kind in _ALIKE if node.xpos.startswith(tag)), None)
    if key in _OBLIQUE and node.xpos.startswith("助詞-格助詞"):
        like = "斜格"
    elif word_class(node) in _VERBAL:
        like = "用言"
    return (key,) if like is None or like == key else (key, like)


def _particles(transfer: Transfer) -> Iterator[Finding]:
    """No verb has two objects with を, and no word the same particle twice."""
    for node in transfer.nodes:
        objects = [child for child in node.daughters("obj") if any(c.form == "を" for c in child.children)]
        if len(objects) > 1 and any(transfer.is_changed(one) for one in objects):
            yield vetoed(f"'{node.form}' has two objects with を")
        particles = [one.form for one in node.children if one.relation == "case" and one.form in _ONCE]
        if len(particles) > len(set(particles)):
            yield vetoed(f"'{node.form}' has the same particle twice")


def _style(transfer: Transfer) -> Iterator[Finding]:
    """Sentences end in です and ます after it if they did before."""
    polite = is_polite(transfer.before)
    if any(is_polite(tree) is not polite for tree in transfer.after):
        yield lowered(MIXED_STYLE, "plain and polite endings are mixed")


CHECKS = (
    Check("forms", "Words have the form that the next morpheme requires.", _forms),
    Check("morphemes", "Morphemes stand side by side as they do elsewhere.", _morphemes),
    Check("particles", "Each particle stands once.", _particles),
    Check("style", "The sentence stays polite or plain.", _style),
)
