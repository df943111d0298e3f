"""Raw text by paragraphs: nothing of it is lost, whatever it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.raw_text import check_text, cut_text, paragraph_spans, read_text

TEXTS = st.text(alphabet=st.sampled_from("ab.\n\t \r\u3000あ\x85"), max_size=80)


def plain_paragraphs(text: str) -> list[str]:
    """The same, line by line."""
    found, lines = [], []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            lines.append(line)
        elif lines:
            found.append("\n".join(lines).strip())
            lines = []
    return found


@given(TEXTS)
def test_paragraphs_are_between_empty_lines(text: str) -> None:
    assert [text[first:last] for first, last in paragraph_spans(text)] == plain_paragraphs(text)


@given(TEXTS, st.integers(1, 30))
def test_parts_of_a_text_are_the_text_and_cut_no_paragraph(text: str, size: int) -> None:
    parts = list(cut_text([text], size))
    assert "".join(parts) == text
    assert [p for part in parts for p in plain_paragraphs(part)] == plain_paragraphs(text)
    read = list(read_text(io.BytesIO(text.encode()), size))
    assert "".join(read) == text


def test_a_paragraph_without_end_is_cut_at_white_space() -> None:
    text = "word " * 200_000
    parts = list(cut_text([text]))
    assert len(parts) > 2
    assert "".join(parts) == text
    assert all(part.endswith(" ") for part in parts[:-1])
    assert "".join(cut_text(["x" * 600_000])) == "x" * 600_000


def test_a_byte_order_mark_is_no_text() -> None:
    assert list(read_text(io.BytesIO("\ufeffword".encode()))) == ["word"]


@pytest.mark.parametrize(
    ("data", "message"),
    [(b"one\ntwo \xff", "<stream>:2: found byte 0xFF"), (b"one\n\0", "<stream>:2: found a NUL byte")],
)
def test_bytes_that_are_no_text_are_errors_with_their_line(data: bytes, message: str) -> None:
    with pytest.raises(mg.DataError, match=message.replace(".", r"\.")):
        list(read_text(io.BytesIO(data)))


@pytest.mark.parametrize(("text", "message"), [("a\nb\0", "NUL"), ("\ud800", "surrogate")])
def test_texts_that_cannot_be_written_are_errors(text: str, message: str) -> None:
    with pytest.raises(mg.DataError, match=message):
        check_text(text)
