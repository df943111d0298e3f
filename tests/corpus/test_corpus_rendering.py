"""Trees for the terminal, as JSON, pictures and a page: all words and arcs are there, nothing breaks out."""

from __future__ import annotations

import io
import json
import random
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.rendering import RENDERERS, render
from marginalia.corpus.tree_layout import TreeLayout, arc_levels, tree_layout
from marginalia.corpus.tree_text import display_width
from marginalia.errors import SettingsError

SVG = "{http://www.w3.org/2000/svg}"
NASTY = [
    "<script>alert(1)</script>",
    '"quoted"',
    "it's",
    "]]>",
    "<!--",
    "a&b",
    "\x1b[31m",
    "\ufffe",
    "&#0;",
    "\\",
]


def sentence(forms: list[str], heads: list[int | None], **more: Any) -> mg.ParsedSentence:
    words = [
        mg.Word(i, form, form.lower(), "NOUN", head=head, deprel="root" if head == 0 else "nmod")
        for i, (form, head) in enumerate(zip(forms, heads, strict=True), 1)
    ]
    return mg.ParsedSentence(words, text=" ".join(forms), **more)


def random_heads(size: int, rng: random.Random) -> list[int | None]:
    order = rng.sample(range(1, size + 1), size)
    heads = dict(zip(order, [0, *(rng.choice(order[:i]) for i in range(1, size))], strict=True))
    return [heads[i] for i in range(1, size + 1)]


@st.composite
def sentences(draw: st.DrawFn) -> mg.ParsedSentence:
    forms = draw(
        st.lists(st.one_of(st.sampled_from(NASTY), st.text(min_size=1, max_size=6)), min_size=1, max_size=9)
    )
    if draw(st.booleans()):
        heads = random_heads(len(forms), random.Random(draw(st.integers())))
    else:  # anything that may be read without checks
        heads = [draw(st.one_of(st.none(), st.integers(0, len(forms) + 2))) for _ in forms]
    found = sentence(forms, heads, comments=[f"# sent_id = {draw(st.sampled_from(NASTY))}"])
    found.words[0].feats = draw(st.sampled_from(["_", "A=1|B=<2>"]))
    return found


def drawn_arcs(root: ElementTree.Element) -> set[tuple[int, int]]:
    arcs = [e for e in root.iter() if e.get("class") in ("arc", "root")]
    return {(int(e.attrib["data-head"]), int(e.attrib["data-dependent"])) for e in arcs}


def expected_arcs(found: mg.ParsedSentence) -> set[tuple[int, int]]:
    size = len(found)
    return {(w.head, w.id) for w in found if w.head is not None and w.head <= size and w.head != w.id}


@settings(max_examples=40)
@given(sentences())
def test_pictures_and_pages_are_whole(found: mg.ParsedSentence) -> None:
    for text in (found.to_svg(), mg.Document([found], found.text).to_html("<t>")):
        root = ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))
        words = [e for e in root.iter() if e.get("class") == "word"]
        assert [e.attrib["data-word"] for e in words] == [str(w.id) for w in found]
        shown = [next(e.text or "" for e in word.iter() if e.get("class") == "form") for word in words]
        assert [len(s) for s in shown] == [len(w.form) for w in found]
        assert drawn_arcs(root) == expected_arcs(found)
        assert sum(e.tag.endswith("script") for e in root.iter()) == ("<html" in text)
        assert all(e.get("class") != "word" or "tabindex" in e.attrib for e in root.iter())
        outside = [v for e in root.iter() for k, v in e.attrib.items() if k in ("src", "href")]
        assert outside == []
        assert not re.search(r"url\(|@import", text)


@settings(max_examples=40)
@given(sentences())
def test_every_word_is_once_in_the_tree_for_terminals(found: mg.ParsedSentence) -> None:
    lines = found.to_tree_text().split("\n")
    assert len(lines) == len(found) + 2
    assert "\x1b" not in "".join(lines)


