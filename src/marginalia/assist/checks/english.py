"""English sentences after a transfer are well written: forms, agreement, tense, finite verbs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from marginalia.assist.english import agreement_of, inflect, mend, subject_of
from marginalia.assist.english.inflection import MODALS
from marginalia.assist.trees import Node

from .check import Check, Finding, Transfer, lowered, repaired, vetoed

FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_VARIES = frozenset({"VBZ", "VBP"})  # with person and number; of `be` the past does, too
_DOUBLED = frozenset({"that", "had", "is", "in", "do"})  # may stand twice in a row


def clause_words(predicate: Node) -> list[Node]:
    """A predicate with its auxiliaries and copula, in surface order."""
    words = [predicate, *(child for child in predicate.children if child.is_a("aux") or child.is_a("cop"))]
    return sorted(words, key=lambda node: node.index)


def finite_of(predicate: Node) -> Node | None:
    """The finite verb of a clause, if it has one."""
    words = clause_words(predicate)
    if predicate.daughters("nsubj:outer") and len(predicate.daughters("subject")) > 1:
        words.reverse()  # that IS because they ARE ill
    return next((word for word in words if _is_finite(word)), None)


def _is_finite(word: Node) -> bool:
    """By its tag or its features, of which the parser may get one wrong, or as a modal that a rule put."""
    modal = word.upos == "AUX" and word.lemma in MODALS
    return word.xpos in FINITE or word.feats.get("VerbForm") == "Fin" or modal


def _surface(transfer: Transfer) -> Iterator[Finding]:
    """Articles, case of pronouns, capitals and punctuation are mended by the generator."""
    for tree in transfer.after:
        forms = {id(node): node.form for node in tree.nodes}
        mend(tree)
        for node in tree.nodes:
            if (old := forms.pop(id(node), None)) is None:
                yield repaired(f"'{node.form}' stands behind '{tree.nodes[node.index - 1].form}' now")
            elif old != node.form:
                yield repaired(f"'{old}' is '{node.form}' now")
        if forms:
            yield repaired("punctuation that had lost its place is left out")


def _agreement(transfer: Transfer) -> Iterator[Finding]:
    for tree in transfer.after:
        for predicate in tree.nodes:
            subject = subject_of(predicate) if predicate.relation != "conj" else None
            verb = finite_of(predicate)
            if subject is None or verb is None or not _concerned(transfer, predicate, verb, subject):
                continue
            form = agreeing_form(verb, subject)
            if form is not None and form != verb.form.lower() and not verb.form.startswith(("'", "’")):
                yield repaired(f"'{verb.form}' is '{form}' now, as '{subject.form}' asks")
                verb.form = form.capitalize() if verb.form[:1].isupper() else form


def _concerned(transfer: Transfer, predicate: Node, verb: Node, subject: Node) -> bool:
    """What the author wrote is left alone: a repair is for what a rule has changed."""
    source = transfer.source(verb)
    if source is None or source.form.lower() != verb.form.lower():
        return True
    if _disagreed(transfer, predicate, source):
        return False
    former = transfer.source(subject)
    counted = former is not None and agreement_of(former) != agreement_of(
        subject
    )  # Tom and …, Tom as well as …
    return counted or transfer.is_changed(subject) or transfer.is_changed(predicate)


def _disagreed(transfer: Transfer, predicate: Node, verb: Node) -> bool:
    """Whether the author's verb did not go with what was read as its subject: then it was misread."""
    former = transfer.source(predicate)
    subject = subject_of(former) if former is not None else None
    form = agreeing_form(verb, subject) if subject is not None else None
    return form is not None and form != verb.form.lower()


def agreeing_form(verb: Node, subject: Node) -> str | None:
    """The form a finite verb takes with a subject; None if it is the same with all of them."""
    past_be = verb.lemma == "be" and verb.xpos == "VBD"
    if verb.xpos not in _VARIES and not past_be:
        return None
    if subject.upos not in ("NOUN", "PROPN", "PRON"):
        return None  # a clause, or a quantity that may mean one or many
    person, plural = agreement_of(subject)
    if past_be:
        return inflect("be", "VBD", person=person, plural=plural)
    return inflect(verb.lemma, "VBP" if plural or person != 3 else "VBZ", person=person, plural=plural)


