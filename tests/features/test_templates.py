"""Our template language: what it means, and what it says of mistakes."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_extractor import expand

from marginalia.errors import ModelError, SettingsError
from marginalia.features.program import Attribute, Template, TemplateProgram, Value
from marginalia.features.reading import Columns
from marginalia.features.templates import FORMS, parse_templates

COLUMNS = Columns(("word", "pos", "chunk"), "chunk")
SENTENCE = {"word": ["The", "Ad-hoc", "IBM", "42"], "pos": ["DT", "JJ", "NNP", "CD"]}


def compiled(text, **options):
    return parse_templates(text, COLUMNS, file="f", **options)


def names(text, lists=None):
    return [[name for _, name in features] for features in expand(compiled(text), SENTENCE, lists)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word[0]", [["word[0]=The"], ["word[0]=Ad-hoc"], ["word[0]=IBM"], ["word[0]=42"]]),
        (
            "word[-1]/pos[+1]  # comment",
            [
                ["word[-1]/pos[1]=_B-1/JJ"],
                ["word[-1]/pos[1]=The/NNP"],
                ["word[-1]/pos[1]=Ad-hoc/CD"],
                ["word[-1]/pos[1]=IBM/_B+1"],
            ],
        ),
        (
            "lower(word)[1..2]",
            [
                ["lower(word)[1]=ad-hoc", "lower(word)[2]=ibm"],
                ["lower(word)[1]=ibm", "lower(word)[2]=42"],
                ["lower(word)[1]=42", "lower(word)[2]=_B+1"],
                ["lower(word)[1]=_B+1", "lower(word)[2]=_B+2"],
            ],
        ),
        (
            "prefix(2..3)(word)[0]",
            [
                ["prefix(2)(word)[0]=Th", "prefix(3)(word)[0]=The"],
                ["prefix(2)(word)[0]=Ad", "prefix(3)(word)[0]=Ad-"],
                ["prefix(2)(word)[0]=IB", "prefix(3)(word)[0]=IBM"],
                ["prefix(2)(word)[0]=42"],
            ],
        ),
        (
            "has(digit)(word)[0]/has(hyphen)(word)[-2]",
            [[], [], [], ["has(digit)(word)[0]/has(hyphen)(word)[-2]=1/1"]],
        ),
        ("first[0]", [["first[0]=1"], [], [], []]),
        ("first[-1]", [["first[-1]=_B-1"], ["first[-1]=1"], [], []]),
        ("is(all-caps)(word)[0]", [[], [], ["is(all-caps)(word)[0]=1"], []]),
        (
            "char-class(token)[0]/suffix(1)(pos)[0]",
            [
                [f"char-class(token)[0]/suffix(1)(pos)[0]={v}"]
                for v in ("latin/T", "latin/J", "latin/P", "digit/D")
            ],
        ),
        (r'test("^\d*$ ?#?")(word)[0]', [[rf'test("^\d*$ ?#?")(word)[0]={v}'] for v in ("false",) * 4]),
        (r'match("\a*$")(word)[0]', [[rf'match("\a*$")(word)[0]={v}'] for v in ("The", "hoc", "IBM", "")]),
        ("edge:", [["edge:"]] * 4),
        ("node:", [["node:"]] * 4),
    ],
)
def test_goldens(text, expected):
    assert names(text) == expected


def test_scopes():
    program = compiled("edge : pos[0]\nboth: word[0]\nboth:")
    assert [(t.scope, t.pieces[0]) for t in program.templates] == [
        ("edge", "edge:pos[0]="),
        ("node", "word[0]="),
        ("edge", "edge:word[0]="),
        ("node", "node:"),
        ("edge", "edge:"),
    ]


def test_ranges_are_combined_in_all_ways():
    program = compiled("word[-1..0]/pos[0..1]")
    assert [t.pieces[0] for t in program.templates] == [
        "word[-1]/pos[0]=",
        "word[-1]/pos[1]=",
        "word[0]/pos[0]=",
        "word[0]/pos[1]=",
    ]


def test_attributes_are_shared_and_columns_named():
    program = compiled("word[-1..1]\npos[0]/word[0]\nfirst[0]\nlower(token)[0]")
    assert program.attributes == (
        Attribute("column", "", "word"),
        Attribute("column", "", "pos"),
        Attribute("first", "", ""),
        Attribute("lower", "", "word"),
    )
    assert program.columns == ("word", "pos")


def test_boundary_values_reach_as_far_as_the_offset():
    (template,) = compiled("word[-3]").templates
    value = Value(0, -3, False, ("_B-1", "_B-2", "_B-3"), ("_B+1",))
    assert template == Template("node", ("word[-3]=", value))


def test_lists():
    text = "list(places)(word)[0]  # used before it is declared\n list places = lists/places.txt # comment"
    program = compiled(text, folder=Path("there"))
    assert program.lists == {"places": str(Path("there/lists/places.txt"))}
    sentence = {"word": ["in", "New", "YORK", "City", "or", "York"], "pos": ["X"] * 6}
    features = expand(
        program, sentence, {"places": {"new york", "New York City Hall", "York", "new york city"}}
    )
    assert [[name[-1] for _, name in position] for position in features] == [
        [],
        ["B"],
        ["I"],
        ["I"],
        [],
        ["B"],
    ]


def test_comments_and_empty_lines_give_nothing():
    assert compiled("# word[0]\n\n   \n \t# x").templates == ()


@pytest.mark.parametrize("form", [form for name, form in FORMS.items() if name != "lexicon"])
def test_the_forms_shown_in_errors_are_right(form):
    assert compiled(f"list name = x\nclusters name = y\n{form}").templates[0].pieces[0] == f"{form}="


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nwrod[0]", "f:2:1: the data have no column 'wrod'. Did you mean 'word'?"),
        ("word[0]/lemma[0]", "f:1:9: the data have no column 'lemma'. Known: word, pos."),
        (
            "pos[0]/chunk[-1]",
            "f:1:8: column 'chunk' is the label to be predicted; templates cannot look at it.",
        ),
        ("sufix(3)(word)[0]", "f:1:1: there is no function 'sufix'. Did you mean 'suffix'?"),
        ("word[0]/first(word)[0]", "f:1:9: the function first takes no column: first[0]."),
        (
            "suffix(3)(lower(word))[0]",
            "f:1:11: functions do not nest: expected a column, as in suffix(3)(word)[0].",
        ),
        ("lower(shape(word))[0]", "f:1:7: functions do not nest: expected a column, as in lower(word)[0]."),
        ("suffix(3)[0]", "f:1:10: found '[0]', expected a column, as in suffix(3)(word)[0]."),
        ("suffix(word)[0]", "f:1:8: found 'word)[0]', expected a length such as 3 or 1..4."),
        ("shape[0]", "f:1:1: the function shape needs a column: shape(word)[0]."),
        ("suffix(0)(word)[0]", "f:1:8: the length '0' is not a whole number from 1 to 99."),
        ("suffix(4..1)(word)[0]", "f:1:8: found 4..1, expected numbers from -100 to 100, the lower first."),
        ("has(digits)(word)[0]", "f:1:5: has: the flag 'digits' is none of digit upper hyphen."),
        ("is(caps)(word)[0]", "f:1:4: is: the class 'caps' is none of two-digits"),
        ('test("a**")(word)[0]', "f:1:6: regular expression: * or ? with nothing to repeat"),
        ("test(abc)(word)[0]", "f:1:6: found 'abc)(word)[0]', expected an expression in quotation marks"),
        ("list(people)(word)[0]", "f:1:6: no line 'list people = file' declares this list. Known: none."),
        (
            "list people = a\nlist(peple)(word)[0]",
            "f:2:6: no line 'list peple = file' declares this list. Did you",
        ),
        ("list a = x\nlist a = y", "f:2:6: the list 'a' is declared twice."),
        ("list a =", "f:1:6: expected 'list name = file'."),
        ("word", "f:1:5: found the end of the line, expected '['."),
        (
            "word[c]",
            "f:1:6: found 'c]', expected an offset such as 0, -1 or -2..2, or a place of a segment such as "
            "b, e+1, i or b..e.",
        ),
        ("word[0", "f:1:7: found the end of the line, expected ']'."),
        ("word[101]", "f:1:6: found 101, expected numbers from -100 to 100, the lower first."),
        ("word[0]/", "f:1:9: found the end of the line, expected a column or a function."),
        ("word[0] pos[0]", "f:1:9: found 'pos[0]', expected '/', a comment or the end of the line."),
        ("edges: word[0]", "f:1:6: found ':', expected '['."),
        ("word[-1..1]\n\nboth: word[0]", "f:3:1: 'word[0]' is already given by line 1."),
        ("U00:%x[0,0]", "f:1:4: found ':%x[0,0]', expected '['."),
    ],
)
def test_errors_name_the_place(text, message):
    with pytest.raises(SettingsError, match="^" + re.escape(message)):
        compiled(text)


@given(st.text(st.sampled_from('word[]()/.-:0129# "lowersuffix,edge\\'), max_size=30))
def test_any_text_is_compiled_or_refused(text):
    with contextlib.suppress(SettingsError):
        assert isinstance(compiled(text), TemplateProgram)


strings = st.text(max_size=5)
boundaries = st.lists(strings, min_size=1, max_size=3).map(tuple)
values = st.builds(Value, st.integers(0, 1), st.integers(-9, 9), st.booleans(), boundaries, boundaries)
templates = st.builds(
    Template, st.sampled_from(["node", "edge"]), st.lists(st.one_of(strings, values), max_size=4).map(tuple)
)
programs = st.builds(
    TemplateProgram,
    st.tuples(*[st.builds(Attribute, strings, strings, strings)] * 2),
    st.lists(templates, max_size=3).map(tuple),
    st.dictionaries(strings, strings, max_size=2),
    st.lists(strings, max_size=2).map(tuple),
)


@given(programs)
def test_json_round_trip(program):
    assert TemplateProgram.from_json(program.to_json()) == program


GOOD = (
    '{"version":1,"attributes":[["lower","","word"]],'
    '"templates":[["node",["w=",[0,0,false,["a"],["b"]]]]],"lists":{},"left_out":[],"ends":true}'
)


def test_json_is_stable():
    assert TemplateProgram.from_json(GOOD).to_json() == GOOD


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"version":1', '"version":2', "the template program has version 2, expected 1"),
        ('"version":1,', "", "damaged: KeyError"),
        ("{", "[", "damaged"),
        ("[0,0,", "[1,0,", "damaged: attribute 1"),
        ("[0,0,", "[0,", "damaged: ValueError"),
        ('"node"', '"knot"', "damaged: scope 'knot'"),
        ('"lists":{}', '"lists":[]', "damaged: AttributeError"),
        ('"","word"', '"word"', "damaged: TypeError"),
        ('["b"]', "[]", "damaged: a value without boundaries"),
    ],
)
def test_damaged_json_is_refused(old, new, message):
    with pytest.raises(ModelError, match=re.escape(message)):
        TemplateProgram.from_json(GOOD.replace(old, new, 1))


def test_ranges_that_explode_are_refused():
    with pytest.raises(SettingsError, match=r"f:1:1: the ranges give more than 10000 templates"):
        parse_templates("word[-100..100]/word[-100..100]", Columns(("word", "tag"), "tag"), file="f")
