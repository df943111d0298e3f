"""Lexicons: their files, what templates make of them, and what is said of mistakes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_extractor import value_at

import marginalia as mg
from marginalia import _core
from marginalia.corpus.lexicons import merged, read_lexicon, write_lexicon
from marginalia.features.clusters import load_word_tables
from marginalia.features.compiling import compile_extractor, compile_segment_extractor
from marginalia.features.lexicons import lexicon_file
from marginalia.features.loading import load_features
from marginalia.features.program import Attribute, TemplateProgram, WordFile
from marginalia.features.reading import Columns
from marginalia.features.templates import parse_templates

LEXICON = {
    "run": {"NN": 120, "VB": 2000, "VBP": 10},
    "Bill": {"NNP": 40},
    "bill": {"NN": 41, "VB": 41},
    "#": {"#": 12},
    "USA": {"NNP": 1000},
}
COLUMNS = ("word", "pos")
TEMPLATES = (
    "lexicon(w)(word)[-1..1]\nlexicon(w,band|rank)(word)[0]\nlexicon(w,set|best)(word)[0]\n"
    "lexicon(w,best)(word)[-1]/lexicon(w,set)(word)[0]\nedge: lexicon(w,candidate)(word)[0]\n"
)
LABELS = st.sampled_from(["NN", "VB", "B-NP", "a,b", "|", "é"])
LEXICONS = st.dictionaries(
    st.text("abAB#é\u3000 ", min_size=1, max_size=3),
    st.dictionaries(LABELS, st.integers(1, 3000), min_size=1),
    min_size=1,
    max_size=12,
)


@pytest.fixture
def words(tmp_path: Path) -> Path:
    write_lexicon(str(tmp_path / "words.lex"), LEXICON, 10)
    return tmp_path / "words.lex"


def program_of(text: str, path: Path) -> TemplateProgram:
    onto = TemplateProgram((), (), word_files={"w": lexicon_file("w", str(path))})
    return parse_templates(text, Columns(("word", "pos", "ne"), "ne"), file="f", onto=onto)


def naive_entry(lexicon: dict[str, dict[str, int]], word: str) -> list[tuple[str, int]]:
    """As written, else the most frequent spelling in any case (of several, the first in order of text)."""
    same = [w for w in sorted(lexicon) if lowered(w) == lowered(word)]
    found = word if word in lexicon else max(same, key=lambda w: sum(lexicon[w].values()), default=None)
    return sorted(lexicon.get(found or "", {}).items(), key=lambda item: (-item[1], item[0]))


def lowered(text: str) -> str:
    return str(_core.evaluate_attribute("lower", "", text))


def naive_value(lexicon: dict[str, dict[str, int]], argument: str, word: str) -> str | None:
    how, _, label = argument.partition(",")[2].partition(",")
    entry = naive_entry(lexicon, word)
    labels = [name for name, _ in entry]
    if how == "set":
        return "|".join(sorted(labels, key=str.encode)) if entry else None
    if how == "best":
        return labels[0] if entry else None
    if label not in labels:
        return None
    count = dict(entry)[label]
    band = "1000" if count > 999 else "100" if count > 99 else "10" if count > 9 else "1"
    return {"candidate": "1", "band": band, "rank": str(labels.index(label) + 1)}[how]


def naive_names(
    program: TemplateProgram, lexicon: dict[str, dict[str, int]], words: list[str]
) -> list[list[tuple[bool, str]]]:
    def value(a: Attribute, word: str) -> str | None:
        return naive_value(lexicon, a.argument, word)

    grid = [[value(a, word) for word in words] for a in program.attributes]
    found: list[list[tuple[bool, str]]] = []
    for at in range(len(words)):
        found.append([])
        for t in program.templates:
            parts = [p if isinstance(p, str) else value_at(p, grid[p.attribute], at) for p in t.pieces]
            if None not in parts:
                found[-1].append((t.scope == "edge", "".join(map(str, parts))))
    return found


@given(LEXICONS, st.data())
def test_features_are_those_of_a_plain_look_up(tmp_path_factory: Any, lexicon: Any, data: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "for-hypothesis.lex"
    write_lexicon(str(path), lexicon, 1)
    listed = st.sampled_from([*lexicon, *map(str.upper, lexicon), *map(str.lower, lexicon), "other", ""])
    words = data.draw(st.lists(listed, max_size=6))
    program = program_of(TEMPLATES, path)
    native = compile_extractor(program, COLUMNS, {}, load_word_tables(program))
    table = _core.from_columns([words, ["N"] * len(words)], [len(words)])
    assert native.names(table) == naive_names(program, lexicon, words)


@given(LEXICONS, LEXICONS, st.integers(1, 100))
def test_files_keep_counts_and_merge(tmp_path_factory: Any, one: Any, other: Any, least: int) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name, lexicon in (("one.lex", one), ("other.lex", other)):
        write_lexicon(str(folder / name), lexicon, 1)
    assert {entry.word: dict(entry.counts) for entry in read_lexicon(folder / "one.lex")} == one
    both = merged([folder / "one.lex", folder / "other.lex"])
    plain = {word: Counter(one.get(word, {})) + Counter(other.get(word, {})) for word in {*one, *other}}
    assert both == plain
    write_lexicon(str(folder / "both.lex"), both, least)
    kept = {word: {k: n for k, n in counts.items() if n >= least} for word, counts in plain.items()}
    found = {entry.word: dict(entry.counts) for entry in read_lexicon(folder / "both.lex")}
    assert found == {word: counts for word, counts in kept.items() if counts}


def test_a_file_can_be_read(words: Path) -> None:
    assert words.read_text().splitlines()[:3] == [
        "# lexicon of labels seen at least 10 times; a line: word, label, count…",
        "#\t#\t12",
        "Bill\tNNP\t40",
    ]


def test_names_of_templates(words: Path) -> None:
    program = program_of("lexicon( w , band | best )( word )[0]", words)
    assert [t.pieces[0] for t in program.templates] == [
        *(f"lexicon(w,band,{label})(word)[0]=" for label in ("#", "NN", "NNP", "VB", "VBP")),
        "lexicon(w,best)(word)[0]=",
    ]
    assert TemplateProgram.from_json(program.to_json()) == program


def test_segments(words: Path) -> None:
    program = program_of("lexicon(w,best)(word)[b..e]\nlexicon(w,rank)(word)[e]\nedge:", words)
    native = compile_segment_extractor(program, COLUMNS, {}, load_word_tables(program))
    table = _core.from_columns([["Bill", "BILL", "x"], ["N"] * 3], [3])
    assert [name for _, name in native.names(table, 0, 0, 1)] == [
        "lexicon(w,best)(word)[b..e]=NNP NN",
        "lexicon(w,rank,NN)(word)[e]=1",
        "lexicon(w,rank,VB)(word)[e]=2",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("run", r"c\.lex:2: found 1 fields, expected word, tab, label, tab, count"),
        ("run\tNN", "c.lex:2: found 2 fields"),
        ("run\tNN\t3\tVB", "c.lex:2: found 4 fields"),
        ("\tNN\t3", "c.lex:2: found 3 fields"),
        ("run\t\t3", "c.lex:2: found 3 fields"),
        ("run\tNN\tmany", "c.lex:2: found the count 'many', expected a whole number above 0"),
        ("run\tNN\t0", "c.lex:2: found the count '0'"),
        ("run\tNN\t-1", "c.lex:2: found the count '-1'"),
        ("run\tNN\t1\tNN\t2", "c.lex:2: found a label of 'run' twice"),
        ("first\tNN\t1", "c.lex:2: found the word 'first' again, which line 1 has"),
    ],
)
def test_errors_say_where(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "c.lex").write_text(f"first\tNN\t3\n{line}\n")
    with pytest.raises(mg.DataError, match=message):
        list(read_lexicon(tmp_path / "c.lex"))


@given(st.binary(max_size=60) | st.text("aN1-0 #\t\n", max_size=40).map(str.encode))
def test_any_bytes_are_a_lexicon_or_an_error(tmp_path_factory: Any, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.lex"
    path.write_bytes(b"run\tNN\t10\n" + data)
    try:
        entries = list(read_lexicon(path))
    except mg.DataError as error:
        found = (error.file, error.line)
        assert found[0] == str(path) and (found[1] or 0) >= 1  # noqa: PT018
    else:
        assert entries[0].word == "run"
        load_word_tables(program_of("lexicon(w)(word)[0]", path))


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("lexicon(v)(word)[0]", "f:1:9: no 'lexicon v = file' and no option declares it. "),
        ("lexicon(w,bands)(word)[0]", "'bands' cannot be asked of a lexicon. Did you mean 'band'"),
        ("lexicon()(word)[0]", "expected a name and what to ask"),
        ("lexicon(w)[0]", "expected a column, as in lexicon"),
        ("lexicon(w,set|set)(word)[0]", "already given by line 1"),
        ("cluster(w,4)(word)[0]", "no 'clusters w = file' and no option declares it"),
        ("clusters w = x", "there are clusters or a lexicon 'w' already"),
    ],
)
def test_mistakes_in_templates(words: Path, template: str, message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        program_of(template, words)


def test_files_that_are_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(mg.SettingsError, match=r"lexicon 'w': cannot read .*: there is no such file"):
        lexicon_file("w", str(tmp_path / "none.lex"))
    (tmp_path / "none.lex").write_text("# only a comment\n")
    with pytest.raises(mg.SettingsError, match="lexicon 'w': there is no word in"):
        lexicon_file("w", str(tmp_path / "none.lex"))


def test_words_and_labels_that_no_line_can_have(tmp_path: Path) -> None:
    with pytest.raises(mg.DataError, match="expected none with tabs or line breaks"):
        write_lexicon(str(tmp_path / "w.lex"), {"a\tb": {"NN": 20}}, 10)
    assert not (tmp_path / "w.lex").exists()


def test_every_lexicon_and_declarations(tmp_path: Path, words: Path) -> None:
    (tmp_path / "t.txt").write_text(
        "lexicon own = words.lex\nlexicon(*,best)(word)[0]\ncluster(*,4)(word)[0]\n"
    )
    program = load_features(str(tmp_path / "t.txt"), ("word", "ne"), "ne", lexicons={"w": str(words)})
    assert [t.pieces[0] for t in program.templates] == [
        "lexicon(w,best)(word)[0]=",
        "lexicon(own,best)(word)[0]=",
    ]
    assert list(program.word_files) == ["w", "own"]


def test_the_option_adds_templates(words: Path) -> None:
    without = load_features("ner", ("word", "ne"), "ne")
    program = load_features("ner", ("word", "ne"), "ne", lexicons={"w": str(words)})
    new = {t.pieces[0] for t in program.templates} - {t.pieces[0] for t in without.templates}
    assert "lexicon(w,candidate,NN)(token)[0]=" in new
    assert all(str(head).startswith("lexicon(w,") for head in new)
    assert program.word_files == {"w": WordFile(str(words), True, ("#", "NN", "NNP", "VB", "VBP"))}


def test_names_must_differ(words: Path) -> None:
    with pytest.raises(mg.SettingsError, match="clusters and a lexicon 'w', expected two names"):
        load_features("ner", ("word", "ne"), "ne", clusters={"w": "x"}, lexicons={"w": str(words)})
    with pytest.raises(mg.SettingsError, match="lexicon: found the name 'a,b', expected one without"):
        load_features("ner", ("word", "ne"), "ne", lexicons={"a,b": str(words)})


@pytest.mark.parametrize("argument", ["", "candidate", "band,", "best,NN", "sets", "rank"])
def test_what_cannot_be_asked(argument: str) -> None:
    with pytest.raises(ValueError, match="asks nothing of a lexicon"):
        _core.check_attribute("lexicon", argument)


def test_entries_that_are_damaged() -> None:
    import numpy as np

    for entry in ("NN", "NN\t", "\t10", "NN\t10\tVB"):
        table = _core.WordTable([entry], ["a"], np.ones(1, np.uint64), True)
        template = [(False, [("", 0, 0, False, ["_"], ["_"])])]
        with pytest.raises(ValueError, match="is not labels with their bands"):
            _core.FeatureExtractor([("lexicon", "best", 0, 0)], template, [], 1, [table])
