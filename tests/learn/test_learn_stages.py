"""Models of two stages: a second model looks at what the labels of a first one say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.cli import main
from marginalia.corpus.blocks import pack
from marginalia.corpus.source import DataSource
from marginalia.features.first_labels import with_first_labels
from marginalia.learn.cross_decoding import split
from marginalia.learn.preparing import prepare
from marginalia.learn.recipe import make_recipe
from marginalia.learn.stages import first_stage
from marginalia.model.first_part import first_of

# "Mr" tells that a name is a person, "in" that it is a place; elsewhere in the document nothing does.
CUES = {"Mr": "B-PER", "in": "B-LOC"}
TEMPLATES = """word[0]
word[-1]
is(initial-cap)(word)[0]
first-label[0]
first-elsewhere[0]
first-agreement[0]/first-label[0]
"""


def documents(count: int = 24, first: int = 0) -> list[mg.Sentence]:
    """Each has a name of its own, which is a person in every other document."""
    made = []
    for number in range(first, first + count):
        cue, label = list(CUES.items())[number % 2]
        name = f"N{number}"
        for words in ([cue, name, "x"], ["then", name, "y"]):
            labels = [label if word == name else "O" for word in words]
            made.append(mg.Sentence({"word": words, "label": labels}, document=number))
    return made


@pytest.fixture
def templates(tmp_path: Path) -> str:
    path = tmp_path / "t.txt"
    path.write_text(TEMPLATES)
    return str(path)


def without_first(templates: str) -> str:
    path = Path(templates).with_name("one.txt")
    path.write_text("".join(line for line in TEMPLATES.splitlines(True) if "first-" not in line))
    return str(path)


def written(path: Path, sentences: Sequence[mg.Sentence]) -> Path:
    lines: list[str] = []
    before = None
    for sentence in sentences:
        lines += ["-DOCSTART- O", ""] if sentence.document != before else []
        before = sentence.document
        lines += [f"{w} {y}" for w, y in zip(*sentence.columns.values(), strict=True)] + [""]
    path.write_text("\n".join(lines) + "\n")
    return path


def trained(templates: str, data: Any, **settings: Any) -> Any:
    return mg.train(data, features=templates, **{"stages": 2, "passes": 10} | settings)


def wrong(model: Any, sentences: Sequence[mg.Sentence]) -> int:
    found = model.tag_all(mg.Sentence({"word": s.columns["word"]}, document=s.document) for s in sentences)
    return sum(
        list(tagged.labels) != sentence.columns["label"]
        for tagged, sentence in zip(found, sentences, strict=True)
    )


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_labels_of_the_first_model_reach_the_rest_of_the_document(templates: str, structure: str) -> None:
    new = documents(12, first=100)
    model = trained(templates, documents(), structure=structure)
    single = mg.train(documents(), features=without_first(templates), passes=10, structure=structure)
    assert wrong(single, new) >= 6  # what follows from nothing in the sentence
    assert wrong(model, new) == 0


def test_training_columns_are_labels_of_models_that_have_not_seen_them(templates: str) -> None:
    source = DataSource(documents(), label="label", to_document_ends=True)
    recipe = make_recipe(features=templates, settings={"stages": 2, "passes": 5})
    staged = first_stage(source, None, recipe)
    parts = split(source, 5, whole_documents=False)
    own = without_first(templates)
    held = staged.source.held
    assert held is not None
    assert len(held) == len(parts)
    for fold, wide in enumerate(held):
        others = [
            s for number, part in enumerate(parts) if number != fold for s in part.blocks[0].sentences()
        ]
        model = mg.train(others, features=own, passes=5)
        expected = [label for s in wide.sentences() for label in model.tag(s.columns["word"]).labels]
        assert wide.column("first-label") == expected


def test_answers_are_those_of_two_models_one_after_the_other(templates: str) -> None:
    model, new = trained(templates, documents(6)), documents(4, first=3)
    first = mg.Model(first_of(model.saved))
    block = pack(new, ["word"])
    labels = [label for tagged in first.tag_all(s.columns["word"] for s in new) for label in tagged.labels]
    wide = with_first_labels(block, labels, "IOB2", "word")
    alone = replace(model.saved, columns=(*model.saved.columns, *wide.columns[1:]), first={})
    second = mg.Model(alone).decoder.best(wide).tolist()
    assert model.decoder.best(block).tolist() == second


def test_a_file_holds_both_and_threads_change_nothing(templates: str, tmp_path: Path) -> None:
    phrases = tmp_path / "names.txt"
    phrases.write_text("N1\nN2\n")
    data = documents()
    model = trained(templates, data, lists={"names": str(phrases)})
    again = trained(templates, data, lists={"names": str(phrases)}, threads=3)
    assert model.to_bytes() == again.to_bytes()
    model.save(tmp_path / "m.mg")
    loaded = mg.load(tmp_path / "m.mg")
    assert loaded.to_bytes() == model.to_bytes()
    assert wrong(loaded, data) == 0
    assert model.saved.columns == ("word", "label")
    assert model.feature_columns == ("word",)
    assert not any(name.startswith("first.list") for name in model.saved.arrays)
    incomplete = {name: a for name, a in model.saved.arrays.items() if not name.startswith("first.")}
    with pytest.raises(mg.ModelError, match="its first model is incomplete"):
        mg.Model(replace(model.saved, arrays=incomplete))


def test_verbs_take_such_a_model(templates: str, tmp_path: Path, capsys: Any) -> None:
    train, new = written(tmp_path / "train.txt", documents()), written(tmp_path / "n.txt", documents(8, 50))
    out = str(tmp_path / "m.mg")
    given = ["train", str(train), "-o", out, "--columns", "word label", "--features", templates]
    assert main([*given, "--set", "stages=2", "--dev", str(new)]) == 0
    assert "stage 1 of 2: fold 5/5" in capsys.readouterr().err
    for more in ([], ["--nbest", "2"]):
        assert main(["tag", out, str(new), "-q", *more]) == 0
    capsys.readouterr()
    assert main(["shrink", out, "--bits", "16", "-o", str(tmp_path / "s.mg"), "-q"]) == 0
    assert main(["calibrate", out, str(new), "-o", str(tmp_path / "c.mg")]) == 0
    for name in ("m.mg", "s.mg", "c.mg"):
        capsys.readouterr()
        assert main(["eval", str(tmp_path / name), str(new)]) == 0
        assert "FB1: 100.00" in capsys.readouterr().out
    assert main(["explain", out, "then N5 y"]) == 0
    assert "the first-label is" in capsys.readouterr().out


def test_what_cannot_be_done_is_refused(templates: str, tmp_path: Path) -> None:
    data = documents(8)
    model = trained(templates, data)
    with pytest.raises(mg.ModelError, match="cannot be corrected"):
        model.fix(["then", "N1"], ["O", "O"])
    with pytest.raises(mg.ModelError, match="cannot be trained further"):
        model.partial_fit(data)
    for setting in ("partial", "state"):
        with pytest.raises(mg.SettingsError, match=f"does not go with {setting}=on"):
            trained(templates, data, **{setting: True})
    with pytest.raises(mg.SettingsError, match="no template looks at one of first-label"):
        trained("fields", data)
    with pytest.raises(mg.SettingsError, match="the data have no column 'first-label'"):
        trained(templates, data, stages=1)
    taken = [mg.Sentence({**s.columns, "first-same": s.columns["word"]}, document=s.document) for s in data]
    with pytest.raises(mg.DataError, match="found a column 'first-same'"):
        mg.train(taken, features=templates, stages=2, label="label")


def test_a_set_says_which_templates_need_two_stages() -> None:
    notes = prepare(DataSource(documents(4), label="label"), None, make_recipe(features="ner-best")).notes
    assert "left out for want of stages=2: first-same[0]" in notes
    assert "left out for want of columns: pos[-2..2]" in notes
