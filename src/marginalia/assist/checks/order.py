"""Words of English stand where they may: small words before their word, subjects before verbs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from marginalia.assist.trees import Node

from .check import Check, Finding, Transfer, vetoed
from .english import finite_of

_BEFORE_HEAD = ("aux", "cop", "det", "case", "mark")
# Words of a noun phrase in their order; those of one row may stand in any.
_RANKS = {"case": 0, "det": 1, "nmod:poss": 1, "amod": 2, "nummod": 2, "compound": 2}


def _small_words(transfer: Transfer) -> Iterator[Finding]:
    """Auxiliaries, articles, prepositions and conjunctions do not come to stand behind their word."""
    for node in transfer.nodes:
        if node.head is None or node.index < node.head.index or _is_genitive(node):
            continue
        relation = node.relation.partition(":")[0]
        stranded = relation == "case" and node.head.upos in ("VERB", "ADJ")  # the chair that he sat on
        if relation in _BEFORE_HEAD and not stranded and _stood_before(transfer.source(node)):
            yield vetoed(f"'{node.form}' stands behind '{node.head.form}'")


def _is_genitive(node: Node) -> bool:
    return node.relation == "case" and node.form in ("'s", "’s", "'", "’")


def _stood_before(source: Node | None) -> bool:
    return source is None or (source.head is not None and source.index < source.head.index)


def _phrases(transfer: Transfer) -> Iterator[Finding]:
    """In a noun phrase the preposition comes first, then articles and possessors, then what describes it."""
    for head in transfer.nodes:
        ranks = [(_rank(child), child) for child in head.children if child.index < head.index]
        known = [(rank, child) for rank, child in ranks if rank is not None]
        for (left, first), (right, second) in pairwise(known):
            if left > right and not _stood_so(transfer, first, second):
                yield vetoed(f"'{second.form}' stands behind '{first.form}'")


def _rank(node: Node) -> int | None:
    return None if _is_genitive(node) or node.xpos == "PDT" else _RANKS.get(node.relation)


def _stood_so(transfer: Transfer, first: Node, second: Node) -> bool:
    """Whether the author has put two words in this order."""
    sources = transfer.source(first), transfer.source(second)
    return sources[0] is not None and sources[1] is not None and sources[0].index < sources[1].index


def _subjects(transfer: Transfer) -> Iterator[Finding]:
    """No statement begins with its verb, unless the author's did."""
    for tree in transfer.after:
        verb = finite_of(tree.root)
        subject = next((child for child in tree.root.children if child.is_a("nsubj")), None)
        if verb is None or subject is None or tree.nodes[-1].form in ("?", "!"):
            continue
        behind = subject.index > verb.index
        leads = all(node.upos in ("PUNCT", "CCONJ") for node in tree.nodes[: verb.index])
        if behind and leads and not _began_so(transfer, verb):
            yield vetoed(f"'{verb.form}' stands before '{subject.form}', as in a question")


def _began_so(transfer: Transfer, verb: Node) -> bool:
    source = transfer.source(verb)
    return source is not None and all(
        node.upos in ("PUNCT", "CCONJ") for node in transfer.before.nodes[: source.index]
    )


def _order(transfer: Transfer) -> Iterator[Finding]:
    for judge in (_small_words, _phrases, _subjects):
        yield from judge(transfer)


CHECKS = (
    Check("word order", "Words stand where they may: articles before nouns, subjects before verbs.", _order),
)
