"""The table of CoNLL 2018: made by hand, against a plain twin, and what must hold of any pair of files."""

from __future__ import annotations

import io
import json
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_conll18 import Place, aligned_count, counts, is_clean, placed

import marginalia as mg
from marginalia.errors import DataError, SettingsError
from marginalia.evaluate import TreebankReport, score_treebank
from marginalia.evaluate.word_alignment import aligned_words, text_spans
from marginalia.kinds.treebanks import treebank_of

GOLD = """\
1 The the DET DT Definite=Def 3 det
2 old old ADJ JJ Degree=Pos 3 amod
3 dogs dog NOUN NNS Number=Plur 6 nsubj
4-5 didn't
4 did do AUX VBD Mood=Ind|Style=Coll 6 aux
5 n't not PART RB _ 6 advmod
6 bark bark VERB VB VerbForm=Inf 0 root
7 . . PUNCT . _ 6 punct
"""
SECOND = """
1 Kdybych kdy SCONJ J _ 2 mark
2 spal spát VERB V Tense=Past 0 root
3 ! ! PUNCT Z _ 2 punct
"""
GOLD += SECOND


METRICS = (
    ("Tokens", "Sentences", "Words", "UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", "CLAS",
     "MLAS", "BLEX")
)  # fmt: skip


def conllu(text: str) -> str:
    """Rows of blanks as CoNLL-U: eight fields, or the two of a multiword token."""
    lines = []
    for line in text.splitlines():
        fields = line.split(" ")
        blank = not line or line.startswith("#")
        lines.append(line if blank else "\t".join(fields + ["_"] * (10 - len(fields))))
    return "\n".join(lines) + "\n"


def document(text: str) -> mg.Document:
    return mg.read_conllu(io.StringIO(conllu(text)))


def report(gold: str, predicted: str, **options: Any) -> TreebankReport:
    return score_treebank(treebank_of(document(gold)), treebank_of(document(predicted)), **options)


def changed(*changes: tuple[str, str]) -> str:
    text = GOLD
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def triple(scores: TreebankReport, name: str) -> tuple[int, int, int]:
    score = scores[name]
    return score.gold, score.predicted, score.correct


def test_a_file_against_itself_is_all_right() -> None:
    scores = report(GOLD, GOLD, bootstrap=10)
    assert {name: score and score.f1 for name, score in scores.scores.items()} == dict.fromkeys(
        METRICS, 100.0
    )
    assert triple(scores, "Tokens") == (9, 9, 9)
    assert triple(scores, "Words") == (10, 10, 10)
    assert triple(scores, "CLAS") == (5, 5, 5)  # no det, aux, mark, punct
    assert scores["LAS"].interval == (100.0, 100.0)
    plain = scores.without_punctuation
    assert plain is not None
    assert (plain.uas.gold, plain.complete_unlabelled, plain.complete_labelled) == (8, 100.0, 100.0)
    assert (scores.score, scores.score_name, scores.words, scores.sentences) == (100.0, "LAS", 10, 2)


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        # A wrong subtype does not count, nor does a feature that is not universal.
        ((("6 nsubj", "6 nsubj:pass"),), {}),
        ((("Mood=Ind|Style=Coll", "Mood=Ind"),), {}),
        ((("6 nsubj", "6 obj"),), {"LAS": 9, "CLAS": 4, "MLAS": 4, "BLEX": 4}),
        # A function word's tag counts for its head in MLAS; its lemma counts nowhere but as a lemma.
        ((("do AUX", "do VERB"),), {"UPOS": 9, "AllTags": 9, "MLAS": 4}),
        ((("Mood=Ind|", "Mood=Sub|"),), {"UFeats": 9, "AllTags": 9, "MLAS": 4}),
        ((("did do", "did did"),), {"Lemmas": 9}),
        ((("bark bark", "bark be"),), {"Lemmas": 9, "BLEX": 4}),
        ((("VERB VB ", "VERB VBP "),), {"XPOS": 9, "AllTags": 9}),
        # `the` belongs to `old` now: the arc is wrong, and in MLAS two words have other function words.
        ((("3 det", "2 det"),), {"UAS": 9, "LAS": 9, "MLAS": 3}),
        # A sign that is not in the classes of relations is no content word.
        ((("6 punct", "3 punct"),), {"UAS": 9, "LAS": 9}),
    ],
)
def test_one_mistake(changes: tuple[tuple[str, str], ...], right: dict[str, int]) -> None:
    scores = report(GOLD, changed(*changes))
    sizes = dict.fromkeys(("CLAS", "MLAS", "BLEX"), 5)
    for name in ("UPOS", "XPOS", "UFeats", "AllTags", "Lemmas", "UAS", "LAS", *sizes):
        assert scores[name].correct == right.get(name, sizes.get(name, 10)), name
        expected = 100 * scores[name].correct / sizes.get(name, 10)
        assert scores[name].aligned_accuracy == pytest.approx(expected)


