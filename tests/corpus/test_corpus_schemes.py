"""Label schemes against brute force: every set of spans over a few tokens."""

from __future__ import annotations

import itertools
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus import (
    SCHEMES,
    Span,
    convert,
    detect,
    labels_of,
    legal_transitions,
    repair,
    spans_of,
    validate,
)
from marginalia.corpus.schemes import scheme_named
from marginalia.errors import DataError, SettingsError

NAMES = list(SCHEMES)
TYPES = ("X", "Y-1")


def span_sets(length: int, start: int = 0, covered: bool = False) -> list[list[Span]]:
    """All ways to put spans on tokens; without gaps if `covered`."""
    if start == length:
        return [[]]
    found = [] if covered else span_sets(length, start + 1)
    for end in range(start + 1, length + 1):
        rest = span_sets(length, end, covered)
        found += [[Span(start, end, label), *spans] for label in TYPES for spans in rest]
    return found


@cache
def spelled(name: str, length: int) -> frozenset[tuple[str, ...]]:
    """All label sequences that the scheme can spell."""
    spans = span_sets(length, covered=not SCHEMES[name].outside)
    return frozenset(tuple(labels_of(s, length, name)) for s in spans)


def alphabet(name: str) -> list[str]:
    labels = [f"{prefix}-{label}" for prefix in sorted(SCHEMES[name].prefixes) for label in TYPES]
    return labels + (["O"] if SCHEMES[name].outside else [])


@pytest.mark.parametrize("name", NAMES)
def test_spans_survive_their_labels(name: str) -> None:
    for length in range(5):
        for spans in span_sets(length, covered=not SCHEMES[name].outside):
            labels = labels_of(spans, length, name)
            assert spans_of(labels, name) == spans
            assert validate(labels, name) == []
            assert repair(labels, name) == (labels, 0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_masks_allow_exactly_what_spans_can_spell(name: str, length: int) -> None:
    labels = alphabet(name)
    start, transition, end = legal_transitions(labels, name)
    allowed = {
        tuple(labels[i] for i in path)
        for path in itertools.product(range(len(labels)), repeat=length)
        if start[path[0]] and end[path[-1]] and all(transition[a, b] for a, b in itertools.pairwise(path))
    }
    assert allowed == spelled(name, length)


@pytest.mark.parametrize("name", NAMES)
def test_validate_and_repair_agree_with_brute_force(name: str) -> None:
    for labels in itertools.product(alphabet(name), repeat=3):
        assert bool(validate(labels, name)) == (labels not in spelled(name, 3))
        mended, changed = repair(labels, name)
        assert tuple(mended) in spelled(name, 3)
        assert changed == sum(a != b for a, b in zip(labels, mended, strict=True))
        assert spans_of(mended, name) == spans_of(labels, name)


@pytest.mark.parametrize(("source", "target"), list(itertools.permutations(NAMES, 2)))
def test_convert_there_and_back(source: str, target: str) -> None:
    covered = not (SCHEMES[source].outside and SCHEMES[target].outside)
    for spans in span_sets(4, covered=covered):
        labels = labels_of(spans, 4, source)
        assert convert(convert(labels, source, target), target, source) == labels


def test_bare_prefixes_have_an_empty_type() -> None:
    assert spans_of(["I", "B", "O", "I"], "IOB1") == [Span(0, 1, ""), Span(1, 2, ""), Span(3, 4, "")]
    assert labels_of([Span(0, 1, ""), Span(1, 2, "")], 3, "IOB1") == ["I", "B", "O"]
    assert [problem.position for problem in validate(["B", "O", "B"], "IOB1")] == [0, 2]
    start, transition, _ = legal_transitions(["O", "I", "B"], "IOB1")
    assert (start.tolist(), transition[0].tolist()) == ([1, 1, 0], [1, 1, 0])


def test_types_may_contain_dashes() -> None:
    assert spans_of(["B-a-b", "I-a-b", "I-a"], "IOB2") == [Span(0, 2, "a-b"), Span(2, 3, "a")]


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        (["B-X", "I-X", "O", "B-X"], "IOB2"),
        (["I-X", "I-X", "O", "I-X", "B-X"], "IOB1"),
        (["I", "B", "O", "I"], "IOB1"),
        (["I-X", "E-X", "I-X", "O"], "IOE1"),
        (["I-X", "E-X", "O", "E-X"], "IOE2"),
        (["B-X", "E-X", "S-X", "O"], "IOBES"),
        (["B-X", "L-X", "U-X", "O"], "BILOU"),
        (["B", "M", "E", "S"], "BMES"),
        (["B-nr", "M-nr", "E-nr", "S-v"], "BMES"),
        (["O", "O"], "IOB2"),
        (["NN", "O"], None),
        (["B-", "O"], None),
        ([], None),
    ],
)
def test_detect(labels: list[str], scheme: str | None) -> None:
    assert detect([labels]) == scheme
    assert detect([labels, labels]) == scheme


def test_detect_forgives_a_few_errors() -> None:
    good = ["O", "B-X", "I-X", "O", "B-Y"]
    assert detect([good] * 20 + [["O", "I-X", "O"]]) == "IOB2"
    assert detect([["O", "I-X", "O", "I-X"]] * 20 + [["O", "B-X"]]) == "IOB1"


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_detect_finds_a_scheme_that_reads_the_same_spans(name: str, data: st.DataObject) -> None:
    sequences = data.draw(st.lists(st.sampled_from(sorted(spelled(name, 4))), min_size=1, max_size=4))
    found = detect(sequences)
    assert found is not None
    assert not any(validate(labels, found) for labels in sequences)
    assert NAMES.index(found) <= NAMES.index(name)


def test_problems_say_why() -> None:
    (problem,) = validate(["O", "I-X", "I-X"], "bio")
    assert problem == (1, "I-X", "O", "I-X cannot follow O in IOB2")
    whys = [problem.why for problem in validate(["E-X", "NN", "O", "B-X"], "IOBES")]
    assert whys == [
        "E-X cannot start a sentence in IOBES",
        "'NN' is not a label of IOBES",
        "B-X cannot end a sentence in IOBES",
    ]


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([Span(0, 2, "X"), Span(1, 3, "X")], "overlaps"),
        ([Span(2, 4, "X")], "outside of 3 tokens"),
        ([Span(1, 1, "X")], "empty"),
        ([Span(-1, 1, "X")], "outside"),
    ],
)
def test_impossible_spans(spans: list[Span], message: str) -> None:
    with pytest.raises(DataError, match=message):
        labels_of(spans, 3, "IOB2")


def test_what_a_scheme_cannot_spell() -> None:
    with pytest.raises(DataError, match="token 2 is in no span, but BMES has no label for that"):
        convert(["B-X", "O"], "IOB2", "BMES")
    with pytest.raises(DataError, match="found label 'E-X' at token 2, expected a label of IOB2"):
        spans_of(["O", "E-X"], "IOB2")
    with pytest.raises(SettingsError, match="found scheme 'IOBX', expected one of IOB2, IOBES"):
        scheme_named("IOBX")


def test_no_scheme_allows_everything() -> None:
    start, transition, end = legal_transitions(["NN", "VB"], None)
    assert (start.tolist(), transition.tolist(), end.tolist()) == ([1, 1], [[1, 1], [1, 1]], [1, 1])
