"""The native token table: parsing, rendering, packing, and its columns as arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia._core import TokenTable, from_columns, parse_columns

# Everything but what separates fields and lines; NUL and halves of surrogate pairs are no text.
FIELD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t "), min_size=1, max_size=6
).filter(lambda field: not field.startswith(("#", "\ufeff")) and field != "-DOCSTART-")
BLANK_LINES = st.sampled_from(["", " ", "\t", " \t "])
LABEL = "Q"


@st.composite
def column_files(draw: st.DrawFn) -> tuple[str, list[list[list[str]]], str]:
    """A file as text, its sentences, and the same file with LABEL as a further field."""
    columns, newline = draw(st.integers(1, 4)), draw(st.sampled_from(["\n", "\r\n"]))
    lines: list[tuple[str, str]] = []
    sentences = draw(
        st.lists(st.lists(st.lists(FIELD, min_size=columns, max_size=columns), min_size=1), max_size=5)
    )
    for rows in sentences:
        if draw(st.booleans()):
            mark = draw(st.sampled_from(["-DOCSTART-", "-DOCSTART- -X-", " -DOCSTART-  (12)"]))
            lines.append((mark, f"{mark}\t_"))
        comments = draw(st.lists(st.sampled_from(["# a = b c d e", "#!! x y z u v w"]), max_size=2))
        lines += [(comment, comment) for comment in comments]
        for row in rows:
            gap, indent, rest = draw(st.tuples(*[st.sampled_from(["\t", " ", "  \t"])] + [BLANK_LINES] * 2))
            body = indent + gap.join(row)
            lines.append((body + rest, f"{body}\t{LABEL}{rest}"))
        lines += [(blank, blank) for blank in draw(st.lists(BLANK_LINES, min_size=1, max_size=2))]
    mark, last = draw(st.sampled_from(["", "\ufeff"])), draw(st.sampled_from(["", newline]))
    plain, labelled = (
        (mark + newline.join(texts) + last for texts in zip(*lines, strict=True)) if lines else ("", "")
    )
    return plain, sentences, labelled


def rows_of(table: TokenTable) -> list[list[list[str]]]:
    columns = [table.column(c) for c in range(table.columns)]
    starts = table.sentence_starts.tolist()
    rows = [list(row) for row in zip(*columns, strict=True)]
    return [rows[a:b] for a, b in pairwise(starts)]


@given(column_files())
def test_parse_finds_all_fields_and_render_keeps_all_bytes(
    case: tuple[str, list[list[list[str]]], str],
) -> None:
    text, sentences, labelled = case
    table = parse_columns(text.encode(), columns=len(sentences[0][0]) if sentences else 0)
    assert rows_of(table) == sentences
    rendered = table.render([LABEL], np.zeros(table.tokens, np.int32), "\t")
    assert rendered.decode() == labelled


@given(column_files())
def test_columns_are_guessed_from_the_first_token_line(case: tuple[str, list[list[list[str]]], str]) -> None:
    text, sentences, _ = case
    assert rows_of(parse_columns(text.encode())) == sentences


def test_lines_documents_and_comments() -> None:
    table = parse_columns(
        b"\xef\xbb\xbf-DOCSTART- x\r\n\r\n# c 1 2\r\na b\r\nc d\r\n-DOCSTART-\r\ne f", first_line=1
    )
    assert table.lines.tolist() == [4, 5, 7]
    assert table.documents.tolist() == [1, 2]
    assert table.marks == 2
    assert table.comments == [(0, "# c 1 2")]
    assert table.place(0, 1) == (4, 3)


def test_place_counts_characters_and_not_the_byte_order_mark() -> None:
    table = parse_columns("\ufeff日本 x\n\n日本  y".encode())
    assert (table.place(0, 1), table.place(1, 1)) == ((1, 4), (3, 5))


def test_documents_of_a_later_block_continue() -> None:
    table = parse_columns(b"a\n-DOCSTART-\nb\n", first_line=8, first_document=3)
    assert (table.documents.tolist(), table.lines.tolist()) == ([3, 4], [8, 10])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (b"# O\nx O\n", {}, ["#", "x"]),  # as many fields as a token: a token
        (b"# intent = x\n# O\nx O\n", {}, ["#", "x"]),
        (b"#x y z\nx O\n# O\n", {}, ["x", "#"]),
        (b"# O\nx O\n# O\n", {"comment_anywhere": True}, ["x"]),
        (b"# O\nx O\n", {"comment": ""}, ["#", "x"]),
        (b"% O\nx O\n% O\n", {"comment": "%", "comment_anywhere": True}, ["x"]),
        (b"# only comments\n", {}, []),
    ],
)
def test_what_is_a_comment(text: bytes, options: dict[str, object], words: list[str]) -> None:
    table = parse_columns(text, **options)  # type: ignore[arg-type]
    assert (table.column(0) if table.columns else []) == words


def test_tabs_only_keeps_blanks_and_empty_fields() -> None:
    table = parse_columns(b"New York\t\tB\n \t \nx\ty\t\n", tabs_only=True)
    assert rows_of(table) == [[["New York", "", "B"]], [["x", "y", ""]]]
    assert table.render(["O"], np.zeros(2, np.int32)) == b"New York\t\tB\tO\n \t \nx\ty\t\tO\n"


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        (b"a b\nc\n", "found 1 column, expected 2", 2, 2),
        (b"a b\n\n\xe3\x81\x82 b c d\n", "found 4 columns, expected 2", 3, 5),
        (b"a b\n# c d\n", "found 3 columns, expected 2", 2, 5),  # no comment inside of a sentence
        (b"a b\n\xc3\xa9\xff b\n", "found byte 0xFF, expected UTF-8 text", 2, 2),
        (b"\xef\xbb\xbfa\xe9\n", "found byte 0xE9, expected UTF-8 text", 1, 2),
        (b"abcdefgh\xed\xa0\x80\n", "found byte 0xED, expected UTF-8 text", 1, 9),
        (b"abc\xf0\x9f\x98", "found byte 0xF0, expected UTF-8 text", 1, 4),
        (b"\n\na \x00\n", "found a NUL byte, expected UTF-8 text", 3, 3),
        (b"a\rb\n", "found a carriage return inside a line, expected LF or CRLF line ends", 1, 2),
    ],
)
def test_errors_are_located(text: bytes, message: str, line: int, column: int) -> None:
    with pytest.raises(ValueError) as caught:
        parse_columns(text)
    assert caught.value.args == (message, line, column)


@given(st.binary(max_size=40))
def test_only_utf8_without_nul_is_accepted(data: bytes) -> None:
    complaint = ""
    try:
        parse_columns(b"x" + data, tabs_only=True, columns=1)
    except ValueError as error:
        complaint = error.args[0]
    try:
        well_formed = "\0" not in data.decode()
    except UnicodeDecodeError:
        well_formed = False
    assert well_formed == ("UTF-8" not in complaint)


@given(st.data(), st.integers(1, 3), st.lists(st.integers(0, 4), max_size=4))
def test_from_columns_holds_any_strings(data: st.DataObject, columns: int, lengths: list[int]) -> None:
    tokens = sum(lengths)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
    values = [data.draw(st.lists(text, min_size=tokens, max_size=tokens)) for _ in range(columns)]
    table = from_columns(values, lengths)
    assert [table.column(c) for c in range(columns)] == values
    assert table.sentence_starts.tolist() == [0, *np.cumsum(lengths).tolist()]


def test_from_columns_is_rendered_as_a_column_file() -> None:
    table = from_columns([["a", "b", "c"], ["x", "y", "z"]], [2, 1])
    assert table.render(["O", "B"], np.array([0, 1, 0], np.int32)) == b"a\tx\tO\nb\ty\tB\n\nc\tz\tO\n\n"


def test_from_columns_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="found 2 values in column 1, expected 3"):
        from_columns([["a", "b", "c"], ["x", "y"]], [3])
    with pytest.raises(ValueError, match="found no columns, expected at least one"):
        from_columns([], [1])
    with pytest.raises(UnicodeEncodeError):
        from_columns([["\ud800"]], [1])
    with pytest.raises(TypeError):
        from_columns([[1]], [1])  # type: ignore[list-item]


@given(st.lists(st.sampled_from(["a", "b", "日本", "c"]), min_size=1))
def test_distinct_and_intern_agree(values: list[str]) -> None:
    table = from_columns([values], [len(values)])
    distinct, ids = table.distinct(0)
    assert distinct == list(dict.fromkeys(values))
    assert [distinct[i] for i in ids] == values
    known = distinct[:-1]
    interned = table.intern_column(0, known)
    assert interned.dtype == np.int32
    assert [known[i] if i >= 0 else distinct[-1] for i in interned] == values


def test_render_checks_its_ids() -> None:
    table = from_columns([["a", "b"]], [2])
    with pytest.raises(ValueError, match="found 1 label ids, expected 2"):
        table.render(["O"], np.zeros(1, np.int32))
    with pytest.raises(ValueError, match="found label id 1, expected 0 to 1 exclusive"):
        table.render(["O"], np.array([0, 1], np.int32))
    with pytest.raises(TypeError):
        table.render(["O"], np.zeros(2, np.int64))  # type: ignore[arg-type]


def test_indices_outside_of_the_table() -> None:
    table = from_columns([["a", "b"]], [2])
    for call in (
        lambda: table.column_slice(1, 0, 1),
        lambda: table.column_slice(0, 1, 3),
        lambda: table.place(2, 0),
    ):
        with pytest.raises(IndexError):
            call()
    with pytest.raises(ValueError, match="found column 1, expected less than 1"):
        table.distinct(1)


def test_arrays_are_read_only_views_that_outlive_their_table() -> None:
    starts = parse_columns(b"a\nb\n\nc\n").sentence_starts
    assert starts.tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        starts[0] = 1


def test_concatenate_documents() -> None:
    table = parse_columns(b"a\n\nb\n\n-DOCSTART-\n\n# x y\nc\n\nd\n").concatenate_documents()
    assert rows_of(table) == [[["a"], ["b"]], [["c"], ["d"]]]
    assert table.documents.tolist() == [0, 1]
    assert table.comments == [(1, "# x y")]


def test_numbers_before_labels() -> None:
    """Four decimals, `_` for what is no number; document marks get as many fields."""
    table = parse_columns(b"-DOCSTART- x\n\na\tx\nb\ty\n")
    numbers = np.array([[0.5, np.nan], [1.0, 0.12345]])
    ids = np.array([0, 1], np.int32)
    rendered = table.render(["O", "B"], ids, "\t", numbers, ids[::-1].copy())
    assert rendered == b"-DOCSTART- x\t_\t_\tO\tO\n\na\tx\t0.5000\t_\tB\tO\nb\ty\t1.0000\t0.1235\tO\tB\n"
    with pytest.raises(ValueError, match="do not fit"):
        table.render(["O"], np.zeros(2, np.int32), "\t", numbers[:1])
    with pytest.raises(ValueError, match="label ids"):
        table.render(["O"], np.zeros(2, np.int32), "\t", numbers, np.zeros(1, np.int32))
