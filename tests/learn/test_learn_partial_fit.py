"""Learning that goes on: batch by batch as in one long run, also after corrections and with new labels."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from learn_world import RUNS, Toys, assert_close, assert_same_arrays, conll_file, weights_of
from naive_chain import TEMPLATES, Pairs, learned, mean, numbered, problems, versions
from test_learn_corrections import new_words

import marginalia as mg

GOING_ON = [
    name
    for name, (learner, chosen) in RUNS.items()
    if learner in ("perceptron", "margin", "pa", "arow")
    and not {"shuffle_average", "bpm_init"} & chosen.keys()  # those need shuffled orders
]
ALL_LABELS = ({"word": ["o1", "x1", "x2", "y1", "y2"], "tag": ["T0"] * 5}, ["O", "B-X", "I-X", "B-Y", "I-Y"])


@pytest.mark.parametrize("name", GOING_ON)
def test_batches_are_one_long_run(toys: Toys, name: str) -> None:
    """A, then B, then C with the state kept is one pass over A, B and C: the same steps, the same weights."""
    learner, chosen = RUNS[name]
    batches = [[ALL_LABELS, *toys(9)], toys(7, seed=2), toys(5, seed=3)]
    options = {"learner": learner, "shuffle": False, "state": True, "passes": 1} | chosen
    model = mg.train(batches[0], **options)
    for batch in batches[1:]:
        model = mg.Model.from_bytes(model.partial_fit(batch).to_bytes())
    whole = mg.train([*chain.from_iterable(batches)], **options)
    if {"l1", "l2"} & chosen.keys():  # paid late, but at the end of a pass: there a float is rounded
        assert_close(weights_of(model), weights_of(whole), 1e-6)
    else:
        assert weights_of(model) == weights_of(whole)
    assert model.saved.labels == whole.saved.labels
    asked = [columns for columns, _ in toys(10, seed=4)]
    assert [t.labels for t in model.tag_all(asked)] == [t.labels for t in whole.tag_all(asked)]


@settings(max_examples=40)
@given(problems(), problems())
def test_against_pseudo_code(tmp_path_factory: Any, first: Pairs, second: Pairs) -> None:
    """The mean is that of all versions of the weights, of both batches."""
    path = tmp_path_factory.mktemp("templates") / "templates.txt"
    path.write_text(TEMPLATES)
    first = [(["a", "b", "c"], ["X", "Y", "Z"]), *first]
    options = {"features": str(path), "scheme": "none", "shuffle": False, "state": True}
    model = mg.train(first, passes=2, **options).partial_fit(second)
    labels = list(model.labels)
    steps = list(versions(first, labels, 2))
    for words, gold in numbered(second, labels):
        steps.append(learned(steps[-1], words, gold, len(labels)))
    expected = {f: value for f, value in mean(steps).items() if value}
    assert_close(weights_of(model), expected, 1e-6)


def test_without_a_state_the_finished_weights_are_the_start(toys: Toys) -> None:
    model = mg.train(toys(10), passes=2)
    assert_same_arrays(
        model.partial_fit(toys(5, seed=2), passes=3), mg.train(toys(5, seed=2), start=model, passes=3)
    )


def test_settings_are_those_of_the_model(toys: Toys, tmp_path: Path) -> None:
    chosen = {"learner": "pa", "C": 0.5, "order": 2, "encode": "IOBES", "state": True, "average": "none"}
    model = mg.train(toys(10), passes=2, seed=7, **chosen)
    seen: list[mg.Progress] = []
    path = conll_file(tmp_path / "more.txt", toys(4, seed=2))
    more = model.partial_fit(path, passes=2, on_progress=seen.append, columns="word tag label")
    kept = {name: value for name, value in model.saved.settings.items() if name not in ("passes", "scheme")}
    assert {name: more.saved.settings[name] for name in kept} | {"encode": "IOBES"} == kept
    assert (more.saved.seed, more.saved.encoding, more.saved.learner) == (7, "IOBES", "pa")
    assert [r.number for r in seen if r.finished] == [3, 4]


@pytest.mark.parametrize("structure", ["chain", "segments"])
def test_new_labels_keep_the_state(toys: Toys, structure: str) -> None:
    """Labels come in a later batch: weights and totals of the others stay where they are."""
    options = {"structure": structure, "state": True}
    model = mg.train(toys(10, types="X"), passes=2, **options)
    grown = model.partial_fit(toys(10, types="Y"))
    assert set(grown.labels) == {*model.labels, "B-Y", "I-Y"}
    idle = model.partial_fit(toys(10, types="Y"), sample_weights=[0.0] * 10)
    names = list(idle.saved.labels)
    old = named(model)
    for part in ("weights", "totals"):
        assert state_of(idle, part) == state_of(model, part)
    assert old.keys() <= named(idle).keys()
    assert names[: len(model.saved.labels)] == list(model.saved.labels)
    step = int(model.saved.arrays["state.step"][0])
    assert int(idle.saved.arrays["state.step"][0]) == step + 10


def named(tagger: mg.Tagger) -> dict[Hashable, float]:
    """Weights by the labels' names."""
    from marginalia.model.weights_text import weight_lines

    rows = [line.split("\t") for line in list(weight_lines(tagger.saved))[1:]]
    return {(kind, feature, labels): float(weight) for kind, feature, labels, weight in rows}


