"""Kinds of output: each structure has one, and nothing else asks which structure a model has."""

from __future__ import annotations

import argparse
import pickle
import re
from pathlib import Path
from typing import Any, ClassVar

import pytest

import marginalia as mg
from marginalia.cli import VERBS, build_parser
from marginalia.cli.arguments import UsageError
from marginalia.cli.dispatch import check_verb
from marginalia.decode.structures import STRUCTURES
from marginalia.kinds import OutputKind, kind_of, load, model_of
from marginalia.kinds.reader import Reading

SOURCES = Path(__file__).resolve().parents[2] / "src" / "marginalia"
KINDS = {kind_of(structure).name: kind_of(structure) for structure in STRUCTURES}

LABELLED = [(["a", "b"], ["B-X", "O"]), (["b", "a"], ["O", "B-X"])]


def trained(structure: str = "chain", **settings: Any) -> mg.Model:
    return mg.train(LABELLED, structure=structure, passes=2, **settings)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_structure_has_the_kind_that_it_names(structure: str) -> None:
    kind = kind_of(structure)
    assert kind.name == kind.model.kind == STRUCTURES[structure].kind


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_labels_are_given_by_taggers(structure: str, tmp_path: Path) -> None:
    model = trained(structure)
    assert type(model) is mg.Model
    model.save(tmp_path / "m.mg")
    for made in (load(tmp_path / "m.mg"), model_of(model.saved), mg.Tagger.load(tmp_path / "m.mg")):
        assert type(made) is mg.Tagger
        assert made.tag(["a", "b"]) == model.tag(["a", "b"])
    assert type(pickle.loads(pickle.dumps(model))) is mg.Model


def test_a_model_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained().save(tmp_path / "m.mg")
    monkeypatch.setitem(STRUCTURES, "chain", STRUCTURES["chain"]._replace(kind="trees"))
    with pytest.raises(mg.ModelError, match=r"m\.mg: .*'chain', whose outputs are trees, not labels"):
        mg.Tagger.load(tmp_path / "m.mg")


def test_a_tagger_that_is_no_model_file(tmp_path: Path) -> None:
    (tmp_path / "m.mg").write_bytes(b"")
    with pytest.raises(mg.ModelError, match=r"m\.mg: not a model: the file is empty"):
        mg.Tagger.load(tmp_path / "m.mg")


def parsed(verb: str, *words: str) -> argparse.Namespace:
    return build_parser([verb]).parse_args([verb, *words])


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_what_is_refused_exists_for_others(kind: OutputKind[Any]) -> None:
    """A refusal of a verb or an option that there is not would refuse nothing."""
    for refused, reason in kind.refusals.items():
        verb, _, flag = refused.partition(" ")
        assert verb in VERBS
        options = {text for action in verb_options(verb) for text in action.option_strings}
        assert not flag or flag in options
        assert reason
        assert not reason.endswith(".")


def verb_options(verb: str) -> list[argparse.Action]:
    [verbs] = [a for a in build_parser([verb])._actions if isinstance(a, argparse._SubParsersAction)]
    found: list[argparse.Action] = verbs.choices[verb]._actions
    return found


class Refusing:
    """A kind without a verb and without an option of another."""

    refusals: ClassVar = {"export": "there are no programs for trees", "eval --mode": "trees have no modes"}


def test_verbs_and_options_are_refused_with_the_reason() -> None:
    kind: Any = Refusing()
    with pytest.raises(UsageError, match=r"^export: there are no programs for trees\.$"):
        check_verb(kind, "export", parsed("export", "m.mg", "--to", "python", "-o", "x.py"))
    with pytest.raises(UsageError, match=r"^--mode: trees have no modes\.$"):
        check_verb(kind, "eval", parsed("eval", "m.mg", "t.txt", "--mode", "strict"))
    check_verb(kind, "eval", parsed("eval", "m.mg", "t.txt"))
    check_verb(kind, "tag", parsed("tag", "m.mg"))


def test_a_report_has_the_score_that_picks_a_model() -> None:
    from marginalia.evaluate import evaluate

    spans = evaluate([["B-X", "O"]], [["B-X", "B-X"]])
    assert (spans.score, spans.score_name) == (spans.f1, "F1")
    tags = evaluate([["D", "N"]], [["D", "D"]])
    assert (tags.score, tags.score_name) == (50.0, "accuracy")
    assert tags.headline() == {"f1": 50.0, "precision": 50.0, "recall": 50.0, "accuracy": 50.0}
    assert tags.summary() == "F1 50.00, accuracy 50.00"


def test_texts_become_sentences() -> None:
    model = trained()
    assert kind_of("chain").reader.text_input(model, "a  b") == {"word": ["a", "b"]}
    with pytest.raises(mg.DataError, match="TEXT: found no tokens"):
        kind_of("chain").reader.text_input(model, " ")


def test_data_for_a_model_are_read_as_its_training_data() -> None:
    saved, reader = trained().saved, kind_of("chain").reader
    assert reader.layout(saved, Reading()).columns == ("word", "label")
    assert reader.layout(saved, Reading(columns="word pos label")).columns == ("word", "pos", "label")
    assert reader.input_layout(saved, Reading("jsonl")).options == {"misaligned": "drop"}
    said = Reading("jsonl", options={"misaligned": "error"})
    assert reader.input_layout(saved, said).options == {"misaligned": "error"}


def test_labels_that_are_to_be_kept() -> None:
    saved, reader = trained().saved, kind_of("chain").reader
    columns = reader.input_layout(saved, Reading())
    assert reader.keeping(columns, "label", Reading()) == columns
    with pytest.raises(mg.SettingsError, match="--given: found 'pos', expected one of word, label"):
        reader.keeping(columns, "pos", Reading())
    spans = reader.input_layout(saved, Reading("jsonl"))
    assert reader.keeping(spans, "spans", Reading("jsonl")).options == {"misaligned": "error"}


def test_items_have_no_phrases_and_no_tokens() -> None:
    model: Any = mg.train([("a red car", "car"), ("a blue sky", "sky")], structure="single", passes=2)
    with pytest.raises(mg.SettingsError, match="reads whole items, which have no tokens"):
        model.with_dictionary({"red": "car"})
    reader = kind_of("single").reader
    assert reader.text_input(model, "a red car") == {"text": ["a red car"]}
    with pytest.raises(mg.SettingsError, match="for tokens, which items have not"):
        reader.check_chosen({"task": "ner", "lists": None})
    with pytest.raises(mg.ModelError, match="'single', whose outputs are classes, not labels"):
        mg.Tagger.from_bytes(model.to_bytes())


ASKS_FOR_A_STRUCTURE = re.compile(r"structure\w*\s*(==|!=|in|not in)\s*[\"'(\[{]")


@pytest.mark.parametrize("path", sorted(SOURCES.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCES)))
def test_nobody_asks_which_structure_it_is(path: Path) -> None:
    """What differs between structures is in `STRUCTURES` and in the kinds."""
    assert ASKS_FOR_A_STRUCTURE.findall(path.read_text(encoding="utf-8")) == []


def test_a_question_for_a_structure_is_seen() -> None:
    assert ASKS_FOR_A_STRUCTURE.search('if saved.structure == "single":')
    assert ASKS_FOR_A_STRUCTURE.search('if structure in ("chain", "segments"):')
