"""Agreement, verb groups and the surface of English trees that a transfer has changed."""

from __future__ import annotations

import dataclasses

import pytest

from marginalia.assist import english
from marginalia.assist.trees import Node, Tree


def tree(text: str) -> Tree:
    """A tree of lines `form lemma upos xpos head relation [feats]`; `_` behind a form: no blank there."""
    nodes, heads = [], []
    for i, line in enumerate(text.strip().splitlines()):
        form, lemma, upos, xpos, head, relation, *feats = line.split()
        pairs = dict(pair.split("=") for pair in feats[0].split("|")) if feats else {}
        space = "" if form.endswith("_") else " "
        nodes.append(Node(form.rstrip("_"), lemma, upos, xpos, pairs, relation, space, i))
        heads.append(int(head))
    for node, head in zip(nodes, heads, strict=True):
        node.head = nodes[head - 1] if head else None
    return Tree(nodes)


PLANS = """
The the DET DT 2 det
plans plan NOUN NNS 5 nsubj Number=Plur
were be AUX VBD 5 aux Tense=Past
not not PART RB 5 advmod
shown show VERB VBN 0 root Tense=Past|VerbForm=Part
"""


def test_a_verb_group_is_read_and_written() -> None:
    plans = tree(PLANS)
    group = english.group_of(plans.root)
    assert group == english.VerbGroup("show", tense="Past", passive="be", negation="not")
    english.write_group(plans, plans.root, english.active(group))
    assert plans.text == "The plans did not show"
    english.write_group(plans, plans.root, english.VerbGroup("show", perfect=True, passive="be"))
    assert plans.text == "The plans have been shown"
    assert [node.relation for node in plans.nodes[2:]] == ["aux", "aux:pass", "root"]
    english.write_group(plans, plans.root, english.VerbGroup("show", tense="Past", negation="n't"))
    assert plans.text == "The plans didn't show"


def test_a_copula_is_the_verb_of_its_predicate() -> None:
    ready = tree(
        """
        They they PRON PRP 3 nsubj
        are be AUX VBP 3 cop Tense=Pres
        ready ready ADJ JJ 0 root
        """
    )
    group = english.group_of(ready.root)
    assert group == english.VerbGroup("be")
    english.write_group(ready, ready.root, dataclasses.replace(group, negation="n't"))
    assert ready.text == "They aren't ready"
    english.write_group(ready, ready.root, dataclasses.replace(group, modal="might", perfect=True))
    assert ready.text == "They might have been ready"


SUBJECTS = {
    "John and Mary": (
        ["John John PROPN NNP 4 nsubj", "and and CCONJ CC 3 cc", "Mary Mary PROPN NNP 1 conj"], 3, True),
    "you or I": (
        ["you you PRON PRP 4 nsubj", "or or CCONJ CC 3 cc", "I I PRON PRP 1 conj"], 1, False),
    "he and I": (
        ["he he PRON PRP 4 nsubj", "and and CCONJ CC 3 cc", "I I PRON PRP 1 conj"], 1, True),
    "some of cats": (
        ["some some DET DT 4 nsubj", "of of ADP IN 3 case", "cats cat NOUN NNS 1 nmod Number=Plur"], 3, True
    ),
    "some of milk": (
        ["some some DET DT 4 nsubj", "of of ADP IN 3 case", "milk milk NOUN NN 1 nmod Number=Sing"], 3, False
    ),
    "each of cats": (
        ["each each DET DT 4 nsubj", "of of ADP IN 3 case", "cats cat NOUN NNS 1 nmod Number=Plur"], 3, False
    ),
    "what he did": (
        ["what what PRON WP 3 obj", "he he PRON PRP 3 nsubj", "did do VERB VBD 4 csubj"], 3, False),
    "all the police": (
        ["all all DET DT 3 det", "the the DET DT 3 det", "police police NOUN NN 4 nsubj"], 3, True),
}  # fmt: skip


@pytest.mark.parametrize("subject", SUBJECTS)
def test_verbs_agree_with(subject: str) -> None:
    lines, person, plural = SUBJECTS[subject]
    sentence = tree("\n".join([*lines, "be be VERB VB 0 root"]))
    assert english.finite_subject(sentence.root) == (person, plural)


def test_verbs_of_relative_clauses_agree_with_their_noun() -> None:
    people = tree(
        """
        people people NOUN NNS 0 root
        who who PRON WP 3 nsubj
        come come VERB VB 1 acl:relcl
        """
    )
    assert english.finite_subject(people.nodes[2]) == (3, True)


def test_there_is_agrees_with_what_there_is() -> None:
    there = tree(
        """
        there there PRON EX 2 expl
        be be VERB VB 0 root
        cats cat NOUN NNS 2 nsubj Number=Plur
        """
    )
    assert english.finite_subject(there.root) == (3, True)


def test_the_surface_is_mended() -> None:
    sentence = tree(
        """
        Yesterday yesterday ADV RB 4 advmod
        ,_ , PUNCT , 4 punct
        a a DET DT 4 det
        saw see VERB VBD 0 root
        he he PRON PRP 4 obj
        ,_ , PUNCT , 4 punct
        ,_ , PUNCT , 4 punct
        hour hour NOUN NN 4 obl
        """
    )
    sentence.nodes[6].origin = None
    article, hour, yesterday = sentence.nodes[2], sentence.nodes[7], sentence.nodes[0]
    sentence.move(article, before=hour)
    sentence.move(yesterday, before=article)
    sentence.nodes[0].origin = 1
    english.mend(sentence)
    english.end_with_stop(sentence)
    assert sentence.text == "Saw him, yesterday an hour."


def test_what_is_right_stays_as_it_is() -> None:
    sentence = tree(
        """
        What what PRON WP 3 obj
        I I PRON PRP 3 nsubj
        saw see VERB VBD 0 root
        ..._ ... PUNCT , 3 punct
        ,_ , PUNCT , 3 punct
        a a DET DT 7 det
        Unit unit PROPN NNP 3 obj
        """
    )
    before = sentence.text
    english.mend(sentence)
    assert sentence.text == before
