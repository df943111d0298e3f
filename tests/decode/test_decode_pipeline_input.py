"""Whatever a pipeline is given, raw bytes or CoNLL-U, it answers with trees or an error that says where."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.document import ParsedSentence
from marginalia.decode.pipeline import Pipeline

STORED = Path(__file__).parents[1] / "model" / "stored"
VALID = (
    "\ufeff# newdoc id = a\r\n# text = 1cupNew York\r\n1-2\t1cup\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
    "1\t1\t1\tX\tY\tA=1|B=2\t2\tdep\t2:dep\t_\r\n2\tcup\tcup\tX\tY\t_\t0\troot\t0:root\t_\r\n"
    "2.1\tx\t_\t_\t_\t_\t_\t_\t2:dep\t_\r\n3\tNew York\t_\t_\t_\t_\t_\t_\t_\tA|B=|=\r\n\r\n"
    "# sent_id = 2\n1\tO\u0301k\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
).encode()
SPICE = (
    b"\n",
    b"\r",
    b"\t",
    b"\0",
    b"\xff",
    b"#",
    b"-",
    b"9",
    b"_",
    b"1-2\tx\n",
    "\u2028\u00a0\u200d".encode(),
)


@cache
def pipeline() -> Pipeline:
    return Pipeline.load(STORED / "pipeline-supertags.mg")


def check_trees(sentences: list[ParsedSentence]) -> None:
    """Each has one root, and all words hang on it."""
    for sentence in sentences:
        root = sentence.root
        assert root is not None
        assert root.subtree == sentence.words
        assert all(word.deprel != "_" for word in sentence.words)


def located(error: mg.DataError) -> None:
    assert error.line is not None


@st.composite
def damaged_conllu(draw: st.DrawFn) -> bytes:
    data = VALID
    for _ in range(draw(st.integers(0, 4))):
        a, b = sorted(draw(st.tuples(*[st.integers(0, len(data))] * 2)))
        middle = draw(st.sampled_from((b"", data[a:b] * 2, *SPICE)))
        data = data[:a] + middle + data[draw(st.sampled_from((a, min(a + 1, len(data)), b))) :]
    return data


@settings(max_examples=150)
@given(damaged_conllu())
def test_damaged_conllu_is_an_error_with_a_place_or_trees(data: bytes) -> None:
    try:
        sentences = list(pipeline().annotate(mg.iterate_conllu(io.BytesIO(data), strict=False)))
    except mg.DataError as error:
        located(error)
        return
    written = "".join(sentence.to_conllu() for sentence in sentences)
    check_trees(sentences)
    again = list(mg.iterate_conllu(io.BytesIO(written.encode()), strict=False))
    assert [[w.form for w in s] for s in again] == [[w.form for w in s] for s in sentences]
    assert [len(s.empty) for s in again] == [len(s.empty) for s in sentences]


@settings(max_examples=150)
@given(
    st.lists(st.one_of(st.binary(max_size=8), st.text(max_size=8).map(str.encode), st.sampled_from(SPICE)))
)
def test_raw_bytes_are_an_error_with_a_place_or_trees(parts: list[bytes]) -> None:
    data = b"".join(parts)
    try:
        documents = list(pipeline().parse_parts(io.BytesIO(data), part=16))
    except mg.DataError as error:
        located(error)
        return
    check_trees([sentence for document in documents for sentence in document.sentences])
    text = "".join(document.text for document in documents)
    written = mg.read_conllu(io.BytesIO("".join(d.to_conllu() for d in documents).encode()))
    assert "".join("".join(s.form.split()) for d in written for s in d.tokens) == "".join(text.split())


def test_what_is_given_besides_words_is_kept() -> None:
    (first, second) = pipeline().annotate(mg.iterate_conllu(io.BytesIO(VALID), strict=False))
    assert [node.deps for node in first.empty] == ["2:dep"]
    assert [word.deps for word in first.words] == ["2:dep", "0:root", "_"]
    assert first.words[2].misc == "A|B=|="
    assert first.multiword[0].form == "1cup"
    assert first.comments == ["# newdoc id = a", "# text = 1cupNew York"]
    assert second.sent_id == "2"


@pytest.mark.parametrize(
    ("line", "column", "text"),
    [
        (2, 1, "# a\nx\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
        (1, None, "1\tx\t_\n\n"),
        (2, 1, "1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"),
    ],
)
def test_errors_of_conllu_say_where(line: int, column: int | None, text: str) -> None:
    with pytest.raises(mg.DataError) as caught:
        list(pipeline().annotate(mg.iterate_conllu(io.BytesIO(text.encode()), strict=False)))
    assert caught.value.line == line
    if column is not None:
        assert caught.value.column == column


TEXTS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(("\n\n", "\r\n\r\n", " \n \n", ".", " ", "doesn't ", "e\u0301", "The dog ", "\u202e")),
    max_size=12,
).map("".join)


@settings(max_examples=100)
@given(TEXTS, st.integers(1, 20))
def test_text_and_places_come_back_from_what_is_written(text: str, part: int) -> None:
    """The text of raw bytes, parsed in parts, can be made again from CoNLL-U; each range is of its token."""
    text = text.removeprefix("\ufeff")
    found = list(pipeline().parse_parts(io.BytesIO(text.encode()), part=part))
    assert "".join(document.text for document in found) == text
    written = []
    for document in found:
        document.mark_spaces(ranges=True, start=document.start)
        written.append(document.to_conllu())
    again = mg.read_conllu(io.BytesIO("".join(written).encode()))
    assert again.text == text or not text.strip()
    for token in (token for sentence in again for token in sentence.tokens):
        assert token.misc_value("TokenRange") == f"{token.start}:{token.end}"
        assert token.form.split() == text[token.start : token.end].split()
