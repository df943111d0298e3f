"""Templates of whole items: what they mean, natively and by a plain twin, and what they say of mistakes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_attributes import evaluate, lowered

from marginalia import _core
from marginalia.errors import DataError, ModelError, SettingsError
from marginalia.features.compiling import compile_extractor, compile_item_extractor, compile_segment_extractor
from marginalia.features.item_sets import load_item_features, templates_for
from marginalia.features.item_templates import ITEM_FORMS, parse_item_templates
from marginalia.features.program import TemplateProgram
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

COLUMNS = ("text", "channel", "unit price", "intent")
KNOWN = Columns(COLUMNS, "intent")


def table_of(*items):
    columns = [[item.get(name, "") for item in items] for name in COLUMNS]
    return _core.from_columns(columns, [len(items)]).as_items()


def names_of(text, *items):
    program = compile_item_extractor(parse_item_templates(text, KNOWN, file="f"), COLUMNS, {})
    return [[name for _, name in found] for found in program.names(table_of(*items))]


def is_word(character):
    return character == "_" or unicodedata.category(character)[0] in "LM" or is_digit(character)


def is_digit(character):
    return unicodedata.category(character) == "Nd"


def naive_words(text):
    """Words, character by character."""
    found, inside = [], False
    for character in text:
        if is_word(character):
            found[-1:] = [found[-1] + character] if inside else [*found[-1:], character]
        elif not character.isspace():
            found.append(character)
        inside = is_word(character)
    return found


def naive_grams(function, n, text):
    """The elements of a bag."""
    text = lowered(text) if function.startswith("lower-") else text
    if function.endswith("ngrams"):
        words = naive_words(text)
        return [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
    whole = f" {' '.join(text.split())} " if text.split() else ""
    return [whole[i : i + n] for i in range(len(whole) - n + 1)]


def expand(program: TemplateProgram, item):
    """The features of an item with their counts."""
    found: Counter[str] = Counter()
    for template in program.templates:
        names, times = [""], 1.0
        for piece in template.pieces:
            if isinstance(piece, str):
                names = [name + piece for name in names]
                continue
            attribute = program.attributes[piece.attribute]
            value = item.get(attribute.column, "")
            if attribute.function == "number":
                times *= float(value) / float(attribute.argument or 1) if value.strip() else 0.0
            elif attribute.function.endswith(("ngrams", "chars")):
                grams = naive_grams(attribute.function, int(attribute.argument), value)
                names = [name + gram for name in names for gram in grams]
            else:
                one = evaluate(attribute.function, attribute.argument, value) if value else None
                names = [name + one for name in names if one is not None]
        for name in names if times else ():
            found[name] += times
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("words(text)", ["words(text)=The", "words(text)=dog", "words(text)='", "words(text)=s"]),
        ("lower-words( text )", [f"lower-words(text)={w}" for w in ("the", "dog", "'", "s")]),
        ("ngrams(2..3)(text)", ["ngrams(2)(text)=The dog", "ngrams(2)(text)=dog '", "ngrams(2)(text)=' s",
                                "ngrams(3)(text)=The dog '", "ngrams(3)(text)=dog ' s"]),
        ("chars(7)(text)", ["chars(7)(text)= The do", "chars(7)(text)=The dog", "chars(7)(text)=he dog'",
                            "chars(7)(text)=e dog's", "chars(7)(text)= dog's "]),
        ("channel", ["channel=mail"]),
        ("suffix(1..2)(channel)", ["suffix(1)(channel)=l", "suffix(2)(channel)=il"]),
        ('number("unit price")', ['number("unit price")']),
        ('number(100)("unit price")/channel', ['number(100)("unit price")/channel=mail']),
        ("words(text)/channel", [f"words(text)/channel={w}/mail" for w in ("The", "dog", "'", "s")]),
        ('channel/"unit price"', ['channel/"unit price"=mail/250']),
        ("bias  # always", ["bias"]),
        ('test("^m")(channel)', ['test("^m")(channel)=true']),
    ],
)  # fmt: skip
def test_templates_give_named_features(text, expected):
    item = {"text": "The dog's", "channel": "mail", "unit price": "250"}
    assert names_of(text, item) == [expected]


def test_empty_values_give_no_features():
    text = 'words(text)\nchars(3)(text)\nchannel\nnumber("unit price")\nchannel/number("unit price")'
    assert names_of(text, {}, {"text": " \t ", "unit price": " "}) == [[], []]
    assert names_of('number("unit price")', {"unit price": "0"}) == [[]]


TEXTS = st.text("aB é'_-1٣\u0301\u00a0\t\n漢ß½", max_size=12)
TEMPLATES = """bias
words(text)
lower-ngrams(2..3)(text)
chars(1..3)(text)
lower-chars(2)(channel)
channel
suffix(1..2)(text)
number(10)("unit price")
words(text)/channel
channel/number("unit price")
number("unit price")/lower-chars(4)(text)/channel
"""


@given(TEXTS, TEXTS, st.sampled_from(["", "1", "-2.5", "+3", "1e3", " 4 ", "0"]))
def test_native_features_are_those_of_the_plain_twin(text, channel, price):
    item = {"text": text, "channel": channel, "unit price": price}
    program = parse_item_templates(TEMPLATES, KNOWN)
    native = compile_item_extractor(program, COLUMNS, {})
    examples, index = _core.ExampleRows(), _core.FeatureIndex(True)
    examples.add_growing(native, table_of(item), index)
    assert Counter(name for _, name in native.names(table_of(item))[0]).keys() == expand(program, item).keys()
    found: Counter[str] = Counter()
    for row, value in examples.rows(0):
        found[index.name(row).decode()] += value
    assert found == pytest.approx(expand(program, item))


def test_a_program_of_items_survives_its_file():
    program = parse_item_templates(TEMPLATES, KNOWN)
    assert TemplateProgram.from_json(program.to_json()) == program
    assert '"version":3' in program.to_json()
    with pytest.raises(ModelError, match="version 4"):
        TemplateProgram.from_json(program.to_json().replace('"version":3', '"version":4'))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[0]", "f:1:5: found an offset, but an item is one whole: write word, not word[0]."),
        ("words", "f:1:1: the function words needs a column: words(text)."),
        ("word(text)", "f:1:1: there is no function 'word'. Did you mean 'words'?"),
        ("list(a)(text)", "f:1:1: the function list is for tokens of sentences, not for items."),
        ("ngrams(0..1)(text)", "f:1:8: found 0, expected lengths from 1 to 99."),
        ("ngrams(text)", "f:1:8: found 'text)', expected a length such as 2 or 1..3."),
        ("ngrams(2)(words(text))", "f:1:11: functions do not nest: expected a column"),
        ("words(intent)", "f:1:7: column 'intent' is the label to be predicted"),
        ("words(txt)", "f:1:7: the data have no column 'txt'. Did you mean 'text'?"),
        ("words(text)/chars(2)(text)", "f:1:1: the template joins two bags"),
        ("number(0)(text)", "f:1:8: found 0, expected a number above 0."),
        ("words(text)\nlower-words(text)\nngrams(1..2)(text)", "f:3:1: 'words(text)' is already given"),
        ("words(text", "f:1:11: found the end of the line, expected ')'."),
        ("# nothing", "f: there is no template in this file."),
    ],
)  # fmt: skip
def test_mistakes_are_named(text, message):
    with pytest.raises(SettingsError, match=re.escape(message)):
        parse_item_templates(text, KNOWN, file="f")


def test_numbers_must_be_numbers():
    program = compile_item_extractor(parse_item_templates('number("unit price")', KNOWN), COLUMNS, {})
    for wrong in ("dear", "1 2", "inf", "nan", "0x1", "1e400", "+-1"):
        with pytest.raises(DataError) as caught:
            program.names(table_of({}, {"unit price": wrong}))
        expected = f"2: number(\"unit price\"): found '{wrong}', expected a number"
        assert str(caught.value) == expected


def test_templates_of_tokens_and_of_items_do_not_mix():
    items = parse_item_templates("words(text)", KNOWN)
    for compile_any in (compile_extractor, compile_segment_extractor):
        with pytest.raises(SettingsError, match=r"'words\(text\)' looks at whole items"):
            compile_any(items, COLUMNS, {})
    with pytest.raises(SettingsError, match="is for tokens; a single item takes templates such as"):
        compile_item_extractor(parse_templates("text[0]", KNOWN), COLUMNS, {})
    with pytest.raises(DataError, match="the features also need 'text'"):
        compile_item_extractor(items, ("other", "intent"), {})


@pytest.mark.parametrize("form", [form for form in ITEM_FORMS.values() if form != "bias"])
def test_every_form_is_one(form):
    assert parse_item_templates(form, Columns(("text", "price"), "")).templates


SAMPLE = {
    "id": [str(i) for i in range(30)],
    "text": ["Book a flight to Boston", "what is the fare"] * 15,
    "channel": ["mail", "phone", ""] * 10,
    "price": [str(17 * i) for i in range(30)],
    "stars": ["1", "5", "3"] * 10,
    "word": [f"{a}{b}ing" for a in "abcdef" for b in "uvxyz"],
    "note": ["", " "] * 15,
    "漢": ["我想订一张去北京的机票谢谢你了", "今天天气怎么样啊我想知道天气"] * 15,
}


def test_the_default_set_follows_from_the_columns():
    assert templates_for(SAMPLE) == [
        "bias",
        "lower-ngrams(1..2)(text)",
        "channel",
        "number(1000)(price)",
        "number(10)(stars)",
        "stars",
        "word",
        "lower-chars(2..4)(word)",
        "chars(1..3)(漢)" if len(SAMPLE["漢"][0]) > 15 else "漢",
    ]
    assert "lower-chars(2..4)(text)" in templates_for(SAMPLE, "bag-chars")
    # What is no number among numbers is found by those who read it as one, not taken for a word.
    assert templates_for({"x": ["12", "nan"]})[1] == "number(100)(x)"
    assert templates_for({"x": ["nan", "inf"]})[1] == "x"


def test_sets_and_files_by_name(tmp_path):
    columns = (*SAMPLE, "intent")
    made = load_item_features("bag", columns, "intent", SAMPLE)
    assert made == parse_item_templates("\n".join(templates_for(SAMPLE)), Columns(columns, "intent"))
    path = tmp_path / "own.txt"
    path.write_text("words(text)\n")
    assert len(load_item_features(str(path), columns, "intent", {}).templates) == 1
    with pytest.raises(SettingsError, match=r"Did you mean 'bag'\?"):
        load_item_features("bagg", columns, "intent", {})
