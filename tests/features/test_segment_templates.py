"""Templates over segments: what they mean, and what is said of mistakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_segment_extractor import Naive

from marginalia import _core
from marginalia.errors import ModelError, SettingsError
from marginalia.features.compiling import compile_extractor, compile_segment_extractor
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

COLUMNS = Columns(("word", "pos", "chunk"), "chunk")
SENTENCE = {"word": ["The", "New", "York", "Times", "42"], "pos": ["DT", "NP", "NP", "NP", "CD"]}


def compiled(text: str) -> TemplateProgram:
    return parse_templates(text, COLUMNS, file="f")


def native(program: TemplateProgram, lists: dict[str, list[str]] | None = None) -> _core.SegmentExtractor:
    phrases = {n: _core.PhraseSet([p.split(" ") for p in each]) for n, each in (lists or {}).items()}
    return compile_segment_extractor(program, ("word", "pos"), phrases)


def table_of(*sentences: dict[str, list[str]]) -> _core.TokenTable:
    columns = [[value for s in sentences for value in s[name]] for name in ("word", "pos")]
    return _core.from_columns(columns, [len(s["word"]) for s in sentences])


def values(text: str, begin: int, last: int, lists: dict[str, list[str]] | None = None) -> list[str]:
    """What stands behind the names of one template."""
    program = compiled(text)
    found = native(program, lists).names(table_of(SENTENCE), 0, begin, last)
    assert found == Naive(program, SENTENCE, lists).names(begin, last)
    return [name.partition("=")[2] for _, name in found]


@pytest.mark.parametrize(
    ("text", "begin", "last", "expected"),
    [
        ("word[b]", 1, 3, ["New"]),
        ("word[b-1]/pos[e+1]", 1, 3, ["The/CD"]),
        ("word[b-2..b-1]", 1, 3, ["_B-1", "The"]),
        ("word[b-2]/word[e+2]", 0, 4, ["_B-2/_B+2"]),
        ("word[e+1]/word[e+2]", 4, 4, ["_B+1/_B+2"]),
        ("word[i]", 1, 4, ["York", "Times"]),
        ("word[i]", 1, 2, ["_none"]),
        ("word[i]", 2, 2, ["_none"]),
        ("pos[i-1]/word[i+1]", 0, 2, ["DT/York"]),
        ("word[b]/word[i]", 3, 3, ["Times/_none"]),
        ("word[b]/word[i]", 1, 4, ["New/York", "New/Times"]),
        ("word[i]/word[e]", 1, 4, ["York/42", "Times/42"]),
        ("word[j]", 1, 3, ["New", "York", "Times"]),
        ("word[j]/word[j+1]", 1, 3, ["New/York", "York/Times"]),
        ("word[j-1]/word[j]", 1, 3, ["New/York", "York/Times"]),
        ("word[j]/word[j+2]", 1, 2, []),
        ("word[b]/word[j]/word[j+1]", 2, 4, ["York/York/Times", "York/Times/42"]),
        ("word[b..e]", 1, 3, ["New York Times"]),
        ("word[ b .. e ]/length", 1, 3, ["New York Times/3"]),
        ("is(number)(word)[b..e]", 3, 4, []),
        ("is(number)(word)[b..e]", 4, 4, ["1"]),
        ("length", 0, 3, ["4"]),
        ("length", 0, 4, ["5+"]),
        ("length(2)/pos[b]", 0, 0, ["1/DT"]),
        ("length(2)/pos[b]", 0, 4, ["2+/DT"]),
        ("length(8)", 0, 4, ["5"]),
        ("word[0]", 1, 3, ["New", "York", "Times"]),
        ("word[-1]/pos[1]", 0, 1, ["_B-1/NP", "The/NP"]),
    ],
)
def test_goldens(text: str, begin: int, last: int, expected: list[str]) -> None:
    assert values(text, begin, last) == expected


def test_whole_segments_of_lists() -> None:
    """1 where the segment is a phrase, whatever its case and whatever longer phrases there are."""
    lists = {"papers": ["new york", "New York Times", "42"]}
    text = "list papers = x\nlist(papers)(word)[b..e]"
    for begin, last, expected in [(1, 2, ["1"]), (1, 3, ["1"]), (4, 4, ["1"]), (1, 1, []), (0, 2, [])]:
        assert values(text, begin, last, lists) == expected
    assert values("list papers = x\nlist(papers)(word)[j]", 0, 4, lists) == ["B", "I", "I", "B"]


@pytest.mark.parametrize("text", ["word[b]/word[i]/word[e]", "word[b..e]/word[j]", "length/word[i]"])
def test_with_both_ends_the_first_eight_count(text: str) -> None:
    sentence = {"word": [f"w{t}" for t in range(14)], "pos": ["P"] * 14}
    program = compiled(text)
    for last in range(14):
        found = native(program).names(table_of(sentence), 0, 0, last)
        inside = max(last - 1, 1) if "[i]" in text else last + 1
        assert found == Naive(program, sentence).names(0, last)
        assert len(found) == min(inside, 8)


def test_names_of_templates() -> None:
    text = "word[b-1..b+1]\nlength\nlength(5)/word[b]\nlength(7)\nlower(word)[ b..e ]\nword[+1]\nword[j+0]"
    assert [t.pieces[0] for t in compiled(text).templates] == [
        *("word[b-1]=", "word[b]=", "word[b+1]=", "length=", "length/word[b]=", "length(7)="),
        *("lower(word)[b..e]=", "word[1]=", "word[j]="),
    ]


attributes = st.sampled_from(
    ["word", "pos", "lower(word)", "prefix(2)(word)", "is(number)(word)", "first", "list(l)(word)"]
)
offsets = st.integers(-3, 3)


@st.composite
def templates(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["segment", "segment", "segment", "token", "bias", "edge"]))
    if kind in ("bias", "edge"):
        return {"bias": "node:", "edge": "edge:"}[kind]
    if kind == "token":
        return "/".join(f"{draw(attributes)}[{draw(offsets)}]" for _ in range(draw(st.integers(1, 3))))
    inner = draw(st.sampled_from("ij"))
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        anchor = draw(st.sampled_from(["b", "e", inner, inner, "b..e", "length"]))
        if anchor == "length":
            terms.append(draw(st.sampled_from(["length", "length(2)", "length(11)"])))
            continue
        offset = draw(offsets) if anchor != "b..e" else 0
        terms.append(f"{draw(attributes)}[{anchor}{f'{offset:+}' if offset else ''}]")
    return "/".join(terms)


words = st.sampled_from(["a", "A", "new", "York", "42", "7", "x/y", "é", "_none"])
sentences = st.lists(st.tuples(words, st.sampled_from(["N", "V"])), min_size=1, max_size=13)


@settings(max_examples=400)
@given(st.lists(templates(), min_size=1, max_size=6, unique=True), sentences, sentences, st.data())
def test_names_are_those_of_the_definition(lines: list[str], one: Any, two: Any, data: st.DataObject) -> None:
    """And their hashes, whichever way they are made, are those of their names (`names` checks it)."""
    program = compiled("\n".join(["list l = x", *lines]))
    lists = {"l": ["new york", "a", "a 42 7", "york a"]}
    both = [{"word": [w for w, _ in s], "pos": [p for _, p in s]} for s in (one, two)]
    found, table = native(program, lists), table_of(*both)
    for number, sentence in enumerate(both):
        begin = data.draw(st.integers(0, len(sentence["word"]) - 1))
        last = data.draw(st.integers(begin, len(sentence["word"]) - 1))
        expected = Naive(program, sentence, lists).names(begin, last)
        assert found.names(table, number, begin, last) == expected
    assert TemplateProgram.from_json(program.to_json()) == program


def test_segments_that_are_not_there() -> None:
    program = native(compiled("word[b]"))
    for sentence, begin, last in [(0, 2, 1), (0, 0, 5), (1, 0, 0)]:
        with pytest.raises(IndexError):
            program.names(table_of(SENTENCE), sentence, begin, last)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "\nword[x]",
            "f:2:6: found 'x]', expected an offset such as 0, -1 or -2..2, or a place of a segment "
            "such as b, e+1, i or b..e.",
        ),
        ("word[b", "f:1:6: found 'b', expected an offset"),
        ("word[b..", "f:1:6: found 'b..', expected an offset"),
        ("word[b1]", "f:1:6: found 'b1]', expected an offset"),
        (
            "word[e..b]",
            "f:1:6: found e..b, expected b..e, p..q or offsets",
        ),
        ("pos[0]/word[b+2..b+1]", "f:1:13: found b+2..b+1, expected b..e, p..q or"),
        ("word[b..e+1]", "f:1:6: found b..e+1, expected b..e, p..q or"),
        ("word[b-101]", "f:1:6: found b-101, expected b..e, p..q or"),
        ("length(0)", "f:1:8: found 0, expected a length from 1 to 1000."),
        ("word[b]/length( 1001 )", "f:1:17: found 1001, expected a length from 1 to 1000."),
        ("length[0]", "f:1:1: the data have no column 'length'."),
        ("edge: word[b]", "f:1:1: a template of segments cannot be 'edge:'; 'edge:' stands alone."),
        ("both: length", "f:1:1: a template of segments cannot be 'both:'; 'edge:' stands alone."),
        (
            "word[b]/pos[0]",
            "f:1:1: the template joins places of segments and offsets of tokens; expected either.",
        ),
        ("word[i]/word[j]", "f:1:1: the template has both i and j; expected one of them."),
        ("word[b]\n\nword[b]", "f:3:1: 'word[b]' is already given by line 1."),
        ("length\nlength(5)", "f:2:1: 'length' is already given by line 1."),
        ("suffix(0)(word)[b]", "f:1:8: the length '0' is not a whole number from 1 to 99."),
        ("word[p..q]/word[i]", "f:1:1: the template looks at two segments and inside one; expected either."),
        ("before: word[j]", "f:1:1: the template looks at two segments and inside one; expected either."),
        ("before: word[p]/word[b]", "f:1:1: 'before:' is for what follows a segment: expected places"),
        ("before:", "f:1:1: 'before:' is for what follows a segment: expected places such as b, e or b..e."),
        ("edge: previous-length", "f:1:1: a template of segments cannot be 'edge:'; 'edge:' stands alone."),
        ("word[b..q]", "f:1:6: found b..q, expected b..e, p..q or offsets from one place"),
        ("word[p..q]\nword[ p..q ]", "f:2:1: 'word[p..q]' is already given by line 1."),
        ("wrod[b..e]", "f:1:1: the data have no column 'wrod'. Did you mean 'word'?"),
        ("chunk[b]", "f:1:1: column 'chunk' is the label to be predicted"),
    ],
)
def test_mistakes_have_a_place(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        compiled(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("text", ["word[b]", "length", "word[b..e]/word[i]"])
def test_chains_refuse_templates_of_segments(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        compile_extractor(compiled(f"word[0]\n{text}"), ("word", "pos"), {})
    assert str(caught.value) == (
        f"features: '{text}' looks at segments, but the structure is the chain: choose --structure segments."
    )


@pytest.mark.parametrize("text", ["word[p..q]/word[b..e]", "word[p]/length", "before:word[b..e]"])
def test_templates_of_neighbours_are_for_words(text: str) -> None:
    program = compiled(text)
    assert TemplateProgram.from_json(program.to_json()) == program
    assert '"version":6' in program.to_json()
    with pytest.raises(SettingsError, match="looks at two segments: choose --structure words"):
        compile_segment_extractor(program, ("word", "pos"), {})
    with pytest.raises(ModelError, match="has version 1, expected 6"):
        TemplateProgram.from_json(program.to_json().replace('"version":6', '"version":1'))


def test_segments_refuse_edges_with_values() -> None:
    with pytest.raises(SettingsError, match=r"features: 'edge:word\[0\]' is for chains; segments take"):
        native(compiled("word[b]\nedge: word[0]"))
    native(compiled("word[b]\nedge:"))


GOOD = compiled("word[b]\nlength/word[j]").to_json()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"b"]', '"q"]', "anchor 'q'"),
        (',"b"]', "]", "anchor ''"),
        ('"segment"', '"node"', "anchor 'b'"),
        ("[0,0,false", "[7,0,false", "attribute 7"),
        ('["_B+1"],"b"', '[],"b"', "a value without boundaries"),
    ],
)
def test_damaged_programs_are_refused(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ModelError, match=message):
        TemplateProgram.from_json(GOOD.replace(old, new, 1))


Piece = tuple[str, int, int, str, list[str], list[str]]


def piece(anchor: str, source: int = 0, offset: int = 0, ends: tuple[str, ...] = ("_",)) -> Piece:
    return ("", source, offset, anchor, list(ends), list(ends))


@pytest.mark.parametrize(
    "pieces",
    [
        [piece("q")],
        [piece("b", source=1)],
        [piece("whole", source=1)],
        [piece("b", ends=())],
        [piece("i"), piece("j")],
        [piece("token"), piece("b")],
        [piece("token"), piece("length", offset=5)],
        [piece("b", offset=2**31 - 1)],
        [piece("j", offset=-(2**31)), piece("j", offset=2**31 - 1)],
        [piece("length", offset=0)],
        [piece("length", offset=1001)],
    ],
)
def test_the_core_refuses_what_makes_no_sense(pieces: list[Piece]) -> None:
    with pytest.raises(ValueError, match="extractor: "):
        _core.SegmentExtractor([("column", "", 0, 0)], [pieces], [], 1)