@settings(max_examples=40)
@given(sentences())
def test_json_comes_back(found: mg.ParsedSentence) -> None:
    plain = json.loads("".join(render([found, found], "json")))
    first, second = plain["sentences"]
    assert first == second == json.loads(json.dumps(mg.Document([found], "").to_json()))["sentences"][0]
    assert [(w["id"], w["form"], w["head"]) for w in first["words"]] == [
        (w.id, w.form, w.head) for w in found
    ]
    assert first["words"][0]["feats"] == found.words[0].features
    assert set(first) == {
        "sent_id", "text", "start", "end", "newdoc", "newpar", "comments", "words", "multiword", "empty"
    }  # fmt: skip


def overlapping(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) < min(one[1], other[1])


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)).filter(lambda p: p[0] < p[1]), max_size=9))
def test_levels_keep_arcs_apart(spans: list[tuple[int, int]]) -> None:
    levels = arc_levels(spans)
    for i, (a, level) in enumerate(zip(spans, levels, strict=True)):
        for b, other in zip(spans[:i], levels[:i], strict=True):
            if overlapping(a, b):
                assert level != other
            if a != b and a[0] <= b[0] and b[1] <= a[1]:
                assert level > other


def test_nested_and_crossing_levels() -> None:
    assert arc_levels([(1, 2), (2, 3), (1, 3), (1, 4)]) == [1, 1, 2, 3]
    assert arc_levels([(i, i + 2) for i in range(1, 100)]) == [1, 2] * 49 + [1]  # no stairs
    assert max(arc_levels([(1, i) for i in range(2, 5001)])) == 4999


@given(sentences())
def test_labels_are_not_crossed(found: mg.ParsedSentence) -> None:
    """No arc goes up or down, and none at the same level runs, where a label stands."""
    layout = tree_layout(found)
    for arc in layout.arcs:
        half = 3.4 * display_width(arc.label)
        begin, end = arc.label_x - half, arc.label_x + half
        for other in layout.arcs:
            assert not any(begin < x < end for x in (other.from_x, other.to_x))
            if other is not arc and other.level == arc.level:
                left, right = sorted((other.from_x, other.to_x))
                assert end < left or right < begin
        assert min(arc.from_x, arc.to_x) < arc.label_x < max(arc.from_x, arc.to_x)
    assert ordered(layout)


def ordered(layout: TreeLayout) -> bool:
    places = layout.words[::-1] if layout.right_to_left else layout.words
    return places == sorted(places) and places[0] > 0 and places[-1] < layout.width


def test_right_to_left_runs_from_the_right() -> None:
    layout = tree_layout(sentence(["שלום", "עולם", "OK"], [0, 1, 1]))
    assert layout.right_to_left
    assert layout.words == sorted(layout.words, reverse=True)
    drawn = sentence(["שלום", "עולם"], [0, 1])
    assert 'direction="rtl"' in drawn.to_svg()
    assert "\u2068שלום\u2069" in drawn.to_tree_text()


def test_the_tree_for_terminals() -> None:
    found = sentence(
        ["The", "old", "dog", "sees", "日本", "now", "."], [3, 3, 4, 0, 4, 5, 4], comments=["# sent_id = s1"]
    )
    assert found.to_tree_text() == (
        "# s1: The old dog sees 日本 now .\n"
        "   ┌─ The  nmod NOUN\n"
        "   ├─ old  nmod NOUN\n"
        "┌─ dog     nmod NOUN\n"
        "sees       root NOUN\n"
        "├─ 日本    nmod NOUN\n"
        "│  └─ now  nmod NOUN\n"
        "└─ .       nmod NOUN\n"
    )
    partial = sentence(["a", "b", "c", "d"], [None, 1, 4, 3])
    assert [line.split()[-3] for line in partial.to_tree_text().splitlines()[1:]] == ["a", "b", "c", "d"]
    assert mg.Document([found, partial], "").to_tree_text() == "".join(render([found, partial], "tree"))


