"""Templates, indices and phrase lists, against the naive extractor and counting by dictionaries."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_extractor import expand, longest_matches
from oracles import steady
from worlds import Trained, World, extractor_of, random_sentence, random_world, table_of, worlds

from marginalia import _core
from marginalia.features.program import Attribute, Template, TemplateProgram, Value

COLUMNS = ["word", "tag"]
WORDS = ["a", "A", "ab", "Abba", "ba-b", "b", "Ωα", "naïve", "", "4b", "aab"]
FUNCTIONS = [
    *[
        ("column", ""),
        ("lower", ""),
        ("shape", ""),
        ("collapsed-shape", ""),
        ("has", "upper"),
        ("match", "b*"),
    ],
    *[(f, str(n)) for f in ["prefix", "suffix"] for n in [1, 2, 3]],
]
words = st.sampled_from(WORDS)
attributes = st.one_of(
    st.builds(lambda f, c: Attribute(*f, c), st.sampled_from(FUNCTIONS), st.sampled_from(COLUMNS)),
    st.just(Attribute("first", "", "")),
    st.builds(
        lambda name, c: Attribute("list", name, c), st.sampled_from(["one", "two"]), st.sampled_from(COLUMNS)
    ),
)
outside = st.lists(st.sampled_from(["", "_B", "<s>", "a"]), min_size=1, max_size=3).map(tuple)
sentences = st.lists(st.tuples(words, words), max_size=6)
phrases = st.lists(st.lists(words.filter(bool), min_size=1, max_size=3).map(" ".join), max_size=6)


@st.composite
def programs(draw: st.DrawFn) -> TemplateProgram:
    made = draw(st.lists(attributes, min_size=1, max_size=5))
    values = st.builds(
        Value, st.integers(0, len(made) - 1), st.integers(-8, 8), st.booleans(), outside, outside
    )
    pieces = st.lists(st.one_of(values, st.sampled_from(["", "/", "x="])), max_size=4).map(tuple)
    templates = st.builds(Template, st.sampled_from(["node", "edge"]), pieces)
    return TemplateProgram(tuple(made), tuple(draw(st.lists(templates, max_size=6))), {"one": "", "two": ""})


def native(program: TemplateProgram, lists: dict[str, list[str]]) -> _core.FeatureExtractor:
    names = list(lists)
    sources = [
        (
            a.function,
            a.argument,
            COLUMNS.index(a.column or "word"),
            names.index(a.argument) if a.function == "list" else 0,
        )
        for a in program.attributes
    ]
    return _core.FeatureExtractor(
        sources,
        [(t.scope == "edge", [fields(piece) for piece in t.pieces]) for t in program.templates],
        [_core.PhraseSet([phrase.split(" ") for phrase in lists[name]]) for name in names],
        len(COLUMNS),
    )


def fields(piece: str | Value) -> tuple[Any, ...]:
    if isinstance(piece, str):
        return (piece, -1, 0, False, [], [])
    return ("", piece.attribute, piece.offset, piece.absolute, list(piece.before), list(piece.after))


def expected_names(program: TemplateProgram, corpus: list[Any], lists: dict[str, list[str]]) -> list[Any]:
    found = []
    for sentence in corpus:
        columns = {name: [token[c] for token in sentence] for c, name in enumerate(COLUMNS)}
        found += [[(scope == "edge", n) for scope, n in token] for token in expand(program, columns, lists)]
    return found


@settings(steady, max_examples=250)
@given(programs(), st.lists(sentences, max_size=4), phrases, phrases)
def test_names_are_those_of_the_naive_program(
    program: TemplateProgram, corpus: list[Any], one: list[str], two: list[str]
) -> None:
    """`names` itself checks that every key is the hash of its name."""
    lists = {"one": one, "two": two}
    assert native(program, lists).names(table_of(corpus)) == expected_names(program, corpus, lists)


@settings(steady, max_examples=100)
@given(programs(), st.lists(sentences, min_size=1, max_size=8), phrases, st.integers(0, 4))
def test_cut_keeps_what_was_counted_often_enough(
    program: TemplateProgram, corpus: list[Any], one: list[str], least: int
) -> None:
    lists = {"one": one, "two": []}
    run, table = native(program, lists), table_of(corpus)
    counts = Counter(name for token in expected_names(program, corpus, lists) for name in token)
    index, examples = _core.FeatureIndex(True), _core.ExampleRows()
    examples.add_growing(run, table, index)
    assert [index.name(row).decode() for row in range(1, len(index) + 1)] == [name for _, name in counts]
    index.cut(least, [examples])
    kept = [name for (_, name), count in counts.items() if count >= least]
    assert [index.name(row).decode() for row in range(1, len(index) + 1)] == kept
    assert (examples.tokens, examples.sentences) == (table.tokens, table.sentences)
    assert examples.starts.tolist() == table.sentence_starts.tolist()


def learned(world: World, index: _core.FeatureIndex, examples: _core.ExampleRows) -> list[Any]:
    """All weights after two passes: equal for equal examples."""
    examples.set_gold(np.array([c for y in world.gold for c in y], np.int32), world.labels)
    weights = _core.WeightTable(len(index) + 1, world.shape.constants)
    order = np.arange(len(world.sentences), dtype=np.uint32)
    Trained(world, index, examples, weights, 0).learn(_core.UpdateRule.perceptron(), [*order, *order])
    return [[a.tolist() for a in weights.current.cells(row)] for row in range(len(index) + 1)]


@settings(steady, max_examples=60)
@given(worlds(count=8), st.integers(0, 3))
def test_ways_to_the_same_examples(world: World, least: int) -> None:
    """Growing then cutting = counting, cutting and then reading = reading sentence by sentence."""
    grown, counted = _core.FeatureIndex(True), _core.FeatureIndex(True)
    first, second, third = _core.ExampleRows(), _core.ExampleRows(), _core.ExampleRows()
    first.add_growing(world.program, world.table(), grown)
    grown.cut(least, [first])
    for sentence in world.sentences:
        counted.count(world.program, table_of([sentence]))
    counted.cut(least, [])
    second.add_known(world.program, world.table(), counted)
    for sentence in world.sentences:
        third.add_known(world.program, table_of([sentence]), grown)
    expected = learned(world, grown, first)
    assert learned(world, counted, second) == expected
    assert learned(world, grown, third) == expected


def test_an_index_without_names() -> None:
    index = _core.FeatureIndex(False)
    index.count(extractor_of(True), table_of([random_sentence(np.random.default_rng(0), 50)]))
    assert len(index) > 10
    assert index.name(1) == b""
    with pytest.raises(IndexError):
        index.name(len(index) + 1)


@settings(steady, max_examples=300)
@given(phrases, st.lists(words, max_size=12))
def test_longest_matches(known: list[str], tokens: list[str]) -> None:
    made = _core.PhraseSet([phrase.split(" ") for phrase in known])
    for phrase_set in [made, _core.PhraseSet.from_states(made.states)]:
        template = (False, [("", 0, 0, False, [""], [""])])
        program = _core.FeatureExtractor([("list", "", 0, 0)], [template], [phrase_set], 1)
        names = program.names(_core.from_columns([tokens], [len(tokens)]))
        assert [t[0][1] if t else None for t in names] == longest_matches(tokens, known)


def test_a_hundred_thousand_tokens() -> None:
    rng = np.random.default_rng(5)
    stretches = [["-", *rng.choice(WORDS[:4], 24).tolist()] for _ in range(4_000)]  # no phrase has a "-"
    tags = [tag for stretch in stretches for tag in stretch]
    words = [f"w{n}" for n in rng.integers(0, 30_000, len(tags))]
    columns = tuple(Attribute("column", "", name) for name in COLUMNS)
    made = (*columns, Attribute("list", "one", "tag"), Attribute("first", "", ""))

    def here(k: int, offset: int = 0) -> Value:
        return Value(k, offset, False, ("<",), (">",))

    pieces = [(here(0),), (here(2), "/", here(0)), (here(0, -1), here(1)), (here(3), here(0, 3))]
    program = TemplateProgram(made, tuple(Template("node", p) for p in pieces), {"one": ""})
    lists = {"one": ["a ab", "abba", "ab a ab"]}
    run, table = native(program, lists), table_of([list(zip(words, tags, strict=True))])
    matches = [match for stretch in stretches for match in longest_matches(stretch, lists["one"])]
    expected = []
    for t, (word, tag, match) in enumerate(zip(words, tags, matches, strict=True)):
        names = [word, (words[t - 1] if t else "<") + tag]
        if match:
            names.insert(1, f"{match}/{word}")
        if t == 0:
            names.append("1" + words[3])
        expected.append([(False, name) for name in names])
    began = time.process_time()
    assert run.names(table) == expected
    assert any(match == "I" for match in matches)
    index, examples = _core.FeatureIndex(True), _core.ExampleRows()
    examples.add_growing(run, table, index)
    assert len(index) == len({name for token in expected for name in token})
    assert time.process_time() - began < 30  # well below a second, unless something is quadratic


def test_programs_that_do_not_fit_are_refused() -> None:
    node = [(False, [("", 0, 0, False, ["<"], [">"])])]
    for sources, templates, lists, columns in [
        ([("column", "", 1, 0)], node, [], 1),
        ([("list", "", 0, 0)], node, [], 1),
        ([("list", "", 0, 0)], node, [None], 1),
        ([("nothing", "", 0, 0)], node, [], 1),
        ([("prefix", "x", 0, 0)], node, [], 1),
        ([], node, [], 1),
        ([("column", "", 0, 0)], [(False, [("", 0, 0, False, [], [">"])])], [], 1),
        ([("column", "", 0, 0)], [(False, [("", 0, 0, False, ["<"], [])])], [], 1),
    ]:
        with pytest.raises((ValueError, TypeError)):
            _core.FeatureExtractor(sources, templates, lists, columns)
    with pytest.raises(ValueError):
        extractor_of(True).names(_core.from_columns([["a"]], [1]))  # one column, not two
    with pytest.raises(ValueError):
        _core.PhraseSet.from_states(np.array([5, 3], np.uint64))


def test_examples_of_different_kinds_do_not_mix() -> None:
    world = random_world(2, 2, 1, edges=False, transitions=True, masked=False)
    index, examples = _core.FeatureIndex(False), _core.ExampleRows()
    examples.add_growing(world.program, world.table(), index)
    with pytest.raises(ValueError):
        examples.add_growing(extractor_of(True), world.table(), index)
    small = _core.FeatureIndex(False)
    with pytest.raises((ValueError, IndexError)):
        small.cut(1, [examples])  # examples of another index


def test_thinned_phrases() -> None:
    """Which phrases are left depends on the seed and on each phrase, not on the others."""
    known = [[f"w{i}", "of", f"v{i % 7}"] for i in range(2000)]
    whole = _core.PhraseSet(known)
    thin = whole.thinned(0.3, 1)

    def left(phrases: _core.PhraseSet) -> list[bool]:
        return [phrases.matches(phrase)[0] == 1 for phrase in known]

    assert 1300 < sum(left(thin)) < 1500
    assert left(thin) != left(whole.thinned(0.3, 2))
    assert whole.thinned(0.0, 1).states.tolist() == whole.states.tolist()
    assert sum(left(whole.thinned(1.0, 1))) == 0
    half = _core.PhraseSet(known[1000:][::-1]).thinned(0.3, 1)
    assert left(half)[1000:] == left(thin)[1000:]
    longer = _core.PhraseSet([["a"], ["a", "b"]])
    assert longer.thinned(1.0, 1).matches(["a", "b"]).tolist() == [0, 0]
