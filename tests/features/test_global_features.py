"""Global features of whole outputs, against a plain implementation of every family; sets and their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_global import NaiveGlobal, spans_of

from marginalia import _core
from marginalia.corpus.blocks import pack
from marginalia.corpus.records import Sentence
from marginalia.errors import DataError, SettingsError
from marginalia.features.global_features import (
    FAMILIES,
    GLOBAL_SETS,
    GlobalFeatures,
    load_global_features,
    mention_labels,
    text_of_global_set,
)

LABELS = ["O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C"]
ALL = (*FAMILIES, *(f"{name}/length" for name in FAMILIES[:6]))
WORDS = ["Rome", "rome", "AS", "of", "and", ",", "&", "or", '"', "``", "''", "x1", "G.M.", "Éa", "."]
LOWERCASE = ("rome", "of", "éa")


def texts_of(documents: Sequence[Sequence[str]], features: GlobalFeatures) -> tuple:
    native = features.native(LABELS, "IOB2")
    texts = _core.GlobalTexts(native)
    for words in documents:
        texts.add(pack([Sentence({"word": list(words)})]).table, 0)
    return native, texts


def names_of(words: Sequence[str], outputs: Sequence[Sequence[str]], features: GlobalFeatures) -> list[dict]:
    native, texts = texts_of([words], features)
    extractor = _core.GlobalExtractor(native, mention_labels(LABELS, "IOB2"))
    ids = np.array([LABELS.index(label) for labels in outputs for label in labels], np.int32)
    found: list[dict] = extractor.names(texts, 0, ids)
    return found


def spelled(tags: Sequence[int]) -> list[str]:
    """Legal IOB2 labels: a tag that continues nothing begins."""
    labels: list[str] = []
    for tag in tags:
        label = LABELS[tag]
        if label[0] == "I" and (not labels or labels[-1][2:] != label[2:]):
            label = f"B{label[1:]}"
        labels.append(label)
    return labels


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Words, and outputs that mostly share their labels with the first."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20))
    size = len(words)
    tag = st.integers(0, len(LABELS) - 1)
    first = draw(st.lists(tag, min_size=size, max_size=size))
    outputs = [first]
    for _ in range(draw(st.integers(0, 8))):
        changed = list(draw(st.sampled_from(outputs)))
        for _ in range(draw(st.integers(0, 5))):
            changed[draw(st.integers(0, size - 1))] = draw(tag)
        outputs.append(changed)
    return words, [spelled(output) for output in outputs]


@settings(deadline=None, max_examples=300)
@given(worlds())
def test_every_family_is_as_recomputed(world: tuple[list[str], list[list[str]]]) -> None:
    words, outputs = world
    found = names_of(words, outputs, GlobalFeatures(ALL, LOWERCASE))
    naive = NaiveGlobal(words, LOWERCASE)
    assert found == [naive.features(ALL, spans_of(labels)) for labels in outputs]


@settings(deadline=None, max_examples=60)
@given(worlds(), st.sampled_from(ALL))
def test_a_family_alone_is_as_among_others(world: tuple[list[str], list[list[str]]], family: str) -> None:
    words, outputs = world
    found = names_of(words, outputs, GlobalFeatures((family,), LOWERCASE))
    assert found == [NaiveGlobal(words, LOWERCASE).features([family], spans_of(labels)) for labels in outputs]


def test_the_families_by_example() -> None:
    words = ["China", "beat", "China", "Daily", ",", "Iran", "and", "Bank", "of", "China", ";", "china"]
    labels = ["B-A", "O", "B-B", "I-B", "O", "B-A", "O", "B-B", "I-B", "I-B", "O", "O"]
    found = names_of(words, [labels], GlobalFeatures(ALL))[0]
    assert (
        found["same(A,O)"] == found["same/length(A,O,1)"] == 1
    )  # the last one; those inside others are not O
    assert found["sub(A,B)"] == 2
    assert found["super-majority(A,B)"] == 1
    assert found["conjunction(B,A)"] == found["conjunction/length(B,A,2)"] == 1
    assert found["conjunction(A,B)"] == 1
    assert found["token-majority(A,B)"] == 1
    assert found["token-majority/length(B,A,2)"] == 1
    assert "majority(A,A)" not in found
    assert found["WE(B)=Bank of China"] == 1
    assert found["TO000(A)=NULL NULL China"] == 1
    assert found["LWLC(A)=0"] == 2


def test_rows_are_those_of_names() -> None:
    words, outputs = ["Rome", "and", "rome"], [spelled([1, 0, 1]), spelled([1, 0, 0]), spelled([1, 2, 3])]
    features = GlobalFeatures(ALL, LOWERCASE)
    native, texts = texts_of([["of"], words], features)
    extractor = _core.GlobalExtractor(native, mention_labels(LABELS, "IOB2"))
    ids = np.array([LABELS.index(label) for labels in outputs for label in labels], np.int32)
    closed = _core.FeatureIndex(True)
    ends, rows, counts = extractor.rows(texts, 1, ids, closed, False)
    assert ends.tolist() == [0, 0, 0]
    assert len(closed) == 0
    index = _core.FeatureIndex(True)
    ends, rows, counts = extractor.rows(texts, 1, ids, index, True)
    named = [index.name(int(row)).decode() for row in rows]
    begins = [0, *ends.tolist()[:-1]]
    found = [
        dict(zip(named[b:e], counts[b:e].tolist(), strict=True)) for b, e in zip(begins, ends, strict=True)
    ]
    assert found == names_of(words, outputs, features)
    again = extractor.rows(texts, 1, ids, index, False)
    assert all((a == b).all() for a, b in zip(again, (ends, rows, counts), strict=True))


def test_functions_of_users_see_tokens_and_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_features.py").write_text(
        "def fields(tokens, spans):\n"
        "    for begin, end, type in spans:\n"
        "        yield f'{type} {tokens[begin]} of {len(spans)}'\n"
        "def numbers(tokens, spans):\n"
        "    return [3]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    features = load_global_features("nonlocal", ["my_features:fields"])
    assert features.functions == ("my_features:fields",)
    words, outputs = ["a", "b", "a"], [spelled([1, 0, 3]), spelled([0, 0, 3])]
    own = [{n: c for n, c in one.items() if n[:6] == "fields"} for one in names_of(words, outputs, features)]
    assert own == [{"fields:A a of 2": 1, "fields:B a of 2": 1}, {"fields:B a of 1": 1}]
    assert spans_of(outputs[0]) == [(0, 1, "A"), (2, 3, "B")]
    with pytest.raises(DataError, match="my_features:numbers' gave 3, expected names"):
        names_of(words, outputs, GlobalFeatures(("same",), functions=("my_features:numbers",)))


def test_functions_that_fail_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "def three(tokens, spans):\n    return 3\ndef worse(tokens, spans):\n    return 1 / 0\n"
    (tmp_path / "failing_features.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    for name, what in (("three", "TypeError"), ("worse", "ZeroDivisionError")):
        features = GlobalFeatures(("same",), functions=(f"failing_features:{name}",))
        with pytest.raises(DataError, match=f"global function 'failing_features:{name}' failed with {what}"):
            names_of(["a"], [spelled([1])], features)
    (tmp_path / "half_features.py").write_text("def half(tokens, spans):\n    return ['\\ud800']\n")
    with pytest.raises(DataError, match=r"gave '\\ud800', expected names"):
        names_of(["a"], [spelled([1])], GlobalFeatures(("same",), functions=("half_features:half",)))
    (tmp_path / "broken_features.py").write_text("1 / 0\n")
    with pytest.raises(SettingsError, match="the module broken_features failed with ZeroDivisionError"):
        load_global_features("nonlocal", ["broken_features:any"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "expected its name, module:function"),
        (len, "found builtin_function_or_method, expected its name, module:function"),
        ("no_such_module_here:f", "cannot be imported.*PYTHONPATH"),
        ("os:no_such", "has no no_such"),
        ("os:name", "not a function"),
    ],
)
def test_functions_that_there_are_not(name: Any, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        load_global_features("nonlocal", [name])


def test_ready_made_sets_have_all_families() -> None:
    loaded = {name: load_global_features(name).families for name in GLOBAL_SETS}
    assert set(loaded["nonlocal"]) == {*FAMILIES[:6], *(f"{name}/length" for name in FAMILIES[:6])}
    assert set(loaded["collins-reranking"]) == set(FAMILIES[6:-4])
    assert set(loaded["words-reranking"]) == {"WE", *FAMILIES[-4:]}
    rich = {*loaded["nonlocal"], *(name for name in FAMILIES[6:-4] if not name.startswith("Q"))}
    assert set(loaded["nonlocal-rich"]) == rich
    assert all(text_of_global_set(name).startswith("# ") for name in GLOBAL_SETS)


def test_files_of_families(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("The\nof\n\nthe\n")
    file = tmp_path / "mine.txt"
    file.write_text("# mine\nsame   # all of them\n\nGF\nlowercase = words.txt\n")
    assert load_global_features(str(file)) == GlobalFeatures(("same", "GF"), ("the", "of"))
    other = tmp_path / "other.txt"
    other.write_text("And\n")
    assert load_global_features(str(file), lowercase=str(other)).lowercase == ("and",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("same\nsome\n", r"f.txt:2:1: there is no family 'some'.*Did you mean 'same'"),
        ("same/size\n", r"f.txt:1:5: found '/size'"),
        ("WE/length\n", r"WE has no variant with lengths"),
        ("same\n\nsame\n", r"f.txt:3:1: found 'same', which is in line 1 already"),
        ("# nothing\n", r"there is no family"),
    ],
)
def test_files_that_are_wrong(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "f.txt"
    file.write_text(text)
    with pytest.raises(SettingsError, match=message):
        load_global_features(str(file))


def test_names_that_are_neither_set_nor_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"neither a ready-made set nor a file\. Did you mean 'nonlocal'"):
        load_global_features("nonlocl")
    with pytest.raises(DataError, match="cannot read the list of words in lower case: No such"):
        load_global_features("nonlocal", lowercase=str(tmp_path / "none.txt"))


@settings(deadline=None, max_examples=200)
@given(worlds(), st.integers(0, 2**32 - 1))
def test_scores_of_many_outputs_are_those_of_each(
    world: tuple[list[str], list[list[str]]], seed: int
) -> None:
    """Changes that have nothing to do with each other are scored apart: the sums must be the same."""
    words, outputs = world
    features, naive = GlobalFeatures(ALL, LOWERCASE), NaiveGlobal(words, LOWERCASE)
    counts = [naive.features(ALL, spans_of(labels)) for labels in outputs]
    names = sorted({name for one in counts for name in one}, key=_core.global_key)
    rng = np.random.default_rng(seed)
    weights = dict(zip(names, rng.integers(-9, 9, len(names)).tolist(), strict=True))
    keys = np.array([_core.global_key(name) for name in names], np.uint64)
    values = np.array([weights[name] for name in names], np.float32)
    native = features.native(LABELS, "IOB2")
    rescorer = _core.Rescorer(_core.GlobalModel(native, mention_labels(LABELS, "IOB2"), keys, values, 2.0))
    rescorer.read(pack([Sentence({"word": words})]).table, 0)
    ids = np.array([LABELS.index(label) for labels in outputs for label in labels], np.int32)
    local = np.arange(len(outputs), dtype=np.float64)
    expected = [2.0 * k + sum(weights[n] * c for n, c in one.items()) for k, one in enumerate(counts)]
    assert rescorer.totals(0, ids, local).tolist() == expected