def _finite(transfer: Transfer) -> Iterator[Finding]:
    """A sentence and a relative clause with a subject have a finite verb, if the author's had one."""
    if finite_of(transfer.before.root) is None:
        return
    for tree in transfer.after:
        if (
            finite_of(tree.root) is None
            and not _is_imperative(tree.root)
            and not _was_clause(transfer, tree.root)
        ):
            yield vetoed(f"'{tree.root.form}' is no finite verb, so that the sentence has none")
        for clause in tree.nodes:
            if clause.relation == "acl:relcl" and transfer.is_changed(clause) and finite_of(clause) is None:
                yield lowered(0.3, f"the relative clause of '{clause.form}' has no finite verb")


def _was_clause(transfer: Transfer, root: Node) -> bool:
    """Whether the text has the same word with a subject: then the parser took it for something else."""
    source = transfer.source(root)
    same = source is not None and source.form.lower() == root.form.lower() and finite_of(source) is None
    return same and all(any(child.is_a("nsubj") for child in one.children) for one in (source, root) if one)


def _is_imperative(root: Node) -> bool:
    return root.xpos == "VB" and subject_of(root) is None


def _tense(transfer: Transfer) -> Iterator[Finding]:
    """A clause that becomes a sentence or a relative clause keeps its tense and aspect."""
    for predicate in transfer.nodes:
        source = transfer.source(predicate)
        if source is None or source.lemma != predicate.lemma:
            continue
        old, new = finite_of(source), finite_of(predicate)
        if old is None or new is None:
            continue
        if _tense_of(old) != _tense_of(new) and not _is_reported(predicate, source):
            yield lowered(0.5, f"'{old.form}' has another tense now: '{new.form}'")
        if _perfect(source) and not _perfect(predicate) and _tense_of(new) != "Past":
            yield lowered(0.3, f"'{source.form}' was over, and is not said to be so now")


def _tense_of(finite: Node) -> str:
    if finite.xpos == "MD":
        past = {"could", "would", "might", "should", "'d", "’d"}
        return "Past" if finite.form.lower() in past else "Pres"
    return "Past" if finite.xpos == "VBD" else "Pres"


def _perfect(predicate: Node) -> bool:
    return any(word.lemma == "have" and word is not predicate for word in clause_words(predicate))


def _is_reported(predicate: Node, source: Node) -> bool:
    """Tenses are shifted between what is said directly and what is reported."""
    return any(node.relation in ("ccomp", "parataxis") for node in (predicate, source))


def _doubled(transfer: Transfer) -> Iterator[Finding]:
    before = {(a.form.lower(), b.form.lower()) for a, b in pairwise(transfer.before.nodes)}
    for tree in transfer.after:
        for left, right in pairwise(tree.nodes):
            pair = (left.form.lower(), right.form.lower())
            excused = pair[0] in _DOUBLED and not _joins(left, right)
            if pair[0] == pair[1] and pair not in before and pair[0].isalpha() and not excused:
                yield vetoed(f"'{left.form}' stands twice")


def _joins(left: Node, right: Node) -> bool:
    """Whether two words both join a clause: "that that he saw", but not "that that man saw"."""
    return all(node.relation == "mark" or node.feats.get("PronType") == "Rel" for node in (left, right))


def _endings(transfer: Transfer) -> Iterator[Finding]:
    """Relative pronouns, prepositions and conjunctions have something behind them."""
    for tree in transfer.after:
        words = [node for node in tree.nodes if node.upos != "PUNCT"]
        if not words:
            yield vetoed("a sentence without words is left")
        elif len(words) == 1 and len(transfer.before) > 3:
            yield vetoed(f"only '{words[0].form}' is left of a sentence")
        elif words[-1].upos in ("SCONJ", "CCONJ", "DET") and not _ended_so(transfer, words[-1]):
            yield vetoed(f"the sentence ends in '{words[-1].form}'")


def _ended_so(transfer: Transfer, last: Node) -> bool:
    words = [node for node in transfer.before.nodes if node.upos != "PUNCT"]
    return bool(words) and words[-1].origin == last.origin


CHECKS = (
    Check("agreement", "Verbs agree with their subjects.", _agreement),
    Check("surface", "a and an, case of pronouns, capitals and punctuation are right.", _surface),
    Check("finite verb", "Each sentence has a finite verb.", _finite),
    Check("tense", "Clauses keep their tense and aspect.", _tense),
    Check("doubled word", "No word stands twice in a row.", _doubled),
    Check("complete", "Each sentence is complete.", _endings),
)
