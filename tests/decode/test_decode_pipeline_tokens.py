"""Tokens of characters: all that is not white space is in exactly one token, whatever the labels are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from marginalia.decode.pipeline.multiword import split_by, split_scripts
from marginalia.decode.pipeline.placed_words import words_of_paragraphs
from marginalia.decode.pipeline.tokens import spans_of

LABELLED = st.lists(
    st.tuples(st.characters() | st.sampled_from(" \n\t"), st.sampled_from(b"SBIO")), max_size=40
)


@given(LABELLED)
def test_offsets_round_trip_on_any_text_and_labels(labelled: list[tuple[str, int]]) -> None:
    text = "".join(char for char, _ in labelled)
    labels = np.array([label for _, label in labelled], np.uint8)
    sentences = list(spans_of(text, labels))
    spans = [span for sentence in sentences for span in sentence]
    assert all(spans[i][1] <= spans[i + 1][0] for i in range(len(spans) - 1))
    assert (
        "".join(text[a:b] for a, b in spans if not text[a:b].isspace()).split()
        == "".join(text[a:b] for a, b in spans).split()
    )
    covered = {i for a, b in spans for i in range(a, b)}
    assert {i for i, char in enumerate(text) if not char.isspace()} <= covered
    assert all(not text[a].isspace() and not text[b - 1].isspace() for a, b in spans)
    assert all(sentences)


@given(LABELLED)
def test_words_know_their_place_in_the_text(labelled: list[tuple[str, int]]) -> None:
    text = "".join(char for char, _ in labelled)
    labels = np.array([label for _, label in labelled], np.uint8)
    [made] = words_of_paragraphs([("  " + text, 2)], [list(spans_of(text, labels))], None)
    whole = "  " + text
    for sentence in made:
        assert sentence.text == whole[sentence.start : sentence.end]
        for word in sentence.words:
            assert word.form.split() == whole[word.start : word.end].split()
            assert word.form
            assert "\n" not in word.form
            assert "\t" not in word.form


def test_labels_say_where_tokens_and_sentences_begin() -> None:
    text, labels = "Hi you. No 1 000", "SIOBIIBOSIOBIIII"
    found = list(spans_of(text, np.frombuffer(labels.encode(), np.uint8)))
    assert [[text[a:b] for a, b in sentence] for sentence in found] == [["Hi", "you", "."], ["No", "1 000"]]


WORDS = st.text(alphabet="abcdé'", min_size=1, max_size=8)


@given(WORDS, st.lists(WORDS, min_size=2, max_size=4))
def test_splits_make_the_words_they_were_made_for(form: str, words: list[str]) -> None:
    labels = split_scripts(form, words)
    assert labels
    assert all(split_by(form, label) == tuple(words) for label in labels)


def test_splits_may_be_shared_by_tokens_that_are_split_alike() -> None:
    shared = set(split_scripts("don't", ["do", "n't"])) & set(split_scripts("isn't", ["is", "n't"]))
    assert shared == {"k;0;3;0; =n't", "k;0;3;0; k;2;0;0;"}
    assert split_by("aren't", "k;0;3;0; =n't") == ("are", "n't")
    assert split_by("x", "-") is None
    assert all(split_by("a", label) is None for label in shared)
    assert split_scripts("ab", ["a b", "c"]) == []
