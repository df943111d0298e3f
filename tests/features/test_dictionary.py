"""Dictionaries: files, edits, and what they find in text."""

from __future__ import annotations

import gzip
import os
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_dictionary import longest_phrases

import marginalia as mg
from marginalia import _core
from marginalia.features.dictionary import Dictionary, dictionary_of, united

words = st.sampled_from(["a", "A", "b", "B", "ab", "É", "é", "の"])
phrases = st.lists(words, min_size=1, max_size=4).map(tuple)
labels = st.sets(st.sampled_from(["LOC", "ORG", "PER"]), min_size=1).map(sorted)
entries = st.dictionaries(phrases, labels, max_size=8)
sentences = st.lists(st.lists(words, max_size=9), max_size=3)


def found_in(dictionary: Dictionary, sentences: list[list[str]], ignore_case: bool = False) -> list[object]:
    tokens = [token for sentence in sentences for token in sentence]
    table = _core.from_columns([tokens], [len(sentence) for sentence in sentences])
    return list(dictionary.finder("whitespace", ignore_case).longest(table, 0))


@given(entries, sentences, st.booleans())
def test_longest_matches(
    known: dict[tuple[str, ...], list[str]], text: list[list[str]], ignore: bool
) -> None:
    expected, first = [], 0
    for sentence in text:
        for begin, end, some in longest_phrases(sentence, known, ignore):
            expected.append((first + begin, first + end, some))
        first += len(sentence)
    assert found_in(Dictionary(known), text, ignore) == expected


@given(entries, entries, sentences, st.randoms(use_true_random=False))
def test_order_does_not_matter(
    one: dict[tuple[str, ...], list[str]],
    two: dict[tuple[str, ...], list[str]],
    text: list[list[str]],
    chance: random.Random,
) -> None:
    """Neither that of phrases, nor that of labels, nor which dictionary came first."""
    pairs = [(phrase, label) for known in (one, two) for phrase in known for label in known[phrase]]
    shuffled = chance.sample(pairs, len(pairs))
    made = [
        Dictionary(one) | Dictionary(two),
        united([Dictionary(two), Dictionary(one)]),
        Dictionary(pairs),
        Dictionary(shuffled),
    ]
    for ignore in (False, True):
        assert all(found_in(each, text, ignore) == found_in(made[0], text, ignore) for each in made)


def test_longer_wins_and_then_further_left() -> None:
    known = Dictionary({"New York": "LOC", "York Times Square": "LOC", "c d": "ORG", "d e": "PER"})
    assert found_in(known, [["New", "York", "Times", "Square"]]) == [(1, 4, ("LOC",))]
    assert found_in(known, [["New", "York", "Times"]]) == [(0, 2, ("LOC",))]
    assert found_in(known, [["c", "d", "e"]]) == [(0, 2, ("ORG",))]
    assert found_in(known, [["New"], ["York"]]) == []  # not over the end of a sentence


def test_case_matters_unless_it_does_not() -> None:
    known = Dictionary({"Apple": "ORG", "apple": "FRUIT"})
    assert found_in(known, [["Apple", "APPLE", "apple"]]) == [(0, 1, ("ORG",)), (2, 3, ("FRUIT",))]
    assert [some for _, _, some in found_in(known, [["Apple", "APPLE"]], True)] == [("FRUIT", "ORG")] * 2  # type: ignore[misc]


def test_phrases_are_cut_as_text_is() -> None:
    known = Dictionary({"St. John's": "LOC", ("St.", "Gallen Ost"): "LOC"})

    def tokens_found(tokenizer: str, tokens: list[str]) -> int:
        table = _core.from_columns([tokens], [len(tokens)])
        return len(known.finder(tokenizer, False).longest(table, 0))

    assert tokens_found("whitespace", ["St.", "John's"]) == 1
    assert tokens_found("words", ["St.", "John's"]) == 0
    assert tokens_found("words", ["St", ".", "John", "'", "s"]) == 1
    assert tokens_found("characters", list("St.John's")) == 1
    assert tokens_found("words", ["St.", "Gallen Ost"]) == 1  # tokens are taken as they are


TEXT = """\ufeff# places and people
New  York\tLOC
Washington\tLOC\r
Washington\tPER

\\#1 Son\tPER
\\\\o/\tORG
"""


def test_files(tmp_path: Path) -> None:
    (tmp_path / "names.tsv").write_text(TEXT, newline="")
    with gzip.open(tmp_path / "names.tsv.gz", "wt", encoding="utf-8") as file:
        file.write(TEXT)
    expected = {"New York": ("LOC",), "Washington": ("LOC", "PER"), "#1 Son": ("PER",), "\\o/": ("ORG",)}
    for name in ("names.tsv", "names.tsv.gz"):
        assert dict(Dictionary.read(tmp_path / name)) == expected
    assert Dictionary.read(tmp_path / "names.tsv").labels == ("LOC", "ORG", "PER")
    (tmp_path / "more.tsv").write_text("New York\tORG\nword\n")
    both = Dictionary.read(tmp_path / "names.tsv", tmp_path / "more.tsv")
    assert both["New York"] == ("LOC", "ORG")
    assert both["word"] == ("",)


def test_json_files(tmp_path: Path) -> None:
    path = tmp_path / "names.jsonl"
    path.write_text(
        '{"phrase": "New York", "label": ["LOC", "ORG"]}\n\n{"phrase": ["a b", "c"], "label": "X"}\n'
    )
    assert dict(Dictionary.read(path)) == {"New York": ("LOC", "ORG"), ("a b", "c"): ("X",)}


texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@given(
    st.dictionaries(
        st.one_of(texts.filter(str.strip), st.lists(texts, min_size=1, max_size=3).map(tuple)),
        st.sets(texts.map(lambda t: "".join(t.split())), min_size=1).map(list),
    )
)
def test_what_is_saved_is_read(
    tmp_path_factory: pytest.TempPathFactory, known: dict[object, list[str]]
) -> None:
    made = Dictionary(known)
    folder = tmp_path_factory.mktemp("saved")
    made.save(folder / "d.jsonl")
    assert Dictionary.read(folder / "d.jsonl") == made
    plain = Dictionary({phrase: some for phrase, some in made.items() if isinstance(phrase, str)})
    plain.save(folder / "d.tsv")
    assert Dictionary.read(folder / "d.tsv") == plain


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("d.tsv", "a\tX\nb\tX\tY\n", "d.tsv:2:4: found a second tab, expected phrase, tab, label"),
        ("d.tsv", "  \tX\n", "d.tsv:1:1: found no phrase, expected phrase, tab, label"),
        ("d.tsv", "# c\nab\t \n", "d.tsv:2:4: found no label behind the tab, expected phrase, tab, label"),
        ("d.jsonl", '{"phrase": "a"', "d.jsonl:1: this is not JSON"),
        ("d.jsonl", '["a"]', "d.jsonl:1: expected an object such as"),
        ("d.jsonl", '{"phrase": "a", "lable": "X"}', "d.jsonl:1: found the key 'lable'"),
        ("d.jsonl", '{"phrase": [], "label": "X"}', "d.jsonl:1: found \\[\\], expected a phrase"),
        ("d.jsonl", '{"phrase": 3, "label": "X"}', "d.jsonl:1: found 3, expected a phrase"),
        ("d.jsonl", '{"phrase": "a", "label": 3}', "d.jsonl:1: found 3, expected a label"),
        ("d.jsonl", '{"phrase": "a", "label": []}', "d.jsonl:1: found \\[\\], expected a label"),
    ],
)
def test_errors_say_where(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(mg.DataError, match=message):
        Dictionary.read(tmp_path / name)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(mg.DataError, match=r"no\.tsv: cannot read or write: No such file"):
        Dictionary.read(tmp_path / "no.tsv")
    (tmp_path / "d.tsv").write_bytes(b"a\tX\n\xff\tX\n")
    with pytest.raises(mg.DataError, match=r"d\.tsv:2:1: found byte 0xFF"):
        Dictionary.read(tmp_path / "d.tsv")


@pytest.mark.parametrize("phrase", ["", " ", (), ("a", ""), 3, ("a", 1), "\ud800"])
def test_what_is_no_phrase(phrase: object) -> None:
    with pytest.raises(mg.DataError, match="expected a phrase"):
        Dictionary([(phrase, "X")])
    assert phrase not in Dictionary({"a": "X"})


def test_tokens_with_blanks_need_json(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("old\tX\n")
    with pytest.raises(mg.DataError, match=r"needs a file whose name ends in \.jsonl"):
        Dictionary({("a b", "c"): "X"}).save(tmp_path / "d.tsv")
    assert (tmp_path / "d.tsv").read_text() == "old\tX\n"


def test_edits_give_other_dictionaries() -> None:
    first = Dictionary({"a": "X", "b c": "Y"})
    more = first | {"a": "Y", "d": "Z"}
    assert dict(more) == {"a": ("X", "Y"), "b c": ("Y",), "d": ("Z",)}
    assert dict(more.without("a", "b  c")) == {"d": ("Z",)}
    assert dict(first) == {"a": ("X",), "b c": ("Y",)}
    with pytest.raises(KeyError):
        first.without("d")
    assert "b c" in first
    assert "c" not in first
    assert len(first) == 2


def test_reloading(tmp_path: Path) -> None:
    path, other = tmp_path / "d.tsv", tmp_path / "e.tsv"
    path.write_text("a\tX\n")
    other.write_text("b\tX\n")
    first = Dictionary.read(path, other)
    assert first.reloaded() is first
    path.write_text("a\tX\nc\tX\n")
    second = first.reloaded()
    assert (list(second), list(first)) == (["a", "c", "b"], ["a", "b"])
    assert second.reloaded() is second
    other.unlink()
    with pytest.raises(mg.DataError, match=r"e\.tsv"):
        second.reloaded()
    other.write_text("b\tX\n")
    assert second.reloaded() == second
    assert Dictionary({"a": "X"}).reloaded() == {"a": ("X",)}


def test_a_file_of_the_same_size_is_seen_to_change(tmp_path: Path) -> None:
    path = tmp_path / "d.tsv"
    path.write_text("a\tX\n")
    first, times = Dictionary.read(path), os.stat(path)
    path.write_text("b\tX\n")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert list(first.reloaded()) == ["b"]
    first.save(path)  # another file takes its place
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))
    assert list(first.reloaded()) == ["a"]


def test_what_may_stand_for_a_dictionary(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("a\tX\n")
    expected = Dictionary({"a": "X"})
    assert dictionary_of(expected) is expected
    assert dictionary_of(tmp_path / "d.tsv") == dictionary_of({"a": ["X"]}) == expected
    assert pickle.loads(pickle.dumps(expected)) == expected
    assert repr(expected) == "<Dictionary of 1 phrases: X>"


def test_memory_is_known() -> None:
    small, large = (Dictionary({f"w{i} v": "X" for i in range(n)}) for n in (10, 1000))
    sizes = [each.finder("whitespace", False).bytes for each in (small, large)]
    assert 0 < sizes[0] < sizes[1] < 100_000
