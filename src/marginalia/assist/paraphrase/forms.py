"""Features that a rule gives to words: tense of another word, agreement, named forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from marginalia.assist.english.agreement import agreement_of
from marginalia.assist.paraphrase.matching import Bound
from marginalia.assist.paraphrase.targets import FORMS, Form, Target
from marginalia.assist.trees import Node

_OF_TENSE = ("VerbForm", "Tense", "Mood", "Number", "Person", "Voice")


def shape(nodes: Mapping[int, Sequence[Node]], bound: Bound, targets: Sequence[Target]) -> list[Node]:
    """Give words the features that their targets ask for (`nodes`, by target); those whose form is to make.

    `bound` are the nodes of the match as they were, so that no word reads what another one was changed to.
    """
    changed: dict[int, Node] = {}
    every = [part for target in targets for part in target.parts()]
    now = {part.name: node for part in reversed(every) for node in nodes[id(part)] if part.name}
    agreeing: list[tuple[Node, Node]] = []
    for part in every:
        for node in nodes[id(part)]:
            for form in part.forms:
                if form.kind == "agree":
                    agreeing += [(node, now.get(form.name) or _first(bound, form.name) or node)]
                elif _give(node, form, bound):
                    changed[id(node)] = node
    for node, subject in agreeing:  # when all tenses are known
        carrier = finite_of(node)
        if carrier is not None and _agree(carrier, subject):
            changed[id(carrier)] = carrier
    return list(changed.values())


def _first(bound: Bound, name: str) -> Node | None:
    value = bound.get(name)
    return (value[0] if value else None) if isinstance(value, tuple) else value


def _give(node: Node, form: Form, bound: Bound) -> bool:
    """Change a word by one form; whether its surface has to be made anew."""
    feats = node.feats
    if form.kind == "feature" and form.name in ("xpos", "upos"):
        setattr(node, form.name, form.values[0])
        return False
    if form.kind == "feature":
        _set(feats, FORMS[form.values[0]] if not form.name else {form.name: form.values[0]})
    elif form.kind in ("lemma", "mapped"):
        other = _first(bound, form.name) if form.kind == "mapped" else None
        node.lemma = form.values[0] if other is None else form.table[other.lemma.lower()]
    elif form.kind in ("tense", "like"):
        other = _first(bound, form.name)
        if other is None:
            return False
        keys = _OF_TENSE if form.kind == "tense" else {**feats, **other.feats}
        _set(feats, {key: other.feats.get(key, "") for key in keys})
        if form.kind == "tense":
            feats.pop("Voice", None)
    elif form.kind == "short":
        return _definite(node)
    else:
        return False
    return node.origin is not None or form.kind != "feature" or not form.name  # new words have their form


def _set(feats: dict[str, str], values: Mapping[str, str]) -> None:
    for key, value in values.items():
        if value:
            feats[key] = value
        else:
            feats.pop(key, None)


def _definite(node: Node) -> bool:
    """Make an indefinite article below a noun definite."""
    for daughter in node.children:
        if daughter.feats.get("Definite") == "Ind" and daughter.relation == "det":
            daughter.feats["Definite"] = "Def"
            daughter.lemma, daughter.form = "the", "The" if daughter.form[0].isupper() else "the"
    return False


def finite_of(verb: Node) -> Node | None:
    """The word that shows person and number: the first finite auxiliary or copula, or the verb itself."""
    for daughter in verb.children:
        if (daughter.is_a("aux") or daughter.is_a("cop")) and daughter.index < verb.index:
            return daughter if daughter.feats.get("VerbForm") == "Fin" else None
    return verb if verb.feats.get("VerbForm") == "Fin" else None


def _agree(verb: Node, subject: Node) -> bool:
    number, person = number_and_person(subject)
    same = (verb.feats.get("Number"), verb.feats.get("Person")) == (number, person)
    _set(verb.feats, {"Number": number, "Person": person})
    return not same


def number_and_person(subject: Node) -> tuple[str, str]:
    """Number and person of a subject, as its verb shows them."""
    person, plural = agreement_of(subject)
    return "Plur" if plural else "Sing", str(person)
