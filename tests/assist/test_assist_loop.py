"""The loop: what is hard, what is offered for it, and that readers get what they ask for."""

from __future__ import annotations

import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("wordfreq", reason="wordfreq is missing: pip install '.[assist]'")

import marginalia as mg
from marginalia.assist.analysing import analyse_source
from marginalia.assist.assistant import KINDS, LIMITS, LONGEST, MOST_AT_ONCE, assistant, band_of
from marginalia.assist.profile import Profile
from marginalia.assist.report_html import report_html
from marginalia.assist.report_text import report_text
from marginalia.assist.sources import PlainText
from marginalia.errors import DataError, MarginaliaError, SettingsError

TEXT = (
    "The committee, which had been established by the previous administration, was unable to ascertain "
    "whether the regulations were being implemented.\n\n\nIt was not until the report was "
    "published that the residents were\ninformed of the contamination. We slept. "
    "It was a Honda that John sold."
)
EASY = Profile(picky=0.0, offers=50)


def offers(text: str, profile: Profile) -> list[mg.assist.Offer]:
    return mg.assist.offers(text, profile=profile)


def test_sentences_words_and_reasons_stand_where_they_are_said_to_stand() -> None:
    analysis = mg.assist.analyse(TEXT, level="beginner", offers=False)
    source = PlainText(TEXT)
    assert [block["text"] for block in analysis.blocks] == [block.text for block in source.blocks]
    assert [one.block for one in analysis.sentences] == [0, 1, 1, 1]
    for one in analysis.sentences:
        assert source.blocks[one.block].text[one.start : one.end] == one.text
        assert [one.text[word.start : word.end] for word in one.words] == [word.form for word in one.words]
        assert (0 <= one.difficulty <= 100, one.band) == (True, band_of(one.difficulty))
    hard = analysis.sentences[0]
    assert hard.difficulty > analysis.sentences[2].difficulty
    assert hard.reasons
    assert "ascertain" in [word.form for word in hard.words if word.band > 1]
    assert {"marginalia", "pipeline", "resources"} <= set(analysis.versions)
    assert analysis.scores["flesch-kincaid"] > mg.assist.analyse("We slept.").scores["flesch-kincaid"]


