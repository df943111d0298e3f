"""Forms of English words against goldens, and against the forms of EWT's development part."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from marginalia.assist.english import (
    VerbGroup,
    Word,
    article_before,
    build,
    degree,
    form_of,
    in_case,
    inflect,
    read,
)
from marginalia.errors import MissingExtra

FORMS = """
be VBZ is | be VBG being | have VBZ has | do VBD did | go VBD went | make VBG making | stop VBG stopping
offer VBD offered | refer VBD referred | panic VBG panicking | mimic VBG mimicking | try VBZ tries
play VBZ plays | die VBG dying | see VBN seen | get VBN got | bear VBN borne | forecast VBD forecast
lead VBD led | put VBD put | write VBN written | cost VBD cost | visit VBG visiting | begin VBG beginning
agree VBG agreeing | child NNS children | person NNS people | analysis NNS analyses | city NNS cities
hero NNS heroes | MP NNS MPs | mother-in-law NNS mothers-in-law | e-mail NNS e-mails
aircraft NNS aircraft | series NNS series
a.m. NNS a.m. | casino NNS casinos | box NNS boxes | knife NNS knives
""".replace("\n", "|")
DEGREES = """
good better best | big bigger biggest | easy easier easiest | beautiful,more beautiful,most beautiful
likely,more likely,most likely | simple simpler simplest
careful,more careful,most careful | far further furthest
tired,more tired,most tired | young younger youngest | modern,more modern,most modern
"""


def rows(text: str) -> list[list[str]]:
    parts = [part.strip() for part in text.replace("\n", "|").split("|") if part.strip()]
    return [part.split(",") if "," in part else part.split() for part in parts]


@pytest.mark.parametrize(("lemma", "tag", "form"), rows(FORMS), ids=str)
def test_forms(lemma: str, tag: str, form: str) -> None:
    assert inflect(lemma, tag) == form


@pytest.mark.parametrize(("lemma", "comparative", "superlative"), rows(DEGREES), ids=str)
def test_degrees(lemma: str, comparative: str, superlative: str) -> None:
    assert (degree(lemma), degree(lemma, superlative=True)) == (comparative, superlative)


def test_be_agrees_in_person_and_number() -> None:
    forms = [
        inflect("be", tag, person=p, plural=n) for tag in ("VBP", "VBD") for p, n in ((1, 0), (2, 0), (3, 1))
    ]  # type: ignore[arg-type]
    assert forms == ["am", "are", "are", "was", "were", "were"]


def test_articles_follow_the_sound() -> None:
    an = "hour honest heir MP FBI NGO 8 11 18th 80 11,000 only uninteresting umbrella OPEC X-ray"
    a = "university one one-way European UN NATO US unit unanimous ewe 1,100 UFO useful Ukrainian house B-52"
    assert {word: article_before(word) for word in an.split()} == dict.fromkeys(an.split(), "an")
    assert {word: article_before(word) for word in a.split()} == dict.fromkeys(a.split(), "a")


def test_case_of_pronouns() -> None:
    assert [in_case(word, "Acc") for word in ("I", "he", "We", "they", "who", "it", "John")] == [
        "me", "him", "Us", "them", "whom", "it", "John"
    ]  # fmt: skip
    assert [in_case(word, "Nom") for word in ("me", "him", "whom", "you")] == ["I", "he", "who", "you"]
    assert [in_case(word, "Gen") for word in ("he", "them", "who")] == ["his", "their", "whose"]


CHAINS = [
    ("would have been seen", VerbGroup("see", modal="would", perfect=True, passive="be")),
    ("was being written", VerbGroup("write", tense="Past", progressive=True, passive="be")),
    ("does not know", VerbGroup("know", negation="not")),
    ("did n't go", VerbGroup("go", tense="Past", negation="n't")),
    ("wo n't go", VerbGroup("go", modal="will", negation="n't")),
    ("never saw", VerbGroup("see", tense="Past", negation="never")),
    ("has never seen", VerbGroup("see", perfect=True, negation="never")),
    ("is not", VerbGroup("be", negation="not")),
    ("has been", VerbGroup("be", perfect=True)),
    ("did see", VerbGroup("see", tense="Past", emphatic=True)),
    ("not having been seen", VerbGroup("see", form="Ger", perfect=True, passive="be", negation="not")),
    ("got hurt", VerbGroup("hurt", tense="Past", passive="get")),
    ("do not be", VerbGroup("be", form="Imp", negation="not")),
    ("be taken", VerbGroup("take", form="Inf", passive="be")),
]


@pytest.mark.parametrize(("chain", "group"), CHAINS, ids=[text for text, _ in CHAINS])
def test_chains_are_built(chain: str, group: VerbGroup) -> None:
    assert " ".join(word.form for word in build(group)) == chain


def test_what_is_built_is_read_again() -> None:
    tried = 0
    for modal, tense, perfect, progressive, passive, negation, lemma in itertools.product(
        ("", "would", "can"), ("Pres", "Past"), (False, True), (False, True), ("", "be"),
        ("", "not", "n't", "never"), ("see", "have", "do", "carry"),
    ):  # fmt: skip
        group = VerbGroup(
            lemma, "Fin", "Pres" if modal else tense, modal, perfect, progressive, passive, negation
        )
        assert read(build(group)) == group
        assert read(build(group, person=1, plural=True)) == group
        tried += 1
    assert tried == 768


def test_adverbs_are_passed_over_when_a_chain_is_read() -> None:
    words = [
        Word("has", "have", "VBZ"),
        Word("often", "often", "RB", "ADV"),
        Word("seen", "see", "VBN", "VERB"),
    ]
    assert read(words) == VerbGroup("see", perfect=True)


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from marginalia.assist.english import inflection

    monkeypatch.setitem(sys.modules, "lemminflect", None)
    inflection._lemminflect.cache_clear()
    inflection._looked_up.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"lemminflect.*marginalia\[assist\]"):
            inflect("walk", "VBD")
    finally:
        inflection._lemminflect.cache_clear()


@pytest.mark.data
def test_forms_of_ewt(data_dir: Path) -> None:
    right = total = 0
    for line in (data_dir / "ud-english-ewt" / "dev.conllu").read_text("utf-8").splitlines():
        columns = line.split("\t")
        if len(columns) < 10 or columns[3] not in ("VERB", "AUX", "NOUN", "ADJ", "ADV"):
            continue
        form, lemma, upos, feats = columns[1].lower(), columns[2], columns[3], columns[5]
        if (
            any(odd in feats for odd in ("Typo", "Abbr", "Style"))
            or form[0] in "'’"
            or form in ("ca", "wo", "n't")
        ):
            continue
        made = form_of(
            lemma, upos, dict(pair.split("=") for pair in feats.split("|")) if feats != "_" else {}
        )
        right += made.lower().removeprefix("more ").removeprefix("most ") == form
        total += 1
    assert total > 11000
    assert right / total > 0.994
