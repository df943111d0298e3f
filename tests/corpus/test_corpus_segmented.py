"""Segmented text: the native reader and writer beside plain twins of them."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import read_segmented, spans_of, write_segmented
from marginalia.corpus.answers import Answer, LabelWriter
from marginalia.corpus.batches import Layout, read_batches
from marginalia.errors import DataError


def test_segmented_words_become_labelled_characters() -> None:
    (sentence,) = read_segmented(io.StringIO("我  喜欢\t自然语 \n\n"))
    assert sentence.tokens == list("我喜欢自然语")
    assert sentence.columns["label"] == ["S", "B", "E", "B", "M", "E"]
    (tagged,) = read_segmented(io.StringIO("我/r 1/2/m"), "/")
    assert tagged.columns["label"] == ["S-r", "B-m", "M-m", "E-m"]


ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0\n")
WORD = st.text(ANY.filter(lambda sign: sign not in "\r\t \ufeff"), min_size=1, max_size=4)
TAG = st.from_regex(r"[a-zA-Z]{1,3}", fullmatch=True)


@given(st.lists(st.lists(st.tuples(WORD, TAG), min_size=1, max_size=5), max_size=4), st.booleans())
def test_segmented_lines_come_back(lines: list[list[tuple[str, str]]], tagged: bool) -> None:
    separator = "/" if tagged else None
    text = "".join("  ".join(f"{w}/{t}" if tagged else w for w, t in line) + "\n" for line in lines)
    target = io.BytesIO()
    source = io.BytesIO(text.encode())
    write_segmented(read_segmented(source, separator), target, blank="  ", tag_separator=separator)
    assert target.getvalue().decode() == text


def naive(text: str, blank_lines: bool) -> list[tuple[int, list[str]]]:
    """The words of all lines that have any, or of all lines, with their numbers."""
    lines = text.removeprefix("\ufeff").split("\n")
    words = [re.findall(r"[^ \t]+", line.rstrip("\r")) for line in (lines if lines[-1] else lines[:-1])]
    return [(number, found) for number, found in enumerate(words, 1) if found or blank_lines]


MIXED = st.text(st.one_of(ANY, st.sampled_from("我们1a \t\r\n\u3000")), max_size=60)


@given(MIXED, st.integers(1, 40), st.booleans())
def test_any_text_is_read_in_blocks_of_any_size(text: str, size: int, blank_lines: bool) -> None:
    lines = naive(text, blank_lines)
    layout, found = Layout("segmented", options={"blank_lines": blank_lines}), []
    for batch in read_batches(io.BytesIO(text.encode()), layout, block_bytes=size):
        found += list(batch.block.sentences())
    assert [(one.line, one.tokens) for one in found] == [(n, list("".join(words))) for n, words in lines]
    labels = [[mark for word in words for mark in spelled(len(word))] for _, words in lines]
    assert [one.columns["label"] for one in found] == labels
    assert [one.document for one in found] == [*range(len(found))]


def spelled(length: int) -> list[str]:
    return ["B", *"M" * (length - 2), "E"] if length > 1 else ["S"]


SPELLINGS = [
    ("BMES", ["B", "M", "E", "S"]),
    ("BMES", ["B-n", "E-n", "S-n", "E-v", "M-v"]),
    ("IOB2", ["B-n", "I-n", "O", "I-v"]),
    ("IOB2", ["B", "I", "O"]),
]


@given(st.data(), st.sampled_from(SPELLINGS))
def test_labels_are_written_as_words(data: st.DataObject, spelling: tuple[str, list[str]]) -> None:
    scheme, labels = spelling
    (batch,) = read_batches(io.StringIO("我们喜 欢\n音\n乐\n"), Layout("segmented"))
    ids = data.draw(st.lists(st.integers(0, len(labels) - 1), min_size=6, max_size=6))
    typed = any("-" in label for label in labels)
    target = io.BytesIO()
    writer = LabelWriter(
        target, Layout("segmented", options={"tag_separator": "/"} if typed else {}), labels, scheme
    )
    writer.write(batch, Answer(np.array(ids, np.int32)))
    lines = []
    for text, first, last in (("我们喜欢", 0, 4), ("音", 4, 5), ("乐", 5, 6)):
        spans = spans_of([labels[i] for i in ids[first:last]], scheme)
        covered = {t for span in spans for t in range(span.start, span.end)}
        words = [(start, text[start:end], type_) for start, end, type_ in spans]
        words += [(t, text[t], "O") for t in range(len(text)) if t not in covered]
        lines.append(" ".join(word + f"/{type_}" * typed for _, word, type_ in sorted(words)) + "\n")
    assert target.getvalue().decode() == "".join(lines)


@pytest.mark.parametrize(
    ("item", "expected"),
    [("b", "word/tag"), ("/n", "word/tag"), ("b/", "word/tag"), ("b/n-", "a tag that does not end in '-'")],
)
def test_words_without_tags_are_located(item: str, expected: str) -> None:
    with pytest.raises(DataError) as caught:
        list(read_segmented(io.StringIO(f"x/y\na/n  {item}\n"), "/"))
    assert str(caught.value) == f"<stream>:2:6: found {item!r}, expected {expected}"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"ok\n\xe6\x88\x91 \xe9\n", "2:3: found byte 0xE9, expected UTF-8 text"),
        (b"\xef\xbb\xbfa\0", "1:2: found a NUL byte, expected UTF-8 text"),
    ],
)
def test_what_is_no_text_is_located(raw: bytes, message: str) -> None:
    with pytest.raises(DataError, match=f"^<stream>:{message}$"):
        list(read_segmented(io.BytesIO(raw)))
