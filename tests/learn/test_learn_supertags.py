"""Supertags: a part of pipelines that tells the parser what a word's arc may be."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from invented_treebank import treebank
from marginalia.corpus.document_reader import read_conllu
from marginalia.corpus.source import DataSource
from marginalia.decode.pipeline import Pipeline
from marginalia.kinds.pipelines import evaluate_pipeline
from marginalia.learn.pipeline import PipelineTraining, folds, train_pipeline
from marginalia.learn.pipeline.examples import supertags_of

QUICK = {"tags.passes": 2, "tags.shuffle-average": 1, "tokens.passes": 3, "parser.passes": 3}
PARTS = ["tags", "parser"]


def document(sentences: int = 60, seed: int = 1) -> mg.Document:
    return read_conllu(io.BytesIO(treebank(sentences, seed=seed).encode()))


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return train_pipeline(document(), document(20, 2), parts=PARTS, settings=QUICK)


def test_supertags_are_relations_and_sides_of_heads() -> None:
    columns = {"head": ["2", "0", "2", "3"], "deprel": ["nsubj", "root", "obj", "punct"]}
    assert supertags_of(columns) == ["Rnsubj", "0root", "Lobj", "Lpunct"]
    unknown = {"head": ["_", "0", "2"], "deprel": ["nsubj", "root", "_"]}
    assert supertags_of(unknown) == ["_", "0root", "_"]


@pytest.mark.parametrize("tags", ["predicted", "gold", "both"])
def test_no_supertagger_labels_what_it_has_learned_on(tags: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = document(23)
    for number, sentence in enumerate(bank.sentences):
        sentence.words[0].form = f"w{number}"
    learned: list[set[str]] = []
    labelled: list[set[str]] = []
    prepare, predict = folds.prepare, folds.predict

    def first_words(sentences: Sequence[mg.Sentence]) -> set[str]:
        return {sentence.columns["word"][0] for sentence in sentences}

    def watched_prepare(source: DataSource, *rest: Any) -> Any:
        learned.append(first_words(list(source.data)))
        return prepare(source, *rest)

    def watched_predict(part: Any, sentences: Sequence[mg.Sentence], label: str) -> Any:
        labelled.append(first_words(sentences))
        return predict(part, sentences, label)

    monkeypatch.setattr(folds, "prepare", watched_prepare)
    monkeypatch.setattr(folds, "predict", watched_predict)
    train_pipeline(bank, parts=PARTS, settings=QUICK | {"parser.learn-on": tags})
    assert len(learned) == len(labelled) == 3 * folds.FOLDS  # of tags, of features, of supertags
    for seen, told in zip(learned, labelled, strict=True):
        assert seen
        assert told
        assert not seen & told
        assert len(seen | told) == 23


def test_supertags_come_and_go_with_the_parser(pipeline: Pipeline) -> None:
    assert list(pipeline.bundle.parts) == ["tags", "tags-2", "supertags", "parser"]
    assert "supertag" in pipeline.bundle.parts["parser"].columns
    assert pipeline.columns == ("upos", "xpos", "feats", "head", "deprel")
    plain = train_pipeline(
        document(), parts=["parser"], start=pipeline, settings=QUICK | {"parser.features": "trees"}
    )
    assert list(plain.bundle.parts) == ["tags", "tags-2", "parser"]
    again = train_pipeline(document(), document(20, 2), parts=["parser"], start=plain, settings=QUICK)
    assert list(again.bundle.parts) == list(pipeline.bundle.parts)


def test_a_parser_that_was_not_finished_leaves_the_old_one_with_its_supertags(pipeline: Pipeline) -> None:
    training = PipelineTraining(document(40, 3), parts=["parser"], start=pipeline.bundle, settings=QUICK)
    for record in training:
        if record.part == "supertags" and record.note:
            break
    assert training.bundle().parts == pipeline.bundle.parts


def test_trees_of_which_arcs_are_unknown_give_no_supertags() -> None:
    bank = document(30)
    bank.sentences[3].words[0].head = None
    made = train_pipeline(bank, parts=PARTS, settings=QUICK)
    assert list(made.bundle.parts) == ["tags", "tags-2", "parser"]


def test_templates_of_a_user_may_look_at_supertags(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("s0.word/q0.upos\ns0.supertag/s1.supertag\n", encoding="utf-8")
    made = train_pipeline(document(30), parts=PARTS, settings=QUICK | {"parser.features": str(file)})
    assert "supertags" in made.bundle.parts


def test_a_parser_that_learns_on_gold_tags_is_for_given_tags() -> None:
    dev = document(20, 2)
    made = {
        tags: train_pipeline(document(), parts=PARTS, settings=QUICK | {"parser.learn-on": tags})
        for tags in ("gold", "both")
    }
    for one in made.values():
        assert evaluate_pipeline(one, dev, ("tokens", "tags"))["LAS"].f1 > 80
    assert made["gold"].to_bytes() != made["both"].to_bytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"parser.learn-on": "silver"}, "predicted, gold, both"), ({"supertags.pases": 3}, "'passes'"),
     ({"parser.features": "tres"}, "'trees'")],
)  # fmt: skip
def test_wrong_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(mg.SettingsError, match=message):
        train_pipeline(document(20), parts=PARTS, settings=QUICK | settings)
