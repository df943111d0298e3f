"""Items in JSONL, CSV, TSV and item lines: what is read, what is written back, what is refused."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginalia.corpus.batches import read_batches
from marginalia.corpus.item_answers import ItemWriter
from marginalia.corpus.item_objects import layout_of_objects, pack_objects
from marginalia.corpus.items import guess_item_layout, item_format
from marginalia.errors import DataError, SettingsError


def named(text, name="data.jsonl"):
    stream = io.BytesIO(text.encode())
    stream.name = name
    return stream


def read(text, name="data.jsonl", label="intent", labelled=True, partial=False, **options):
    layout = guess_item_layout(named(text, name), options.pop("format", None), options.pop("columns", None),
                               label, options)  # fmt: skip
    layout = replace(layout, partial=partial)
    return layout, list(read_batches(named(text, name), layout, need=(label,) if labelled else ()))


def values(batches):
    return [
        dict(zip(batch.block.columns, row, strict=True))
        for batch in batches
        for row in zip(*(batch.block.column(name) for name in batch.block.columns), strict=True)
    ]


def tagged(text, answers, name="data.jsonl", **options):
    layout, batches = read(text, name, labelled=False, **options)
    out = io.BytesIO()
    ItemWriter(out, layout).write(batches[0], answers)
    return out.getvalue().decode()


JSONL = '{"text": "hi", "n": 1.50, "intent": "greet", "tags": ["a", 2], "o": {"x": 1}}\n\n'
JSONL += '{"text":"bye","intent":7}\n'


def test_jsonl_fields_become_columns():
    layout, batches = read(JSONL)
    assert layout.columns == ("text", "n", "tags", "intent")
    assert values(batches) == [
        {"text": "hi", "n": "1.5", "tags": "a 2", "intent": "greet"},
        {"text": "bye", "n": "", "tags": "", "intent": "7"},
    ]
    assert batches[0].block.table.lines.tolist() == [1, 3]
    assert batches[0].block.table.sentences == 2


def test_jsonl_is_written_back_with_the_class():
    answers = [{"": "part", "confidence": 0.5}, {"": "part", "confidence": 0.25}]
    assert tagged(JSONL, answers) == (
        '{"text": "hi", "n": 1.50, "intent": "greet", "tags": ["a", 2], "o": {"x": 1}, '
        '"predicted": "part", "confidence": 0.5}\n\n'
        '{"text":"bye","intent":7, "predicted": "part", "confidence": 0.25}\n'
    )
    unlabelled = '{"text": "à"}\r\n{ }'
    layout, _ = read(JSONL)
    out = io.BytesIO()
    for batch in read_batches(named(unlabelled), layout):
        ItemWriter(out, layout).write(batch, [{"": "é"}, {"": None}])
    assert out.getvalue().decode() == '{"text": "à", "intent": "é"}\r\n{"intent": null}'


def test_fields_that_are_there_are_replaced():
    text = '{"text": "hi", "intent": "a", "predicted": "x"}\n'
    assert tagged(text, [{"": "b"}]) == '{"text": "hi", "intent": "a", "predicted": "b"}\n'


def test_alternatives_are_a_list_or_lines():
    best = [{"": "a", "score": 2.0}, {"": "b", "score": 1.0}]
    layout, batches = read('{"text": "hi", "intent": "a"}\n')
    out = io.BytesIO()
    ItemWriter(out, layout).write_best(batches[0], [best])
    assert json.loads(out.getvalue()) == {
        "text": "hi",
        "intent": "a",
        "predicted": "a",
        "alternatives": [{"intent": "a", "score": 2.0}, {"intent": "b", "score": 1.0}],
    }
    layout, batches = read("text,intent\nhi,a", "data.csv")
    out = io.BytesIO()
    ItemWriter(out, layout).write_best(batches[0], [best])
    assert out.getvalue().decode() == "text,intent,predicted,score\nhi,a,a,2.0\nhi,a,b,1.0"


CSV = 'text,"unit price",intent\r\n"hi, ""you""\nthere",3,greet\r\n\r\nbye,,part'


def test_csv_is_read_as_pythons_module_reads_it():
    layout, batches = read(CSV, "data.csv")
    assert layout.columns == ("text", "unit price", "intent")
    assert values(batches) == [dict(row) for row in csv.DictReader(io.StringIO(CSV, newline=""))]
    assert batches[0].block.table.lines.tolist() == [2, 5]


def test_csv_is_written_back_with_the_class():
    answers = [{"": "a,b", "confidence": 0.5}, {"": "c", "confidence": None}]
    assert tagged(CSV, answers, "data.csv") == (
        'text,"unit price",intent,predicted,confidence\r\n'
        '"hi, ""you""\nthere",3,greet,"a,b",0.5\r\n\r\nbye,,part,c,'
    )
    layout, _ = read(CSV, "data.csv")
    out = io.BytesIO()
    for batch in read_batches(named("unit price,extra,text\n3,x,hi\n", "d.csv"), layout):
        assert batch.block.columns == ("text", "unit price")
        ItemWriter(out, layout).write(batch, [{"": "a"}])
    assert out.getvalue() == b"unit price,extra,text,intent\n3,x,hi,a\n"


def test_tables_without_items_keep_their_header():
    layout, _ = read(CSV, "data.csv")
    out = io.BytesIO()
    for batch in read_batches(named("text,unit price\n\n", "d.csv"), layout):
        ItemWriter(out, layout).write(batch, [])
    assert out.getvalue() == b"text,unit price,intent\n\n"


def test_a_table_without_a_header_is_named_by_the_user(tmp_path):
    path = tmp_path / "d.tsv"
    path.write_text("hi\tgreet\nbye\tpart\n")
    layout = guess_item_layout(path, None, "text intent", "intent", {})
    assert layout.options == {"header": False}
    assert [row["text"] for row in values(read_batches(path, layout, need=("intent",)))] == ["hi", "bye"]
    (batch,) = read_batches(named("new\n", "n.tsv"), layout)
    assert batch.block.columns == ("text",)
    assert batch.head == ""


def test_the_separator_is_an_option():
    assert values(read("text;intent\na,b;x\n", "d.csv", separator=";")[1]) == [{"text": "a,b", "intent": "x"}]


CELLS = st.text(" ,;\"'\t\r\nab", max_size=5)


@given(st.lists(st.tuples(CELLS, CELLS.filter(bool)), min_size=1, max_size=5), st.sampled_from([",", "\t"]))
def test_any_table_comes_back_as_it_was(rows, separator):
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL).writerows([("text", "intent"), *rows])
    name = "d.csv" if separator == "," else "d.tsv"
    written = tagged(out.getvalue(), [{"": "z"} for _ in rows], name)
    again = list(csv.reader(io.StringIO(written, newline=""), delimiter=separator))
    assert again == [["text", "intent", "predicted"], *([*row, "z"] for row in rows)]


@given(
    st.lists(
        st.dictionaries(st.text("ab", min_size=1), st.one_of(st.none(), CELLS, st.integers())), max_size=5
    )
)
def test_any_objects_come_back_as_they_were(records):
    text = "".join(json.dumps(record) + "\n" for record in [{"q": "", "intent": "x"}, *records])
    answers = [{"": "z"} for _ in range(len(records) + 1)]
    lines = tagged(text, answers).splitlines()
    assert [json.loads(line) for line in lines[1:]] == [record | {"intent": "z"} for record in records]


ITEMS = "greet\tw=hi\tn:2\npart\tw=bye\n\ngreet\tw=hi\n"


def test_item_lines_are_one_item_each():
    layout, batches = read(ITEMS, "d.txt", format="crfsuite")
    assert layout.columns == ("attributes", "intent")
    assert batches[0].block.table.sentences == 3
    assert batches[0].block.table.attributes(0, 1) == [{"w=hi": 1.0, "n": 2.0}]
    out = io.BytesIO()
    ItemWriter(out, layout).write(batches[0], [{"": "x"}, {"": "y"}, {"": "z"}])
    assert out.getvalue().decode() == "x\tw=hi\tn:2\ny\tw=bye\n\nz\tw=hi\n"
    with pytest.raises(SettingsError, match="no place for confidences"):
        ItemWriter(out, layout).write(batches[0], [{"": "x", "confidence": 1.0}] * 3)
    with pytest.raises(SettingsError, match="no place for alternatives"):
        ItemWriter(out, layout).write_best(batches[0], [[{"": "x"}]] * 3)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ('{"text": "hi"}\n', "d.jsonl", "d.jsonl:1: found the fields text, but no 'intent'"),
        ('{"intent": "a"\n', "d.jsonl", "d.jsonl:1:15: found no JSON: Expecting ',' delimiter"),
        ("[1]\n", "d.jsonl", "d.jsonl:1: found list, expected an object with the fields of an item"),
        ("", "d.jsonl", "d.jsonl: found no items, expected at least one"),
        ("", "d.csv", "d.csv: found no header, expected a line with the names of the columns"),
        ("text,intent\n", "d.csv", "d.csv: found no items, expected at least one"),
        ("text,intent\na\n", "d.csv", "d.csv:2: found 1 fields, expected 2 (text, intent)"),
        ('text,intent\n"a,b\nc,d\n', "d.csv", "d.csv:2: found 1 fields, expected 2 (text, intent); is a"),
        ("text,intent,text\n", "d.csv", "d.csv:1: found the column 'text' twice, expected distinct names"),
        ('{"text": "a", "intent": "x"}\n{"text": "a"}\n', "d.jsonl", "d.jsonl:2: found no class"),
        ('{"text": "a", "intent": ["x"]}\n', "d.jsonl", "d.jsonl:1: found the class ['x'] in 'intent',"),
        ('{"text": {}, "intent": "x"}\n', "d.jsonl", "d.jsonl: found no fields beside"),
        ("text,intent\na,\n", "d.csv", "d.csv:2: found no class in 'intent', expected one"),
        ('{"text": "a\udcff"}\n'.replace("\udcff", "\0"), "d.jsonl", "d.jsonl:1:12: found a NUL byte"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_place(text, name, message):
    with pytest.raises(DataError) as caught:
        read(text, name)
    assert str(caught.value).startswith(message)


def test_objects_in_a_column_are_refused_with_their_line():
    layout, _ = read('{"text": "a", "intent": "x"}\n')
    with pytest.raises(DataError, match=r"d:2: found dict in 'text', expected a text, a number, or a list"):
        list(read_batches(named('{"text": "b"}\n{"text": {"a": 1}}\n', "d"), layout))


@pytest.mark.parametrize("value", ["NaN", "[1, -Infinity]", "1e999"])
def test_numbers_that_are_none_are_refused_with_their_line(value):
    layout, _ = read('{"text": "a", "intent": "x"}\n')
    with pytest.raises(DataError, match=r"d:2: found (nan|-?inf) in 'text', expected a finite number"):
        list(read_batches(named(f'{{"text": 1.5}}\n{{"text": {value}}}\n', "d"), layout))


def test_item_lines_without_a_class_are_refused():
    with pytest.raises(DataError, match=r"d.txt:2:1: found no class before the first tab, expected one"):
        read("a\tw=1\n\tw=2\n", "d.txt", format="crfsuite")


def test_settings_are_checked():
    assert [item_format(name) for name in ("a.csv", "a.TSV.gz", "a.jsonl", "a.txt")] == [
        "csv",
        "tsv",
        "jsonl",
        "jsonl",
    ]
    with pytest.raises(SettingsError, match="found format 'conll', but items are read from jsonl, csv, tsv"):
        item_format("a", "conll")
    with pytest.raises(SettingsError, match="found the option 'separator', but jsonl files take: none"):
        read(JSONL, separator=";")
    with pytest.raises(SettingsError, match="separator: found '::', expected one character"):
        read(CSV, "d.csv", separator="::")
    with pytest.raises(SettingsError, match="label: found 'intent', expected one of the columns text other"):
        read("a\tb\n", "d.tsv", columns="text other")


def test_open_classes():
    text = (
        '{"text": "a", "intent": ["x", "y"]}\n{"text": "b", "intent": null}\n{"text": "c", "intent": "x"}\n'
    )
    assert [row["intent"] for row in values(read(text, partial=True)[1])] == ["x|y", "_", "x"]


def test_items_of_python_objects():
    layout = layout_of_objects([{"text": "a", "n": 1, "label": "x"}], "label", False)
    assert layout.columns == ("text", "n", "label")
    block = pack_objects([{"text": "a", "n": 1.5}, "b c"], layout)
    assert [block.column(name) for name in block.columns] == [["a", "b c"], ["1.5", ""]]
    layout = layout_of_objects([{"attributes": ["a"], "label": "x"}], "label", False)
    assert pack_objects([["w=1", "w=2"], {"w=1"}], layout).table.attributes(0, 2) == [
        {"w=1": 1.0, "w=2": 1.0},
        {"w=1": 1.0},
    ]
    with pytest.raises(DataError, match="found int as the attributes of a token"):
        pack_objects([["a"], 3], layout)
    layout = layout_of_objects([{"text": "a", "label": "x"}], "label", False)
    with pytest.raises(DataError, match="item 2: found int, expected a text, a dictionary of fields, or a"):
        pack_objects(["a", 3], layout)


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ('{"text": ""}\n\n{"x": 1, "intent": ""}\n', "d.jsonl", "d.jsonl:3: found the fields 'x', 'intent'"),
        ("foo,bar\n1,2\n", "new.csv", "new.csv:1: found the fields 'foo', 'bar'"),
    ],
)  # fmt: skip
def test_items_of_something_else_are_refused(text, name, message):
    layout, _ = read('{"text": "a", "n": 1, "intent": "b"}\n')
    layout = replace(layout, format=name.split(".")[1])
    with pytest.raises(DataError, match=f"^{message}, expected 'text' or 'n'$"):
        list(read_batches(named(text, name), layout))
    with pytest.raises(DataError, match=r"^item 2: found the fields 'x', expected 'text' or 'n'$"):
        pack_objects(["a text", {"x": 1}], layout)