def test_a_lemma_that_gold_does_not_have_is_right() -> None:
    assert report(changed(("dogs dog", "dogs _")), GOLD)["Lemmas"].correct == 10
    assert report(GOLD, changed(("dogs dog", "dogs _")))["Lemmas"].correct == 9


def test_multiword_tokens_are_aligned_by_their_words() -> None:
    whole = changed(("4-5 didn't\n4 did do", "4 did do"))
    scores = report(GOLD, whole)
    assert triple(scores, "Tokens") == (9, 10, 8)
    assert triple(scores, "Words") == (10, 10, 10)  # by forms, though one side has no multiword token
    assert scores["LAS"].f1 == 100.0
    cased = report(GOLD, changed(("4 did", "4 DID")))
    assert triple(cased, "Words") == (10, 10, 10)
    other = report(GOLD, changed(("4 did", "4 does"), ("5 n't", "5 not")))
    assert triple(other, "Words") == (10, 10, 8)
    assert triple(other, "UAS") == (10, 10, 8)
    assert other["UAS"].aligned_accuracy == 100.0


def test_a_word_whose_head_is_not_aligned_is_wrong() -> None:
    one = "1 ab a NOUN N _ 0 root\n2 c c NOUN N _ 1 obj\n"
    two = "1 a a NOUN N _ 0 root\n2 b b NOUN N _ 1 obj\n3 c c NOUN N _ 1 obj\n"
    scores = report(one, two)
    assert triple(scores, "Words") == (2, 3, 1)
    assert triple(scores, "LAS") == (2, 3, 0)
    assert scores["UPOS"].precision == pytest.approx(100 / 3)
    assert scores["UPOS"].recall == 50.0
    assert scores["UPOS"].f1 == 40.0
    assert scores["UPOS"].aligned_accuracy == 100.0


def test_sentences_may_be_cut_elsewhere() -> None:
    first = changed((SECOND, ""))
    second = (
        "8 Kdybych kdy SCONJ J _ 9 mark\n9 spal spát VERB V Tense=Past 6 conj\n10 ! ! PUNCT Z _ 9 punct\n"
    )
    joined = first + second
    scores = report(GOLD, joined)
    assert triple(scores, "Sentences") == (2, 1, 0)
    assert triple(scores, "UAS") == (10, 10, 9)
    assert scores.without_punctuation is not None
    assert scores.without_punctuation.complete_unlabelled == 0.0


def test_without_punctuation() -> None:
    scores = report(GOLD, changed(("6 punct", "3 punct"), ("2 mark", "2 cc")))
    plain = scores.without_punctuation
    assert plain is not None
    assert scores["UAS"].f1 == 90.0
    assert (plain.uas.f1, plain.las.f1) == (100.0, 87.5)
    assert (plain.complete_unlabelled, plain.complete_labelled) == (100.0, 50.0)


def test_what_gold_does_not_have_is_not_scored() -> None:
    gold = "1 我 _ PRON _ _ 2 nsubj\n2 睡 _ VERB _ _ 0 root\n"
    predicted = "1 我 我 PRON PN A=1 2 nsubj\n2 睡 睡 VERB VV _ 0 root\n"
    scores = report(gold, predicted)
    assert [name for name, score in scores.scores.items() if score is None] == [
        "XPOS",
        "UFeats",
        "Lemmas",
        "BLEX",
    ]
    assert "\nXPOS       |         – |         – |         – |         –\n" in scores.to_text()
    with pytest.raises(KeyError, match="does not have"):
        scores["XPOS"]
    assert scores.to_json()["metrics"]["XPOS"] is None
    words = report("1 a\n", "1 a\n")
    assert (words.score_name, words.summary(), words.without_punctuation) == ("Words", "Words 100.00", None)
    unknown = report(gold, predicted.replace(" 2 nsubj", " _ nsubj"))
    assert triple(unknown, "UAS") == (2, 2, 1)


