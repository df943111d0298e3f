"""What words stand with: counts of complements and nouns, and the checks that ask them."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.assist.checks.check import Transfer, run
from marginalia.assist.checks.complements import CHECKS, opposites, preference
from marginalia.assist.trees import Node, Tree
from marginalia.assist.words.contexts import contexts
from marginalia.assist.words.packed import write_packed
from marginalia.assist.words.valency import Valency, complements, counted, read_valency, valency
from marginalia.errors import DataError


@cache
def _parsed(text: str) -> Tree:
    pipeline: Any = mg.load("en")
    return Tree.of(pipeline.parse(text).sentences[0], "en")


def tree_of(text: str) -> Tree:
    return _parsed(text).copy()


def word(tree: Tree, form: str) -> Node:
    return next(node for node in tree.nodes if node.form == form)


def replaced(text: str, old: str, form: str, lemma: str) -> dict[str, str]:
    """What checks find if a word is replaced by another."""
    before = tree_of(text)
    after = before.copy()
    word(after, old).lemma = lemma
    word(after, old).form = form
    results = run(CHECKS, Transfer(before, [after]))
    return {result.name: result.action for result in results if result.action != "passed"}


@pytest.mark.parametrize(
    ("text", "verb", "kinds"),
    [
        ("She relies on him.", "relies", {"on+", "none"}),
        ("The man was seen by her.", "seen", {"obj", "by+"}),
        ("He gave her a book.", "gave", {"obj", "iobj"}),
        ("She wants to go.", "wants", {"to"}),
        ("He said that it rained.", "said", {"ccomp"}),
        ("They gave up the fight.", "gave", {"obj", "up!"}),
    ],
)
def test_complements_are_those_of_the_active_voice(text: str, verb: str, kinds: set[str]) -> None:
    assert set(complements(word(tree_of(text), verb))) == kinds


def test_counts_are_of_trees_and_survive_a_file(tmp_path: Path) -> None:
    found = counted(map(tree_of, ["The dog ate the meat.", "The meat was eaten.", "She eats."]))
    assert found.uses == Counter({"eat": 3})
    assert found.kinds["eat"] == Counter({"obj": 2, "none": 1})
    assert found.objects["eat"] == Counter({"meat": 2})
    assert found.subjects["eat"] == Counter({"dog": 1})
    path = str(tmp_path / "my.counts")
    found.write(path)
    again = read_valency(path)
    assert list(again.lines()) == list(found.lines())
    again.update(found)
    assert again.uses["eat"] == 6
    assert again.objects["eat"]["meat"] == 4
    write_packed(path, "valency", ["eat\t3\tobj:two\t\t"])
    with pytest.raises(DataError, match="no count behind a name"):
        read_valency(path)
    write_packed(path, "valency", ["eat\t3"])
    with pytest.raises(DataError, match="found 2 fields, expected 5"):
        read_valency(path)


def test_wordnet_answers_for_verbs_that_were_not_seen() -> None:
    empty = Valency()
    assert empty.allows("devour", "obj") is True
    assert empty.allows("arrive", "obj") is False
    assert empty.allows("devour", "on+") is None
    assert empty.allows("qwxz", "obj") is None
    assert valency().allows("depend", "on+") is True


def test_a_verb_stands_with_what_it_can() -> None:
    assert replaced("He reached the town.", "reached", "arrived", "arrive")["valency"] == "vetoed"
    assert "valency" not in replaced("He purchased the house.", "purchased", "bought", "buy")
    found = replaced("It depends on the weather.", "depends", "needs", "need")
    assert found["valency"] == "lowered"


def test_a_word_is_not_replaced_by_its_opposite() -> None:
    assert replaced("It is a hot day.", "hot", "cold", "cold") == {"near-synonyms": "vetoed"}
    assert "easy" in opposites("difficult", "a")
    assert "near-synonyms" not in replaced("It is a large house.", "large", "big", "big")


def test_an_opposite_may_take_the_place_of_a_negation() -> None:
    before = _parsed("It is not impossible.")
    after = before.copy()
    word = next(node for node in after if node.form == "impossible")
    word.form = word.lemma = "possible"
    assert "vetoed" in [result.action for result in run(CHECKS, Transfer(before, [after]))]
    after.delete(next(node for node in after if node.form == "not"))
    assert "vetoed" not in [result.action for result in run(CHECKS, Transfer(before, [after]))]


def test_expressions_are_not_parted() -> None:
    found = replaced("She works for the prime minister.", "prime", "first", "first")
    assert found == {"near-synonyms": "lowered"}


def test_the_preference_of_a_verb_is_a_difference_of_mean_likeness() -> None:
    seen = Counter({"car": 3, "idea": 1})
    vehicle, car, idea = (contexts().vector(noun) for noun in ("vehicle", "car", "idea"))
    assert vehicle is not None
    assert car is not None
    assert idea is not None
    other = preference("vehicle", Counter({"idea": 1}), "object")
    found = preference("vehicle", seen, "object")
    assert found is not None
    assert other is not None
    expected = 0.75 * float(vehicle @ car) + 0.25 * float(vehicle @ idea) - float(vehicle @ idea)
    assert found - other == pytest.approx(expected, abs=1e-5)
    assert preference("qwxz", seen, "object") is None
    assert preference("vehicle", Counter(), "subject") is None


def test_an_object_is_like_those_of_its_verb() -> None:
    assert "co-occurrence" not in replaced("They like apples.", "like", "eat", "eat")
    assert replaced("They like decisions.", "like", "eat", "eat").get("co-occurrence") == "lowered"


def test_what_was_not_changed_passes() -> None:
    before = tree_of("The committee arrived the town and depended at the idea.")
    assert {result.action for result in run(CHECKS, Transfer(before, [before.copy()]))} == {"passed"}
