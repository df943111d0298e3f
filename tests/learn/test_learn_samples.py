"""How much examples count: sample weights, class weights, and what a weight of zero or two means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from learn_world import (
    RUNS,
    Toys,
    a_run,
    arrays_of,
    assert_close,
    assert_same_arrays,
    conll_file,
    contradictory,
    finished,
    weights_of,
)

import marginalia as mg
from marginalia.learn.samples import read_sample_weights

PLAIN = {"average": "none", "shuffle": False}
ONLINE = ["perceptron", "margin", "pa", "arow"]


@pytest.mark.parametrize("name", RUNS)
def test_ones_change_nothing(toys: Toys, name: str) -> None:
    learner, settings = RUNS[name]
    if "class_weights" in settings:
        return
    data, options = contradictory(toys), {"learner": learner, "passes": 3, **settings}
    plain = mg.train(data, **options)
    for ones in ([1] * 15, np.ones(15), tuple([1.0] * 15)):
        assert_same_arrays(mg.train(data, sample_weights=ones, **options), plain)
    assert_same_arrays(mg.train(data, class_weights="X:1,O:1", **options), plain)


@pytest.mark.parametrize("learner", ONLINE)
def test_an_example_of_weight_zero_is_never_learned_from(toys: Toys, learner: str) -> None:
    """Its words are known, but all weights are as if it were not there."""
    data, options = contradictory(toys), {"learner": learner, "passes": 4, **PLAIN}
    lies = [(columns, ["B-X"] * len(labels)) for columns, labels in toys(4, seed=3)]
    found = mg.train([*data, *lies], sample_weights=[1] * 15 + [0] * 4, **options)
    assert weights_of(found) == weights_of(mg.train(data, **options))
    assert weights_of(found) != weights_of(mg.train([*data, *lies], **options))


@pytest.mark.parametrize("learner", ONLINE)
def test_nothing_counts_nothing_is_learned(toys: Toys, learner: str) -> None:
    """Training ends after a pass without a change; mistakes are still seen."""
    run = a_run(toys(10), learner=learner, passes=3, sample_weights=np.zeros(10))
    (record,) = finished(run)
    assert record.error > 0
    assert weights_of(run.model()) == {}
    assert run.model().saved.diagnostics["updates"] == 0


@pytest.mark.parametrize("learner", ["perceptron", "pa", "arow", "margin"])
def test_a_change_grows_with_the_weight(toys: Toys, learner: str) -> None:
    """After the first example, all weights are those of weight 1, times the weight."""
    one, three = (
        mg.train(toys(1, seed=4), learner=learner, passes=1, sample_weights=[w], **PLAIN) for w in (1.0, 3.0)
    )
    assert weights_of(one)
    assert_close(weights_of(three), {place: 3 * w for place, w in weights_of(one).items()}, 1e-6)


@pytest.mark.parametrize("learner", ["crf", "maxent"])
@pytest.mark.parametrize("more", [{}, {"l1": 0.2, "l2": 0.0}, {"support": "all"}, {"order": 2}])
def test_a_likelihood_counts_weight_two_as_two_copies(toys: Toys, learner: str, more: dict[str, Any]) -> None:
    """The loss and the gradient are the same, so all points on the way are."""
    data, weights = toys(8), [1, 2, 1, 3, 1, 1, 0, 2]
    copies = [pair for pair, w in zip(data, weights, strict=True) for _ in range(w)]
    without = [data[6], *copies]  # the order of labels and features is that of all data
    for passes in (1, 2, 5, 12):
        options = {"learner": learner, "passes": passes, "tolerance": 0.0, **more}
        weighted = a_run([data[6], *data], sample_weights=[0, *weights], **options)
        copied = a_run(without, sample_weights=[0] + [1] * len(copies), **options)
        one, two = finished(weighted)[-1], finished(copied)[-1]
        assert one.loss == pytest.approx(two.loss, rel=1e-9)
        assert_close(weights_of(weighted.model()), weights_of(copied.model()))


def test_gradient_descent_counts_weights_as_steps(toys: Toys) -> None:
    options = {"learner": "crf", "algorithm": "sgd", "l2": 0.0, "passes": 1, "shuffle": False, "decay": 1.0}
    one = mg.train(toys(1), **options, rate=0.3)
    three = mg.train(toys(1), **options, rate=0.1, sample_weights=[3.0])
    assert_close(weights_of(three), weights_of(one), 1e-6)


@pytest.mark.parametrize("name", ["perceptron", "pa", "margin", "arow", "crf", "crf, sgd", "maxent"])
@pytest.mark.parametrize("given", [None, [1, 2, 0.5] * 4])
def test_class_weights_are_sample_weights(toys: Toys, name: str, given: list[float] | None) -> None:
    """An example counts the mean of its labels' weights; a label's own weight goes before its class's."""
    learner, settings = RUNS[name]
    data, options = toys(12), {"learner": learner, "passes": 3, **settings}
    weight = {"B-X": 3.0, "I-X": 0.5, "B-Y": 0.0, "I-Y": 0.0, "O": 1.0}
    implied = [float(np.mean([weight[label] for label in labels])) for _, labels in data]
    implied = [w * g for w, g in zip(implied, given or [1] * 12, strict=True)]
    by_class = mg.train(data, class_weights="X:0.5, Y:0,B-X:3", sample_weights=given, **options)
    assert len(set(implied)) > 3
    assert_same_arrays(by_class, mg.train(data, sample_weights=implied, **options))


