"""Constraints in words: what users get is the best of all outputs that meet them, for every structure."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.corpus import labels_of
from marginalia.decode.constraints import Names, parse_constraint

Toys = Callable[..., Any]

TEMPLATES = "word[-1..1]\ntag[0]\nedge:\n"
SEGMENTS = "word[b]\nword[e]\nword[j]\ntag[e+1]\nlength\nedge:\n"
CHAIN: dict[str, Any] = {"structure": "chain"}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "IOB2": ("IOB2", CHAIN),
    "order 2": ("IOB2", CHAIN | {"order": 2}),
    "IOBES inside": ("IOB2", CHAIN | {"encode": "IOBES"}),
    "IOB1": ("IOB1", CHAIN),
    "IOE1": ("IOE1", CHAIN),
    "IOBES shown, IOB2 inside": ("IOBES", CHAIN | {"encode": "IOB2"}),
    "IOE2": ("IOE2", CHAIN | {"order": 2}),
    "illegal allowed": ("IOB2", CHAIN | {"legal": False}),
    "voted": ("IOB2", CHAIN | {"average": "vote"}),
    "maxent": ("IOB2", CHAIN | {"learner": "maxent"}),
    "beam": ("IOB2", CHAIN | {"learner": "maxent", "search": "beam"}),
    "plain tags": ("plain", CHAIN),
    "segments": ("IOB2", {"structure": "segments"}),
    "segments, IOB1": ("IOB1", {"structure": "segments", "max-length": 3}),
    "segments, plain": ("plain", {"structure": "segments"}),
}


def train(toys: Toys, folder: Path, scheme: str, settings: dict[str, Any]) -> mg.Tagger:
    data = toys(40, scheme="IOB2" if scheme == "plain" else scheme)
    twins = [(mg.Span(0, 1, "X"), mg.Span(1, 3, "X")), (mg.Span(0, 1, "Y"), mg.Span(1, 3, "Y"))]
    if scheme == "plain":
        data = [(columns, [label[-1] for label in labels]) for columns, labels in data]
    else:
        columns = {"word": ["x1", "x2", "y3"], "tag": ["T0", "T1", "T2"]}
        data += [(columns, labels_of(spans, 3, scheme)) for spans in twins]
    (folder / "t.txt").write_text(SEGMENTS if settings["structure"] == "segments" else TEMPLATES)
    return mg.train(data, features=str(folder / "t.txt"), passes=2, **settings)


@pytest.fixture(scope="module")
def taggers(toys: Toys, tmp_path_factory: pytest.TempPathFactory) -> dict[str, mg.Tagger]:
    folder = tmp_path_factory.mktemp("templates")
    return {name: train(toys, folder, *variant) for name, variant in VARIANTS.items()}


def with_random_weights(tagger: mg.Tagger, seed: int) -> mg.Tagger:
    rng = np.random.default_rng(seed)
    arrays = dict(tagger.saved.arrays)
    for name in ("weights", "constants"):
        arrays[name] = rng.normal(size=arrays[name].size).astype(np.float32)
    return mg.Tagger(replace(tagger.saved, arrays=arrays))


class Naive:
    """What the words mean, in the plainest way: from labels and spans as users see them."""

    def __init__(self, tagged: mg.Tagged) -> None:
        self.labels, self.spans = tagged.labels, tagged.spans
        self.has_spans = tagged.scheme is not None

    def places(self, name: str) -> list[tuple[int, int]]:
        """First and last tokens, from 1 on, of what a name stands for."""
        if self.has_spans and name in "XY":
            return [(span.start + 1, span.end) for span in self.spans if span.label == name]
        return [(t, t) for t, label in enumerate(self.labels, 1) if self.stands(name, label)]

    def stands(self, name: str, label: str) -> bool:
        return label == name or (name[0] == "*" and label != "O" and label[-1] == name[-1])

    def tokens(self, name: str) -> set[int]:
        return {t for first, last in self.places(name) for t in range(first, last + 1)}

    def meets(self, text: str) -> bool:
        if found := re.fullmatch(r"(\d+)(?:-(\d+))?(!?=)(.+)", text):
            return self.meets_at(
                int(found[1]), int(found[2] or found[1]), found[4].split("|"), found[3] == "="
            )
        kind, *rest = text.split()
        if kind == "never" and len(rest) == 3:
            ends, firsts = ({p[i] for p in self.places(rest[2 * (1 - i)])} for i in (1, 0))
            return not any(end + 1 in firsts for end in ends)
        if kind == "never":
            return not self.places(rest[0])
        if kind == "only":
            allowed = set().union(*(self.tokens(name) for name in rest))
            if self.has_spans and set(rest) & set("XY"):
                allowed |= self.tokens("O")
            return allowed == set(range(1, len(self.labels) + 1))
        if rest[0] == "before":
            return all(a[0] <= b[0] for a in self.places(kind) for b in self.places(rest[1]))
        count, name = int(rest[-2]), rest[-1]
        found_count = len(self.places(name))
        return {"most": found_count <= count, "least": found_count >= count}.get(
            rest[0], found_count == count
        )

    def meets_at(self, first: int, last: int, names: Sequence[str], wanted: bool) -> bool:
        if last > len(self.labels):
            return True
        if self.has_spans and names[0] in "XY":
            return any((first, last) in self.places(name) for name in names) == wanted
        tokens = set().union(*(self.tokens(name) for name in names))
        return all((t in tokens) == wanted for t in range(first, last + 1))


def random_constraints(rng: random.Random, tagger: mg.Tagger, length: int) -> list[str]:
    types = ["X", "Y"]
    any_label = ["*-X"] if tagger.saved.scheme is not None else []
    labels = [*tagger.labels, *any_label]
    names = [*types, *types, *labels]

    def one() -> str:
        first, last = sorted(rng.choices(range(1, length + 2), k=2))
        sign, name, other = rng.choice(["=", "!="]), rng.choice(names), rng.choice(names)
        group = rng.sample(rng.choice([types, labels]), rng.randint(1, 2))
        return rng.choice(
            [
                f"{first}{sign}{'|'.join(group)}",
                f"{first}-{last}{sign}{'|'.join(group)}",
                f"at most {rng.randint(0, 2)} {name}",
                f"at least {rng.randint(0, 2)} {name}",
                f"exactly {rng.randint(1, 2)} {name}",
                f"{name} before {other}",
                f"never {name}",
                f"never {name} then {other}",
                f"only {' '.join(dict.fromkeys([name, other]))}",
            ]
        )

    return [one() for _ in range(rng.randint(1, 3))]


words = st.lists(st.sampled_from(["x1", "x2", "y1", "y3", "o2", "any1"]), min_size=1, max_size=5)


@settings(max_examples=60)
@given(words, st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", VARIANTS)
def test_the_best_output_that_meets_them(
    taggers: dict[str, mg.Tagger], name: str, sentence: list[str], seed: int
) -> None:
    rng = random.Random(seed)
    tagger = with_random_weights(taggers[name], seed)
    if name == "beam":  # of which a beam may miss outputs: constraints are met exactly all the same
        exact = mg.Tagger(replace(tagger.saved, settings=tagger.saved.settings | {"search": "exact"}))
    else:
        exact = tagger
    columns = {"word": sentence, "tag": [rng.choice(["T0", "T1"]) for _ in sentence]}
    constraints = random_constraints(rng, tagger, len(sentence))
    outputs = list(exact.iter_nbest(columns))
    fitting = [output for output in outputs if all(map(Naive(output).meets, constraints))]
    free = tagger.tag(columns)
    found = tagger.tag(columns, constraints=constraints)
    assert found.exact
    if fitting:
        assert found.broken == ()
        assert all(map(Naive(found).meets, constraints))
        if all(map(Naive(free).meets, constraints)):
            assert found.labels == free.labels
        else:
            score = next(output.score for output in outputs if output.labels == found.labels)
            assert score == pytest.approx(fitting[0].score)
        ranked = tagger.nbest(columns, 4, constraints=constraints)
        assert [one.score for one in ranked] == pytest.approx([one.score for one in fitting[:4]])
        assert all(one.broken == () for one in ranked)
    else:
        assert set(found.broken) == {
            str(parse_constraint(s)) for s in constraints if not Naive(found).meets(s)
        }
        assert found.broken
        assert found.labels in {output.labels for output in outputs}


@settings(max_examples=100)
@given(words, st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("name", ["IOB2", "IOB1", "plain tags"])
def test_what_holds(taggers: dict[str, mg.Tagger], name: str, sentence: list[str], seed: int) -> None:
    rng = random.Random(seed)
    tagger = with_random_weights(taggers[name], seed)
    output = tagger.tag({"word": sentence, "tag": ["T0"] * len(sentence)})
    names = Names(tagger.labels, tagger.saved.scheme)
    for constraints in random_constraints(rng, tagger, len(sentence)):
        assert names.holds(parse_constraint(constraints), output.labels) == Naive(output).meets(constraints)


@pytest.mark.parametrize("name", ["IOB2", "IOB1", "order 2", "segments", "plain tags"])
def test_half_labelled_sentences_are_completed(taggers: dict[str, mg.Tagger], name: str, toys: Toys) -> None:
    tagger = taggers[name]
    for columns, _ in toys(10, seed=3):
        whole = tagger.nbest(columns, 7)[-1].labels
        given_labels = [label if t % 2 else None for t, label in enumerate(whole)]
        found = tagger.tag(columns, constraints=mg.given(given_labels))
        assert all(want in (None, label) for want, label in zip(given_labels, found.labels, strict=True))
        assert tagger.tag(columns, constraints=mg.given(whole)).labels == whole


def test_documents_are_counted_by_sentence(toys: Toys, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TEMPLATES)
    data = [mg.Sentence(c | {"label": y}, document=i // 4) for i, (c, y) in enumerate(toys(24))]
    tagger = mg.train(data, label="label", features=str(tmp_path / "t.txt"), passes=2, unit="document")
    sentences = [replace_label(sentence) for sentence in data]
    constraints = mg.Constraints.of(["at most 1 X", "at least 1 Y"], {3: ["1!=B-X"], 5: ["1-1=Y"]})
    found = tagger.tag_all(sentences, constraints=constraints)
    for number, one in enumerate(found, 1):
        naive = Naive(one)
        own = {3: ["1!=B-X"], 5: ["1-1=Y"]}.get(number, [])
        assert set(one.broken) == {s for s in ["at most 1 X", "at least 1 Y", *own] if not naive.meets(s)}
        assert one.broken == ()
    assert any(len(one.spans) > 1 for one in found)
    with pytest.raises(mg.SettingsError, match="whole documents"):
        tagger.tag_all(sentences, constraints=mg.Constraints.of([], {1: ["at most 1 X"]}))


def replace_label(sentence: mg.Sentence) -> mg.Sentence:
    columns = {name: values for name, values in sentence.columns.items() if name != "label"}
    return replace(sentence, columns=columns)


def test_sentences_of_their_own(taggers: dict[str, mg.Tagger], toys: Toys) -> None:
    tagger = taggers["IOB2"]
    sentences = [columns for columns, _ in toys(9, seed=4)]
    own = {2: ["at least 2 Y"], 5: ["1=O", "never X"], 9: ["at least 2 Y"]}
    found = tagger.tag_all(sentences, threads=3, constraints=mg.Constraints.of("at most 2 X", own))
    for number, (columns, one) in enumerate(zip(sentences, found, strict=True), 1):
        alone = tagger.tag(columns, constraints=["at most 2 X", *own.get(number, [])])
        assert one == alone
    with pytest.raises(mg.SettingsError, match="for sentence 10 of 9"):
        tagger.tag_all(sentences, constraints=mg.Constraints.of([], {10: ["1=O"]}))
    with pytest.raises(mg.DataError, match=r"sentence 1: found 99=O, but it has \d+ tokens"):
        tagger.tag_all(sentences, constraints=mg.Constraints.of([], {1: ["99=O"]}))


def test_objects_say_the_same_as_words() -> None:
    for constraints in (
        mg.At(3, 3, ("B-X",)),
        mg.At(3, 5, ("X", "Y"), forbid=True),
        mg.Count("X", 0, 1),
        mg.Count("X", 2),
        mg.Count("X", 2, 2),
        mg.Before("X", "Y"),
        mg.Never("X"),
        mg.Never("X", "Y"),
        mg.Only(("X", "Y")),
    ):
        assert parse_constraint(str(constraints)) == constraints == parse_constraint(constraints)
    assert str(mg.Count("X", 1, 3)) == "at least 1 X and at most 3 X"


def test_names_with_blanks_and_bars(tmp_path: Path) -> None:
    """Labels of plain tags may be anything."""
    tags = ["a b", "a|b", "a", "b", "_"]
    data = [([f"w{i}" for i in range(5)], tags), (["w0", "w1"], ["a b", "a|b"])] * 4
    tagger = mg.train(data)
    for constraints in (
        mg.At(1, 1, ("a b", "a")),
        mg.Count("a b", 0, 1),
        mg.Before("a b", "a"),
        mg.Only(("a b", "a|b")),
    ):
        assert parse_constraint(str(constraints)) == constraints
    assert tagger.tag(["w9", "w9"], constraints=['1="a b"', "2=a|b"]).labels == ("a b", "a|b")
    assert tagger.tag(["w9", "w9"], constraints=mg.given(["a|b", "b|a"])).labels[0] == "a|b"
    assert tagger.tag(["w9", "w9"], constraints=mg.given(["a|b", "b|a"])).labels[1] in ("a", "b")


def test_no_tokens_and_no_constraints(taggers: dict[str, mg.Tagger]) -> None:
    nothing: dict[str, list[str]] = {"word": [], "tag": []}
    assert taggers["IOB2"].tag(nothing, constraints="at least 1 X").broken == ()
    assert taggers["IOB2"].nbest(nothing, 1, constraints="at least 1 X")[0].broken == ()
    columns = {"word": ["x1"], "tag": ["T0"]}
    assert taggers["IOB2"].tag(columns, constraints=None) == taggers["IOB2"].tag(columns)
    assert parse_constraint("Exactly 2 X") == parse_constraint("exactly 2 X")


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (5, "found 5, expected a text"),
        ([5], "found 5, expected a text"),
        ("at least 9999999999 X", "least <= most <= 1,000,000,000"),
        ("", "found '', expected something like 3=B-NP"),
        ("at most X", "expected something like"),
        ("0=O", "tokens from 1 on"),
        ("3-2=X", "the first one first"),
        (mg.Count("X", 3, 2), "0 <= least <= most"),
        (mg.At(1, 1, ()), "expected names"),
        (mg.Only(()), "expected names"),
        ("1=X|", "expected names"),
        ("1=Z", "the model does not know 'Z'"),
        ("at most 1 B-Z", "the model does not know 'B-Z'"),
        ("never *-Z", "the model does not know '*-Z'"),
        ("1=X|B-X", "not both"),
    ],
)
def test_what_makes_no_sense_is_refused(
    taggers: dict[str, mg.Tagger], constraints: Any, message: str
) -> None:
    with pytest.raises(mg.SettingsError, match=re.escape(message)):
        taggers["IOB2"].tag({"word": ["x1"], "tag": ["T0"]}, constraints=constraints)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "constraints.txt"
    path.write_text("\ufeff# all\nat most 1 X\n\n12: 3=B-X\n 12: never Y \nX before Y\r\n")
    found = mg.read_constraints(path)
    assert found.everywhere == (mg.Count("X", 0, 1), mg.Before("X", "Y"))
    assert found.by_sentence == {12: (mg.At(3, 3, ("B-X",)), mg.Never("Y"))}
    for text, message in (
        ("at most 1 X\nat must 1 X\n", r"constraints.txt:2: constraint: found 'at must 1 X'"),
        ("0: 1=O\n", r"constraints.txt:1: constraint: found sentence 0"),
    ):
        path.write_text(text)
        with pytest.raises(mg.DataError, match=message):
            mg.read_constraints(path)
    path.write_bytes(b"at most 1 \xff\n")
    with pytest.raises(mg.DataError, match="UTF-8"):
        mg.read_constraints(path)


def test_explanations_name_them(taggers: dict[str, mg.Tagger], toys: Toys) -> None:
    for name in ("IOB2", "IOB1", "segments", "maxent"):
        tagger, told = with_random_weights(taggers[name], 1), 0
        for columns, _ in toys(20, seed=7):
            free = tagger.tag(columns)
            if not free.spans:
                continue
            first = free.spans[0].label
            constraints = [
                f"at most {sum(span.label == first for span in free.spans) - 1} {first}",
                f"1!={free.labels[0]}",
            ]
            found = tagger.explain(columns, constraints=constraints)
            assert found.chosen.labels == tagger.tag(columns, constraints=constraints).labels
            assert found.other.labels == free.labels
            assert found.against == "best without constraints"
            reasons = [reason for reason in found.reasons if reason.kind == "constraint"]
            broken = [s for s in constraints if not Naive(free).meets(s)]
            assert [reason.feature for reason in reasons] == broken
            assert found.reasons[: len(reasons)] == tuple(reasons)
            assert found.difference == pytest.approx(found.chosen.score - found.other.score)  # type: ignore[operator]
            assert f"the constraint '{broken[0]}' forbids" in found.to_text()
            assert "forbids" in found.to_html()
            told += 1
        assert told


def test_constraints_that_change_nothing_explain_the_runner_up(taggers: dict[str, mg.Tagger]) -> None:
    columns = {"word": ["x1", "o2"], "tag": ["T0", "T0"]}
    tagger = taggers["IOB2"]
    plain = tagger.explain(columns)
    found = tagger.explain(columns, constraints=[f"1={plain.chosen.labels[0]}"])
    assert found.against == "runner-up"
    assert [r for r in found.reasons if r.kind != "constraint"] == list(plain.reasons)


def test_infeasible_ones_are_told(taggers: dict[str, mg.Tagger]) -> None:
    columns = {"word": ["x1", "o2"], "tag": ["T0", "T0"]}
    found = taggers["IOB2"].explain(columns, constraints=["1=I-X", "never Y"])
    assert any("breaks: 1=I-X" in note for note in found.notes)
    assert taggers["IOB2"].tag(columns, constraints=["1=I-X", "never Y"]).broken == ("1=I-X",)
