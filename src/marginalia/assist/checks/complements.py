"""Words stand with what they can stand with: verbs with their complements, words that replace others with
their neighbours. Judged by counts (`words/valency.py`, `words/contexts.py`) and WordNet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np

from marginalia.assist.trees import Node, Tree
from marginalia.assist.words.contexts import Vector, contexts
from marginalia.assist.words.valency import (
    ENOUGH,
    NONE,
    OBJECT,
    complements,
    object_of,
    subject_of,
    valency,
)
from marginalia.assist.words.wordnet import PARTS_OF_SPEECH, wordnet

from .check import Check, Finding, Transfer, lowered, vetoed
from .kept import NEGATIONS

UNSEEN_COMPLEMENT = 0.5
UNSEEN_PREPOSITION = 0.4
UNLIKE_NOUN = 0.2
PARTED = 0.4
ENOUGH_NOUNS = 8  # objects or subjects of a verb that must be known to say that another is unlike them
LEAST_PREFERENCE = -0.05  # one in twenty real objects is below it, and one in seven of those drawn by chance
BOUND = 3.0  # log of how much more often than by chance neighbours of an expression are seen together
_NAMES = {
    NONE: "without an object",
    OBJECT: "with an object",
    "iobj": "with two objects",
    "ccomp": "with a clause",
    "to": "with an infinitive",
    "ing": "with a form in -ing",
    "xcomp": "with a predicate",
}


def _valency(transfer: Transfer) -> Iterator[Finding]:
    """A verb that is new, or stands with something new, stands with what it can."""
    for verb in transfer.nodes:
        if verb.upos != "VERB":
            continue
        source, lemma = transfer.source(verb), verb.lemma.lower()
        old = _stood_with(source) if source is not None and source.lemma == verb.lemma else set()
        for kind in sorted(set(complements(verb)) - old):
            if kind in _NAMES:
                yield from _complement(lemma, kind)
            elif source is not None and source.lemma != verb.lemma and kind in set(complements(source)):
                yield from _preposition(source.lemma.lower(), lemma, kind)


def _stood_with(verb: Node) -> set[str]:
    """What a verb stands with; nothing at all is something that it stands with, too, wherever it is."""
    kinds = set(complements(verb))
    return kinds if kinds & set(_NAMES) else kinds | {NONE}


def _complement(verb: str, kind: str) -> Iterator[Finding]:
    if valency().allows(verb, kind) is not False:
        return
    reason = f"'{verb}' does not stand {_NAMES[kind]}"
    known = valency().uses[verb] >= ENOUGH and kind in (NONE, OBJECT)
    yield vetoed(reason) if known else lowered(UNSEEN_COMPLEMENT, f"{reason}, as far as is known")


def _preposition(old: str, new: str, kind: str) -> Iterator[Finding]:
    """A preposition or particle of the old verb that the new one was not seen with."""
    if valency().uses[new] >= ENOUGH and valency().kinds[new][kind] == 0:
        yield lowered(UNSEEN_PREPOSITION, f"'{new}' was not seen with '{kind[:-1]}' as '{old}' is")


def _cooccurrence(transfer: Transfer) -> Iterator[Finding]:
    """What is done by whom or to whom is like what the verb was seen with."""
    before = {pair for node in transfer.before.nodes for pair in _pairs(node)}
    for pair in (pair for verb in transfer.nodes for pair in _pairs(verb)):
        verb, role, noun = pair
        seen = (valency().objects if role == "object" else valency().subjects).get(verb, Counter())
        if pair not in before and noun not in seen and len(seen) >= ENOUGH_NOUNS:
            found = preference(noun, seen, role)
            if found is not None and found < LEAST_PREFERENCE:
                yield lowered(UNLIKE_NOUN, f"'{noun}' is unlike what was seen as the {role} of '{verb}'")


def _pairs(verb: Node) -> Iterator[tuple[str, str, str]]:
    if verb.upos != "VERB":
        return
    for role, noun in (("object", object_of(verb)), ("subject", subject_of(verb))):
        if noun is not None and noun.upos == "NOUN":
            yield verb.lemma.lower(), role, noun.lemma.lower()


def preference(noun: str, seen: Counter[str], role: str) -> float | None:
    """How much more like a noun is to those that a verb was seen with than to those of all verbs, in the mean
    of cosines; None if its use is not known."""
    own, others, every = contexts().vector(noun), _mean(seen), _mean_of_all(role)
    return None if own is None or others is None or every is None else float(own @ (others - every))


def _mean(nouns: Counter[str]) -> Vector | None:
    found = [(vector, n) for noun, n in nouns.items() if (vector := contexts().vector(noun)) is not None]
    if not found:
        return None
    vectors, counts = zip(*found, strict=True)
    return np.average(np.array(vectors), axis=0, weights=counts).astype(np.float32)


@cache
def _mean_of_all(role: str) -> Vector | None:
    tables = valency().objects if role == "object" else valency().subjects
    every: Counter[str] = sum(tables.values(), Counter())
    return _mean(every)


def _replaced(transfer: Transfer) -> Iterator[tuple[Tree, Node, Node]]:
    """Content words that others stand for now: the tree, the old and the new word."""
    for tree in transfer.after:
        for node in tree.nodes:
            source = transfer.source(node)
            if (
                source is not None
                and source.lemma.lower() != node.lemma.lower()
                and node.upos in PARTS_OF_SPEECH
            ):
                yield tree, source, node


def _synonyms(transfer: Transfer) -> Iterator[Finding]:
    """A word that stands for another does not mean the opposite, and parts no expression."""
    for tree, old, new in _replaced(transfer):
        opposite = new.lemma.lower() in opposites(old.lemma.lower(), PARTS_OF_SPEECH.get(old.upos, "n"))
        if opposite and not _is_turned(transfer, old, new):
            yield vetoed(f"'{new.form}' is the opposite of '{old.form}'")
        elif (other := _parted(tree, transfer.before, old, new)) is not None:
            yield lowered(PARTED, f"'{old.form}' belongs together with '{other.form}'")


def _is_turned(transfer: Transfer, old: Node, new: Node) -> bool:
    """Whether an opposite says the same, as a negation goes or comes with it, or as subjects change places:
    not unlikely, likely; he bought it from her, she sold it to him."""
    negations = NEGATIONS[transfer.language]
    before, after = (
        sum(node.lemma.lower() in negations for node in nodes)
        for nodes in (transfer.before.nodes, transfer.nodes)
    )
    subjects = [[child.origin for child in verb.daughters("nsubj")] for verb in (old, new)]
    return (before - after) % 2 == 1 or (old.upos == "VERB" and subjects[0] != subjects[1])


def opposites(lemma: str, pos: str) -> set[str]:
    """Lemmas that mean the opposite of a lemma in one of its senses, or that of a similar adjective."""
    words, found = wordnet(), set[str]()
    for sense in words.senses(lemma, pos):
        for synset in (sense.synset, *map(words.synset, sense.synset.similar)):
            found |= {other for number in synset.opposite for other in words.synset(number).lemmas}
    return found


def _parted(tree: Tree, before: Tree, old: Node, new: Node) -> Node | None:
    """A neighbour that the old word was bound to, and that was never seen beside the new one."""
    known = contexts()
    for step in (-1, 1):
        place, now = old.index + step, new.index + step
        if not (0 <= place < len(before) and 0 <= now < len(tree)):
            continue
        other, there = before.nodes[place], tree.nodes[now]
        if other.origin != there.origin or other.upos not in (*PARTS_OF_SPEECH, "ADP"):
            continue
        words = [node.form.lower() for node in (other, old, there, new)]
        pairs = [words[:2], words[2:]] if step < 0 else [words[1::-1], words[:1:-1]]
        bound, fresh = (known.follows(*pair) for pair in pairs)
        if bound[0] >= BOUND and fresh[1] == 0 and words[3] in known:
            return other
    return None


CHECKS = (
    Check("valency", "Verbs stand with complements that they can have.", _valency),
    Check("co-occurrence", "Subjects and objects are like those that the verb was seen with.", _cooccurrence),
    Check(
        "near-synonyms", "A word that replaces another means no opposite and parts no expression.", _synonyms
    ),
)
