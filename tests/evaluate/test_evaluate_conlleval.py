"""conlleval mode: cases worked out by hand from the rules of the script, then its walk as an oracle."""

from __future__ import annotations

import pytest
from evaluate_oracles import Column, conlleval
from hypothesis import given, settings
from hypothesis import strategies as st

from marginalia.evaluate import Report, evaluate, sentence_counts


def counts(gold: str, predicted: str) -> tuple[int, int, int]:
    """The (gold, predicted, correct) spans of labels written with spaces, sentences parted by |."""
    report = score(gold, predicted)
    return report.gold_spans, report.predicted_spans, report.correct_spans


def score(gold: str, predicted: str) -> Report:
    columns = ([part.split() for part in text.split("|")] for text in (gold, predicted))
    return evaluate(*columns, spans=True)


HAND_WORKED = [
    # (what, gold, predicted, (gold, predicted, correct))
    ("all right", "B-NP I-NP O B-VP", "B-NP I-NP O B-VP", (2, 2, 2)),
    ("nothing found", "B-NP I-NP O", "O O O", (1, 0, 0)),
    ("too short", "B-NP I-NP O", "B-NP O O", (1, 1, 0)),
    ("too long", "B-NP O O", "B-NP I-NP O", (1, 1, 0)),
    ("starts late", "B-NP I-NP", "O I-NP", (1, 1, 0)),
    ("wrong type", "B-NP I-NP", "B-VP I-VP", (1, 1, 0)),
    ("I after O starts a chunk", "O B-NP I-NP", "O I-NP I-NP", (1, 1, 1)),
    ("I at the start of a sentence starts a chunk", "B-NP", "I-NP", (1, 1, 1)),
    ("I of another type starts a chunk", "B-NP I-VP", "B-NP B-VP", (2, 2, 2)),
    ("I of another type ends the chunk", "B-NP O", "B-NP I-VP", (1, 2, 1)),
    ("B parts touching chunks", "B-NP B-NP", "B-NP I-NP", (2, 1, 0)),
    ("IOB1 and IOB2 say the same", "I-NP B-NP O I-VP", "B-NP B-NP O B-VP", (3, 3, 3)),
    ("a sentence end ends the chunk", "B-NP | I-NP", "B-NP | B-NP", (2, 2, 2)),
    ("a chunk at the very end is closed", "O | O I-NP I-NP", "O | O B-NP I-NP", (1, 1, 1)),
    ("IOE2: E ends a chunk", "I-NP E-NP I-NP E-NP", "B-NP I-NP B-NP I-NP", (2, 2, 2)),
    ("IOE2: E after E is a chunk of its own", "E-NP E-NP", "B-NP B-NP", (2, 2, 2)),
    ("IOE: E after O starts a chunk", "O E-NP O", "O B-NP O", (1, 1, 1)),
    ("IOBES", "B-NP E-NP S-NP O B-VP I-VP E-VP", "B-NP I-NP B-NP O B-VP I-VP I-VP", (3, 3, 3)),
    ("B after E starts a chunk", "B-NP E-NP B-NP E-NP", "B-NP I-NP B-NP I-NP", (2, 2, 2)),
    ("S after an unfinished B ends it", "B-NP S-NP", "B-NP B-NP", (2, 2, 2)),
    ("I after S starts a chunk", "S-NP I-NP", "B-NP B-NP", (2, 2, 2)),
    ("I after B is the same chunk, E or not", "B-NP I-NP O", "B-NP E-NP O", (1, 1, 1)),
    ("BILOU", "B-NP I-NP L-NP U-NP", "B-NP I-NP E-NP S-NP", (2, 2, 2)),
    ("BMES", "B M E S", "B I E S", (2, 2, 2)),
    ("brackets are chunks of length one", "[-NP ]-NP O", "B-NP B-NP O", (2, 2, 2)),
    ("a dot is never in a chunk", "B-NP .-NP", "B-NP .-VP", (1, 1, 0)),
    ("no types", "B I O B", "B I O I", (2, 2, 2)),
    ("no types, wrong end", "B I O B", "B O O B", (2, 2, 1)),
    ("no type and a type are different types", "B I", "B I-NP", (1, 2, 0)),
    ("types with hyphens are cut at the first one", "B-A-B I-A-B", "B-A-C I-A-C", (1, 1, 0)),
    ("types with hyphens, right", "B-A-B I-A-B O", "I-A-B I-A-B O", (1, 1, 1)),
    ("an unknown prefix starts a chunk where the type changes", "O X-NP X-NP O", "O B-NP I-NP O", (1, 1, 1)),
    ("O with a type is outside", "O-NP B-NP", "O B-NP", (1, 1, 1)),
]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [case[1:] for case in HAND_WORKED],
    ids=[case[0] for case in HAND_WORKED],
)
def test_hand_worked(gold: str, predicted: str, expected: tuple[int, int, int]) -> None:
    assert counts(gold, predicted) == expected


def test_scores_and_table_of_a_hand_worked_text() -> None:
    report = score("B-NP I-NP O B-VP | B-NP O B-PP", "B-NP I-NP O I-VP | B-NP I-NP O")
    # found NP VP NP: the first two are right; 3 of 7 labels are wrong.
    assert report.precision == pytest.approx(200 / 3)
    assert report.recall == pytest.approx(50)
    assert report.f1 == pytest.approx(400 / 7)
    assert report.accuracy == pytest.approx(400 / 7)
    assert report.per_type["NP"][:3] == pytest.approx((50, 50, 50))
    assert report.per_type["VP"] == (100, 100, 100, 1, 1, 1)
    assert report.per_type["PP"] == (0, 0, 0, 1, 0, 0)
    assert list(report.per_type) == ["NP", "PP", "VP"]


PREFIXES = ["B", "I", "E", "S", "O", "[", "]", ".", "L", "U", "M", "X"]
LABELS = ["O", *(prefix + kind for prefix in PREFIXES for kind in ("", "-A", "-B", "-A-B"))]


@st.composite
def columns(draw: st.DrawFn, labels: list[str]) -> tuple[Column, Column]:
    """A gold column and a prediction that often agrees with it, over a few of the labels."""
    pool = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=6))
    gold = draw(st.lists(st.lists(st.sampled_from(pool), max_size=7), max_size=5))
    keep = st.booleans()
    predicted = [[label if draw(keep) else draw(st.sampled_from(pool)) for label in part] for part in gold]
    return gold, predicted


@settings(deadline=None)
@given(st.one_of(columns(LABELS), columns(["O", "B-A", "I-A", "B-B", "I-B"])))
def test_agrees_with_the_walk_of_the_script(pair: tuple[Column, Column]) -> None:
    report, walk = evaluate(*pair, spans=True), conlleval(*pair)
    found = (report.gold_spans, report.predicted_spans, report.correct_spans)
    assert found == (walk.gold.total(), walk.predicted.total(), walk.correct.total())
    kinds = sorted(+walk.gold | +walk.predicted)
    assert {kind: score[3:] for kind, score in report.per_type.items()} == {
        kind: (walk.gold[kind], walk.predicted[kind], walk.correct[kind]) for kind in kinds
    }


@settings(deadline=None)
@given(columns(["O", "B-A", "I-A", "E-A", "S-A", "I-B"]))
def test_sentences_are_counted_apart(pair: tuple[Column, Column]) -> None:
    together = sentence_counts(*pair, spans=True).tolist()
    alone = [sentence_counts([g], [p], spans=True)[0].tolist() for g, p in zip(*pair, strict=True)]
    assert together == alone
