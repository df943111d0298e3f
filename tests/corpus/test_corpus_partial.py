"""What open labels stand for, against enumeration of all ways to place spans."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus.partial import (
    Contradiction,
    Spans,
    Tags,
    certain_pairs,
    is_open,
    span_labels,
    spelled,
)
from marginalia.corpus.records import Span
from marginalia.corpus.schemes import SCHEMES, labels_of, scheme_named, split_label

TYPES = ("X", "Y")


def placements(length: int, outside: bool, start: int = 0) -> Iterator[list[Span]]:
    """All ways to place spans; without `outside`, every token is in one."""
    if start == length:
        yield []
        return
    if outside:
        yield from placements(length, outside, start + 1)
    for end in range(start + 1, length + 1):
        for type_ in TYPES:
            for others in placements(length, outside, end):
                yield [Span(start, end, type_), *others]


def stands_for(pattern: str, label: str) -> bool:
    prefix, type_ = split_label(label)
    for one in pattern.split("|"):
        wanted, wanted_type = split_label(one)
        same_prefix = wanted == prefix or (wanted == "*" and label != "O")
        if one == "_" or (same_prefix and wanted_type in ("*", type_)):
            return True
    return False


def random_labels(chance: random.Random, scheme: str, length: int) -> list[str]:
    """Around an output, or at random; of all kinds that can be written."""
    rules = scheme_named(scheme)
    spans = chance.choice(list(placements(length, rules.outside)))
    every = [f"{p}-{t}" for p in sorted(rules.prefixes) for t in TYPES] + ["O"] * rules.outside
    found = []
    for label in labels_of(spans, length, scheme):
        prefix, type_ = split_label(label)
        kinds = [label, "_", f"{label}|{chance.choice(every)}", chance.choice(every)]
        if label != "O":
            kinds += [f"*-{type_}", f"{prefix}-*", "*-*", f"*-{type_}|{chance.choice(every)}"]
        found.append(chance.choice(kinds))
    return found


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(sorted(SCHEMES)),
    st.sampled_from(sorted(SCHEMES)),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_labels_of_all_outputs_that_fit(scheme: str, encoding: str, length: int, seed: int) -> None:
    chance = random.Random(seed)
    labels = random_labels(chance, scheme, length)
    outside = scheme_named(scheme).outside and scheme_named(encoding).outside
    expected: list[set[str]] = [set() for _ in labels]
    for spans in placements(length, outside):
        said = labels_of(spans, length, scheme)
        if all(map(stands_for, labels, said)):
            for place, label in zip(expected, labels_of(spans, length, encoding), strict=True):
                place.add(label)
    found = Spans(["*-X", "*-Y"], scheme, encoding).of(labels)
    if not all(expected):
        assert isinstance(found, Contradiction)
        return
    assert not isinstance(found, Contradiction)
    assert [set(one) for one in found] == expected


@pytest.mark.parametrize("scheme", ["IOB1", "IOE1"])
def test_a_scheme_with_marks_keeps_what_was_said(scheme: str) -> None:
    """Trained in the scheme of the data, a known label stays one label."""
    meaning = Spans(["I-X"], scheme, scheme)
    assert meaning.of(["I-X", "_", "O"])[0] == {"I-X"}


def test_a_mark_says_that_a_twin_stands_beside_it() -> None:
    before = Spans(["I-X", "I-Y"], "IOB1", "IOB2")
    assert before.of(["_", "B-X"]) == [{"B-X"}, {"B-X"}]
    assert before.of(["_", "_", "B-X|B-Y"])[1] == {"B-X", "I-X", "B-Y", "I-Y"}
    assert before.of(["_", "O", "B-X"]) == Contradiction(2)
    behind = Spans(["I-X", "I-Y"], "IOE1", "IOB2")
    assert behind.of(["E-X", "_", "_"])[1] == {"B-X"}
    assert isinstance(behind.of(["_", "E-X"]), Contradiction)


def test_the_token_at_which_nothing_is_left() -> None:
    meaning = Spans(["B-X", "B-Y"], "IOB2", "IOB2")
    assert meaning.of(["O", "_", "I-X", "_"])[1] == {"B-X"}
    assert meaning.of(["O", "I-X", "_"]) == Contradiction(1)
    assert meaning.of(["_", "B-X", "I-Y"]) == Contradiction(2)
    assert Spans(["B-X"], "IOBES", "IOBES").of(["_", "B-X"]) == Contradiction(1)
    assert meaning.of([]) == []


def test_plain_tags() -> None:
    tags = Tags(["NN", "_", "VB|JJ"])
    assert tags.labels == ["NN", "VB", "JJ"]
    assert tags.of(["NN", "_", "VB|JJ", "NN|_"]) == [
        {"NN"},
        {"NN", "VB", "JJ"},
        {"VB", "JJ"},
        {"NN", "VB", "JJ"},
    ]
    assert "plain tags" in tags.complaint("*-X")
    assert "around each" in tags.complaint("NN|")
    assert not tags.complaint("NN|VB")


def test_labels_that_no_scheme_has() -> None:
    meaning = Spans(["B-X"], "IOB2", "IOB2")
    for label in ("S-X", "B-X|Q", "*-", "B-X|", "X", "*", "*|O", "B-_", "*-_|O"):
        assert meaning.complaint(label), label
    for label in ("_", "*-X", "*-*", "B-*", "O|*-X", "I-X"):
        assert not meaning.complaint(label), label


def test_spans_without_types() -> None:
    """`*` names no type of its own: it means what bare prefixes do, where there are any."""
    assert Spans(["*", "B-X"], "IOB2", "IOB2").labels == ["O", "B-X", "I-X"]
    bare = Spans(["*", "B"], "IOB2", "IOB2")
    assert not bare.complaint("*|O")
    assert bare.of(["*", "*|O"]) == [{"B"}, {"O", "B", "I"}]


def test_what_is_open_and_how_it_is_written() -> None:
    assert [is_open(label) for label in ("_", "A|B", "*-X", "B-*", "*")] == [True] * 5
    assert [is_open(label) for label in ("O", "B-X", "B-X*", "a_b", "X-*-Y")] == [False] * 5
    assert spelled(None) == "_"
    assert spelled({"b", "a"}) == spelled(["a", "b"]) == spelled(("a", "b")) == "a|b"
    for bad in (3, [], ["a", 3], {}, {None, "a"}, {3, "a"}):
        with pytest.raises(mg.DataError, match="found the label"):
            spelled(bad)


def test_neighbours_that_tell_a_scheme() -> None:
    pairs = {("", "_"): 3, ("_", "I-X"): 2, ("B-X", "I-X"): 1, ("O", "B-Y|*-X"): 4, ("S-*", "_"): 1}
    known = {"I-X", "B-X", "O", "B-Y", "S-*"}
    assert certain_pairs(pairs) == {("B-X", "I-X"): 1} | {(x, x): 0 for x in known - {"B-X"}}


def lines(tmp_path: Path, text: str) -> list[mg.Sentence]:
    path = tmp_path / "data.jsonl"
    path.write_text(text)
    return list(mg.read_jsonl(path))


def test_spans_and_unknown_regions(tmp_path: Path) -> None:
    text = (
        '{"tokens": ["a", "b", "c", "d", "e", "f"], "spans": [[0, 2, "X|Y"], [5, 6, "*"]], '
        '"unknown": [[2, 4], [4, 5, "X"]]}\n'
        '{"text": "one two three", "spans": [[0, 3, "X"]], "unknown": [[4, 13, "Y|X"]]}\n'
        '{"text": "one two", "spans": [[0, 3, "X"]]}\n'
    )
    first, second, third = lines(tmp_path, text)
    assert span_labels(first) == ["B-X|B-Y", "I-X|I-Y", "O|B-*", "_", "*-X", "B-*"]
    assert span_labels(second) == ["B-X", "B-Y|B-X", "*-Y|*-X"]
    assert span_labels(third) == ["B-X", "O"]


def test_regions_that_do_not_fit(tmp_path: Path) -> None:
    for unknown, why in [
        ("[[0, 9]]", "found the unknown region"),
        ("[[1, 1]]", "found the unknown region"),
        ('[["a", 2]]', "found the unknown region"),
        ("3", "found the unknown region"),
        ("[[0, 1]]", "found a span in an unknown region at token 1"),
        ('[[1, 2], [1, 2, "X"]]', "found two unknown regions at token 2"),
        ('[[1, 2, ""]]', "expected types of spans"),
        ('[[1, 2, "X|O"]]', "expected types of spans"),
        ('[[1, 2, "X|"]]', "expected types of spans"),
        ('[[1, 2, "_"]]', "expected types of spans"),
    ]:
        [sentence] = lines(
            tmp_path, f'{{"tokens": ["a", "b"], "spans": [[0, 1, "X"]], "unknown": {unknown}}}'
        )
        with pytest.raises(mg.DataError, match=why):
            span_labels(sentence, "data.jsonl")


def test_labels_of_spans_that_cannot_be_read(tmp_path: Path) -> None:
    for label in ("_", "X|", "|X", "X|O", "X|_"):
        [sentence] = lines(tmp_path, f'{{"tokens": ["a", "b"], "spans": [[0, 1, "{label}"]]}}')
        with pytest.raises(mg.DataError, match=r"data.jsonl:1: found the span label .*, expected types"):
            span_labels(sentence, "data.jsonl")
    for label, expected in [("", "B"), ("O", "B-O"), ("*", "B-*")]:
        [sentence] = lines(tmp_path, f'{{"tokens": ["a", "b"], "spans": [[0, 1, "{label}"]]}}')
        assert span_labels(sentence)[0] == expected


def test_every_placement_is_made() -> None:
    assert len(list(placements(2, True))) == 1 + 2 + 2 + 4 + 2
    assert len(set(map(tuple, placements(3, True)))) == len(list(placements(3, True)))
    assert list(itertools.islice(placements(0, True), 2)) == [[]]
