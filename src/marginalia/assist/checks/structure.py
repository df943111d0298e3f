"""What a sentence is made of stays together: quotes and brackets, and what words have with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from marginalia.assist.trees import Node

from .check import Check, Finding, Transfer, lowered, vetoed

_OPENING = {
    "“": "quote",
    "„": "quote",
    "«": "quote",
    "「": "quote",
    "『": "quote",
    "(": "bracket",
    "[": "bracket",
}
_CLOSING = {"”": "quote", "»": "quote", "」": "quote", "』": "quote", ")": "bracket", "]": "bracket"}
_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "NUM"})
_OWN = ("core", "amod", "nummod", "compound", "flat", "acl", "appos", "nmod:poss")
_OUTER = ("obl", "nmod")  # a new word may say what they said: on the other hand, but
LOST_CONTENT = 0.4


def enclosed(nodes: Iterable[Node]) -> dict[int, frozenset[str]] | None:
    """For words of the text, by number, whether they stand in quotes or brackets; None if marks lack."""
    inside: list[str] = []
    found: dict[int, frozenset[str]] = {}
    for node in nodes:
        opening, closing = _marks(node, inside)
        if closing and (not inside or inside.pop() != closing):
            return None
        if opening:
            inside.append(opening)
        elif node.upos != "PUNCT" and node.origin is not None:
            found[node.origin] = frozenset(inside)
    return None if inside else found


def _marks(node: Node, inside: list[str]) -> tuple[str, str]:
    """What a word opens, and what it closes."""
    if node.upos != "PUNCT":
        return "", ""
    if node.form in ("“", "”", '"', "``", "''"):
        closes = node.form in ("”", "''") or (node.form == '"' and "quote" in inside)
        return ("", "quote") if closes else ("quote", "")
    return _OPENING.get(node.form, ""), _CLOSING.get(node.form, "")


def _enclosures(transfer: Transfer) -> Iterator[Finding]:
    """Words in quotes or brackets are those that were."""
    before = enclosed(transfer.before.nodes)
    if before is None or not any(before.values()):
        return
    after = enclosed(transfer.nodes)
    if after is None:
        yield vetoed("a quotation mark or a bracket has lost its partner")
        return
    if not any("bracket" in marks for marks in after.values()):  # they are sentences of their own
        before = {origin: marks - {"bracket"} for origin, marks in before.items()}
    for origin, marks in after.items():
        if before.get(origin, marks) != marks:
            where = "into" if marks - before[origin] else "out of"
            form = transfer.origins[origin].form
            yield vetoed(f"'{form}' has come {where} quotation marks or brackets")
            return


def _content(transfer: Transfer) -> Iterator[Finding]:
    """A word that stays keeps its subject, objects and what describes it."""
    kept = {node.origin: node.lemma for node in transfer.nodes}
    lemmas = {node.lemma.lower() for node in transfer.nodes}
    made = any(node.origin is None and node.upos != "PUNCT" for node in transfer.nodes)
    for node in transfer.before.nodes:
        lost = node.upos in _CONTENT and node.origin not in kept and node.lemma.lower() not in lemmas
        if not lost or node.head is None or kept.get(node.head.origin) != node.head.lemma:
            continue
        if any(child.origin in kept and child.upos in _CONTENT for child in node.children):
            continue  # what it stood before has its place
        if any(node.is_a(kind) for kind in _OWN) or (not made and any(node.is_a(kind) for kind in _OUTER)):
            yield lowered(LOST_CONTENT, f"'{node.form}', which belongs to '{node.head.form}', is lost")


CHECKS = (
    Check("quotes", "What stands in quotation marks or brackets stays there, and nothing else.", _enclosures),
    Check("content", "Words keep their subjects, objects and what describes them.", _content),
)
