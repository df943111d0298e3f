"""Sentences in Python lists: packed by the core as records are, and labelled alike."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia import _core
from marginalia.corpus import Sentence, pack
from marginalia.decode.inputs import record_of
from marginalia.decode.listed import Listed, batches_of
from marginalia.decode.tagged import Tagged
from marginalia.errors import DataError

WORDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=4)


def listed(sentences: Sequence[Any], *columns: str) -> list[Listed]:
    def record(sentence: Any, number: int) -> Sentence:
        return record_of(sentence, columns, False, number)

    return list(batches_of(list(sentences), columns, record, explicit=False, whole_documents=False))


def parts_of(table: _core.TokenTable) -> tuple[Any, ...]:
    arrays = (table.sentence_starts, table.lines, table.documents)
    columns = [table.column(c) for c in range(table.columns)]
    return table.text, columns, *[array.tolist() for array in arrays]


@given(st.lists(WORDS, min_size=1, max_size=5), st.booleans())
def test_lists_are_packed_as_their_records(sentences: list[list[str]], as_tuples: bool) -> None:
    given_ = [tuple(one) if as_tuples else one for one in sentences]
    [(batch, tokens)] = listed(given_, "word")
    records = [Sentence({"word": one}, document=number) for number, one in enumerate(sentences)]
    assert batch.sentences is None
    assert list(map(list, tokens)) == sentences
    assert parts_of(batch.block.table) == parts_of(pack(records).table)


@given(st.lists(WORDS, min_size=1, max_size=5))
def test_columns_are_packed_as_their_records(sentences: list[list[str]]) -> None:
    columns = [{"more": [1] * 7, "pos": one[::-1], "word": tuple(one)} for one in sentences]
    [(batch, tokens)] = listed(columns, "word", "pos")
    records = [
        Sentence({"word": list(one["word"]), "pos": list(one["pos"])}, document=number)
        for number, one in enumerate(columns)
    ]
    assert batch.sentences is None
    assert list(map(list, tokens)) == sentences
    assert parts_of(batch.block.table) == parts_of(pack(records, "word pos").table)


def test_what_is_no_list_of_strings_becomes_a_record() -> None:
    class Words(list[str]):
        pass

    for sentence in (
        Words("ab"),
        np.array(["a", "b"]),
        {"word": Words("ab")},
        Sentence({"word": ["a", "b"]}),
    ):
        [(batch, tokens)] = listed([["c"], sentence], "word")
        assert batch.sentences is not None
        assert batch.block.column("word") == ["c", "a", "b"]
        assert list(map(list, tokens)) == [["c"], ["a", "b"]]


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        ("text", "found a string, expected a list of tokens"),
        ([1], "found a token or label that is not a string"),
        (["\ud800"], "surrogates not allowed"),
        ([["a"]], "found attributes of tokens, but this model reads the columns word"),
        ({"word": ["a"], "more": "text"}, "found a string as a column"),
        ({"more": ["a"]}, "found columns more, but this model also needs word"),
    ],
)
def test_what_is_wrong_is_refused_as_in_records(sentence: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        listed([["fine"], sentence], "word")


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="found columns of different lengths"):
        listed([{"word": ["a"], "pos": []}], "word", "pos")


def test_many_sentences_are_cut_into_batches() -> None:
    sentences = [[str(number)] for number in range(1201)]
    parts = listed(sentences, "word")
    assert [part.batch.block.table.sentences for part in parts] == [500, 500, 201]
    assert [word for part in parts for word in part.batch.block.column("word")] == [w for (w,) in sentences]
    assert listed([], "word") == []


@given(st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=4))
def test_tuples_of_labels(sentences: list[list[int]]) -> None:
    ids = np.array([i for one in sentences for i in one], np.int32)
    starts = np.cumsum([0, *map(len, sentences)]).astype(np.uint32)
    names = ("x", "y", "z")
    assert _core.label_tuples(names, ids, starts) == [tuple(names[i] for i in one) for one in sentences]


@pytest.mark.parametrize(
    ("ids", "starts", "error"),
    [([0], [], ValueError), ([0], [0, 2], ValueError), ([0], [1, 0], ValueError), ([1], [0, 1], IndexError)],
)
def test_labels_that_do_not_fit(ids: list[int], starts: list[int], error: type[Exception]) -> None:
    with pytest.raises(error):
        _core.label_tuples(("x",), np.array(ids, np.int32), np.array(starts, np.uint32))
    with pytest.raises(IndexError):
        _core.pack_lists([], 0, 1, ("word",))


@pytest.fixture(scope="module")
def tagger(toys: Callable[..., Any]) -> mg.Tagger:
    return mg.train(toys(25), passes=2, encode="IOBES", learner="crf")


def test_results_are_like_those_made_with_all_fields(tagger: mg.Tagger) -> None:
    columns = {name: ["a", "b"] for name in tagger.feature_columns}
    found = tagger.tag(columns)
    same = Tagged(("a", "b"), found.labels, tagger.saved.scheme)
    assert found == same
    assert hash(found) == hash(same)
    assert repr(found) == repr(same)
    assert pickle.loads(pickle.dumps(found)) == same
    assert (found.score, found.abstained, found.exact, found.spans) == (None, (), True, same.spans)


@pytest.mark.parametrize("threads", [1, 2])
def test_lists_are_labelled_as_their_records(
    tagger: mg.Tagger, toys: Callable[..., Any], threads: int
) -> None:
    columns = [columns for columns, _ in toys(30, seed=3)]
    records = [Sentence(one, document=number) for number, one in enumerate(columns)]
    type_ = next(label[2:] for label in tagger.labels if label != "O")
    for options in (
        {},
        {"confidence": True},
        {"min_confidence": 0.9},
        {"constraints": [f"at least 1 {type_}", f"at most 1 {type_}", f"1={type_}"], "confidence": True},
    ):
        assert tagger.tag_all(columns, threads, **options) == tagger.tag_all(records, threads, **options)
