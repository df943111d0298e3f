"""The accuracy that is promised, on the real corpora. Skipped where they are not at hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import marginalia as mg
from marginalia.corpus import read_conllu_columns, write_conllu_columns
from marginalia.corpus.batches import Layout, read_batches
from marginalia.evaluate import Report, evaluate

pytestmark = pytest.mark.data
CRFPP_TEMPLATE = Path(__file__).parents[2] / "benchmarks" / "templates" / "chunking.crfpp"


def scored(model: mg.Tagger, test: Path) -> Report:
    """How the model does on a test file."""
    saved = model.saved
    layout = Layout(saved.format, saved.columns, saved.label, saved.options)
    gold: list[list[str]] = []
    predicted: list[list[str]] = []
    for batch, answer in model.tag_batches(read_batches(test, layout, need=[saved.label])):
        labels = batch.block.column(saved.label)
        starts = batch.block.table.sentence_starts.tolist()
        for first, last in pairwise(starts):
            gold.append(labels[first:last])
            predicted.append([model.labels[i] for i in answer.ids[first:last]])
    return evaluate(gold, predicted)


@pytest.mark.parametrize(
    ("features", "order"),
    [(str(CRFPP_TEMPLATE), 1), (str(CRFPP_TEMPLATE), 2), ("chunking", 1), ("chunking", 2)],
)
def test_chunking(data_dir: Path, features: str, order: int) -> None:
    folder = data_dir / "conll2000"
    model = mg.train(folder / "train.txt", columns="word pos chunk", features=features, order=order)
    assert scored(model, folder / "test.txt").f1 >= 93.5


@pytest.mark.parametrize(
    ("learner", "settings"),
    [
        ("crf", {}),
        ("margin", {"C": 10, "passes": 10}),
        ("arow", {}),
        ("pa", {}),
    ],
)
def test_chunking_by_other_learners(data_dir: Path, learner: str, settings: dict[str, Any]) -> None:
    folder = data_dir / "conll2000"
    model = mg.train(
        folder / "train.txt",
        columns="word pos chunk",
        features=str(CRFPP_TEMPLATE),
        learner=learner,
        threads=2,
        **settings,
    )
    assert scored(model, folder / "test.txt").f1 >= 93.4


def test_base_noun_phrases(data_dir: Path) -> None:
    """As in Collins (2002): averaging helps, and the averaged perceptron beats maximum entropy."""
    folder = data_dir / "basenp"
    f1 = {}
    for name, learner, settings in [
        ("averaged", "perceptron", {}),
        ("last", "perceptron", {"average": "none"}),
        ("maxent", "maxent", {}),
    ]:
        model = mg.train(
            folder / "train.txt",
            columns="word pos chunk",
            features="collins-np",
            learner=learner,
            threads=2,
            **settings,
        )
        f1[name] = scored(model, folder / "test.txt").f1
    assert f1["averaged"] >= 93.6
    assert f1["last"] < f1["averaged"] - 0.3
    assert f1["maxent"] < f1["averaged"]


def test_parts_of_speech(data_dir: Path) -> None:
    folder = data_dir / "ud-english-ewt"
    accuracy = []
    for order in (1, 2):
        model = mg.train(folder / "train.conllu", label="xpos", features="pos", order=order)
        accuracy.append(scored(model, folder / "test.conllu").accuracy)
    assert accuracy[0] >= 94.4
    assert accuracy[1] >= accuracy[0]


def test_conllu_comes_back_byte_for_byte(data_dir: Path, tmp_path: Path) -> None:
    for file in sorted(data_dir.glob("ud-*/dev.conllu")):
        copy = tmp_path / "copy.conllu"
        write_conllu_columns(read_conllu_columns(file), copy)
        assert copy.read_bytes() == file.read_bytes(), file.name
        assert mg.read_conllu(file).to_conllu().encode() == file.read_bytes(), file.name
