"""Declared features: files are read or refused with the place, and each feature's examples hold."""

from __future__ import annotations

import io
from functools import cache

import pytest

import marginalia as mg
from marginalia.assist.readability.declarations import Feature, read_features
from marginalia.assist.readability.features import SHIPPED, FeatureSet, feature_set
from marginalia.assist.trees import Tree
from marginalia.errors import DataError, SettingsError

SHIPPED_LANGUAGES = [name for name in ("en", "ja") if (SHIPPED / name / "readability.features").exists()]
SMALL = """\
# a comment
feature passive
  why Something is done to the subject.
  match V:verb(nsubj:pass|aux:pass)
  yes The house was built.
  no They built it.

feature as-well
  why As well as.
  words as well as, also
  yes Tom as well as Anna came.
  no Tom came.

family words
  measure words
  at-least 3 5
  why {n} words or more.
  yes 5 Anna has two small dogs.
  no 3 He sleeps.
"""


def trees(text: str, language: str = "en") -> list[Tree]:
    return [Tree.of(sentence, language) for sentence in pipeline(language).parse(text)]


@cache
def pipeline(language: str) -> mg.Pipeline:
    return mg.load(language)


@pytest.mark.parametrize("language", SHIPPED_LANGUAGES)
def test_every_example_of_every_feature_holds(language: str) -> None:
    declared = feature_set(language)
    examples = [one for feature in declared.features.values() for one in feature.examples]
    texts = list(dict.fromkeys(one.text for one in examples))
    parsed = pipeline(language).parse_all(texts)
    has = {
        text: frozenset().union(*(declared.of(Tree.of(sentence, language)) for sentence in document))
        for text, document in zip(texts, parsed, strict=True)
    }
    wrong = [one for one in examples if (one.feature in has[one.text]) != one.fires]
    assert wrong == []
    assert {one.feature for one in examples if one.fires}.issuperset(
        feature.name for feature in declared.features.values() if not feature.measure
    )


def test_english_has_several_hundred_features_with_sentences_for_teachers() -> None:
    declared = feature_set("en").features.values()
    assert len(declared) > 400
    assert len([one for one in declared if not one.measure]) > 200
    assert all(one.why.endswith((".", "?", "!", '"')) and "{" not in one.why for one in declared)


def test_features_of_a_small_file() -> None:
    declared = FeatureSet(read_features(io.StringIO(SMALL)))
    assert list(declared.features) == ["passive", "as-well", "words>=3", "words>=5"]
    assert declared.why("words>=5") == "5 words or more."
    (tree,) = trees("Tom as well as Anna was seen.")
    assert declared.of(tree) == {"passive", "as-well", "words>=3", "words>=5"}
    (tree,) = trees("He was seen.")
    assert declared.of(tree) == {"passive", "words>=3"}


def test_phrases_match_forms_and_lemmas_of_words_side_by_side() -> None:
    declared = FeatureSet([Feature("give-in", "", phrases=(("give", "in"),))])
    assert declared.of(trees("He gave in.")[0]) == {"give-in"}
    assert declared.of(trees("He gave it in.")[0]) == frozenset()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("feature passive", "feture passive", r"2:1: found 'feture', expected 'feature NAME' or"),
        ("feature passive", "feature Passive", r"2:9: found the name 'Passive'"),
        ("  why Something is done to the subject.\n", "", r"2: found no 'why' in feature passive"),
        ("  why Something is done", "  why {n} Something", r"3:7: found '\{'"),
        ("V:verb(", "V:verp(", r"4:11: found 'verp', expected a part of speech"),
        ("  match V:verb(nsubj:pass|aux:pass)\n", "", r"2: found neither 'match' nor 'words'"),
        ("  yes The house was built.\n", "", r"2: found no 'yes' or no 'no' in feature passive"),
        ("  words as", "  wrods as", r"10:3: found 'wrods' in a feature, expected one of why, match"),
        ("feature as-well", "feature passive", r"8: found 'passive' a second time"),
        ("  measure words", "  measure wirds", r"15:11: found the measure 'wirds', expected one of words,"),
        ("at-least 3 5", "at-least 3 x", r"16:12: found the threshold 'x'"),
        ("yes 5 Anna", "yes 4 Anna", r"18:7: found '4 Anna has two small dogs.', expected a threshold"),
        ("  measure words\n", "  measure words\n  measure nouns\n", r"16:3: found 'measure' a second time"),
        ("# a comment\n", "  why x\n", r"1: found an indented line"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_place(old: str, new: str, message: str) -> None:
    assert old in SMALL
    with pytest.raises(DataError, match=message):
        read_features(io.StringIO(SMALL.replace(old, new, 1)))


def test_other_languages_are_refused() -> None:
    with pytest.raises(SettingsError, match="found language 'de', expected one of en, ja"):
        feature_set("de")