def test_class_weights_of_plain_tags_and_other_encodings(toys: Toys) -> None:
    tags = [(["a", "b"], ["NN", "PRP-X"]), (["c"], ["NN"])]
    by_tag = mg.train(tags, class_weights="NN:4,PRP-X:2", passes=2)
    assert_same_arrays(by_tag, mg.train(tags, sample_weights=[3, 4], passes=2))
    tagger = mg.train(toys(10), encode="IOBES", class_weights="S-X:2,Y:3", passes=2)
    assert "S-X" in tagger.saved.labels


@pytest.mark.parametrize("stream", [False, True])
def test_weights_follow_their_sentences_through_files_and_batches(
    toys: Toys, tmp_path: Path, stream: bool
) -> None:
    """Blocks of a file, and several files: weights count on from one to the next."""
    data = contradictory(toys)
    paths = [conll_file(tmp_path / "a.txt", data[:4]), conll_file(tmp_path / "b.txt", data[4:])]
    given = [1.0 + i / 8 for i in range(15)]
    options = {"passes": 3, "sample_weights": given, "class_weights": "X:2", "shuffle": False}
    by_files = mg.train(paths, columns="word tag label", stream=stream, **options)
    assert arrays_of(by_files) == arrays_of(mg.train(data, **options))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 4, "found 4 sample weights, expected 5, one for each example"),
        ([], "found 0 sample weights, expected 5"),
        ([1, 1, -0.5, 1, 1], r"found the sample weight -0\.5 \(number 3\), expected 0 to 1e\+09"),
        ([1, 1, 1, float("nan"), 1], r"found the sample weight nan \(number 4\)"),
        ([1, float("inf"), 1, 1, 1], r"found the sample weight inf \(number 2\)"),
        (["a"] * 5, "found sample weights that are not numbers"),
        ([None] * 5, r"found the sample weight nan \(number 1\)"),
        ([[1], [2, 3]], "found sample weights that are not numbers"),
        ({"a": 1}, "found sample weights that are not numbers"),
    ],
)
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_unfit_sample_weights(toys: Toys, learner: str, weights: Any, message: str) -> None:
    with pytest.raises(mg.DataError, match=message):
        mg.train(toys(5), learner=learner, sample_weights=weights)


def test_every_document_has_one_weight(toys: Toys) -> None:
    sentences = [mg.Sentence(c | {"label": y}, document=i // 2) for i, (c, y) in enumerate(toys(6))]
    assert mg.train(sentences, unit="document", sample_weights=[1, 0, 2], passes=1).labels
    with pytest.raises(mg.DataError, match="found 6 sample weights, expected 3"):
        mg.train(sentences, unit="document", sample_weights=[1] * 6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NP", "found 'NP', expected LABEL:WEIGHT with a weight from 0 to 1e+09"),
        ("X:", "found 'X:'"),
        (":2", "found ':2'"),
        ("X:-1", "found 'X:-1'"),
        ("X:nan", "found 'X:nan'"),
        ("X:inf", "found 'X:inf'"),
        ("X:2,,Y:1", "found ''"),
        ("Z:2", "there is no label 'Z'. Expected one of: B-X"),
        ("B_X:2", "there is no label 'B_X'. Did you mean 'B-X'?"),
    ],
)
def test_unfit_class_weights(toys: Toys, text: str, message: str) -> None:
    with pytest.raises(mg.SettingsError) as caught:
        mg.train(toys(5), class_weights=text)
    assert f"setting 'class-weights': {message}" in str(caught.value)


def test_a_file_of_weights(tmp_path: Path) -> None:
    path = tmp_path / "w.txt"
    path.write_text("1\n\n0.5\n 2e0 \n")
    assert read_sample_weights(str(path)) == [1.0, 0.5, 2.0]
    path.write_text("1\n\ntwo\n")
    with pytest.raises(mg.DataError, match=r"w\.txt:3: found 'two', expected a sample weight, a number"):
        read_sample_weights(str(path))
    path.write_bytes(b"\xff\n")
    with pytest.raises(mg.DataError, match=r"w\.txt:1:1: found byte 0xFF, expected UTF-8 text"):
        read_sample_weights(str(path))
    with pytest.raises(mg.DataError, match=r"none\.txt: cannot read the sample weights: No such file"):
        read_sample_weights(str(tmp_path / "none.txt"))
