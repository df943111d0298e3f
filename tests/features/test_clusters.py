"""Templates over word clusters, and over every list: what they mean, and what is said of mistakes."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_extractor import value_at

import marginalia as mg
from marginalia import _core
from marginalia.features.clusters import load_word_tables
from marginalia.features.compiling import compile_extractor, compile_segment_extractor, load_phrases
from marginalia.features.loading import load_features
from marginalia.features.program import Attribute, TemplateProgram, WordFile
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

BROWN = {"dog": "0000", "Cat": "00011", "a": "1", "London": "0110101", "the": "10"}
COLUMNS = ("word", "pos")


@pytest.fixture
def brown(tmp_path: Path) -> Path:
    path = tmp_path / "brown.txt"
    path.write_text("".join(f"{bits}\t{word}\t{len(word)}\n" for word, bits in BROWN.items()))
    return path


def program_of(text: str, path: Path, any_case: bool = False) -> TemplateProgram:
    onto = TemplateProgram((), (), word_files={"wsj": WordFile(str(path), any_case)})
    return parse_templates(text, Columns(("word", "pos", "ne"), "ne"), file="f", onto=onto)


def naive_names(program: TemplateProgram, words: list[str]) -> list[list[tuple[bool, str]]]:
    """By a plain look-up; a path that is too short is taken whole."""

    def bits(a: Attribute, word: str) -> str | None:
        if a.function == "column":
            return word
        wanted = a.argument.partition(",")[2]
        return None if word not in BROWN else BROWN[word][: None if wanted == "all" else int(wanted)]

    grid = [[bits(a, word) for word in words] for a in program.attributes]
    found: list[list[tuple[bool, str]]] = []
    for at in range(len(words)):
        found.append([])
        for t in program.templates:
            parts = [p if isinstance(p, str) else value_at(p, grid[p.attribute], at) for p in t.pieces]
            if None not in parts:
                found[-1].append((t.scope == "edge", "".join(map(str, parts))))
    return found


TEMPLATES = (
    "cluster(wsj,4|6|10|all)(word)[0]\ncluster(wsj,1)(word)[-1..1]\n"
    "cluster(wsj,2)(word)[-1]/word[0]\nboth: word[0]/cluster(wsj,3)(word)[1]\n"
    "edge: cluster(wsj,2)(word)[-1]/cluster(wsj,2)(word)[0]\n"
)


@given(st.lists(st.sampled_from([*BROWN, "DOG", "cat", "other", ""]), max_size=7))
def test_features_are_those_of_a_plain_look_up(tmp_path_factory: Any, words: list[str]) -> None:
    path = tmp_path_factory.getbasetemp() / "brown-for-hypothesis.txt"
    path.write_text("".join(f"{bits}\t{word}\n" for word, bits in BROWN.items()))
    program = program_of(TEMPLATES, path)
    native = compile_extractor(program, COLUMNS, {}, load_word_tables(program))
    table = _core.from_columns([words, ["N"] * len(words)], [len(words)])
    assert native.names(table) == naive_names(program, words)


def test_names_of_templates(brown: Path) -> None:
    program = program_of("cluster( wsj , 4 | all )( word )[0]", brown)
    assert [t.pieces[0] for t in program.templates] == [
        "cluster(wsj,4)(word)[0]=",
        "cluster(wsj,all)(word)[0]=",
    ]
    assert TemplateProgram.from_json(program.to_json()) == program


def test_segments(brown: Path) -> None:
    text = "cluster(wsj,3)(word)[b]/cluster(wsj,2)(word)[e]\ncluster(wsj,all)(word)[i]\n"
    text += "cluster(wsj,2)(word)[b..e]"
    program = program_of(text, brown)
    native = compile_segment_extractor(program, COLUMNS, {}, load_word_tables(program))
    table = _core.from_columns([["the", "dog", "London", "dog"], ["N"] * 4], [4])
    assert [name for _, name in native.names(table, 0, 0, 2)] == [
        "cluster(wsj,3)(word)[b]/cluster(wsj,2)(word)[e]=10/01",
        "cluster(wsj,all)(word)[i]=0000",
        "cluster(wsj,2)(word)[b..e]=10 00 01",
    ]


def test_any_case(brown: Path) -> None:
    for any_case, expected in ((False, [None, None, "00011"]), (True, ["0000", "0110101", "00011"])):
        table = load_word_tables(program_of("cluster(wsj,4)(word)[0]", brown, any_case))["wsj"]
        assert [table.text(word) for word in ("Dog", "LONDON", "Cat")] == expected


def test_packed_files_without_counts_and_with_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "c.gz"
    path.write_bytes(gzip.compress("\ufeff01\ta\r\n\n1\tb c\r\n".encode()))
    table = load_word_tables(program_of("cluster(wsj,4)(word)[0]", path))["wsj"]
    assert [table.text(word) for word in ("a", "b c", "")] == ["01", "1", None]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "0121\tx\t1",
            r"c\.txt:2:1: found '0121', expected a path of 1 to 255 bits 0 and 1; expected path, tab",
        ),
        ("dog", r"c\.txt:2:1: found 'dog', expected a path"),
        ("01", r"c\.txt:2: found 1 fields, expected path, tab, word, or path, tab, word, tab, count"),
        ("01\tx\t1\t2", r"c\.txt:2: found 4 fields"),
        ("01\t\t1", r"c\.txt:2: found 3 fields"),
        ("01\tx\tmany", r"c\.txt:2: found the count 'many', expected a whole number"),
        ("01\tx\t-1", r"c\.txt:2: found the count '-1', expected a whole number"),
        (
            "01\tfirst\t1",
            r"c\.txt:2: found the word 'first' again, which line 1 has: expected each word once",
        ),
        (" ", r"c\.txt:2:1: found ' ', expected a path"),
    ],
)
def test_errors_say_where(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "c.txt").write_text(f"1\tfirst\t3\n{line}\n")
    with pytest.raises(mg.DataError, match=message):
        load_word_tables(program_of("cluster(wsj,4)(word)[0]", tmp_path / "c.txt"))


def test_files_that_are_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(
        mg.SettingsError, match=r"clusters 'wsj': cannot read .*c\.txt: there is no such file"
    ):
        load_word_tables(program_of("cluster(wsj,4)(word)[0]", tmp_path / "c.txt"))
    (tmp_path / "c.txt").write_text("\n")
    with pytest.raises(mg.SettingsError, match="clusters 'wsj': there is no word in"):
        load_word_tables(program_of("cluster(wsj,4)(word)[0]", tmp_path / "c.txt"))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (
            "cluster(wjs,4)(word)[0]",
            "f:1:9: no 'clusters wjs = file' and no option declares it. Did you mean 'wsj'",
        ),
        ("cluster(wsj)(word)[0]", r"f:1:9: found 'wsj\)\(word\)\[0\]', expected a name and numbers of bits"),
        ("cluster(wsj,0)(word)[0]", "f:1:13: '0' is neither all nor a number of bits from 1 to 255"),
        ("cluster(wsj,4|some)(word)[0]", "'some' is neither all nor"),
        ("cluster(wsj,4)[0]", "expected a column, as in cluster"),
        ("cluster(word)[0]", "expected a name and numbers of bits"),
        ("cluster(wsj,4|4)(word)[0]", "already given by line 1"),
        ("clusters a = x\nclusters a = y", "f:2:10: the clusters 'a' are declared twice"),
        ("clusters 1 = x", "expected 'clusters name = file'"),
    ],
)
def test_mistakes_in_templates(brown: Path, template: str, message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        program_of(template, brown)


def heads(program: TemplateProgram) -> list[str]:
    return [str(t.pieces[0]).removesuffix("=") for t in program.templates]


class TestEvery:
    """`*` stands for one list, or for some clusters, throughout a line."""

    def test_lists_and_clusters(self) -> None:
        onto = TemplateProgram(
            (), (), lists={"a": "", "b": ""}, word_files={"x": WordFile(""), "y": WordFile("")}
        )
        text = "list(*)(word)[0]/list( * )(word)[1]\ncluster(*,4)(word)[0]\n"
        text += "list(*)(word)[0]/cluster(*,2)(word)[0]"
        program = parse_templates(text, Columns(("word", "ne"), "ne"), onto=onto)
        assert heads(program) == [
            *(f"list({n})(word)[0]/list({n})(word)[1]" for n in "ab"),
            *(f"cluster({n},4)(word)[0]" for n in "xy"),
            *(f"list({n})(word)[0]/cluster({m},2)(word)[0]" for n in "ab" for m in "xy"),
        ]

    def test_none(self) -> None:
        program = parse_templates("word[0]\nlist(*)(word)[0]", Columns(("word", "ne"), "ne"))
        assert heads(program) == ["word[0]"]

    def test_files_of_templates_get_no_more_for_what_they_look_at(self, tmp_path: Path, brown: Path) -> None:
        (tmp_path / "t.txt").write_text(
            f"list(*)(word)[0]\ncluster(wsj,4)(word)[0]\nclusters own = {brown}\n"
        )
        columns = ("word", "ne")
        program = load_features(
            str(tmp_path / "t.txt"), columns, "ne", {"p": "p.txt"}, clusters={"wsj": "w", "tw": "t"}
        )
        assert heads(program)[:2] == ["list(p)(word)[0]", "cluster(wsj,4)(word)[0]"]
        assert all("cluster(tw," in head for head in heads(program)[2:])
        assert program.word_files == {
            "wsj": WordFile("w"),
            "tw": WordFile("t"),
            "own": WordFile(str(brown)),
        }

    def test_a_dictionary_is_among_them(self, tmp_path: Path) -> None:
        (tmp_path / "t.txt").write_text("word[0]\nlist(*)(word)[0]\n")
        program = load_features(
            str(tmp_path / "t.txt"), ("word", "ne"), "ne", {"p": "p.txt"}, dictionary=["X"]
        )
        assert heads(program) == ["word[0]", "list(p)(word)[0]", "list(X)(word)[0]"]
        assert program.dictionary == ("X",)


def test_the_option_adds_templates() -> None:
    without = load_features("ner", ("word", "ne"), "ne")
    program = load_features("ner", ("word", "ne"), "ne", clusters={"wsj": "w"}, cluster_case="any")
    new = set(heads(program)) - set(heads(without))
    assert new == {
        *(f"cluster(wsj,{n})(token)[{at}]" for n in (4, 6, 10, "all") for at in range(-2, 3)),
        *(f"cluster(wsj,6)(token)[{at}]/cluster(wsj,6)(token)[{at + 1}]" for at in (-1, 0)),
    }
    assert program.word_files == {"wsj": WordFile("w", True)}


def test_names_that_templates_cannot_have() -> None:
    with pytest.raises(mg.SettingsError, match="clusters: found the name 'a,b', expected one without"):
        load_features("ner", ("word", "ne"), "ne", clusters={"a,b": "w"})


def test_damaged_programs(brown: Path) -> None:
    program = program_of("cluster(wsj,4)(word)[0]", brown)
    with pytest.raises(mg.ModelError, match="no clusters 'wsj'"):
        TemplateProgram.from_json(replace(program, word_files={}).to_json())
    with pytest.raises(mg.ModelError, match="has version 1, expected 4"):
        TemplateProgram.from_json(program.to_json().replace('"version":4', '"version":1'))


def test_phrases_are_not_clusters(brown: Path) -> None:
    assert load_phrases(program_of("cluster(wsj,4)(word)[0]", brown)) == {}
