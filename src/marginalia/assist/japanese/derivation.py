"""Verbs made of other words: 話せる of 話す, 話す of the noun 話し."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marginalia.assist.japanese.classes import verb_class
from marginalia.assist.japanese.conjugation import conjugate
from marginalia.assist.japanese.lemmas import known_lemmas

if TYPE_CHECKING:
    from marginalia.assist.trees import Node


def derive(node: Node) -> None:
    """Make of a word what new features ask for: `Mood` potential or plain form, `VerbForm` a noun's verb."""
    mood, verb_form = node.feats.pop("Mood", ""), node.feats.pop("VerbForm", "")
    if node.upos == "NOUN" and verb_form:
        node.lemma = verb_of(node.form) or node.lemma
        node.upos, node.xpos = "VERB", "動詞-一般"
    elif mood == "Pot":
        node.lemma = potential(node.lemma) or node.lemma
    elif mood == "Ind":  # 買う, no 買おう
        node.form, node.origin = node.lemma, None


def potential(verb: str) -> str | None:
    """The verb that says that one can: 話せる of 話す, 食べられる of 食べる; None for what is no verb."""
    conjugation = verb_class(verb)
    if conjugation == "サ変":
        return verb[:-2] + "できる"
    if conjugation == "五段":
        return f"{conjugate(verb, conjugation, 'hypothetical')}る"
    return None if conjugation is None else f"{conjugate(verb, conjugation, 'irrealis')}られる"


def verb_of(noun: str) -> str | None:
    """The verb whose 連用形 a noun is: 話す of 話し."""
    for verb in known_lemmas():
        conjugation = verb_class(verb)
        if conjugation is not None and conjugate(verb, conjugation, "continuative") == noun:
            return verb
    return None