def test_the_table() -> None:
    scores = report(GOLD, changed(("6 nsubj", "6 obj"), ("4 did", "4 does")), bootstrap=50)
    lines = scores.to_text().splitlines()
    assert lines[0] == "Metric     | Precision |    Recall |  F1 Score | AligndAcc | 95% of F1"
    assert lines[2] == "Tokens     |    100.00 |    100.00 |    100.00 |           |          "
    assert lines[11].startswith("LAS        |     80.00 |     80.00 |     80.00 |     88.89 | ")
    assert lines[-2:] == [
        "without punctuation: UAS 87.50, LAS 75.00",
        "complete match: 50.00% of 2 sentences, with labels 50.00%",
    ]
    assert scores.summary() == "UPOS 90.00, UAS 90.00, LAS 80.00"
    assert scores.headline()["LAS"] == 80.0
    stored = json.loads(json.dumps(scores.to_json()))
    assert stored["mode"] == "conll18"
    assert stored["metrics"]["LAS"]["correct"] == 8
    low, high = stored["metrics"]["LAS"]["interval"]
    assert low <= 80.0 <= high
    assert stored["without_punctuation"]["complete_labelled"] == 50.0
    with pytest.raises(SettingsError):
        report(GOLD, GOLD, bootstrap=-1)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        (
            changed(("6 bark bark", "6 bork bork")),
            "pred:1: the texts differ: behind 'Theolddogsdidn'tb' (character 18 but for blanks) "
            "found 'ork.Kdybychspal!', expected 'ark.Kdybychspal!' as in the gold file (sentence 1, line 1)",
        ),
        (
            changed((SECOND, "")),
            "pred:1: the texts differ: behind 'heolddogsdidn'tbark.' (character 22 but for blanks) "
            "found its end, expected 'Kdybychspal!' as in the gold file (sentence 2, line 10)",
        ),
    ],
)  # fmt: skip
def test_other_texts_are_an_error(predicted: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        score_treebank(treebank_of(document(GOLD), "gold"), treebank_of(document(predicted), "pred"))
    assert str(caught.value).replace('"', "'") == message


def test_other_errors() -> None:
    gold = treebank_of(document(GOLD), "gold")
    heads = [None, *list(gold.heads)[1:]]
    with pytest.raises(
        DataError, match=r"^gold:1: found a word without a head, expected a head for each gold"
    ):
        score_treebank(gold._replace(heads=heads), gold)
    with pytest.raises(DataError, match=r"^gold: found the token '\\xa0', expected one with more than white"):
        score_treebank(gold, gold._replace(tokens=[("\u00a0", 0)]))
    with pytest.raises(DataError, match=r"^gold: found tokens of 1 words, expected 10$"):
        score_treebank(gold, gold._replace(tokens=[("a", 0)]))


# ---- random pairs


def tree(size: int, rng: random.Random) -> list[int]:
    order = rng.sample(range(1, size + 1), size)
    heads = dict(zip(order, [0, *(rng.choice(order[:i]) for i in range(1, size))], strict=True))
    return [heads[i] for i in range(1, size + 1)]


def random_sentence(tokens: list[str], rng: random.Random) -> mg.ParsedSentence:
    forms: list[str] = []
    multiword = []
    for token in tokens:
        if rng.random() < 0.3:
            size = rng.randint(1, 3)
            multiword.append(mg.corpus.MultiwordToken(len(forms) + 1, len(forms) + size, token))
            forms += [rng.choice(["a", "b", "A", "ab"]) for _ in range(size)]
        else:
            forms.append(token)
    words = [
        mg.Word(
            i,
            form,
            rng.choice("ab_"),
            rng.choice(["NOUN", "PUNCT", "AUX"]),
            rng.choice("XY"),
            rng.choice(["_", "Case=Nom", "Case=Nom|Foo=Bar", "Foo=Bar"]),
            head,
            rng.choice(["obj", "det", "aux:pass", "punct", "nmod:of"]) if head else "root",
        )
        for i, (form, head) in enumerate(zip(forms, tree(len(forms), rng), strict=True), 1)
    ]
    return mg.ParsedSentence(words, multiword)


def random_cut(text: str, rng: random.Random) -> list[mg.ParsedSentence]:
    ends = [i for i in range(1, len(text)) if rng.random() < 0.5]
    tokens = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    sentences = []
    while tokens:
        size = rng.randint(1, 5)
        sentences.append(random_sentence(tokens[:size], rng))
        tokens = tokens[size:]
    return sentences


def retagged(sentences: list[mg.ParsedSentence], rng: random.Random) -> list[mg.ParsedSentence]:
    """The same cuts with some other values, so that most words are aligned."""
    copies = []
    for sentence in sentences:
        heads = tree(len(sentence), rng) if rng.random() < 0.5 else [word.head for word in sentence]
        words = [replace(word, head=head) for word, head in zip(sentence, heads, strict=True)]
        for word in words:
            setattr(
                word, rng.choice(["upos", "lemma", "deprel", "misc"]), rng.choice(["NOUN", "a", "obj", "det"])
            )
        multiword = [replace(token) for token in sentence.multiword]
        copies.append(mg.ParsedSentence(words, multiword))
    return copies


def places(sentences: list[mg.ParsedSentence]) -> list[Place]:
    return [(i, word.id) for i, sentence in enumerate(sentences) for word in sentence]


Pair = tuple[list[mg.ParsedSentence], list[mg.ParsedSentence]]


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    text = draw(st.text("abAB", min_size=1, max_size=16))
    rng = random.Random(draw(st.integers(0, 1 << 32)))
    gold = random_cut(text, rng)
    return gold, retagged(gold, rng) if rng.random() < 0.4 else random_cut(text, rng)


@given(pairs())
def test_the_plain_twin_agrees(pair: Pair) -> None:
    banks = [treebank_of(side) for side in pair]
    spans = [text_spans(bank) for bank in banks]
    found = aligned_words(*spans, [bank.columns["form"] for bank in banks]).tolist()
    gold, predicted = (placed(side) for side in pair)
    if is_clean(gold, predicted):
        assert len(found) == aligned_count(gold, predicted)
    ours, theirs = map(places, pair)
    aligned = [(ours[g], theirs[p]) for g, p in found]
    assert aligned == sorted(aligned)
    for g, p in aligned:  # the same characters, or the same form in tokens that touch
        same = gold[g][0] == predicted[p][0]
        assert same or gold[g][2].form.lower() == predicted[p][2].form.lower()
    scores = score_treebank(*banks)
    for name, expected in counts(*pair, aligned).items():
        if scores.scores[name]:
            assert triple(scores, name) == expected, name


@given(pairs())
def test_identity_and_exchange(pair: Pair) -> None:
    gold, predicted = (treebank_of(side) for side in pair)
    assert {score.f1 for score in score_treebank(gold, gold).scores.values() if score} <= {0.0, 100.0}
    there, back = score_treebank(gold, predicted), score_treebank(predicted, gold)
    clean = is_clean(*(placed(side) for side in pair))
    for name in ("Tokens", "Sentences", "Words")[: 3 if clean else 2]:
        assert triple(there, name)[2] == triple(back, name)[2]
        assert there[name].precision == back[name].recall
    assert there["MLAS"].correct <= there["CLAS"].correct <= there["LAS"].correct <= there["UAS"].correct


@given(pairs(), st.permutations(["upos", "xpos", "lemma"]))
def test_columns_are_scored_apart(pair: Pair, order: list[str]) -> None:
    """What one column holds does not change the score of another."""
    names = {"upos": "UPOS", "xpos": "XPOS", "lemma": "Lemmas"}
    for side in pair:
        for sentence in side:
            for word in sentence:
                word.lemma = word.lemma.replace("_", "c")  # a lemma `_` matches anything
    banks = [treebank_of(side) for side in pair]
    scores = score_treebank(*banks)
    moved = [
        bank._replace(
            columns={
                **bank.columns,
                **{new: bank.columns[old] for old, new in zip(names, order, strict=True)},
            }
        )
        for bank in banks
    ]
    turned = score_treebank(*moved)
    for old, new in zip(names, order, strict=True):
        assert triple(turned, names[new]) == triple(scores, names[old])


def test_damaged_predictions_are_an_error_or_scores() -> None:
    rng, text, errors = random.Random(3), conllu(GOLD), 0
    gold = treebank_of(document(GOLD))
    for _ in range(400):
        at = rng.randrange(len(text))
        broken = (
            text[:at]
            + rng.choice(["", "\t", "\n", "1", "-", ".", "_", "9", "\u00a0"])
            + text[at + rng.randint(0, 2) :]
        )
        try:
            found = score_treebank(
                gold, treebank_of(mg.read_conllu(io.StringIO(broken), strict=rng.random() < 0.5))
            )
        except DataError:
            errors += 1
            continue
        assert all(0.0 <= value <= 100.0 for value in found.headline().values())
        assert found.to_text()
    assert 100 < errors < 400
