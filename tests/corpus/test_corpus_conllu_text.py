"""Treebanks as text to be cut: characters with the words as labels, and words written back."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import (
    Sentence,
    labels_of,
    read_conllu,
    read_conllu_text,
    read_segmented,
    write_conllu_text,
)
from marginalia.corpus.records import Span
from marginalia.errors import DataError, SettingsError


def row(*fields: str) -> str:
    return "\t".join([*fields, *["_"] * (10 - len(fields))]) + "\n"


WORDS = "# text = 我 爱 New  York。\n" + row("1", "我", "_", "PRON", "r") + row("2", "爱", "_", "VERB", "v")
WORDS += row("3", "New  York", "_", "PROPN", "ns") + row("4", "。", "_", "PUNCT", "w") + "\n"


def test_words_become_labelled_characters() -> None:
    """Blanks inside of words are no characters; offsets count them."""
    (plain,) = read_conllu_text(io.StringIO(WORDS))
    assert "".join(plain.tokens) == "我爱NewYork。"
    assert plain.columns["label"] == ["S", "S", "B", *"MMMMM", "E", "S"]
    assert plain.text == "我 爱 New  York。"
    assert plain.offsets is not None
    assert [plain.text[start:end] for start, end in plain.offsets] == plain.tokens
    (tagged,) = read_conllu_text(io.StringIO(WORDS), "xpos")
    assert tagged.columns["label"][:3] == ["S-r", "S-v", "B-ns"]


MULTIWORD = row("1-2", "的。") + row("1", "的", "_", "PART") + row("2", "。", "_", "PUNCT") + "\n"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (row("1", "我", "_", "PRON") + "\n", "xpos", "1: found no xpos of word 1, '我', expected a tag"),
        (MULTIWORD, "upos", "2: found the multiword token '的。', expected words that have one tag each"),
        (row("2", "我", "_", "X") + "\n", None, "1:1: found id '2', expected 1, 1-N or 0.1"),
    ],
    ids=["no tag", "several tags", "ids"],
)
def test_errors_have_a_place(text: str, column: str | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_conllu_text(io.StringIO(text), column))
    assert str(caught.value) == f"<stream>:{message}"


def test_only_columns_of_tags_have_tags() -> None:
    with pytest.raises(SettingsError, match="found tag_column='lemma', expected upos or xpos"):
        list(read_conllu_text(io.StringIO(WORDS), "lemma"))


def test_a_multiword_token_is_one_word() -> None:
    (sentence,) = read_conllu_text(io.StringIO(MULTIWORD))
    assert (sentence.text, sentence.columns["label"]) == ("的。", ["B", "E"])


SIGNS = st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\t\r 　中e\u0301👩\u200d")
LINES = st.lists(st.tuples(st.text(SIGNS, max_size=8), st.integers(0, 255)), max_size=3)


def test_an_ideographic_space_may_be_a_word() -> None:
    source, target = io.BytesIO("我 　 爱\n".encode()), io.BytesIO()
    write_conllu_text(read_segmented(source), target)
    (sentence,) = read_conllu_text(io.BytesIO(target.getvalue()))
    assert (sentence.tokens, sentence.columns["label"]) == (["我", "　", "爱"], ["S", "S", "S"])


def cut(text: str, cuts: int) -> Sentence:
    """Words of a text, which may have white space inside."""
    offsets = [(at, at + 1) for at, sign in enumerate(text) if not sign.isspace()]
    starts = [t for t in range(len(offsets)) if t == 0 or cuts >> t & 1]
    ends = [*starts[1:], len(offsets)][: len(starts)]
    spans = [Span(a, b, "X") for a, b in zip(starts, ends, strict=True)]
    columns = {"word": [text[a] for a, _ in offsets], "label": labels_of(spans, len(offsets), "BMES")}
    return Sentence(columns, text, offsets, spans=spans)


@given(LINES)
def test_words_of_any_text_come_back(lines: list[tuple[str, int]]) -> None:
    """Forms are what the text has at their offsets, but for breaks; reading the file again gives the same
    characters, words and tags."""
    sentences = [cut(*line) for line in lines]
    full, target = [sentence for sentence in sentences if len(sentence)], io.BytesIO()
    write_conllu_text(sentences, target)
    document = read_conllu(io.BytesIO(target.getvalue()))
    assert [parsed.text for parsed in document] == [(sentence.text or "").strip() for sentence in full]
    for parsed, sentence in zip(document, full, strict=True):
        tokens = [sentence.tokens[span.start : span.end] for span in sentence.spans]
        assert ["".join(word.form.split()) for word in parsed] == ["".join(some) for some in tokens]
        for word in parsed:
            surface = document.text[word.start : word.end]
            assert word.form == surface.replace("\t", " ").replace("\r", " ")
    again = list(read_conllu_text(io.BytesIO(target.getvalue()), "upos"))
    assert [(one.tokens, one.columns["label"]) for one in again] == [
        (one.tokens, one.columns["label"]) for one in full
    ]
