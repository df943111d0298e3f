"""CRF++ and Wapiti files against goldens written by hand from the rules of those programs."""

from __future__ import annotations

import re

import pytest
from naive_extractor import expand

from marginalia.errors import SettingsError
from marginalia.features.crfpp import parse_crfpp
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates
from marginalia.features.wapiti import parse_wapiti

COLUMNS = Columns(("word", "pos", "chunk"), "chunk")
SENTENCE = {"word": ["He", "saw", "IBM", "42"], "pos": ["PRP", "VBD", "NNP", "CD"]}


def names(program, scope):
    return [[name for s, name in features if s == scope] for features in expand(program, SENTENCE)]


def column(program, scope="node"):
    """The only feature of each position."""
    return [name for (name,) in names(program, scope)]


CRFPP = """# Unigram

U00:%x[-2,0]
U01:%x[0,0]
U02:%x[1,1]/%x[2,1] # text
U:%x[-1,0]
U:%x[1,0]

# Bigram
B
B01:%x[0,1]
"""


def test_crfpp_nodes():
    assert names(parse_crfpp(CRFPP, COLUMNS), "node") == [
        ["U00:_B-2", "U01:He", "U02:VBD/NNP # text", "U:_B-1", "U:saw"],
        ["U00:_B-1", "U01:saw", "U02:NNP/CD # text", "U:He", "U:IBM"],
        ["U00:He", "U01:IBM", "U02:CD/_B+1 # text", "U:saw", "U:42"],
        ["U00:saw", "U01:42", "U02:_B+1/_B+2 # text", "U:IBM", "U:_B+1"],
    ]


def test_crfpp_edges():
    assert names(parse_crfpp(CRFPP, COLUMNS), "edge") == [
        ["B", "B01:PRP"],
        ["B", "B01:VBD"],
        ["B", "B01:NNP"],
        ["B", "B01:CD"],
    ]


def test_foreign_label_bigrams_bring_no_weights_for_the_ends():
    assert not parse_crfpp("B\n", COLUMNS).ends
    assert not parse_wapiti("b\n", COLUMNS).ends
    assert TemplateProgram.from_json(parse_crfpp("B\n", COLUMNS).to_json()) == parse_crfpp("B\n", COLUMNS)


def test_crfpp_reads_windows_files_and_far_rows():
    program = parse_crfpp("\ufeffU00:%x[-9,0]\r\nB\r\n", COLUMNS)
    assert column(program) == ["U00:_B-9", "U00:_B-8", "U00:_B-7", "U00:_B-6"]
    assert column(program, "edge") == ["B"] * 4


WAPITI = r"""
# words
U00:%x[-1,0]
u01:%X[ 0, 0]   # lower case
u02:%t[1,0,"^\u*$"]
u03:%m[0,0,"^.."]%M[0,0,".$"]

*10:%x[0,1]
b
"""


def test_wapiti_nodes():
    assert names(parse_wapiti(WAPITI, COLUMNS), "node") == [
        ["u00:_x-1", "u01:he", "u02:false", "u03:Hee", "*10:PRP"],
        ["u00:He", "u01:saw", "u02:true", "u03:saw", "*10:VBD"],
        ["u00:saw", "u01:ibm", "u02:false", "u03:IBm", "*10:NNP"],
        ["u00:IBM", "u01:42", "u02:false", "u03:422", "*10:CD"],
    ]


def test_wapiti_edges():
    assert names(parse_wapiti(WAPITI, COLUMNS), "edge") == [
        ["*10:PRP", "b"],
        ["*10:VBD", "b"],
        ["*10:NNP", "b"],
        ["*10:CD", "b"],
    ]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("u:%x[-6,0]", ["u:_x-#", "u:_x-#", "u:_x-4", "u:_x-3"]),
        ("u:%x[3,0]", ["u:42", "u:_x+1", "u:_x+2", "u:_x+3"]),
        ("u:%x[9,0]", ["u:_x+#"] * 4),
        ("u:%x[@1,0]", ["u:He"] * 4),
        ("u:%x[@-1,1]", ["u:CD"] * 4),
        ("u:%x[@0,0]", ["u:_x-1"] * 4),
        ("u:%x[@-6,0]", ["u:_x-2"] * 4),
        ("u:%x[@5,0]", ["u:_x+1"] * 4),
        ("u", ["u"] * 4),
    ],
)
def test_wapiti_positions(pattern, expected):
    assert column(parse_wapiti(pattern, COLUMNS)) == expected