def test_the_facade_has_the_room() -> None:
    assert "assist" in dir(mg)
    assert "import_module" not in dir(mg)
    assert [name for name in dir(mg.assist) if not hasattr(mg.assist, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        mg.assist.nonsense  # noqa: B018


def test_bands() -> None:
    assert [band_of(limit) for limit in (0.0, *LIMITS, 100.0)] == [0, 1, 2, 3, 3]


def test_hard_sentences_have_offers_and_all_is_the_same_again() -> None:
    one, other = mg.assist.analyse(TEXT), mg.assist.analyse(TEXT)
    assert json.dumps(one.to_dict()) == json.dumps(other.to_dict())
    assert all((sentence.offers is None) == (sentence.band < 2) for sentence in one.sentences)


def test_offers_say_how_they_were_made() -> None:
    found = offers(TEXT, EASY)
    assert found
    for offer in found:
        assert offer.gain > 0
        assert "".join(segment.after for segment in offer.segments) == offer.text
        before = "".join(segment.before for segment in offer.segments)
        assert (offer.steps[0].before, offer.steps[-1].rule != "") == (before, True)
        for step, following in zip(offer.steps, offer.steps[1:], strict=False):
            assert step.after == following.before
        assert {check.action for check in offer.checks} <= {"passed", "repaired", "lowered"}
        assert offer.reason
    cleft = offers("It was a Honda that John sold.", EASY)
    assert "John sold a Honda." in [offer.text for offer in cleft]


def test_a_reader_gets_what_is_asked_for() -> None:
    sentence = "It was a Honda that John sold."
    best = offers(sentence, EASY)
    rule = next(one for one in best if one.text == "John sold a Honda.").steps[0]
    assert offers(sentence, replace(EASY, off=KINDS)) == []
    for name in (rule.rule, rule.family):
        steps = [step for one in offers(sentence, replace(EASY, off=(name,))) for step in one.steps]
        assert name not in [step.rule for step in steps] + [step.family for step in steps]
    assert len(offers(TEXT, replace(EASY, offers=1))) <= 4
    kept = offers(TEXT, replace(EASY, protected=("the previous administration", "HONDA")))
    for offer in kept:
        before = "".join(segment.before for segment in offer.segments)
        for term in ("the previous administration", "Honda"):
            assert (term in before) <= (term in offer.text)
    gains = [offer.gain for offer in offers(TEXT, replace(EASY, picky=0.3))]
    assert all(gain >= 0.3 for gain in gains)


def test_words_and_rules_come_together() -> None:
    text = "No measures had been undertaken by the authorities, and the inhabitants were advised to stay."
    reader = replace(EASY, level="beginner")
    found = offers(text, reader)
    assert {offer.kind for offer in found} == {"structural", "lexical", "both"}
    both = next(offer for offer in found if offer.kind == "both")
    word = next(step.rule for step in both.steps if step.family == "plainer-word")
    assert {one.kind for one in offers(text, replace(reader, off=("structural",)))} == {"lexical"}
    for off in ("lexical", "plainer-word", word):
        steps = [step for offer in offers(text, replace(reader, off=(off,))) for step in offer.steps]
        assert steps
        assert not any(off in ("lexical", step.family, step.rule) and step.rule == word for step in steps)


def test_offers_are_varied() -> None:
    found = offers(TEXT.partition("\n")[0], replace(EASY, offers=4))
    assert len(found) == 4
    assert len({tuple(step.rule for step in one.steps) for one in found}) == 4


def test_known_words_are_not_hard() -> None:
    words = mg.assist.analyse(TEXT, profile=Profile(known=("Ascertain",)), offers=False).sentences[0].words
    assert "ascertain" not in [word.form for word in words]


def test_the_reader_may_be_named_in_several_ways(tmp_path: Path) -> None:
    file = tmp_path / "reader.toml"
    file.write_text('level = "advanced"\n')
    by_file = mg.assist.analyse("We slept.", profile=file)
    assert by_file == mg.assist.analyse("We slept.", level="advanced")
    assert by_file == mg.assist.analyse("We slept.", profile={"level": "advanced"}, language="en")
    assert mg.assist.analyse("We slept.", profile=file, level="beginner").level == "beginner"


@pytest.mark.parametrize(
    ("profile", "message"),
    [
        ({"off": ["by-pasive"]}, "off: found 'by-pasive', expected lexical or structural, or the name"),
        ({"level": "expert"}, "'level': found 'expert', expected beginner or"),
        ({"language": "fr"}, "'language': found 'fr'"),
        ({"knwon": []}, "unknown key 'knwon'. Did you mean 'known'"),
        ({"reader": "nowhere.mg"}, "nowhere.mg"),
    ],
)
def test_what_is_wrong_with_a_profile_is_said(profile: dict[str, object], message: str) -> None:
    with pytest.raises(MarginaliaError, match=message):
        mg.assist.analyse("We slept.", profile=profile)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(DataError, match="no words"):
        mg.assist.analyse(" \n… !")
    with pytest.raises(SettingsError, match="expected a text"):
        mg.assist.analyse(b"text")  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="level: found 'x'"):
        mg.assist.analyse("text", level="x")


HOSTILE = {
    "html": "<script>alert(1)</script> <b onclick='x'>Bold</b> &amp; &#0; <!-- ]]> -->\n\n\"'`",
    "control": "A\x00b \x1b[2J was \x07seen\x7f by\r\n me.\x0b Half \ud800 a pair \udfff.",
    "mixed": "Eine שלום русский 🐝 \u202ereversed\u2066 text with 日本 and ｆｕｌｌ width, e\u0301 \u200b.",
    "long word": "a" * 30_000,
    "no end": "word and " * 4_000,
    "no blanks": "." * 20_000 + "x",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_breaks_nothing(text: str) -> None:
    source = PlainText(text)
    analysis = analyse_source(source, Profile(language="en"), offers=True)
    assert all(source.blocks[s.block].text[s.start : s.end] == s.text for s in analysis.sentences)
    json.dumps(analysis.to_dict())
    report_html([analysis]).encode()
    assert not set("".join(report_text(analysis))) & set("\x00\x1b\x07\x7f")


def test_long_sentences_are_not_looked_into() -> None:
    (report, *_) = mg.assist.analyse("word and " * LONGEST).sentences
    assert (report.difficulty, report.reasons[0].name, report.offers) == (100.0, "too-long", ())
    pieces = [part.text for _, part in assistant("en", Profile()).parsed("We slept well. " * 1_500)]
    assert set(pieces) == {"We slept well."}
    assert len("We slept well. ") * 1_500 > MOST_AT_ONCE


def test_nothing_is_sent_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise AssertionError("a connection was asked for")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert mg.assist.analyse(TEXT + " Nobody has seen this.").sentences