def state_of(tagger: mg.Tagger, part: str) -> dict[Hashable, float]:
    """What the learning state knows of each weight, by the names of features and labels."""
    from marginalia.model.constants import constant_at

    arrays, labels = tagger.saved.arrays, [*tagger.saved.labels, "^"]
    size, ends = len(tagger.saved.labels), arrays["state.row_end"]
    text, name_end = arrays["state.names"].tobytes(), arrays["state.name_end"].tolist()
    names = [text[b:e] for b, e in zip([0, *name_end], name_end, strict=False)]
    rows = np.repeat(np.arange(len(ends)), np.diff(ends.astype(int), prepend=0)).tolist()
    found: dict[Hashable, float] = {}
    for row, output, value in zip(
        rows, arrays["state.outputs"].tolist(), arrays[f"state.{part}"].tolist(), strict=True
    ):
        if row == 0:
            kind, ids = constant_at(output, size)
            place: Hashable = (kind, tuple(labels[i] for i in ids))
        elif arrays["state.edges"][row - 1]:
            place = (names[row - 1], labels[output // size], labels[output % size])
        else:
            place = (names[row - 1], labels[output])
        if value:
            found[place] = value
    return found


@pytest.mark.parametrize("name", [name for name in GOING_ON if "voted" not in name and "l1" not in name])
def test_corrections_are_kept_in_training(toys: Toys, name: str) -> None:
    """The state of a corrected model is that of one with the same changes in every version."""
    learner, chosen = RUNS[name]
    model = mg.train(toys(10), learner=learner, state=True, **({"passes": 3} | chosen))
    fixed = model.fix(new_words(3, 1), ["B-NEW", "I-NEW", "B-X"]).fix(new_words(2, 2), ["B-X", "B-Y"])
    idle = fixed.partial_fit(toys(1), sample_weights=[0.0])
    unfixed = model.partial_fit(toys(1), sample_weights=[0.0])
    expected = named(unfixed)
    shrunk = 1.0 - chosen.get("l2", 0.0)  # one more step of the penalty
    for correction in fixed.corrections:
        for change in correction.changes:
            place = change.kind, change.feature, " ".join(change.labels)
            expected[place] = expected.get(place, 0.0) + change.after - change.before
    found = named(idle)
    for place in found.keys() | expected.keys():
        gap = abs(found.get(place, 0.0) - expected.get(place, 0.0))
        assert gap <= 1e-4 + (1 - shrunk) * 20, place
    assert idle.corrections == ()
    assert idle.tag(new_words(3, 1)).labels == ("B-NEW", "I-NEW", "B-X")


@pytest.mark.parametrize("learner", ["crf", "maxent"])
def test_corrected_likelihoods_begin_with_their_weights(toys: Toys, learner: str) -> None:
    model = mg.train(toys(10), learner=learner, passes=5, state=True)
    fixed = model.fix(new_words(2, 1), ["B-X", "B-Y"])
    plain = mg.Model(mg.train(toys(10), learner=learner, passes=5).saved).fix(new_words(2, 1), ["B-X", "B-Y"])
    assert_close(
        weights_of(mg.train(toys(10), learner=learner, start=fixed, passes=3)),
        weights_of(mg.train(toys(10), learner=learner, start=plain, passes=3)),
    )


@pytest.mark.parametrize(
    ("learner", "chosen"),
    [("crf", {}), ("crf", {"algorithm": "sgd"}), ("maxent", {}), ("perceptron", {"boost": 2})],
)
def test_learners_of_all_data_are_refused(toys: Toys, learner: str, chosen: dict[str, Any]) -> None:
    model = mg.train(toys(8), learner=learner, passes=2, **chosen)
    with pytest.raises(mg.SettingsError, match="learns from all its data at once"):
        model.partial_fit(toys(2))
    labeler = mg.Labeler(learner=learner, **chosen)
    for _ in range(2):  # not at the second batch only
        with pytest.raises(mg.SettingsError, match="learns from all its data at once"):
            labeler.partial_fit([x for x, _ in toys(2)], [y for _, y in toys(2)])


def test_labels_of_another_scheme_are_refused(toys: Toys) -> None:
    model = mg.train(toys(8), passes=2)
    with pytest.raises(mg.DataError, match="expected a label of IOB2"):
        model.partial_fit([(new_words(1, 1), ["S-X"])])
    shrunk = mg.Model(mg.shrink(model, bits=16).model.saved)
    with pytest.raises(mg.ModelError, match="a shrunk model cannot be trained further"):
        shrunk.partial_fit(toys(2))


def test_a_labeler_learns_batch_by_batch(toys: Toys) -> None:
    batches = [[ALL_LABELS, *toys(9)], toys(7, seed=2)]
    labeler = mg.Labeler(shuffle=False)
    for batch in batches:
        labeler.partial_fit([x for x, _ in batch], [y for _, y in batch])
    whole = mg.train([*chain.from_iterable(batches)], shuffle=False, passes=1)
    assert weights_of(labeler.model_) == weights_of(whole)
    labeler.partial_fit([new_words(1, 1)], [["B-NEW"]], sample_weight=[2.0])
    assert labeler.classes_ == [*whole.labels, "B-NEW"]
    assert labeler.predict([new_words(1, 1)]) == [["B-NEW"]]
    labeler.fit([x for x, _ in batches[0]], [y for _, y in batches[0]])
    assert labeler.classes_ == list(whole.labels)


@pytest.mark.parametrize(
    ("options", "scheme"),
    [
        ({}, "IOB2"),
        ({"learner": "pa"}, "IOB2"),
        ({"learner": "arow"}, "IOBES"),
        ({"learner": "pa", "encode": "IOBES"}, "IOB2"),
        ({"structure": "segments", "max_length": 3}, "IOB2"),
    ],
    ids=str,
)
def test_labels_that_are_known_beforehand(toys: Toys, options: dict[str, Any], scheme: str) -> None:
    """Then batches with new labels are one long run, too, whatever the learner and the structure."""
    batches = [toys(9, types="X", scheme=scheme), toys(7, seed=2, types="XY", scheme=scheme)]
    classes = sorted({label for batch in batches for _, labels in batch for label in labels})
    labeler = mg.Labeler(shuffle=False, **options)
    for batch in batches:
        labeler.partial_fit([x for x, _ in batch], [y for _, y in batch], classes)
        assert set(classes) <= set(labeler.classes_)
    whole = mg.train([*chain.from_iterable(batches)], labels=classes, shuffle=False, passes=1, **options)
    assert weights_of(labeler.model_) == weights_of(whole)
    assert labeler.model_.saved.labels == whole.saved.labels
    with pytest.raises(mg.SettingsError, match="classes: found 'B-Z'"):
        labeler.partial_fit([], [], ["B-Z"])


def test_known_labels_tell_the_scheme(toys: Toys) -> None:
    plain = mg.train([(["a"], ["B"])], labels=["B", "VBZ", "_x"])
    assert (plain.saved.scheme, plain.labels) == (None, ("B", "VBZ", "_x"))
    spans = mg.train([(["a"], ["O"])], labels=["B-X"])
    assert (spans.saved.scheme, set(spans.labels)) == ("IOB2", {"O", "B-X", "I-X"})
    assert set(mg.train(toys(3, types="X"), labels=["O", "B-Y"], start=spans).labels) == {
        *spans.labels,
        "B-Y",
        "I-Y",
    }
    for odd in ("Q-X", 3):
        with pytest.raises(mg.SettingsError, match=r"labels: found .*, expected a label of IOB2"):
            mg.train(toys(3), scheme="IOB2", labels=[odd])  # type: ignore[list-item]
    partly = mg.train([(["a", "b"], ["N", "_"])] * 2, labels=["V"], partial=True)
    assert set(partly.labels) == {"N", "V"}
