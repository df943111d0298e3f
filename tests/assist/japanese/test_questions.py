"""The questions to teachers of Japanese: the first sentence has the feature, its paraphrases have it not."""

from __future__ import annotations

import marginalia as mg
from marginalia.assist.readability.features import feature_set
from marginalia.assist.readability.questionnaire import shipped_questions
from marginalia.assist.trees import trees_of


def test_the_first_sentence_of_each_question_alone_has_its_feature() -> None:
    declared, questions = feature_set("ja"), shipped_questions("ja")
    documents = iter(mg.load("ja").parse_all([text for one in questions for text in one.sentences]))
    wrong = []
    for question in questions:
        parsed = [trees_of(next(documents).sentences, "ja") for _ in question.sentences]
        has = [any(question.feature in declared.of(tree) for tree in trees) for trees in parsed]
        if has != [True] + [False] * (len(has) - 1):
            wrong.append((question.id, question.feature, has))
    assert wrong == []
    assert len({question.feature for question in questions}) >= 50
    assert all(2 <= len(question.sentences) <= 4 for question in questions)


def test_there_are_features_of_japanese_with_examples() -> None:
    declared = feature_set("ja").features.values()
    assert len([one for one in declared if not one.measure]) >= 130
    assert len(declared) >= 250