@pytest.mark.parametrize("shape", ["chain", "star", "random"])
def test_long_sentences_take_linear_space(shape: str) -> None:
    rng = random.Random(1)
    sizes = []
    for size in (1000, 5000):
        heads = {"chain": list(range(size)), "star": [0] + [1] * (size - 1)}.get(shape) or [
            0, *(rng.randint(1, i) for i in range(1, size))]  # fmt: skip
        found = sentence(["w"] * size, list(heads))
        picture = found.to_svg()
        assert picture.count('<g class="arc"') == size - 1
        sizes.append((len(picture), len(found.to_tree_text())))
    assert all(4.9 < large / small < 7.5 for small, large in zip(*sizes, strict=True))


def test_render_has_all_forms_and_refuses_others() -> None:
    found = sentence(["a"], [0])
    document = mg.Document([found], "a")
    assert list(RENDERERS) == ["conllu", "json", "tree", "svg", "html"]
    for name in RENDERERS:
        assert "".join(render([document], name)) == "".join(render([found], name))
    assert "".join(render([], "html")).count("<section>") == 0
    assert ElementTree.fromstring("".join(render([], "svg"))).tag == f"{SVG}svg"
    with pytest.raises(
        SettingsError, match="found the form 'pdf', expected one of conllu, json, tree, svg, html"
    ):
        render([], "pdf")


def test_multiword_tokens_and_empty_nodes_are_in_json() -> None:
    rows = ("1-2 del _ _ _ Typo=Yes _ _ _ A=1", "1 de _ _ _ _ 0 root _ _", "2 el _ _ _ _ 1 det _ _")
    text = "\n".join([*rows, "2.1 x _ _ _ _ _ _ 1:y _", "", ""]).replace(" ", "\t")
    plain = mg.read_conllu(io.StringIO(text)).to_json()
    (first,) = plain["sentences"]
    assert plain["text"] == "del"
    assert first["multiword"] == [
        {"first": 1, "last": 2, "form": "del", "feats": {"Typo": "Yes"}, "misc": "A=1", "start": 0, "end": 3}
    ]
    assert (first["empty"][0]["id"], first["empty"][0]["deps"]) == ("2.1", "1:y")


@pytest.mark.browser
def test_a_page_works_in_a_browser(tmp_path: Path) -> None:
    """A real browser draws the page, asks for nothing, and keys and focus show what is known of words."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is missing: pip install '.[browser]'"
    )
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if browser is None:
        pytest.skip("chromium is missing: apt-get install chromium")
    page_file = tmp_path / "trees.html"
    wide = sentence(["word"] * 200, [0, *range(1, 200)])
    nasty = sentence(NASTY, [0, *range(1, len(NASTY))])
    page_file.write_text(mg.Document([nasty, wide], "").to_html(), encoding="utf-8")
    with sync_api.sync_playwright() as tool:
        try:
            chromium = tool.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"{browser} does not start here: {error}")
        page = chromium.new_page(viewport={"width": 800, "height": 600})
        asked, problems = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(dialog.message))
        page.goto(page_file.as_uri())
        assert page.locator(".word").count() == 200 + len(NASTY)
        assert page.locator(".arc").count() == 198 + len(NASTY)
        first = page.locator(".word").first
        assert first.locator(".form").text_content() == NASTY[0]
        first.focus()
        assert NASTY[0] in (page.locator(".about").first.text_content() or "")
        page.keyboard.press("ArrowRight")
        assert '2 "quoted"' in (page.locator(".about").first.text_content() or "")
        assert page.locator(".arc.on").count() == 2
        scrolls = "element => element.scrollWidth > element.clientWidth"
        assert page.locator(".scroll").nth(1).evaluate(scrolls)
        assert not page.evaluate("document.body.scrollWidth > window.innerWidth")
        boxes = [page.locator(".label").nth(i).bounding_box() for i in range(8)]
        assert all(box and box["width"] > 0 for box in boxes)
        assert (asked, problems) == ([page_file.as_uri()], [])
        chromium.close()
