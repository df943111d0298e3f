"""Partly segmented text to learn from, and as what is known of text to be segmented."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import marginalia as mg
from marginalia.cli import main
from marginalia.corpus import spans_of
from marginalia.errors import DataError

PLAIN = ["我 爱 北京 大学", "学生 在 北京", "大学 的 学生", "我 在 大学", "北京 的 大学生"]
TAGGED = ["我/r 爱/v 北京/ns 大学/n", "学生/n 在/p 北京/ns", "我/r 在/p 大学/n", "大学/n 的/u 学生/n"]
SEPARATOR = {"tag_separator": "/"}


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(line + "\n" for line in lines * 8), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("partly")


@pytest.fixture(scope="module", params=["words", "chain"])
def plain(folder: Path, request: pytest.FixtureRequest) -> mg.Model:
    exact = {"word_beam": 0} if request.param == "words" else {}
    path = written(folder / "plain.txt", PLAIN)
    return mg.train(path, format="segmented", structure=request.param, passes=3, **exact)


@pytest.fixture(scope="module")
def tagged(folder: Path) -> mg.Model:
    path = written(folder / "tagged.txt", TAGGED)
    return mg.train(
        path, format="segmented", options=SEPARATOR, structure="words", features="words-tags", word_beam=0
    )


@pytest.mark.parametrize("structure", ["words", "chain", "segments"])
def test_marks_teach(folder: Path, structure: str) -> None:
    """Nothing but marks says what the words are."""
    path = written(folder / "partly.txt", ["大-学|的 学-生", "我 在|北-京", "学-生|在|大-学", "我|爱|北-京"])
    model = mg.train(path, format="kytea", structure=structure, partial=True, passes=4)
    assert model.tag(list("学生在北京")).labels == ("B", "E", "S", "B", "E")


def test_marks_that_leave_something_open_need_partial_labels(folder: Path) -> None:
    path = written(folder / "partly.txt", ["大-学|的 学-生"])
    with pytest.raises(DataError, match=r"partly.txt:1: found label 'S\|B', expected a label of BMES"):
        mg.train(path, format="kytea")


def test_known_words_and_boundaries_on_the_command_line(
    plain: mg.Model, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, text = folder / "m.mg", folder / "text.kytea"
    plain.save(model)
    text.write_text("我|爱 北|京 大-学 生\n", encoding="utf-8")
    assert main(["tag", str(model), str(text), "--format", "kytea"]) == 0
    assert capsys.readouterr().out == "我|爱|北-京|大-学-生\n"
    assert main(["tag", str(model), str(text), "--format", "kytea", "--given", "label"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("我|爱")
    assert "北|京" in said
    assert "大-学" in said


def test_known_tags_and_boundaries(
    tagged: mg.Model, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, text = folder / "tags.mg", folder / "text.kytea"
    tagged.save(model)
    text.write_text("我/n|爱 北|京 大-学\n", encoding="utf-8")
    assert main(["tag", str(model), str(text), "--format", "kytea", "--given", "label"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("我/n|爱")
    assert "|京" in said
    assert "大-学/" in said


def bounds_of(tagged: mg.Tagged) -> list[bool]:
    """Whether a word begins at each character but the first."""
    return [label[0] in "BS" for label in tagged.labels[1:]]


@settings(max_examples=40, deadline=None)
@given(text=st.text("我爱北京大学生的", min_size=2, max_size=6), data=st.data())
def test_known_boundaries_against_enumeration(plain: mg.Model, text: str, data: st.DataObject) -> None:
    """The best of all segmentations that have the marks, also of those that a beam would lose."""
    marks = data.draw(st.lists(st.sampled_from("|- "), min_size=len(text) - 1, max_size=len(text) - 1))
    line = "".join(map("".join, itertools.zip_longest(text, marks, fillvalue="")))
    (sentence,) = mg.read_kytea(io.StringIO(line))
    known = [f"{t}={label}" for t, label in enumerate(sentence.columns["label"], 1) if label != "_"]
    fitting = [
        one
        for one in plain.nbest(list(text), 2 ** len(marks))
        if all(m == " " or (m == "|") == b for m, b in zip(marks, bounds_of(one), strict=True))
    ]
    narrow = mg.Model(replace(plain.saved, settings=plain.saved.settings | {"word-beam": 1}))
    for model in (plain, narrow):
        found = model.nbest(list(text), len(fitting), constraints=known)
        assert [round(one.score, 4) for one in found] == [round(one.score, 4) for one in fitting]
        assert {one.labels for one in found} == {one.labels for one in fitting}


@pytest.mark.parametrize(("where", "word"), [("2-3", (1, 3)), ("1-1", (0, 1)), ("2-4", (1, 4))])
def test_known_words_against_enumeration(tagged: mg.Model, where: str, word: tuple[int, int]) -> None:
    text, types = list("我爱北京"), len({label.partition("-")[2] for label in tagged.labels})
    every = tagged.nbest(text, types * (types + 1) ** 3)
    fitting = [one for one in every if (*word, "n") in spans_of(one.labels, "BMES")]
    (found,) = tagged.nbest(text, 1, constraints=[f"{where}=n"])
    assert (found.labels, round(found.score, 4)) == (fitting[0].labels, round(fitting[0].score, 4))
