"""Texts in their formats: blocks out, edits in, and nothing else changed."""

from __future__ import annotations

import io
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.assist.difference import difference, edits_of
from marginalia.assist.docx_source import DocxText
from marginalia.assist.html_source import HtmlText
from marginalia.assist.sources import Block, Edit, PlainText, read_source, read_sources, replaced
from marginalia.errors import DataError

docx = pytest.importorskip("docx", reason="python-docx is missing: pip install '.[assist]'")

PAGE = """\
<!DOCTYPE html><html><head><title>Not read</title><style>p { color: red }</style></head>
<body onload="x()"><h1>A <em>big</em> day</h1>
<p class="a">Tom &amp; Ann
   <b>utilise</b> tools&#33;<br>Then they rest.</p>
<script>var p = "<p>no</p>";</script>
<ul><li>One thing<li>Another</ul><p>Caf&eacute;</p></body></html>
"""


def test_a_page_in_blocks() -> None:
    assert HtmlText(PAGE.encode()).blocks == [
        Block("h1", "A big day"),
        Block("p", "Tom & Ann utilise tools! Then they rest."),
        Block("li", "One thing"),
        Block("li", "Another"),
        Block("p", "Café"),
    ]


def test_edits_of_a_page_change_text_only() -> None:
    source = HtmlText(PAGE.encode())
    text = source.blocks[1].text
    edits = edits_of(difference(text, "Tom < Ann use some tools! Then they sleep."))
    page = source.edited({1: edits, 4: [Edit(0, 4, "Bar")]}).decode()
    expected = PAGE.replace("&amp;", "&lt;").replace("<b>utilise</b>", "<b>use some</b>")
    assert page == expected.replace("rest.", "sleep.").replace("Caf&eacute;", "Bar")


def test_an_edit_across_tags_leaves_them_whole() -> None:
    source = HtmlText(b"<p>one <b>two three</b> four</p>")
    assert source.edited({0: [Edit(0, 7, "seven")]}) == b"<p>seven<b> three</b> four</p>"


@pytest.mark.parametrize(
    "page",
    [
        "<p",
        "<script>if (a<b)",
        "<!-- <p>x",
        "</p></div><b>x",
        "&#xD800; &bogus; &amp",
        "<p>a<![CDATA[ b ]]>",
        "\x00",
    ],
)
def test_broken_pages_are_read_or_refused(page: str) -> None:
    try:
        source = HtmlText(page.encode())
    except DataError:
        return
    assert source.edited({}).decode() == page


def test_encodings_of_pages() -> None:
    source = HtmlText('<meta charset="iso-8859-1"><p>Café'.encode("latin-1"))
    assert source.blocks == [Block("p", "Café")]
    assert source.edited({0: [Edit(0, 4, "日本é")]}).endswith(b"<p>&#26085;&#26412;\xe9")
    with pytest.raises(DataError, match="no text in utf-8"):
        HtmlText(b"<p>\xff")


def document() -> bytes:
    made = docx.Document()
    made.add_heading("The title", 1)
    paragraph = made.add_paragraph("They ")
    paragraph.add_run("uti").bold = True
    paragraph.add_run("lise tools.")
    made.add_table(1, 1).cell(0, 0).text = "In a cell"
    made.add_paragraph("An item", style="List Bullet")
    written = io.BytesIO()
    made.save(written)
    return written.getvalue()


def test_a_document_in_blocks_and_edited() -> None:
    source = DocxText(document())
    assert source.blocks == [
        Block("h1", "The title"),
        Block("p", "They utilise tools."),
        Block("td", "In a cell"),
        Block("li", "An item"),
    ]
    edited: Any = docx.Document(
        io.BytesIO(source.edited({1: edits_of(difference(source.blocks[1].text, "They use tools."))}))
    )
    runs = [(run.text, bool(run.bold)) for run in edited.paragraphs[1].runs]
    assert runs == [("They ", False), ("use", True), (" tools.", False)]
    assert edited.paragraphs[0].style.name == "Heading 1"


