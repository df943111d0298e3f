"""Checks after transfer: what each finds, on trees whose changes are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.assist.checks import (
    Check,
    CheckResult,
    check,
    checks_of,
    is_vetoed,
    lowered,
    order,
    penalty_of,
    repaired,
    run,
    structure,
    vetoed,
    well_formed,
)
from marginalia.assist.checks.check import Transfer
from marginalia.assist.trees import Node, Tree
from marginalia.corpus.document import ParsedSentence
from marginalia.errors import SettingsError


@dataclass
class Changed:
    """A paraphrase as checks need it."""

    trees: list[Tree]


@cache
def _parsed(text: str, language: str = "en") -> Tree:
    return Tree.of(mg.load(language).parse(text).sentences[0], language)


def tree_of(text: str, language: str = "en") -> Tree:
    return _parsed(text, language).copy()


def word(tree: Tree, form: str) -> Node:
    return next(node for node in tree.nodes if node.form == form)


def findings(before: Tree, *after: Tree) -> dict[str, str]:
    """Actions by check, without those that passed."""
    results = check(before, Changed(list(after)))
    return {result.name: result.action for result in results if result.action != "passed"}


def test_an_unchanged_sentence_passes_all_checks() -> None:
    for text in (
        "I have seen him, and he is not ill.",
        "The 12 houses that Mary Smith owns were sold in May.",
    ):
        before = tree_of(text)
        results = check(before, Changed([before.copy()]))
        assert {result.action for result in results} == {"passed"}
        assert [result.name for result in results] == [each.name for each in checks_of("en")]
    before = tree_of("彼は学校に行かない。", "ja")
    assert {result.action for result in check(before, Changed([before.copy()]))} == {"passed"}


def test_numbers_names_and_negation_must_survive() -> None:
    before = tree_of("Mary Smith does not own 12 houses.")
    for form, name in (("12", "numbers"), ("Smith", "names"), ("not", "negation")):
        after = before.copy()
        after.delete(word(after, form))
        assert findings(before, after)[name] == "vetoed"
    after = before.copy()
    word(after, "12").form = "13"
    assert findings(before, after)["numbers"] == "vetoed"


def test_negations_may_go_in_pairs_or_into_another_word() -> None:
    before = tree_of("It is not unlikely that he comes.")
    after = tree_of("It is likely that he comes.")
    assert "negation" not in findings(before, after)
    assert findings(after, tree_of("It is unlikely that he comes."))["negation"] == "vetoed"
    before = tree_of("He did not speak until she left.")
    assert "negation" not in findings(before, tree_of("He spoke only after she left."))
    before = tree_of("私は水しか飲まない。", "ja")
    assert "negation" not in findings(before, tree_of("私が飲むのは水だけだ。", "ja"))
    assert (
        findings(tree_of("私は水を飲まない。", "ja"), tree_of("私は水を飲む。", "ja"))["negation"] == "vetoed"
    )


def test_hedges() -> None:
    before = tree_of("He may leave.")
    assert findings(before, tree_of("Perhaps he leaves.")) == {}
    assert findings(before, tree_of("He leaves.")) == {"hedges": "lowered"}


def test_agreement_articles_and_case_are_repaired() -> None:
    before = tree_of("The men were seen by him in a house.")
    after = before.copy()
    men = word(after, "men")
    men.form, men.lemma, men.feats = "guest", "guest", {"Number": "Sing"}
    after.insert(Node("old", "old", "ADJ"), word(after, "house"), "amod", before=word(after, "house"))
    him = word(after, "him")
    after.delete(word(after, "by"))
    after.depend(him, him.head or him, "obj")
    him.form = "he"
    assert findings(before, after) == {"agreement": "repaired", "surface": "repaired"}
    assert after.text == "The guest was seen him in an old house."


def test_the_author_s_own_agreement_is_left_alone() -> None:
    before = tree_of("The team were often late.")
    after = before.copy()
    after.delete(word(after, "often"))
    assert findings(before, after) == {}
    assert "were" in after.text


def test_agreement_is_left_alone_where_the_author_s_subject_was_misread() -> None:
    before = tree_of("The team were late.")
    after = before.copy()
    late = word(after, "late")
    late.form = late.lemma = "slow"
    assert "agreement" not in findings(before, after)
    assert after.text == "The team were slow."


def test_finite_verb_tense_and_complete_sentences() -> None:
    before = tree_of("The man who came early was tired.")
    after = tree_of("The man coming early tired.")
    assert findings(before, after)["finite verb"] == "vetoed"
    after = before.copy()
    came = word(after, "came")
    came.form, came.xpos = "comes", "VBZ"
    assert findings(before, after) == {"tense": "lowered"}
    after = before.copy()
    after.insert(Node("was", "be", "AUX", "VBD"), after.root, "cop", before=word(after, "was"))
    assert findings(before, after)["doubled word"] == "vetoed"


def test_results_end_with_a_veto_and_penalties_add_up() -> None:
    tree = tree_of("He may leave.")
    checks = (
        Check("a", "", lambda _: [repaired("r"), lowered(0.5, "l")]),
        Check("b", "", lambda _: []),
        Check("c", "", lambda _: [lowered(0.5, "l")]),
        Check("d", "", lambda _: [vetoed("v")]),
        Check("e", "", lambda _: pytest.fail("asked after a veto")),
    )
    results = run(checks, Transfer(tree, [tree]))
    assert [(each.name, each.action) for each in results] == [
        ("a", "repaired"), ("a", "lowered"), ("b", "passed"), ("c", "lowered"), ("d", "vetoed"),
    ]  # fmt: skip
    assert is_vetoed(results)
    assert penalty_of(results[:-1]) == pytest.approx(0.75)
    assert results[1].to_dict() == {"name": "a", "action": "lowered", "penalty": 0.5, "reason": "l"}
    with pytest.raises(SettingsError, match="found language 'xx', expected one of en, ja"):
        checks_of("xx")


@given(st.lists(st.floats(0, 1), max_size=6))
def test_penalties_are_between_nought_and_one_and_grow(penalties: list[float]) -> None:
    results = [CheckResult("x", "lowered", each) for each in penalties]
    totals = [penalty_of(results[:size]) for size in range(len(results) + 1)]
    assert all(0 <= total <= 1 for total in totals)
    assert totals == sorted(totals)


def test_a_clause_that_is_a_predicate_has_a_subject_and_a_tense_of_its_own() -> None:
    before = tree_of("The dogs barked because they were hungry.")
    after = tree_of("That is because they were hungry.")
    for node in after.nodes[2:]:
        node.origin = node.index + 1
    for node in after.nodes[:2]:
        node.origin = None
    results = {result.name: result.action for result in check(before, Changed([after]))}
    assert results["agreement"] == results["tense"] == "passed"


def test_a_verb_agrees_with_a_subject_that_has_another_conjunction_now() -> None:
    before = tree_of("Tom or Mary runs the shop.")
    after = before.copy()
    after.replace(word(after, "or"), Node("and", "and", "CCONJ"))
    assert findings(before, after) == {"agreement": "repaired"}
    assert after.text == "Tom and Mary run the shop."


def test_words_stay_in_their_quotes_and_brackets() -> None:
    before = tree_of('"We sell the house" is what the man (my uncle) said.')
    moved, alone = before.copy(), before.copy()
    moved.move(word(moved, "man"), before=word(moved, "house"))
    alone.delete(word(alone, ")"))
    for after, action in ((before.copy(), "passed"), (moved, "vetoed"), (alone, "vetoed")):
        assert run(structure.CHECKS[:1], Transfer(before, [after]))[0].action == action


def _ordered(text: str, form: str, before: str) -> str:
    """What the check of word order says when a word with all below it is put before another one."""
    source = tree_of(text)
    after = source.copy()
    after.move(word(after, form), before=word(after, before))
    return run(order.CHECKS, Transfer(source, [after]))[0].action


def test_small_words_stand_before_their_words_and_subjects_before_verbs() -> None:
    text = "Tom has seen the old house on the hill."
    assert _ordered(text, "old", "the") == "vetoed"
    assert _ordered(text, "has", "Tom") == "vetoed"
    assert _ordered(text, "house", "Tom") == "passed"
    assert _ordered("She sat in the chair.", "the", "in") == "vetoed"
    assert _ordered("Has he seen it?", "he", "Has") == "passed"


def test_what_stands_in_brackets_may_become_a_sentence() -> None:
    before = tree_of("The shop (it is old) sells books.")
    first, second = before.copy(), before.copy()
    for form in ("(", ")", "it", "is", "old"):
        first.delete(word(first, form), keep_daughters=True)
    assert run(structure.CHECKS[:1], Transfer(before, [first, tree_of("It is old.")]))[0].action == "passed"
    second.delete(word(second, "("))
    assert run(structure.CHECKS[:1], Transfer(before, [second]))[0].action == "vetoed"


def test_a_noun_keeps_what_describes_it() -> None:
    before = tree_of("The high interest rate rose.")
    after = before.copy()
    after.delete(word(after, "interest"))
    assert findings(before, after) == {"content": "lowered"}
    whole = tree_of("The price of oil rose in May.")
    part = whole.copy()
    part.delete(word(part, "oil"))
    assert findings(whole, part) == {"content": "lowered"}


def _sentences(texts: Sequence[str]) -> list[list[ParsedSentence]]:
    return [document.sentences for document in mg.load("en").parse_all(list(texts))]


def test_a_text_reads_as_it_was_meant() -> None:
    good, bad = tree_of("The dog chased the cat."), tree_of("The dog chased the cat.")
    bad.move(word(bad, "cat"), before=bad.nodes[0])
    two = [tree_of("They slept."), tree_of("We left.")]
    results = well_formed([Changed([good]), Changed([bad]), Changed(two)], _sentences)
    assert [result.action for result in results] == ["passed", "lowered", "passed"]
    assert results[0].name == "well-formedness"
    assert 0 < results[1].penalty < 1
    assert "subject" in results[1].reason


def test_a_reading_with_nothing_as_it_was_meant_is_forbidden() -> None:
    meant = tree_of("The dog chased the cat.")
    (result,) = well_formed([Changed([meant])], lambda texts: _sentences(["Tomorrow it rains."] * len(texts)))
    assert result.action == "vetoed"
