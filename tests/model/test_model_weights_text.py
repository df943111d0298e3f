"""Weights as a table and back: nothing is lost, and what is wrong is told with its place."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import marginalia as mg
from marginalia.model.global_part import global_weights
from marginalia.model.weights_text import _Reader, rebuilt, weight_lines

Toys = Callable[..., Any]
HEADER = "kind\tfeature\tlabels\tweight"


@pytest.fixture(scope="module")
def models(taggers: dict[str, mg.Tagger], toys: Toys) -> dict[str, mg.Tagger]:
    many = [({"word": [f"w{i}"]}, [f"L{i % 300}"]) for i in range(600)]
    return taggers | {
        "segments": mg.train(toys(20), structure="segments", features="segments", passes=2),
        "crf": mg.train(toys(20), learner="crf", support="all"),
        "wide": mg.train(many, features="fields", passes=1),
    }


NAMES = ("plain", "full", "segments", "crf", "wide")


def text_of(tagger: mg.Tagger) -> str:
    return "".join(weight_lines(tagger.saved))


def edited(tagger: mg.Tagger, text: str) -> mg.Tagger:
    return tagger.with_weights(io.StringIO(text))


def assert_same_weights(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name in ("keys", "homes", "row_end", "narrow", "wide", "weights", "edge", "names", "name_end"):
        assert (name in found) == (name in expected), name
        if name in found:
            assert found[name].dtype == expected[name].dtype, name
            assert found[name].tobytes() == expected[name].tobytes(), name
    for name in ("constant_at", "constants"):
        assert found[name].tobytes() == expected[name].tobytes(), name


@pytest.mark.parametrize("name", NAMES)
def test_a_round_trip_changes_nothing(models: dict[str, mg.Tagger], name: str) -> None:
    tagger = models[name]
    text = text_of(tagger)
    assert edited(tagger, text).to_bytes() == tagger.to_bytes()
    lines = text.splitlines()
    assert lines[0] == HEADER
    assert len(lines) - 1 == np.count_nonzero(tagger.saved.arrays["weights"]) + len(
        tagger.saved.arrays["constants"]
    )
    # Made anew from the table, in any order of its lines, the arrays are the same bytes.
    for order in (lines[1:], lines[:0:-1]):
        table = _Reader(tagger.saved, io.StringIO("\n".join([HEADER, *order]))).read()
        assert_same_weights(
            rebuilt(tagger.saved, table.weights, table.names, table.edges), tagger.saved.arrays
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_change_and_back_is_the_same(models: dict[str, mg.Tagger], name: str) -> None:
    tagger = models[name]
    lines = text_of(tagger).splitlines(keepends=True)
    fields = lines[-1].rstrip("\n").split("\t")
    other = edited(tagger, "".join([*lines[:-1], "\t".join([*fields[:3], "12.5"]) + "\n"]))
    assert other.saved.edits == [{"changed": 1, "added": 0, "removed": 0}]
    shown = text_of(other).splitlines()
    assert "\t".join([*fields[:3], "12.5"]) in shown
    back = edited(other, "".join(lines))
    assert_same_weights(back.saved.arrays, tagger.saved.arrays)
    assert len(back.saved.edits) == 2
    assert mg.Tagger.from_bytes(back.to_bytes()).saved.edits == back.saved.edits


def test_weights_are_removed_and_added(taggers: dict[str, mg.Tagger]) -> None:
    tagger = taggers["full"]
    kept = [line for line in text_of(tagger).splitlines() if not line.startswith("transition")]
    removed = len(text_of(tagger).splitlines()) - len(kept)
    new = [
        "feature\tword[0]=never seen\tB-X\t3.5",
        "edge\tedge:word[0]=never seen\tB-X I-X\t-0.001",
        "trigram\t\t^ B-X I-X\t77",
    ]
    kept = [line for line in kept if not line.startswith("trigram\t\t^ B-X I-X\t")]
    found = edited(tagger, "\n".join([*kept, *new]))
    (counts,) = found.saved.edits
    assert counts["removed"] == removed
    assert counts["changed"] + counts["added"] == 3
    assert set(new[:2]) <= set(text_of(found).splitlines())
    columns = {"word": ["never seen", "x"], "tag": ["T0", "T0"]}
    terms = found.decoder.terms(_block(found, columns), 0, _ids(found, "B-X E-X"))
    assert 3.5 in [term.value for term in terms if term.feature == "word[0]=never seen"]


def _block(tagger: mg.Tagger, columns: dict[str, list[str]]) -> Any:
    from marginalia.corpus import pack

    return pack([mg.Sentence(columns)], tagger.feature_columns)


def _ids(tagger: mg.Tagger, labels: str) -> list[int]:
    return [tagger.saved.labels.index(label) for label in labels.split()]


def test_a_weight_of_zero_is_no_weight(taggers: dict[str, mg.Tagger]) -> None:
    lines = text_of(taggers["full"]).splitlines()
    zero = "\t".join([*lines[-1].split("\t")[:3], "0"])
    assert edited(taggers["full"], "\n".join([*lines[:-1], zero])).saved.edits[-1]["removed"] == 1
    assert len(text_of(edited(taggers["full"], HEADER)).splitlines()) == 1


def test_features_without_names_are_known_by_key_or_by_name(taggers: dict[str, mg.Tagger]) -> None:
    tagger = taggers["plain"]
    lines = text_of(tagger).splitlines()
    features = [line for line in lines if line.startswith("feature")]
    assert all(re.match(r"feature\t#[0-9a-f]{16}\t", line) for line in features)
    found = edited(tagger, "\n".join([*lines, "feature\tword[0]=a new one\tO\t1"]))
    assert found.saved.edits == [{"changed": 0, "added": 1, "removed": 0}]
    with pytest.raises(mg.DataError, match="no template"):
        edited(tagger, "\n".join([*lines, f"feature\t#{'0' * 15}1\tO\t1"]))


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("transition\t\tB-X I-X", 1, "found 3 fields, expected 4"),
        ("transitions\t\tB-X I-X\t1", 1, "unknown kind 'transitions'. Did you mean 'transition'?"),
        ("transition\tword\tB-X I-X\t1", 12, "found 'word', expected nothing"),
        ("transition\t\tB-X\t1", 13, "found 1 labels, expected 2"),
        ("transition\t\tB-X I-Z\t1", 13, "unknown label 'I-Z'"),
        ("transition\t\t^ B-X\t1", 13, "unknown label '^'"),
        ("start\t\tB-X\tmuch", 12, "found 'much', expected a number"),
        ("start\t\tB-X\tinf", 12, "found 'inf', expected a number"),
        ("start\t\tB-X\t1e40", 12, "found '1e40', expected a number"),
        ("feature\tnothing like it\tB-X\t1", 9, "no template of the model could give"),
        ("feature\tedge:word[0]=x1\tB-X\t1", 9, "no template of the model could give"),
        ("feature\tword[0]=\\x\tB-X\t1", 9, "found '\\x'"),
    ],
)
def test_errors_name_their_place(
    taggers: dict[str, mg.Tagger], tmp_path: Path, line: str, column: int, message: str
) -> None:
    path = tmp_path / "weights.tsv"
    path.write_text(f"{HEADER}\n{line}\n")
    with pytest.raises(mg.DataError, match=re.escape(message)) as caught:
        taggers["full"].with_weights(path)
    assert (caught.value.file, caught.value.line, caught.value.column) == (str(path), 2, column)


def test_other_tables_are_refused(models: dict[str, mg.Tagger]) -> None:
    for text, message in (
        ("", "found nothing"),
        ("a\tb\n", "expected kind feature labels weight"),
        (f"{HEADER}\nstart\t\tB-X\t1\nstart\t\tB-X\t2\n", "second line of this weight"),
    ):
        with pytest.raises(mg.DataError, match=message):
            edited(models["full"], text)
    with pytest.raises(mg.DataError, match="has none such"):
        edited(models["segments"], f"{HEADER}\ntrigram\t\tO O O\t1\n")
    with pytest.raises(mg.DataError, match="no template"):
        edited(models["segments"], f"{HEADER}\nedge\tlength=1\tO O\t1\n")


@pytest.fixture(scope="module")
def whole(toys: Toys) -> mg.Tagger:
    """A model with global features."""
    tagger = mg.train(toys(20), learner="nonlocal", bpm_init=0, passes=2, n=4)
    assert isinstance(tagger, mg.Tagger)
    return tagger


def test_global_weights_are_in_the_table_and_read_back(whole: mg.Tagger) -> None:
    text = text_of(whole)
    lines = [line for line in text.splitlines() if line.startswith("global\t")]
    assert {line.split("\t")[1]: np.float32(line.split("\t")[3]) for line in lines} == {
        name: np.float32(weight) for name, weight in global_weights(whole.saved.arrays) if weight
    }
    assert edited(whole, text).to_bytes() == whole.to_bytes()
    kind, name, labels, _ = lines[0].split("\t")
    changed = edited(whole, text.replace(lines[0], f"{kind}\t{name}\t{labels}\t7.5").replace(lines[1], ""))
    assert changed.saved.edits[-1] == {"changed": 1, "added": 0, "removed": 1}
    assert_same_weights(changed.saved.arrays, whole.saved.arrays)
    expected = dict(global_weights(whole.saved.arrays)) | {name: 7.5, lines[1].split("\t")[1]: 0.0}
    assert dict(global_weights(changed.saved.arrays)) == expected
    assert edited(changed, text_of(changed)).to_bytes() == changed.to_bytes()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("global\tmajority(X,Y)\t\t1", "x:2:8: found the global feature 'majority(X,Y)', expected one that"),
        ("global\t{name}\tO\t1", "x:2:.*: found 1 labels, expected 0 for global"),
        ("global\t{name}\t\tnan", "x:2:.*: found 'nan', expected a number"),
        ("global\t{name}\t\t1\nglobal\t{name}\t\t1", "x:3:1: found a second line of this weight"),
    ],
)
def test_wrong_lines_of_global_weights(whole: mg.Tagger, line: str, message: str) -> None:
    table = io.BytesIO(f"{HEADER}\n{line.format(name=global_weights(whole.saved.arrays)[0][0])}\n".encode())
    table.name = "x"
    with pytest.raises(mg.DataError, match=re.escape(message).replace(r"\.\*", ".*")):
        whole.with_weights(table)


def test_votes_cannot_be_edited(toys: Toys) -> None:
    tagger = mg.train(toys(5), average="vote", passes=1)
    with pytest.raises(mg.ModelError, match="vote"):
        edited(tagger, text_of(tagger))


def test_an_edited_model_has_no_state_and_no_provenance(toys: Toys) -> None:
    tagger = mg.train(toys(8), passes=2, state=True, provenance=True)
    lines = text_of(tagger).splitlines()
    assert edited(tagger, "\n".join(lines)).to_bytes() == tagger.to_bytes()
    found = edited(tagger, "\n".join(lines[:-1]))
    assert found.saved.files == []
    assert not [name for name in found.saved.arrays if name.startswith(("state.", "lesson_", "file_"))]
    mg.Tagger.from_bytes(found.to_bytes())


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=6)


labels_of = texts.filter(lambda text: text != "O" and not set(text) & set("\t\r\n"))


@given(texts, st.lists(labels_of, min_size=1, max_size=3, unique=True))
def test_any_name_and_label_survives(word: str, labels: list[str]) -> None:
    data = [({"word": [word, "other"]}, [label, "O"]) for label in labels]
    tagger = mg.train(data, features="fields", passes=2, scheme="none")
    assert edited(tagger, text_of(tagger)).to_bytes() == tagger.to_bytes()
    changed = replace(tagger.saved, arrays=dict(tagger.saved.arrays))
    assert text_of(mg.Tagger(changed)) == text_of(tagger)