def test_wapiti_expressions_see_the_boundary_text():
    program = parse_wapiti(r'u:%t[-1,0,"^_x"]%m[-1,0,"\d$"]%M[1,0,"..$"]', COLUMNS)
    assert column(program) == ["u:true1aw", "u:falsebm", "u:false42", "u:false+1"]


def test_wapiti_quotes():
    program = parse_wapiti(r'u:%t[0,0,"\"\p*]%x["]', COLUMNS)
    assert column(program) == ["u:false"] * 4


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (
            parse_crfpp,
            "U00:%x[0,0]\nX:%x[0,0]",
            "f:2:1: found 'X', expected a template that begins with U or B",
        ),
        (parse_crfpp, " U00:%x[0,0]", "f:1:1: found ' ', expected a template"),
        (parse_crfpp, "U00:%x[0,0]/%y[1,0]", "f:1:13: found '%y[1,0]', expected %x[row,column]"),
        (parse_crfpp, "U00:%x[0, 0]", "f:1:5: found '%x[0,', expected %x[row,column]"),
        (parse_crfpp, "U00:%x[0,3]", "f:1:10: column 3 is asked for, but the data have columns 0 to 2."),
        (parse_crfpp, "U00:%x[0,2]", "f:1:10: column 'chunk' is the label to be predicted"),
        (parse_wapiti, "u:%x[0,0]\n\nx", "f:3:1: found 'x', expected a pattern that begins with u, b or *"),
        (parse_wapiti, "u:%q[0,0]", "f:1:3: found '%q[0,0]', expected %x[offset,column]"),
        (parse_wapiti, "u:%x[*0,0]", "f:1:3: found '%x[*0,0]', expected %x[offset,column]"),
        (parse_wapiti, "u:%t[0,0]", "f:1:3: found '%t[0,0]', expected %x[offset,column], %t"),
        (parse_wapiti, 'u:%x[0,0,"a"]', "f:1:3: found '%x[0,0,\"a\"]', expected %x[offset,column], %t"),
        (parse_wapiti, 'u:%t[0,0,"a]', "f:1:3: found '%t[0,0,\"a]', expected"),
        (parse_wapiti, 'u:%t[0,0,"*a"]', "f:1:3: regular expression: * or ? with nothing to repeat"),
        (parse_wapiti, "u:%x[0,7]", "f:1:8: column 7 is asked for"),
    ],
)
def test_errors_name_the_place(parse, text, message):
    with pytest.raises(SettingsError, match="^" + re.escape(message)):
        parse(text, COLUMNS, file="f")


@pytest.mark.parametrize("offset", [1001, -10_000_000, 10**9])
@pytest.mark.parametrize(
    ("parse", "template"),
    [(parse_crfpp, "U:%x[{},0]"), (parse_wapiti, "u:%x[{},0]"), (parse_wapiti, "u:%x[@{},0]")],
)
def test_offsets_have_bounds(parse, template, offset):
    with pytest.raises(SettingsError, match=r"1:\d+: found"):
        parse(template.format(offset), COLUMNS)
    assert len(parse(template.format(1000), COLUMNS).templates[0].pieces) == 2


@pytest.mark.parametrize("number", ["9" * 5000, "1" * 10])
@pytest.mark.parametrize("parse", [parse_crfpp, parse_wapiti, parse_templates])
def test_numbers_of_any_length_are_told(parse, number):
    template = "word[{}]" if parse is parse_templates else "U:%x[{},0]"
    for text in (template.format(number), template.format(f"-{number}"), f"U:%x[0,{number}]"):
        with pytest.raises(SettingsError):
            parse(text, COLUMNS)
