"""Lexical offers: candidates, features, ranking, conditions; and that lexical rules compose with others."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.assist.lexical import LexicalRules, Ranker, candidates, lexical_offers, read_ranker
from marginalia.assist.lexical.candidates import KINDS, adverb_of
from marginalia.assist.lexical.evidence import Token, choices
from marginalia.assist.lexical.readings import Reading, form_of_candidate, readings
from marginalia.assist.paraphrase import load
from marginalia.assist.profile import Profile
from marginalia.assist.trees import Tree
from marginalia.assist.words import is_offensive, wordnet
from marginalia.assist.words.contexts import Contexts, contexts
from marginalia.assist.words.packed import write_packed
from marginalia.errors import DataError, SettingsError


@cache
def tree_of(text: str) -> Tree:
    pipeline: Any = mg.load("en")
    return Tree.of(pipeline.parse(text).sentences[0], "en")


def offered(text: str, profile: Profile | None = None) -> dict[str, str]:
    """The first offer for each word."""
    found: dict[str, str] = {}
    for offer in lexical_offers(tree_of(text), profile):
        found.setdefault(offer.word, offer.replacement)
    return found


def test_candidates_come_through_senses_of_the_word() -> None:
    by_lemma = {each.lemma: each for each in candidates("automobile", "n")}
    assert by_lemma["car"].best.kind == "synonym"
    assert "automobile" not in by_lemma
    assert {link.kind for each in by_lemma.values() for link in each.links} <= set(KINDS)
    assert {each.lemma for each in candidates("commence", "v") if each.best.kind == "synonym"} >= {
        "start",
        "begin",
    }
    assert candidates("no such word", "n") == ()


def test_narrower_synsets_are_those_of_which_a_synset_is_a_hypernym() -> None:
    words = wordnet()
    number = words.senses("vehicle", "n")[0].synset.number
    expected = [each for each in range(len(words)) if number in words.synset(each).hypernyms]
    assert list(words.narrower(number)) == expected


@pytest.mark.parametrize(
    ("adjective", "adverb"),
    [("slow", "slowly"), ("happy", "happily"), ("gentle", "gently"), ("basic", "basically")],
)
def test_adverbs_of_adjectives(adjective: str, adverb: str) -> None:
    assert adverb_of(adjective) == adverb
    assert adverb_of("qwx") is None


def test_readings_mend_what_tagger_and_lemmatiser_say() -> None:
    assert readings("monitoring", "monitore", "VERB", "VBG")[0] == Reading("monitor", "v", "VBG")
    assert readings("criteria", "criteria", "NOUN", "NNS")[0].lemma == "criterion"
    assert readings("xqzt", "xqzt", "NOUN", "NN") == ()
    assert form_of_candidate("carry out", "v", "VBD") == "carried out"
    assert form_of_candidate("police officer", "n", "NNS") == "police officers"


def test_contexts_of_a_small_list(tmp_path: Path) -> None:
    path = str(tmp_path / "small.words")
    write_packed(path, "contexts", ["100", "big\t10\tf38=\t1:4", "dog\t20\tfwA=\t"])
    known = Contexts(path)
    assert known.count("big") == 10
    assert known.count("cat") == 0
    expected = 10 * 20 / 100
    assert known.follows("big", "dog") == (math.log(4.5 / (expected + 0.5)), math.log1p(4))
    assert known.follows("dog", "big")[1] == 0
    assert known.follows("big", "cat") == (0.0, 0.0)
    left, right, both = known.vector("big"), known.vector("dog"), known.vector("big dog")
    assert left is not None
    assert right is not None
    assert both is not None
    assert float(left @ right) == pytest.approx(math.sqrt(0.5))
    assert float(both @ left) == pytest.approx(float(both @ right))
    assert known.vector("cat") is None
    write_packed(path, "contexts", ["many"])
    with pytest.raises(DataError, match="not laid out"):
        Contexts(path)


def test_words_of_like_use_have_like_vectors() -> None:
    known = contexts()

    def likeness(left: str, right: str) -> float:
        a, b = known.vector(left), known.vector(right)
        assert a is not None
        assert b is not None
        return float(a @ b)

    assert likeness("car", "vehicle") > likeness("car", "idea") > -1
    assert likeness("doctor", "hospital") > likeness("doctor", "grammar")


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.floats(-3, 3)), min_size=1, max_size=6))
def test_ranks_are_those_of_the_sums(features: list[dict[str, float]]) -> None:
    weights = {"a": 1.5, "b": -2.0}
    tokens = [Token("commence", "commence", "VERB", "VB")]
    listed = choices(tokens, 0)[: len(features)]
    for choice, own in zip(listed, features, strict=False):
        choice.features.clear()
        choice.features.update(own)
    ranked = Ranker(weights).ranked(listed)
    sums = {c.form: sum(weights.get(k, 0) * v for k, v in c.features.items()) for c in listed}
    assert [one.score for one in ranked] == [sums[one.choice.form] for one in ranked]
    assert all(left.score >= right.score for left, right in pairwise(ranked))
    assert sum(one.probability for one in ranked) == pytest.approx(1.0)


def test_a_ranker_is_what_a_model_exports(tmp_path: Path) -> None:
    items: Any = [
        {"candidates": [{"features": {"good": 1.0}, "right": True}, {"features": {"bad": 2.0}}]}
    ] * 3
    model: Any = mg.train(items, structure="candidates", learner="crf")
    path = str(tmp_path / "ranker.weights")
    model.export_weights(path)
    ranker = read_ranker(path)
    scores = {one.number: one.score for one in model.rerank(items[0])}
    assert ranker.score({"good": 1.0}) == pytest.approx(scores[1], abs=1e-6)
    assert ranker.score({"bad": 2.0, "unknown": 9.0}) == pytest.approx(scores[2], abs=1e-6)
    Path(path).write_text("kind\tfeature\tlabels\tweight\nfeature\tgood\tbest\tmuch\n")
    with pytest.raises(DataError, match="found 'much', expected a weight"):
        read_ranker(path)


def test_offers_are_simpler_words_in_the_right_form() -> None:
    found = offered("The committee will commence an investigation of numerous automobiles.")
    assert found["commence"] == "start"
    assert found["automobiles"] == "cars"
    assert offered("The man slept in the old house.") == {}
    (offer, *_) = lexical_offers(tree_of("He purchased an automobile."))
    assert offer.text == "He purchased a car."
    assert (offer.word, offer.start, offer.end) == ("automobile", 16, 26)
    assert "WordNet's first sense, more frequent (5.5 against 3.9)" in offer.reason
    assert 0 < offer.score <= 1


def test_offers_follow_the_reader() -> None:
    text = "They will commence at noon."
    assert offered(text) == {"commence": "start"}
    assert offered(text, Profile(known=("commence",))) == {}
    assert offered(text, Profile(protected=("Commence",))) == {}


def test_expressions_and_names_stay() -> None:
    assert "Commerce" not in offered("The Chamber of Commerce will meet.")
    assert "substantial" not in {
        k: v for k, v in offered("It was a substantial increase.").items() if v == "much"
    }


@pytest.mark.parametrize(
    ("text", "word", "wrong"),
    [
        ("The new policy was implemented last year.", "implemented", {"started"}),
        ("The results depend on the weather.", "depend", {"are", "be"}),
        ("They could not prove that the claim was true.", "prove", {"be"}),
        ("The prime suspect was arrested.", "prime", {"first"}),
        ("Each traveler must show a passport.", "traveler", {"person"}),
        ("The sheriff sent two posses after the robbers.", "posses", {"police"}),
        ("She posses many skills.", "posses", {"police"}),
        ("What a load of crap.", "crap", {"shit"}),
        ("The urine sample was examined.", "urine", {"water", "piss", "pee"}),
    ],
)
@pytest.mark.parametrize("level", ["beginner", "intermediate", "advanced"])
def test_words_that_say_something_else_are_not_offered(
    text: str, word: str, wrong: set[str], level: str
) -> None:
    found = {
        one.replacement for one in lexical_offers(tree_of(text), Profile(level=level)) if one.word == word
    }
    assert found.isdisjoint(wrong)


@pytest.mark.parametrize(
    ("text", "word", "right"),
    [
        ("The company utilizes new machines.", "utilizes", {"uses"}),
        ("We must ascertain the cause.", "ascertain", {"find out", "discover"}),
        ("The ministry promulgated the new law.", "promulgated", {"published"}),
        ("He resides in a dwelling.", "resides", {"lives"}),
    ],
)
def test_words_that_say_the_same_are_offered(text: str, word: str, right: set[str]) -> None:
    assert offered(text)[word] in right


def test_no_vulgar_or_insulting_word_is_a_candidate() -> None:
    wrong = ("shit", "fuck", "whitey", "asshole", "piece of ass", "bitch", "retard", "faggot")
    assert all(map(is_offensive, wrong))
    assert not any(map(is_offensive, ("tool", "corporation", "dirt", "broad", "queen", "nonsense", "donkey")))
    for lemma, pos in (
        ("crap", "n"),
        ("excrement", "n"),
        ("donkey", "n"),
        ("prostitute", "n"),
        ("copulate", "v"),
    ):
        assert not any(is_offensive(each.lemma) for each in candidates(lemma, pos))


def test_lexical_rules_compose_with_others() -> None:
    rules = load("en")
    rules.more = LexicalRules(Profile())
    found = rules.paraphrases(tree_of("The work was commenced by the committee."))
    by_text = {one.text: one for one in found}
    both = by_text["The committee started the work."]
    assert [step.family for step in both.steps].count("plainer-word") == 1
    assert len(both.steps) == 2
    assert "word:commence/start" in {step.rule for step in both.steps}


def test_a_ranker_may_know_when_to_keep_a_word() -> None:
    listed = choices([Token("commence", "commence", "VERB", "VB")], 0)[:2]
    for choice in listed:
        choice.features.clear()
        choice.features["a"] = 1.0
    without, with_it = Ranker({"a": 1.0}).ranked(listed), Ranker({"a": 1.0, "keep": 1.0}).ranked(listed)
    assert [one.probability for one in without] == pytest.approx([1 / 2, 1 / 2])
    assert [one.probability for one in with_it] == pytest.approx([1 / 3, 1 / 3])


def test_less_sure_rules_offer_more() -> None:
    tree = tree_of("The committee will ascertain whether the inhabitants had considerable assistance.")

    def names(sure: float) -> list[str]:
        return [rule.name for rule, _ in LexicalRules(Profile(), sure=sure).matches(tree)]

    assert set(names(1.0)) < set(names(0.1))
    with pytest.raises(SettingsError, match=r"sure: found 2.0, expected 0 to 1"):
        LexicalRules(Profile(), sure=2.0)
