"""Reports of an analysis: hostile text stays text; words and worksheets."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

from marginalia.assist.difference import difference
from marginalia.assist.records import (
    Analysis,
    CheckReport,
    Offer,
    OfferStep,
    Reason,
    SentenceReport,
    WordReport,
)
from marginalia.assist.report_html import report_html
from marginalia.assist.report_text import report_text
from marginalia.assist.vocabulary import vocabulary

NASTY = "<script>alert(1)</script> & \x1b[31m\x00\ud800 \u202e\"quotes' ascertain it."


def analysis() -> Analysis:
    start = NASTY.index("ascertain")
    word = WordReport(start, start + 9, "ascertain", "ascertain", "VERB", 3, 3.29, reason="<i>rare</i>")
    offer = Offer(
        text=NASTY.replace("ascertain", "<b>find</b>"),
        kind="lexical",
        gain=0.51239,
        difficulty=40.0,
        reason="<u>easier</u>",
        steps=(OfferStep("<rule>", "words", "why", NASTY, "after", {"V": "ascertain"}, ()),),
        checks=(CheckReport("names", "passed", ""),),
        segments=difference(NASTY, NASTY.replace("ascertain", "<b>find</b>")),
    )
    reason = Reason("long", "The sentence is <long>.", 0.2, ("<x>",))
    sentence = SentenceReport(0, 2, 2 + len(NASTY), NASTY, 81.23456, 3, (reason,), (word,), (offer,))
    easy = SentenceReport(1, 0, 5, "Easy.", 3.0, 0)
    blocks = ({"kind": "h1", "text": f"  {NASTY}"}, {"kind": "li", "text": "Easy."})
    return Analysis("<name>\x1b", "en", "beginner", 60.0, blocks, (sentence, easy), {}, {"marginalia": "0"})


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_keeps_hostile_text_as_text() -> None:
    page = report_html([analysis(), analysis()])
    seen = Tags(page)
    assert not seen.tags & {"script", "b0", "u", "i", "rule", "name", "x", "long"}
    assert "<script>alert(1)</script>" in seen.text
    assert "default-src 'none'" in page
    assert not set(page) & set("\x00\x1b\ud800")
    assert {link.removeprefix("#") for link in seen.links} == set(seen.ids)
    page.encode()


def test_a_terminal_gets_no_control_signs() -> None:
    lines = list(report_text(analysis()))
    assert (
        lines[0]
        == "<name>\ufffd: English, for beginner readers: difficulty 60 of 100; 1 of 2 sentences hard."
    )
    assert any("easier" in line and "<rule>" in line for line in lines)
    assert not set("".join(lines)) & set("\x00\x1b")
    assert all("\n" not in line for line in lines[1:3])


def test_records_become_json() -> None:
    values = json.loads(json.dumps(analysis().to_dict()))
    assert values["sentences"][0]["difficulty"] == 81.2346
    assert values["sentences"][0]["offers"][0]["gain"] == 0.5124
    assert values["sentences"][0]["offers"][0]["segments"][1] == {
        "before": "ascertain",
        "after": "<b>find</b>",
    }
    assert values["sentences"][1]["offers"] is None


def test_words_are_listed_once_and_shuffled_always_alike() -> None:
    base = analysis()
    other = replace(base.sentences[0].words[0], start=0, end=8, form="Refrains", lemma="refrain")
    again = replace(
        base.sentences[0], text="Refrains from it.", words=(other, replace(other, lemma="Refrain"))
    )
    whole = replace(base, sentences=(*base.sentences, again))
    found = vocabulary(whole)
    assert [(entry.lemma, entry.form) for entry in found.entries] == [
        ("ascertain", "ascertain"),
        ("refrain", "Refrains"),
    ]
    assert found == vocabulary(whole)
    assert sorted(found.bank) == ["Refrains", "ascertain"]
    assert sorted(gloss for _, gloss in found.match) == sorted(entry.gloss for entry in found.entries)
    assert found.entries[0].gloss.startswith("find")


def test_long_sentences_are_cut_between_words() -> None:
    base = analysis()
    text = "word " * 60 + "ascertain" + " word" * 60
    word = replace(base.sentences[0].words[0], start=300, end=309)
    (entry,) = vocabulary(
        replace(base, sentences=(replace(base.sentences[0], text=text, words=(word,)),))
    ).entries
    assert entry.ahead.startswith("… word")
    assert entry.behind.endswith(" word…")
