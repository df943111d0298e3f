"""Templates over whole documents: what they mean, and what is said of mistakes."""

from __future__ import annotations

from typing import Any

import naive_documents as naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia import _core
from marginalia.features.compiling import compile_program, compile_segment_program
from marginalia.features.documents import DOCUMENT_FORMS, RANKED, looks_at_documents
from marginalia.features.program import Program
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

LISTS = {"a": ["Ann Lee", "Ann Lee Kim", "lee", "Rome"], "b": ["the Rome Ann", "one Two 3 four Five six"]}
FORMS = [
    *(f"{name}(word)[0]" for name, form in DOCUMENT_FORMS.items() if form.count("(") == 1),
    *(f"{name}({n})(word)[0]" for name in RANKED for n in (1, 2, 3)),
    *(f"elsewhere-list({name})(word)[0]" for name in LISTS),
]
TEXT = "Ann ann ANN Lee LEE Kim the The THE Rome rome one Two 3 four Five six 1-0 . : `` - É é ß 中"
SENTENCES = st.lists(st.sampled_from([*TEXT.split(), ""]), min_size=1, max_size=8)
CORPORA = st.lists(st.lists(SENTENCES, min_size=1, max_size=4), min_size=1, max_size=3)
Corpus = list[list[list[str]]]


def program_of(text: str) -> Program:
    onto = Program((), (), lists=dict.fromkeys(LISTS, ""))
    return parse_templates(text, Columns(("word", "ne"), "ne"), file="f", onto=onto)


def phrases() -> dict[str, _core.PhraseSet]:
    return {name: _core.PhraseSet([p.split(" ") for p in each]) for name, each in LISTS.items()}


def table_of(corpus: Corpus) -> _core.TokenTable:
    sentences = [(d, sentence) for d, document in enumerate(corpus) for sentence in document]
    flat = [word for _, sentence in sentences for word in sentence]
    return _core.from_columns([flat], [len(s) for _, s in sentences], [d for d, _ in sentences])


def expected(program: Program, corpus: Corpus) -> list[list[tuple[bool, str]]]:
    found: list[list[tuple[bool, str]]] = []
    for document in corpus:
        grid = [naive.values(a.function, a.argument, document, LISTS) for a in program.attributes]
        for s, sentence in enumerate(document):
            for t in range(len(sentence)):
                values = [(form, rows[s][t]) for form, rows in zip(FORMS, grid, strict=True)]
                found.append([(False, f"{form}={value}") for form, value in values if value is not None])
    return found


@given(CORPORA)
def test_features_are_those_of_the_naive_program(corpus: Corpus) -> None:
    """`names` itself checks that every key is the hash of its name."""
    program = program_of("\n".join(FORMS))
    native = compile_program(program, ("word",), phrases())
    assert native.names(table_of(corpus)) == expected(program, corpus)


@given(CORPORA)
def test_segments_see_the_same(corpus: Corpus) -> None:
    program = program_of("run-before(word)[0]\nelsewhere-list(a)(word)[b]/document-case(word)[e]")
    native = compile_segment_program(program, ("word",), phrases())
    table, at = table_of(corpus), 0
    for document in corpus:
        case = naive.values("document-case", "", document, LISTS)
        listed = naive.values("elsewhere-list", "a", document, LISTS)
        for s, sentence in enumerate(document):
            names = [n for _, n in native.names(table, at, 0, len(sentence) - 1) if n.startswith("elsewhere")]
            head = "elsewhere-list(a)(word)[b]/document-case(word)[e]="
            first, last = listed[s][0], case[s][-1]
            assert names == ([] if first is None else [f"{head}{first}/{last}"])
            at += 1


@pytest.mark.parametrize(
    ("form", "value"),
    [
        ("document-first(word)[0]", "soccer"),
        ("document-case(word)[0]", "X+"),
        ("run-before(word)[0]", "Bill"),
        ("run-place(word)[0]", "1.2"),
        ("elsewhere-before(1)(word)[0]", "Bill"),
        ("elsewhere-after(1)(word)[0]", "spoke"),
        ("elsewhere-after(2)(word)[0]", None),
        ("first-use-before(word)[0]", "Bill"),
        ("sentence-number(word)[0]", "3"),
        ("sentence-form(word)[0]", "a010."),
    ],
)
def test_examples(form: str, value: str | None) -> None:
    document = [["SOCCER", "-", "CLINTON", "WINS"], ["Bill", "Clinton", "spoke", "."], ["so", "Clinton", "."]]
    program = program_of(form)
    names = compile_program(program, ("word",), phrases()).names(table_of([document]))
    assert names[9] == ([] if value is None else [(False, f"{form}={value}")])


def test_each_table_is_looked_at_anew() -> None:
    """Also if it has the place in memory of one that is no more."""
    native = compile_program(program_of("document-first(word)[0]"), ("word",), phrases())
    for word in [*"abcdefgh"] * 3:
        found = native.names(table_of([[[word], ["x"]]]))
        assert found == [[(False, f"document-first(word)[0]={word}")]] * 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("elsewhere-before(0)(word)[0]", "f:1:18: found 0, expected a number from 1 to 9"),
        ("elsewhere-after(1..10)(word)[0]", "f:1:17: found 10, expected a number from 1 to 9"),
        ("elsewhere-list(c)(word)[0]", "no line 'list c = file' declares this list"),
        ("run-before(2)(word)[0]", "f:1:12: found .*, expected a column"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        program_of(text)


def test_every_list() -> None:
    program = program_of("elsewhere-list(*)(word)[0]")
    assert [a.argument for a in program.attributes] == list(LISTS)


@pytest.mark.parametrize(
    ("text", "found"),
    [("word[0]\nrun-before(word)[0]", True), ("# run-before(word)[0]", False), ("word[0]", False)],
)
def test_who_looks_at_documents(text: str, found: bool) -> None:
    assert looks_at_documents(text) is found
    assert program_of(text).of_documents is found
    assert Program.from_json(program_of(text).to_json()).of_documents is found


def test_not_for_items(tmp_path: Any) -> None:
    (tmp_path / "t.txt").write_text("document-case(text)\n")
    with pytest.raises(
        mg.SettingsError, match="the function document-case is for tokens of sentences, not for items"
    ):
        mg.train([({"text": "a"}, "x")], structure="single", features=str(tmp_path / "t.txt"))
