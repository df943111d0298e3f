"""Strict mode: only well-formed spans count, under a given or a guessed scheme."""

from __future__ import annotations

from itertools import product

import pytest
from evaluate_oracles import Column, strict_spans, write_spans
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia.corpus import schemes
from marginalia.errors import SettingsError
from marginalia.evaluate import evaluate, strict

SCHEMES = ["IOB1", "IOB2", "IOE1", "IOE2", "IOBES", "BILOU", "BMES"]
LABELS = ["O", "B", "I", "X-A", ".", *(f"{prefix}-{kind}" for prefix in "BIESLUM" for kind in "AB")]
SENTENCE = st.lists(st.sampled_from(LABELS), max_size=8)


@settings(deadline=None)
@given(st.sampled_from(SCHEMES), st.lists(SENTENCE, max_size=4), st.randoms(use_true_random=False))
def test_agrees_with_looking_at_every_range(scheme: str, gold: Column, random: object) -> None:
    predicted = [[random.choice([label, *LABELS[:6]]) for label in part] for part in gold]  # type: ignore[attr-defined]
    report = evaluate(gold, predicted, mode="strict", scheme=scheme, spans=True)
    spans = [(strict_spans(g, scheme), strict_spans(p, scheme)) for g, p in zip(gold, predicted, strict=True)]
    assert report.gold_spans == sum(len(g) for g, _ in spans)
    assert report.predicted_spans == sum(len(p) for _, p in spans)
    assert report.correct_spans == sum(len(g & p) for g, p in spans)


@pytest.mark.parametrize(
    ("scheme", "labels", "spans"),
    [
        ("IOB2", "O I-A I-A O B-A", 1),  # a span must begin with B
        ("IOB2", "B-A I-B O", 1),  # I-B continues nothing; B-A stands
        ("IOB2", "S-A O", 0),  # no S in this scheme
        ("IOB1", "I-A B-A I-A O I-B", 3),
        ("IOB1", "O B-A I-A", 0),  # B parts spans, and there is none before
        ("IOE2", "I-A E-A E-A O I-A", 2),  # the last one never ends
        ("IOE1", "I-A E-A I-A O", 2),
        ("IOE1", "I-A E-A O", 0),  # E parts spans, and there is none after
        ("IOBES", "B-A E-A S-A O B-A I-A E-A", 3),
        ("IOBES", "B-A I-A O B-A", 0),  # never ended
        ("IOBES", "I-A E-A O E-A", 0),  # never begun
        ("IOBES", "B-A I-B E-A", 0),
        ("IOBES", "B-A I-A B-A E-A", 1),
        ("BILOU", "B-A L-A U-A", 2),
        ("bmes", "B M E S", 2),
    ],
)
def test_hand_worked(scheme: str, labels: str, spans: int) -> None:
    column = [labels.split()]
    assert evaluate(column, column, mode="strict", scheme=scheme).correct_spans == spans


def test_schemes_are_those_of_the_corpus_room() -> None:
    assert strict.ALIASES == schemes.ALIASES
    assert strict.SCHEMES.keys() == schemes.SCHEMES.keys() == set(SCHEMES)
    for name in (*SCHEMES, *schemes.ALIASES):
        for spelled in (name, name.lower()):
            report = evaluate([["O"]], [["O"]], mode="strict", scheme=spelled)
            assert report.scheme == schemes.scheme_named(spelled).name


@pytest.mark.parametrize("scheme", SCHEMES)
def test_legal_labels_spell_the_spans_of_the_corpus_room(scheme: str) -> None:
    rules = schemes.SCHEMES[scheme]
    outside = ["O"] if rules.outside else []
    alphabet = [f"{prefix}-{kind}" for prefix in sorted(rules.prefixes) for kind in "AB"] + outside
    for length in (1, 2, 3):
        for labels in product(alphabet, repeat=length):
            if not schemes.validate(labels, scheme):
                found = evaluate([labels], [labels], mode="strict", scheme=scheme).gold_spans
                assert found == len(schemes.spans_of(labels, scheme)), labels


def test_fragments_are_no_spans_but_conlleval_counts_them() -> None:
    gold, predicted = [["B-A", "I-A", "O", "B-A"]], [["B-A", "I-A", "O", "I-A"]]
    assert evaluate(gold, predicted).f1 == 100
    strict = evaluate(gold, predicted, mode="strict")
    assert (strict.scheme, strict.predicted_spans, strict.correct_spans) == ("IOB2", 1, 1)


@settings(deadline=None)
@given(st.sampled_from(["IOB1", "IOB2", "IOE1", "IOE2", "IOBES"]), st.data())
def test_the_guessed_scheme_finds_the_spans_that_were_written(scheme: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.tuples(st.integers(1, 3), st.sampled_from("OAB")), max_size=6))
    spans, at = [], 0
    for length, kind in cuts:
        if kind != "O":
            spans.append((at, at + length - 1, kind))
        at += length
    column = [write_spans(at, spans, scheme)]
    report = evaluate(column, column, mode="strict")
    assert report.gold_spans == report.correct_spans == len(spans)
    assert evaluate(column, column).gold_spans == len(spans)


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ("B-A I-A O B-A", "IOB2"),
        ("B-A I-A O I-A", "IOB2"),  # one stray label does not change the scheme
        ("I-A B-A O I-A", "IOB1"),
        ("I-A I-A O", "IOB1"),
        ("I-A E-A O", "IOE2"),
        ("I-A E-A I-A O", "IOE1"),
        ("B-A E-A O", "IOBES"),
        ("S-A O", "IOBES"),
        ("B-A L-A O", "BILOU"),
        ("B M E S", "BMES"),
        ("O O", "IOB2"),
    ],
)
def test_guess(labels: str, scheme: str) -> None:
    column = [labels.split()]
    assert evaluate(column, column, mode="strict").scheme == scheme


def test_unknown_scheme_and_mode_name_the_known_ones() -> None:
    with pytest.raises(SettingsError, match=r"scheme: 'IOB3'.*IOB2"):
        evaluate([["O"]], [["O"]], mode="strict", scheme="IOB3")
    with pytest.raises(SettingsError, match="mode: 'lax' is not one of conlleval, strict"):
        evaluate([["O"]], [["O"]], mode="lax")
