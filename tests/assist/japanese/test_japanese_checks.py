"""Checks of Japanese: what a transfer broke is repaired or forbidden, and nothing else."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

import marginalia as mg
from marginalia.assist import paraphrase
from marginalia.assist.checks import check
from marginalia.assist.checks.japanese import is_known_pair
from marginalia.assist.checks.kept import negations_of
from marginalia.assist.paraphrase.checking import check_examples
from marginalia.assist.paraphrase.engine import Paraphrase, text_of
from marginalia.assist.trees import Node, Tree, trees_of


@cache
def pipeline() -> mg.Pipeline:
    return mg.load("ja")


def tree_of(text: str) -> Tree:
    return trees_of(pipeline().parse(text).sentences, "ja")[0]


def found(before: Tree, after: Tree) -> set[tuple[str, str]]:
    results = check(before, Paraphrase((after,), ()))
    return {(one.name, one.action) for one in results if one.action != "passed"}


def word(tree: Tree, form: str) -> Node:
    return next(node for node in tree.nodes if node.form == form)


def test_a_form_before_a_new_neighbour_is_repaired() -> None:
    before = tree_of("彼は本を読む。")
    after = before.copy()
    verb = word(after, "読む")
    after.insert(Node("ない", "ない", "AUX", "助動詞", space_after=""), verb, "aux", after=verb)
    before.insert(
        Node("ない", "ない", "AUX", "助動詞", space_after=""), before.root, "aux", after=before.root
    )
    assert found(before, after) == {("forms", "repaired")}
    assert after.text == "彼は本を読まない。"


def test_particles_side_by_side_are_forbidden() -> None:
    before = tree_of("彼は本を読む。")
    after = before.copy()
    particle = word(after, "を")
    after.insert(
        Node("が", "が", "ADP", "助詞-格助詞", space_after=""), word(after, "本"), "case", after=particle
    )
    assert ("morphemes", "vetoed") in found(before, after)


def test_two_objects_are_forbidden() -> None:
    before = tree_of("彼は本を友達に渡した。")
    after = before.copy()
    friend = word(after, "友達")
    friend.relation, particle = "obj", word(after, "に")
    particle.form = particle.lemma = "を"
    assert ("particles", "vetoed") in found(before, after)


def test_a_plain_ending_of_a_polite_sentence_ranks_lower() -> None:
    assert ("style", "lowered") in found(tree_of("彼は本を読みます。"), tree_of("彼は本を読む。"))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("彼は来ない。", 1),
        ("彼は来るかもしれない。", 0),
        ("彼は来るかもしれません。", 0),
        ("彼は来るに違いない。", 0),
        ("雨にもかかわらず、行く。", 0),
        ("それは愛にほかならない。", 0),
        ("行かなければならない。", 2),
        ("考えの違いはない。", 1),
    ],
)
def test_negations_that_deny_nothing_do_not_count(text: str, number: int) -> None:
    assert negations_of(tree_of(text).nodes, "ja") == number


def test_a_lost_negation_is_forbidden() -> None:
    assert ("negation", "vetoed") in found(tree_of("彼は本を読まない。"), tree_of("彼は本を読む。"))


def test_morphemes_of_what_people_write_are_known() -> None:
    for text in ("彼は東京での仕事をやめたくなかったと言っていた。", "先生には会えなかったが、話は聞けた。"):
        pairs = pairwise([None, *tree_of(text).nodes, None])
        assert not any(is_known_pair(left, right) is False for left, right in pairs)


def test_what_the_examples_of_all_rules_give_passes() -> None:
    rules = paraphrase.load("ja", pipeline=lambda _: pipeline())
    wrong = []
    for result in check_examples(rules, pipeline()):
        for place, tree in enumerate(result.trees):
            for _, _, made in rules.once(tree, result.family) if result.example.after else ():
                whole = text_of([*result.trees[:place], *made.trees, *result.trees[place + 1 :]])
                actions = {one.action for one in check(tree, Paraphrase(tuple(made.trees), ()))}
                if whole == result.example.after and actions != {"passed"}:
                    wrong.append((whole, actions))
    assert wrong == []
