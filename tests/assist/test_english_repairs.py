"""What rules leave on the surface of English is mended: commas, full stops, wrong lemmas of the parser."""

from __future__ import annotations

import pytest

from marginalia.assist import english
from marginalia.assist.checks.kept import negations_of
from marginalia.assist.paraphrase.rule_files import read_rules
from marginalia.assist.trees import Node, Tree


def tree(*words: tuple[str, str, int, str, bool]) -> Tree:
    """Of form, part of speech, head (from 1, 0 for the root), relation, and whether it is of the text."""
    nodes = [
        Node(form, form.lower(), upos, relation=relation, origin=place if there else None)
        for place, (form, upos, _, relation, there) in enumerate(words)
    ]
    for node, word in zip(nodes, words, strict=True):
        node.head = nodes[word[2] - 1] if word[2] else None
    return Tree(nodes)


def test_a_comma_follows_a_clause_that_leads_and_has_a_new_conjunction() -> None:
    new = tree(
        ("if", "SCONJ", 3, "mark", False),
        ("you", "PRON", 3, "nsubj", True),
        ("hurry", "VERB", 5, "advcl", True),
        ("you", "PRON", 5, "nsubj", True),
        ("win", "VERB", 0, "root", True),
    )
    english.mend(new)
    assert new.text == "If you hurry, you win"


def test_no_comma_is_put_where_the_author_had_none() -> None:
    own = tree(
        ("If", "SCONJ", 3, "mark", True),
        ("you", "PRON", 3, "nsubj", True),
        ("hurry", "VERB", 5, "advcl", True),
        ("you", "PRON", 5, "nsubj", True),
        ("win", "VERB", 0, "root", True),
    )
    english.mend(own)
    assert own.text == "If you hurry you win"


def test_a_comma_of_the_text_at_the_end_becomes_a_full_stop_and_one_behind_a_new_link_goes() -> None:
    rest = tree(
        ("But", "CCONJ", 4, "cc", False),
        (",", "PUNCT", 4, "punct", True),
        ("they", "PRON", 4, "nsubj", True),
        ("left", "VERB", 0, "root", True),
        (",", "PUNCT", 4, "punct", True),
    )
    english.mend(rest)
    assert [node.form for node in rest] == ["But", "they", "left", "."]


@pytest.mark.parametrize(
    ("form", "tag", "lemma", "right"),
    [
        ("known", "VBN", "known", "know"),
        ("known", "VBP", "known", "know"),
        ("rang", "VBD", "rang", "ring"),
        ("assuming", "VBG", "assum", "assume"),
        ("left", "VBD", "leave", "leave"),
        ("found", "VBP", "found", "found"),
        ("was", "VBD", "be", "be"),
        ("blorped", "VBD", "blorp", "blorp"),
    ],
)
def test_a_lemma_whose_forms_are_others_is_mended(form: str, tag: str, lemma: str, right: str) -> None:
    assert english.lemma_of(form, tag, lemma) == right


def test_a_macro_may_stand_among_arcs_and_a_list_in_constraints() -> None:
    text = (
        "language en\nlist few = cat\nmacro alone = not obj [@few], not iobj\n"
        "family f\nwhy w\ntree r: V:verb(nsubj N[@few], @alone) -> V\n"
    )
    (rule,) = read_rules(text).families[0].rules
    assert rule.left.strip() == "V:verb(nsubj N[@few], not obj [@few], not iobj)"


def test_full_forms_stand_apart_and_cannot_is_one_word() -> None:
    full = tree(
        ("They", "PRON", 2, "nsubj", True),
        ("have", "VERB", 0, "root", True),
        ("seen", "VERB", 2, "ccomp", True),
        ("what", "PRON", 6, "obj", True),
        ("can", "AUX", 6, "aux", False),
        ("not", "PART", 6, "advmod", True),
        ("stay", "VERB", 3, "ccomp", True),
    )
    full.nodes[0].space_after = ""
    english.mend(full)
    assert full.text == "They have seen what cannot stay"


def test_a_comma_that_has_lost_its_partner_does_not_part_a_subject_from_its_verb() -> None:
    rest = tree(
        ("Cars", "NOUN", 4, "nsubj", True),
        ("here", "ADV", 1, "advmod", False),
        (",", "PUNCT", 1, "punct", True),
        ("stop", "VERB", 0, "root", True),
    )
    pair = tree(
        ("Cars", "NOUN", 5, "nsubj", True),
        (",", "PUNCT", 3, "punct", True),
        ("here", "ADV", 1, "advmod", False),
        (",", "PUNCT", 3, "punct", True),
        ("stop", "VERB", 0, "root", True),
    )
    english.mend(rest)
    english.mend(pair)
    assert [rest.text, len(pair.nodes)] == ["Cars here stop", 5]


def test_a_new_genitive_of_a_plural_is_an_apostrophe() -> None:
    for form, number, mark in (("Boys", "Plur", "'"), ("Children", "Plur", "'s"), ("Boss", "Sing", "'s")):
        phrase = tree(
            (form, "NOUN", 3, "nmod:poss", True),
            ("'s", "PART", 1, "case", False),
            ("win", "NOUN", 0, "root", True),
        )
        phrase.nodes[0].feats["Number"] = number
        english.mend(phrase)
        assert [node.form for node in phrase] == [form, mark, "win"]


def test_a_noun_that_no_dictionary_knows_keeps_its_capital() -> None:
    for form, mended in (("Kieves", "Kieves"), ("Bread", "bread"), ("Oil-related", "oil-related")):
        said = tree((form, "NOUN", 2, "nsubj", True), ("fell", "VERB", 0, "root", True))
        said.insert(Node("that", "that", "SCONJ"), said.root, "mark", before=said.nodes[0])
        english.mend(said)
        assert said.text == f"That {mended} fell"


def _negations(*lemmas: str) -> int:
    return negations_of([Node(lemma, lemma, "PART") for lemma in lemmas], "en")


def test_neither_and_nor_are_one_negation() -> None:
    assert _negations("neither", "nor") == 1
    assert _negations("not", "nor") == 2
    assert _negations("neither", "nor", "not") == 2
