"""Explicit attributes in training: the same as templates that give the same features, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from learn_world import RUNS, Toys, assert_same_arrays, weights_of

import marginalia as mg
from marginalia.corpus import write_crfsuite

TEMPLATE = "U00:%x[0,0]\nU01:%x[-1,0]\nU02:%x[0,0]/%x[0,1]\nB\n"


def attributes_of(columns: dict[str, list[str]]) -> list[list[str]]:
    """What the template makes of a sentence, as users of CRFsuite would write it."""
    words, tags = columns["word"], columns["tag"]
    before = ["_B-1", *words]
    return [[f"U00:{w}", f"U01:{b}", f"U02:{w}/{t}"] for w, b, t in zip(words, before, tags, strict=False)]


def as_attributes(data: Any) -> list[tuple[list[list[str]], list[str]]]:
    return [(attributes_of(columns), labels) for columns, labels in data]


@pytest.fixture
def template(tmp_path: Path) -> str:
    path = tmp_path / "template.crfpp"
    path.write_text(TEMPLATE)
    return str(path)


# Hidden input takes other templates' features with it, but only its own attributes.
HIDING = re.compile("input|values")
SAME = {name: run for name, run in RUNS.items() if not HIDING.search(str(run[1].get("dropout")))}


@pytest.mark.parametrize("name", SAME)
def test_attributes_are_as_good_as_templates(toys: Toys, template: str, name: str) -> None:
    learner, settings = SAME[name]
    data, test = toys(25), toys(10, seed=2)
    if learner in ("perceptron", "margin", "pa", "arow"):
        settings = {"passes": 4, **settings}
    expected = mg.train(data, features=template, learner=learner, **settings)
    found = mg.train(as_attributes(data), learner=learner, **settings)
    assert_same_arrays(found, expected)
    sentences = [columns for columns, _ in test]
    labels = [tagged.labels for tagged in expected.tag_all(sentences)]
    assert [tagged.labels for tagged in found.tag_all([attributes_of(c) for c in sentences])] == labels


@pytest.mark.parametrize(
    "name", ["perceptron", "perceptron, voted", "perceptron, dropout of features", "pa", "crf"]
)
def test_segments_take_attributes_as_templates_of_tokens(toys: Toys, template: str, name: str) -> None:
    learner, settings = RUNS[name]
    if learner != "crf":
        settings = {"passes": 4, **settings}
    data = toys(25)
    expected = mg.train(data, features=template, structure="segments", learner=learner, **settings)
    found = mg.train(as_attributes(data), structure="segments", learner=learner, **settings)
    assert_same_arrays(found, expected)
    sentence = data[0][0]
    one, other = found.nbest(attributes_of(sentence), 5), expected.nbest(sentence, 5)
    assert [(t.labels, t.score) for t in one] == [(t.labels, t.score) for t in other]
    assert found.marginals(attributes_of(sentence)) == pytest.approx(expected.marginals(sentence))


@pytest.mark.parametrize("dropout", ["input:0.3", "values:0.3"])
@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_hiding_tokens_hides_their_attributes(
    toys: Toys, tmp_path: Path, structure: str, dropout: str
) -> None:
    """Attributes are one column."""
    path, data = tmp_path / "t.crfpp", toys(20)
    path.write_text("U00:%x[0,0]\nB\n")
    items = [([[f"U00:{word}"] for word in columns["word"]], labels) for columns, labels in data]
    options: dict[str, Any] = {"structure": structure, "passes": 3, "dropout": dropout}
    assert_same_arrays(mg.train(items, **options), mg.train(data, features=str(path), **options))


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_cutoffs_streams_and_files_give_the_same(toys: Toys, tmp_path: Path, structure: str) -> None:
    data, path = as_attributes(toys(25)), tmp_path / "items.txt"
    write_crfsuite([mg.Sentence({"attributes": x, "label": y}) for x, y in data], path)
    options: dict[str, Any] = {"structure": structure, "passes": 3, "cutoff": 2, "shuffle": False}
    expected = mg.train(data, **options)
    for settings in ({}, {"stream": True}):
        assert_same_arrays(mg.train(path, format="crfsuite", **options, **settings), expected)
    assert expected.saved.features < mg.train(data, **options | {"cutoff": 0}).saved.features


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_training_goes_on_from_a_model(toys: Toys, structure: str) -> None:
    data = as_attributes(toys(20))
    options: dict[str, Any] = {"structure": structure, "state": True}
    whole = mg.train(data, passes=4, **options)
    half = mg.train(data, passes=2, **options)
    assert weights_of(mg.train(data, passes=2, start=half, **options)) == weights_of(whole)


def test_real_values_are_used_as_such() -> None:
    """The same attribute with another value is another feature vector: a threshold can be learned."""
    data = [([{"size": value, "bias": 1}], ["big" if value > 2 else "small"]) for value in range(5)]
    model = mg.train(data, learner="crf", l2=0.01)
    found = [model.tag([{"size": value, "bias": 1}]).labels[0] for value in (0, 0.5, 1.9, 2.6, 10)]
    assert found == ["small", "small", "small", "big", "big"]


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_contributions_sum_to_the_score(structure: str) -> None:
    data = [([{"a": 0.5, "b": 2}, ["a", "a"]], ["B-X", "O"]), ([{"b": -1.5}, {"a": 3}], ["O", "B-X"])]
    model = mg.train(data * 3, structure=structure, passes=3)
    from marginalia.corpus.blocks import pack

    block = pack([mg.Sentence({"attributes": data[0][0]})])
    for ids, score in model.decoder.k_best(block, 0):
        found = model.decoder.features_of(block, 0, ids.tolist())
        assert sum(c.weight * c.count for c in found) == pytest.approx(score, abs=1e-5)
        assert model.decoder.score(block, 0, ids) == pytest.approx(score)


def test_sequences_of_python_crfsuite_are_taken() -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    plain = [([["a"], {"b": 2.0}], ["X", "Y"])]
    made = [(pycrfsuite.ItemSequence(x), y) for x, y in plain]
    model = mg.train(made, passes=2)
    assert_same_arrays(model, mg.train(plain, passes=2))
    assert model.tag(made[0][0]).labels == model.tag(plain[0][0]).labels


def test_empty_sequences_do_no_harm() -> None:
    model = mg.train([([], []), ([["a"]], ["X"]), ([{}], ["Y"])], passes=2)
    assert [t.labels for t in model.tag_all([[], [["a"]]])] == [(), ("X",)]


PLAIN = [(["a", "b"], ["X", "Y"])]
ITEMS = [([["a"], ["b"]], ["X", "Y"])]


@pytest.mark.parametrize("options", [{"features": "pos"}, {"task": "ner"}, {"lists": {"x": "y.txt"}}])
def test_features_beside_attributes_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(mg.SettingsError, match="the data have explicit attributes"):
        mg.train(ITEMS, **options)


def test_attributes_may_be_named_as_the_features() -> None:
    assert mg.train(ITEMS, features="attributes", passes=1).saved.program.explicit
    with pytest.raises(mg.SettingsError, match="neither a ready-made set nor a template file"):
        mg.train(PLAIN, features="attributes")


def test_data_of_the_other_kind_are_refused() -> None:
    with pytest.raises(mg.DataError, match="found data with columns of text, expected explicit attributes"):
        mg.train(ITEMS, PLAIN)
    with pytest.raises(mg.DataError, match="found data with explicit attributes, expected columns of text"):
        mg.train(PLAIN, ITEMS)
    with pytest.raises(mg.DataError, match="expected explicit attributes"):
        mg.train(PLAIN, start=mg.train(ITEMS, passes=1))
    with pytest.raises(mg.DataError, match="expected columns of text"):
        mg.train(ITEMS, start=mg.train(PLAIN, passes=1))


def test_input_of_the_other_kind_is_refused() -> None:
    of_items, of_words = mg.train(ITEMS, passes=1), mg.train(PLAIN, passes=1)
    for sentence in (["a"], {"word": ["a"]}, mg.Sentence({"word": ["a"]}), {"attributes": ["a"]}, "ab"):
        with pytest.raises(mg.DataError, match="trained on explicit attributes"):
            of_items.tag(sentence)
    with pytest.raises(mg.DataError, match="found attributes of tokens"):
        of_words.tag([["a"]])
    assert of_items.tag(mg.Sentence({"attributes": [["a"]]})).labels == of_items.tag([["a"]]).labels
    assert of_items.tag({"attributes": [["a"]]}).labels == of_items.tag([["a"]]).labels


def test_models_of_attributes_are_saved_with_what_they_are(tmp_path: Path) -> None:
    model = mg.train([*ITEMS, ([{"a": 0.5}], ["X"])], passes=2)
    model.save(tmp_path / "model.mg")
    loaded = mg.load(tmp_path / "model.mg")
    assert loaded.saved.program.explicit
    assert loaded.saved.format == "crfsuite"
    assert loaded.to_bytes() == model.to_bytes()
    assert set(filter(None, loaded.saved.feature_names() or [])) <= {"a", "b"}


def test_other_values_are_other_data() -> None:
    one, other = ([([{"a": value}], ["X"])] for value in (1.0, 2.0))
    assert mg.train(one, passes=1).saved.fingerprint != mg.train(other, passes=1).saved.fingerprint


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"version":2', '"version":3'),
        ('"version":2', '"version":1'),
        ('"templates":[["edge",[]]]', '"templates":[["node",["a",[0,0,false,["<"],[">"]]]]]'),
    ],
)
def test_damaged_programs_of_attributes_are_refused(old: str, new: str) -> None:
    from marginalia.features.program import EXPLICIT, TemplateProgram

    text = EXPLICIT.to_json()
    assert TemplateProgram.from_json(text) == EXPLICIT
    assert old in text
    with pytest.raises(mg.ModelError, match="template program"):
        TemplateProgram.from_json(text.replace(old, new))
