"""Templates over a parser's configurations."""

from __future__ import annotations

import pytest

from marginalia.errors import ModelError, SettingsError
from marginalia.features.compiling import compile_extractor, compile_tree_extractor
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns
from marginalia.features.tree_templates import TREE_SETS, load_tree_features, parse_tree_templates

KNOWN = Columns(("word", "pos", "deprel"), "deprel")
COLUMNS = ("word", "upos", "xpos", "deprel")


def names_of(program: TemplateProgram) -> list[str]:
    return [str(template.pieces[0]) for template in program.templates]


def test_templates_are_named_as_they_are_written() -> None:
    text = "s0.word / q0.pos # a comment\nsuffix(2..3)(s0.left.word)\ndistance( s0 , q0 )/s1.right2.label"
    program = parse_tree_templates(text, KNOWN)
    assert names_of(program) == [
        "s0.word/q0.pos=",
        "suffix(2)(s0.left.word)=",
        "suffix(3)(s0.left.word)=",
        "distance(s0,q0)/s1.right2.label=",
    ]
    assert TemplateProgram.from_json(program.to_json()) == program
    compile_tree_extractor(program, ("word", "pos"), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("s0.form", "2:4: the data have no column 'form'"),
        ("s0.deprel", "2:4: column 'deprel' is the label"),
        ("t0.word", "2:1: there is no place or function 't0.word'"),
        ("s0", "2:3: found the end of the line, expected '.'"),
        ("s0.word q0.word", "2:9: found 'q0.word', expected '/'"),
        ("valency(s0,up)", "2:1: found 'up' in valency, expected left or right"),
        ("distance(s0,left)", "2:1: found 'left' in distance, expected a place"),
        ("lower(s0.label)", "2:7: functions are of columns"),
        ("s1.word", "2:1: 's1.word' is already given by line 1"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_tree_templates(f"s1.word\n{text}", KNOWN, file="f")
    assert f"f:{message}" in str(caught.value)


def test_ready_made_sets_look_at_what_there_is() -> None:
    loaded = {
        name: load_tree_features(name, COLUMNS, "deprel", TemplateProgram((), ())) for name in TREE_SETS
    }
    assert len(loaded["huang-sagae"].templates) == 28
    assert loaded["trees"].columns == ("word", "upos", "xpos")
    assert not loaded["trees"].left_out
    with_one_tag = load_tree_features("trees", ("form", "tag", "deprel"), "deprel", TemplateProgram((), ()))
    assert with_one_tag.columns == ("form", "tag")
    assert not with_one_tag.left_out
    without = load_tree_features("huang-sagae", ("form", "deprel"), "deprel", TemplateProgram((), ()))
    assert without.columns == ("form",)
    assert "s0.pos" in without.left_out


def test_each_structure_refuses_the_templates_of_another() -> None:
    program = parse_tree_templates("s0.word", KNOWN)
    with pytest.raises(SettingsError, match="choose --structure trees"):
        compile_extractor(program, ("word",), {})
    damaged = program.to_json().replace('"s0"', '"x7"')
    with pytest.raises(ValueError, match="not a place"):
        compile_tree_extractor(TemplateProgram.from_json(damaged), ("word",), {})
    with pytest.raises(ModelError, match="damaged"):
        TemplateProgram.from_json(program.to_json().replace('"s0"', '""'))
