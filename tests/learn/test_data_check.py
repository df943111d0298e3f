"""`check`: what a data set is like is what a plain count says; mistakes that were put in are found."""

from __future__ import annotations

import io
from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from marginalia import learn
from marginalia.corpus.conll import read_conll
from marginalia.corpus.source import DataSource
from marginalia.learn.cross_validation import FoldScores, cross_validate
from marginalia.learn.data_check import check_data, suspects

PHRASES = (("the", "DET", "B-NP"), ("cat", "NOUN", "I-NP"), ("sleeps", "VERB", "B-VP"), (".", "PUNCT", "O"))
WORDS = st.sampled_from(("a", "b", "c"))
SENTENCE = st.lists(st.tuples(WORDS, st.sampled_from(("B-X", "I-X", "O"))), min_size=1, max_size=6)


def source(sentences: list[list[tuple[str, ...]]], columns: str = "word label") -> DataSource:
    text = "".join("\n".join(map(" ".join, one)) + "\n\n" for one in sentences)
    return DataSource(list(read_conll(io.StringIO(text), columns)), columns)


@given(st.lists(SENTENCE, min_size=1, max_size=8), st.lists(SENTENCE, min_size=1, max_size=4))
def test_counts_are_those_of_a_plain_count(first: list, second: list) -> None:
    found = check_data([("one", source(first)), ("two", source(second))])
    known = {word for sentence in first for word, _ in sentence}
    words = [[tuple(word for word, _ in sentence) for sentence in part] for part in (first, second)]
    assert [file.sentences for file in found.files] == [len(first), len(second)]
    assert [file.repeated for file in found.files] == [len(part) - len(set(part)) for part in words]
    assert found.files[1].shared == sum(one in set(words[0]) for one in words[1])
    assert found.files[1].unseen == sum(word not in known for one in second for word, _ in one)
    assert found.files[0].lengths[0] == min(map(len, first))
    assert found.files[0].lengths[3] == max(map(len, first))
    assert Counter(found.labels) == Counter(label for one in first + second for _, label in one)


@given(st.lists(SENTENCE, min_size=1, max_size=10))
def test_contradictions_are_all_contexts_with_several_labels(sentences: list) -> None:
    naive: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        words = ["", "", *(word for word, _ in sentence), "", ""]
        for t, (_, label) in enumerate(sentence):
            naive[tuple(words[t : t + 5])][label] += 1
    expected = {context: dict(counts) for context, counts in naive.items() if len(counts) > 1}
    found = check_data([("one", source(sentences))]).contradictions
    assert {one.context: one.labels for one in found} == expected


def test_illegal_labels_are_named_with_their_place() -> None:
    found = check_data([("one", source([[("a", "B-X"), ("b", "I-X")]] * 9 + [[("c", "O"), ("d", "I-X")]]))])
    assert found.scheme == "IOB2"
    assert [(one.place.token, one.label) for one in found.illegal] == [(2, "I-X")]
    assert found.rare == {"O": 1}


def test_a_wrong_label_is_the_first_suspect() -> None:
    sentences = [list(PHRASES) for _ in range(40)]
    sentences[17] = [*PHRASES[:2], ("sleeps", "VERB", "O"), PHRASES[3]]
    data = source(sentences, "word pos chunk")
    recipe = learn.recipe_with(None, "chunking", settings={"passes": 4})
    first = suspects([("one", data)], recipe, 4)[0]
    assert first.tokens == ((3, "sleeps", "O", "B-VP"),)
    assert first.place.token == 3
    assert first.difference > 0


def test_folds_are_scored_by_models_that_have_not_seen_them() -> None:
    own = [("there", "ADV", "B-ADVP"), PHRASES[3]]
    data = source([*([list(PHRASES)] * 8), *([own] * 16)], "word pos chunk")  # 32 tokens of each
    folds = list(cross_validate(data, learn.recipe_with(None, "chunking", settings={"passes": 3}), 2))
    assert [fold.block.table.sentences for fold in folds] == [8, 16]
    assert ["B-NP" in fold.model.labels for fold in folds] == [False, True]
    assert ["B-ADVP" in fold.model.labels for fold in folds] == [True, False]
    assert FoldScores.of(folds).values("f1") == [fold.report.score for fold in folds]