def test_damaged_documents_are_refused(tmp_path: Path) -> None:
    whole = document()
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as packed:
        packed.writestr("x", "y")
    for data in (b"", b"no zip", whole[: len(whole) // 2], empty.getvalue(), whole.replace(b"PK", b"QQ")):
        path = tmp_path / "a.docx"
        path.write_bytes(data)
        with pytest.raises(DataError, match="no sound Word document"):
            read_source(str(path))


def test_files_folders_and_what_is_none(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "two.TXT").write_bytes(b"\xef\xbb\xbfTwo.\n\nThree.")
    (tmp_path / "one.html").write_text("<p>One.", encoding="utf-8")
    (tmp_path / "other.mg").write_bytes(b"\0")
    sources = list(read_sources([str(tmp_path)]))
    assert [[block.text for block in source.blocks] for source in sources] == [["Two.", "Three."], ["One."]]
    for data, message in (
        (b"", "no words"),
        (b"a\nb\0", r"x\.txt:2: found byte 0x00"),
        (b"\xff", "byte 0xFF"),
    ):
        (tmp_path / "x.txt").write_bytes(data)
        with pytest.raises(DataError, match=message):
            read_source(str(tmp_path / "x.txt"))
    (tmp_path / "none").mkdir()
    with pytest.raises(DataError, match=r"found no file that ends in \.txt"):
        list(read_sources([str(tmp_path / "none")]))


_texts = st.text(st.sampled_from("ab ,.日に"), max_size=12)


@given(_texts, _texts, _texts)
def test_a_difference_leads_from_one_wording_to_the_other(before: str, after: str, ahead: str) -> None:
    segments = difference(before, after)
    assert ("".join(s.before for s in segments), "".join(s.after for s in segments)) == (before, after)
    edits = edits_of(segments, len(ahead))
    assert before == "" or all(edit.start < edit.end for edit in edits)
    if before:
        changes = [(edit.start, edit.end, edit.text) for edit in edits]
        assert all(a[1] <= b[0] for a, b in pairwise(changes))
        assert replaced(ahead + before, changes) == ahead + after


def test_words_that_change_together_are_one_segment() -> None:
    shown = [(s.before, s.after) for s in difference("It was made by him.", "He made it.") if not s.same]
    assert shown == [("It was", "He"), ("by him", "it")]


def test_plain_text_keeps_its_white_space() -> None:
    source = PlainText("  One two.\r\n\r\n\tThree.\n")
    assert source.edited({0: [Edit(4, 7, "2")], 1: [Edit(0, 5, "3")]}) == b"  One 2.\r\n\r\n\t3.\n"


def test_markup_without_ends_costs_no_more_than_its_size() -> None:
    for part in ("<!-- >", "<!a", "<![CDATA[", "</", "<?", "&#"):
        page = part * 20_000 + ">"
        assert HtmlText(page.encode()).blocks == [] or part in ("&#", "</")
    assert [b.text for b in HtmlText(b"<p>a &#; b < c</p> d <e &amp; f &# g").blocks] == [
        "a &#; b < c",
        "d <e & f &# g",
    ]
    assert HtmlText(b"<p>a</p><!-- b <p>c</p>").blocks == [Block("p", "a")]


def test_documents_that_unpack_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia.assist.docx_source._LARGEST", 1 << 20)
    made = io.BytesIO()
    docx.Document().save(made)
    with zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/media/a.png", bytes(4 << 20))
    forged = made.getvalue().replace((4 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    with pytest.raises(DataError, match="found far more when unpacked than a document has"):
        DocxText(made.getvalue())
    with pytest.raises(DataError, match="found no sound Word document"):
        DocxText(forged)


def test_files_that_are_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("marginalia.assist.sources._LARGEST", 1 << 20)
    (tmp_path / "a.html").write_bytes(b"a\n" * (1 << 20))
    with pytest.raises(DataError, match=r"a\.html: found more than 1 MiB, expected a smaller file"):
        read_source(str(tmp_path / "a.html"))
