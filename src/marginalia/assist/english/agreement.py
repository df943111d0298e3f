"""Which person and number a verb takes from its subject."""

from __future__ import annotations

from typing import NamedTuple

from ..trees import Node
from .pronouns import person_of

_PLURAL_WORDS = {"these", "those", "many", "few", "both", "several", "others", "people", "police", "cattle"}
_SINGULAR_WORDS = {"each", "either", "neither", "one", "much", "another", "everyone", "everybody", "nobody"}
_BY_COMPLEMENT = {"all", "some", "most", "any", "none", "half", "percent", "pct", "third", "quarter", "rest",
                  "lot", "lots", "plenty", "majority", "more"}  # fmt: skip
_PLURAL_WITH_A = {"number", "couple", "handful", "variety", "range", "series", "dozen"}
_RELATIVE = {"who", "which", "that", "whom"}


class Agreement(NamedTuple):
    """Person and number; `Agreement(3, True)` is that of they."""

    person: int = 3
    plural: bool = False


def subject_of(verb: Node) -> Node | None:
    """The subject of a verb or predicate: its own, or of the verb that it is conjoined with and shares."""
    subjects = [child for child in verb.children if child.is_a("subject")]
    inner = [child for child in subjects if child.relation != "nsubj:outer"]  # that is because THEY are ill
    own = next(iter(inner or subjects), None)
    if own is None and verb.relation == "conj" and verb.head is not None:
        return subject_of(verb.head)
    return own


def agreement_of(subject: Node) -> Agreement:
    """Person and number of a subject, coordination, quantities and relative pronouns considered."""
    if subject.relation.startswith("csubj") or subject.upos == "VERB":
        return Agreement()
    pronoun = subject.lemma.lower() if subject.upos in ("PRON", "DET") else ""
    if pronoun in _RELATIVE and (noun := _modified(subject)) is not None:
        return agreement_of(noun)
    conjuncts = [child for child in subject.children if child.relation == "conj"]
    return _of_coordination(subject, conjuncts) if conjuncts else _of_one(subject)


def _modified(relative: Node) -> Node | None:
    """The noun that a relative pronoun stands for."""
    for above in relative.ancestors():
        if above.relation.startswith("acl"):
            return above.head
    return None


def _of_coordination(subject: Node, conjuncts: list[Node]) -> Agreement:
    words = {child.form.lower() for one in conjuncts for child in one.children if child.relation == "cc"}
    if words & {"or", "nor"}:
        return _of_one(conjuncts[-1])  # the nearest one
    determiners = {child.form.lower() for child in subject.children if child.relation.startswith("det")}
    if determiners & {"each", "every"} or not words & {"and", "&"}:
        return _of_one(subject)
    persons = [_of_one(one).person for one in (subject, *conjuncts)]
    return Agreement(min(persons), True)


def _of_one(subject: Node) -> Agreement:
    form = subject.form.lower()
    if (known := person_of(form)) is not None and subject.upos == "PRON":
        return Agreement(*known)
    if form in _PLURAL_WORDS:
        return Agreement(3, True)
    if form in _SINGULAR_WORDS:
        return Agreement()
    return Agreement(3, _is_plural(subject, form))


def _is_plural(subject: Node, form: str) -> bool:
    whole = next(
        (child for child in subject.children if child.relation == "nmod" and _case(child) == "of"), None
    )
    article = {child.form.lower() for child in subject.children if child.relation.startswith("det")}
    if form in _BY_COMPLEMENT and whole is not None:
        return agreement_of(whole).plural
    if form in _PLURAL_WITH_A and article & {"a", "an"} and whole is not None:
        return agreement_of(whole).plural
    if subject.upos == "NUM":
        return form not in ("1", "one")
    if subject.upos == "PROPN" and subject.feats.get("Number") == "Plur":
        return form != "states"  # the United States is
    return subject.feats.get("Number") == "Plur" or (
        subject.feats.get("Number") == "Ptan" and form not in ("news", "politics", "economics", "physics")
    )


def _case(node: Node) -> str:
    return next((child.form.lower() for child in node.children if child.relation == "case"), "")
